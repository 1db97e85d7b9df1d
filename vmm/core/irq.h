/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: the pending ones, the time of the next one, and delivery. */
#ifndef VMM_CORE_IRQ_H
#define VMM_CORE_IRQ_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;

/*
 * Bits of core_irq.pending. Those of CORE_IRQ_SAVED are also bits of core_vcpu_state.flags in a
 * snapshot.
 */
enum core_irq_pending {
	CORE_IRQ_TIMER_DUE = 1 << 5,
	CORE_IRQ_PMI_RAISED = 1 << 6, /* since the guest last read the port */
	CORE_IRQ_PMI_DUE = 1 << 7,
	CORE_IRQ_SAVED = 7 << 5,
	CORE_IRQ_TIMER_ARMED = 1 << 16,
};

/* The most instructions until the timer fires. */
#define CORE_IRQ_TIMER_MOST 0x1000000u

/* The two interrupt sources of abi/boot.h, a timer and the PMI, and the devices' time. */
struct core_irq {
	uint32_t pending; /* enum core_irq_pending */
	uint8_t timer_vector;
	/* instructions until the timer fires, untraced: counted from timer_set */
	uint32_t timer_left;
	uint64_t timer_set; /* ns of the host, when untraced counting began */
	/* the value of ev->retired at which it fires, if instructions are counted */
	uint64_t timer_at;
	uint8_t pmi_vector; /* vector of the PMI, 0: LVTPC of the APIC has it */
	/* ns of the host at the devices' time 0, if instructions are not counted */
	uint64_t started;
	/* TSC ticks that the devices are ahead of the virtual TSC, if instructions are counted */
	int64_t ahead;
	uint64_t next; /* the devices' next event, as of their last access */
};

void core_irq_set_timer(struct core_vcpu *v, uint32_t value);
void core_irq_retired(struct core_vcpu *v);
bool core_irq_pending(const struct core_vcpu *v);
/*
 * Deliver a pending interrupt if RFLAGS.IF and the interrupt shadow allow that. An NMI goes first.
 * Returns true if an interrupt was delivered or the VM stopped.
 */
bool core_irq_deliver(struct core_vcpu *v);
/* Pass a pending NMI to an engine with nmi(). Returns true if it did. */
bool core_irq_pass_nmi(struct core_vcpu *v);
/*
 * Acknowledge the maskable interrupt of the highest priority, and return its vector. Call this only if
 * one is pending.
 */
uint8_t core_irq_take(struct core_vcpu *v);
/* Returns true if an NMI is pending, or blocked until the next IRET. */
bool core_irq_in_nmi(const struct core_vcpu *v);
/* Returns true if core_irq_deliver() would deliver an interrupt. */
bool core_irq_can_deliver(const struct core_vcpu *v);
/* Raise the PMI of a full ToPA region with INT set (33.2.7.2). */
void core_irq_pmi(struct core_vcpu *v);
/* Change the timer between exact counting (stepping) and the host's clock (free running). */
void core_irq_enter_untraced(struct core_vcpu *v);
void core_irq_leave_untraced(struct core_vcpu *v);
void core_irq_poll(struct core_vcpu *v);
/* Returns after how many ns the host's timer must end a run, at most @most. */
uint64_t core_irq_wait(const struct core_vcpu *v, uint64_t most);
/*
 * Returns the number of instructions until the next due time, or UINT64_MAX if there is none. If
 * instructions are not counted, the result only shows whether there is a due time.
 */
uint64_t core_irq_next(const struct core_vcpu *v);
/* The same, for events that can end a HLT. */
uint64_t core_irq_wakeup(const struct core_vcpu *v);
/* Process everything that is due now. */
void core_irq_advance(struct core_vcpu *v);
/* Let the time until the next due time pass in a HLT. */
void core_irq_skip_to_next(struct core_vcpu *v);
uint64_t core_now(void);

#endif /* VMM_CORE_IRQ_H */
