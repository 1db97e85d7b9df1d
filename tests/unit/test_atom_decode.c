// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The decoder of RTIT, on files made by hand. A row is code, a script that makes the file, and
 * what comes out (lib/flowtext.h). Addresses are from SYNTH_CODE on, in hex. The words of a
 * script:
 *
 *   retc cycles		RTIT_CTL of the sessions that follow
 *   filter=10-20, filter=off	RANGE0 is what is traced, with FilterEn; back to always
 *   stop=10-20			RANGE1 is where TraceStop is
 *   tnt=10, call=5, ovf	TNT_BUFF, LAST_CALL_NLIP, Buffer_Overflow of the next block
 *   call:=1000000400000	LAST_CALL_NLIP of the next block, as it is read: valid in bit 48
 *   host			the file's owner
 *   errata=2			the processor has E2, the only one
 *   [ ]			TriggerEn rises and falls
 *   ]stop ]closed ]changed ]no	it falls otherwise; ]changed starts the next; ]no: no block
 *   +3				so many instructions retired
 *   cr3=2000, cr3=1001		a CR3 block: the space, and the code size in bits 1:0
 *   page=2000			the code as it is now, with the words that follow it up to
 *				"page", is a page of that space too
 *   psb tnt:110 pge:0 pgd:3 far:1 tip:20 ovf:3 pcc:5 pip:2000 pip0:2000 mtc sts stop raw:ff
 *				packets
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/flowtext.h"
#include "lib/atom_follow.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "trace/atom_session.h"
#include "vpt/atom_packet.h"

#define AT(offset) (SYNTH_CODE + (offset))

struct script {
	struct synth s;
	struct vpt_atom_regs regs;
	uint32_t last; /* as RTIT_LAST_LIP */
	bool last_valid;
};

static void session(struct script *t, bool start, enum trace_session_end end)
{
	t->regs.last_lip = t->last | (uint64_t)t->last_valid << VPT_ATOM_LAST_LIP_VALID_SHIFT;
	trace_atom_session_set(&t->s.session, &t->regs);
	if (start)
		synth_start(&t->s, 0, 0);
	else
		synth_stop(&t->s, end, 0, 0);
	t->regs.tnt_buff = 1;
	t->regs.last_call_nlip = 0;
	t->regs.status &= ~(uint32_t)VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
}

static void put(struct script *t, struct vpt_atom_packet *p)
{
	uint8_t buf[VPT_ATOM_PKT_MAX];
	size_t len;

	p->has_cycles = VPT_ATOM_GET(CTL, CYCLE_ACC, t->regs.ctl) &&
			vpt_atom_pkt_has_cycles(p->kind, p->bits);
	p->cycles = p->has_cycles ? 1000 : 0;
	len = vpt_atom_packet_write(buf, p);
	ck_assert_uint_ne(len, 0);
	synth_raw(&t->s, buf, len);
}

static void put_lip(struct script *t, enum vpt_atom_pkt_kind kind, uint64_t ip)
{
	struct vpt_atom_packet p = {.kind = kind};
	uint64_t lip = ip & VPT_MASK64(47, 0);

	if (kind == VPT_ATOM_PKT_BUF_OVF)
		t->last_valid = false;
	vpt_atom_lip_compress(lip, t->last, t->last_valid, &p.cnt, &p.zext);
	p.value = lip & VPT_MASK64(16 * p.cnt + 15, 0);
	t->last = (uint32_t)(lip >> 16);
	t->last_valid = true;
	put(t, &p);
}

/* 1 and the outcomes, as TNT_BUFF and a TNT packet have them. */
static unsigned int outcomes(const char *bits)
{
	unsigned int n = 1;

	for (; *bits; bits++)
		n = n << 1 | (*bits == '1');
	return n;
}

static void put_tnt(struct script *t, const char *bits)
{
	struct vpt_atom_packet p = {.kind = VPT_ATOM_PKT_TNT, .bits = (uint8_t)strlen(bits)};

	p.value = outcomes(bits) ^ 1u << p.bits;
	put(t, &p);
}

static void put_plain(struct script *t, enum vpt_atom_pkt_kind kind)
{
	struct vpt_atom_packet p = {.kind = kind};

	if (kind == VPT_ATOM_PKT_PSB)
		t->last_valid = false;
	if (kind == VPT_ATOM_PKT_STS)
		p.aux = 20 | 10 << 8;
	put(t, &p);
}

static void put_pip(struct script *t, uint64_t cr3, bool paging)
{
	struct vpt_atom_packet p = {.kind = VPT_ATOM_PKT_PIP, .value = cr3, .flag = paging};

	put(t, &p);
}

static void cr3_block(struct script *t, uint64_t cr3)
{
	struct trace_cr3_switch sw = {cr3, t->s.insns};

	ck_assert_int_eq(trace_writer_cr3(t->s.w, 0, &sw), 0);
}

static void set_filter(struct script *t, const char *range)
{
	uint64_t from, to;
	char *end;

	t->regs.status |= VPT_ATOM_MASK(STATUS, FILTER_EN);
	if (!strcmp(range, "off")) {
		t->regs.events = VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_NEVER << 3;
		return;
	}
	from = strtoul(range, &end, 16);
	to = strtoul(end + 1, NULL, 16);
	t->regs.lip[0] = AT(from);
	t->regs.lip[2] = AT(to);
	t->regs.events = VPT_ATOM_ID_RANGE0 | VPT_ATOM_ID_NEVER << 3;
}

static void set_stop(struct script *t, const char *range)
{
	char *end;

	t->regs.lip[1] = AT(strtoul(range, &end, 16));
	t->regs.lip[3] = AT(strtoul(end + 1, NULL, 16));
	t->regs.events = VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_RANGE1 << 3;
}

static uint64_t hex(const char *text)
{
	return strtoul(text, NULL, 16);
}

/* If `word` begins like this, what follows. */
static const char *rest(const char *word, const char *beginning)
{
	size_t n = strlen(beginning);

	return strncmp(word, beginning, n) ? NULL : word + n;
}

