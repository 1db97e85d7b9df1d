// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of PTWRITE, sleep states and packet blocks. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Numbers between commas; those that are not there are 0. */
static void numbers(const char *text, uint64_t *out, unsigned int count)
{
	unsigned int i;
	char *end;

	for (i = 0; i < count; i++) {
		out[i] = strtoull(text, &end, 16);
		text = *end == ',' ? end + 1 : end;
	}
	ck_assert_msg(!*text, "more than %u numbers", count);
}

static void report(struct machine *m, struct vpt_event event, uint64_t to)
{
	event.from = m->ip;
	event.to = to;
	vpt_pt_event(&m->pt, &event);
	m->ip = to;
}

static void ptwrite(struct machine *m, uint64_t value, bool wide)
{
	const struct vpt_event event = {
		.kind = VPT_EV_PTWRITE,
		.flags = wide ? VPT_EVF_WIDE : 0,
		.value = value,
	};

	report(m, event, m->ip + INSN);
}

static void sleep_in(struct machine *m, unsigned int flags, uint8_t cstate)
{
	const struct vpt_event event = {
		.kind = VPT_EV_SLEEP,
		.flags = (uint8_t)flags,
		.cstate = cstate,
	};

	report(m, event, flags & VPT_EVF_HW ? m->ip : m->ip + INSN);
}

static void mwait(struct machine *m, const char *text)
{
	uint64_t n[3];
	struct vpt_event event = {.kind = VPT_EV_SLEEP, .flags = VPT_EVF_MWAIT};

	numbers(text, n, 3);
	event.value = n[0];
	event.ext = (uint8_t)n[1];
	event.cstate = (uint8_t)n[2];
	report(m, event, m->ip + INSN);
}

static void wake(struct machine *m, const char *text)
{
	uint64_t n[3];
	struct vpt_event event = {.kind = VPT_EV_WAKE};

	numbers(text, n, 3);
	event.cstate = (uint8_t)n[0];
	event.deepest = (uint8_t)n[1];
	event.wake = (uint8_t)n[2];
	report(m, event, m->ip);
}

/* Groups TYPE.ITEMS, those of 4-byte items with an s before them. */
static void blocks(struct machine *m, const char *text, enum vpt_status status)
{
	struct vpt_block_group group[VPT_PEBS_GROUPS] = {0};
	unsigned int count = 0, id;
	char *end;

	for (; *text; text = *end ? end + 1 : end) {
		struct vpt_block_group *g = &group[count++];

		ck_assert_uint_le(count, VPT_PEBS_GROUPS);
		g->short_items = *text == 's';
		g->type = (uint8_t)strtoul(text + g->short_items, &end, 16);
		ck_assert_int_eq(*end, '.');
		g->present = (uint32_t)strtoul(end + 1, &end, 16);
		for (id = 0; id < VPT_BLOCK_ITEMS; id++)
			g->item[id] = 0x5000000000000000u | (uint64_t)g->type << 8 | id;
	}
	ck_assert_int_eq(vpt_pt_blocks(&m->pt, group, count, m->ip), status);
}

bool scenario_step_software(struct machine *m, const char *word)
{
	const char *value = strchr(word, '=');

	if (!strcmp(word, "hlt")) {
		sleep_in(m, 0, 0);
	} else if (!strcmp(word, "stopped")) {
		report(m, (struct vpt_event){.kind = VPT_EV_CBR, .flags = VPT_EVF_STOPPED}, m->ip);
	} else if (!strcmp(word, "has-pwr")) {
		m->caps.l14_0_ebx |= 1 << 5;
	} else if (!value) {
		return false;
	} else if (!strncmp(word, "ptw=", 4)) {
		ptwrite(m, hex(value + 1), false);
	} else if (!strncmp(word, "ptwq=", 5)) {
		ptwrite(m, hex(value + 1), true);
	} else if (!strncmp(word, "mwait=", 6)) {
		mwait(m, value + 1);
	} else if (!strncmp(word, "hdc=", 4)) {
		sleep_in(m, VPT_EVF_HW, (uint8_t)hex(value + 1));
	} else if (!strncmp(word, "wake=", 5)) {
		wake(m, value + 1);
	} else if (!strncmp(word, "cbr=", 4)) {
		m->ctx.cbr = (uint8_t)hex(value + 1);
	} else if (!strncmp(word, "blocks=", 7)) {
		blocks(m, value + 1, VPT_OK);
	} else if (!strncmp(word, "badblocks=", 10)) {
		blocks(m, value + 1, VPT_E_INVAL);
	} else if (!strncmp(word, "mnt=", 4)) {
		vpt_pt_mnt(&m->pt, hex(value + 1));
	} else {
		return false;
	}
	return true;
}
