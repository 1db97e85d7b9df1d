/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual processor: its state, its pending events and its trace. */
#ifndef VMM_CORE_VCPU_H
#define VMM_CORE_VCPU_H

#include "core/mark.h"
#include "core/bit.h"
#include "core/clock.h"
#include "core/input.h"
#include "core/insn.h"
#include "core/irq.h"
#include "core/perfmon.h"
#include "core/vm.h"
#include "core/wait.h"
#include "x86/x86.h"
#include "pt/tracer.h"
#include "trace/post_mortem.h"

#define CORE_MAX_WATCHES 64

struct core_vcpu_hv;

/*
 * Bits of core_vcpu.pending: results of the last instruction that affect the next step of the core.
 * A snapshot has CORE_VCPU_PENDING_SAVED as bits of core_vcpu_state.flags.
 */
enum core_vcpu_pending {
	CORE_VCPU_HALTED = 1 << 0,
	CORE_VCPU_ARRIVED = 1 << 2,    /* a taken branch or an event led to the next instruction */
	CORE_VCPU_WAIT_SIPI = 1 << 8,  /* INIT came, and the start-up IPI did not */
	CORE_VCPU_WOKEN = 1 << 9,      /* its wait is over, and it has not run since (turns.c) */
	CORE_VCPU_READ_TIME = 1 << 10, /* core_clock_read(), and no packet since */
	CORE_VCPU_PENDING_SAVED = CORE_VCPU_HALTED | CORE_VCPU_ARRIVED | CORE_VCPU_WAIT_SIPI |
				  CORE_VCPU_WOKEN | CORE_VCPU_READ_TIME,
	CORE_VCPU_TAKEN = 1 << 17, /* core_emulate() took the conditional branch */
	CORE_VCPU_KICK_ARMED = 1 << 18,
	CORE_VCPU_YIELDS = 1 << 19, /* the turn ends before its time (turns.h) */
	CORE_VCPU_ASKED = 1 << 20,  /* core_vm_hooks.asked_vcpu is due */
};

/*
 * Bits of core_vcpu.shadowed: events that may not be delivered yet. Also bits of
 * core_vcpu_state.flags.
 */
enum core_vcpu_shadowed {
	CORE_VCPU_SHADOW = 1 << 1,	/* interrupts, after STI or a load of SS */
	CORE_VCPU_NMI_BLOCKED = 1 << 3, /* from the delivery of an NMI to the next IRET */
	CORE_VCPU_AFTER_SS = 1 << 4,	/* breakpoints, after a load of SS */
	CORE_VCPU_SHADOWED_SAVED = CORE_VCPU_SHADOW | CORE_VCPU_NMI_BLOCKED | CORE_VCPU_AFTER_SS,
};

/* Bits of core_vcpu.way: how the guest runs, and its clock. */
enum core_vcpu_way {
	CORE_WAY_STEP_ALWAYS = 1 << 0,	 /* untraced code is stepped, too */
	CORE_WAY_BREAKPOINTS = 1 << 1,	 /* DR7 enables breakpoints, which the core must check */
	CORE_WAY_UNTRACED = 1 << 2,	 /* timers run on the host's clock */
	CORE_WAY_HELD = 1 << 3,		 /* the TSC is virtual, because a trace has begun */
	CORE_WAY_RAN_FREE = 1 << 4,	 /* the guest has run on the host's TSC */
	CORE_WAY_STEP_TO_PLAIN = 1 << 5, /* a snapshot: stepped until core_switch_is_plain() */
};

/* Values of core_vcpu.urged: when core_vcpu_urge() was last called. */
enum core_vcpu_urged {
	CORE_URGED_NEVER = 0,
	CORE_URGED_BEFORE, /* before the last core_loop_poll() */
	CORE_URGED_NOW,	   /* after it */
};

struct core_vcpu {
	struct core_vm *vm;
	unsigned int index;
	const struct engine *engine;
	struct engine_vcpu *ev;
	struct x86_regs *regs;

	/* The system state, and values derived from it; see core_vcpu_load(). */
	struct x86_sregs s;
	struct x86_paging paging;
	uint8_t cpl;
	uint8_t bits; /* the mode of the code: 64, 32 or 16 */

	struct core_insn_cache *insns;
	struct tracer tracer;
	struct core_irq irq;
	struct core_perfmon perfmon;
	/* future changes of the core clock, in order */
	struct core_cbr_change cbr[CORE_CBR_CHANGES];
	size_t cbr_next, cbr_count;
	struct core_vcpu_hv *hv;	 /* tracing of VM entries and exits (hv.h), or NULL */
	struct engine_observer observer; /* with ENGINE_REPORTS */
	struct core_wait wait;
	struct core_marks marks;
	struct core_input input;
	uint64_t watch[CORE_MAX_WATCHES]; /* core_vcpu_watch() */
	size_t watches;
	const struct engine_data_watch *data; /* core_vcpu_watch_data() */
	uint32_t datas;
	uint64_t ptwrite;  /* the operand of the current PTWRITE */
	uint32_t pending;  /* enum core_vcpu_pending */
	uint32_t shadowed; /* enum core_vcpu_shadowed */
	uint32_t way;	   /* enum core_vcpu_way */

