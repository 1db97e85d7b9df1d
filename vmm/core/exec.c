// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Execute one instruction: serve the engine's exits, report the change of flow, deliver the fault
 * or trap.
 */
#include "core/access.h"
#include "core/clock.h"
#include "core/debug.h"
#include "core/deliver.h"
#include "core/emulate.h"
#include "core/exec.h"
#include "core/fault.h"
#include "core/fetch.h"
#include "core/hv.h"
#include "core/irq.h"
#include "core/msr.h"
#include "core/wait.h"

#include <string.h>

/* The parts of an instruction with REP between two looks at the clock, each less than 1 ms. */
#define LATE_PARTS 64u

/* An instruction in progress. */
struct step {
	struct core_fetched f;
	/* a copy, because a later instruction can replace the cache's slot */
	struct core_insn insn;
	bool decoded;
	uint64_t ip, next;
	uint64_t rflags; /* before the instruction */
	uint64_t cr0;
	uint64_t debug; /* breakpoints that it hit, as bits of DR6 */
	uint8_t cpl;
	bool traced; /* TriggerEn was set before the instruction */
};

static uint64_t wrap(const struct core_vcpu *v, uint64_t ip)
{
	return v->bits == 64 ? ip : (uint32_t)ip;
}

static bool is_prefix(const struct core_insn *insn, uint8_t byte)
{
	static const uint8_t legacy[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					 0x66, 0x67, 0xf0, 0xf2, 0xf3};

	return memchr(legacy, byte, sizeof(legacy)) || (insn->bits == 64 && (byte & 0xf0) == 0x40);
}

/*
 * Returns the flag of a far transfer with four or more prefixes, which some processors report
 * wrongly (VPT_EVF_PREFIXES).
 */
static uint8_t prefix_flag(const struct core_insn *insn)
{
	unsigned int n = 0;

	while (n < 4 && is_prefix(insn, (uint8_t)(insn->low >> 8 * n)))
		n++;
	return n == 4 ? VPT_EVF_PREFIXES : 0;
}

void core_exec_shutdown(struct core_vcpu *v, uint64_t rip)
{
	const struct vpt_event event = {.kind = VPT_EV_SHUTDOWN, .from = rip, .to = rip};

	if (!v->vm->stop.kind)
		tracer_event(&v->tracer, &event, v->cpl);
}

/* Deliver an exception with @rip in its frame and in the trace. */
static void raise(struct core_vcpu *v, struct engine_exception *e, uint64_t rip)
{
	struct vpt_event event = {.kind = VPT_EV_ASYNC, .from = rip};
	bool arrived = v->pending & CORE_VCPU_ARRIVED;
	uint8_t cpl = v->cpl;

	if (!core_vcpu_long_mode(v) && !(v->engine->can & ENGINE_MODES)) {
		core_vm_stop(v->vm, TRACE_STOP_UNTRACEABLE,
			     "exception %u at %#llx outside long mode", e->vector,
			     (unsigned long long)rip);
		return;
	}
	if (v->hv && !core_hv_exception(v, rip))
		return;
	core_wait_end(v, VPT_WAKE_HW);
	if (!core_deliver(v, e, CORE_SOURCE_EXCEPTION, rip)) {
		core_exec_shutdown(v, rip);
		core_vm_stop(v->vm, TRACE_STOP_TRIPLE_FAULT, "at %#llx", (unsigned long long)rip);
		return;
	}
	v->pending |= CORE_VCPU_ARRIVED;
	v->shadowed &= ~(CORE_VCPU_SHADOW | CORE_VCPU_AFTER_SS);
	v->debug_pending = 0;
	event.to = v->regs->rip;
	event.vector = e->vector;
	if (e->vector == X86_VEC_PF) {
		event.flags = VPT_EVF_PAGE_FAULT;
		event.value = e->cr2;
	}
	core_clock_send(v, rip);
	tracer_event_at(&v->tracer, &event, cpl, arrived);
}

