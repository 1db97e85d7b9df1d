// SPDX-License-Identifier: LGPL-2.1-or-later
/* The trace unit in the CPU: its context, branches and events, MSRs, CPUID, PMI, SMM. */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "cpu/cpuid.h"
#include "cpu/apic.h"
#include "pc_system.h"
#include "bed.hh"
#include "oracle.hh"

#include "shared/include/vpt/vmx_list.h"

#define LOG_THIS cpu->

/* What the processor is if VPT_PT_MODEL does not say; it suits the models that boot. */
#define DEFAULT_MODEL "skl"

#define MSR_GLOBAL_STATUS      0x38eu
#define MSR_GLOBAL_OVF_CTRL    0x390u
#define GLOBAL_STATUS_TOPA_PMI VPT_BIT64(55)

/*
 * A tick is a core clock and a tick of the TSC. The core crystal clock, and with it MTC packets, do
 * not follow IA32_TSC_ADJUST and the TSC offset of a guest.
 */
static void read_clock(void *opaque, struct vpt_clock *now)
{
	(void)opaque;
	now->cycles = now->tsc = bx_pc_system.time_ticks();
}

const struct vpt_pt_ops bx_vpt_c::ops = {
	{bx_vpt_c::op_read, bx_vpt_c::op_write, bx_vpt_c::op_map, bx_vpt_c::op_committed},
	bx_vpt_c::op_context,
	bx_vpt_c::op_pmi,
	bx_vpt_c::op_trigger,
	read_clock,
};

static const struct vpt_caps *model_caps()
{
	const char *name = getenv("VPT_PT_MODEL");
	const struct vpt_caps *caps = vpt_caps_model(name && *name ? name : DEFAULT_MODEL);

	if (!caps) {
		fprintf(stderr, "vpt: VPT_PT_MODEL: there is no model \"%s\"\n", name);
		exit(2);
	}
	return caps;
}

/* VPT_VMX_ALLOWED: a number, bits as enum vpt_vmx_control, that takes controls away. */
static uint32_t allowed_controls(const struct vpt_caps *caps)
{
	const char *mask = getenv("VPT_VMX_ALLOWED");
	char *end;
	unsigned long value;

	if (!mask || !*mask)
		return vpt_vmx_allowed(caps, VPT_VMX_CONTROLS);
	value = strtoul(mask, &end, 0);
	if (*end || value & ~(unsigned long)VPT_VMX_CONTROLS) {
		fprintf(stderr, "vpt: VPT_VMX_ALLOWED: \"%s\" is no set of controls\n", mask);
		exit(2);
	}
	return vpt_vmx_allowed(caps, (uint32_t)value);
}

bx_vpt_c::bx_vpt_c()
    : stepping(false), attention(false), cpu(NULL), oracle(NULL), counters(),
      vmx_allowed(allowed_controls(model_caps())), global_status(0), event_from(0),
      cr3_loaded(false), in_list(false), fell(false), ept_async(false), stretch_gpa(false),
      entering(false), loading(false), leaving(false), entry_ip(0), entry_next(0), tsc_offset(0),
      exit_reason(0), exit_qualification(0), page_count(0), page_next(0)
{
	vpt_pt_init(&pt, model_caps(), &ops, this);
}

/*
 * The end of a reset. The first one is power-on. INIT leaves the MSRs alone and is an
 * event of the trace (table 33-56, table 33-55 row 22).
 */
void bx_vpt_c::reset(unsigned cpu_id, unsigned source)
{
	if (!cpu) {
		cpu = BX_CPU(cpu_id);
		oracle = new bx_oracle_c(cpu, &pt);
		bx_vpt_bed_attach(this);
	} else if (source == BX_RESET_HARDWARE) {
		vpt_pt_vmxoff(&pt);
		vpt_pt_warm_reset(&pt);
		global_status = 0;
		settle();
	} else {
		vpt_pt_vmxoff(&pt);
		oracle->event(VPT_LOG_INIT, 0, event_from);
		event(VPT_EV_ASYNC, event_from, cpu->get_rip(), 0, VPT_EVF_CR3);
	}
}

bool bx_vpt_c::start_stepping(const char *path)
{
	if (stepping)
		return true;
	/* What the trace has so far is not the log's. */
	vpt_output_flush(&pt.out);
	stepping = oracle->start(path);
	/* The trace under way is left after this instruction. */
	cpu->async_event |= BX_ASYNC_EVENT_STOP_TRACE;
	return stepping;
}

void bx_vpt_c::stop_stepping()
{
	vpt_output_flush(&pt.out);
	oracle->stop();
	stepping = false;
}

void bx_vpt_c::step_begins(const bxInstruction_c *i)
{
	oracle->step_begins(i);
	cpu->async_event |= BX_ASYNC_EVENT_STOP_TRACE;
}

void bx_vpt_c::step_ends()
{
	oracle->step_ends();
}