	struct engine_report report; /* the report of the instruction in core_exec_one() */
	uint64_t host_offset;	/* the offset of the guest's TSC from the host's, when last read */
	uint64_t debug_pending; /* bits of DR6: a trap that a load of SS defers */

	uint64_t steps;			   /* steps of the engine */
	uint64_t exits;			   /* returns of the engine's run() (loop_free.c) */
	uint64_t retired;		   /* instructions retired in core_exec_one() */
	uint64_t deliveries;		   /* events delivered through the IDT */
	struct engine_exception delivered; /* the last delivered event */
	/* The event in delivery and the exceptions that it raised, in order (idt.c). */
	struct trace_guest_fault fault[TRACE_STOP_FAULTS];
	unsigned int faults; /* 0 between deliveries, except after a triple fault */
	uint64_t max_insns;  /* the limit of traced instructions, 0: no limit */
	uint64_t turn_end;   /* the TSC at which the turn ends; UINT64_MAX if there are no turns */
	uint64_t pause_at;   /* retired instructions at which the guest pauses (ENGINE_COUNTS) */
	uint64_t visit_at;   /* retired instructions at which core_vm_hooks.visit is called */
	uint64_t deadline;   /* ns of CLOCK_MONOTONIC, 0: no time limit */
	/* enum core_vcpu_urged; a signal handler sets it while the loop changes other state */
	volatile int urged;
	uint64_t next_tick;
	uint64_t sync_at; /* retired instructions at which the file is next brought up to date */
};

/* Create the engine's part of a vCPU, with its clock at 0. Returns 0 or -errno. */
int core_vcpu_make(struct core_vcpu *v, const struct engine *engine, struct engine_vm *machine,
		   struct engine_vcpu **ev);
/* Create a vCPU. Returns 0 or -errno. The tracer has no writer until core_vcpu_record(). */
int core_vcpu_create(struct core_vm *vm, unsigned int index, struct core_vcpu **vcpu);
void core_vcpu_destroy(struct core_vcpu *vcpu);

/*
 * Record to a file, which may be NULL. Call before the guest runs. @oracle: 0, TRACER_CONFIG_ORACLE,
 * or TRACER_CONFIG_ORACLE | TRACER_CONFIG_BLOCKS. Returns 0 or -errno.
 */
int core_vcpu_record(struct core_vcpu *v, struct trace_writer *writer, uint32_t oracle,
		     const struct vpt_caps *tracer_caps);

/*
 * Set the instructions at which an untraced run must pause for core_exec_one(). The host would
 * execute them wrongly, or the owner of the VM wants to be called. With more than
 * CORE_MAX_WATCHES, or more than the engine can have, all code is stepped. Returns 0 or -errno.
 */
int core_vcpu_watch(struct core_vcpu *v, const uint64_t *ips, size_t count);

/*
 * Let core_vm_hooks.touched be called after each instruction, and each delivery of an event, that makes
 * such an access. The array stays the caller's. Returns -ENOTSUP if the engine has no watch_data().
 */
int core_vcpu_watch_data(struct core_vcpu *v, const struct engine_data_watch *watches,
			 uint32_t count);

/*
 * Let core_vm_hooks.asked_vcpu be called for this vCPU. With threads, the caller has the machine's
 * lock.
 */
void core_vcpu_ask(struct core_vcpu *v);

/* Deliver an interrupt or execute one instruction, with exact time. */
void core_vcpu_step(struct core_vcpu *v);

/* Run until the VM stops, then end a trace that is still running. */
void core_vcpu_loop(struct core_vcpu *v);

/*
 * Let the guest pause when its vCPUs have retired core_vm.pause_at instructions, during the turn of
 * this vCPU: see core_vm_hooks.pause.
 */
void core_vcpu_pause(struct core_vcpu *v);

/*
 * Make the loop of this vCPU call core_loop_poll() at once, which checks the deadline and calls the
 * tick hook. A long instruction with REP ends between two iterations, and a search of memory for the
 * tracer ends early. Use this function only if the guest will stop: see engine.interrupt().
 *
 * A signal handler may call this function. If the engine has ENGINE_COUNTS, it must be one of the
 * thread that runs the vCPU. Otherwise it may be one of any thread. core_threads_urge() ends the
 * system calls in which vCPUs wait.
 */
void core_vcpu_urge(struct core_vcpu *v);

/* Read the system state from the engine, or write it back after a change. */
void core_vcpu_load(struct core_vcpu *v);
void core_vcpu_store(struct core_vcpu *v);

/* Returns true if time is the count of instructions, which the engine or its caller keeps. */
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