void core_exec_fault(struct core_vcpu *v, struct engine_exception *e, uint64_t rip)
{
	raise(v, e, rip);
}

void core_exec_debug(struct core_vcpu *v, uint64_t causes)
{
	struct engine_exception e = core_fault_plain(X86_VEC_DB);

	core_debug_report(v, causes);
	raise(v, &e, v->regs->rip);
}

/* Returns true for INTO without overflow, which has no event. */
static bool fell_through(const struct step *s)
{
	return core_insn_is_into(&s->insn) && !(s->rflags & X86_FL_OF);
}

/*
 * Returns true if the instruction traps because of RFLAGS.TF before it. An instruction that
 * delivers an event through the IDT does not trap. SYSCALL masks TF before the trap is decided.
 */
static bool traps(const struct core_vcpu *v, const struct step *s)
{
	switch (s->insn.cls) {
	case CORE_INSN_INT:
		return s->rflags & X86_FL_TF && fell_through(s);
	case CORE_INSN_INT1:
		return false;
	case CORE_INSN_SYSCALL:
		return v->engine->can & ENGINE_DEBUG && v->regs->rflags & X86_FL_TF;
	case CORE_INSN_SYSENTER:
		return v->engine->can & ENGINE_DEBUG && s->rflags & X86_FL_TF;
	default:
		return s->rflags & X86_FL_TF && !(s->insn.flags & CORE_INSN_LOADS_SS);
	}
}

static uint64_t trap_causes(const struct core_vcpu *v, const struct step *s)
{
	return v->debug_pending | s->debug | (traps(v, s) ? X86_DR6_BS : 0);
}

/* Deliver the #DB of TF and of data breakpoints after an instruction. A load of SS defers it. */
static void debug_trap(struct core_vcpu *v, const struct step *s)
{
	uint64_t causes = trap_causes(v, s);

	if (s->insn.flags & CORE_INSN_LOADS_SS) {
		v->debug_pending = causes;
		return;
	}
	v->debug_pending = 0;
	if (causes)
		core_exec_debug(v, causes);
}

static uint8_t event_kind(uint8_t cls)
{
	switch (cls) {
	case CORE_INSN_JMP:
		return VPT_EV_JMP;
	case CORE_INSN_CALL:
		return VPT_EV_CALL;
	case CORE_INSN_JMP_INDIRECT:
		return VPT_EV_JMP_INDIRECT;
	case CORE_INSN_CALL_INDIRECT:
		return VPT_EV_CALL_INDIRECT;
	case CORE_INSN_RET:
		return VPT_EV_RET;
	case CORE_INSN_INT:
	case CORE_INSN_INT1:
		return VPT_EV_SOFT_INT;
	case CORE_INSN_MOV_CR3:
		return VPT_EV_CR3;
	case CORE_INSN_FAR:
	case CORE_INSN_IRET:
	case CORE_INSN_SYSCALL:
	case CORE_INSN_SYSRET:
	case CORE_INSN_SYSENTER:
	case CORE_INSN_SYSEXIT:
		return VPT_EV_FAR;
	default:
		return VPT_EV_INSN;
	}
}

/* Begin the report of the instruction. describe_flow() adds the event's kind and target. */
static void describe(struct core_vcpu *v, const struct step *s)
{
	uint16_t about = v->pending & CORE_VCPU_ARRIVED ? TRACE_ORACLE_ARRIVED : 0;

	if (s->insn.cls == CORE_INSN_COND)
		about |= TRACE_ORACLE_COND;
	else if (s->insn.cls == CORE_INSN_INT || s->insn.cls == CORE_INSN_INT1)
		about |= TRACE_ORACLE_SOFT_INT;
	else if (s->insn.cls == CORE_INSN_MOV_CR3)
		about |= TRACE_ORACLE_CR3_WRITE;
	v->report = (struct engine_report){
		.event = {.kind = VPT_EV_INSN, .from = s->ip, .to = s->next, .next = s->next},
		.next = s->next,
		.insns = 1,
		.about = about,
		.cpl = s->cpl,
		.flags = ENGINE_REPORT_INSN,
	};
}

