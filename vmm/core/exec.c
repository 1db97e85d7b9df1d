// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One instruction and all that comes with it: the engine's exits on the way, the
 * change of flow to report, the fault or trap to deliver.
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

/* An instruction in progress. */
struct step {
	struct vpt_fetched f;
	struct vpt_insn insn; /* a copy: the cache may move on */
	bool decoded;
	uint64_t ip, next;
	uint64_t rflags; /* when it began */
	uint64_t cr0;
	uint64_t debug; /* what it hit, as bits of DR6 */
	uint8_t cpl;
	bool traced; /* TriggerEn was set when it began */
};

static uint64_t wrap(const struct vpt_vcpu *v, uint64_t ip)
{
	return v->bits == 64 ? ip : (uint32_t)ip;
}

static bool is_prefix(const struct vpt_insn *insn, uint8_t byte)
{
	static const uint8_t legacy[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					 0x66, 0x67, 0xf0, 0xf2, 0xf3};

	return memchr(legacy, byte, sizeof(legacy)) || (insn->bits == 64 && (byte & 0xf0) == 0x40);
}

/* Of a far transfer, which some processors tell wrongly then (VPT_EVF_PREFIXES). */
static uint8_t prefix_flag(const struct vpt_insn *insn)
{
	unsigned int n = 0;

	while (n < 4 && is_prefix(insn, (uint8_t)(insn->low >> 8 * n)))
		n++;
	return n == 4 ? VPT_EVF_PREFIXES : 0;
}

static void report(struct vpt_vcpu *v, uint8_t kind, const struct step *s, uint64_t to,
		   uint8_t vector)
{
	const bool far = kind == VPT_EV_FAR || kind == VPT_EV_SOFT_INT;
	const struct vpt_event event = {
		.kind = kind,
		.flags = (uint8_t)((s->insn.cls == VPT_INSN_IRET ? VPT_EVF_IRET : 0) |
				   (far ? prefix_flag(&s->insn) : 0)),
		.vector = vector,
		.from = s->ip,
		.to = to,
		.next = s->next,
	};

	vpt_tracer_event(&v->tracer, &event, s->cpl);
}

void vpt_exec_shutdown(struct vpt_vcpu *v, uint64_t rip)
{
	const struct vpt_event event = {.kind = VPT_EV_SHUTDOWN, .from = rip, .to = rip};

	if (!v->vm->stop.kind)
		vpt_tracer_event(&v->tracer, &event, v->cpl);
}

/* Deliver an exception: RIP in its frame and in the trace is `rip`. */
static void raise(struct vpt_vcpu *v, struct vpt_exception *e, uint64_t rip)
{
	struct vpt_event event = {.kind = VPT_EV_ASYNC, .from = rip};
	bool arrived = v->pending & VPT_VCPU_ARRIVED;
	uint8_t cpl = v->cpl;

	if (!v->long_mode && !(v->engine->can & VPT_ENGINE_MODES)) {
		vpt_vm_stop(v->vm, VPT_STOP_UNTRACEABLE, "exception %u at %#llx outside long mode",
			    e->vector, (unsigned long long)rip);
		return;
	}
	if (v->hv && !vpt_hv_exception(v, rip))
		return;
	vpt_wait_end(v, VPT_WAKE_HW);
	if (!vpt_deliver(v, e, VPT_SOURCE_EXCEPTION, rip)) {
		vpt_exec_shutdown(v, rip);
		vpt_vm_stop(v->vm, VPT_STOP_TRIPLE_FAULT, "at %#llx", (unsigned long long)rip);
		return;
	}
	v->pending |= VPT_VCPU_ARRIVED;
	v->shadowed &= ~(VPT_VCPU_SHADOW | VPT_VCPU_AFTER_SS);
	v->debug_pending = 0;
	event.to = v->regs->rip;
	event.vector = e->vector;
	if (e->vector == VPT_VEC_PF) {
		event.flags = VPT_EVF_PAGE_FAULT;
		event.value = e->cr2;
	}
	vpt_tracer_event_at(&v->tracer, &event, cpl, arrived);
}

