// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A trace unit saved and loaded: what was saved at any moment goes on exactly as the
 * unit it was saved from, and what no unit could have saved is refused.
 */
#include "lib/suite.h"
#include "lib/ram.h"

#include <stdlib.h>
#include <string.h>

#include "vpt/packet.h"
#include "vpt/state.h"
#include "vpt/system.h"
#include "vpt/vmx_pt.h"

enum {
	RAM = 1 << 16,
	TABLE = 0x1000,
	REGION = 0x4000,
	STAGE = 96,
	STREAM_ROOM = 1 << 18,
	END = 1,
	INT = 1 << 2,
	STOP = 1 << 4,
};

/* A processor with its memory, of which there can be several. */
struct machine {
	struct vpt_pt pt;
	struct vpt_caps caps;
	struct vpt_context ctx;
	struct vpt_clock clock;
	bool no_map, smm;
	uint8_t ram[RAM];
	uint8_t stage[STAGE];
	uint8_t *stream;
	size_t streamed;
	unsigned int pmis, triggers;
	uint64_t committed; /* a sum over addresses and bytes, in order */
};

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	struct machine *m = opaque;

	return test_ram_read(m->ram, RAM, gpa, dst, len);
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct machine *m = opaque;

	return test_ram_write(m->ram, RAM, gpa, src, len);
}

static void *mem_map(void *opaque, uint64_t gpa, size_t *len)
{
	struct machine *m = opaque;

	if (m->no_map || gpa >= RAM)
		return NULL;
	if (*len > RAM - gpa)
		*len = (size_t)(RAM - gpa);
	return m->ram + gpa;
}

static void committed(void *opaque, uint64_t gpa, size_t len)
{
	struct machine *m = opaque;

	while (len--)
		m->committed = m->committed * 31 + gpa++;
}

static void stream(void *opaque, const void *bytes, size_t len)
{
	struct machine *m = opaque;

	ck_assert_uint_le(m->streamed + len, STREAM_ROOM);
	memcpy(m->stream + m->streamed, bytes, len);
	m->streamed += len;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct machine *)opaque)->ctx;
}

static void pmi(void *opaque)
{
	((struct machine *)opaque)->pmis++;
}

static void trigger(void *opaque, bool trigger_en)
{
	(void)trigger_en;
	((struct machine *)opaque)->triggers++;
}

static void report_time(void *opaque, struct vpt_clock *now)
{
	*now = ((struct machine *)opaque)->clock;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write, .map = mem_map, .committed = committed},
	.context = context,
	.pmi = pmi,
	.trigger = trigger,
	.clock = report_time,
};

static void init(struct machine *m, const char *model)
{
	memset(m, 0, sizeof(*m));
	m->caps = *vpt_caps_model(model);
	m->caps.l14_0_ecx |= 1u << 3;
	m->stream = malloc(STREAM_ROOM);
	m->ctx = (struct vpt_context){.cr3 = 0x1000, .cs_l = true, .lma = true, .cbr = 20};
	vpt_pt_init(&m->pt, &m->caps, &ops, m);
	vpt_output_set_stream(&m->pt.out, m->stage, sizeof(m->stage), stream);
}

/* Another machine with all that is not the trace unit's. */
static void copy(struct machine *to, const struct machine *from)
{
	uint8_t *bytes = to->stream;

	memcpy(to->ram, from->ram, RAM);
	memcpy(to->stage, from->stage, STAGE);
	memcpy(bytes, from->stream, from->streamed);
	to->ctx = from->ctx;
	to->clock = from->clock;
	to->no_map = from->no_map;
	to->smm = from->smm;
	to->streamed = from->streamed;
	to->pmis = from->pmis;
	to->triggers = from->triggers;
	to->committed = from->committed;
}

static void wrmsr(struct machine *m, uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(vpt_pt_wrmsr(&m->pt, msr, value, VPT_ACCESS_HOST, 0x400000, 0x400002),
			 VPT_FAULT_NONE);
}

static void poke64(struct machine *m, uint64_t gpa, uint64_t value)
{
	memcpy(m->ram + gpa, &value, sizeof(value));
}

#define TIMED (VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN))

/* Numbers of ways that tests name. */
enum { CYC_WAY = 11, MTC_WAY, THRESHOLD_WAY, BUFFER_WAY, DEFER_WAY };

