// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks that Atom's RTIT traces. They are recorded with an oracle as the VMM does it, so vmm/oracle
 * decides what must be in the trace.
 */
#include "lib/walk_inside.h"

#include <string.h>

#include "pt/tracer.h"

enum {
	CODE_GPA = 0x80000, /* in the walker's RAM; the trace goes to WALK_REGION_0 */
	TRACE_MASK = 0xffff,
};

struct walk_recorder {
	struct tracer tracer;
	struct x86_mem mem;
	struct trace_writer *writer;
	uint64_t from; /* the instruction that runs, */
	uint8_t cpl;   /* and how */
	bool due;      /* it retired, and nothing was reported of it */
};

static struct tracer *tracer_of(struct walker *w)
{
	return &w->recorder->tracer;
}

static struct vpt_atom *atom_of(struct walker *w)
{
	return &w->recorder->tracer.atom;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((const struct walker *)opaque)->ctx;
}

static void report_time(void *opaque, struct vpt_clock *now)
{
	*now = ((const struct walker *)opaque)->clock;
}

static struct engine_report retired(const struct walker *w, unsigned int flags)
{
	const struct insn *insn = &w->insns[w->ip];
	uint64_t ip = WALK_CODE_BASE + w->ip;

	if (w->arrived)
		flags |= TRACE_ORACLE_ARRIVED;
	if (insn->kind == I_JCC)
		flags |= TRACE_ORACLE_COND;
	if (insn->kind == I_MOV_CR3)
		flags |= TRACE_ORACLE_CR3_WRITE;
	return (struct engine_report){
		.event = {.kind = VPT_EV_COUNT, .from = ip, .to = ip + insn->size},
		.next = ip + insn->size,
		.insns = 1,
		.about = (uint16_t)flags,
		.cpl = w->ctx.cpl,
		.flags = ENGINE_REPORT_INSN,
	};
}

/* Begin the instruction at w->ip. */
static void fetch(struct walker *w)
{
	struct walk_recorder *r = w->recorder;
	unsigned int size = w->insns[w->ip].size;
	uint64_t gpa = CODE_GPA + w->ip;

	r->from = WALK_CODE_BASE + w->ip;
	r->cpl = w->ctx.cpl;
	r->due = false;
	if (tracer_on(&r->tracer))
		tracer_code(&r->tracer, w->ctx.cr3, r->from, size, gpa,
			    (gpa + size - 1) & ~(X86_PAGE_SIZE - 1));
}

static void retire(struct walker *w, unsigned int flags)
{
	const struct engine_report r = retired(w, flags);

	fetch(w);
	tracer_report(tracer_of(w), &r);
	w->recorder->due = true;
}

static void account(struct walker *w, enum walk_kind kind)
{
	if (kind == WALK_INSN)
		retire(w, 0);
	else
		fetch(w);
}

static void event(struct walker *w, const struct vpt_event *event)
{
	const struct engine_report flow = {.event = *event, .next = event->next};
	struct walk_recorder *r = w->recorder;

	if (event->kind == VPT_EV_SOFT_INT) {
		struct engine_report insn = retired(w, TRACE_ORACLE_SOFT_INT);

		insn.cpl = r->cpl;
		tracer_report(&r->tracer, &insn);
	}
	r->due = false;
	if (event->kind == VPT_EV_COND)
		tracer_report(&r->tracer, &flow);
	else
		tracer_event_at(&r->tracer, event, r->cpl, w->arrived);
}

static void inspect(struct walker *w, bool cr3_written)
{
	struct walk_recorder *r = w->recorder;
	const uint64_t to = WALK_CODE_BASE + w->ip;
	const struct vpt_event plain = {.kind = VPT_EV_INSN, .from = r->from, .to = to, .next = to};

	(void)cr3_written;
	if (r->due && r->tracer.unit.acts->state & VPT_GATE_EACH_INSN)
		tracer_event_at(&r->tracer, &plain, r->cpl, false);
	r->due = false;
}

/* Return a random LIP in the code. */
static uint64_t some_lip(struct walker *w)
{
	return WALK_CODE_BASE + walk_start(w);
}

/*
 * Return the next value of RTIT_CTL. If tracing is off, set Trace_En or TraceActive; otherwise flip
 * a random bit.
 */