void bx_vpt_c::op_context(void *opaque, struct vpt_context *ctx)
{
	BX_CPU_C *cpu = ((bx_vpt_c *)opaque)->cpu;
	const bx_segment_reg_t *cs = &cpu->sregs[BX_SEG_REG_CS];

	memset(ctx, 0, sizeof(*ctx));
	ctx->cr3 = cpu->cr3;
	ctx->tsc = cpu->get_Virtual_TSC();
	ctx->cs_base = cpu->long64_mode() ? 0 : cs->cache.u.segment.base;
	ctx->cpl = cs->selector.rpl;
	ctx->cbr = ((bx_vpt_c *)opaque)->pt.caps->max_nonturbo;
	ctx->cs_l = cs->cache.u.segment.l;
	ctx->cs_d = cs->cache.u.segment.d_b;
	ctx->lma = cpu->long_mode();
	ctx->pae = cpu->cr0.get_PG() && cpu->cr4.get_PAE() && !cpu->long_mode();
	ctx->intr_flag = cpu->get_IF();
}

/* A performance-counter interrupt; its LVT entry masks itself. */
void bx_vpt_c::op_pmi(void *opaque)
{
	bx_vpt_c *vpt = (bx_vpt_c *)opaque;
	bx_local_apic_c *apic = vpt->cpu->lapic;
	uint32_t lvt = apic->read_aligned(BX_LAPIC_LVT_PERFMON);

	vpt->global_status |= GLOBAL_STATUS_TOPA_PMI;
	vpt->counters.pmis++;
	if (lvt & 0x10000)
		return;
	apic->set_lvt_entry(BX_LAPIC_LVT_PERFMON, lvt | 0x10000);
	apic->deliver(lvt & 0xff, lvt >> 8 & 7, APIC_EDGE_TRIGGERED);
}

/* A fall is told by settle(), when the registers are what they will be. */
void bx_vpt_c::op_trigger(void *opaque, bool trigger_en)
{
	bx_vpt_c *vpt = (bx_vpt_c *)opaque;

	if (trigger_en) {
		vpt->settle();
		vpt->oracle->trigger(true);
	} else {
		vpt->fell = true;
	}
}

/* After each call into the library. */
void bx_vpt_c::settle()
{
	if (fell) {
		fell = false;
		oracle->trigger(false);
	}
	if (guest_physical() && pt.trigger_en && (size_t)(pt.out.end - pt.out.cur) < BX_VPT_AHEAD) {
		attention = true;
		cpu->async_event = 1;
	}
}

void bx_vpt_c::event(unsigned kind, uint64_t from, uint64_t to, uint64_t next, unsigned flags,
		     uint8_t vector)
{
	struct vpt_event event;

	memset(&event, 0, sizeof(event));
	event.kind = (uint8_t)kind;
	event.flags = (uint8_t)flags;
	event.vector = vector;
	event.from = from;
	event.to = to;
	event.next = next;
	vpt_pt_event(&pt, &event);
	settle();
}

void bx_vpt_c::near_traced(unsigned what, uint64_t from, uint64_t to, unsigned length)
{
	uint64_t next = from + length;

	if (!cpu->long64_mode())
		next = (uint32_t)next;
	switch (what) {
	case BX_INSTR_IS_JMP:
		if (!vpt_pt_quick_jmp(&pt))
			event(VPT_EV_JMP, from, to, next, 0);
		break;
	case BX_INSTR_IS_JMP_INDIRECT:
		event(VPT_EV_JMP_INDIRECT, from, to, next, 0);
		break;
	case BX_INSTR_IS_CALL:
		if (to == next || !vpt_pt_quick_call(&pt, next))
			event(VPT_EV_CALL, from, to, next, 0);
		break;
	case BX_INSTR_IS_CALL_INDIRECT:
		event(VPT_EV_CALL_INDIRECT, from, to, next, 0);
		break;
	case BX_INSTR_IS_RET:
		if (!vpt_pt_quick_ret(&pt, to))
			event(VPT_EV_RET, from, to, next, 0);
		break;
	}
}

/* INT n comes by event_delivered(). */
void bx_vpt_c::far_branch(unsigned what, uint64_t from, uint64_t to)
{
	unsigned flags = cr3_loaded ? VPT_EVF_CR3 : 0;

	if (what == BX_INSTR_IS_INT)
		return;
	cr3_loaded = false;
	if (pt.trigger_en)
		event(VPT_EV_FAR, from, to, 0, flags);
}

void bx_vpt_c::cr3_changed(unsigned what)
{
	if (what == BX_INSTR_TASK_SWITCH)
		cr3_loaded = true;
	else if (what == BX_INSTR_MOV_CR3 && pt.trigger_en)
		event(VPT_EV_CR3, cpu->prev_rip, cpu->get_rip(), 0, 0);
}

static bool is_software(unsigned type)
{
	return type == BX_SOFTWARE_INTERRUPT || type == BX_SOFTWARE_EXCEPTION ||
	       type == BX_PRIVILEGED_SOFTWARE_INTERRUPT;
}

/* The IP of table 33-23: RIP was taken back for a fault, and leads past an INT n. */
void bx_vpt_c::event_begins(unsigned type)
{
	event_from = is_software(type) ? cpu->prev_rip : cpu->get_rip();
}

