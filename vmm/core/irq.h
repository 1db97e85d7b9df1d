/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: what is pending, when the next one comes, and its delivery. */
#ifndef VMM_CORE_IRQ_H
#define VMM_CORE_IRQ_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;

/* Bits of core_irq.pending. A snapshot has them as bits of core_vcpu_state.flags, but the last. */
enum core_irq_pending {
	CORE_IRQ_TIMER_DUE = 1 << 5,
	CORE_IRQ_PMI_RAISED = 1 << 6, /* since the guest read the port */
	CORE_IRQ_PMI_DUE = 1 << 7,
	CORE_IRQ_SAVED = 7 << 5,
	CORE_IRQ_TIMER_ARMED = 1 << 16,
};

/* Interrupts to come (abi/boot.h): one timer, one PMI; and the devices' time. */
struct core_irq {
	uint32_t pending; /* enum core_irq_pending */
	uint8_t timer_vector;
	uint32_t timer_left; /* instructions; while untraced as of timer_set */
	uint64_t timer_set;  /* ns, when untraced counting began */
	uint64_t timer_at;   /* with an engine that counts: of ev->retired */
	uint8_t pmi_vector;  /* 0: LVTPC */
	uint64_t started;    /* ns of the host, with others: the devices' time 0 */
	uint64_t next;	     /* of the devices, when they were last touched */
};

void core_irq_set_timer(struct core_vcpu *v, uint32_t value);
void core_irq_retired(struct core_vcpu *v);
bool core_irq_pending(const struct core_vcpu *v);
/* Deliver one if RFLAGS.IF and the shadow allow, an NMI first; true if so. */
bool core_irq_deliver(struct core_vcpu *v);
/* A ToPA region with INT set is full (33.2.7.2). */
void core_irq_pmi(struct core_vcpu *v);
/* Crossing between exact counting (stepped) and the host's clock. */
void core_irq_enter_untraced(struct core_vcpu *v);
void core_irq_leave_untraced(struct core_vcpu *v);
void core_irq_poll(struct core_vcpu *v);
/* When the host's timer must end a run: ns from now, at most `most`. */
uint64_t core_irq_wait(const struct core_vcpu *v, uint64_t most);
/*
 * For an engine that counts: return the instructions until the next due time (UINT64_MAX if there
 * is none), process everything that is due now, and let that time pass in a HLT.
 */
uint64_t core_irq_next(const struct core_vcpu *v);
void core_irq_advance(struct core_vcpu *v);
void core_irq_skip_to_next(struct core_vcpu *v);
/* In a HLT that nothing of that will end: wait for input, for a while. False: there is
 * nobody who could type, or the guest does not want to know. */
bool core_irq_listen(struct core_vcpu *v);
uint64_t core_now(void);

#endif /* VMM_CORE_IRQ_H */
