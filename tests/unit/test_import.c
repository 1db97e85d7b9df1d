// SPDX-License-Identifier: GPL-2.0-or-later
/* Import oracle logs of a processor with VMX: each .vpt file must verify. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/flow.h"
#include "decode/spaces.h"
#include "import/import.h"
#include "lib/suite.h"
#include "lib/synthlog.h"
#include "lib/words.h"
#include "oracle/compare.h"
#include "trace/input.h"
#include "trace/reader.h"
#include "vpt/msr.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

#define CODE	 0x401000ull /* of the host and of guests, often with the same CR3 */
#define OWN_CODE 0x405000ull /* only the guest has code here */
#define VMCS0	 0x7000ull
#define VMCS1	 0x8000ull

#define GUEST_OWN \
	(VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL | VPT_VMX_EXEC_USE_GPA | VPT_VMX_CONCEAL)

/*
 * The words of a script. Numbers are hexadecimal, and IPs are relative to CODE.
 *
 *   `host-code`     0 nop; 1 jnz 0; 3 vmresume; 8 wrmsr; c mov cr3; 11 vmptrld; 16 int 80;
 *                   20 nop, iretq; 30 nop, jnz 30: where VM exits lead. Each ends with jmp rax.
 *   `guest-code`    0 nop; 1 nop; 2 nop; 3 jnz 0; 5 jmp rax; 7 cpuid; b wrmsr; f mov cr3;
 *                   20 nop, iretq. `own-code` is at OWN_CODE: 0 nop; 1 jnz 0; 3 nop; 4 cpuid.
 *
 * The instruction or the event at the IP:
 *
 *   `step`          An instruction of one byte. `fall` is a Jcc that is not taken, `jnz:0` one
 *                   that is; `jump:7` is an indirect JMP.
 *   `on` `off`      WRMSR to IA32_RTIT_CTL.
 *   `cr3=5000`      MOV CR3. `vmptrld:1` loads a VMCS. `int:80>20` is INT n, `far:1` an IRET to
 *                   CPL 0, and `far:0/3` one to CPL 3.
 *   `enter`         A VM entry; `fail` fails early, and `fail-late:30` late.
 *   `event:20>30`   An event with that vector; `inject:3>20` is injected.
 *   `exit:a`        A VM exit with that reason, to 30.
 *
 * The processor and the guest of the next VM entry:
 *
 *   `at:8` `output:40000` `match`   The IP; a buffer; CR3Filter with 1000H.
 *   `no-os` `no-user` `event-en`    Bits of CTL.
 *   `guest:1`       The guest of VMCS 1. It has the CR3 1000H, and runs at 0.
 *   `own`           It has its own trace; `host-ctl` loads CTL at the exit.
 *   `conceal` `exit-conceal` `ip:f` `guest-cr3:5000` `user`
 *   `to-guest` `to-host`   Save the output of one side, and load that of the other.
 *   `mark` `lost`   The records between these words are lost.
 *   `context`       The log repeats the context, though the context is the same.
 */
#define LOOP	 "step jnz:0 step fall "
#define EXITED	 "step fall "
#define ROUND	 LOOP "enter guest-code 3*step jnz:0 3*step fall jump:7 exit:a step jnz:30 step fall "
#define STAY	 "step fall enter exit:a " EXITED "jump:0 "
#define BEGIN	 "host-code output:40000 at:8 on "
#define FINISH	 "jump:8 off jump:0 step"
#define OF_GUEST "host-code output:80000 "
#define SIDES(n)                                                          \
	"guest:" n " own vmptrld:" n " jump:8 off jump:0 to-guest " ROUND \
	"to-host jump:8 on jump:11 "
#define CONCEALED "step fall enter own-code step jnz:4000 step fall step exit:a " EXITED "jump:0 "