static uint64_t some_ctl(struct walker *w)
{
	static const uint64_t bits[] = {
		VPT_ATOM_MASK(CTL, CYCLE_ACC),	  VPT_ATOM_MASK(CTL, OS),
		VPT_ATOM_MASK(CTL, USER),	  VPT_ATOM_MASK(CTL, STS_ON_CR3),
		VPT_ATOM_MASK(CTL, CR3_EN),	  VPT_ATOM_MASK(CTL, MTC_EN),
		VPT_ATOM_MASK(CTL, STS_EN),	  VPT_ATOM_MASK(CTL, CMPRS_RET),
		VPT_ATOM_MASK(CTL, LESS_PKTS),	  VPT_ATOM_MASK(CTL, MTC_RANGE),
		VPT_ATOM_MASK(CTL, TRACE_EN),	  VPT_ATOM_MASK(CTL, TRACE_ACTIVE),
		VPT_ATOM_MASK(CTL, TRACE_ACTIVE),
	};
	uint64_t ctl = atom_of(w)->regs.ctl;

	if (!VPT_ATOM_GET(CTL, TRACE_EN, ctl))
		return ctl | VPT_ATOM_MASK(CTL, TRACE_EN);
	if (!VPT_ATOM_GET(CTL, TRACE_ACTIVE, ctl))
		return ctl | VPT_ATOM_MASK(CTL, TRACE_ACTIVE) | VPT_ATOM_MASK(CTL, OS) |
		       VPT_ATOM_MASK(CTL, USER);
	return ctl ^ bits[walk_rnd(w, sizeof(bits) / sizeof(bits[0]))];
}

static uint64_t some_events(struct walker *w)
{
	static const uint8_t filters[] = {7, 7, 7, 0, 1, 2, 3, 6};
	static const uint8_t stops[] = {6, 6, 6, 6, 6, 0, 1, 4};

	return filters[walk_rnd(w, 8)] | (uint64_t)stops[walk_rnd(w, 8)] << 3;
}

static uint64_t some_value(struct walker *w, uint32_t msr)
{
	switch (msr) {
	case VPT_ATOM_MSR_CTL:
		return some_ctl(w);
	case VPT_ATOM_MSR_EVENTS:
		return some_events(w);
	case VPT_ATOM_MSR_STATUS:
		return walk_rnd(w, 4) ? 1 : walk_rnd(w, 2) ? 0 : 8;
	case VPT_ATOM_MSR_CR3_MATCH:
		return walk_rnd(w, 2) ? CR3_A : CR3_B;
	case VPT_ATOM_MSR_TNT_BUFF:
		return 1 + walk_rnd(w, 63);
	case VPT_ATOM_MSR_LAST_LIP:
		return walk_rnd(w, 2) ? 0 : 1ull << 32 | walk_rnd(w, 0x80);
	case VPT_ATOM_MSR_LAST_CALL_NLIP:
		return walk_rnd(w, 2) ? 0 : 1ull << 48 | some_lip(w);
	case VPT_ATOM_MSR_CNTP:
		return walk_rnd(w, 1u << 22);
	case VPT_ATOM_MSR_PKT_CNT:
		return walk_rnd(w, 0x800) | (uint64_t)walk_rnd(w, 4) << 16;
	default:
		return some_lip(w);
	}
}

static void wrmsr(struct walker *w)
{
	static const uint16_t msrs[] = {
		VPT_ATOM_MSR_CTL,	VPT_ATOM_MSR_CTL,
		VPT_ATOM_MSR_CTL,	VPT_ATOM_MSR_CTL,
		VPT_ATOM_MSR_EVENTS,	VPT_ATOM_MSR_STATUS,
		VPT_ATOM_MSR_CR3_MATCH, VPT_ATOM_MSR_TNT_BUFF,
		VPT_ATOM_MSR_LAST_LIP,	VPT_ATOM_MSR_LAST_CALL_NLIP,
		VPT_ATOM_MSR_CNTP,	VPT_ATOM_MSR_PKT_CNT,
		VPT_ATOM_MSR_LIP0,	VPT_ATOM_MSR_LIP1,
		VPT_ATOM_MSR_LIP2,	VPT_ATOM_MSR_LIP3,
	};
	struct engine_report insn;
	uint32_t msr;

	if (!w->config->rtit.live || w->recorder->tracer.atom.in_root || walk_rnd(w, 3)) {
		walk_account(w, WALK_INSN);
		walk_fall_through(w);
		return;
	}
	fetch(w);
	insn = retired(w, 0);
	msr = msrs[walk_rnd(w, sizeof(msrs) / sizeof(msrs[0]))];
	/* While triggering is disabled nothing is traced, so often write RTIT_CTL. */
	if (!atom_of(w)->trigger_en && walk_rnd(w, 2))
		msr = VPT_ATOM_MSR_CTL;
	MUST(tracer_wrmsr(tracer_of(w), msr, some_value(w, msr), &insn) == VPT_FAULT_NONE);
	tracer_report(tracer_of(w), &insn);
	walk_fall_through(w);
}