static bool lip_word(struct script *t, const char *word)
{
	static const struct {
		const char *word;
		enum vpt_atom_pkt_kind kind;
	} kinds[] = {
		{"pge:", VPT_ATOM_PKT_PGE},	{"pgd:", VPT_ATOM_PKT_PGD},
		{"far:", VPT_ATOM_PKT_FAR},	{"tip:", VPT_ATOM_PKT_TIP},
		{"ovf:", VPT_ATOM_PKT_BUF_OVF}, {"pcc:", VPT_ATOM_PKT_PCC},
	};
	unsigned int i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *value = rest(word, kinds[i].word);

		if (value) {
			put_lip(t, kinds[i].kind, AT(hex(value)));
			return true;
		}
	}
	return false;
}

static bool packet_word(struct script *t, const char *word)
{
	const char *value;
	uint8_t byte;

	if (lip_word(t, word))
		return true;
	if (!strcmp(word, "psb"))
		put_plain(t, VPT_ATOM_PKT_PSB);
	else if (!strcmp(word, "mtc"))
		put_plain(t, VPT_ATOM_PKT_MTC);
	else if (!strcmp(word, "sts"))
		put_plain(t, VPT_ATOM_PKT_STS);
	else if (!strcmp(word, "stop"))
		put_plain(t, VPT_ATOM_PKT_TRACE_STOP);
	else if ((value = rest(word, "tnt:")))
		put_tnt(t, value);
	else if ((value = rest(word, "pip:")))
		put_pip(t, hex(value), true);
	else if ((value = rest(word, "pip0:")))
		put_pip(t, hex(value), false);
	else if ((value = rest(word, "raw:"))) {
		byte = (uint8_t)hex(value);
		synth_raw(&t->s, &byte, 1);
	} else {
		return false;
	}
	return true;
}

static bool register_word(struct script *t, const char *word)
{
	const char *value;

	if (!strcmp(word, "retc"))
		t->regs.ctl |= VPT_ATOM_MASK(CTL, CMPRS_RET);
	else if (!strcmp(word, "cycles"))
		t->regs.ctl |= VPT_ATOM_MASK(CTL, CYCLE_ACC);
	else if (!strcmp(word, "ovf"))
		t->regs.status |= VPT_ATOM_MASK(STATUS, BUFFER_OVERFLOW);
	else if (!strcmp(word, "outside"))
		t->regs.status &= ~(uint32_t)VPT_ATOM_MASK(STATUS, FILTER_EN);
	else if ((value = rest(word, "stop=")))
		set_stop(t, value);
	else if ((value = rest(word, "filter=")))
		set_filter(t, value);
	else if ((value = rest(word, "tnt=")))
		t->regs.tnt_buff = outcomes(value);
	else if ((value = rest(word, "call=")))
		t->regs.last_call_nlip = AT(hex(value)) | 1ull << 48;
	else if ((value = rest(word, "call:=")))
		t->regs.last_call_nlip = hex(value);
	else
		return false;
	return true;
}

/* The page as code that was given last makes it: "page=2000:3:75fd". */
static void other_page(struct script *t, const char *value)
{
	uint64_t at = hex(strchr(value, ':') + 1);
	const char *bytes = strrchr(value, ':') + 1;
	char pair[3] = "";

	for (; *bytes; bytes += 2) {
		memcpy(pair, bytes, 2);
		t->s.page[at++] = (uint8_t)hex(pair);
	}
	synth_page_at(&t->s, hex(value), SYNTH_CODE);
}

static void word(struct script *t, const char *text)
{
	const char *value;

	if (packet_word(t, text) || register_word(t, text))
		return;
	if (!strcmp(text, "[")) {
		session(t, true, TRACE_END_NONE);
	} else if (!strcmp(text, "]")) {
		session(t, false, TRACE_END_DISABLED);
	} else if (!strcmp(text, "]stop")) {
		session(t, false, TRACE_END_TRACE_STOP);
	} else if (!strcmp(text, "]closed")) {
		session(t, false, TRACE_END_CLOSED);
	} else if (!strcmp(text, "]changed")) {
		session(t, false, TRACE_END_CHANGED);
	} else if ((value = rest(text, "+"))) {
		t->s.insns += hex(value);
	} else if ((value = rest(text, "cr3="))) {
		cr3_block(t, hex(value));
	} else if ((value = rest(text, "page="))) {
		other_page(t, value);
	} else if (!rest(text, "errata=")) {
		ck_abort_msg("%s: no such word", text);
	}
}

static void code(struct synth *s, const char *text)
{
	while (*text) {
		char *end;
		uint64_t at = strtoul(text, &end, 16);
		char bytes[256];
		size_t n = strcspn(end + 1, ";");

		memcpy(bytes, end + 1, n);
		bytes[n] = 0;
		synth_code(s, AT(at), bytes + strspn(bytes, " "));
		text = end + 1 + n;
		text += strspn(text, "; ");
	}
	synth_page(s);
}

static void make(struct script *t, const char *bytes, const char *text, bool host)
{
	const char *errata = strstr(text, "errata=");
	char words[1024];
	char *at;

	memset(t, 0, sizeof(*t));
	synth_open(&t->s);
	t->s.info.flags = TRACE_INFO_ATOM;
	if (errata)
		t->s.info.flags |= TRACE_INFO_SET_ERRATA(1u << (atoi(errata + 7) - 1));
	t->s.info.owner = host ? TRACE_OWNER_HOST : TRACE_OWNER_GUEST;
	strcpy(t->s.info.model, "silvermont");
	synth_reopen(&t->s);
	vpt_atom_regs_reset(&t->regs);
	t->regs.ctl = (uint32_t)(VPT_ATOM_MASK(CTL, TRACE_EN) | VPT_ATOM_MASK(CTL, TRACE_ACTIVE) |
				 VPT_ATOM_MASK(CTL, OS) | VPT_ATOM_MASK(CTL, USER));
	set_filter(t, "off");
	code(&t->s, bytes);
	ck_assert_uint_lt(strlen(text), sizeof(words));
	strcpy(words, text);
	for (at = strtok(words, " "); at; at = strtok(NULL, " "))
		word(t, at);
}