static const struct {
	const char *name, *script, *model;
	size_t streams, sessions;
	/* Instructions in the trace. The WRMSR that clears TraceEn counts unless it is concealed. */
	uint64_t retired;
	unsigned int entries; /* VM entries that sessions of the host record */
} logs[] = {
	{"system wide", BEGIN "jump:0 " ROUND "jump:0 " ROUND FINISH, "skl", 1, 1, 40, 2},
	/* Two guests and a host have the same CR3, and code at the same addresses. */
	{"two VMs",
	 BEGIN "jump:11 vmptrld:0 jump:0 " ROUND "jump:11 vmptrld:1 jump:0 guest:1 " ROUND
	       "jump:0 " ROUND "jump:11 vmptrld:0 jump:0 guest:0 " ROUND FINISH,
	 "skl", 1, 1, 84, 4},
	{"host only", "host-ctl conceal " BEGIN "jump:0 " ROUND "jump:0 " ROUND FINISH, "skl", 1, 3,
	 22, 2},
	{"guest only", OF_GUEST "own at:0 " ROUND "jump:0 " ROUND "jump:0 step", "skl", 1, 2, 18,
	 0},
	/* The guest loads CR3. The PSB of the next VM entry or no packet reports the load. */
	{"guest only, CR3",
	 OF_GUEST "own ip:f at:3 enter guest-code cr3=5000 guest-code jump:7 exit:a " EXITED
		  "jump:0 ip:0 guest-cr3:5000 " ROUND,
	 "skl", 1, 2, 11, 0},
	/* Only user code of guests, which sends no PIPs. */
	{"guest only, user",
	 "no-os " OF_GUEST "own user at:0 " ROUND "jump:0 guest-cr3:5000 " ROUND, "skl", 1, 2, 18,
	 0},
	/* The host and two guests trace themselves, each to its own buffer. */
	{"everyone",
	 BEGIN "jump:11 " SIDES("0") SIDES("1") SIDES("0") SIDES("1") SIDES("0")
		 SIDES("1") "vmptrld:0 " FINISH,
	 "skl", 3, 13, 82, 0},
	/* The entries inject 21H and INT3. One exit is at the first instruction of a handler. */
	{"events",
	 BEGIN "jump:0 step event:20>20 step far:1 fall enter guest-code event:21>20 step far:0/3 "
	       "step event:22>20 exit:1 " EXITED
	       "jump:0 step fall ip:2 enter inject:3>20 step exit:1 " EXITED
	       "jump:16 int:80>20 step far:18 " FINISH,
	 "skl", 1, 1, 24, 2},
	/* CR3 becomes 2000H, which is not traced. Guests with the CR3 1000H are. */
	{"CR3 filter",
	 "host-code match " BEGIN "jump:0 " ROUND "jump:0 guest-cr3:2000 " ROUND
	 "jump:c cr3=2000 host-code jump:0 guest-cr3:1000 " ROUND FINISH,
	 "skl", 1, 1, 46, 3},
	{"user only", "no-os " BEGIN "jump:0 " ROUND "jump:0 user " ROUND FINISH, "skl", 1, 1, 9,
	 2},
	/* No instruction retires in the second and third stay. The host runs at CPL 0. */
	{"stays without an instruction",
	 "no-os " BEGIN "jump:0 user " ROUND "jump:0 " STAY STAY ROUND FINISH, "skl", 1, 1, 18, 4},
	{"stays without an instruction, CR3 filter",
	 "host-code match " BEGIN "jump:0 guest-cr3:2000 " ROUND "jump:0 " STAY ROUND FINISH, "skl",
	 1, 1, 28, 3},
	{"an event before the first instruction",
	 "no-os " BEGIN "jump:0 user " ROUND
	 "jump:0 step fall enter event:21>20 step exit:1 " EXITED "jump:0 " ROUND FINISH,
	 "skl", 1, 1, 18, 3},
	{"kernel only", "no-user " BEGIN "jump:0 " ROUND "jump:0 user " ROUND FINISH, "skl", 1, 1,
	 31, 2},
	/* No packet reports the guest, but the guest alone has the code. */
	{"concealed",
	 "conceal ip:4000 " BEGIN "jump:0 " CONCEALED CONCEALED "step fall fail " FINISH, "skl", 1,
	 1, 28, 2},
	/* A guest without instructions has no code. */
	{"concealed exit",
	 "exit-conceal ip:4000 " BEGIN "jump:0 step fall enter exit:12 " EXITED FINISH, "skl", 1, 1,
	 8, 1},
	{"failed entries",
	 BEGIN "jump:0 step fall fail context jump:0 step fall fail-late:30 " EXITED
	       "jump:0 " ROUND FINISH,
	 "skl", 1, 1, 31, 1},
	{"event trace",
	 "event-en " BEGIN "jump:0 " ROUND
	 "jump:0 step event:20>20 step far:1 jnz:0 host-ctl " ROUND FINISH,
	 "spr", 1, 2, 35, 2},
};

