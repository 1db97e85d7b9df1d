// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From an oracle log to a .vpt file that verifies: whatever a processor with VMX did,
 * its trace, decoded, says the same.
 */
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
#include "oracle/compare.h"
#include "trace/input.h"
#include "trace/reader.h"
#include "vpt/msr.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

#define HOST	 0x401000ull
#define GUEST	 0x401000ull /* the same address, and often the same CR3 */
#define OWN_CODE 0x405000ull /* where only the guest has code */
#define VMCS0	 0x7000ull
#define VMCS1	 0x8000ull

#define CTL \
	(VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))

/*
 * Of the host: 0 nop; 1 jnz 0; 3 vmresume; 8 wrmsr; c mov cr3; 11 vmptrld; 16 int 80;
 * 20 nop, iretq; 30 nop, jnz 30: where VM exits lead. Each ends with jmp rax.
 */
static void host_code(struct synthlog *m)
{
	synthlog_code(m, HOST, "90 75 fd 0f 01 c3 ff e0 0f 30 ff e0 0f 22 d8 ff e0");
	synthlog_code(m, HOST + 0x11, "0f c7 30 ff e0 cd 80 ff e0");
	synthlog_code(m, HOST + 0x20, "90 48 cf");
	synthlog_code(m, HOST + 0x30, "90 75 fd ff e0");
}

/* Of guests: 0 nop; 1 nop; 2 nop; 3 jnz 0; 5 jmp rax; 7 cpuid; b wrmsr; f mov cr3; 20. */
static void guest_code(struct synthlog *m)
{
	synthlog_code(m, GUEST, "90 90 90 75 fb ff e0 0f a2 ff e0 0f 30 ff e0 0f 22 d8 ff e0");
	synthlog_code(m, GUEST + 0x20, "90 48 cf");
}

static struct synthlog_guest guest(uint64_t vmcs)
{
	return (struct synthlog_guest){
		.vmcs = vmcs, .ip = GUEST, .cr3 = 0x1000, .tsc_offset = 0x10000};
}

static void jump(struct synthlog *m, unsigned int to)
{
	synthlog_jump(m, 2, HOST + to);
}

/* The host's loop, and a VM entry; from there to a CPUID that exits, and the handler. */
static void round_trip(struct synthlog *m, const struct synthlog_guest *g)
{
	synthlog_step(m, 1);
	synthlog_cond(m, 2, true, HOST);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	synthlog_enter(m, g);
	guest_code(m);
	synthlog_step(m, 1);
	synthlog_step(m, 1);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, true, GUEST);
	synthlog_step(m, 1);
	synthlog_step(m, 1);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	synthlog_jump(m, 2, GUEST + 7);
	synthlog_exit(m, 10, HOST + 0x30, 0x1000);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, true, HOST + 0x30);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
}

/* A WRMSR to CTL, and on to somewhere else. */
static void ctl(struct synthlog *m, uint64_t value, unsigned int to)
{
	synthlog_ctl(m, value);
	jump(m, to);
}

static void begin_at(struct synthlog *m, uint64_t bits, unsigned int to)
{
	host_code(m);
	synthlog_output(m, SYNTHLOG_HOST);
	m->ip = HOST + 8;
	ctl(m, bits, to);
}

static void begin(struct synthlog *m, uint64_t bits)
{
	begin_at(m, bits, 0);
}

static void finish(struct synthlog *m)
{
	jump(m, 8);
	ctl(m, 0, 0);
	synthlog_step(m, 1);
}

static void system_wide(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	begin(m, CTL);
	round_trip(m, &g);
	jump(m, 0);
	round_trip(m, &g);
	finish(m);
}

/* Two guests and a host, all with the same CR3 and code at the same addresses. */
static void two_vms(struct synthlog *m)
{
	struct synthlog_guest a = guest(VMCS0), b = guest(VMCS1);

	begin_at(m, CTL, 0x11);
	synthlog_vmptrld(m, 3, VMCS0);
	jump(m, 0);
	round_trip(m, &a);
	jump(m, 0x11);
	synthlog_vmptrld(m, 3, VMCS1);
	jump(m, 0);
	round_trip(m, &b);
	jump(m, 0);
	round_trip(m, &b);
	jump(m, 0x11);
	synthlog_vmptrld(m, 3, VMCS0);
	jump(m, 0);
	round_trip(m, &a);
	finish(m);
}