/* Enter VMX root operation or SMM, neither of which is traced. */
static void leave(struct walker *w)
{
	tracer_vm_exit(tracer_of(w), WALK_CODE_BASE + w->ip, w->ctx.cpl,
		       w->arrived ? TRACE_ORACLE_ARRIVED : 0);
}

static void vm_exit(struct walker *w)
{
	uint32_t to = walk_start(w);

	fetch(w);
	leave(w);
	w->guest = false;
	w->other = w->ctx;
	w->ctx.cpl = 0;
	vpt_atom_vm_exit(atom_of(w), WALK_CODE_BASE + w->ip);
	tracer_complete(tracer_of(w), WALK_CODE_BASE + to);
	walk_go(w, to, true);
}

static void vm_enter(struct walker *w)
{
	uint32_t to = walk_start(w);

	retire(w, TRACE_ORACLE_VM_ENTRY);
	w->recorder->due = false;
	w->guest = true;
	w->ctx.cr3 = w->other.cr3;
	w->ctx.cpl = w->other.cpl;
	tracer_space(tracer_of(w));
	vpt_atom_vm_entry(atom_of(w), WALK_CODE_BASE + to);
	tracer_complete(tracer_of(w), WALK_CODE_BASE + to);
	walk_go(w, to, true);
}

static void vmx_insn(struct walker *w, enum insn_kind kind)
{
	if (w->guest) {
		vm_exit(w);
	} else if (kind == I_VMENTER) {
		vm_enter(w);
	} else {
		walk_account(w, WALK_INSN);
		walk_fall_through(w);
	}
}

/* Records represent SMM like other untraced code, and RSM like a VM entry. */
static void smi(struct walker *w)
{
	const uint64_t ip = WALK_CODE_BASE + w->ip;
	const struct engine_report rsm = {
		.event = {.kind = VPT_EV_COUNT, .from = ip},
		.insns = 1,
		.about = TRACE_ORACLE_VM_ENTRY,
		.flags = ENGINE_REPORT_INSN,
	};

	fetch(w);
	leave(w);
	vpt_atom_smi(atom_of(w), ip);
	tracer_complete(tracer_of(w), ip);
	walk_pass(w, walk_noise(w, 5000));
	tracer_report(tracer_of(w), &rsm);
	vpt_atom_rsm(atom_of(w), ip);
	tracer_complete(tracer_of(w), ip);
	walk_go(w, w->ip, true);
}

/* Save the unit's state as plain data, and continue with a new unit that loads the state. */
static void save_load(struct walker *w)
{
	struct tracer *t = tracer_of(w);
	struct vpt_atom_state state;

	vpt_atom_flush(&t->atom);
	vpt_atom_save(&t->atom, &state);
	memset(&t->atom, 0xa5, sizeof(t->atom));
	t->unit.ops->init(t, tracer_ops(), NULL);
	MUST(vpt_atom_load(&t->atom, &state) == VPT_OK);
}

static bool goes_on(const struct walker *w)
{
	return w->config->rtit.live || w->recorder->tracer.atom.trigger_en;
}

static bool instead(struct walker *w)
{
	if (!(w->config->extras & WALK_SMI) || walk_rnd(w, 700) || atom_of(w)->in_root)
		return false;
	smi(w);
	return true;
}

static void between(struct walker *w)
{
	if ((w->config->extras & WALK_SAVES) && !walk_noise(w, 50))
		save_load(w);
	if (!walk_noise(w, 100))
		tracer_tick(tracer_of(w), WALK_CODE_BASE + w->ip);
}

static const struct walk_unit unit = {
	.account = account,
	.event = event,
	.look = inspect,
	.wrmsr = wrmsr,
	.vm_exit = vm_exit,
	.vmx_insn = vmx_insn,
	.goes_on = goes_on,
	.instead = instead,
	.between = between,
};

