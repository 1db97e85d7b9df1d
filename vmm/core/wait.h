/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting: HLT, MONITOR and MWAIT, UMONITOR, UMWAIT and TPAUSE. */
#ifndef VMM_CORE_WAIT_H
#define VMM_CORE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/emulate.h"
#include "pt/tracer.h"

struct vpt_vcpu;

/* Bits of vpt_wait.flags, and of a snapshot's vpt_wait_state.flags. */
enum vpt_wait_state_flags {
	VPT_WAIT_ARMED = 1 << 0,       /* MONITOR or UMONITOR */
	VPT_WAIT_INSTRUCTION = 1 << 1, /* by MWAIT, UMWAIT, TPAUSE; else by HLT */
	VPT_WAIT_ANY_IRQ = 1 << 2,     /* an interrupt ends it, whatever RFLAGS.IF */
	VPT_WAIT_TIMED = 1 << 3,       /* the deadline ends it */
	VPT_WAIT_OS_LIMIT = 1 << 4,    /* the deadline is that of IA32_UMWAIT_CONTROL */
	VPT_WAIT_TOLD = 1 << 5,	       /* the halt was reported to PT */
	VPT_WAIT_FLAGS = (1 << 6) - 1,
};

/* What MONITOR watches, and what a vCPU that is halted waits for. */
#define VPT_WAIT_LINE 64u
struct vpt_wait {
	uint64_t line;		     /* guest-physical */
	uint64_t deadline;	     /* what RDTSC returns then */
	uint8_t copy[VPT_WAIT_LINE]; /* of the line, when it was armed */
	uint8_t cstate;		     /* as events have it */
	uint8_t hints, ext;
	uint32_t flags; /* enum vpt_wait_state_flags */
};

/* Any of the instructions; NATIVE: not the core's here. */
enum vpt_done vpt_emulate_wait(struct vpt_vcpu *v, const struct vpt_insn *insn,
			       struct vpt_exception *e);

/* An engine has done a HLT. */
void vpt_wait_hlt(struct vpt_vcpu *v);

/* The vCPU is halted now, by the instruction at `ip`: tell PT. */
void vpt_wait_tell(struct vpt_vcpu *v, uint64_t ip, uint64_t next);

/* It is halted no more, if it was; before an event that ends it changes anything. */
void vpt_wait_end(struct vpt_vcpu *v, enum vpt_wake why);

/* Does something end it that is delivered to nobody? Then it did: a deadline, up to which
 * time passes, or an interrupt that RFLAGS.IF holds back. */
bool vpt_wait_look(struct vpt_vcpu *v);

/* struct vpt_wait. */
struct vpt_wait_state {
	uint64_t line, deadline;
	uint8_t copy[VPT_WAIT_LINE];
	uint8_t cstate, hints, ext;
	uint8_t flags; /* enum vpt_wait_state_flags */
	uint32_t reserved;
};

void vpt_wait_save(const struct vpt_vcpu *v, struct vpt_wait_state *state);
/* False: not a state of it; nothing changed. */
bool vpt_wait_load(struct vpt_vcpu *v, const struct vpt_wait_state *state);

#endif /* VMM_CORE_WAIT_H */