/* Ways of output, and of what goes there. */
static const struct way {
	const char *model;
	uint64_t ctl, base, ptrs;
	uint64_t entry[3];
	bool no_map;
	bool guest; /* begins in non-root operation */
	bool smm;   /* has SMIs */
	struct vpt_pt_options options;
} ways[] = {
	{.model = "skl", .ctl = VPT_CTL_MASK(FABRIC_EN), .ptrs = 0x7f},
	{.model = "skl", .base = REGION, .ptrs = 0x3ff},
	{.model = "skl", .base = REGION, .ptrs = 0x3ff, .no_map = true},
	{.model = "skl",
	 .ctl = VPT_CTL_MASK(TOPA),
	 .base = TABLE,
	 .ptrs = 0x7f,
	 .entry = {REGION | INT, REGION + 0x1000, TABLE | END}},
	{.model = "icx",
	 .ctl = VPT_CTL_MASK(TOPA),
	 .base = TABLE,
	 .ptrs = 0x7f,
	 .entry = {REGION | INT, REGION + 0x1000, TABLE | END},
	 .no_map = true},
	{.model = "skl",
	 .ctl = VPT_CTL_MASK(TOPA),
	 .base = TABLE,
	 .ptrs = 0x7f,
	 .entry = {REGION, REGION + 0x1000 + STOP, 0}},
	{.model = "bdw",
	 .ctl = VPT_CTL_MASK(TOPA),
	 .base = TABLE,
	 .ptrs = 0x7f,
	 .entry = {REGION | INT, TABLE | END, 0}},
	/* Memory ends: an error soon. */
	{.model = "skl", .ptrs = 0xff00ull << 32 | 0x1ffff},
	/* The second entry is bad: an error once the first one is full. */
	{.model = "spr",
	 .ctl = VPT_CTL_MASK(TOPA),
	 .base = TABLE,
	 .ptrs = 0x7f,
	 .entry = {REGION, REGION | 2, 0}},
	{.model = "spr", .ctl = VPT_CTL_MASK(FABRIC_EN), .ptrs = 0x7f, .guest = true},
	{.model = "icx", .base = REGION, .ptrs = 0x3ff, .guest = true},
	/* Clocks. */
	{.model = "skl",
	 .ctl = VPT_CTL_MASK(FABRIC_EN) | TIMED | VPT_CTL_MASK(CYC_EN),
	 .ptrs = 0x7f},
	{.model = "icx", .ctl = TIMED, .base = REGION, .ptrs = 0x3ff, .guest = true},
	{.model = "skl",
	 .ctl = VPT_CTL_MASK(CYC_EN) | 5ull << VPT_CTL_CYC_THRESH_SHIFT,
	 .base = REGION,
	 .ptrs = 0x3ff,
	 .options = {.cyc_bits = 8}},
	/* Overflows, TIPs that wait. */
	{.model = "spr",
	 .ctl = VPT_CTL_MASK(FABRIC_EN) | TIMED | VPT_CTL_MASK(CYC_EN),
	 .ptrs = 0x7f,
	 .options = {.buffer_bytes = VPT_BUFFER_MIN, .buffer_drain = 40}},
	{.model = "skl",
	 .ctl = VPT_CTL_MASK(FABRIC_EN),
	 .ptrs = 0x7f,
	 .smm = true,
	 .options = {.buffer_bytes = 256, .buffer_drain = 60, .defer_tips = true}},
	{.model = "skl",
	 .ctl = TIMED,
	 .base = REGION,
	 .ptrs = 0x3ff,
	 .smm = true,
	 .options = {.defer_tips = true}},
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static uint64_t control(const struct way *way)
{
	return way->ctl | VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN);
}

/* A VM entry or exit, whichever can be. */
static void transit(struct machine *m, uint32_t controls, uint64_t to)
{
	struct vpt_vmx_transition t = {
		.controls = controls, .vmcs = 0x5000, .ip = 0x401000, .next = 0x401003};

	if (m->pt.vmx.non_root) {
		vpt_pt_vm_exit(&m->pt, &t);
		vpt_pt_vm_exit_host(&m->pt);
		vpt_pt_vm_exited(&m->pt, to);
	} else {
		vpt_pt_vm_entry(&m->pt, &t);
		vpt_pt_vm_entered(&m->pt, to);
	}
}

