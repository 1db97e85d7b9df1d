/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's x87, an FXSAVE64 image (SDM vol. 1, 10.5.1), field by field. */
#ifndef VMM_SOFT_X87_H
#define VMM_SOFT_X87_H

#include "soft/native.h"

struct vpt_x87_image {
	uint16_t fcw, fsw;
	uint8_t ftw; /* a bit for each register that is not empty */
	uint8_t reserved;
	uint16_t fop;
	uint64_t fip, fdp;
	uint32_t mxcsr, mxcsr_mask;
	struct {
		uint8_t bytes[16];
	} st[8]; /* ST0 first */
};

#define VPT_FCW_DEFAULT 0x37fu
/* What FCW can hold; bit 6 always reads as one. */
#define VPT_FCW_BITS  0x1f3fu
#define VPT_FCW_FIXED 0x40u
#define VPT_FSW_ES    (1u << 7)
#define VPT_FSW_BUSY  (1u << 15)
#define VPT_X87_FLAGS 0x3fu

static inline struct vpt_x87_image *vpt_x87(struct vpt_soft *c)
{
	return (struct vpt_x87_image *)c->fpu.x87;
}

static inline unsigned int vpt_x87_top(const struct vpt_x87_image *x)
{
	return x->fsw >> 11 & 7;
}

/* Is an exception that is not masked waiting to be raised? */
static inline bool vpt_x87_pending(const struct vpt_x87_image *x)
{
	return x->fsw & ~x->fcw & VPT_X87_FLAGS;
}

/* ES and B follow from the flags and the masks. */
static inline void vpt_x87_summarize(struct vpt_x87_image *x)
{
	x->fsw &= (uint16_t) ~(VPT_FSW_ES | VPT_FSW_BUSY);
	if (vpt_x87_pending(x))
		x->fsw |= VPT_FSW_ES | VPT_FSW_BUSY;
}

/* Registers stay where they are when another becomes the top of the stack. */
void vpt_x87_set_top(struct vpt_x87_image *x, unsigned int top);
/* As after FNINIT, which does not clear registers. */
void vpt_x87_init(struct vpt_x87_image *x);

/* x87env.c: FLDENV, FNSTENV, FRSTOR, FNSAVE. */
bool vpt_tr_x87_environment(struct vpt_translation *t);

#endif /* VMM_SOFT_X87_H */
