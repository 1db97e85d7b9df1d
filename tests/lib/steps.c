// SPDX-License-Identifier: GPL-2.0-or-later
/* Play scripts of oracle records, and write the expected steps as text. */
#include "lib/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "lib/synth.h"
#include "lib/synthwords.h"
#include "lib/words.h"
#include "oracle/expect.h"
#include "vpt/msr.h"

void steps_write(struct trace_reader *r, char *text, size_t size)
{
	struct oracle_expect e;
	struct oracle_step s;
	size_t at = 0;

	oracle_expect_init(&e, r, 0);
	*text = 0;
	do {
		unsigned long ip = s.ip - SYNTH_CODE, to;
		const char *gap = at ? " " : "";

		oracle_expect_next(&e, &s);
		ip = s.ip - SYNTH_CODE;
		to = s.to - SYNTH_CODE;
		ck_assert_uint_lt(at, size - 100);
		switch (s.kind) {
		case ORACLE_STEP_END:
			break;
		case ORACLE_STEP_INSN:
			at += sprintf(text + at, "%s%lx", gap, ip);
			break;
		case ORACLE_STEP_ENABLED:
			at += sprintf(text + at, "%sE%lx", gap, ip);
			break;
		case ORACLE_STEP_DISABLED:
			at += sprintf(text + at, "%sD", gap);
			break;
		case ORACLE_STEP_ASYNC:
			at += sprintf(text + at, "%s%lx>%lx", gap, ip, to);
			break;
		case ORACLE_STEP_ASYNC_OFF:
			at += sprintf(text + at, "%sA%lx", gap, ip);
			break;
		case ORACLE_STEP_STOP:
			at += sprintf(text + at, "%sT", gap);
			break;
		case ORACLE_STEP_HELD:
			at += sprintf(text + at, "%sH", gap);
			break;
		case ORACLE_STEP_WRONG:
			at += sprintf(text + at, "%s!%s", gap, s.text);
			break;
		}
	} while (s.kind != ORACLE_STEP_END && s.kind != ORACLE_STEP_WRONG);
	/* Check that a further call returns END or WRONG again. */
	oracle_expect_next(&e, &s);
	ck_assert(s.kind == ORACLE_STEP_END || s.kind == ORACLE_STEP_WRONG);
}

/* An IP followed by flags and CPL. */
struct place {
	uint64_t ip;
	unsigned int flags;
	uint8_t cpl;
};

static struct place place_of(const struct synth *s, const char *text)
{
	static const char letters[] = "+p?!wv"; /* in the order of the bits */
	const char *letter;
	char *end;
	struct place p = {.ip = s->base + strtoull(text, &end, 16)};

	ck_assert_msg(end != text, "%s: not a place", text);

	for (; *end && (letter = strchr(letters, *end)); end++)
		p.flags |= 1u << (letter - letters);
	if (*end == '/')
		p.cpl = (uint8_t)strtoul(end + 1, &end, 10);
	ck_assert_msg(!*end, "%s: not a place", text);
	return p;
}

static void play_record(struct synth *s, uint8_t kind, const struct place *at)
{
	struct trace_oracle_record r = {.kind = kind, .ip = at->ip, .cpl = at->cpl};

	ck_assert_int_eq(trace_writer_oracle(s->w, 0, r), 0);
}

static void play_spaces(struct synth *s)
{
	static const struct trace_space all[] = {
		{.id = 0x5000, .cr3 = 0x2000, .vmcs = TRACE_SPACE_ANY_VMCS},
		{.id = 0x2000, .cr3 = 0x3000, .vmcs = 0x8000, .flags = TRACE_SPACE_NON_ROOT},
	};

	ck_assert_int_eq(trace_writer_spaces(s->w, all, 2), 0);
}