/* Returns true if the instruction changed RFLAGS.IF and the trace unit needs such events. */
static bool changed_if(const struct core_vcpu *v, const struct step *s)
{
	return (s->rflags ^ v->regs->rflags) & X86_FL_IF &&
	       v->tracer.unit.acts->state & VPT_GATE_INTR_FLAG;
}

static void describe_transfer(const struct step *s, uint8_t kind, struct vpt_event *event)
{
	const bool far = kind == VPT_EV_FAR || kind == VPT_EV_SOFT_INT;

	event->kind = kind;
	event->flags = (uint8_t)((s->insn.cls == CORE_INSN_IRET ? VPT_EVF_IRET : 0) |
				 (far ? prefix_flag(&s->insn) : 0));
	if (kind == VPT_EV_SOFT_INT)
		event->vector = s->insn.cls == CORE_INSN_INT1 ? X86_VEC_DB : s->insn.aux;
}

/* Complete the report with the change of flow. @to is RIP after the instruction. */
static void describe_flow(struct core_vcpu *v, const struct step *s, uint64_t to, uint8_t kind)
{
	struct vpt_event *event = &v->report.event;

	event->to = to;
	if (s->insn.cls == CORE_INSN_COND) {
		event->kind = VPT_EV_COND;
		event->flags = v->pending & CORE_VCPU_TAKEN ? VPT_EVF_TAKEN : 0;
	} else if (kind != VPT_EV_INSN) {
		describe_transfer(s, kind, event);
	} else if (vpt_unlikely(changed_if(v, s))) {
		event->kind = VPT_EV_INTR_FLAG;
	} else if (vpt_unlikely((s->cr0 ^ v->s.cr0) & X86_CR0_PG)) {
		event->kind = VPT_EV_PAGING;
	} else if (s->insn.cls == CORE_INSN_PTWRITE) {
		core_ptwrite_describe(v, &s->insn, event);
	} else if (vpt_unlikely(v->pending & CORE_VCPU_HALTED) && !trap_causes(v, s)) {
		/* A pending trap ends a HLT before it begins. */
		core_wait_describe(v, event);
	}
}

static void retired(struct core_vcpu *v, const struct step *s, uint64_t to)
{
	uint8_t kind = fell_through(s) ? VPT_EV_INSN : event_kind(s->insn.cls);
	bool traced = s->traced;

	v->retired++;
	if (vpt_unlikely(v->hv) && core_hv_retired(v, &s->insn, &v->report))
		traced = false;
	if (kind == VPT_EV_INSN)
		v->report.about &= (uint16_t)~TRACE_ORACLE_SOFT_INT;
	core_put_bit(&v->pending, CORE_VCPU_ARRIVED, kind != VPT_EV_INSN && kind != VPT_EV_CR3);
	if (s->insn.cls == CORE_INSN_COND)
		core_put_bit(&v->pending, CORE_VCPU_ARRIVED, v->pending & CORE_VCPU_TAKEN);
	core_put_bit(&v->shadowed, CORE_VCPU_AFTER_SS, s->insn.flags & CORE_INSN_LOADS_SS);
	core_put_bit(&v->shadowed, CORE_VCPU_SHADOW,
		     v->shadowed & CORE_VCPU_AFTER_SS ||
			     (s->insn.flags & CORE_INSN_STI && !(s->rflags & X86_FL_IF)));
	/* A write of the trace unit's registers may begin the trace. */
	if (traced || vpt_unlikely(v->report.flags & ENGINE_REPORT_WROTE)) {
		describe_flow(v, s, to, kind);
		/* A trace begins with a TSC packet. */
		if (!traced)
			v->pending &= ~CORE_VCPU_READ_TIME;
		core_clock_send(v, s->ip);
		tracer_report(&v->tracer, &v->report);
	}
	if (s->insn.cls == CORE_INSN_RDTSC)
		core_clock_read(v);
	core_irq_retired(v);
	debug_trap(v, s);
}