static void host_only(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	g.controls = VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_CONCEAL;
	g.host_ctl = CTL;
	begin(m, CTL);
	round_trip(m, &g);
	jump(m, 0);
	round_trip(m, &g);
	finish(m);
}

#define GUEST_OWN \
	(VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL | VPT_VMX_EXEC_USE_GPA | VPT_VMX_CONCEAL)

static void guest_only(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	host_code(m);
	synthlog_output(m, SYNTHLOG_GUEST);
	g.controls = GUEST_OWN;
	g.guest_ctl = CTL;
	m->ip = HOST;
	round_trip(m, &g);
	jump(m, 0);
	round_trip(m, &g);
	jump(m, 0);
	synthlog_step(m, 1);
}

/* A guest that loads CR3, of which the next entry's PSB or nothing tells. */
static void guest_only_cr3(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	host_code(m);
	synthlog_output(m, SYNTHLOG_GUEST);
	g.controls = GUEST_OWN;
	g.guest_ctl = CTL;
	g.ip = GUEST + 0xf;
	m->ip = HOST + 3;
	synthlog_enter(m, &g);
	guest_code(m);
	synthlog_cr3(m, 0x5000);
	guest_code(m);
	synthlog_jump(m, 2, GUEST + 7);
	synthlog_exit(m, 10, HOST + 0x30, 0x1000);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	jump(m, 0);
	g.ip = GUEST;
	g.cr3 = 0x5000;
	round_trip(m, &g);
}

/* Only user code of guests, which sends no PIPs. */
static void guest_user(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	host_code(m);
	synthlog_output(m, SYNTHLOG_GUEST);
	g.controls = GUEST_OWN;
	g.guest_ctl = CTL & ~VPT_CTL_MASK(OS);
	g.cpl = 3;
	m->ip = HOST;
	round_trip(m, &g);
	jump(m, 0);
	g.cr3 = 0x5000;
	round_trip(m, &g);
}

