// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the scripts of scenarios, and plays the steps that all trace systems share. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool touchable(const struct machine *m, uint64_t gpa, size_t len)
{
	if (gpa > RAM_SIZE || len > RAM_SIZE - gpa)
		return false;
	return gpa + len <= m->refused || gpa >= m->refused_end;
}

/* Translate an address of the output: guest-physical address 0 is at EPT. */
static uint64_t physical(const struct machine *m, uint64_t address)
{
	return address + (vpt_pt_output_is_guest_physical(&m->pt) ? EPT : 0);
}

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	const struct machine *m = opaque;

	gpa = physical(m, gpa);
	if (!touchable(m, gpa, len))
		return false;
	memcpy(dst, m->ram + gpa, len);
	return true;
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct machine *m = opaque;

	gpa = physical(m, gpa);
	if (!touchable(m, gpa, len))
		return false;
	memcpy(m->ram + gpa, src, len);
	return true;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((const struct machine *)opaque)->ctx;
}

static void moving_context(void *opaque, struct vpt_context *ctx)
{
	scenario_move_clock(opaque);
	context(opaque, ctx);
}

static void report_time(void *opaque, struct vpt_clock *now)
{
	struct machine *m = opaque;

	scenario_move_clock(m);
	*now = m->clock;
}

static void elapse(void *opaque, struct vpt_clock *now)
{
	struct machine *m = opaque;

	scenario_elapse(m);
	*now = m->clock;
}

static void count_pmi(void *opaque)
{
	((struct machine *)opaque)->pmis++;
}

const struct vpt_pt_ops scenario_ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
	.clock = report_time,
	.pmi = count_pmi,
};

const struct vpt_pt_ops scenario_ops_elapse = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
	.clock = report_time,
	.elapse = elapse,
	.pmi = count_pmi,
};

const struct vpt_pt_ops scenario_ops_no_clock = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = moving_context,
	.pmi = count_pmi,
};

void say(struct machine *m, const char *fmt, ...)
{
	size_t len = strlen(m->text);
	va_list ap;

	if (len && len < sizeof(m->text) - 1)
		m->text[len++] = ' ';
	va_start(ap, fmt);
	vsnprintf(m->text + len, sizeof(m->text) - len, fmt, ap);
	va_end(ap);
}

/* Append the outcomes, oldest first. The oldest is the highest bit. */
void say_outcomes(struct machine *m, const char *name, uint64_t value, unsigned int bits)
{
	char text[64];
	unsigned int i;

	ck_assert_uint_lt(bits, sizeof(text));
	for (i = 0; i < bits; i++)
		text[i] = value >> (bits - 1 - i) & 1 ? '1' : '0';
	text[i] = '\0';
	say(m, "%s(%s)", name, text);
}

void show(struct machine *m)
{
	m->unit->show(m);
}

uint64_t hex(const char *text)
{
	return strtoull(text, NULL, 16);
}

uint64_t decimal(const char *text)
{
	return strtoull(text, NULL, 10);
}

bool is(const char *word, const char *start)
{
	return !strncmp(word, start, strlen(start));
}

uint64_t named_bits(const struct bit_name *names, size_t count, const char *text)
{
	uint64_t bits = 0;

	while (*text && *text != '!') {
		size_t len = strcspn(text, ",!"), i;

		for (i = 0; i < count; i++)
			if (strlen(names[i].name) == len && !strncmp(names[i].name, text, len))
				break;
		ck_assert_msg(i < count, "no bit %.*s", (int)len, text);
		bits |= names[i].bits;
		text += len;
		if (*text == ',')
			text++;
	}
	return bits;
}

void report(struct machine *m, struct vpt_event event, uint64_t to)
{
	event.from = m->ip;
	event.to = to;
	m->unit->event(m, &event);
	m->ip = to;
}

void branch(struct machine *m, enum vpt_event_kind kind, unsigned int flags, uint64_t to)
{
	const struct vpt_event event = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.next = m->ip + m->length,
	};

	report(m, event, to);
	if (kind == VPT_EV_CALL || kind == VPT_EV_CALL_INDIRECT) {
		ck_assert_uint_lt(m->ra_count, RA_MAX);
		m->ra[m->ra_count++] = event.next;
	}
}

static uint64_t ret_target(struct machine *m, const char *text)
{
	if (!strcmp(text, "ra0"))
		return m->ra[0];
	if (!strcmp(text, "ra")) {
		ck_assert_uint_gt(m->ra_count, 0);
		return m->ra[--m->ra_count];
	}
	return hex(text);
}