static void unexplained(struct core_vcpu *v, const struct step *s, uint64_t to)
{
	char text[64] = "an unknown instruction";

	if (s->decoded)
		core_insn_format(v->insns, s->ip, v->bits, &s->f.bytes, text, sizeof(text));
	core_vm_stop(v->vm, TRACE_STOP_UNEXPLAINED, "%s at %#llx went to %#llx", text,
		     (unsigned long long)s->ip, (unsigned long long)to);
}

static void unable(struct core_vcpu *v)
{
	struct core_fetched f;
	char text[64] = "an instruction";

	core_fetch(v, v->regs->rip, &f);
	if (f.bytes.count)
		core_insn_format(v->insns, v->regs->rip, v->bits, &f.bytes, text, sizeof(text));
	core_vm_stop(v->vm, TRACE_STOP_UNABLE, "'%s' at %#llx (CPL %u)", text,
		     (unsigned long long)v->regs->rip, v->cpl);
}

/* Serve the exits of the engine until the instruction is complete. */
static enum core_done serve(struct core_vcpu *v, struct step *s, struct engine_exit *exit,
			    struct engine_exception *e)
{
	for (;;) {
		switch (exit->kind) {
		case ENGINE_EXIT_DEBUG:
			s->debug |= exit->debug.dr6;
			return CORE_DONE_RETIRED;
		case ENGINE_EXIT_NONE:
			return CORE_DONE_RETIRED;
		case ENGINE_EXIT_IO:
			core_bus_io(v, exit->io.port, exit->io.size, exit->io.in, exit->io.count,
				    exit->io.data);
			break;
		case ENGINE_EXIT_MMIO:
			core_bus_mmio(v, exit->mmio.gpa, exit->mmio.len, exit->mmio.write,
				      exit->mmio.data);
			break;
		case ENGINE_EXIT_FAULT:
			*e = exit->fault;
			return CORE_DONE_FAULT;
		case ENGINE_EXIT_UNABLE:
			unable(v);
			return CORE_DONE_STOPPED;
		case ENGINE_EXIT_SHUTDOWN:
			core_vm_stop(v->vm, TRACE_STOP_TRIPLE_FAULT, "at %#llx",
				     (unsigned long long)v->regs->rip);
			return CORE_DONE_STOPPED;
		case ENGINE_EXIT_ERROR:
			v->vm->stop.error = exit->host.error;
			core_vm_stop(v->vm, TRACE_STOP_HOST, "%s (%d) at %#llx", exit->host.text,
				     exit->host.error, (unsigned long long)v->regs->rip);
			return CORE_DONE_STOPPED;
		default:
			core_vm_stop(v->vm, TRACE_STOP_HOST, "exit %d in a step at %#llx",
				     exit->kind, (unsigned long long)v->regs->rip);
			return CORE_DONE_STOPPED;
		}
		v->engine->complete(v->ev, exit);
	}
}

/* Returns true if this branch will be taken. Changes no state. */
static bool predict(const struct core_vcpu *v, const struct step *s)
{
	uint64_t count = v->regs->rcx, zf = v->regs->rflags & X86_FL_ZF;

	if (s->insn.flags & CORE_INSN_ADDRESS16)
		count = (uint16_t)count;
	else if (s->insn.flags & CORE_INSN_ADDRESS32 || v->bits == 32)
		count = (uint32_t)count;
	switch (s->insn.aux) {
	case 0xe0:
		return count != 1 && !zf;
	case 0xe1:
		return count != 1 && zf;
	case 0xe2:
		return count != 1;
	case 0xe3:
		return !count;
	default:
		return core_insn_condition(s->insn.aux, v->regs->rflags);
	}
}

/* Returns the target of a direct near branch. */
static uint64_t target_of(const struct core_vcpu *v, const struct step *s)
{
	uint64_t target = wrap(v, s->next + (uint64_t)s->insn.disp);

	return s->insn.flags & CORE_INSN_TARGET16 ? (uint16_t)target : target;
}

