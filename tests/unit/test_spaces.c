// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test traces that span a host and guests, as in the manual's tables 33-53, 33-56 and 33-59. Each
 * item of the flow is a word:
 *   1a h    instruction at SYNTH_CODE + 0x1a, by the name of its space; ? not known
 *   E1a D A1a 1a>20   enabled, disabled, disabled by an event at 1a, event
 *   V       disabled by a VM entry
 *   Ph      PIP, by the name of its space, or its CR3
 *   C8@1a   CFE of type 8 with that FUP; q, r: exit qualification and reason
 *   !...    error
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code.h"
#include "judge/filter.h"
#include "judge/judge.h"
#include "decode/spaces.h"
#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "lib/words.h"
#include "vpt/msr.h"

#define AT(offset) (SYNTH_CODE + (offset))
#define COUNT(a)   ((int)(sizeof(a) / sizeof((a)[0])))

#define ID(n)	  (0x000f000000000000ull + 4096 * (n))
#define HOST_ONLY (AT(0x1000) + 0xc) /* two NOPs that only the host has */
#define VMCS0	  0x7000ull
#define VMCS1	  0x8000ull
#define CR3	  SYNTH_CR3
#define OTHER_CR3 0x9000ull

/* h: host; a, b: guests of two VMCSs, all three with the same CR3. */
static const struct trace_space spaces[] = {
	{.id = ID(0),
	 .cr3 = CR3,
	 .vmcs = TRACE_SPACE_ANY_VMCS,
	 .vm = TRACE_SPACE_NO_VM,
	 .name = "h"},
	{.id = ID(1), .cr3 = CR3, .vmcs = VMCS0, .flags = TRACE_SPACE_NON_ROOT, .name = "a"},
	{.id = ID(2),
	 .cr3 = CR3,
	 .vmcs = VMCS1,
	 .flags = TRACE_SPACE_NON_ROOT,
	 .vm = 1,
	 .name = "b"},
};

/*
 * Host: 0 nop; 1 vmresume; 4 nop; 5 jmp rax; 7 vmptrld; a jmp rax. Guests have a NOP in
 * front of that: 0 nop; 1 nop; 2 nop; 3 cpuid; 5 jmp rax; b has jnz 0 at 1 instead.
 */
static void code(struct synth *s)
{
	ck_assert_int_eq(trace_writer_spaces(s->w, spaces, COUNT(spaces)), 0);
	synth_code(s, AT(0), "90 0f 01 c3 90 ff e0 0f c7 30 ff e0 90 90");
	synth_page_at(s, ID(0), SYNTH_CODE);
	synth_page_at(s, ID(0), HOST_ONLY & ~0xfffull);
	synth_code(s, AT(0), "90 90 90 0f a2 ff e0 90");
	synth_page_at(s, ID(1), SYNTH_CODE);
	synth_code(s, AT(0), "90 75 fd 0f a2 ff e0 90");
	synth_page_at(s, ID(2), SYNTH_CODE);
}

/* h, then a alone: a concealed guest of the first VMCS. */
static void concealed_code(struct synth *s)
{
	ck_assert_int_eq(trace_writer_spaces(s->w, &spaces[1], 1), 0);
	ck_assert_int_eq(trace_writer_spaces(s->w, spaces, 1), 0);
	synth_code(s, AT(0), "90 90 90 0f a2 ff e0 90");
	synth_page_at(s, ID(1), SYNTH_CODE);
}

/* A guest whose code the file says that it does not have. */
static void space_without_code(struct synth *s)
{
	static const struct trace_space space = {
		.id = ID(3),
		.cr3 = OTHER_CR3,
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.flags = TRACE_SPACE_NON_ROOT | TRACE_SPACE_NO_CODE,
		.name = "n",
	};

	ck_assert_int_eq(trace_writer_spaces(s->w, &space, 1), 0);
}

/* Play a word of lib/steps.h, or `spaces`, `concealed-spaces` or `no-code-space`. */
static void play(void *opaque, char *word)
{
	struct synth *s = opaque;

	if (!strcmp(word, "spaces"))
		code(s);
	else if (!strcmp(word, "concealed-spaces"))
		concealed_code(s);
	else if (!strcmp(word, "no-code-space"))
		space_without_code(s);
	else
		steps_play(s, word);
}