void vpt_exec_fault(struct vpt_vcpu *v, struct vpt_exception *e, uint64_t rip)
{
	raise(v, e, rip);
}

void vpt_exec_debug(struct vpt_vcpu *v, uint64_t causes)
{
	struct vpt_exception e = vpt_fault_plain(VPT_VEC_DB);

	vpt_debug_report(v, causes);
	raise(v, &e, v->regs->rip);
}

/* INTO without overflow does nothing: no event. */
static bool fell_through(const struct step *s)
{
	return vpt_insn_is_into(&s->insn) && !(s->rflags & VPT_FL_OF);
}

/*
 * Does RFLAGS.TF, as it was before the instruction, make it trap? What delivers
 * through the IDT leaves no trap behind; SYSCALL masks TF first.
 */
static bool traps(const struct vpt_vcpu *v, const struct step *s)
{
	switch (s->insn.cls) {
	case VPT_INSN_INT:
		return s->rflags & VPT_FL_TF && fell_through(s);
	case VPT_INSN_INT1:
		return false;
	case VPT_INSN_SYSCALL:
		return v->engine->can & VPT_ENGINE_DEBUG && v->regs->rflags & VPT_FL_TF;
	case VPT_INSN_SYSENTER:
		return v->engine->can & VPT_ENGINE_DEBUG && s->rflags & VPT_FL_TF;
	default:
		return s->rflags & VPT_FL_TF && !(s->insn.flags & VPT_INSN_LOADS_SS);
	}
}

static uint64_t trap_causes(const struct vpt_vcpu *v, const struct step *s)
{
	return v->debug_pending | s->debug | (traps(v, s) ? VPT_DR6_BS : 0);
}

/* The #DB that an instruction leaves behind: TF, and breakpoints on its data. */
static void debug_trap(struct vpt_vcpu *v, const struct step *s)
{
	uint64_t causes = trap_causes(v, s);

	if (s->insn.flags & VPT_INSN_LOADS_SS) {
		v->debug_pending = causes;
		return;
	}
	v->debug_pending = 0;
	if (causes)
		vpt_exec_debug(v, causes);
}

static uint8_t event_kind(uint8_t cls)
{
	switch (cls) {
	case VPT_INSN_JMP:
		return VPT_EV_JMP;
	case VPT_INSN_CALL:
		return VPT_EV_CALL;
	case VPT_INSN_JMP_INDIRECT:
		return VPT_EV_JMP_INDIRECT;
	case VPT_INSN_CALL_INDIRECT:
		return VPT_EV_CALL_INDIRECT;
	case VPT_INSN_RET:
		return VPT_EV_RET;
	case VPT_INSN_INT:
	case VPT_INSN_INT1:
		return VPT_EV_SOFT_INT;
	case VPT_INSN_MOV_CR3:
		return VPT_EV_CR3;
	case VPT_INSN_FAR:
	case VPT_INSN_IRET:
	case VPT_INSN_SYSCALL:
	case VPT_INSN_SYSRET:
	case VPT_INSN_SYSENTER:
	case VPT_INSN_SYSEXIT:
		return VPT_EV_FAR;
	default:
		return VPT_EV_COUNT;
	}
}

static struct vpt_retired describe(const struct vpt_vcpu *v, const struct step *s, uint64_t to)
{
	uint16_t flags = v->pending & VPT_VCPU_ARRIVED ? VPT_ORACLE_ARRIVED : 0;

	if (s->insn.cls == VPT_INSN_COND)
		flags |= VPT_ORACLE_COND;
	else if (s->insn.cls == VPT_INSN_INT || s->insn.cls == VPT_INSN_INT1)
		flags |= VPT_ORACLE_SOFT_INT;
	else if (s->insn.cls == VPT_INSN_MOV_CR3)
		flags |= VPT_ORACLE_CR3_WRITE;
	return (struct vpt_retired){
		.ip = s->ip, .next = s->next, .to = to, .cpl = s->cpl, .flags = flags};
}