/* Returns true if @to is a possible RIP after the instruction. */
static bool explains(const struct core_vcpu *v, const struct step *s, uint64_t to)
{
	uint64_t target = target_of(v, s);

	switch (s->insn.cls) {
	case CORE_INSN_COND:
		return to == ((v->pending & CORE_VCPU_TAKEN) ? target : s->next);
	case CORE_INSN_JMP:
	case CORE_INSN_CALL:
		return to == target;
	case CORE_INSN_JMP_INDIRECT:
	case CORE_INSN_CALL_INDIRECT:
	case CORE_INSN_RET:
	case CORE_INSN_FAR:
	case CORE_INSN_IRET:
		return true;
	default:
		return to == s->next;
	}
}

/*
 * Return the VM's CPUID to the guest if KVM cannot report PT in CPUID. Leaf 0DH stays as KVM
 * reports it.
 */
static void overlay_cpuid(struct core_vcpu *v, uint32_t leaf, uint32_t subleaf)
{
	const struct engine_cpuid_entry *entry =
		core_cpuid_find(v->vm->cpuid, v->vm->cpuid_count, leaf, subleaf);
	uint32_t ecx;

	if (leaf == 0xd)
		return;
	if (!entry) {
		v->regs->rax = v->regs->rbx = v->regs->rcx = v->regs->rdx = 0;
		v->ev->state |= ENGINE_REGS_DIRTY;
		return;
	}
	ecx = entry->ecx;
	if (leaf == 1) {
		ecx &= ~(1u << 27);
		ecx |= v->s.cr4 & X86_CR4_OSXSAVE ? 1u << 27 : 0;
	}
	v->regs->rax = entry->eax;
	v->regs->rbx = entry->ebx;
	v->regs->rcx = ecx;
	v->regs->rdx = entry->edx;
	v->ev->state |= ENGINE_REGS_DIRTY;
}

/* Returns true if the step ended between two iterations of a string instruction. */
static bool between_iterations(const struct core_vcpu *v, const struct step *s)
{
	return s->insn.flags & CORE_INSN_REP && v->regs->rip == s->ip;
}

/*
 * Deliver the trap of one iteration, which traps like an instruction. The frame has RF set, because
 * the instruction continues. Returns true if there was a trap.
 */
static bool iteration_traps(struct core_vcpu *v, const struct step *s)
{
	uint64_t causes = s->debug | (s->rflags & X86_FL_TF ? X86_DR6_BS : 0);

	/* With KVM, the host's processor delays the trap of TF to the last iteration. */
	if (!causes || (!(v->engine->can & ENGINE_DEBUG) && !s->debug))
		return false;
	v->regs->rflags |= X86_FL_RF;
	core_exec_debug(v, causes | v->debug_pending);
	return true;
}

/* Urge the vCPU at its deadline: the loop does not read the clock before the instruction ends. */
static void poll_deadline(struct core_vcpu *v, unsigned int parts)
{
	if (parts % LATE_PARTS == 0 && v->deadline && core_now() >= v->deadline)
		v->urged = CORE_URGED_NOW;
}

/* Count an instruction that retired without the engine's count. */
static void count(struct core_vcpu *v, const struct step *s)
{
	v->ev->retired++;
	v->ev->branches += core_insn_is_branch(&s->insn);
}

static enum core_done native(struct core_vcpu *v, struct step *s, struct engine_exception *e)
{
	const struct engine_step_hint hint = {
		.debug_regs = s->insn.flags & CORE_INSN_DEBUG_REGS,
		.msrs = s->insn.flags & CORE_INSN_SYSTEM,
		.by_tables = true,
	};
	uint32_t leaf = (uint32_t)v->regs->rax, subleaf = (uint32_t)v->regs->rcx;
	unsigned int parts = 0;
	enum core_done done;
	struct engine_exit exit;