/* A PSB+ in root operation and in non-root operation. */
#define PSB_PLUS	"PSB VMCS:7000 PIP:1000 MODE PSBEND "
#define PSB_PLUS_B	"PSB VMCS:8000 PIPN:1000 MODE PSBEND "
#define BEGIN(ip)	"spaces start@" ip " " PSB_PLUS "PGE:" ip " "
#define ENTER		"PIPN:1000 TIP:0 "
#define ENTER_OTHER	"PIPN:9000 TIP:0 "
#define LEAVE(from, to) "FUP:" from " PIP:1000 TIP:" to " "

/* @own is the flow by libvptdecode where that has other words, or another order. */
static const struct {
	const char *name, *script, *words, *own;
} flows[] = {
	{"entry and exit",
	 BEGIN("0") ENTER LEAVE("3", "4") "TIP:0 " ENTER LEAVE("2", "4") "finish@5",
	 "E0 0h 1h Pa 0a 1a 2a 3>4 Ph 4h 5h 0h 1h Pa 0a 1a 2>4 Ph 4h A5", NULL},
	/* VMPTRLD's packet counts from the next entry on. The VMCS packet of a PSB+ is no other. */
	{"two guests",
	 BEGIN("0") ENTER LEAVE("3", "5") "TIP:7 VMCS:8000 TIP:1 " ENTER
					  "TNT:10 " LEAVE("3", "4") "finish@5",
	 "E0 0h 1h Pa 0a 1a 2a 3>5 Ph 5h 7h ah 1h Pb 0b 1b 0b 1b 3>4 Ph 4h A5", NULL},
	{"PSB in a guest", "spaces start@0 " PSB_PLUS_B "PGE:0 TNT:0 " LEAVE("3", "4") "finish@5",
	 "E0 0b 1b 3>4 Ph 4h A5", NULL},
	{"VMCS behind PIP",
	 "spaces start@0 PSB PIPN:1000 VMCS:8000 MODE PSBEND PGE:0 TNT:0 " LEAVE("3",
										 "4") "finish@5",
	 "E0 0b 1b 3>4 Ph 4h A5", NULL},
	/* Guest-only: the exit is FUP, TIP.PGD, and the entry TIP.PGE. No packet has a CR3. */
	{"guest only",
	 "spaces switch=f000000002000/0 start@0 PSB MODE PSBEND 2*PGE:0,TNT:0,FUP:3,PGD:- "
	 "end-disabled@3",
	 "E0 0b 1b A3 E0 0b 1b A3", NULL},
	/* PIPs of a concealed guest are like a host's. */
	{"concealed", "concealed-spaces start@0 PSB MODE PIP:1000 PSBEND PGE:0 finish@3",
	 "E0 0a 1a 2a A3", NULL},
	/* Host-only: the entry is FUP with the IP after VMRESUME, TIP.PGD (table 33-56, row 9). */
	{"host only", BEGIN("0") "FUP:4 PGD:- PGE16:4 finish@5", "E0 0h 1h V E4 4h A5", NULL},
	/* Only the code shows that this is no VM entry. */
	{"host, event", BEGIN("4") "FUP:5 PGD:- PGE16:4 finish@5", "E4 4h A5 E4 4h A5", NULL},
	/* An event at an IP that was reached, which happens to be behind a VMRESUME. */
	{"host, event there", BEGIN("5") "TIP:4 FUP:4 PGD:- PGE16:4 finish@5", "E5 5h A4 E4 4h A5",
	 NULL},
	{"unknown space", BEGIN("0") ENTER_OTHER LEAVE("3", "4") "PSB+:4 finish@5",
	 "E0 0h 1h P9000 !no memory mapped at this address 4h A5",
	 "E0 0h 1h P9000 !no code at this address 4h A5"},
	/* The host alone has code at the target, but it is not the host that runs. */
	{"unknown space, code of another",
	 BEGIN("0") "PIPN:9000 TIP:100c " LEAVE("100d", "4") "PSB+:4 finish@5",
	 "E0 0h 1h P9000 !no memory mapped at this address 4h A5",
	 "E0 0h 1h P9000 !no code at this address 4h A5"},
	/* The file says that it has no code of this guest, whose instructions are left out. */
	{"no code",
	 "no-code-space " BEGIN("0") ENTER_OTHER "FUP:3 TIP:20 MODE " LEAVE("3", "4") "finish@5",
	 "E0 0h 1h Pn V Ph E4 4h A5", NULL},
	/* An entry that fails late: the exit's PIP comes, and no TIP of the guest. */
	{"no code, failed entry", "no-code-space " BEGIN("0") "PIPN:9000 PIP:1000 TIP:4 finish@5",
	 "E0 0h 1h Ph 4h A5", NULL},
	/* The decoder synchronizes while that guest runs. */
	{"no code, PSB",
	 "no-code-space spaces start@0 PSB PIPN:9000 MODE FUP:2 PSBEND TIP:0 " LEAVE(
		 "3", "4") "finish@5",
	 "Ph E4 4h A5", NULL},
	/* No PIP reports the exit, but only the host has code at the target. */
	{"concealed exit", BEGIN("0") ENTER "FUP:3 TIP:100c finish@100e",
	 "E0 0h 1h Pa 0a 1a 2a 3>100c 100ch 100dh A100e", NULL},
	/* CFEs with a FUP of their own, and CFEs that share one with branch trace. */
	{"event trace",
	 "event-en " BEGIN("0") "CFEI:7 FUP16:1 PIPN:1000 TIP16:0 EVD:1234/1 EVD:a/2 CFE:8 FUP16:3 "
				"PIP:1000 TIP16:4 CFE:4 finish@5",
	 "E0 0h C7@1 1h Pa 0a 1a 2a C8@3q1234r10 3>4 Ph 4h C4@5 A5",
	 "E0 0h 1h C7@1 Pa 0a 1a 2a C8@3q1234r10 3>4 Ph 4h C4@5 A5"},
	/* CLI: MODE.Exec and a FUP report RFLAGS.IF alone. */
	{"RFLAGS.IF", "event-en " BEGIN("4") "MODE FUP16:4 TIP16:4 finish@5", "E4 4h 5h 4h A5",
	 NULL},
	{"VM exit out of context", BEGIN("0") ENTER "FUP:3 PIP:1000 PGD:- PGE:4 finish@5",
	 "E0 0h 1h Pa 0a 1a 2a A3 Ph E4 4h A5", NULL},
	/* MOV to CR3 and VM entry have the same packets in another order. */
	{"VM entry out of context", BEGIN("0") "FUP:4 PIPN:9000 PGD:- PIP:1000 PGE:4 finish@5",
	 "E0 0h 1h P9000 V Ph E4 4h A5", "E0 0h 1h V P9000 Ph E4 4h A5"},
};