/* CLI, STI and POPF are of interest to event trace only. */
static bool changed_if(const struct vpt_vcpu *v, const struct step *s)
{
	return (s->rflags ^ v->regs->rflags) & VPT_FL_IF &&
	       VPT_CTL_GET(v->tracer.acting->rtit.ctl, EVENT_EN);
}

/* Tell the tracer what an instruction that retired does to the flow. */
static void tell(struct vpt_vcpu *v, const struct step *s, uint64_t to, uint8_t kind)
{
	uint8_t vector = s->insn.cls == VPT_INSN_INT1 ? VPT_VEC_DB : s->insn.aux;

	if (s->insn.cls == VPT_INSN_COND)
		vpt_tracer_cond(&v->tracer, s->ip, to, s->next, v->pending & VPT_VCPU_TAKEN);
	else if (kind != VPT_EV_COUNT)
		report(v, kind, s, to, kind == VPT_EV_SOFT_INT ? vector : 0);
	else if (vpt_unlikely(changed_if(v, s)))
		report(v, VPT_EV_INTR_FLAG, s, to, 0);
	else if (vpt_unlikely((s->cr0 ^ v->s.cr0) & VPT_CR0_PG))
		report(v, VPT_EV_PAGING, s, to, 0);
	else if (s->insn.cls == VPT_INSN_PTWRITE)
		vpt_ptwrite_tell(v, &s->insn, s->ip, to);
	/* A trap that is due ends a HLT before it begins. */
	else if (vpt_unlikely(v->pending & VPT_VCPU_HALTED) && !trap_causes(v, s))
		vpt_wait_tell(v, s->ip, to);
	else
		vpt_tracer_plain(&v->tracer, s->ip, to);
}

static void retired(struct vpt_vcpu *v, const struct step *s, uint64_t to)
{
	uint8_t kind = fell_through(s) ? VPT_EV_COUNT : event_kind(s->insn.cls);
	struct vpt_retired insn = describe(v, s, to);
	bool traced = s->traced;

	v->retired++;
	if (vpt_unlikely(v->hv) && vpt_hv_retired(v, &s->insn, &insn))
		traced = false;
	if (kind == VPT_EV_COUNT)
		insn.flags &= (uint16_t)~VPT_ORACLE_SOFT_INT;
	vpt_put_bit(&v->pending, VPT_VCPU_ARRIVED, kind != VPT_EV_COUNT && kind != VPT_EV_CR3);
	if (s->insn.cls == VPT_INSN_COND)
		vpt_put_bit(&v->pending, VPT_VCPU_ARRIVED, v->pending & VPT_VCPU_TAKEN);
	vpt_put_bit(&v->shadowed, VPT_VCPU_AFTER_SS, s->insn.flags & VPT_INSN_LOADS_SS);
	vpt_put_bit(&v->shadowed, VPT_VCPU_SHADOW,
		    v->shadowed & VPT_VCPU_AFTER_SS ||
			    (s->insn.flags & VPT_INSN_STI && !(s->rflags & VPT_FL_IF)));
	if (traced) {
		vpt_tracer_retired(&v->tracer, &insn);
		tell(v, s, to, kind);
	}
	vpt_irq_retired(v);
	debug_trap(v, s);
}

static void unexplained(struct vpt_vcpu *v, const struct step *s, uint64_t to)
{
	char text[64] = "an unknown instruction";

	if (s->decoded)
		vpt_insn_format(v->insns, s->ip, v->bits, &s->f.bytes, text, sizeof(text));
	vpt_vm_stop(v->vm, VPT_STOP_UNEXPLAINED, "%s at %#llx went to %#llx", text,
		    (unsigned long long)s->ip, (unsigned long long)to);
}