struct saved {
	uint64_t status, base, ptrs;
};

struct script {
	struct synthlog *m;
	struct synthlog_guest g;
	uint64_t ctl;
	struct saved host, own[2];
	size_t mark;
};

static void switch_output(struct synthlog *m, struct saved *from, const struct saved *to)
{
	ck_assert_int_eq(vpt_pt_rdmsr(&m->pt, VPT_MSR_STATUS, &from->status), VPT_FAULT_NONE);
	ck_assert_int_eq(vpt_pt_rdmsr(&m->pt, VPT_MSR_OUTPUT_BASE, &from->base), VPT_FAULT_NONE);
	ck_assert_int_eq(vpt_pt_rdmsr(&m->pt, VPT_MSR_OUTPUT_MASK_PTRS, &from->ptrs),
			 VPT_FAULT_NONE);
	synthlog_msr(m, VPT_MSR_STATUS, to->status);
	synthlog_msr(m, VPT_MSR_OUTPUT_BASE, to->base);
	synthlog_msr(m, VPT_MSR_OUTPUT_MASK_PTRS, to->ptrs);
}

/* Play the word if it has this name. */
#define WORD(name, action)                 \
	do {                               \
		if (!strcmp(word, name)) { \
			action;            \
			return true;       \
		}                          \
	} while (0)

static bool play_code(struct synthlog *m, const char *word)
{
	static const struct {
		const char *word;
		uint64_t at;
		const char *hex;
	} code[] = {
		{"host-code", CODE, "90 75 fd 0f 01 c3 ff e0 0f 30 ff e0 0f 22 d8 ff e0"},
		{"host-code", CODE + 0x11, "0f c7 30 ff e0 cd 80 ff e0"},
		{"host-code", CODE + 0x20, "90 48 cf"},
		{"host-code", CODE + 0x30, "90 75 fd ff e0"},
		{"guest-code", CODE, "90 90 90 75 fb ff e0 0f a2 ff e0 0f 30 ff e0 0f 22 d8 ff e0"},
		{"guest-code", CODE + 0x20, "90 48 cf"},
		{"own-code", OWN_CODE, "90 75 fd 90 0f a2"},
	};
	bool known = false;
	int i;

	for (i = 0; i < COUNT(code); i++) {
		if (!strcmp(word, code[i].word)) {
			synthlog_code(m, code[i].at, code[i].hex);
			known = true;
		}
	}
	return known;
}

/* Play an instruction or an event. @a and @b are the numbers of the word. */
static bool play_insn(struct script *t, const char *word, uint64_t a, uint64_t b)
{
	struct synthlog *m = t->m;

	WORD("step", synthlog_step(m, 1));
	WORD("fall", synthlog_cond(m, 2, false, 0));
	WORD("jnz", synthlog_cond(m, 2, true, CODE + a));
	WORD("jump", synthlog_jump(m, 2, CODE + a));
	WORD("on", synthlog_ctl(m, t->ctl));
	WORD("off", synthlog_ctl(m, 0));
	WORD("cr3", synthlog_cr3(m, a));
	WORD("vmptrld", synthlog_vmptrld(m, 3, a ? VMCS1 : VMCS0));
	WORD("int", synthlog_int(m, 2, (uint8_t)a, CODE + b));
	WORD("far", synthlog_far(m, 2, CODE + a, (uint8_t)b));
	WORD("enter", synthlog_enter(m, &t->g));
	WORD("fail", synthlog_fail_early(m));
	WORD("fail-late", synthlog_fail_late(m, &t->g, CODE + a));
	WORD("event", synthlog_event(m, (uint8_t)a, CODE + b, 0));
	WORD("inject", synthlog_inject_int(m, (uint8_t)a, CODE + b));
	WORD("exit", synthlog_exit(m, (uint32_t)a, CODE + 0x30, 0x1000));
	return false;
}