struct saved {
	uint64_t status, base, ptrs;
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

/* The host traces itself, and two guests do, each to a buffer of its own. */
static void everyone(struct synthlog *m)
{
	struct saved host,
		own[2] = {
			{.base = SYNTHLOG_GUEST, .ptrs = SYNTHLOG_BUFFER - 1},
			{.base = SYNTHLOG_GUEST + SYNTHLOG_BUFFER, .ptrs = SYNTHLOG_BUFFER - 1},
		};
	unsigned int i;

	begin_at(m, CTL, 0x11);
	for (i = 0; i < 6; i++) {
		struct synthlog_guest g = guest(i & 1 ? VMCS1 : VMCS0);

		synthlog_vmptrld(m, 3, g.vmcs);
		jump(m, 8);
		ctl(m, 0, 0);
		switch_output(m, &host, &own[i & 1]);
		g.controls = GUEST_OWN;
		g.guest_ctl = CTL;
		round_trip(m, &g);
		switch_output(m, &own[i & 1], &host);
		jump(m, 8);
		ctl(m, CTL, 0x11);
	}
	synthlog_vmptrld(m, 3, VMCS0);
	finish(m);
}

static void events(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	begin(m, CTL);
	synthlog_step(m, 1);
	synthlog_event(m, 32, HOST + 0x20, 0);
	synthlog_step(m, 1);
	synthlog_far(m, 2, HOST + 1, 0);
	synthlog_cond(m, 2, false, 0);
	synthlog_enter(m, &g);
	guest_code(m);
	/* Injected. */
	synthlog_event(m, 33, GUEST + 0x20, 0);
	synthlog_step(m, 1);
	synthlog_far(m, 2, GUEST, 3);
	synthlog_step(m, 1);
	synthlog_event(m, 34, GUEST + 0x20, 0);
	/* An exit at the first instruction of a handler. */
	synthlog_exit(m, 1, HOST + 0x30, 0x1000);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	jump(m, 0);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	g.ip = GUEST + 2;
	synthlog_enter(m, &g);
	synthlog_inject_int(m, 3, GUEST + 0x20);
	synthlog_step(m, 1);
	synthlog_exit(m, 1, HOST + 0x30, 0x1000);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	jump(m, 0x16);
	synthlog_int(m, 2, 0x80, HOST + 0x20);
	synthlog_step(m, 1);
	synthlog_far(m, 2, HOST + 0x18, 0);
	finish(m);
}

/* CR3 goes through 0x2000, which is not traced; guests with the CR3 are. */
static void cr3_filter(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	host_code(m);
	synthlog_msr(m, VPT_MSR_CR3_MATCH, 0x1000);
	begin(m, CTL | VPT_CTL_MASK(CR3_FILTER));
	round_trip(m, &g);
	jump(m, 0);
	g.cr3 = 0x2000;
	round_trip(m, &g);
	jump(m, 0xc);
	synthlog_cr3(m, 0x2000);
	host_code(m);
	jump(m, 0);
	g.cr3 = 0x1000;
	round_trip(m, &g);
	finish(m);
}

static void user_only(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	begin(m, CTL & ~VPT_CTL_MASK(OS));
	round_trip(m, &g);
	jump(m, 0);
	g.cpl = 3;
	round_trip(m, &g);
	finish(m);
}

static void kernel_only(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	begin(m, CTL & ~VPT_CTL_MASK(USER));
	round_trip(m, &g);
	jump(m, 0);
	g.cpl = 3;
	round_trip(m, &g);
	finish(m);
}

static void event_trace(struct synthlog *m)
{
	const uint64_t bits = CTL | VPT_CTL_MASK(EVENT_EN);
	struct synthlog_guest g = guest(VMCS0);

	begin(m, bits);
	round_trip(m, &g);
	jump(m, 0);
	synthlog_step(m, 1);
	synthlog_event(m, 32, HOST + 0x20, 0);
	synthlog_step(m, 1);
	synthlog_far(m, 2, HOST + 1, 0);
	synthlog_cond(m, 2, true, HOST);
	g.controls = VPT_VMX_ENTRY_LOAD_CTL;
	g.host_ctl = bits;
	round_trip(m, &g);
	finish(m);
}

/* Nothing tells of the guest, but that only it has the code. */
static void concealed(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);
	unsigned int i;

	g.controls = VPT_VMX_CONCEAL;
	g.ip = OWN_CODE;
	begin(m, CTL);
	for (i = 0; i < 2; i++) {
		synthlog_step(m, 1);
		synthlog_cond(m, 2, false, 0);
		synthlog_enter(m, &g);
		synthlog_code(m, OWN_CODE, "90 75 fd 90 0f a2");
		synthlog_step(m, 1);
		synthlog_cond(m, 2, true, OWN_CODE);
		synthlog_step(m, 1);
		synthlog_cond(m, 2, false, 0);
		synthlog_step(m, 1);
		synthlog_exit(m, 10, HOST + 0x30, 0x1000);
		synthlog_step(m, 1);
		synthlog_cond(m, 2, false, 0);
		jump(m, 0);
	}
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	synthlog_fail_early(m);
	finish(m);
}

/* And of a guest that runs nothing there is no code either. */
static void concealed_exit(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	g.controls = VPT_VMX_EXIT_CONCEAL;
	g.ip = OWN_CODE;
	begin(m, CTL);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	synthlog_enter(m, &g);
	synthlog_exit(m, 18, HOST + 0x30, 0x1000);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	finish(m);
}

static void failures(struct synthlog *m)
{
	struct synthlog_guest g = guest(VMCS0);

	begin(m, CTL);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	synthlog_fail_early(m);
	jump(m, 0);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	synthlog_fail_late(m, &g, HOST + 0x30);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, false, 0);
	jump(m, 0);
	round_trip(m, &g);
	finish(m);
}