/* Play WHAT@PLACE. Returns false if there is no such word. */
static bool play_at(struct synth *s, const char *what, const struct place *p)
{
	static const char *const ends[] = {
		[TRACE_END_DISABLED] = "end-disabled", [TRACE_END_TRACE_STOP] = "end-stop",
		[TRACE_END_TOPA_STOP] = "end-topa",    [TRACE_END_ERROR] = "end-error",
		[TRACE_END_CLOSED] = "end-closed",     [TRACE_END_LOST] = "end-lost",
		[TRACE_END_CHANGED] = "end-changed",
	};
	unsigned int i;

	if (!strcmp(what, "start")) {
		synth_start(s, p->ip, p->cpl);
		return true;
	}
	if (!strncmp(what, "event:", 6)) {
		synth_event(s, p->ip, p->cpl, (uint8_t)strtoul(what + 6, NULL, 10), p->flags);
		return true;
	}
	if (!strcmp(what, "exit")) {
		play_record(s, TRACE_ORACLE_VM_EXIT, p);
		return true;
	}
	for (i = TRACE_END_DISABLED; i <= TRACE_END_CHANGED; i++) {
		if (!strcmp(what, ends[i])) {
			synth_stop(s, (enum trace_session_end)i, p->ip, p->cpl);
			return true;
		}
	}
	return false;
}

/* A range: NUMBER=FROM-TO. */
static void play_range(struct synth *s, const char *text, enum vpt_addr_cfg cfg)
{
	unsigned long n, from, to;

	ck_assert_int_eq(sscanf(text, "%lu=%lx-%lx", &n, &from, &to), 3);
	ck_assert_uint_lt(n, VPT_MAX_RANGES);
	s->session.ctl |= (uint64_t)cfg << (VPT_CTL_ADDR0_CFG_SHIFT + 4 * n);
	s->session.addr[2 * n] = s->base + from;
	s->session.addr[2 * n + 1] = s->base + to;
}

/*
 * Play a word that sets registers or CR3 or makes a single record. Returns false for any other
 * word.
 */
static bool play_setting(struct synth *s, const char *word)
{
	static const struct {
		const char *word;
		uint64_t clear; /* bits of CTL */
		int record;	/* or -1 */
	} words[] = {
		{"no-os", VPT_CTL_MASK(OS), -1},
		{"no-user", VPT_CTL_MASK(USER), -1},
		{"no-branch", VPT_CTL_MASK(BRANCH_EN), -1},
		{"record-start", 0, TRACE_ORACLE_START},
		{"record-end", 0, TRACE_ORACLE_STOP},
		{"record-unknown", 0, 200},
	};
	const struct place zero = {.ip = s->base};
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(word, words[i].word)) {
			s->session.ctl &= ~words[i].clear;
			if (words[i].record >= 0)
				play_record(s, (uint8_t)words[i].record, &zero);
			return true;
		}
	}
	if (!strcmp(word, "spaces")) {
		play_spaces(s);
	} else if (!strncmp(word, "cr3=", 4)) {
		synth_cr3(s, strtoull(word + 4, NULL, 16));
	} else if (!strncmp(word, "match=", 6)) {
		s->session.ctl |= VPT_CTL_MASK(CR3_FILTER);
		s->session.cr3_match = strtoull(word + 6, NULL, 16);
	} else if (!strncmp(word, "filter", 6)) {
		play_range(s, word + 6, VPT_ADDR_FILTER);
	} else if (!strncmp(word, "stop", 4)) {
		play_range(s, word + 4, VPT_ADDR_STOP);
	} else {
		return false;
	}
	return true;
}

static void play_word(void *opaque, char *word)
{
	struct synth *s = opaque;
	struct place p;
	char *at;

	if (synth_word(s, word) || play_setting(s, word))
		return;
	at = strchr(word, '@');
	if (at)
		*at = 0;
	p = place_of(s, at ? at + 1 : word);
	if (!at)
		synth_insn(s, p.ip, p.cpl, p.flags);
	else
		ck_assert_msg(play_at(s, word, &p), "%s: unknown word", word);
}

void steps_play(struct synth *s, const char *script)
{
	words_play(script, play_word, s);
}