/* clang-format off */
static const struct {
	const char *name, *code, *script, *flow, *tags;
} rows[] = {
	{"loop", "0: 90 75 fd 0f 30", "[ psb pge:0 tnt:110 +7 ]", "S E0 0 1 0 1 0 1 3 D",
	 TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"tail: none of it sent", "0: 90 75 fd 90 90 0f 30", "[ psb pge:0 tnt=10 +7 ]",
	 "S E0 0 1 0 1 3 4 5 D", TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"tail: some of it sent", "0: 75 fe 0f 30", "[ psb pge:0 tnt:111111 tnt=10 +9 ]",
	 "S E0 0 0 0 0 0 0 0 0 2 D", TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"tail of a host's trace", "0: 90 90 eb fc", "[ psb pge:0 +5 ]closed",
	 "S E0 0 1 2 0 1 D", TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"tail that needs a packet", "0: 90 75 fd", "[ psb pge:0 +5 ]",
	 "S E0 0 !a conditional branch has no outcome", NULL},
	{"stale outcomes", "0: 90 75 fd 0f 30",
	 "[ psb pge:0 tnt=0 +3 ] tnt=0 [ psb tnt:0 pge:0 tnt=10 +5 ]",
	 "S E0 0 1 3 D S E0 0 1 0 1 3 D", TEST_ROW_PROVES("ATOM-STALE-TNT")},
	{"stale outcomes, none traced", "0: 90 75 fd 0f 30",
	 "[ psb pge:0 tnt=0 +3 ] tnt=0 [ psb tnt=0 ]", "S E0 0 1 3 D S",
	 TEST_ROW_PROVES("ATOM-STALE-TNT")},
	{"stale outcomes stay", "0: 90 75 fd 0f 30",
	 "tnt=01 [ psb pge:0 tnt=0110 +5 ]", "S E0 0 1 0 1 3 D",
	 TEST_ROW_PROVES("ATOM-STALE-TNT")},
	{"no end", "0: 90 75 fd 90 90 75 00", "[ psb pge:0 tnt:10", "S E0 0 1 0 1", NULL},
	{"cut packet", "0: 90 75 fd 90", "[ psb pge:0 tnt:1 raw:82 raw:0", "S E0 0 1", NULL},

	{"indirect", "0: 90 ff d0; 20: 90 ff e0", "[ psb pge:0 tip:20 tip:0 pgd:1 ]",
	 "S E0 0 1 20 21 0 A1", TEST_ROW_PROVES("ATOM-INDIRECT")},
	{"indirect behind outcomes", "0: 90 75 fd ff e0; 20: 90",
	 "[ psb pge:0 tnt:10 tip:20 pgd:21 ]", "S E0 0 1 0 1 3 20 A21",
	 TEST_ROW_PROVES("ATOM-INDIRECT ATOM-COND")},
	{"direct", "0: e8 1b 00 00 00 90; 20: eb 02; 24: 90", "[ psb pge:0 pgd:25 ]",
	 "S E0 0 20 24 A25", NULL},
	{"ret", "0: e8 1b 00 00 00 90; 20: c3", "[ psb pge:0 tip:5 pgd:6 ]", "S E0 0 20 5 A6",
	 TEST_ROW_PROVES("ATOM-RET")},
	{"ret, compressed", "0: e8 1b 00 00 00 90; 20: c3", "retc [ psb pge:0 tnt:1 pgd:6 ]",
	 "S E0 0 20 5 A6", TEST_ROW_PROVES("ATOM-RET ATOM-CALL-NLIP")},
	{"ret in a full TNT", "0: e8 1b 00 00 00 75 f9 90; 20: c3",
	 "retc [ psb pge:0 tnt:111111 tnt:10 pgd:8 ]",
	 "S E0 0 20 5 0 20 5 0 20 5 0 20 5 7 A8", TEST_ROW_PROVES("ATOM-RET")},
	{"ret, nested", "0: e8 1b 00 00 00 90; 20: e8 0b 00 00 00 c3; 30: c3",
	 "retc [ psb pge:0 tnt:1 tip:5 pgd:6 ]", "S E0 0 20 30 25 5 A6",
	 TEST_ROW_PROVES("ATOM-RET")},
	{"ret elsewhere", "0: e8 1b 00 00 00 90; 20: c3; 40: 90", "retc [ psb pge:0 tip:40 pgd:41 ]",
	 "S E0 0 20 40 A41", TEST_ROW_PROVES("ATOM-RET")},
	{"ret, not compressed", "0: e8 1b 00 00 00 90; 20: c3", "[ psb pge:0 tnt:1 pgd:6 ]",
	 "S E0 0 !an indirect branch has no target", NULL},
	{"ret, indirect call", "0: ff d0 90; 20: c3", "retc [ psb pge:0 tip:20 tnt:1 pgd:3 ]",
	 "S E0 0 20 2 A3", TEST_ROW_PROVES("ATOM-CALL-NLIP")},
	{"ret behind a PSB", "0: e8 1b 00 00 00 90; 20: c3", "retc [ psb pge:0 psb tnt:1 pgd:6 ]",
	 "S E0 0 20 5 A6", TEST_ROW_PROVES("ATOM-DEC-PSB")},
	{"ret without call", "0: 90 c3", "retc [ psb pge:0 tnt:1 pgd:6 ]",
	 "S E0 0 !a compressed return has no call", NULL},
	{"ret, call in the register", "0: 90 c3; 30: 90", "retc call=30 [ psb pge:0 tnt:1 pgd:31 ]",
	 "S E0 0 1 30 A31", NULL},
	{"ret not taken", "0: e8 1b 00 00 00; 20: c3", "retc [ psb pge:0 tnt:0 pgd:6 ]",
	 "S E0 0 !a compressed return has no call", NULL},

	{"syscall", "0: 90 0f 05 90; 20: 90 48 0f 07", "[ psb pge:0 far:3 tip:20 far:24 tip:3 pgd:4 ]",
	 "S E0 0 1 20 21 3 A4", TEST_ROW_PROVES("ATOM-FAR ATOM-FAR-IP")},
	{"int n", "0: 90 cd 80 90; 20: 90 48 cf", "[ psb pge:0 far:3 tip:20 far:23 tip:3 pgd:4 ]",
	 "S E0 0 1 1>20 20 21 3 A4", TEST_ROW_PROVES("ATOM-FAR ATOM-FAR-IP")},
	{"int n counts", "0: 90 cd 80 0f 30; 20: 48 cf", "[ psb pge:0 far:3 tip:20 far:22 tip:3 +4 ]",
	 "S E0 0 1 1>20 20 3 D", NULL},
	{"int3 faults", "0: 90 cc; 20: 90", "[ psb pge:0 far:1 tip:20 pgd:21 ]", "S E0 0 1>20 20 A21",
	 TEST_ROW_PROVES("ATOM-FAR-IP")},
	{"into", "0: 40 ce 40 ce; 20: 40 cf", "[ cr3=1001 psb pge:0 far:4 tip:20 far:22 tip:4 pgd:4 ]",
	 "S E0 0 1 2 3 3>20 20 21 A4", NULL},
	{"interrupt", "0: 90 90 90; 20: 90 48 cf", "[ psb pge:0 far:1 tip:20 far:23 tip:1 pgd:2 ]",
	 "S E0 0 1>20 20 21 1 A2", TEST_ROW_PROVES("ATOM-FAR ATOM-FAR-IP")},
	{"interrupt behind outcomes", "0: 90 75 fd 90; 20: 90",
	 "[ psb pge:0 tnt:1 far:0 tip:20 pgd:21 ]", "S E0 0 1 0>20 20 A21",
	 NULL},
	{"far without FUP.FAR", "0: 90 0f 05", "[ psb pge:0 tip:20 ]",
	 "S E0 0 !an indirect branch has no target", NULL},
	{"FUP.FAR without TIP", "0: 90 0f 05", "[ psb pge:0 far:3 pge:0 pgd:1 ]",
	 "S E0 0 1 !invalid or unexpected packet E0 0 A1", NULL},
	{"E1", "0: 90 2e 2e 2e 2e ff 28; 20: 90", "[ psb pge:0 far:3 tip:20 pgd:21 ]",
	 "S E0 0 1 20 A21", TEST_ROW_PROVES("ATOM-E1")},
	{"E1, out of the filter", "0: 90 2e 2e 2e 2e ff 28", "filter=0-20 [ psb pge:0 pgd:6 tip:40 ]",
	 "S E0 0 1 D40", TEST_ROW_PROVES("ATOM-E1")},

	{"walks out", "0: 90 90 90 90 90", "filter=0-4 [ psb pge:0 pgd:4 pge:0 pgd:4 ]",
	 "S E0 0 1 2 3 D E0 0 1 2 3 D", TEST_ROW_PROVES("ATOM-PGD-IP")},
	{"JMP out", "0: 90 eb 3e 90", "filter=0-20 [ psb pge:0 pgd:3 ]", "S E0 0 1 D41",
	 TEST_ROW_PROVES("ATOM-PGD-IP")},
	{"Jcc out", "0: 90 75 3e 90", "filter=0-20 [ psb pge:0 tnt:1 pgd:3 ]", "S E0 0 1 D41",
	 TEST_ROW_PROVES("ATOM-PGD-IP")},
	{"Jcc falls out", "0: 90 75 fd 90", "filter=0-3 [ psb pge:0 tnt:10 pgd:3 ]",
	 "S E0 0 1 0 1 D", TEST_ROW_PROVES("ATOM-PGD-IP")},
	{"Jcc back, with its NLIP next", "0: 90 75 fd 90 eb fc", "filter=0-3 [ psb pge:0 tnt:110 pgd:3 ]",
	 "S E0 0 1 0 1 0 1 D", NULL},
	{"indirect out", "0: 90 ff e0", "filter=0-20 [ psb pge:0 tip:41 pgd:3 ]", "S E0 0 1 D41",
	 TEST_ROW_PROVES("ATOM-NEAR-LEAVES")},
	{"indirect, then walks out", "0: 90 ff e0 90 90; 8: 90 eb f8",
	 "filter=0-3 [ psb pge:0 tip:0 tip:1 tip:8 pgd:3 ]", "S E0 0 1 0 1 1 D8", NULL},
	{"compressed ret out", "0: 90 c3", "retc filter=0-20 call=41 [ psb pge:0 tnt:1 pgd:2 ]",
	 "S E0 0 1 D41", TEST_ROW_PROVES("ATOM-NEAR-LEAVES ATOM-RET")},
	{"compressed ret to the other half", "0: 90 c3",
	 "retc filter=0-20 call:=1ffff80401000 [ psb pge:0 tnt:1 pgd:2 ]", "S E0 0 1 Dffffffff80000000",
	 TEST_ROW_PROVES("ATOM-LASTCALL-NLIP ATOM-LASTCALL-VALID")},
	{"compressed ret, but the register is not valid", "0: 90 c3",
	 "retc filter=0-20 call:=400041 [ psb pge:0 tnt:1 pgd:2 ]",
	 "S E0 0 !a compressed return has no call",
	 TEST_ROW_PROVES("ATOM-LASTCALL-VALID")},
	{"never in the filter", "0: 90 eb 3e", "filter=100-200 [ psb pge:0 pgd:3 ]", "S E0 0 1 D41",
	 NULL},
	{"far, out of the filter", "0: 90 0f 05", "filter=0-20 [ psb pge:0 pgd:3 tip:40 ]",
	 "S E0 0 1 D40", TEST_ROW_PROVES("ATOM-FAR-LEAVES")},
	{"far, out of context", "0: 90 0f 05 90", "[ psb pge:0 pgd:3 pge:3 pgd:4 ]",
	 "S E0 0 1 D E3 3 A4", TEST_ROW_PROVES("ATOM-FAR-LEAVES")},
	{"event, out of the filter", "0: 90 90", "filter=0-20 [ psb pge:0 pgd:1 tip:40 ]", "S E0 0 A1",
	 TEST_ROW_PROVES("ATOM-FAR-LEAVES")},
	{"event at the limit", "0: 90 90", "filter=0-1 [ psb pge:0 pgd:1 tip:40 ]", "S E0 0 A1", NULL},
	{"int n, out of the filter", "0: 90 cd 80", "filter=0-20 [ psb pge:0 pgd:3 tip:40 ]", "S E0 0 1 A1",
	 TEST_ROW_PROVES("ATOM-FAR-LEAVES")},
	{"int n, out of context", "0: 90 cd 80", "[ psb pge:0 pgd:3 ]", "S E0 0 1 A1", NULL},
	{"SMI at once", "0: 90 90", "[ psb pge:0 pgd:0 pge:0 pgd:1 ]", "S E0 A0 E0 0 A1",
	 NULL},
	{"WRMSR leaves", "0: 90 0f 30 90", "[ psb pge:0 pgd:3 ]", "S E0 0 1 D",
	 TEST_ROW_PROVES("ATOM-CTL-LIVE")},
	{"E2", "0: 90 90", "[ psb pgd:7 pge:0 pgd:1 pgd:5 mtc pge:0 pgd:1 ]", "S E0 0 A1 E0 0 A1",
	 TEST_ROW_PROVES("ATOM-E2")},

	{"MOV CR3", "0: 90 0f 22 d8 90 90 90",
	 "page=2000:4:75fe90 [ cr3=1000 psb pge:0 pip:2000 tnt:10 pgd:6 ]",
	 "S E0 0 1 P2000 4 4 A6", TEST_ROW_PROVES("ATOM-PIP ATOM-CR3-ORDER")},
	{"MOV CR3 leaves", "0: 90 0f 22 d8 90", "[ psb pge:0 pip:2000 sts pgd:4 pip:1000 pge:4 pgd:5 ]",
	 "S E0 0 1 P2000 R14 D P1000 E4 4 A5", TEST_ROW_PROVES("ATOM-CR3-ORDER")},
	{"MOV CR3 without PIP", "0: 90 0f 22 d8 90 90 90",
	 "page=2000:4:75fe90 [ cr3=1000 psb pge:0 +2 cr3=2000 tnt:10 pgd:6 ]",
	 "S E0 0 1 4 4 A6", NULL},
	{"MOV CR0", "0: 40 0f 22 c0 0f 22 c0 90", "[ cr3=1001 pip0:1000 psb pge:0 pip:1000 pgd:8 ]",
	 "S P1000 E0 0 1 P1000 4 7 A8", TEST_ROW_PROVES("ATOM-PIP")},
	{"MOV CR0, CR0.PG not known", "0: 40 0f 22 c0 90", "[ cr3=1001 psb pge:0 pip:1000 pgd:5 ]",
	 "S E0 0 1 P1000 4 A5", NULL},
	{"another space behind FUP.PGE", "0: 90 90 90",
	 "page=2000:1:75fe [ cr3=1000 psb pge:0 pgd:1 +1 cr3=2000 pge:1 tnt:10 pgd:3 ]",
	 "S E0 0 A1 E1 1 1 A3", NULL},
	{"a RET becomes a branch while its block runs", "0: 90 c3 90",
	 "page=1000:1:c3 retc [ cr3=1000 psb pge:0 +1 page=1000:1:75fe tnt:10 pgd:3 ]",
	 "S E0 0 1 1 A3", NULL},
	{"32-bit code, then 64-bit", "0: 40 ea 10 10 40 00 08 00; 10: 48 89 c0 90",
	 "[ cr3=1001 psb pge:0 +2 cr3=1000 far:8 tip:10 pgd:14 ]", "S E0 0 1 10 13 A14", NULL},
	{"16-bit code", "0: 40 b8 00 00 75 fa 90", "[ cr3=1002 psb pge:0 tnt:10 pgd:7 ]",
	 "S E0 0 1 4 0 1 4 6 A7", NULL},

	{"overflow", "0: 90 75 02 90 90 90", "[ psb pge:0 ovf:3 pgd:5 ]", "S E0 O3 3 4 A5",
	 TEST_ROW_PROVES("ATOM-OVF-CLEAR")},
	{"overflow behind outcomes", "0: 90 75 fd 90", "[ psb pge:0 tnt:11 ovf:3 pgd:4 ]",
	 "S E0 0 1 0 1 O3 3 A4", NULL},
	{"overflow ends outside, FUP.PGE", "0: 90 90 90", "[ psb pge:0 ovf:2 pge:0 pgd:1 ]",
	 "S E0 O E0 0 A1", TEST_ROW_PROVES("ATOM-OVF-ENABLES")},
	{"overflow ends outside, by range", "0: 90 90 90; 40: 90",
	 "errata=2 filter=0-20 [ psb pge:0 ovf:40 pgd:40 pge:0 pgd:1 ]", "S E0 O E0 0 A1",
	 TEST_ROW_PROVES("ATOM-OVF-ENABLES ATOM-E2")},
	{"overflow ends outside, by the end", "0: 90 90 90; 40: 90",
	 "filter=0-20 [ psb pge:0 ovf:1 outside +2 ]", "S E0 O", TEST_ROW_PROVES("ATOM-OVF-ENABLES")},
	{"overflow takes a TIP", "0: 90 90 0f 05; 10: 90", "[ psb pge:0 far:1 ovf:10 pgd:11 ]",
	 "S E0 0 O10 10 A11", NULL},
	{"overflow, no outcome is taken", "0: 90 75 fd 90", "[ psb pge:0 ovf:0 tnt:10 pgd:4 ]",
	 "S E0 O0 0 1 0 1 3 A4", NULL},
	{"overflow forgets the call", "0: e8 1b 00 00 00; 20: c3", "retc [ psb pge:0 ovf:20 tnt:1 ]",
	 "S E0 O20 !a compressed return has no call",
	 NULL},
	{"overflow forgets a call that was seen", "0: e8 1b 00 00 00; 20: 75 fe c3",
	 "retc [ psb pge:0 tnt:0 ovf:22 tnt:1 ]",
	 "S E0 0 20 O22 !a compressed return has no call",
	 TEST_ROW_PROVES("ATOM-OVF-CLEAR")},
	{"overflow, then the end", "0: 90 90 90 90 0f 30", "[ cr3=1000 psb pge:0 ovf:2 +77 ]",
	 "S E0 O2 2 3 4 D", TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"overflow, then one of two WRMSRs", "0: 90 90 0f 30 0f 30 75 fa",
	 "[ cr3=1000 psb pge:0 ovf:1 +77 ]", "S E0 O1 O", TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"overflow, then a WRMSR of a loop", "0: 90 0f 30 eb fb",
	 "[ cr3=1000 psb pge:0 ovf:0 +77 ]", "S E0 O0 O", TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"overflow, then a host's end", "0: 90 90 90 90", "[ psb pge:0 ovf:2 +77 ]closed", "S E0 O2 O",
	 TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"overflow, then TraceStop", "0: 90 75 fd 90 eb 0a; 10: 90",
	 "stop=10-20 [ cr3=1000 psb pge:0 ovf:0 tnt:0 stop +77 ]stop", "S E0 O0 0 1 3 4 D T",
	 TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"overflow, then walks to TraceStop", "0: 90 75 fd 90 90 90",
	 "stop=5-6 [ cr3=1000 psb pge:0 ovf:0 tnt:0 stop +77 ]stop", "S E0 O0 0 1 3 4 D T",
	 TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"overflow, and the file has the counter", "0: 90 75 fd 90 90",
	 "[ cr3=1000 psb pge:0 +50 cr3=1004 ovf:0 tnt:0 +3 ]closed", "S E0 O0 0 1 3 D",
	 TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"overflow, and the file has the space", "0: 90 90 90",
	 "page=2000:1:75fe [ cr3=1000 psb pge:0 +50 cr3=2004 ovf:0 tnt:10 pgd:3 ]",
	 "S E0 O0 0 1 1 A3", NULL},
	{"ends in an overflow", "0: 90 75 fd 0f 30", "[ psb pge:0 tnt=1 ovf +20 ]", "S E0 0 1 O",
	 NULL},
	{"overflow over two sessions", "0: 90 75 fd 0f 30",
	 "[ psb pge:0 tnt=1 ovf +20 ] tnt=1 ovf [ psb tnt:1 ovf:0 tnt:0 pgd:3 ]",
	 "S E0 0 1 O S O0 0 1 A3", NULL},
	{"E5", "0: 90 ff e0; 20: 90", "errata=5 [ psb pge:0 ovf:1 tip:1 tip:20 pgd:21 ]",
	 "S E0 O1 1 20 A21",
	 TEST_ROW_PROVES("ATOM-E5")},
	{"not E5", "0: 90 ff e0; 20: 90", "[ psb pge:0 ovf:1 tip:20 pgd:21 ]", "S E0 O1 1 20 A21",
	 TEST_ROW_PROVES("ATOM-E5")},
	{"no E5: a branch to the same place", "0: 90 ff e0; 20: 90",
	 "[ psb pge:0 ovf:1 tip:1 tip:20 pgd:21 ]", "S E0 O1 1 1 20 A21",
	 TEST_ROW_PROVES("ATOM-E5")},
	{"overflow ends outside a range, traced", "0: 90; 40: 90 90",
	 "filter=0-20 [ psb pge:0 ovf:40 pgd:41 ]", "S E0 O40 40 A41",
	 TEST_ROW_PROVES("ATOM-OVF-ENABLES")},
	{"E2: left where the overflow ends", "0: 90; 10: 90",
	 "errata=2 filter=0-20 [ psb pge:0 ovf:10 pgd:10 tip:0 ]", "S E0 O10 A10",
	 TEST_ROW_PROVES("ATOM-OVF-ENABLES ATOM-E2")},
	{"E2: a FUP.PGD without a TIP behind an overflow", "0: 90; 40: 90 90",
	 "errata=2 filter=0-20 [ psb pge:0 ovf:40 pgd:42 pge:0 pgd:1 ]", "S E0 O E0 0 A1",
	 TEST_ROW_PROVES("ATOM-OVF-ENABLES ATOM-E2")},
	{"E2: a FUP.PGD with a TIP behind an overflow", "0: 90; 40: 90 0f 05",
	 "errata=2 filter=0-20 [ psb pge:0 ovf:40 pgd:43 tip:60 pge:0 pgd:1 ]",
	 "S E0 O40 40 41 D60 E0 0 A1", TEST_ROW_PROVES("ATOM-OVF-ENABLES ATOM-E2")},
	{"E2: RET from a CALL before that FUP.PGD", "0: 90; 10: c3; 30: 90 ff e0; 40: e8 cb ff ff ff",
	 "retc errata=2 filter=0-20 [ psb pge:0 ovf:40 pgd:45 pge:10 tnt:1 tip:30 tip:0 pgd:1 ]",
	 "S E0 O E10 O 30 31 0 A1", TEST_ROW_PROVES("ATOM-RET ATOM-E2")},
	{"RET from a lost CALL", "0: 90 0f 30; 20: c3; 30: ff e0",
	 "retc [ psb pge:0 +2 ovf ]changed [ tip:20 tnt:1 tip:30 tip:20 pgd:20 ]",
	 "S E0 O O 30 A20", TEST_ROW_PROVES("ATOM-RET ATOM-OVF-SET")},
	{"E5, and a PSB", "0: 90 ff e0; 20: 90", "errata=5 [ psb pge:0 ovf:1 psb tip:1 tip:20 pgd:21 ]",
	 "S E0 O1 1 20 A21", TEST_ROW_PROVES("ATOM-E5 ATOM-DEC-PSB")},

	{"TraceStop", "0: 90 75 fd 90 90", "[ psb pge:0 stop tnt=10 +5 ]stop", "S E0 0 1 0 1 3 D T",
	 TEST_ROW_PROVES("ATOM-STOP ATOM-DEC-TAIL")},
	{"TraceStop out of the filter", "0: 90 90", "filter=0-1 [ psb pge:0 pgd:1 stop +1 ]stop",
	 "S E0 0 D T", TEST_ROW_PROVES("ATOM-STOP")},
	{"TraceStop outside", "0: 90 90", "[ psb stop ]stop", "S T", TEST_ROW_PROVES("ATOM-STOP")},
	{"TraceStop by an event", "0: 90 90", "stop=40-50 [ psb pge:0 far:1 tip:40 stop +1 ]stop", "S E0 0 A1 T",
	 TEST_ROW_PROVES("ATOM-STOP")},
	{"TraceStop, FUP.PGE in its range behind an overflow", "10: 90 90",
	 "stop=10-20 [ psb ovf:40 pge:10 stop +77 ]stop", "S O E10 O T", NULL},
	{"TraceStop behind an event", "0: 90 90; 40: 90", "[ psb pge:0 far:1 tip:40 stop +2 ]stop",
	 "S E0 0 1>40 40 D T", TEST_ROW_PROVES("ATOM-STOP")},
	{"TraceStop held", "0: 90 90", "[ psb pge:0 ovf:1 stop +1 ]stop", "S E0 O1 T",
	 NULL},
	{"E4", "0: 90 75 fd 90", "[ psb pge:0 stop ovf:3 pgd:4 ]", "S E0 O3 3 A4",
	 TEST_ROW_PROVES("ATOM-E4")},
	{"E4 behind outcomes", "0: 90 75 fd 90", "[ psb pge:0 stop tnt:1 ovf:3 pgd:4 ]",
	 "S E0 0 1 O3 3 A4", TEST_ROW_PROVES("ATOM-E4")},

	{"registers change: outcomes stay", "0: 90 75 fd 0f 30 75 f9 0f 30",
	 "[ psb pge:0 tnt=10 +5 ]changed tnt=10 [ tnt=100 +2 ]", "S E0 0 1 0 1 3 5 7 D",
	 TEST_ROW_PROVES("ATOM-CTL-LIVE")},
	{"registers change: outcomes go", "0: 90 75 fd 0f 30 75 f9 90",
	 "[ psb pge:0 tnt=10 +5 ]changed tnt=10 [ tnt:100 pgd:8 ]", "S E0 0 1 0 1 3 5 7 A8",
	 TEST_ROW_PROVES("ATOM-CTL-LIVE")},
	{"registers change: TNT_BUFF", "0: 90 75 fd 0f 30 75 f9 90",
	 "[ psb pge:0 tnt=10 +5 ]changed tnt=111 [ tnt:1110 pgd:8 ]", "S E0 0 1 0 1 3 5 7 A8",
	 TEST_ROW_PROVES("ATOM-CTL-LIVE")},
	{"registers change: CMPRS_RET", "0: e8 1b 00 00 00 0f 30 e8 14 00 00 00 90; 20: c3",
	 "retc [ psb pge:0 tnt=1 +3 ]changed tnt=1 call=5 [ tnt:11 pgd:d ]",
	 "S E0 0 20 5 7 20 c Ad", NULL},
	{"registers change: LAST_CALL_NLIP", "0: e8 1b 00 00 00 90; 20: 0f 30 c3; 40: 90",
	 "retc [ psb pge:0 +2 ]changed call=40 [ tnt:1 pgd:41 ]", "S E0 0 20 22 40 A41", NULL},
	{"registers change: leaves", "0: 90 0f 30 90", "[ psb pge:0 +2 ]changed [ pgd:3 pge:3 pgd:4 ]",
	 "S E0 0 1 D E3 3 A4", TEST_ROW_PROVES("ATOM-CTL-LIVE")},
	{"registers change: the filter", "0: 90 0f 30 eb 3b; 40: eb 3e; 80: 90",
	 "[ psb pge:0 +2 ]changed filter=0-50 [ pgd:42 ]", "S E0 0 1 3 40 D80", NULL},
	{"registers change behind an overflow", "0: 90 90 0f 30 75 fa 0f 30",
	 "[ cr3=1000 psb pge:0 ovf:1 +50 ]changed [ tnt=10 +6 ]", "S E0 O1 1 2 4 0 1 2 4 6 D",
	 TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"registers change by one of two WRMSRs", "0: 90 90 0f 30 0f 30 75 f8 90 0f 30",
	 "[ cr3=1000 psb pge:0 ovf:1 +50 ]changed [ tnt:0 +3 ]", "S E0 O1 1 2 4 6 8 9 D",
	 TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"registers change by one of two: LAST_CALL_NLIP", "0: e8 1b 00 00 00; 20: 0f 30 0f 30 c3; 40: ff e0; 60: 90",
	 "retc [ psb pge:0 ovf:0 +50 ]changed call=40 [ tnt:1 tip:40 tip:60 pgd:61 ]", "S E0 O0 O 40 60 A61",
	 TEST_ROW_PROVES("ATOM-DEC-TAIL")},
	{"registers change in an overflow", "0: 90 75 fd 0f 30",
	 "[ psb pge:0 tnt=1 ovf +20 ]changed tnt=1 ovf [ tnt:1 ovf:3 pgd:5 ]",
	 "S E0 0 1 O O3 3 D", TEST_ROW_PROVES("ATOM-OVF-SET")},
	{"a host changes registers", "0: 90 75 fd 90", "[ psb pge:0 tnt=1 +2 ]changed tnt=1 [ +2 tnt=10 ]closed",
	 "S E0 0 1 0 1 D", NULL},

	{"cycle counts", "0: 90 75 fd ff e0; 20: 90", "cycles [ psb pge:0 tnt:111111 mtc tnt:0 tip:20 sts pcc:20 pgd:21 ]",
	 "S E0 0 1 0 1 0 1 0 1 0 1 0 1 0 1 3 R14 20 A21", TEST_ROW_PROVES("ATOM-CYC ATOM-E6")},
	{"packets of time", "0: 90 ff e0; 20: 90", "[ psb mtc pge:0 mtc sts pcc:0 tip:20 mtc pgd:21 mtc ]",
	 "S E0 R14 0 1 20 A21", TEST_ROW_PROVES("ATOM-MTC ATOM-STS ATOM-E7")},
	{"PSBs", "0: 90 0f 05 90 ff e0; 20: 90", "[ psb psb pge:0 psb far:3 psb tip:3 psb tip:20 psb pgd:21 psb ]",
	 "S E0 0 1 3 4 20 A21", TEST_ROW_PROVES("ATOM-DEC-PSB ATOM-E3")},

	{"misfit, then FUP.PGE", "0: 90 75 fd 90", "[ psb pge:0 tip:3 tnt:1 pgd:5 pge:0 tnt:0 pgd:4 ]",
	 "S E0 0 !a conditional branch has no outcome E0 0 1 3 A4", TEST_ROW_PROVES("ATOM-E8")},
	{"misfit, then FUP.BuffOvf", "0: 90 75 fd 90", "[ psb pge:0 tip:3 ovf:0 tnt:0 pgd:4 ]",
	 "S E0 0 !a conditional branch has no outcome O0 0 1 3 A4", TEST_ROW_PROVES("ATOM-E8")},
	{"misfit, then PSB and TIP", "0: 90 75 fd ff e0; 20: 90 75 fd ff e0",
	 "[ psb pge:0 tip:3 tip:0 psb tnt:10 tip:20 tnt:10 tip:3 tip:20 pgd:21 ]",
	 "S E0 0 !a conditional branch has no outcome 20 21 20 21 23 3 20 A21", TEST_ROW_PROVES("ATOM-E8")},
	{"misfit, PSB, TIPs that lead out", "0: 90 75 fd; 20: 90",
	 "[ psb pge:0 tip:3 psb pgd:3 tip:20 tip:40 pgd:9 pge:20 pgd:21 ]",
	 "S E0 0 !a conditional branch has no outcome E20 20 A21", TEST_ROW_PROVES("ATOM-E8")},
	{"misfit, then a session", "0: 90 75 fd 0f 30", "[ psb pge:0 tip:3 +9 ] [ psb pge:0 pgd:1 ]",
	 "S E0 0 !a conditional branch has no outcome S E0 0 A1", NULL},
	{"FUP.PGE twice", "0: 90 75 fd 90", "[ psb pge:0 pge:3 pgd:4 ]",
	 "S E0 !invalid or unexpected packet E3 3 A4", NULL},
	{"no packet", "0: 90 75 fd ff e0; 20: 90 75 fd", "[ psb pge:0 tnt:1 raw:ff raw:83 psb tip:20 tnt:0 pgd:23 ]",
	 "S E0 0 1 !invalid or unexpected packet 20 21 A23", NULL},
	{"outcomes outside", "0: 90 75 fd", "[ psb tnt:1 pge:0 pgd:1 ]",
	 "S !invalid or unexpected packet E0 0 A1", NULL},
	{"TIP outside", "0: 90 90", "[ psb tip:1 pge:0 pgd:1 ]",
	 "S !invalid or unexpected packet E0 0 A1", NULL},
	{"no code", "0: 90 e9 ff 0f 00 00", "[ psb pge:0 pgd:9 ]", "S E0 0 1 !no code at this address", NULL},
	{"no instruction", "0: 90 06", "[ psb pge:0 pgd:9 ]", "S E0 0 !the bytes are not an instruction", NULL},
};
/* clang-format on */