/* Play steps "WORD>N", where N is the target of the instruction. */
static bool step_to(struct machine *m, const char *word)
{
	static const struct {
		const char *word;
		enum vpt_event_kind kind;
		unsigned int flags;
	} kinds[] = {
		{"jmp", VPT_EV_JMP, 0},
		{"jmpi", VPT_EV_JMP_INDIRECT, 0},
		{"call", VPT_EV_CALL, 0},
		{"calli", VPT_EV_CALL_INDIRECT, 0},
		{"far", VPT_EV_FAR, 0},
		{"farcr3", VPT_EV_FAR, VPT_EVF_CR3},
		{"farpfx", VPT_EV_FAR, VPT_EVF_PREFIXES},
		{"int", VPT_EV_SOFT_INT, 0},
		{"async@cur", VPT_EV_ASYNC, 0},
		{"async@next", VPT_EV_ASYNC, 0},
		{"asynccr3@next", VPT_EV_ASYNC, VPT_EVF_CR3},
	};
	const char *to = strchr(word, '>');
	size_t len = to ? (size_t)(to - word) : 0, i;

	if (!to++)
		return false;
	if (len == 3 && !strncmp(word, "ret", len)) {
		branch(m, VPT_EV_RET, 0, ret_target(m, to));
		return true;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strlen(kinds[i].word) != len || strncmp(kinds[i].word, word, len))
			continue;
		branch(m, kinds[i].kind, kinds[i].flags, hex(to));
		return true;
	}
	return false;
}

static void refuse(struct machine *m, const char *text)
{
	m->refused = hex(text);
	m->refused_end = hex(strchr(text, '-') + 1) + 1;
}

/* Play steps "WORD=N", which set state. */
static bool step_set(struct machine *m, const char *word)
{
	const char *value = strchr(word, '=');
	uint64_t n;

	if (!value++)
		return false;
	n = hex(value);
	if (is(word, "cpl=")) {
		m->ctx.cpl = (uint8_t)n;
	} else if (is(word, "cr3=")) {
		m->ctx.cr3 = n;
	} else if (is(word, "bits=")) {
		m->ctx.cs_l = n == 0x64;
		m->ctx.cs_d = n == 0x32;
	} else if (is(word, "csbase=")) {
		m->ctx.cs_base = n;
	} else if (is(word, "cbr=")) {
		m->ctx.cbr = (uint8_t)n;
	} else if (is(word, "refuse=")) {
		refuse(m, value);
	} else if (is(word, "movcr3=")) {
		m->ctx.cr3 = n;
		branch(m, VPT_EV_CR3, 0, m->ip + m->length);
	} else {
		return false;
	}
	return true;
}

static bool step_plain(struct machine *m, const char *word)
{
	uint64_t next = m->ip + m->length;

	if (!strcmp(word, "step")) {
		m->unit->insn(m);
		m->ip = next;
	} else if (!strcmp(word, "jcc")) {
		branch(m, VPT_EV_COND, VPT_EVF_TAKEN, (m->ip & ~0xffull) + 0x100);
	} else if (!strcmp(word, "jncc")) {
		branch(m, VPT_EV_COND, 0, next);
	} else if (!strcmp(word, "callnext")) {
		branch(m, VPT_EV_CALL, 0, next);
	} else if (!strcmp(word, "callchain")) {
		branch(m, VPT_EV_CALL, 0, (m->ip & ~0xfffull) + 0x1000);
	} else if (!strcmp(word, "retchain")) {
		branch(m, VPT_EV_RET, 0, ret_target(m, "ra"));
	} else if (!strcmp(word, "cbr")) {
		branch(m, VPT_EV_CBR, 0, m->ip);
	} else if (!strcmp(word, "tick")) {
		m->unit->tick(m);
	} else if (!strcmp(word, "flush")) {
		m->unit->flush(m);
	} else {
		return false;
	}
	return true;
}

static void step(struct machine *m, char *word)
{
	char *star = strchr(word, '*');
	unsigned long times = 1;

	if (star) {
		*star = '\0';
		times = strtoul(star + 1, NULL, 10);
	}
	while (times--)
		ck_assert_msg(m->unit->step(m, word) || scenario_step_time(m, word) ||
				      scenario_step_sleep(m, word) ||
				      scenario_step_system(m, word) || step_plain(m, word) ||
				      step_set(m, word) || step_to(m, word),
			      "no step %s", word);
}

static void reset(struct machine *m, const char *model)
{
	m->length = INSN;
	m->ip = m->ctx.cr3 = 0x1000;
	m->ctx.tsc = 0x123;
	m->ctx.cs_l = m->ctx.lma = m->ctx.paging = true;
	m->unit = &scenario_atom;
	if (m->unit->reset(m, model))
		return;
	m->unit = &scenario_pt;
	ck_assert_msg(m->unit->reset(m, model), "no model %s", model);
}

static void run(const struct test_scenario *scenario, bool quick)
{
	struct machine *m = calloc(1, sizeof(*m));
	char script[1024];
	char *word, *save;

	ck_assert_ptr_nonnull(m);
	ck_assert_uint_lt(strlen(scenario->script), sizeof(script));
	strcpy(script, scenario->script);
	reset(m, scenario->model);
	m->quick = quick;
	for (word = strtok_r(script, " ", &save); word; word = strtok_r(NULL, " ", &save))
		step(m, word);
	show(m);
	ck_assert_msg(!strcmp(m->text, scenario->packets),
		      "%s%s\n  script:   %s\n  expected: %s\n  packets:  %s", scenario->name,
		      quick ? " (quick paths)" : "", scenario->script, scenario->packets, m->text);
	free(m);
}

void test_scenario_check(const struct test_scenario *scenario)
{
	run(scenario, false);
	run(scenario, true);
}
