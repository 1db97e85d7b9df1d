/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interrupts: what is pending, when the next one comes, and its delivery. */
#ifndef VMM_CORE_IRQ_H
#define VMM_CORE_IRQ_H

#include <stdbool.h>
#include <stdint.h>

struct vpt_vcpu;

/* Bits of vpt_irq.pending. A snapshot has them as bits of vpt_vcpu_state.flags, but the last. */
enum vpt_irq_pending {
	VPT_IRQ_TIMER_DUE = 1 << 5,
	VPT_IRQ_PMI_RAISED = 1 << 6, /* since the guest read the port */
	VPT_IRQ_PMI_DUE = 1 << 7,
	VPT_IRQ_SAVED = 7 << 5,
	VPT_IRQ_TIMER_ARMED = 1 << 16,
};

/* Interrupts to come (abi/boot.h): one timer, one PMI; and the devices' time. */
struct vpt_irq {
	uint32_t pending; /* enum vpt_irq_pending */
	uint8_t timer_vector;
	uint32_t timer_left; /* instructions; while untraced as of timer_set */
	uint64_t timer_set;  /* ns, when untraced counting began */
	uint64_t timer_at;   /* with an engine that counts: of ev->retired */
	uint8_t pmi_vector;  /* 0: LVTPC */
	uint64_t started;    /* ns of the host, with others: the devices' time 0 */
	uint64_t next;	     /* of the devices, when they were last touched */
};

void vpt_irq_set_timer(struct vpt_vcpu *v, uint32_t value);
void vpt_irq_retired(struct vpt_vcpu *v);
bool vpt_irq_pending(const struct vpt_vcpu *v);
/* Deliver one if RFLAGS.IF and the shadow allow, an NMI first; true if so. */
bool vpt_irq_deliver(struct vpt_vcpu *v);
/* A ToPA region with INT set is full (33.2.7.2). */
void vpt_irq_pmi(struct vpt_vcpu *v);
/* Crossing between exact counting (stepped) and the host's clock. */
void vpt_irq_enter_untraced(struct vpt_vcpu *v);
void vpt_irq_leave_untraced(struct vpt_vcpu *v);
void vpt_irq_poll(struct vpt_vcpu *v);
/* When the host's timer must end a run: ns from now, at most `most`. */
uint64_t vpt_irq_wait(const struct vpt_vcpu *v, uint64_t most);
/* With an engine that counts: instructions until something is due (UINT64_MAX: nothing
 * is to come); find what is due by now; in a HLT, let that time pass. */
uint64_t vpt_irq_next(const struct vpt_vcpu *v);
void vpt_irq_advance(struct vpt_vcpu *v);
void vpt_irq_skip_to_next(struct vpt_vcpu *v);
/* In a HLT that nothing of that will end: wait for input, for a while. False: there is
 * nobody who could type, or the guest does not want to know. */
bool vpt_irq_listen(struct vpt_vcpu *v);
uint64_t vpt_now(void);

#endif /* VMM_CORE_IRQ_H */