static void unable(struct vpt_vcpu *v)
{
	struct vpt_fetched f;
	char text[64] = "an instruction";

	vpt_fetch(v, v->regs->rip, &f);
	if (f.bytes.count)
		vpt_insn_format(v->insns, v->regs->rip, v->bits, &f.bytes, text, sizeof(text));
	vpt_vm_stop(v->vm, VPT_STOP_UNABLE, "'%s' at %#llx (CPL %u)", text,
		    (unsigned long long)v->regs->rip, v->cpl);
}

/* The engine's exits that are part of an instruction. */
static enum vpt_done serve(struct vpt_vcpu *v, struct step *s, struct vpt_exit *exit,
			   struct vpt_exception *e)
{
	for (;;) {
		switch (exit->kind) {
		case VPT_EXIT_DEBUG:
			s->debug |= exit->debug.dr6;
			return VPT_DONE_RETIRED;
		case VPT_EXIT_NONE:
			return VPT_DONE_RETIRED;
		case VPT_EXIT_IO:
			vpt_bus_io(v, exit->io.port, exit->io.size, exit->io.in, exit->io.count,
				   exit->io.data);
			break;
		case VPT_EXIT_MMIO:
			vpt_bus_mmio(v, exit->mmio.gpa, exit->mmio.len, exit->mmio.write,
				     exit->mmio.data);
			break;
		case VPT_EXIT_FAULT:
			*e = exit->fault;
			return VPT_DONE_FAULT;
		case VPT_EXIT_UNABLE:
			unable(v);
			return VPT_DONE_STOPPED;
		case VPT_EXIT_SHUTDOWN:
			vpt_vm_stop(v->vm, VPT_STOP_TRIPLE_FAULT, "at %#llx",
				    (unsigned long long)v->regs->rip);
			return VPT_DONE_STOPPED;
		case VPT_EXIT_ERROR:
			v->vm->stop.error = exit->host.error;
			vpt_vm_stop(v->vm, VPT_STOP_HOST, "%s (%d) at %#llx", exit->host.text,
				    exit->host.error, (unsigned long long)v->regs->rip);
			return VPT_DONE_STOPPED;
		default:
			vpt_vm_stop(v->vm, VPT_STOP_HOST, "exit %d in a step at %#llx", exit->kind,
				    (unsigned long long)v->regs->rip);
			return VPT_DONE_STOPPED;
		}
		v->engine->complete(v->ev, exit);
	}
}

/* Would this branch be taken? Without doing it. */
static bool predict(const struct vpt_vcpu *v, const struct step *s)
{
	uint64_t count = v->regs->rcx, zf = v->regs->rflags & VPT_FL_ZF;

	if (s->insn.flags & VPT_INSN_ADDRESS16)
		count = (uint16_t)count;
	else if (s->insn.flags & VPT_INSN_ADDRESS32 || v->bits == 32)
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
		return vpt_insn_condition(s->insn.aux, v->regs->rflags);
	}
}

/* Where a direct near branch goes. */
static uint64_t target_of(const struct vpt_vcpu *v, const struct step *s)
{
	uint64_t target = wrap(v, s->next + (uint64_t)s->insn.disp);

	return s->insn.flags & VPT_INSN_TARGET16 ? (uint16_t)target : target;
}

/* Can the instruction have led there? */
static bool explains(const struct vpt_vcpu *v, const struct step *s, uint64_t to)
{
	uint64_t target = target_of(v, s);

	switch (s->insn.cls) {
	case VPT_INSN_COND:
		return to == ((v->pending & VPT_VCPU_TAKEN) ? target : s->next);
	case VPT_INSN_JMP:
	case VPT_INSN_CALL:
		return to == target;
	case VPT_INSN_JMP_INDIRECT:
	case VPT_INSN_CALL_INDIRECT:
	case VPT_INSN_RET:
	case VPT_INSN_FAR:
	case VPT_INSN_IRET:
		return true;
	default:
		return to == s->next;
	}
}