/* The log goes off in the middle of a session, and on again. */
static void off_and_on(struct synthlog *m)
{
	size_t len;

	begin(m, CTL);
	synthlog_step(m, 1);
	synthlog_cond(m, 2, true, HOST);
	len = m->len;
	synthlog_step(m, 1);
	synthlog_cond(m, 2, true, HOST);
	m->len = len;
	synthlog_on(m);
	synthlog_step(m, 1);
	m->ip = HOST + 8;
	synthlog_ctl(m, 0);
}

static const struct {
	const char *name;
	void (*make)(struct synthlog *m);
	const char *model;
	size_t streams, sessions;
	/* That should be in the trace, with the WRMSR that clears TraceEn, unless it is concealed. */
	uint64_t retired;
} logs[] = {
	{"system wide", system_wide, "skl", 1, 1, 40},
	{"two VMs", two_vms, "skl", 1, 1, 84},
	{"host only", host_only, "skl", 1, 3, 22},
	{"guest only", guest_only, "skl", 1, 2, 18},
	{"guest only, CR3", guest_only_cr3, "skl", 1, 2, 11},
	{"guest only, user", guest_user, "skl", 1, 2, 18},
	{"everyone", everyone, "skl", 3, 13, 82},
	{"events", events, "skl", 1, 1, 24},
	{"CR3 filter", cr3_filter, "skl", 1, 1, 46},
	{"user only", user_only, "skl", 1, 1, 9},
	{"kernel only", kernel_only, "skl", 1, 1, 31},
	{"concealed", concealed, "skl", 1, 1, 28},
	{"concealed exit", concealed_exit, "skl", 1, 1, 8},
	{"failed entries", failures, "skl", 1, 1, 31},
	{"event trace", event_trace, "spr", 1, 2, 35},
};

/* Each in both orders of TRIGGER and instruction. */
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

static void set_up(struct bed *b, int number)
{
	memset(b, 0, sizeof(*b));
	b->m = malloc(sizeof(*b->m));
	ck_assert_ptr_nonnull(b->m);
	synthlog_open(b->m, logs[number / 2].model);
	b->m->late = number % 2;
	logs[number / 2].make(b->m);
	synthlog_close(b->m);
	snprintf(b->path, sizeof(b->path), "%s.vpt", b->m->path);
	ck_assert_int_eq(trace_input_open(&b->in, b->m->path), 0);
	ck_assert(import_log_open(&b->log, b->in.bytes, b->in.size));
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

static void say_difference(const struct oracle_diff *d, char *text, size_t size)
{
	const struct oracle_diff_line *e = &d->expected[0], *g = &d->decoded[0];

	snprintf(text, size, "%s; expected %d %llx, decoded %d %llx, after %llu",
		 d->text ? d->text : "different", d->nexpected ? (int)e->step.kind : -1,
		 (unsigned long long)e->step.ip, d->ndecoded ? (int)g->step.kind : -1,
		 (unsigned long long)g->step.ip, (unsigned long long)d->insns);
}

START_TEST(verifies)
{
	struct import_config c = config(logs[_i / 2].model);
	struct oracle_comparison sum = {0};
	struct trace_reader *r;
	struct bed b;
	char text[300] = "";
	unsigned int v;
	size_t n;

	set_up(&b, _i);
	open_import(&b, &c);
	import_sessions(b.import, &n);
	ck_assert_uint_eq(n, logs[_i / 2].sessions);
	import_streams(b.import, &n);
	ck_assert_uint_eq(n, logs[_i / 2].streams);
	ck_assert_uint_eq(import_stray(b.import), 0);
	ck_assert_int_eq(import_write(b.import, b.path), 0);
	ck_assert_uint_eq(import_no_code(b.import), 0);
	r = read_back(&b);
	for (v = 0; v < trace_reader_info(r)->vcpus; v++)
		ck_assert_int_eq(oracle_compare(r, v, &sum), 0);
	if (sum.mismatches)
		say_difference(&sum.diff, text, sizeof(text));
	ck_assert_msg(!sum.mismatches, "%s: %s", logs[_i / 2].name, text);
	ck_assert_uint_eq(sum.errors, 0);
	ck_assert_uint_eq(sum.shortfalls.n, 0);
	ck_assert_uint_eq(sum.skipped, 0);
	ck_assert_uint_eq(sum.retired, logs[_i / 2].retired);
	ck_assert_uint_eq(sum.decoded, sum.retired);
	oracle_comparison_free(&sum);
	trace_reader_close(r);
	tear_down(&b);
	TEST_PROVES("VMX-EXIT-CONCEAL VMX-ENTRY-CONCEAL VMX-FAIL-EARLY VMX-FAIL-LATE");
}
END_TEST

/* What is wanted of a log, and what comes of it. */
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
	{0, UINT64_MAX, true, true, VMCS1, 2, 55},
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
	unsigned int v;
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
	ck_assert_int_eq(import_write(b.import, b.path), 0);
	r = read_back(&b);
	ck_assert_uint_eq(trace_reader_info(r)->vcpus, n);
	for (v = 0; v < n; v++)
		ck_assert_int_eq(oracle_compare(r, v, &sum), 0);
	ck_assert_uint_eq(sum.mismatches, 0);
	ck_assert_uint_eq(sum.retired - sum.skipped, cuts[_i].retired);
	oracle_comparison_free(&sum);
	trace_reader_close(r);
	tear_down(&b);
}
END_TEST

