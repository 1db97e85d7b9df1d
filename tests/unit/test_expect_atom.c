// SPDX-License-Identifier: GPL-2.0-or-later
/* Test the steps that the oracle expects of Atom's RTIT (lib/steps.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "lib/words.h"
#include "trace/atom_session.h"

struct atom {
	struct synth s;
	struct vpt_atom_regs regs;
};

/*
 * The script has the words of lib/steps.h, and first of all "host" if the host owns the trace. Other
 * words set registers of the next session:
 *
 *   `filter:ID` `stop:ID`   FilterEn and TraceStop: always, never, range0, range1, either, reserved.
 *   `range0=10-20`          The base and the limit of a range.
 *   `match=2fe0`            CR3En and CR3_MATCH.
 *   `no-os` `os` `no-user`  The context.
 *   `filter-en`             FilterEn of RTIT_STATUS; `overflow` is Buffer_Overflow instead of it,
 *                           `no-status` clears both.
 */
static const struct {
	const char *name, *script, *steps;
} expected[] = {
	/*
	 * A fall of TriggerEn is no event: the WRMSR is an instruction, and then the session ends.
	 */
	{"WRMSR ends it, host", "host start@0 0 1 end-disabled@3 3 start@5 end-closed@5",
	 "E0 0 1 D E5 D"},
	{"WRMSR ends it", "start@0 0 1 end-disabled@3 3 start@5 end-closed@5", "E0 0 1 D E5 D"},
	{"not in context",
	 "no-os start@0 0 2+/3 10+ 4+/3 event:14@5/3 20+ 5+/1 6!/1 event:128@6/1 30+ "
	 "end-disabled@33",
	 "E2 2 D E4 4 D E5 5 D"},
	{"no user", "no-user start@0 0 1+/3 event:14@2/3 3+ end-closed@4", "E0 0 D E3 3 D"},
	/* Bits 35:5 are compared with CR3_MATCH, with any paging. */
	{"CR3", "match=2fe0 cr3=2fc0 start@0 0 1w cr3=f000002fff 4 5w cr3=102fe0 8 end-closed@9",
	 "E4 4 5 D"},
	/*
	 * The range begins at the base and ends at the limit, also when execution falls through to
	 * them. A long instruction may jump over the limit.
	 */
	{"walks",
	 "filter:range0 range0=10-20 start@e e f? 10 1f+ 20 1f+ 20+ 11+ 21 22+ end-disabled@23",
	 "E10 10 1f D E1f 1f D E11 11 21 D"},
	/* A session that starts inside the range has not entered it (3.3.5). */
	{"starts inside",
	 "filter:range0 range0=10-20 start@12 12+ 13 12+ end-disabled@14 start@10 10+ "
	 "end-disabled@13",
	 "E12 12 D E10 10 D"},
	/* In the second session the WRMSR that sets TriggerEn itself walks out. */
	{"starts with FilterEn",
	 "filter:range1 range1=10-20 filter-en start@80 80 82? 84+ 86 end-disabled@88 start@20 20 "
	 "end-disabled@22",
	 "E80 80 82 D"},
	/* Execution falls from one range into the other; the base wins. */
	{"either",
	 "filter:either range0=20-30 range1=10-20 start@10 10 20 30 18+ 28+ 38+ end-disabled@39",
	 "E10 10 20 D E18 18 28 D"},
	{"empty range", "filter:range0 range0=20-20 start@10 10 20+ 1f+ 20 21 end-disabled@22",
	 "E20 20 21 D"},
	{"never", "filter:never filter-en start@0 0 end-disabled@2", ""},
	/*
	 * A reserved ID matches nothing: FilterEn that software set stays until a branch is taken.
	 */
	{"reserved id",
	 "filter:reserved range0=0-80 range1=0-80 filter-en start@0 0 1 10+ 11 end-disabled@12",
	 "E0 0 1 D"},
	{"kernel addresses",
	 "filter:range0 range0=ffff800000000010-ffff800000000020 start@ffff80000000000f "
	 "ffff80000000000f ffff800000000010 ffff800000000020 ffff800000000012+ 10+ end-disabled@11",
	 "Effff800000000010 ffff800000000010 D Effff800000000012 ffff800000000012 D"},
	/*
	 * FilterEn does not change out of context. MOV CR3 leads into the context without a
	 * branch.
	 */
	{"frozen",
	 "match=2000 filter:range0 range0=10-20 cr3=2000 start@10 10w cr3=1000 13 80+ 81w cr3=2000 "
	 "84 85+ 86w cr3=1000 14+ 15w cr3=2000 18 end-disabled@19",
	 "E10 10 D E84 84 D"},
	/* A change of the privilege level that leads into the context is a branch. */
	{"context by branch",
	 "no-os filter:range0 range0=10-20 start@80 80 12+/3 40+ 60+/3 event:14@61/3 40+ 14+/3 "
	 "event:14@20/3 40+ end-disabled@41",
	 "E12 12 D E14 14 D"},
	{"events", "start@0 event:14@0 event:14@20 30+ 31! event:3@31 end-closed@40",
	 "E0 0>20 20>30 30 31>40 D"},
	/* The event leaves the filter and not the context: its target is not traced. */
	{"event leaves filter",
	 "filter:range0 range0=10-20 start@10 10 event:14@12 80+ 1e+ event:14@20 12+ end-closed@13",
	 "E10 10 D E1e 1e D E12 12 D"},
	/*
	 * In the second session, which starts behind the base, only a branch or an event counts.
	 */
	{"stop by walking",
	 "stop:range0 range0=10-20 start@e e end-stop@10 start@11 11+ 12 20 40+ end-stop@1f "
	 "start@40 event:14@40 end-stop@10 start@10 end-stop@10",
	 "Ee e D T E11 11 12 20 40 D T E40 D T T"},
	{"stop nearby", "stop:range1 range1=10-20 start@e e end-stop@12", "Ee e D T"},
	/* The filter that is left is reported; the filter that is entered is not. */
	{"stop and filter",
	 "stop:range1 filter:range0 range0=10-20 range1=20-30 start@10 10 end-stop@20 "
	 "filter:range1 start@10 10 end-stop@28",
	 "E10 10 D T T"},
	{"stop always", "stop:always no-user start@10 end-stop@10 start@10/3 10/3 11/3 end-stop@40",
	 "T T"},
	{"stop by WRMSR", "start@10 10 11 stop:always end-stop@13", "E10 10 11 D T"},
	{"stop out of context",
	 "stop:range0 range0=10-20 no-user start@40/3 10+/3 40+ end-closed@41", "E40 40 D"},
	/* In the second session the TraceStop is forgotten (E4). */
	{"stop held",
	 "stop:range0 range0=10-20 start@0 0 10+ 11 end-stop@12 start@11 11 10+ end-closed@12",
	 "E0 0 H 10 11 D T E11 11 H 10 D"},
	{"stop without reason", "stop:range0 range0=10-20 start@0 0 end-stop@40",
	 "E0 0 !a TraceStop was hit where no range calls for one"},
	/*
	 * A register is written during the trace: the WRMSR is the last instruction of its
	 * session.
	 */
	{"registers change",
	 "start@0 0 1 end-changed@3 no-os start@3 3 4 end-changed@6 os start@6 6 end-changed@8 "
	 "filter:range0 range0=10-20 filter-en start@8 8 end-changed@a no-status start@a a 14+ "
	 "end-changed@16 filter:never start@16 16 end-disabled@18",
	 "E0 0 1 D E6 6 8 D E14 14 D"},
	/* FilterEn that is written stays until the next instruction has retired. */
	{"status written",
	 "filter:never start@0 0 end-changed@2 filter-en start@2 2 4 end-disabled@6", "E2 2 D"},
	/* A write that does not change FilterEn walks onto the base like any instruction. */
	{"overflow written",
	 "filter:range0 range0=10-20 start@0 0 e end-changed@10 overflow start@10 10 11 "
	 "end-disabled@12",
	 "E10 10 11 D"},
	/* An interrupt is delivered before the instruction after the write. */
	{"changed then event", "start@0 0 end-changed@2 start@2 event:14@2 40+ 41 end-disabled@43",
	 "E0 0 2>40 40 41 D"},
	{"root operation", "start@0 0 exit@1 80+ 81 event:14@82 90+ 91v 1 end-closed@2",
	 "E0 0 D E1 1 D"},
	{"root by space",
	 "spaces cr3=5000 start@0 0 1v cr3=2000 40 exit@41 cr3=5000 2 end-disabled@4", "E40 40 D"},
	{"starts twice", "start@0 record-start", "!a session starts inside another"},
	{"ends after change", "start@0 0 end-changed@2 record-end",
	 "E0 !a session ends that never started"},
};

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static bool play_id(struct atom *t, const char *word)
{
	static const struct {
		const char *name;
		unsigned int id;
	} ids[] = {
		{"always", VPT_ATOM_ID_ALWAYS}, {"never", VPT_ATOM_ID_NEVER},
		{"range0", VPT_ATOM_ID_RANGE0}, {"range1", VPT_ATOM_ID_RANGE1},
		{"either", VPT_ATOM_ID_EITHER}, {"reserved", 4},
	};
	const char *name = strchr(word, ':');
	int i;

	if (!name || (strncmp(word, "filter:", 7) != 0 && strncmp(word, "stop:", 5) != 0))
		return false;
	for (i = 0; i < COUNT(ids) && strcmp(name + 1, ids[i].name) != 0; i++)
		;
	ck_assert_msg(i < COUNT(ids), "%s: no such ID", word);
	if (*word == 'f')
		t->regs.events = (t->regs.events & ~7u) | ids[i].id;
	else
		t->regs.events = (t->regs.events & 7u) | ids[i].id << 3;
	return true;
}