static void start(struct machine *m, const struct way *way, uint64_t more)
{
	unsigned int i;

	init(m, way->model);
	m->no_map = way->no_map;
	m->smm = way->smm;
	ck_assert_int_eq(vpt_pt_set_options(&m->pt, &way->options), VPT_OK);
	for (i = 0; i < 3; i++)
		poke64(m, TABLE + 8 * i, way->entry[i]);
	wrmsr(m, VPT_MSR_OUTPUT_BASE, way->base);
	wrmsr(m, VPT_MSR_OUTPUT_MASK_PTRS, way->ptrs);
	if (way->guest) {
		vpt_pt_vmxon(&m->pt, 0);
		vpt_pt_vmptrld(&m->pt, 0x5000);
		transit(m, 0, 0x400000);
	}
	wrmsr(m, VPT_MSR_CTL, control(way) | more);
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Time goes by, seldom much of it. */
static void pass(struct machine *m, uint32_t *seed)
{
	uint64_t clocks = next(seed) % 16;

	if (!(next(seed) % 32))
		clocks *= next(seed) % 4096;
	m->clock.cycles += clocks;
	m->clock.tsc += 2 * clocks;
	m->ctx.tsc = m->clock.tsc;
}

/* SMI or RSM, an ACM, and sleep. */
static void step_system(struct machine *m, unsigned int what, uint64_t ip)
{
	struct vpt_event event = {.kind = VPT_EV_SLEEP, .from = ip, .to = ip};

	if (what == 0 && vpt_pt_in_smm(&m->pt)) {
		ck_assert(vpt_pt_rsm(&m->pt, ip, false));
	} else if (what == 0) {
		vpt_pt_smi(&m->pt, ip);
	} else if (what == 1 && m->pt.acm_trace_en && !vpt_pt_in_smm(&m->pt)) {
		vpt_pt_acm_end(&m->pt, ip);
	} else if (what == 1 && !vpt_pt_in_smm(&m->pt)) {
		vpt_pt_acm_begin(&m->pt);
	} else {
		if (what == 2)
			event.kind = VPT_EV_WAKE;
		vpt_pt_event(&m->pt, &event);
	}
}

/* Something that a processor does. */
static void step(struct machine *m, uint32_t *seed)
{
	uint32_t what = next(seed) % 64;
	struct vpt_event event = {
		.from = 0x401000 + next(seed) % 4096,
		.to = 0x401000 + next(seed) % 65536,
		.next = 0x402000 + next(seed) % 8,
	};

	pass(m, seed);
	if (m->pt.vmx.on && !(next(seed) % 8)) {
		transit(m, next(seed) & VPT_VMX_CONCEAL, event.to);
		return;
	}
	if (m->smm && !(next(seed) % 32)) {
		step_system(m, next(seed) % 4, event.to);
		return;
	}
	if (what < 32) {
		vpt_pt_cond(&m->pt, event.from, event.to, what & 1);
		return;
	}
	event.kind = (uint8_t)(what < 60 ? VPT_EV_JMP + what % 4 : VPT_EV_RET + what % 5);
	if (what >= 40 && what < 52) {
		event.kind = what & 1 ? VPT_EV_CALL : VPT_EV_RET;
		event.to = what & 1 ? event.to : 0x402000 + next(seed) % 8;
	}
	if (event.kind == VPT_EV_CR3)
		m->ctx.cr3 = (next(seed) % 4) << 12;
	if (event.kind == VPT_EV_FAR)
		m->ctx.cpl = next(seed) % 2 * 3;
	vpt_pt_event(&m->pt, &event);
}

static void same(struct machine *a, struct machine *b)
{
	struct vpt_pt_state of_a, of_b;

	vpt_pt_save(&a->pt, &of_a);
	vpt_pt_save(&b->pt, &of_b);
	ck_assert_mem_eq(&of_a, &of_b, sizeof(of_a));
	ck_assert_mem_eq(a->ram, b->ram, RAM);
	ck_assert_uint_eq(a->streamed, b->streamed);
	ck_assert_mem_eq(a->stream, b->stream, a->streamed);
	ck_assert_uint_eq(a->pmis, b->pmis);
	ck_assert_uint_eq(a->triggers, b->triggers);
	ck_assert_uint_eq(a->committed, b->committed);
}

/*
 * Saved after each of many steps and loaded elsewhere; then both go on, to the end of
 * the trace.
 */
START_TEST(goes_on)
{
	const struct way *way = &ways[_i % (int)WAYS];
	uint64_t more = _i < (int)WAYS ? VPT_CTL_MASK(USER) : VPT_CTL_MASK(DIS_RETC);
	static struct machine a, b;
	uint32_t seed = 7 + (uint32_t)_i;
	unsigned int i, k;

	start(&a, way, more);
	for (i = 0; i < 400; i++) {
		struct vpt_pt_state state;
		uint32_t ahead = seed;

		init(&b, way->model);
		vpt_pt_save(&a.pt, &state);
		copy(&b, &a);
		ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_OK);
		same(&a, &b);
		for (k = 0; k < 9; k++)
			step(&b, &ahead);
		for (k = 0; k < 9; k++)
			step(&a, &seed);
		same(&a, &b);
		free(b.stream);
	}
	free(a.stream);
}
END_TEST

/* As many calls as the generator keeps: each of them is compressed after a load. */
START_TEST(keeps_all_calls)
{
	struct vpt_event event = {.kind = VPT_EV_CALL};
	static struct machine a, b;
	struct vpt_pt_state state;
	unsigned int i;

	start(&a, &ways[0], 0);
	for (i = 0; i < VPT_RETSTACK_SIZE; i++) {
		event.from = 0x1000 + 0x10 * i;
		event.next = event.from + 5;
		event.to = event.from + 0x10;
		vpt_pt_event(&a.pt, &event);
	}
	vpt_pt_save(&a.pt, &state);
	ck_assert_uint_eq(state.calls, 64);
	init(&b, ways[0].model);
	copy(&b, &a);
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_OK);
	same(&a, &b);
	event.kind = VPT_EV_RET;
	while (i--) {
		event.from = event.to;
		event.to = 0x1000 + 0x10 * i + 5;
		vpt_pt_event(&a.pt, &event);
		vpt_pt_event(&b.pt, &event);
		same(&a, &b);
	}
	free(a.stream);
	free(b.stream);
}
END_TEST

