// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of sleep states and of frequency. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Read numbers separated by commas. Missing numbers are 0. */
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

bool scenario_step_sleep(struct machine *m, const char *word)
{
	if (!strcmp(word, "hlt"))
		sleep_in(m, 0, 0);
	else if (!strcmp(word, "stopped"))
		report(m, (struct vpt_event){.kind = VPT_EV_CBR, .flags = VPT_EVF_STOPPED}, m->ip);
	else if (is(word, "mwait="))
		mwait(m, word + 6);
	else if (is(word, "hdc="))
		sleep_in(m, VPT_EVF_HW, (uint8_t)hex(word + 4));
	else if (is(word, "wake="))
		wake(m, word + 5);
	else
		return false;
	return true;
}