/* "range0=10-20" */
static bool play_range(struct atom *t, const char *word)
{
	unsigned long base, limit;
	unsigned int n;

	if (sscanf(word, "range%u=%lx-%lx", &n, &base, &limit) != 3)
		return false;
	ck_assert_uint_lt(n, 2);
	t->regs.lip[n] = (SYNTH_CODE + base) & VPT_MASK64(47, 0);
	t->regs.lip[n + 2] = (SYNTH_CODE + limit) & VPT_MASK64(47, 0);
	return true;
}

static bool play_register(struct atom *t, const char *word)
{
	const uint32_t filter_en = (uint32_t)VPT_ATOM_MASK(STATUS, FILTER_EN);

	if (!strcmp(word, "no-os")) {
		t->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, OS);
	} else if (!strcmp(word, "os")) {
		t->regs.ctl |= (uint32_t)VPT_ATOM_MASK(CTL, OS);
	} else if (!strcmp(word, "no-user")) {
		t->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, USER);
	} else if (!strcmp(word, "filter-en")) {
		t->regs.status |= filter_en;
	} else if (!strcmp(word, "overflow")) {
		t->regs.status = (uint32_t)VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
	} else if (!strcmp(word, "no-status")) {
		t->regs.status = 0;
	} else if (!strncmp(word, "match=", 6)) {
		t->regs.ctl |= (uint32_t)VPT_ATOM_MASK(CTL, CR3_EN);
		t->regs.cr3_match = strtoull(word + 6, NULL, 16);
	} else {
		return false;
	}
	return true;
}

