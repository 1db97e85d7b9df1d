/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual processor: what runs on it, what it waits for, how it is traced. */
#ifndef VMM_CORE_VCPU_H
#define VMM_CORE_VCPU_H

#include "core/bit.h"
#include "core/clock.h"
#include "core/insn.h"
#include "core/irq.h"
#include "core/perfmon.h"
#include "core/vm.h"
#include "core/wait.h"
#include "x86/x86.h"
#include "pt/tracer.h"
#include "trace/post_mortem.h"

#define CORE_MAX_WATCHES 4

struct core_vcpu_hv;

/*
 * Bits of core_vcpu.pending: what the last instruction left for the next step of the core. A
 * snapshot has the first two as bits of core_vcpu_state.flags.
 */
enum core_vcpu_pending {
	CORE_VCPU_HALTED = 1 << 0,
	CORE_VCPU_ARRIVED = 1 << 2, /* the next instruction is the target of a transfer */
	CORE_VCPU_PENDING_SAVED = CORE_VCPU_HALTED | CORE_VCPU_ARRIVED,
	CORE_VCPU_TAKEN = 1 << 17, /* core_emulate() took the conditional branch */
	CORE_VCPU_KICK_ARMED = 1 << 18,
};

/* Bits of core_vcpu.shadowed: what may not be delivered yet. Bits of core_vcpu_state.flags, too. */
enum core_vcpu_shadowed {
	CORE_VCPU_SHADOW = 1 << 1,	/* interrupts, after STI or a load of SS */
	CORE_VCPU_NMI_BLOCKED = 1 << 3, /* from the delivery of an NMI to the next IRET */
	CORE_VCPU_AFTER_SS = 1 << 4,	/* breakpoints, after a load of SS */
	CORE_VCPU_SHADOWED_SAVED = CORE_VCPU_SHADOW | CORE_VCPU_NMI_BLOCKED | CORE_VCPU_AFTER_SS,
};

/* Bits of core_vcpu.way: how the guest is run, and by which clock. */
enum core_vcpu_way {
	CORE_WAY_STEP_ALWAYS = 1 << 0, /* untraced code is stepped too */
	CORE_WAY_BREAKPOINTS = 1 << 1, /* DR7 enables some, which the core has to check for */
	CORE_WAY_UNTRACED = 1 << 2,    /* timers run on the host's clock */
	CORE_WAY_HELD = 1 << 3,	       /* the TSC does not, since a trace has begun */
	CORE_WAY_RAN_FREE = 1 << 4,    /* the guest has seen the host's TSC */
};

struct core_vcpu {
	struct core_vm *vm;
	unsigned int index;
	const struct engine *engine;
	struct engine_vcpu *ev;
	struct x86_regs *regs;

	/* System state and what follows from it; see core_vcpu_load(). */
	struct x86_sregs s;
	struct x86_paging paging;
	uint8_t cpl;
	uint8_t bits; /* 64, 32, 16: the mode of code */

	struct core_insn_cache *insns;
	struct tracer tracer;
	struct core_irq irq;
	struct core_perfmon perfmon;
	struct core_cbr_change cbr[CORE_CBR_CHANGES]; /* to come, in their order */
	size_t cbr_next, cbr_count;
	struct core_vcpu_hv *hv; /* VM entries and exits are traced (hv.h); NULL: there are none */
	struct engine_observer observer; /* ENGINE_REPORTS */
	struct core_wait wait;
	uint64_t ptwrite;  /* the operand of the PTWRITE at hand */
	uint32_t pending;  /* enum core_vcpu_pending */
	uint32_t shadowed; /* enum core_vcpu_shadowed */
	uint32_t way;	   /* enum core_vcpu_way */

	struct engine_report report; /* of the instruction in core_exec_one() */
	uint64_t host_offset;	/* software's, in the TSC of a host, when it was last looked at */
	uint64_t debug_pending; /* bits of DR6: a trap that a load of SS holds back */

	uint64_t steps;			   /* by the engine */
	uint64_t retired;		   /* in core_exec_one() */
	uint64_t deliveries;		   /* through the IDT */
	struct engine_exception delivered; /* the last of them */
	/* The event in delivery and the exceptions that it raised, in order (idt.c). */
	struct trace_guest_fault fault[TRACE_STOP_FAULTS];
	unsigned int faults; /* 0 between deliveries; else those behind a triple fault */
	uint64_t max_insns;  /* traced ones; 0: no limit */
	uint64_t pause_at;   /* retired ones, exactly (ENGINE_COUNTS) */
	uint64_t deadline;   /* ns of CLOCK_MONOTONIC, 0: none */
	/*
	 * core_vcpu_urge() was called since the loop last looked around, and ever. These two are
	 * no bits, because a signal handler sets them while the loop changes other state.
	 */
	volatile bool urgent, hurry;
	uint64_t next_tick;
	uint64_t sync_at; /* retired by then, the file is brought up to date */
};

/* 0 or -errno. The tracer starts without a writer: see core_vcpu_record(). */
int core_vcpu_create(struct core_vm *vm, unsigned int index, struct core_vcpu **vcpu);
void core_vcpu_destroy(struct core_vcpu *vcpu);

/* Record to a file from now on; before the guest runs. 0 or -errno. */
int core_vcpu_record(struct core_vcpu *v, struct trace_writer *writer, bool oracle,
		     const struct vpt_caps *tracer_caps);

/*
 * Instructions at which an untraced run must pause for core_exec_one(), since the
 * host would do them wrong; more than CORE_MAX_WATCHES make all code be stepped.
 */
int core_vcpu_watch(struct core_vcpu *v, const uint64_t *ips, size_t count);

/* Deliver an interrupt, or run one instruction, in exact time. */
void core_vcpu_step(struct core_vcpu *v);

/* Run until the VM stops, then end a trace that is still on. */
void core_vcpu_loop(struct core_vcpu *v);

/*
 * Make core_vcpu_loop() check the deadline and call the tick hook at once. Only a signal handler
 * of the thread that runs the loop may call it, and only when the guest is to stop.
 */
void core_vcpu_urge(struct core_vcpu *v);

/* Take the system state over from the engine, or give it back after a change. */
void core_vcpu_load(struct core_vcpu *v);
void core_vcpu_store(struct core_vcpu *v);

/* Time is the count of instructions that the engine, or whoever steps it, keeps. */
static inline bool core_vcpu_counts(const struct core_vcpu *v)
{
	return v->engine->can & ENGINE_COUNTS || v->vm->counted;
}

static inline bool core_vcpu_long_mode(const struct core_vcpu *v)
{
	return v->s.efer & X86_EFER_LMA;
}

static inline void core_vcpu_set_rip(struct core_vcpu *v, uint64_t rip)
{
	v->regs->rip = v->bits == 64 ? rip : (uint32_t)rip;
	v->ev->state |= ENGINE_REGS_DIRTY;
}

#endif /* VMM_CORE_VCPU_H */