/* The trace against what is in the buffers. */
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

/* TSC offsets of VMCSs are told from where they count on. */
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
	ck_assert_int_eq(import_write(b.import, b.path), 0);
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

/* Import whatever bytes these are: no harm is done, and the file that comes of it reads. */
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

/* A log that is cut off imports as far as it goes, and what there is verifies. */
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
		unsigned int v;

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
		for (v = 0; v < trace_reader_info(r)->vcpus; v++)
			ck_assert_int_eq(oracle_compare(r, v, &sum), 0);
		ck_assert_msg(!sum.mismatches, "cut at %zu", len);
		oracle_comparison_free(&sum);
		trace_reader_close(r);
		import_close(import);
	}
	tear_down(&b);
}
END_TEST

/* Every bit of records is wrong once; of pages of code, not all. */
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

/* A log that was off for a while tells of TriggerEn once more. */
START_TEST(off_for_a_while)
{
	struct import_config c = config("skl");
	const struct import_session *s;
	struct oracle_comparison sum = {0};
	struct trace_reader *r;
	struct bed b;
	size_t n;

	memset(&b, 0, sizeof(b));
	b.m = malloc(sizeof(*b.m));
	ck_assert_ptr_nonnull(b.m);
	synthlog_open(b.m, "skl");
	off_and_on(b.m);
	synthlog_close(b.m);
	snprintf(b.path, sizeof(b.path), "%s.vpt", b.m->path);
	ck_assert_int_eq(trace_input_open(&b.in, b.m->path), 0);
	ck_assert(import_log_open(&b.log, b.in.bytes, b.in.size));
	open_import(&b, &c);
	s = import_sessions(b.import, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert(!s[0].ended && s[1].ended);
	ck_assert_int_eq(import_write(b.import, b.path), 0);
	r = read_back(&b);
	ck_assert_int_eq(oracle_compare(r, 0, &sum), 0);
	ck_assert_uint_eq(sum.mismatches, 0);
	ck_assert_uint_eq(sum.shortfalls.n, 1);
	oracle_comparison_free(&sum);
	trace_reader_close(r);
	tear_down(&b);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("import");
	TCase *tc = tcase_create("import");

	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, verifies, 0, EACH_LOG);
	tcase_add_loop_test(tc, cut, 0, COUNT(cuts));
	tcase_add_test(tc, against);
	tcase_add_test(tc, vmcs);
	tcase_add_test(tc, cut_off);
	tcase_add_test(tc, flipped);
	tcase_add_loop_test(tc, wrong_record, 0, COUNT(wrong));
	tcase_add_test(tc, off_for_a_while);
	suite_add_tcase(suite, tc);
	return suite;
}