/* The trace ends: what is flushed then is the same. */
START_TEST(ends)
{
	const struct way *way = &ways[_i];
	static struct machine a, b;
	struct vpt_pt_state state;
	uint32_t seed = 3;
	unsigned int i;

	start(&a, way, 0);
	for (i = 0; i < 50; i++)
		step(&a, &seed);
	init(&b, way->model);
	vpt_pt_save(&a.pt, &state);
	copy(&b, &a);
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_OK);
	wrmsr(&a, VPT_MSR_CTL, control(way) & ~VPT_CTL_MASK(TRACE_EN));
	wrmsr(&b, VPT_MSR_CTL, control(way) & ~VPT_CTL_MASK(TRACE_EN));
	same(&a, &b);
	wrmsr(&a, VPT_MSR_STATUS, 0);
	vpt_pt_save(&a.pt, &state);
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_OK);
	free(a.stream);
	free(b.stream);
}
END_TEST

/* A ToPA entry is not read again: the table may have changed since [TOPA-FETCH]. */
START_TEST(keeps_its_entry)
{
	static struct machine a, b;
	struct vpt_pt_state state;
	uint32_t seed = 5, ahead;
	unsigned int i;

	start(&a, &ways[3], 0);
	for (i = 0; i < 20; i++)
		step(&a, &seed);
	poke64(&a, TABLE, 0xa000);
	init(&b, "skl");
	vpt_pt_save(&a.pt, &state);
	copy(&b, &a);
	ck_assert_uint_eq(state.topa_entry, REGION | INT);
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_OK);
	ahead = seed;
	for (i = 0; i < 50; i++)
		step(&b, &ahead);
	for (i = 0; i < 50; i++)
		step(&a, &seed);
	same(&a, &b);
	free(a.stream);
	free(b.stream);
	TEST_PROVES("TOPA-FETCH");
}
END_TEST

/* What every trace has set that nothing keeps out. */
#define TRACING                                                                                  \
	(VPT_STATE_TRIGGER_EN | VPT_STATE_CONTEXT_EN | VPT_STATE_FILTER_EN | VPT_STATE_LAST_IP | \
	 VPT_STATE_OUTPUT)

/* Single fields of a good state, and what loading says of them. */
#define AT(field) offsetof(struct vpt_pt_state, field), sizeof(((struct vpt_pt_state *)0)->field)