	if (s->insn.cls == CORE_INSN_COND)
		core_put_bit(&v->pending, CORE_VCPU_TAKEN, predict(v, s));
	for (;;) {
		v->engine->step(v->ev, &hint, &exit);
		v->steps++;
		done = serve(v, s, &exit, e);
		if (done != CORE_DONE_RETIRED)
			return done;
		if (!between_iterations(v, s))
			break;
		poll_deadline(v, ++parts);
		if (v->vm->stop.kind || v->urged == CORE_URGED_NOW || iteration_traps(v, s))
			return CORE_DONE_AGAIN;
	}
	if (s->insn.flags & CORE_INSN_SYSTEM || !s->decoded)
		core_vcpu_load(v);
	if (s->insn.flags & CORE_INSN_DEBUG_REGS && !(v->engine->can & ENGINE_DEBUG))
		core_put_bit(&v->way, CORE_WAY_BREAKPOINTS, core_debug_set(v));
	if (s->insn.cls == CORE_INSN_CPUID && !v->vm->probe.cpuid_pt)
		overlay_cpuid(v, leaf, subleaf);
	if (!(v->engine->can & ENGINE_COUNTS)) {
		core_clock_stepped(v, &s->insn);
		count(v, s);
	}
	return CORE_DONE_RETIRED;
}

static void begin(struct core_vcpu *v, struct step *s, uint64_t ip)
{
	memset(s, 0, sizeof(*s));
	s->ip = ip;
	s->cpl = v->cpl;
	s->rflags = v->regs->rflags;
	s->cr0 = v->s.cr0;
	s->traced = tracer_on(&v->tracer);
	if (vpt_unlikely(v->hv))
		core_hv_begin(v);
	core_fetch(v, ip, &s->f);
	if (s->f.insn) {
		s->insn = *s->f.insn;
		s->decoded = true;
	}
	s->next = wrap(v, ip + s->insn.len);
	describe(v, s);
	if (s->decoded && s->traced)
		tracer_code(&v->tracer, v->s.cr3, v->bits == 64 ? ip : wrap(v, ip + v->s.cs.base),
			    s->insn.len, s->f.gpa, s->f.gpa2);
}

/* Correct the TF that a stepped PUSHF has pushed, since stepping sets TF. */
static bool hide_pushed_tf(struct core_vcpu *v, const struct step *s, unsigned int bytes)
{
	struct engine_exception e;
	uint64_t flags = 0;

	if (!core_read(v, v->regs->rsp, &flags, bytes, X86_WALK_READ, &e))
		return false;
	flags = (flags & ~X86_FL_TF) | (s->rflags & X86_FL_TF);
	return core_write(v, v->regs->rsp, &flags, bytes, X86_WALK_WRITE, &e);
}

/*
 * Report two instructions. Some hosts delay the trap after a load of SS by one instruction, so that
 * the step has executed that instruction, too. Returns false if the engine may not step the second
 * instruction.
 */
static bool after_ss(struct core_vcpu *v, const struct step *first, uint64_t to)
{
	struct step second;

	retired(v, first, first->next);
	v->ev->retired++;
	begin(v, &second, first->next);
	if (second.insn.cls == CORE_INSN_COND)
		core_put_bit(&v->pending, CORE_VCPU_TAKEN, to == target_of(v, &second));
	if (!second.decoded || !explains(v, &second, to))
		return false;
	if (second.insn.flags & CORE_INSN_SYSTEM && !(second.insn.flags & CORE_INSN_LOADS_SS))
		return false;
	if (second.insn.cls == CORE_INSN_PUSHF && !hide_pushed_tf(v, first, second.insn.aux))
		return false;
	core_clock_stepped(v, &second.insn);
	retired(v, &second, to);
	return true;
}

/* Execute WRMSR to an MSR that the core emulates. */
static enum core_done wrmsr(struct core_vcpu *v, const struct step *s, struct engine_exception *e)
{
	uint64_t value = (uint32_t)v->regs->rax | v->regs->rdx << 32;