static struct synthlog_guest guest(uint64_t vmcs)
{
	return (struct synthlog_guest){
		.vmcs = vmcs, .ip = CODE, .cr3 = 0x1000, .tsc_offset = 0x10000};
}

/* Play a word about the guest of the next VM entry. */
static bool play_guest(struct script *t, const char *word, uint64_t a)
{
	WORD("guest", t->g = guest(a ? VMCS1 : VMCS0));
	WORD("own", (t->g.controls = GUEST_OWN, t->g.guest_ctl = t->ctl));
	WORD("host-ctl", (t->g.controls |= VPT_VMX_ENTRY_LOAD_CTL, t->g.host_ctl = t->ctl));
	WORD("conceal", t->g.controls |= VPT_VMX_CONCEAL);
	WORD("exit-conceal", t->g.controls |= VPT_VMX_EXIT_CONCEAL);
	WORD("ip", t->g.ip = CODE + a);
	WORD("guest-cr3", t->g.cr3 = a);
	WORD("user", t->g.cpl = 3);
	return false;
}

/* Play a word about the processor and its log. */
static bool play_setting(struct script *t, const char *word, uint64_t a)
{
	struct saved *own = &t->own[t->g.vmcs == VMCS1];

	WORD("at", t->m->ip = CODE + a);
	WORD("output", synthlog_output(t->m, a));
	WORD("match",
	     (synthlog_msr(t->m, VPT_MSR_CR3_MATCH, 0x1000), t->ctl |= VPT_CTL_MASK(CR3_FILTER)));
	WORD("no-os", t->ctl &= ~VPT_CTL_MASK(OS));
	WORD("no-user", t->ctl &= ~VPT_CTL_MASK(USER));
	WORD("event-en", t->ctl |= VPT_CTL_MASK(EVENT_EN));
	WORD("to-guest", switch_output(t->m, &t->host, own));
	WORD("to-host", switch_output(t->m, own, &t->host));
	WORD("context", memset(t->m->context, 0xff, sizeof(t->m->context)));
	WORD("mark", t->mark = t->m->len);
	WORD("lost", (t->m->len = t->mark, synthlog_on(t->m)));
	return false;
}

static void play(void *opaque, char *word)
{
	struct script *t = opaque;
	char *at = word + strcspn(word, ":=");
	uint64_t a = 0, b = 0;

	if (*at) {
		*at = 0;
		a = strtoull(at + 1, &at, 16);
		if (*at == '>' || *at == '/')
			b = strtoull(at + 1, &at, 16);
	}
	ck_assert_msg(!*at, "%s: a wrong number", word);
	if (!play_code(t->m, word) && !play_insn(t, word, a, b) && !play_guest(t, word, a))
		ck_assert_msg(play_setting(t, word, a), "%s: unknown word", word);
}

static void play_log(struct synthlog *m, const char *script)
{
	struct script t = {
		.m = m,
		.g = guest(VMCS0),
		.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) |
		       VPT_CTL_MASK(BRANCH_EN),
		.own = {{.base = SYNTHLOG_GUEST, .ptrs = SYNTHLOG_BUFFER - 1},
			{.base = SYNTHLOG_GUEST + SYNTHLOG_BUFFER, .ptrs = SYNTHLOG_BUFFER - 1}},
	};

	words_play(script, play, &t);
}

/* Each log is made in both orders of TRIGGER and instruction records. */
#define EACH_LOG (2 * COUNT(logs))

static int log_number(const char *name)
{
	int i = 0;

	while (strcmp(logs[i].name, name))
		i++;
	return 2 * i;
}

struct bed {
	struct synthlog *m;
	struct trace_input in;
	struct import_log log;
	struct import *import;
	char path[80];
};

static struct import_config config(const char *model)
{
	return (struct import_config){
		.model = model,
		.caps = vpt_caps_model(model),
		.last = UINT64_MAX,
		.host = true,
		.guest = true,
	};
}

