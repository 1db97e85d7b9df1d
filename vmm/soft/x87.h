/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fields of the guest's x87 state, which is an FXSAVE64 image (SDM vol. 1, 10.5.1). */
#ifndef VMM_SOFT_X87_H
#define VMM_SOFT_X87_H

#include "soft/native.h"

struct soft_x87_image {
	uint16_t fcw, fsw;
	uint8_t ftw; /* one bit per register, set if the register is not empty */
	uint8_t reserved;
	uint16_t fop;
	uint64_t fip, fdp;
	uint32_t mxcsr, mxcsr_mask;
	struct {
		uint8_t bytes[16];
	} st[8]; /* ST0 first */
};

#define SOFT_FCW_DEFAULT 0x37fu
/* The writable bits of FCW. Bit 6 always reads as one. */
#define SOFT_FCW_BITS  0x1f3fu
#define SOFT_FCW_FIXED 0x40u
#define SOFT_FSW_ES    (1u << 7)
#define SOFT_FSW_BUSY  (1u << 15)
#define SOFT_X87_FLAGS 0x3fu

static inline struct soft_x87_image *soft_x87(struct soft *c)
{
	return (struct soft_x87_image *)c->fpu.x87;
}

static inline unsigned int soft_x87_top(const struct soft_x87_image *x)
{
	return x->fsw >> 11 & 7;
}

/* Return true if an unmasked exception is pending. */
static inline bool soft_x87_pending(const struct soft_x87_image *x)
{
	return x->fsw & ~x->fcw & SOFT_X87_FLAGS;
}

/* Set ES and B according to the flags and the masks. */
static inline void soft_x87_summarize(struct soft_x87_image *x)
{
	x->fsw &= (uint16_t) ~(SOFT_FSW_ES | SOFT_FSW_BUSY);
	if (soft_x87_pending(x))
		x->fsw |= SOFT_FSW_ES | SOFT_FSW_BUSY;
}

/* Set TOP. Each physical register keeps its value, so the ST registers rotate. */
void soft_x87_set_top(struct soft_x87_image *x, unsigned int top);
/* Set the state after FNINIT, which does not clear data registers. */
void soft_x87_init(struct soft_x87_image *x);

/* x87env.c: FLDENV, FNSTENV, FRSTOR, FNSAVE. */
bool soft_tr_x87_environment(struct soft_translation *t);

#endif /* VMM_SOFT_X87_H */