/* The leaves that KVM would not take over from our table. */
static void overlay_cpuid(struct vpt_vcpu *v, uint32_t leaf, uint32_t subleaf)
{
	const struct vpt_cpuid_entry *entry =
		vpt_cpuid_find(v->vm->cpuid, v->vm->cpuid_count, leaf, subleaf);
	uint32_t ecx;

	if (leaf == 0xd)
		return;
	if (!entry) {
		v->regs->rax = v->regs->rbx = v->regs->rcx = v->regs->rdx = 0;
		v->ev->regs_dirty = true;
		return;
	}
	ecx = entry->ecx;
	if (leaf == 1) {
		ecx &= ~(1u << 27);
		ecx |= v->s.cr4 & VPT_CR4_OSXSAVE ? 1u << 27 : 0;
	}
	v->regs->rax = entry->eax;
	v->regs->rbx = entry->ebx;
	v->regs->rcx = ecx;
	v->regs->rdx = entry->edx;
	v->ev->regs_dirty = true;
}

/* A string instruction may come back between its iterations. */
static bool between_iterations(const struct vpt_vcpu *v, const struct step *s)
{
	return s->insn.flags & VPT_INSN_REP && v->regs->rip == s->ip;
}

/* Each iteration traps, as an instruction would; the frame's RF says that it goes on. */
static bool iteration_traps(struct vpt_vcpu *v, const struct step *s)
{
	uint64_t causes = s->debug | (s->rflags & VPT_FL_TF ? VPT_DR6_BS : 0);

	/* The processor of a host delays the trap of TF to the last iteration. */
	if (!causes || (!(v->engine->can & VPT_ENGINE_DEBUG) && !s->debug))
		return false;
	v->regs->rflags |= VPT_FL_RF;
	vpt_exec_debug(v, causes | v->debug_pending);
	return true;
}

static enum vpt_done native(struct vpt_vcpu *v, struct step *s, struct vpt_exception *e)
{
	const struct vpt_step_hint hint = {
		.debug_regs = s->insn.flags & VPT_INSN_DEBUG_REGS,
		.msrs = s->insn.flags & VPT_INSN_SYSTEM,
	};
	uint32_t leaf = (uint32_t)v->regs->rax, subleaf = (uint32_t)v->regs->rcx;
	enum vpt_done done;
	struct vpt_exit exit;

	if (s->insn.cls == VPT_INSN_COND)
		vpt_put_bit(&v->pending, VPT_VCPU_TAKEN, predict(v, s));
	for (;;) {
		v->engine->step(v->ev, &hint, &exit);
		v->steps++;
		done = serve(v, s, &exit, e);
		if (done != VPT_DONE_RETIRED)
			return done;
		if (!between_iterations(v, s))
			break;
		if (v->vm->stop.kind || v->urgent || iteration_traps(v, s))
			return VPT_DONE_AGAIN;
	}
	if (s->insn.flags & VPT_INSN_SYSTEM || !s->decoded)
		vpt_vcpu_load(v);
	if (s->insn.flags & VPT_INSN_DEBUG_REGS && !(v->engine->can & VPT_ENGINE_DEBUG))
		vpt_put_bit(&v->way, VPT_WAY_BREAKPOINTS, vpt_debug_set(v));
	if (s->insn.cls == VPT_INSN_CPUID && !v->vm->probe.cpuid_pt)
		overlay_cpuid(v, leaf, subleaf);
	if (!(v->engine->can & VPT_ENGINE_COUNTS)) {
		vpt_clock_stepped(v, &s->insn);
		v->ev->retired++;
	}
	return VPT_DONE_RETIRED;
}