static void set_up_script(struct bed *b, const char *model, bool late, const char *script)
{
	memset(b, 0, sizeof(*b));
	b->m = malloc(sizeof(*b->m));
	ck_assert_ptr_nonnull(b->m);
	synthlog_open(b->m, model);
	b->m->late = late;
	play_log(b->m, script);
	synthlog_close(b->m);
	snprintf(b->path, sizeof(b->path), "%s.vpt", b->m->path);
	ck_assert_int_eq(trace_input_open(&b->in, b->m->path), 0);
	ck_assert(import_log_open(&b->log, b->in.bytes, b->in.size));
}

static void set_up(struct bed *b, int number)
{
	set_up_script(b, logs[number / 2].model, number % 2, logs[number / 2].script);
}

static void open_import(struct bed *b, const struct import_config *c)
{
	char why[160] = "";

	ck_assert_msg(!import_open(&b->log, 1, c, &b->import, why, sizeof(why)), "%s", why);
}

static void tear_down(struct bed *b)
{
	import_close(b->import);
	trace_input_close(&b->in);
	unlink(b->path);
	synthlog_done(b->m);
	free(b->m);
}

static struct trace_reader *read_back(const struct bed *b)
{
	struct trace_reader *r = NULL;
	char why[128] = "";

	ck_assert_msg(!trace_reader_open(b->path, &r, why, sizeof(why)), "%s", why);
	ck_assert(trace_reader_extent(r)->closed);
	return r;
}

static void format_difference(const struct oracle_diff *d, char *text, size_t size)
{
	const struct oracle_diff_line *e = &d->expected[0], *g = &d->decoded[0];

	snprintf(text, size, "%s; expected %d %llx, decoded %d %llx, after %llu",
		 d->text ? d->text : "different", d->nexpected ? (int)e->step.kind : -1,
		 (unsigned long long)e->step.ip, d->ndecoded ? (int)g->step.kind : -1,
		 (unsigned long long)g->step.ip, (unsigned long long)d->insns);
}

/* Count the records of VM entries. The IP of each is that of VMRESUME in the host's code. */
static unsigned int count_entries(const struct trace_reader *r, unsigned int vcpu)
{
	const struct trace_oracle_record *o;
	struct trace_oracle_cursor at = {0};
	unsigned int n = 0;

	while ((o = trace_reader_oracle(r, vcpu, &at))) {
		if (o->kind != TRACE_ORACLE_INSN || !(o->aux & TRACE_ORACLE_VM_ENTRY))
			continue;
		ck_assert_uint_eq(o->ip, CODE + 3);
		n++;
	}
	return n;
}

/* Compare the trace of each vCPU with the log. */
static void compare_all(struct trace_reader *r, struct oracle_comparison *sum)
{
	unsigned int v;

	for (v = 0; v < trace_reader_info(r)->vcpus; v++)
		ck_assert_int_eq(oracle_compare(r, v, sum), 0);
}

static void write_file(const struct bed *b)
{
	ck_assert_int_eq(import_write(b->import, b->path), 0);
}

START_TEST(verifies)
{
	struct import_config c = config(logs[_i / 2].model);
	struct oracle_comparison sum = {0};
	struct trace_reader *r;
	struct bed b;
	char text[300] = "";
	unsigned int v, entries = 0;
	size_t n;

	set_up(&b, _i);
	open_import(&b, &c);
	import_sessions(b.import, &n);
	ck_assert_uint_eq(n, logs[_i / 2].sessions);
	import_streams(b.import, &n);
	ck_assert_uint_eq(n, logs[_i / 2].streams);
	ck_assert_uint_eq(import_stray(b.import), 0);
	write_file(&b);
	ck_assert_uint_eq(import_no_code(b.import), 0);
	r = read_back(&b);
	compare_all(r, &sum);
	for (v = 0; v < trace_reader_info(r)->vcpus; v++)
		entries += count_entries(r, v);
	if (sum.mismatches)
		format_difference(&sum.diff, text, sizeof(text));
	ck_assert_msg(!sum.mismatches, "%s: %s", logs[_i / 2].name, text);
	ck_assert_uint_eq(sum.errors, 0);
	ck_assert_uint_eq(sum.shortfalls.n, 0);
	ck_assert_uint_eq(sum.skipped, 0);
	ck_assert_uint_eq(sum.retired, logs[_i / 2].retired);
	ck_assert_uint_eq(sum.decoded, sum.retired);
	ck_assert_uint_eq(entries, logs[_i / 2].entries);
	oracle_comparison_free(&sum);
	trace_reader_close(r);
	tear_down(&b);
	TEST_PROVES("VMX-EXIT-CONCEAL VMX-ENTRY-CONCEAL VMX-FAIL-EARLY VMX-FAIL-LATE");
}
END_TEST