	if (core_msr_write(v, (uint32_t)v->regs->rcx, value, &v->report) != VPT_FAULT_NONE) {
		*e = core_fault_code(X86_VEC_GP, 0);
		return CORE_DONE_FAULT;
	}
	core_vcpu_set_rip(v, s->next);
	v->ev->retired++;
	v->regs->rflags &= ~X86_FL_RF;
	v->ev->state |= ENGINE_REGS_DIRTY;
	return CORE_DONE_RETIRED;
}

/*
 * Returns true with a #DB in *e if DR7.GD protects the debug registers. Clears GD for the handler.
 */
static bool guard_faults(struct core_vcpu *v, const struct step *s, struct engine_exception *e)
{
	if (!(s->insn.flags & CORE_INSN_DEBUG_REGS) || v->cpl || !core_debug_guarded(v))
		return false;
	v->regs->rflags |= X86_FL_RF;
	core_debug_report(v, X86_DR6_BD);
	*e = core_fault_plain(X86_VEC_DB);
	return true;
}

static enum core_done execute(struct core_vcpu *v, struct step *s, struct engine_exception *e)
{
	enum core_done done = CORE_DONE_NATIVE;

	if (s->insn.cls == CORE_INSN_WRMSR && !v->cpl && core_msr_traps((uint32_t)v->regs->rcx))
		return wrmsr(v, s, e);
	if (guard_faults(v, s, e))
		return CORE_DONE_FAULT;
	if (s->decoded)
		done = core_emulate(v, &s->insn, e);
	if (done == CORE_DONE_RETIRED)
		count(v, s);
	if (done != CORE_DONE_NATIVE)
		return done;
	done = native(v, s, e);
	if (done == CORE_DONE_RETIRED && v->regs->rflags & X86_FL_RF) {
		v->regs->rflags &= ~X86_FL_RF;
		v->ev->state |= ENGINE_REGS_DIRTY;
	}
	if (done != CORE_DONE_RETIRED || (s->decoded && explains(v, s, v->regs->rip)))
		return done;
	if (s->insn.flags & CORE_INSN_LOADS_SS && after_ss(v, s, v->regs->rip))
		return CORE_DONE_AGAIN;
	unexplained(v, s, v->regs->rip);
	return CORE_DONE_STOPPED;
}

/* Returns false and stops the VM if the host cannot step this code. */
static bool can_step(struct core_vcpu *v)
{
	if (v->engine->can & ENGINE_MODES)
		return true;
	if (!core_vcpu_long_mode(v)) {
		core_vm_stop(v->vm, TRACE_STOP_UNTRACEABLE, "code at %#llx outside long mode",
			     (unsigned long long)v->regs->rip);
		return false;
	}
	if (v->cpl && !v->vm->probe.step[1]) {
		core_vm_stop(v->vm, TRACE_STOP_UNTRACEABLE, "ring 3 code at %#llx",
			     (unsigned long long)v->regs->rip);
		return false;
	}
	return true;
}

/* Deliver the #DB fault of an execution breakpoint. Returns true if there was one. */
static bool breakpoint(struct core_vcpu *v)
{
	uint64_t ip = v->regs->rip;
	uint64_t hit = core_debug_breakpoints(v, v->bits == 64 ? ip : wrap(v, ip + v->s.cs.base));

	if (hit)
		core_exec_debug(v, hit);
	return hit;
}

void core_exec_one(struct core_vcpu *v)
{
	struct engine_exception e;
	struct step s;

	if (vpt_unlikely(v->hv) && !core_hv_go(v, false))
		return;
	if (!can_step(v) ||
	    ((v->engine->can & ENGINE_DEBUG || v->way & CORE_WAY_BREAKPOINTS) && breakpoint(v)))
		return;
	begin(v, &s, v->regs->rip);
	switch (execute(v, &s, &e)) {
	case CORE_DONE_RETIRED:
		retired(v, &s, v->regs->rip);
		break;
	case CORE_DONE_FAULT:
		raise(v, &e, s.ip);
		break;
	default:
		break;
	}
}