static const struct change {
	const char *what;
	unsigned int way;
	size_t offset, bytes;
	uint64_t value;
	enum vpt_status status;
} changes[] = {
	{"version 0", 0, AT(version), 0, VPT_E_INVAL},
	{"a later version", 0, AT(version), VPT_PT_STATE_VERSION + 1, VPT_E_INVAL},
	{"another size", 0, AT(bytes), 8, VPT_E_INVAL},
	{"the version before", 0, AT(version), VPT_PT_STATE_VERSION - 1, VPT_E_INVAL},
	{"an unknown flag", 0, AT(flags), VPT_STATE_FLAGS + 1, VPT_E_INVAL},
	{"a trace without output", 0, AT(flags), VPT_STATE_TRIGGER_EN, VPT_E_INVAL},
	{"a trace that is stopped", 3, AT(flags),
	 VPT_STATE_TRIGGER_EN | VPT_STATE_OUTPUT | VPT_STATE_STOPPED, VPT_E_INVAL},
	{"output without TraceEn", 0, AT(ctl), 0, VPT_E_INVAL},
	{"a CTL bit that there is not", 0, AT(ctl), 1ull << 63, VPT_E_CAPS},
	{"a STATUS bit that there is not", 0, AT(status), 1ull << 63, VPT_E_CAPS},
	{"a base that is too wide", 0, AT(output_base), 1ull << 52, VPT_E_CAPS},
	{"mask bits that read as one", 0, AT(output_mask_ptrs), 0, VPT_E_CAPS},
	{"reserved bits of CR3_MATCH", 0, AT(cr3_match), 1, VPT_E_CAPS},
	{"an address that is not canonical", 0, AT(addr[0]), 1ull << 60, VPT_E_CAPS},
	{"a range that there is not", 0, AT(addr[4]), 0x1000, VPT_E_CAPS},
	{"an error that there is not", 0, AT(error), VPT_OUT_ERR_COUNT, VPT_E_INVAL},
	{"an error without a stop", 1, AT(error), 1, VPT_E_INVAL},
	{"no outcomes, not even a mark", 0, AT(tnt), 0, VPT_E_INVAL},
	{"too many outcomes", 0, AT(tnt), 1ull << VPT_TNT_GATHER, VPT_E_INVAL},
	{"an IP mask of 16 bits", 0, AT(ip_mask), 0xffff, VPT_E_INVAL},
	{"a base where IPs are RIPs", 0, AT(ip_base), 0x1000, VPT_E_INVAL},
	{"a mode that there is not", 0, AT(mode_exec), 8, VPT_E_INVAL},
	{"too many calls", 0, AT(calls), VPT_RETSTACK_SIZE + 1, VPT_E_INVAL},
	{"a call that is not counted", 0, AT(call[VPT_RETSTACK_SIZE - 1]), 1, VPT_E_INVAL},
	{"more staged than there is room for", 0, AT(unreported), STAGE, VPT_E_NOSPC},
	{"far more staged", 0, AT(unreported), ~0ull, VPT_E_NOSPC},
	{"more unreported than was put", 1, AT(unreported), 0x500, VPT_E_INVAL},
	{"far more unreported", 1, AT(unreported), ~0ull, VPT_E_INVAL},
	{"unreported bytes without a mapping", 2, AT(unreported), 1, VPT_E_NOSPC},
	{"single range: a mask with a gap", 1, AT(output_mask_ptrs), 0x5ff, VPT_E_INVAL},
	{"single range: an offset past it", 1, AT(output_mask_ptrs), 0x400ull << 32 | 0x3ff,
	 VPT_E_INVAL},
	{"single range: an entry", 1, AT(topa_entry), REGION, VPT_E_INVAL},
	{"ToPA: no entry, but INT is owed", 3, AT(topa_entry), 0, VPT_E_INVAL},
	{"ToPA: INT, which is not owed", 3, AT(flags),
	 VPT_STATE_TRIGGER_EN | VPT_STATE_CONTEXT_EN | VPT_STATE_FILTER_EN | VPT_STATE_LAST_IP |
		 VPT_STATE_OUTPUT,
	 VPT_E_INVAL},
	{"ToPA: a reserved bit", 3, AT(topa_entry), REGION | 2, VPT_E_INVAL},
	{"ToPA: an END", 3, AT(topa_entry), TABLE | END, VPT_E_INVAL},
	{"ToPA: an entry that is too wide", 3, AT(topa_entry), 1ull << 51, VPT_E_INVAL},
	{"ToPA: an offset past the region", 3, AT(output_mask_ptrs), 0x1000ull << 32 | 0x7f,
	 VPT_E_INVAL},
	{"non-root operation, but no VMX", 9, AT(flags), TRACING | VPT_STATE_NON_ROOT, VPT_E_INVAL},
	{"a VMCS, but no VMX", 9, AT(flags), TRACING, VPT_E_INVAL},
	{"controls in root operation", 0, AT(vmx_controls), VPT_VMX_EXEC_CONCEAL, VPT_E_INVAL},
	{"a control that there is not", 9, AT(vmx_controls), VPT_VMX_CONTROLS + 1, VPT_E_INVAL},
	{"a VMCS that is not aligned", 9, AT(vmcs), 0x5001, VPT_E_INVAL},
	{"a VMCS that is too wide", 9, AT(vmcs), 1ull << 52, VPT_E_INVAL},
	{"a VMCS of all ones but one", 9, AT(vmcs), ~1ull, VPT_E_INVAL},
	{"clocks that nothing looks at", 0, AT(clock_cycles), 1, VPT_E_INVAL},
	{"a TSC that nothing looks at", 0, AT(clock_tsc), 1, VPT_E_INVAL},
	{"cycles without CYCEn", MTC_WAY, AT(cyc_count), 1, VPT_E_INVAL},
	{"lost MTCs without MTCEn", THRESHOLD_WAY, AT(mtc_missed), 1, VPT_E_INVAL},
	{"seven outcomes with CYCEn", CYC_WAY, AT(tnt), 1 << 7, VPT_E_INVAL},
	{"a cycle counter of 7 bits", 0, AT(cyc_bits), 7, VPT_E_INVAL},
	{"a cycle counter of 33 bits", 0, AT(cyc_bits), 33, VPT_E_INVAL},
	{"a cycle counter of 270 bits", 0, AT(cyc_bits), 270, VPT_E_INVAL},
	{"a buffer that is too small", BUFFER_WAY, AT(buffer_bytes), VPT_BUFFER_MIN - 1,
	 VPT_E_INVAL},
	{"a buffer that is too large", BUFFER_WAY, AT(buffer_bytes), VPT_BUFFER_MAX + 1,
	 VPT_E_INVAL},
	{"more in the buffer than it holds", BUFFER_WAY, AT(buffer_fill), VPT_BUFFER_MIN + 1,
	 VPT_E_INVAL},
	{"a byte that has left", BUFFER_WAY, AT(buffer_credit), 1024, VPT_E_INVAL},
	{"bytes in no buffer", CYC_WAY, AT(buffer_fill), 1, VPT_E_INVAL},
	{"parts of bytes in no buffer", CYC_WAY, AT(buffer_credit), 1, VPT_E_INVAL},
	{"no buffer that lags", CYC_WAY, AT(buffer_lag), 1, VPT_E_INVAL},
	{"no buffer that overflows", CYC_WAY, AT(flags), TRACING | VPT_STATE_OVERFLOW, VPT_E_INVAL},
	{"losses without an overflow", BUFFER_WAY, AT(flags), TRACING | VPT_STATE_STATE_LOST,
	 VPT_E_INVAL},
	{"asleep without a trace", 0, AT(flags), VPT_STATE_ASLEEP, VPT_E_INVAL},
	{"TraceEn to be given back, but no SMM", 0, AT(flags), TRACING | VPT_STATE_SMM_TRACE,
	 VPT_E_INVAL},
	{"TIPs that do not wait here", 0, AT(tips), 3, VPT_E_INVAL},
	{"too many TIPs", DEFER_WAY, AT(tips), VPT_DEFER_BYTES + 1, VPT_E_INVAL},
	{"far too many TIPs", DEFER_WAY, AT(tips), ~0u, VPT_E_INVAL},
	{"no TIP", DEFER_WAY, AT(tip[0]), 0x1d | 1 << 5, VPT_E_INVAL},
	{"a TIP without an IP", DEFER_WAY, AT(tip[0]), 0x0d, VPT_E_INVAL},
	{"a TIP that is cut off", DEFER_WAY, AT(tips), 2, VPT_E_INVAL},
	{"something after the TIPs", DEFER_WAY, AT(tip[VPT_DEFER_BYTES - 1]), 1, VPT_E_INVAL},
	{"TIPs that wait for nothing", DEFER_WAY, AT(tnt), 1, VPT_E_INVAL},
	{"ToPA: a table that is not aligned", 3, AT(output_base), TABLE + 0x80, VPT_E_INVAL},
};

