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

#define VPT_MAX_WATCHES 4

struct vpt_vcpu_hv;

/*
 * Bits of vpt_vcpu.pending: what the last instruction left for the next step of the core. A
 * snapshot has the first two as bits of vpt_vcpu_state.flags.
 */
enum vpt_vcpu_pending {
	VPT_VCPU_HALTED = 1 << 0,
	VPT_VCPU_ARRIVED = 1 << 2, /* the next instruction is the target of a transfer */
	VPT_VCPU_PENDING_SAVED = VPT_VCPU_HALTED | VPT_VCPU_ARRIVED,
	VPT_VCPU_TOLD = 1 << 16,  /* the tracer has counted this instruction (xstate.c) */
	VPT_VCPU_TAKEN = 1 << 17, /* vpt_emulate() took the conditional branch */
	VPT_VCPU_KICK_ARMED = 1 << 18,
};

/* Bits of vpt_vcpu.shadowed: what may not be delivered yet. Bits of vpt_vcpu_state.flags, too. */
enum vpt_vcpu_shadowed {
	VPT_VCPU_SHADOW = 1 << 1,      /* interrupts, after STI or a load of SS */
	VPT_VCPU_NMI_BLOCKED = 1 << 3, /* from the delivery of an NMI to the next IRET */
	VPT_VCPU_AFTER_SS = 1 << 4,    /* breakpoints, after a load of SS */
	VPT_VCPU_SHADOWED_SAVED = VPT_VCPU_SHADOW | VPT_VCPU_NMI_BLOCKED | VPT_VCPU_AFTER_SS,
};

/* Bits of vpt_vcpu.way: how the guest is run, and by which clock. */
enum vpt_vcpu_way {
	VPT_WAY_STEP_ALWAYS = 1 << 0, /* untraced code is stepped too */
	VPT_WAY_BREAKPOINTS = 1 << 1, /* DR7 enables some, which the core has to check for */
	VPT_WAY_UNTRACED = 1 << 2,    /* timers run on the host's clock */
	VPT_WAY_HELD = 1 << 3,	      /* the TSC does not, since a trace has begun */
	VPT_WAY_RAN_FREE = 1 << 4,    /* the guest has seen the host's TSC */
};

struct vpt_vcpu {
	struct vpt_vm *vm;
	unsigned int index;
	const struct vpt_engine *engine;
	struct vpt_engine_vcpu *ev;
	struct vpt_regs *regs;

	/* System state and what follows from it; see vpt_vcpu_load(). */
	struct vpt_sregs s;
	struct vpt_paging paging;
	uint8_t cpl;
	uint8_t bits; /* 64, 32, 16: the mode of code */
	bool long_mode;

	struct vpt_insn_cache *insns;
	struct vpt_tracer tracer;
	struct vpt_irq irq;
	struct vpt_perfmon perfmon;
	struct vpt_cbr_change cbr[VPT_CBR_CHANGES]; /* to come, in their order */
	size_t cbr_next, cbr_count;
	struct vpt_vcpu_hv *hv; /* VM entries and exits are traced (hv.h); NULL: there are none */
	struct vpt_observer observer; /* VPT_ENGINE_REPORTS */
	struct vpt_wait wait;
	uint64_t ptwrite;  /* the operand of the PTWRITE at hand */
	uint32_t pending;  /* enum vpt_vcpu_pending */
	uint32_t shadowed; /* enum vpt_vcpu_shadowed */
	uint32_t way;	   /* enum vpt_vcpu_way */

	struct vpt_retired running; /* VPT_ENGINE_REPORTS: the instruction in vpt_exec_one() */
	uint64_t host_offset;	/* software's, in the TSC of a host, when it was last looked at */
	uint64_t debug_pending; /* bits of DR6: a trap that a load of SS holds back */

	uint64_t steps;			/* by the engine */
	uint64_t retired;		/* in vpt_exec_one() */
	uint64_t deliveries;		/* through the IDT */
	struct vpt_exception delivered; /* the last of them */
	/* What is being delivered, and what was raised meanwhile, in order (idt.c). */
	struct vpt_guest_fault fault[VPT_STOP_FAULTS];
	unsigned int faults; /* 0 between deliveries; else those behind a triple fault */
	uint64_t max_insns;  /* traced ones; 0: no limit */
	uint64_t pause_at;   /* retired ones, exactly (VPT_ENGINE_COUNTS) */
	uint64_t deadline;   /* ns of CLOCK_MONOTONIC, 0: none */
	/* vpt_vcpu_urge() was called: since the loop last looked around, and ever. */
	volatile bool urgent, hurry;
	uint64_t next_tick;
	uint64_t sync_at; /* retired by then, the file is brought up to date */
};

/* 0 or -errno. The tracer starts without a writer: see vpt_vcpu_record(). */
int vpt_vcpu_create(struct vpt_vm *vm, unsigned int index, struct vpt_vcpu **vcpu);
void vpt_vcpu_destroy(struct vpt_vcpu *vcpu);

/* Record to a file from now on; before the guest runs. 0 or -errno. */
int vpt_vcpu_record(struct vpt_vcpu *v, struct vpt_writer *writer, bool oracle,
		    const struct vpt_caps *tracer_caps);

/*
 * Instructions at which an untraced run must pause for vpt_exec_one(), since the
 * host would do them wrong; more than VPT_MAX_WATCHES make all code be stepped.
 */
int vpt_vcpu_watch(struct vpt_vcpu *v, const uint64_t *ips, size_t count);

/* Deliver an interrupt, or run one instruction, in exact time. */
void vpt_vcpu_step(struct vpt_vcpu *v);

/* Run until the VM stops, then end a trace that is still on. */
void vpt_vcpu_loop(struct vpt_vcpu *v);

/*
 * Make vpt_vcpu_loop() check the deadline and call the tick hook at once. Only a signal handler
 * of the thread that runs the loop may call it, and only when the guest is to stop.
 */
void vpt_vcpu_urge(struct vpt_vcpu *v);

/* Take the system state over from the engine, or give it back after a change. */
void vpt_vcpu_load(struct vpt_vcpu *v);
void vpt_vcpu_store(struct vpt_vcpu *v);

/* Time is the count of instructions that the engine, or whoever steps it, keeps. */
static inline bool vpt_vcpu_counts(const struct vpt_vcpu *v)
{
	return v->engine->can & VPT_ENGINE_COUNTS || v->vm->counted;
}

static inline void vpt_vcpu_set_rip(struct vpt_vcpu *v, uint64_t rip)
{
	v->regs->rip = v->bits == 64 ? rip : (uint32_t)rip;
	v->ev->regs_dirty = true;
}

#endif /* VMM_CORE_VCPU_H */