static void begin(struct vpt_vcpu *v, struct step *s, uint64_t ip)
{
	memset(s, 0, sizeof(*s));
	s->ip = ip;
	s->cpl = v->cpl;
	s->rflags = v->regs->rflags;
	s->cr0 = v->s.cr0;
	s->traced = vpt_tracer_on(&v->tracer);
	if (vpt_unlikely(v->hv))
		vpt_hv_begin(v);
	vpt_fetch(v, ip, &s->f);
	if (s->f.insn) {
		s->insn = *s->f.insn;
		s->decoded = true;
	}
	s->next = wrap(v, ip + s->insn.len);
	if (s->decoded && s->traced)
		vpt_tracer_code(&v->tracer, v->s.cr3,
				v->bits == 64 ? ip : wrap(v, ip + v->s.cs.base), s->insn.len,
				s->f.gpa, s->f.gpa2);
}

/* PUSHF that ran in a step has pushed the TF of that. */
static bool hide_pushed_tf(struct vpt_vcpu *v, const struct step *s, unsigned int bytes)
{
	struct vpt_exception e;
	uint64_t flags = 0;

	if (!vpt_read(v, v->regs->rsp, &flags, bytes, VPT_WALK_READ, &e))
		return false;
	flags = (flags & ~VPT_FL_TF) | (s->rflags & VPT_FL_TF);
	return vpt_write(v, v->regs->rsp, &flags, bytes, VPT_WALK_WRITE, &e);
}

/*
 * Some hosts hold the trap after a load of SS back for one more instruction, which
 * then has run too. It must be one that the engine may step.
 */
static bool after_ss(struct vpt_vcpu *v, const struct step *first, uint64_t to)
{
	struct step second;

	retired(v, first, first->next);
	v->ev->retired++;
	begin(v, &second, first->next);
	if (second.insn.cls == VPT_INSN_COND)
		vpt_put_bit(&v->pending, VPT_VCPU_TAKEN, to == target_of(v, &second));
	if (!second.decoded || !explains(v, &second, to))
		return false;
	if (second.insn.flags & VPT_INSN_SYSTEM && !(second.insn.flags & VPT_INSN_LOADS_SS))
		return false;
	if (second.insn.cls == VPT_INSN_PUSHF && !hide_pushed_tf(v, first, second.insn.aux))
		return false;
	vpt_clock_stepped(v, &second.insn);
	retired(v, &second, to);
	return true;
}

/* What the tracer itself has counted, between an end of the trace and its start. */
static enum vpt_done counted_by_tracer(struct vpt_vcpu *v, const struct step *s)
{
	v->regs->rflags &= ~VPT_FL_RF;
	v->ev->regs_dirty = true;
	v->pending &= ~VPT_VCPU_ARRIVED;
	v->shadowed &= ~(VPT_VCPU_SHADOW | VPT_VCPU_AFTER_SS);
	v->retired++;
	vpt_irq_retired(v);
	debug_trap(v, s);
	return VPT_DONE_AGAIN;
}

/* PT's MSRs: the tracer counts the instruction itself. */
static enum vpt_done wrmsr(struct vpt_vcpu *v, const struct step *s, struct vpt_exception *e)
{
	const struct vpt_retired insn = describe(v, s, s->next);
	uint64_t value = (uint32_t)v->regs->rax | v->regs->rdx << 32;

	if (vpt_msr_write(v, (uint32_t)v->regs->rcx, value, &insn) != VPT_FAULT_NONE) {
		*e = vpt_fault_code(VPT_VEC_GP, 0);
		return VPT_DONE_FAULT;
	}
	vpt_vcpu_set_rip(v, s->next);
	v->ev->retired++;
	return counted_by_tracer(v, s);
}

/* XSAVES and XRSTORS of PT's registers: the engine does them, and calls back (xstate.c). */
static enum vpt_done native_and_told(struct vpt_vcpu *v, struct step *s, struct vpt_exception *e)
{
	enum vpt_done done;