START_TEST(refuses)
{
	const struct change *c = &changes[_i];
	static struct machine a, b;
	struct vpt_pt_state state, before, after;
	uint32_t seed = 11;
	unsigned int i;

	start(&a, &ways[c->way], 0);
	for (i = 0; i < 30; i++)
		step(&a, &seed);
	while (ways[c->way].options.defer_tips && a.pt.defer.len < 6)
		step(&a, &seed);
	if (ways[c->way].guest && !a.pt.vmx.non_root)
		transit(&a, 0, 0x400000);
	vpt_pt_save(&a.pt, &state);
	start(&b, &ways[c->way], 0);
	copy(&b, &a);
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_OK);
	vpt_pt_save(&b.pt, &before);
	memcpy((char *)&state + c->offset, &c->value, c->bytes);
	ck_assert_msg(vpt_pt_load(&b.pt, &state) == c->status, "%s", c->what);
	/* And nothing changed. */
	vpt_pt_save(&b.pt, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	same(&a, &b);
	free(a.stream);
	free(b.stream);
}
END_TEST

/* A trace without time keeps nothing of the clocks of the one before it. */
START_TEST(forgets_clocks)
{
	static struct machine a, b;
	struct vpt_pt_state state;
	uint32_t seed = 7;
	unsigned int i;

	start(&a, &ways[CYC_WAY], 0);
	for (i = 0; i < 40; i++)
		step(&a, &seed);
	ck_assert_uint_ne(a.clock.cycles, 0);
	wrmsr(&a, VPT_MSR_CTL, control(&ways[CYC_WAY]) & ~VPT_CTL_MASK(TRACE_EN));
	wrmsr(&a, VPT_MSR_CTL, control(&ways[0]));
	for (i = 0; i < 40; i++)
		step(&a, &seed);
	vpt_pt_save(&a.pt, &state);
	ck_assert_uint_eq(state.clock_cycles, 0);
	ck_assert_uint_eq(state.clock_tsc, 0);
	init(&b, ways[0].model);
	copy(&b, &a);
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_OK);
	same(&a, &b);
	free(a.stream);
	free(b.stream);
}
END_TEST

/* A caller that maps no memory cannot take bytes that were put and not reported. */
START_TEST(needs_a_mapping)
{
	struct vpt_pt_ops plain = ops;
	static struct machine a, b;
	struct vpt_pt_state state;

	plain.mem.map = NULL;
	start(&a, &ways[1], 0);
	vpt_pt_save(&a.pt, &state);
	ck_assert_uint_ne(state.unreported, 0);
	init(&b, ways[1].model);
	vpt_pt_init(&b.pt, &b.caps, &plain, &b);
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_E_NOSPC);
	free(a.stream);
	free(b.stream);
}
END_TEST