static void play(void *opaque, char *word)
{
	struct atom *t = opaque;

	if (play_id(t, word) || play_range(t, word) || play_register(t, word))
		return;
	if (!strcmp(word, "host")) {
		t->s.info.owner = TRACE_OWNER_HOST;
		synth_reopen(&t->s);
		return;
	}
	trace_atom_session_set(&t->s.session, &t->regs);
	steps_play(&t->s, word);
}

START_TEST(expectation)
{
	struct trace_reader *r;
	struct atom t = {0};
	char text[1000];

	synth_open(&t.s);
	t.s.info.flags = TRACE_INFO_ATOM;
	synth_reopen(&t.s);
	t.regs.ctl = (uint32_t)(VPT_ATOM_MASK(CTL, TRACE_EN) | VPT_ATOM_MASK(CTL, TRACE_ACTIVE) |
				VPT_ATOM_MASK(CTL, OS) | VPT_ATOM_MASK(CTL, USER));
	words_play("filter:always stop:never", play, &t);
	words_play(expected[_i].script, play, &t);
	r = synth_read(&t.s);
	steps_write(r, text, sizeof(text));
	ck_assert_msg(!strcmp(text, expected[_i].steps), "%s: %s", expected[_i].name, text);
	trace_reader_close(r);
	synth_done(&t.s);
}
END_TEST

TEST_SUITE("expect_atom", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	TEST_ROWS(tcase, expectation, expected);
}