static const char *name_of(const struct decode_item *item, char *text)
{
	if (!item->space)
		return "?";
	if (item->space->name[0])
		return item->space->name;
	sprintf(text, "%llx", (unsigned long long)item->space->cr3);
	return text;
}

static void add_cfe(char *at, const struct decode_cfe *c)
{
	at += sprintf(at, "C%x", c->type);
	if (c->has_ip)
		at += sprintf(at, "@%llx", (unsigned long long)(c->ip - SYNTH_CODE));
	if (c->has_qualification)
		at += sprintf(at, "q%llx", (unsigned long long)c->qualification);
	if (c->has_reason)
		sprintf(at, "r%llu", (unsigned long long)c->reason);
}

static void add_event(char *at, const struct decode_item *item)
{
	unsigned long long from = item->ip - SYNTH_CODE, to = item->to - SYNTH_CODE;
	char text[20];

	switch (item->event) {
	case DECODE_FLOW_ENABLED:
		sprintf(at, "E%llx", to);
		break;
	case DECODE_FLOW_DISABLED:
		sprintf(at, item->vm_entry ? "V" : "D");
		break;
	case DECODE_FLOW_ASYNC_DISABLED:
		sprintf(at, "A%llx", from);
		break;
	case DECODE_FLOW_ASYNC_BRANCH:
		sprintf(at, "%llx>%llx", from, to);
		break;
	case DECODE_FLOW_PAGING:
		sprintf(at, "P%s", name_of(item, text));
		break;
	case DECODE_FLOW_CFE:
		add_cfe(at, item->cfe);
		break;
	default:
		break;
	}
}