/* The part of the log to import, and the streams and instructions that result. */
static const struct {
	uint64_t first, last;
	bool host, guest;
	uint64_t vmcs; /* 0: any */
	size_t streams;
	uint64_t retired;
} cuts[] = {
	{0, UINT64_MAX, true, false, 0, 1, 28},
	{0, UINT64_MAX, false, true, 0, 2, 54},
	{0, UINT64_MAX, false, true, VMCS1, 1, 27},
	{0, UINT64_MAX, true, true, VMCS1, 2, 27},
	/* The host's session while this VMCS is current has no PSB. */
	{0, UINT64_MAX, true, false, VMCS1, 1, 0},
	{1, 1, true, true, 0, 1, 9},
	{0, 0, true, true, 0, 1, 4},
	/* Neither has a PSB. */
	{11, UINT64_MAX, true, true, 0, 2, 0},
	{13, UINT64_MAX, true, true, 0, 0, 0},
};

START_TEST(cut)
{
	struct import_config c = config("skl");
	struct oracle_comparison sum = {0};
	struct trace_reader *r;
	struct bed b;
	size_t n;

	c.first = cuts[_i].first;
	c.last = cuts[_i].last;
	c.host = cuts[_i].host;
	c.guest = cuts[_i].guest;
	c.one_vmcs = cuts[_i].vmcs;
	c.vmcs = cuts[_i].vmcs;
	set_up(&b, log_number("everyone"));
	open_import(&b, &c);
	import_streams(b.import, &n);
	ck_assert_uint_eq(n, cuts[_i].streams);
	if (!n) {
		ck_assert_int_eq(import_write(b.import, b.path), -ENODATA);
		tear_down(&b);
		return;
	}
	write_file(&b);
	r = read_back(&b);
	ck_assert_uint_eq(trace_reader_info(r)->vcpus, n);
	compare_all(r, &sum);
	ck_assert_uint_eq(sum.mismatches, 0);
	ck_assert_uint_eq(sum.retired - sum.skipped, cuts[_i].retired);
	oracle_comparison_free(&sum);
	trace_reader_close(r);
	tear_down(&b);
}
END_TEST

/* import_same() compares a stream with the bytes of a buffer. */
START_TEST(against)
{
	struct import_config c = config("skl");
	const struct import_stream *stream;
	uint8_t bytes[SYNTHLOG_BUFFER];
	struct bed b;
	uint64_t at;
	size_t n, i, len;

	set_up(&b, log_number("everyone"));
	open_import(&b, &c);
	stream = import_streams(b.import, &n);
	ck_assert_uint_eq(n, 3);
	for (i = 0; i < n; i++, stream++) {
		uint64_t base = stream->side == IMPORT_HOST ? SYNTHLOG_HOST
				: stream->vmcs == VMCS0	    ? SYNTHLOG_GUEST
							    : SYNTHLOG_GUEST + SYNTHLOG_BUFFER;

		len = stream->trace;
		ck_assert_uint_gt(len, 16);
		memcpy(bytes, b.m->ram + base, len);
		ck_assert(import_same(b.import, i, bytes, len, &at));
		ck_assert(!import_same(b.import, i, bytes, len - 1, &at));
		ck_assert_uint_eq(at, len - 1);
		ck_assert(!import_same(b.import, i, bytes, len + 1, &at));
		ck_assert_uint_eq(at, len);
		bytes[len / 2] ^= 1;
		ck_assert(!import_same(b.import, i, bytes, len, &at));
		ck_assert_uint_eq(at, len / 2);
	}
	tear_down(&b);
}
END_TEST