static void check_row(int i, enum decode_flow_unit unit, bool change)
{
	struct trace_reader *r;
	struct script t;

	make(&t, rows[i].code, rows[i].script, strstr(rows[i].script, "]closed"));
	if (change)
		flowtext_change(&t.s);
	r = synth_read(&t.s);
	flowtext_is(r, unit, rows[i].name, rows[i].flow);
	trace_reader_close(r);
	synth_done(&t.s);
}

START_TEST(by_insn)
{
	check_row(_i, DECODE_FLOW_INSNS, false);
	TEST_PROVES(rows[_i].tags);
}
END_TEST

START_TEST(by_block)
{
	check_row(_i, DECODE_FLOW_BLOCKS, false);
	TEST_PROVES(rows[_i].tags);
}
END_TEST

START_TEST(by_insn_changing)
{
	check_row(_i, DECODE_FLOW_INSNS, true);
	TEST_PROVES(rows[_i].tags);
}
END_TEST

/* Outcomes that are gathered, pieces and tracelets make the same instructions and events. */
START_TEST(by_libdecode)
{
	struct atom_followed followed;
	struct trace_reader *r;
	struct script t;

	make(&t, rows[_i].code, rows[_i].script, strstr(rows[_i].script, "]closed"));
	r = synth_read(&t.s);
	atom_follow(r, false, &followed);
	ck_assert_msg(!followed.differs, "%s", rows[_i].name);
	trace_reader_close(r);
	synth_done(&t.s);
}
END_TEST

/* Neither a packet nor the counter ends it. */
START_TEST(no_progress)
{
	static const char *const scripts[] = {"[ psb pge:0 +fffffffff ]",
					      "[ psb pge:0 far:8 tip:9 ]"};
	struct trace_reader *r;
	struct script t;

	make(&t, "0: eb fe", scripts[_i], false);
	r = synth_read(&t.s);
	flowtext_endless(r, DECODE_FLOW_BLOCKS);
	trace_reader_close(r);
	synth_done(&t.s);
}
END_TEST

TEST_SUITE("atom decode", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	TEST_ROWS(tcase, by_insn, rows);
	TEST_ROWS(tcase, by_block, rows);
	TEST_ROWS(tcase, by_insn_changing, rows);
	TEST_ROWS(tcase, by_libdecode, rows);
	TEST_LOOP(tcase, 2, no_progress);
}
