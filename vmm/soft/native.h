/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest instructions that the host executes: each form becomes a small function, a
 * stub, that loads the registers the instruction names from the guest's state, runs
 * it, and stores what it wrote. Its memory operand, if any, is where the caller says.
 *
 * A stub is a micro-operation with one argument more, and goes on with the next.
 */
#ifndef VMM_SOFT_NATIVE_H
#define VMM_SOFT_NATIVE_H

#include "soft/access.h"
#include "soft/translate.h"

#define VPT_VEC_MF 16
#define VPT_VEC_XM 19

#define VPT_MXCSR_FLAGS	  0x3fu
#define VPT_MXCSR_DEFAULT 0x1f80u
/* Bit 17, misaligned SSE, is not for guests. */
#define VPT_MXCSR_VALID 0xffffu

enum vpt_recoded_how {
	VPT_HOW_MEM = 1 << 0,	    /* there is a memory operand */
	VPT_HOW_FLAGS_IN = 1 << 1,  /* arithmetic flags are read, or some are kept */
	VPT_HOW_FLAGS_OUT = 1 << 2, /* and written */
	VPT_HOW_MXCSR = 1 << 3,	    /* it rounds or raises as MXCSR says */
	VPT_HOW_VEX = 1 << 4,	    /* clears the upper parts of what it writes */
	VPT_HOW_EVEX = 1 << 5,
	VPT_HOW_MMX = 1 << 6,
	VPT_HOW_X87 = 1 << 7,
	VPT_HOW_SAE = 1 << 8, /* with VPT_HOW_MXCSR: all exceptions are masked */
};

enum vpt_recoded_gpr {
	VPT_GPR_READ = 1 << 0,
	VPT_GPR_WRITTEN = 1 << 1,
};

/*
 * An instruction as the host is to execute it, in 64-bit mode: vector and mask
 * registers are as in the guest, general registers have been given others. Two
 * instructions with the same of this share a stub.
 */
struct vpt_recoded {
	uint8_t bytes[16];
	uint8_t len;
	uint8_t gprs;
	struct {
		uint8_t offset; /* in the register file */
		uint8_t host;	/* number of the host's register */
		uint8_t access; /* enum vpt_recoded_gpr */
	} gpr[5];
	uint8_t pointer;    /* host register that points to the memory operand */
	uint8_t vector[32]; /* bytes to be loaded of each vector register */
	uint8_t k_used, k_written;
	uint8_t mm_used, mm_written;
	uint32_t vector_written;
	uint32_t how; /* enum vpt_recoded_how */
};

/* Only register operands that the instruction encodes, or implies, are looked at.
 * False: not an instruction that can be run so. */
bool vpt_recode(const struct vpt_translation *t, struct vpt_recoded *r);

typedef const struct vpt_uop *(*vpt_native_fn)(struct vpt_soft *c, const struct vpt_uop *u,
					       void *operand);

/* What stubs need to know of the machine they run on. */
struct vpt_native_host {
	bool avx, avx512, avx512bw;
};

/* Where a stub goes instead of on, with nothing changed: the MXCSR flags that it would
 * have set, of which one is not masked, are in place of the operand. */
const struct vpt_uop *vpt_native_trap(struct vpt_soft *c, const struct vpt_uop *u, void *flags);
/* Where it goes at once if the guest has underflow unmasked. */
const struct vpt_uop *vpt_native_tiny(struct vpt_soft *c, const struct vpt_uop *u, void *operand);

/* Most that vpt_stub_write() writes. */
#define VPT_STUB_MAX 1024u
/* Write the stub for `r` to `at`; it can be run at any address. Returns its length. */
size_t vpt_stub_write(uint8_t *at, const struct vpt_native_host *host, const struct vpt_recoded *r);

/* One per processor. NULL: errno. */
struct vpt_native *vpt_native_create(void);
void vpt_native_destroy(struct vpt_native *n);
/* Is there room for the instructions of one more block? If not, drop all blocks, then
 * reset. */
bool vpt_native_has_room(const struct vpt_native *n);
void vpt_native_reset(struct vpt_native *n);

/* The stub for `r`, NULL if there is no room. */
vpt_native_fn vpt_native_stub(struct vpt_native *n, const struct vpt_recoded *r);
/* Run u's stub and come back. A page of scratch memory for its operand. */
void vpt_native_call(struct vpt_soft *c, const struct vpt_uop *u, void *operand);
void *vpt_native_scratch(struct vpt_soft *c);

/* The memory operand among the visible ones, -1 if there is none. */
int vpt_native_memory(const struct vpt_translation *t);
/*
 * Emit what runs the instruction: registers only, or with a plain memory operand of
 * one piece, aligned as `align` says (a power of two; 1: any).
 */
bool vpt_native_emit(struct vpt_translation *t, const struct vpt_recoded *r, unsigned int align);
/* The same by a handler of the caller's; the address is put in unless mem < 0. NULL:
 * no room for the stub. */
struct vpt_uop *vpt_native_emit_by(struct vpt_translation *t, const struct vpt_recoded *r,
				   vpt_uop_fn fn, int mem);

static inline const struct vpt_uop *vpt_native_run(struct vpt_soft *c, const struct vpt_uop *u,
						   void *operand)
{
	return ((vpt_native_fn)(uintptr_t)u->ptr)(c, u, operand);
}

/* A memory operand of u->aux bytes, for reading: in RAM, or copied to scratch memory. */
void *vpt_native_load_slow(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va);
static inline void *vpt_native_load(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va)
{
	const struct vpt_soft_tlb *t = vpt_tlb(c, va);

	if (VPT_TLB_HIT(t->read, va, u->aux))
		return (void *)(t->host + va);
	return vpt_native_load_slow(c, u, va);
}

/* x87.c: MMX instructions share its registers. */
/* #MF if an exception is pending. */
void vpt_x87_check(struct vpt_soft *c, const struct vpt_uop *u);
/* Put the registers of the image in order: MM0 first, top of stack 0. */
void vpt_x87_to_mmx(struct vpt_soft *c);
uint64_t vpt_x87_mm(struct vpt_soft *c, unsigned int n);

/* vector.c: emit the #UD or #NM that CR0 and CR4 ask for, before anything else. */
enum vpt_unit { VPT_UNIT_X87, VPT_UNIT_MMX, VPT_UNIT_SSE, VPT_UNIT_AVX, VPT_UNIT_AVX512 };
void vpt_tr_need(struct vpt_translation *t, enum vpt_unit unit);

/* xstate.c: may XCR0 be set to this? */
bool vpt_soft_xcr0_valid(const struct vpt_soft *c, uint64_t value);

/* element.c: accesses element by element. False: this is not such an instruction. */
bool vpt_element_emit(struct vpt_translation *t, const struct vpt_recoded *r, unsigned int align);
/* gather.c */
bool vpt_tr_gather(struct vpt_translation *t);
bool vpt_tr_maskmov(struct vpt_translation *t);

#endif /* VMM_SOFT_NATIVE_H */