static void write_register(struct walker *w, uint32_t msr, uint64_t value)
{
	const uint64_t next = WALK_CODE_BASE + w->ip;
	struct engine_report insn = {.event = {.from = next - 2, .to = next}, .next = next};

	MUST(tracer_wrmsr(tracer_of(w), msr, value, &insn) == VPT_FAULT_NONE);
	tracer_report(tracer_of(w), &insn);
}

/* Start the trace like a driver: set Trace_En before TraceActive. */
static void start_trace(struct walker *w)
{
	const struct vpt_atom_regs *regs = &w->config->rtit.regs;
	uint64_t unused;
	unsigned int i;

	MUST(tracer_rdmsr(tracer_of(w), VPT_ATOM_MSR_CTL, &unused) == VPT_FAULT_NONE);
	for (i = 0; i < 4; i++)
		write_register(w, VPT_ATOM_MSR_LIP0 + i, regs->lip[i]);
	write_register(w, VPT_ATOM_MSR_EVENTS, regs->events);
	write_register(w, VPT_ATOM_MSR_CR3_MATCH, regs->cr3_match);
	write_register(w, VPT_ATOM_MSR_PKT_CNT, regs->pkt_cnt);
	write_register(w, VPT_ATOM_MSR_BASE_ADDR, WALK_REGION_0);
	write_register(w, VPT_ATOM_MSR_LIMIT_MASK, TRACE_MASK);
	write_register(w, VPT_ATOM_MSR_CTL, regs->ctl | VPT_ATOM_MASK(CTL, TRACE_EN));
	write_register(w, VPT_ATOM_MSR_CTL,
		       regs->ctl | VPT_ATOM_MASK(CTL, TRACE_EN) | VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
}

static void open_recorder(struct walker *w, const char *path)
{
	struct walk_recorder *r = w->recorder;
	struct trace_file_info info = {
		.caps = w->caps,
		.model = "silvermont",
		.engine = "walk",
		.owner = TRACE_OWNER_GUEST,
		.vcpus = 1,
		.oracle = 1,
		.flags = TRACE_INFO_ATOM | TRACE_INFO_SET_ERRATA(w->config->rtit.options.errata),
	};
	struct tracer_config config = {
		.system = TRACER_SYSTEM_ATOM,
		.caps = &w->caps,
		.owner = TRACE_OWNER_GUEST,
		.mem = &r->mem,
		.flags = TRACER_CONFIG_ORACLE,
		.context = context,
		.clock = report_time,
		.opaque = w,
	};

	r->mem = (struct x86_mem){.host = w->ram, .bytes = WALK_RAM_SIZE};
	memcpy(w->ram + CODE_GPA, w->out->code, WALK_CODE_SIZE);
	MUST(!trace_writer_open(path, &info, &r->writer));
	config.writer = r->writer;
	MUST(!tracer_init(&r->tracer, &config));
	MUST(vpt_atom_set_options(atom_of(w), &w->config->rtit.options) == VPT_OK);
}

static void close_recorder(struct walker *w, struct walk_seen *seen)
{
	struct walk_recorder *r = w->recorder;

	seen->stopped = !r->tracer.atom.trigger_en;
	tracer_close(&r->tracer, WALK_CODE_BASE + w->ip);
	tracer_sync(&r->tracer);
	MUST(!r->tracer.recorder.error);
	seen->bytes = r->tracer.recorder.bytes;
	MUST(!trace_writer_close(r->writer, 0));
	tracer_free(&r->tracer);
}

void walk_atom_record(const struct walk_config *config, const char *path, struct walk_seen *seen)
{
	struct walker *w = calloc(1, sizeof(*w));
	struct walk_recorder *r = calloc(1, sizeof(*r));
	struct walk_result *out = calloc(1, sizeof(*out));

	MUST(w && r && out);
	w->caps = (struct vpt_caps){.max_phy_addr = 36, .lin_addr = 48, .max_nonturbo = 20};
	w->recorder = r;
	w->out = out;
	w->unit = &unit;
	w->guest = config->rtit.vmx;
	walk_begin(w, config);
	open_recorder(w, path);
	start_trace(w);
	walk_execute(w);
	close_recorder(w, seen);
	free(out);
	free(r);
	free(w);
}