	v->running = describe(v, s, s->next);
	v->pending &= ~VPT_VCPU_TOLD;
	done = native(v, s, e);
	return v->pending & VPT_VCPU_TOLD && done == VPT_DONE_RETIRED ? counted_by_tracer(v, s)
								      : done;
}

/* Debug registers that are guarded. The handler may use them: the guard goes. */
static bool guard_faults(struct vpt_vcpu *v, const struct step *s, struct vpt_exception *e)
{
	if (!(s->insn.flags & VPT_INSN_DEBUG_REGS) || v->cpl || !vpt_debug_guarded(v))
		return false;
	v->regs->rflags |= VPT_FL_RF;
	vpt_debug_report(v, VPT_DR6_BD);
	*e = vpt_fault_plain(VPT_VEC_DB);
	return true;
}

static enum vpt_done execute(struct vpt_vcpu *v, struct step *s, struct vpt_exception *e)
{
	enum vpt_done done = VPT_DONE_NATIVE;

	if (s->insn.cls == VPT_INSN_WRMSR && !v->cpl && vpt_msr_traps((uint32_t)v->regs->rcx))
		return wrmsr(v, s, e);
	if (guard_faults(v, s, e))
		return VPT_DONE_FAULT;
	if (s->decoded)
		done = vpt_emulate(v, &s->insn, e);
	if (done == VPT_DONE_RETIRED)
		v->ev->retired++;
	if (done != VPT_DONE_NATIVE)
		return done;
	done = v->engine->can & VPT_ENGINE_REPORTS ? native_and_told(v, s, e) : native(v, s, e);
	if (done == VPT_DONE_RETIRED && v->regs->rflags & VPT_FL_RF) {
		v->regs->rflags &= ~VPT_FL_RF;
		v->ev->regs_dirty = true;
	}
	if (done != VPT_DONE_RETIRED || (s->decoded && explains(v, s, v->regs->rip)))
		return done;
	if (s->insn.flags & VPT_INSN_LOADS_SS && after_ss(v, s, v->regs->rip))
		return VPT_DONE_AGAIN;
	unexplained(v, s, v->regs->rip);
	return VPT_DONE_STOPPED;
}

/* Returns false, with the VM stopped, for code that the host cannot step. */
static bool can_step(struct vpt_vcpu *v)
{
	if (v->engine->can & VPT_ENGINE_MODES)
		return true;
	if (!v->long_mode) {
		vpt_vm_stop(v->vm, VPT_STOP_UNTRACEABLE, "code at %#llx outside long mode",
			    (unsigned long long)v->regs->rip);
		return false;
	}
	if (v->cpl && !v->vm->probe.step[1]) {
		vpt_vm_stop(v->vm, VPT_STOP_UNTRACEABLE, "ring 3 code at %#llx",
			    (unsigned long long)v->regs->rip);
		return false;
	}
	return true;
}

/* A #DB fault before the instruction; true if so. */
static bool breakpoint(struct vpt_vcpu *v)
{
	uint64_t ip = v->regs->rip;
	uint64_t hit = vpt_debug_breakpoints(v, v->bits == 64 ? ip : wrap(v, ip + v->s.cs.base));

	if (hit)
		vpt_exec_debug(v, hit);
	return hit;
}

void vpt_exec_one(struct vpt_vcpu *v)
{
	struct vpt_exception e;
	struct step s;

	if (vpt_unlikely(v->hv) && !vpt_hv_go(v, false))
		return;
	if (!can_step(v) ||
	    ((v->engine->can & VPT_ENGINE_DEBUG || v->way & VPT_WAY_BREAKPOINTS) && breakpoint(v)))
		return;
	begin(v, &s, v->regs->rip);
	switch (execute(v, &s, &e)) {
	case VPT_DONE_RETIRED:
		retired(v, &s, v->regs->rip);
		break;
	case VPT_DONE_FAULT:
		raise(v, &e, s.ip);
		break;
	default:
		break;
	}
}
