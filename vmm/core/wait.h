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
	CORE_WAIT_ARMED = 1 << 0,	/* MONITOR or UMONITOR watches `line` */
	CORE_WAIT_INSTRUCTION = 1 << 1, /* halted by MWAIT, UMWAIT or TPAUSE, else by HLT */
	CORE_WAIT_ANY_IRQ = 1 << 2,	/* an interrupt ends the wait even if RFLAGS.IF is clear */
	CORE_WAIT_TIMED = 1 << 3,	/* `deadline` ends the wait */
	CORE_WAIT_OS_LIMIT = 1 << 4,	/* the deadline is from IA32_UMWAIT_CONTROL */
	CORE_WAIT_TOLD = 1 << 5,	/* the start of the wait was reported to PT */
	CORE_WAIT_MONITORED = 1 << 6,	/* a store to `line` ends the wait */
	CORE_WAIT_FLAGS = (1 << 7) - 1,
};

/* The line that MONITOR watches, and the condition that a halted vCPU waits for. */
#define CORE_WAIT_LINE 64u
struct core_wait {
	uint64_t line;		      /* guest-physical */
	uint64_t deadline;	      /* the TSC that RDTSC returns */
	uint8_t copy[CORE_WAIT_LINE]; /* the line's bytes when MONITOR armed */
	uint8_t cstate;		      /* the C-state in events */
	uint8_t hints, ext;
	uint32_t flags; /* enum core_wait_state_flags */
};

/* Execute a waiting instruction. Returns CORE_DONE_NATIVE if the engine must execute it. */
enum core_done core_emulate_wait(struct core_vcpu *v, const struct core_insn *insn,
				 struct engine_exception *e);

/* Halt the vCPU after the engine has executed HLT. */
void core_wait_hlt(struct core_vcpu *v);

/* Complete the event of an instruction that has halted the vCPU. */
void core_wait_describe(struct core_vcpu *v, struct vpt_event *event);

/* End a wait, if there is one. Call before the event that ends it changes any state. */
void core_wait_end(struct core_vcpu *v, enum vpt_wake why);

/*
 * End the wait if its cause delivers no event: a deadline, up to which time advances, or an
 * interrupt that RFLAGS.IF masks. Returns true if the wait ended.
 */
bool core_wait_ends(struct core_vcpu *v);

/* Returns true if an interrupt or a store ends the wait of a halted vCPU now. */
bool core_wait_is_over(const struct core_vcpu *v);
/*
 * Returns the number of core clocks until a timer ends the wait of a halted vCPU, or UINT64_MAX if
 * none does.
 */
uint64_t core_wait_clocks(const struct core_vcpu *v);

/* The form of struct core_wait in a snapshot. */
struct core_wait_state {
	uint64_t line, deadline;
	uint8_t copy[CORE_WAIT_LINE];
	uint8_t cstate, hints, ext;
	uint8_t flags; /* enum core_wait_state_flags */
	uint32_t reserved;
};

void core_wait_save(const struct core_vcpu *v, struct core_wait_state *state);
/* Returns false if the state is impossible; nothing changed then. */
bool core_wait_load(struct core_vcpu *v, const struct core_wait_state *state);

#endif /* VMM_CORE_WAIT_H */