/* Without output nothing of output is set. */
static const struct change idle[] = {
	{"an entry", 0, AT(topa_entry), REGION, VPT_E_INVAL},
	{"bytes that were not reported", 0, AT(unreported), 1, VPT_E_INVAL},
	{"an error", 0, AT(error), 1, VPT_E_INVAL},
	{"that it stopped", 0, AT(flags), VPT_STATE_STOPPED, VPT_E_INVAL},
	{"an INT that is owed", 0, AT(flags), VPT_STATE_INT_OWED, VPT_E_INVAL},
	{"TriggerEn", 0, AT(flags), VPT_STATE_TRIGGER_EN, VPT_E_INVAL},
};

START_TEST(refuses_idle)
{
	static struct machine a;
	struct vpt_pt_state state;

	init(&a, "skl");
	vpt_pt_save(&a.pt, &state);
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_OK);
	memcpy((char *)&state + idle[_i].offset, &idle[_i].value, idle[_i].bytes);
	ck_assert_msg(vpt_pt_load(&a.pt, &state) == idle[_i].status, "%s", idle[_i].what);
	free(a.stream);
}
END_TEST

/* Output has met an error: a reason that there is not, and one without TraceEn. */
static const struct change failed[] = {
	{"an error that there is not", 7, AT(error), VPT_OUT_ERR_COUNT, VPT_E_INVAL},
	{"an error without TraceEn", 7, AT(ctl), VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN),
	 VPT_E_INVAL},
};

START_TEST(refuses_failed)
{
	const struct change *c = &failed[_i];
	static struct machine a;
	struct vpt_pt_state state;
	uint32_t seed = 13;

	start(&a, &ways[c->way], 0);
	while (a.pt.trigger_en)
		step(&a, &seed);
	vpt_pt_save(&a.pt, &state);
	ck_assert_uint_ne(state.error, 0);
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_OK);
	memcpy((char *)&state + c->offset, &c->value, c->bytes);
	ck_assert_msg(vpt_pt_load(&a.pt, &state) == c->status, "%s", c->what);
	free(a.stream);
}
END_TEST

/* MODE.Exec has three bits: a state with any of their values is taken, and gives it back. */
START_TEST(takes_each_mode)
{
	static struct machine a, b;
	struct vpt_pt_state state;

	start(&a, &ways[0], 0);
	vpt_pt_save(&a.pt, &state);
	init(&b, ways[0].model);
	copy(&b, &a);
	state.mode_exec = (uint32_t)_i;
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), _i < 8 ? VPT_OK : VPT_E_INVAL);
	if (_i < 8) {
		vpt_pt_save(&b.pt, &state);
		ck_assert_uint_eq(state.mode_exec, (uint32_t)_i);
	}
	free(a.stream);
	free(b.stream);
}
END_TEST

/* Nothing of memory is in it that is not state. */
START_TEST(has_no_leftovers)
{
	static struct machine a, b;
	struct vpt_pt_state of_a, of_b;

	memset(&a, 0xaa, sizeof(a));
	memset(&b, 0x55, sizeof(b));
	memset(&of_a, 0xaa, sizeof(of_a));
	memset(&of_b, 0x55, sizeof(of_b));
	start(&a, &ways[_i], 0);
	start(&b, &ways[_i], 0);
	vpt_pt_save(&a.pt, &of_a);
	vpt_pt_save(&b.pt, &of_b);
	ck_assert_mem_eq(&of_a, &of_b, sizeof(of_a));
	free(a.stream);
	free(b.stream);
}
END_TEST

/* A model without a capability does not take a state that uses it. */
START_TEST(other_model)
{
	static struct machine a, b;
	struct vpt_pt_state state;

	start(&a, &ways[0], VPT_CTL_MASK(ADDR0_CFG) & (1ull << VPT_CTL_ADDR0_CFG_SHIFT));
	vpt_pt_save(&a.pt, &state);
	init(&b, "bdw");
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_E_CAPS);
	free(a.stream);
	free(b.stream);
}
END_TEST

/* Each thing of time and of the buffer comes back, also what is seldom another than 0. */
START_TEST(keeps_times)
{
	static struct machine a, b;
	struct vpt_pt_state state;
	uint32_t seed = 5;

	start(&a, &ways[BUFFER_WAY], 0);
	while (!a.pt.buffer.overflow || a.pt.buffer.fill < 9)
		step(&a, &seed);
	a.pt.buffer.drained -= 5;
	a.pt.buffer.timing_lost = true;
	a.pt.buffer.state_lost = false;
	a.pt.time.mtc_told -= 7;
	a.pt.time.cyc_last -= 3;
	init(&b, ways[BUFFER_WAY].model);
	vpt_pt_save(&a.pt, &state);
	ck_assert_int_eq(vpt_pt_load(&b.pt, &state), VPT_OK);
	ck_assert_mem_eq(&a.pt.time.now, &b.pt.time.now, sizeof(a.pt.time.now));
	ck_assert_uint_eq(a.pt.time.cyc_last, b.pt.time.cyc_last);
	ck_assert_uint_eq(a.pt.time.mtc_last, b.pt.time.mtc_last);
	ck_assert_uint_eq(a.pt.time.mtc_told, b.pt.time.mtc_told);
	ck_assert_uint_eq(a.pt.buffer.drained, b.pt.buffer.drained);
	ck_assert_uint_eq(a.pt.buffer.fill, b.pt.buffer.fill);
	ck_assert_uint_eq(a.pt.buffer.credit, b.pt.buffer.credit);
	ck_assert(b.pt.buffer.overflow && b.pt.buffer.timing_lost && !b.pt.buffer.state_lost);
	ck_assert_mem_eq(&a.pt.options, &b.pt.options, sizeof(a.pt.options));
	free(a.stream);
	free(b.stream);
}
END_TEST