/* TSC offsets of VMCSs are recorded with the offset from which they apply. */
START_TEST(vmcs)
{
	struct import_config c = config("skl");
	const struct trace_space *spaces;
	const struct trace_vmcs *at;
	struct trace_reader *r;
	struct bed b;
	size_t n, i, guests = 0;

	set_up(&b, log_number("two VMs"));
	open_import(&b, &c);
	write_file(&b);
	r = read_back(&b);
	at = trace_reader_vmcs(r, 0, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(at[0].vmcs, VMCS0);
	ck_assert_uint_eq(at[0].tsc_offset, 0x10000);
	ck_assert_uint_eq(at[0].tsc_multiplier, 1ull << 48);
	ck_assert_uint_eq(at[1].vmcs, VMCS1);
	ck_assert_uint_gt(at[1].offset, at[0].offset);
	spaces = trace_reader_spaces(r, &n);
	ck_assert_uint_eq(n, 3);
	for (i = 0; i < n; i++) {
		ck_assert_uint_eq(spaces[i].cr3, 0x1000);
		ck_assert_uint_ne(spaces[i].id, 0x1000);
		if (!(spaces[i].flags & TRACE_SPACE_NON_ROOT))
			continue;
		ck_assert_uint_eq(spaces[i].vm, spaces[i].vmcs == VMCS1);
		guests++;
	}
	ck_assert_uint_eq(guests, 2);
	trace_reader_close(r);
	tear_down(&b);
	TEST_PROVES("VMX-TSC-GUEST");
}
END_TEST

/* Import arbitrary bytes. The import may fail, but a file that is written must be readable. */
static void import_anything(const uint8_t *bytes, size_t len, const char *path)
{
	struct import_config c = config("skl");
	struct oracle_comparison sum = {0};
	struct import *import;
	struct trace_reader *r;
	struct import_log log;
	char why[160] = "";
	uint64_t at;

	if (!import_log_open(&log, bytes, len)) {
		ck_assert_ptr_nonnull(log.why);
		return;
	}
	if (import_open(&log, 1, &c, &import, why, sizeof(why))) {
		ck_assert(*why && !strchr(why, '\n'));
		return;
	}
	if (!import_write(import, path)) {
		ck_assert_int_eq(trace_reader_open(path, &r, why, sizeof(why)), 0);
		ck_assert_ptr_null(log.closed ? trace_reader_extent(r)->why : NULL);
		ck_assert_int_eq(oracle_compare(r, 0, &sum), 0);
		oracle_comparison_free(&sum);
		trace_reader_close(r);
		(void)import_same(import, 0, bytes, len, &at);
	}
	import_close(import);
}

/* The complete records of a truncated log are imported, and the file verifies. */
START_TEST(cut_off)
{
	struct import_config c = config("skl");
	struct bed b;
	size_t len;

	set_up(&b, log_number("everyone"));
	for (len = 0; len < b.in.size; len += 3 + len % 23) {
		struct oracle_comparison sum = {0};
		struct import *import;
		struct trace_reader *r;
		struct import_log log;
		char why[160];

		if (!import_log_open(&log, b.in.bytes, len))
			continue;
		ck_assert_int_eq(import_open(&log, 1, &c, &import, why, sizeof(why)), 0);
		ck_assert(!log.closed);
		if (import_write(import, b.path)) {
			import_close(import);
			continue;
		}
		ck_assert_int_eq(trace_reader_open(b.path, &r, why, sizeof(why)), 0);
		ck_assert(!trace_reader_extent(r)->closed && trace_reader_extent(r)->cut);
		compare_all(r, &sum);
		ck_assert_msg(!sum.mismatches, "cut at %zu", len);
		oracle_comparison_free(&sum);
		trace_reader_close(r);
		import_close(import);
	}
	tear_down(&b);
}
END_TEST

/* Flip each byte of the records and some bytes of the pages of code. */
START_TEST(flipped)
{
	struct bed b;
	size_t i;

	set_up(&b, log_number("two VMs"));
	for (i = 0; i < b.in.size; i += i % 4096 < 700 ? 1 : 61) {
		b.in.bytes[i] ^= (uint8_t)(1u << (i % 8));
		import_anything(b.in.bytes, b.in.size, b.path);
		b.in.bytes[i] ^= (uint8_t)(1u << (i % 8));
	}
	tear_down(&b);
}
END_TEST

static const struct {
	const char *bytes; /* after the header */
	size_t len;
	const char *why;
} wrong[] = {
	{"\x80", 1, "it has a record of no known kind"},
	{"\0", 1, "it has a record of no known kind"},
	{"\x10\0\1\1\1\1\1\1\1\1", 10, "an instruction has a length that none has"},
	{"\x10\x10\1\1\1\1\1\1\1\1", 10, "an instruction has a length that none has"},
	{"\x11\6\1\1\1\1\1\1\1\1\1", 11, "an event is of no known kind"},
	{"\x15\2", 2, "PacketEn is neither 0 nor 1"},
	{"\x1a\1", 2, "something follows its END record"},
};

START_TEST(wrong_record)
{
	struct vpt_log_header header = {VPT_LOG_MAGIC, VPT_LOG_VERSION, 7};
	struct import_config c = config("skl");
	struct import *import;
	uint8_t bytes[64];
	struct import_log log;
	char why[160] = "";

	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), wrong[_i].bytes, wrong[_i].len);
	ck_assert(import_log_open(&log, bytes, sizeof(header) + wrong[_i].len));
	ck_assert_uint_eq(log.cpu, 7);
	ck_assert_int_eq(import_open(&log, 1, &c, &import, why, sizeof(why)), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, wrong[_i].why));
	header.version++;
	memcpy(bytes, &header, sizeof(header));
	ck_assert(!import_log_open(&log, bytes, sizeof(bytes)));
	header.magic++;
	memcpy(bytes, &header, sizeof(header));
	ck_assert(!import_log_open(&log, bytes, sizeof(bytes)));
}
END_TEST