static void describe(struct trace_reader *r, enum judge_flow_by by, char *text, size_t size)
{
	struct decode_flow *flow;
	struct decode_item item;
	char *at = text;

	ck_assert_int_eq(judge_flow_open_by(r, 0, DECODE_FLOW_INSNS, by, &flow), 0);
	do {
		char word[200] = "", name[20];

		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		if (item.kind == DECODE_ITEM_INSN)
			sprintf(word, "%llx%s", (unsigned long long)(item.ip - SYNTH_CODE),
				name_of(&item, name));
		else if (item.kind == DECODE_ITEM_ERROR)
			sprintf(word, "!%s", item.text);
		else if (item.kind == DECODE_ITEM_EVENT && !item.status)
			add_event(word, &item);
		ck_assert_uint_lt((size_t)(at - text), size - 300);
		if (*word)
			at += sprintf(at, "%s%s", at == text ? "" : " ", word);
	} while (item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
}

START_TEST(flow)
{
	enum judge_flow_by by;
	struct trace_reader *r;
	struct synth s;

	synth_open(&s);
	words_play(flows[_i].script, play, &s);
	r = synth_read(&s);
	for (by = DECODE_FLOW_BY_LIBVPTDECODE; by <= DECODE_FLOW_BY_LIBIPT; by++) {
		const bool own = by == DECODE_FLOW_BY_LIBVPTDECODE && flows[_i].own;
		const char *expected = own ? flows[_i].own : flows[_i].words;
		char text[2000] = "";

		describe(r, by, text, sizeof(text));
		ck_assert_msg(!strcmp(text, expected), "%s, %d:\n  %s\n  expected:\n  %s",
			      flows[_i].name, by, text, expected);
	}
	trace_reader_close(r);
	synth_done(&s);
	TEST_PROVES("PKT-VMCS PKT-PIP PKT-CFE PKT-EVD");
}
END_TEST

static uint64_t block_insns(const struct decode_item *item)
{
	return item->kind == DECODE_ITEM_BLOCK ? item->insns : 0;
}

/* The block decoder finds as many instructions, in the same spaces. */
START_TEST(flow_blocks)
{
	uint64_t insns[2][COUNT(spaces) + 1] = {{0}};
	enum decode_flow_unit unit;
	struct trace_reader *r;
	struct synth s;
	size_t i;

	synth_open(&s);
	words_play(flows[_i >> 1].script, play, &s);
	r = synth_read(&s);
	for (unit = DECODE_FLOW_INSNS; unit <= DECODE_FLOW_BLOCKS; unit++) {
		struct decode_flow *f;
		struct decode_item item;

		ck_assert_int_eq(judge_flow_open_by(r, 0, unit, (enum judge_flow_by)(_i & 1), &f),
				 0);
		do {
			ck_assert_int_eq(decode_flow_next(f, &item), 0);
			for (i = 0; i < COUNT(spaces) && item.cr3 != spaces[i].id; i++)
				;
			insns[unit][i] += item.kind == DECODE_ITEM_INSN ? 1 : block_insns(&item);
		} while (item.kind != DECODE_ITEM_END);
		decode_flow_close(f);
	}
	for (i = 0; i < COUNT(spaces) + 1; i++)
		ck_assert_uint_eq(insns[DECODE_FLOW_INSNS][i], insns[DECODE_FLOW_BLOCKS][i]);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* Offsets are those of the stream, whatever was left out or grew before them. */
START_TEST(offsets)
{
	struct trace_reader *r;
	struct decode_flow *f;
	struct decode_item item;
	struct synth s;
	size_t len;

	synth_open(&s);
	words_play("event-en " BEGIN("0") "CFEI:7 FUP16:1 FUP:4 PGD:- end-disabled@4", play, &s);
	r = synth_read(&s);
	trace_reader_stream(r, 0, &len);
	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_INSNS, &f), 0);
	do {
		ck_assert_int_eq(decode_flow_next(f, &item), 0);
		ck_assert_uint_le(item.offset, len);
		if (item.kind == DECODE_ITEM_EVENT && item.event == DECODE_FLOW_DISABLED)
			ck_assert_uint_eq(item.offset, len);
	} while (item.kind != DECODE_ITEM_END);
	decode_flow_close(f);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* Which space a PIP is of: `code` has a letter for each that the vCPU ran. */
static const struct {
	const char *code;
	uint64_t cr3, vmcs;
	bool nr;
	const char *space; /* NULL: one that no block tells of */
} pips[] = {
	{"hab", CR3, VMCS0, false, "h"},
	{"hab", CR3, TRACE_SPACE_ANY_VMCS, false, "h"},
	{"hab", CR3, VMCS0, true, "a"},
	{"hab", CR3, VMCS1, true, "b"},
	/* Two would do, or none. */
	{"hab", CR3, TRACE_SPACE_ANY_VMCS, true, NULL},
	{"hab", CR3, 0xa000, true, NULL},
	{"hab", OTHER_CR3, VMCS0, true, NULL},
	{"hab", OTHER_CR3, VMCS0, false, NULL},
	{"ha", CR3, TRACE_SPACE_ANY_VMCS, true, "a"},
	{"a", CR3, TRACE_SPACE_ANY_VMCS, false, "a"},
	{"ab", CR3, TRACE_SPACE_ANY_VMCS, false, NULL},
	{"", CR3, VMCS0, false, "h"},
	{"", CR3, VMCS0, true, "a"},
	/* A PCID is no part of an address space. */
	{"hab", CR3 | 0x20, VMCS0, true, "a"},
};

START_TEST(resolve)
{
	const struct decode_space_key key = {pips[_i].cr3, pips[_i].vmcs, pips[_i].nr};
	const struct trace_space *found;
	struct decode_code_store *store;
	struct decode_spaces *all;
	struct trace_reader *r;
	struct synth s;
	uint64_t id;
	int i;

	synth_open(&s);
	trace_writer_spaces(s.w, spaces, COUNT(spaces));
	for (i = 0; i < COUNT(spaces); i++) {
		if (strchr(pips[_i].code, spaces[i].name[0]))
			synth_page_at(&s, spaces[i].id, SYNTH_CODE);
	}
	r = synth_read(&s);
	ck_assert_int_eq(decode_code_open(r, 0, &store), 0);
	ck_assert_int_eq(decode_spaces_open(r, store, &all), 0);
	id = decode_spaces_resolve(all, &key);
	found = decode_spaces_find(all, id);
	ck_assert_ptr_nonnull(found);
	ck_assert_uint_eq(found->id, id);
	if (pips[_i].space) {
		ck_assert_str_eq(found->name, pips[_i].space);
	} else {
		ck_assert_str_eq(found->name, "");
		ck_assert_uint_eq(found->cr3, key.cr3);
		ck_assert_uint_eq(found->flags, key.non_root ? TRACE_SPACE_NON_ROOT : 0);
		ck_assert_uint_eq(decode_code_space(store, id), DECODE_CR3_UNKNOWN);
		/* It stays the same one. */
		ck_assert_uint_eq(decode_spaces_resolve(all, &key), id);
	}
	decode_spaces_close(all);
	decode_code_close(store);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* Beyond a number of them, what is not known is all one. */
START_TEST(many_unknown)
{
	struct decode_space_key key = {0x100000, VMCS0, true};
	struct decode_code_store *store;
	struct decode_spaces *all;
	struct trace_reader *r;
	struct synth s;
	uint64_t id = 0, last = 0;
	unsigned int i;

	synth_open(&s);
	trace_writer_spaces(s.w, spaces, COUNT(spaces));
	r = synth_read(&s);
	ck_assert_int_eq(decode_code_open(r, 0, &store), 0);
	ck_assert_int_eq(decode_spaces_open(r, store, &all), 0);
	for (i = 0; i < 5000; i++) {
		last = id;
		key.cr3 += 4096;
		id = decode_spaces_resolve(all, &key);
		ck_assert_ptr_nonnull(decode_spaces_find(all, id));
		if (i == 1)
			ck_assert_uint_ne(id, last);
	}
	ck_assert_uint_eq(id, last);
	ck_assert_ptr_null(decode_spaces_find(all, 0x1234000));
	ck_assert_ptr_null(decode_spaces_find(NULL, ID(0)));
	decode_spaces_close(all);
	decode_code_close(store);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

/* A kernel's code is in all spaces of the host, and in no guest. */
START_TEST(common)
{
	static const struct trace_space more[] = {
		{.id = ID(4), .cr3 = 0xa000, .flags = TRACE_SPACE_COMMON, .name = "kernel"},
		{.id = ID(5), .cr3 = 0xb000, .name = "no page of its own"},
	};
	struct decode_code_store *store;
	struct trace_reader *r;
	uint8_t bytes[4];
	struct synth s;
	int i;

	synth_open(&s);
	trace_writer_spaces(s.w, spaces, COUNT(spaces));
	trace_writer_spaces(s.w, more, COUNT(more));
	synth_page_at(&s, ID(0), AT(0));
	synth_page_at(&s, ID(1), AT(0));
	synth_page_at(&s, ID(4), AT(0x3000));
	r = synth_read(&s);
	ck_assert_int_eq(decode_code_open(r, 0, &store), 0);
	for (i = 0; i < 6; i++) {
		bool host = i == 0 || i > 3;

		ck_assert_uint_eq(decode_code_read(store, ID(i), AT(0x3000), bytes, 4),
				  host ? 4 : 0);
		ck_assert_uint_eq(decode_code_read(store, ID(i), AT(0), bytes, 4), i < 2 ? 4 : 0);
		decode_code_select(store, ID(i));
		ck_assert_uint_eq(decode_code_fetch(store, AT(0x3002), bytes, 2), host ? 2 : 0);
		ck_assert_uint_eq(decode_code_fetch(store, AT(0xffe), bytes, 4), i < 2 ? 2 : 0);
		ck_assert_uint_eq(decode_code_space(store, ID(i)),
				  i == 2 || i == 3 ? DECODE_CR3_UNKNOWN : ID(i));
	}
	decode_code_close(store);
	trace_reader_close(r);
	synth_done(&s);
}
END_TEST

static const struct {
	struct trace_space space;
	const char *text;
} formats[] = {
	{{.cr3 = 0x1000, .vm = TRACE_SPACE_NO_VM}, "host: cr3 0x1000"},
	{{.cr3 = 0x1000, .pid = 7}, "host: pid 7"},
	{{.name = "ba\x1bsh", .pid = 7}, "host: ba?sh, pid 7"},
	{{.name = "kernel", .flags = TRACE_SPACE_NON_ROOT, .vm = 1, .vcpu = 2},
	 "VM 1 vCPU 2: kernel"},
	{{.cr3 = 0x2000, .flags = TRACE_SPACE_NON_ROOT, .vm = TRACE_SPACE_NO_VM},
	 "guest: cr3 0x2000"},
};

START_TEST(format)
{
	char text[128];

	decode_space_format(&formats[_i].space, text, sizeof(text));
	ck_assert_str_eq(text, formats[_i].text);
}
END_TEST

/*
 * The guest's TSC is twice as fast as the host's and far behind; then its offset changes.
 * What comes out is the host's, in a PSB+ as well.
 */
START_TEST(one_time)
{
	static const uint64_t expected[] = {50000, 50100, 50150, 50200, 50300, 50400, 50500};
	struct trace_vmcs block = {
		.vmcs = VMCS0, .tsc_offset = -(uint64_t)90000, .tsc_multiplier = 1ull << 49};
	struct trace_reader *r;
	struct decode_item item;
	struct decode_flow *f;
	struct synth s;
	uint64_t last = 0;
	size_t n = 0;

	synth_open(&s);
	s.session.ctl |= VPT_CTL_MASK(TSC_EN);
	code(&s);
	ck_assert_int_eq(trace_writer_vmcs(s.w, 0, &block), 0);
	steps_play(&s, "start@0 PSB TSC:c350 VMCS:7000 PIP:1000 MODE PSBEND PGE:0 TSC:c3b4");
	steps_play(&s, ENTER "TSC:283c " LEAVE("3", "4") "TSC:c418 TIP:0 " ENTER);
	synth_flush(&s);
	block.tsc_offset = 1000;
	ck_assert_int_eq(trace_writer_vmcs(s.w, 0, &block), 0);
	steps_play(&s, "PSB TSC:18ce0 VMCS:7000 PIPN:1000 MODE FUP:0 PSBEND TSC:18da8");
	steps_play(&s, LEAVE("2", "4") "TSC:c544 finish@5");
	r = synth_read(&s);
	ck_assert_int_eq(judge_flow_open_by(r, 0, DECODE_FLOW_INSNS, (enum judge_flow_by)_i, &f),
			 0);
	do {
		ck_assert_int_eq(decode_flow_next(f, &item), 0);
		ck_assert_int_ne(item.kind, DECODE_ITEM_ERROR);
		if (item.kind != DECODE_ITEM_EVENT || !item.has_tsc || item.tsc == last)
			continue;
		last = item.tsc;
		while (n < COUNT(expected) && expected[n] != last)
			n++;
		ck_assert_msg(n < COUNT(expected), "%llu", (unsigned long long)last);
	} while (item.kind != DECODE_ITEM_END);
	ck_assert_uint_eq(last, expected[COUNT(expected) - 1]);
	decode_flow_close(f);
	trace_reader_close(r);
	synth_done(&s);
	TEST_PROVES("VMX-TSC-PACKET");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("spaces");
	TCase *tc = tcase_create("spaces");

	tcase_add_loop_test(tc, flow, 0, COUNT(flows));
	tcase_add_loop_test(tc, flow_blocks, 0, 2 * COUNT(flows));
	tcase_add_test(tc, offsets);
	tcase_add_loop_test(tc, resolve, 0, COUNT(pips));
	tcase_add_test(tc, many_unknown);
	tcase_add_test(tc, common);
	tcase_add_loop_test(tc, one_time, 0, 2);
	tcase_add_loop_test(tc, format, 0, COUNT(formats));
	suite_add_tcase(suite, tc);
	return suite;
}
