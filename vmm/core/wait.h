/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waiting: HLT, MONITOR and MWAIT, UMONITOR, UMWAIT and TPAUSE. */
#ifndef VMM_CORE_WAIT_H
#define VMM_CORE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/emulate.h"
#include "pt/tracer.h"

struct core_vcpu;

/* Bits of core_wait.flags, and of a snapshot's core_wait_state.flags. */
enum core_wait_state_flags {
	CORE_WAIT_ARMED = 1 << 0,	/* MONITOR or UMONITOR */
	CORE_WAIT_INSTRUCTION = 1 << 1, /* by MWAIT, UMWAIT, TPAUSE; else by HLT */
	CORE_WAIT_ANY_IRQ = 1 << 2,	/* an interrupt ends it, whatever RFLAGS.IF */
	CORE_WAIT_TIMED = 1 << 3,	/* the deadline ends it */
	CORE_WAIT_OS_LIMIT = 1 << 4,	/* the deadline is that of IA32_UMWAIT_CONTROL */
	CORE_WAIT_TOLD = 1 << 5,	/* the halt was reported to PT */
	CORE_WAIT_FLAGS = (1 << 6) - 1,
};

/* The line that MONITOR watches, and the condition that a halted vCPU waits for. */
#define CORE_WAIT_LINE 64u
struct core_wait {
	uint64_t line;		      /* guest-physical */
	uint64_t deadline;	      /* what RDTSC returns then */
	uint8_t copy[CORE_WAIT_LINE]; /* of the line, when it was armed */
	uint8_t cstate;		      /* as events have it */
	uint8_t hints, ext;
	uint32_t flags; /* enum core_wait_state_flags */
};

/* Any of the instructions; NATIVE: not the core's here. */
enum core_done core_emulate_wait(struct core_vcpu *v, const struct core_insn *insn,
				 struct engine_exception *e);

/* An engine has done a HLT. */
void core_wait_hlt(struct core_vcpu *v);

/* The instruction of @event has halted the vCPU: complete its event. */
void core_wait_describe(struct core_vcpu *v, struct vpt_event *event);

/* It is halted no more, if it was; before an event that ends it changes anything. */
void core_wait_end(struct core_vcpu *v, enum vpt_wake why);

/* Does something end it that is delivered to nobody? Then it did: a deadline, up to which
 * time passes, or an interrupt that RFLAGS.IF holds back. */
bool core_wait_ends(struct core_vcpu *v);

/* struct core_wait. */
struct core_wait_state {
	uint64_t line, deadline;
	uint8_t copy[CORE_WAIT_LINE];
	uint8_t cstate, hints, ext;
	uint8_t flags; /* enum core_wait_state_flags */
	uint32_t reserved;
};

void core_wait_save(const struct core_vcpu *v, struct core_wait_state *state);
/* False: not a state of it; nothing changed. */
bool core_wait_load(struct core_vcpu *v, const struct core_wait_state *state);

#endif /* VMM_CORE_WAIT_H */