/* What the end of an ACM gives back was a trace once. */
START_TEST(acm)
{
	static struct machine a;
	struct vpt_pt_state state;

	start(&a, &ways[1], 0);
	vpt_pt_acm_begin(&a.pt);
	vpt_pt_save(&a.pt, &state);
	ck_assert_uint_eq(state.flags & VPT_STATE_ACM_TRACE, VPT_STATE_ACM_TRACE);
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_OK);
	ck_assert(a.pt.acm_trace_en);
	state.ip_mask = 0;
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_E_INVAL);
	free(a.stream);
}
END_TEST

/* A VM entry that returns from SMM to root operation leaves no controls behind. */
START_TEST(back_to_root)
{
	struct vpt_vmx_transition t = {
		.flags = VPT_VMXF_SMM | VPT_VMXF_TO_ROOT,
		.controls = VPT_VMX_CONCEAL,
		.vmcs = VPT_NO_VMCS,
	};
	static struct machine a;
	struct vpt_pt_state state;

	start(&a, &ways[0], 0);
	vpt_pt_vmxon(&a.pt, 0x400000);
	vpt_pt_vm_entry(&a.pt, &t);
	vpt_pt_vm_entered(&a.pt, 0x401000);
	vpt_pt_save(&a.pt, &state);
	ck_assert_uint_eq(state.flags & (VPT_STATE_VMX | VPT_STATE_NON_ROOT), VPT_STATE_VMX);
	ck_assert_uint_eq(state.vmx_controls, 0);
	ck_assert_uint_eq(state.vmcs, VPT_NO_VMCS);
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_OK);
	free(a.stream);
	TEST_PROVES("VMX-SMM-ROOT");
}
END_TEST

/* Where VMX operation does not allow TraceEn there is no state that has both. */
START_TEST(no_pt_in_vmx)
{
	static struct machine a;
	struct vpt_pt_state state;

	start(&a, &ways[6], 0);
	vpt_pt_save(&a.pt, &state);
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_OK);
	state.flags |= VPT_STATE_VMX;
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_E_INVAL);
	vpt_pt_vmxon(&a.pt, 0x400000);
	vpt_pt_save(&a.pt, &state);
	ck_assert_uint_eq(state.ctl & 1, 0);
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_OK);
	/* An entry has no control of it either. */
	transit(&a, VPT_VMX_CONTROLS, 0x402000);
	vpt_pt_save(&a.pt, &state);
	ck_assert_uint_eq(state.vmx_controls, 0);
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_OK);
	state.flags |= VPT_STATE_NON_ROOT;
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_OK);
	state.vmx_controls = VPT_VMX_EXEC_CONCEAL;
	ck_assert_int_eq(vpt_pt_load(&a.pt, &state), VPT_E_INVAL);
	free(a.stream);
	TEST_PROVES("VMX-NO-PT");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("state");
	TCase *tcase = tcase_create("state");

	tcase_add_loop_test(tcase, goes_on, 0, 2 * WAYS);
	tcase_add_test(tcase, keeps_all_calls);
	tcase_add_loop_test(tcase, ends, 0, WAYS);
	tcase_add_test(tcase, keeps_its_entry);
	tcase_add_loop_test(tcase, refuses, 0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_loop_test(tcase, takes_each_mode, 0, 10);
	tcase_add_loop_test(tcase, refuses_idle, 0, sizeof(idle) / sizeof(idle[0]));
	tcase_add_loop_test(tcase, refuses_failed, 0, sizeof(failed) / sizeof(failed[0]));
	tcase_add_test(tcase, forgets_clocks);
	tcase_add_test(tcase, needs_a_mapping);
	tcase_add_loop_test(tcase, has_no_leftovers, 0, WAYS);
	tcase_add_test(tcase, other_model);
	tcase_add_test(tcase, keeps_times);
	tcase_add_test(tcase, acm);
	tcase_add_test(tcase, back_to_root);
	tcase_add_test(tcase, no_pt_in_vmx);
	suite_add_tcase(suite, tcase);
	return suite;
}