void bx_vpt_c::event_delivered(unsigned type, uint8_t vector)
{
	unsigned flags = cr3_loaded ? VPT_EVF_CR3 : 0;
	bool software = is_software(type);

	cr3_loaded = false;
	if (software)
		oracle->retire();
	else
		oracle->drop();
	oracle->event(software			      ? VPT_LOG_SOFTWARE
		      : type == BX_HARDWARE_EXCEPTION ? VPT_LOG_EXCEPTION
						      : VPT_LOG_INTERRUPT,
		      vector, event_from);
	if (pt.trigger_en)
		event(software ? VPT_EV_SOFT_INT : VPT_EV_ASYNC, event_from, cpu->get_rip(), 0,
		      flags, vector);
}

void bx_vpt_c::account(uint32_t index, uint64_t value, bool write, bool fault)
{
	bool non_root = cpu->in_vmx_guest && !in_list;
	unsigned flags = 0;

	counters.msr[non_root][in_list][write]++;
	flags |= write ? VPT_LOG_WRITE : 0;
	flags |= in_list ? VPT_LOG_LIST : 0;
	flags |= non_root ? VPT_LOG_MSR_NON_ROOT : 0;
	flags |= fault ? VPT_LOG_FAULT : 0;
	oracle->msr(flags, index, value);
}

int bx_vpt_c::rdmsr(uint32_t index, uint64_t *value)
{
	uint64_t got = 0;
	bool ok;

	if (in_list && !vpt_msr_listable(VPT_AREA_EXIT_STORE, index))
		return 0;
	switch (index) {
	case MSR_GLOBAL_STATUS:
		*value = global_status;
		return 1;
	case MSR_GLOBAL_OVF_CTRL:
		*value = 0;
		return 1;
	}
	if (index < VPT_MSR_FIRST || index > VPT_MSR_LAST)
		return -1;
	ok = vpt_pt_rdmsr(&pt, index, &got) == VPT_FAULT_NONE;
	account(index, got, false, !ok);
	*value = got;
	return ok;
}

int bx_vpt_c::wrmsr(uint32_t index, uint64_t value)
{
	uint64_t from = cpu->prev_rip, next = cpu->get_rip();
	bool ok;

	if (in_list && !vpt_msr_listable(loading ? VPT_AREA_ENTRY_LOAD : VPT_AREA_EXIT_LOAD, index))
		return 0;
	switch (index) {
	case MSR_GLOBAL_STATUS:
		return 0;
	case MSR_GLOBAL_OVF_CTRL:
		global_status &= ~value;
		return 1;
	}
	if (index < VPT_MSR_FIRST || index > VPT_MSR_LAST)
		return -1;
	if (loading) {
		from = entry_ip;
		next = entry_next;
	}
	if (index == VPT_MSR_CTL && value & VPT_CTL_MASK(TRACE_EN) && !in_list && !trace_en()) {
		struct vpt_rtit after = pt.rtit;

		/* EPT refuses now or not at all: then WRMSR is executed again. */
		if (vpt_rtit_write(&after, pt.caps, index, value, VPT_ACCESS_GUEST) ==
		    VPT_FAULT_NONE)
			prepare_output(&after);
	}
	ok = vpt_pt_wrmsr(&pt, index, value, VPT_ACCESS_GUEST, from, next) == VPT_FAULT_NONE;
	account(index, value, true, !ok);
	settle();
	return ok;
}

void bx_vpt_c::cpuid(uint32_t leaf, uint32_t subleaf, struct cpuid_function_t *regs)
{
	struct vpt_cpuid_regs r = {regs->eax, regs->ebx, regs->ecx, regs->edx};

	if (!vpt_caps_cpuid(pt.caps, true, leaf, subleaf, &r))
		return;
	regs->eax = r.eax;
	regs->ebx = r.ebx;
	regs->ecx = r.ecx;
	regs->edx = r.edx;
}

void bx_vpt_c::set_trace_en(bool on)
{
	uint64_t ctl = pt.rtit.ctl & ~VPT_CTL_MASK(TRACE_EN);
	uint64_t ip = cpu->get_rip();
	enum vpt_fault fault;

	if (on)
		ctl |= VPT_CTL_MASK(TRACE_EN);
	/* What is in the register with TraceEn can be there without it, and again. */
	fault = vpt_pt_wrmsr(&pt, VPT_MSR_CTL, ctl, VPT_ACCESS_GUEST, ip, ip);
	if (fault != VPT_FAULT_NONE)
		BX_ERROR(("PT: SMM left an IA32_RTIT_CTL that cannot be restored"));
	settle();
}

uint32_t bx_vpt_c::enter_smm()
{
	uint32_t was = trace_en();

	oracle->event(VPT_LOG_SMI, 0, cpu->get_rip());
	if (was)
		set_trace_en(false);
	return was;
}

void bx_vpt_c::leave_smm(uint32_t was)
{
	if (was & 1)
		set_trace_en(true);
}