static const struct {
	const char *name;
	enum import_side side;
} silent[] = {{"guest only", IMPORT_GUEST}, {"host only", IMPORT_HOST}};

/* Without TRACE records, the context behind the edge gives the side of a session. */
START_TEST(no_bytes)
{
	struct import_config c = config("skl");
	const struct import_session *s;
	struct import_log_record rec;
	struct bed b;
	size_t n, len, from;
	uint8_t *bytes;

	set_up(&b, log_number(silent[_i / 2].name) + _i % 2);
	bytes = malloc(b.in.size);
	ck_assert_ptr_nonnull(bytes);
	len = b.log.at;
	memcpy(bytes, b.in.bytes, len);
	for (from = len; import_log_next(&b.log, &rec); from = b.log.at) {
		if (rec.kind == VPT_LOG_TRACE)
			continue;
		memcpy(bytes + len, b.in.bytes + from, b.log.at - from);
		len += b.log.at - from;
	}
	ck_assert(import_log_open(&b.log, bytes, len));
	open_import(&b, &c);
	s = import_sessions(b.import, &n);
	ck_assert_uint_eq(n, logs[log_number(silent[_i / 2].name) / 2].sessions);
	while (n--)
		ck_assert(!s[n].trace && s[n].side == silent[_i / 2].side);
	tear_down(&b);
	free(bytes);
}
END_TEST

/* A log that was off for a time repeats the record of TriggerEn when it resumes. */
START_TEST(off_for_a_while)
{
	struct import_config c = config("skl");
	const struct import_session *s;
	struct oracle_comparison sum = {0};
	struct trace_reader *r;
	struct bed b;
	size_t n;

	set_up_script(&b, "skl", false,
		      BEGIN "jump:0 step jnz:0 mark step jnz:0 lost step at:8 off");
	open_import(&b, &c);
	s = import_sessions(b.import, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert(!s[0].ended && s[1].ended);
	write_file(&b);
	r = read_back(&b);
	ck_assert_int_eq(oracle_compare(r, 0, &sum), 0);
	ck_assert_uint_eq(sum.mismatches, 0);
	ck_assert_uint_eq(sum.shortfalls.n, 1);
	oracle_comparison_free(&sum);
	trace_reader_close(r);
	tear_down(&b);
}
END_TEST

TEST_SUITE("import", NULL, NULL)
{
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, verifies, 0, EACH_LOG);
	TEST_ROWS(tcase, cut, cuts);
	TEST_ADD(tcase, against, vmcs, cut_off, flipped, off_for_a_while);
	TEST_ROWS(tcase, wrong_record, wrong);
	tcase_add_loop_test(tcase, no_bytes, 0, 2 * COUNT(silent));
}
