/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A processor in software: what its parts share. Guest code is decoded once into
 * blocks of micro-operations, each a small function that ends by calling the next;
 * blocks lead to each other directly while `gen` stands.
 *
 * Micro-operations are precise: one that faults has changed nothing, and does not
 * return (vpt_soft_fault()). Transfers between segments and privilege levels, and
 * the delivery of events, are the core's.
 */
#ifndef VMM_SOFT_SOFT_H
#define VMM_SOFT_SOFT_H

#include <setjmp.h>
#include <stddef.h>
#include <string.h>

#include "engine/engine.h"
#include "vpt/pt.h"
#include "x86/mem.h"
#include "x86/x86.h"

/*
 * Slots of the register file, in the order of struct vpt_regs. Operands are byte
 * offsets into it, so that AH is RAX's offset plus one.
 */
enum vpt_soft_slot {
	VPT_R_RAX,
	VPT_R_RBX,
	VPT_R_RCX,
	VPT_R_RDX,
	VPT_R_RSI,
	VPT_R_RDI,
	VPT_R_RSP,
	VPT_R_RBP,
	VPT_R_R8, /* to R15 */
	VPT_R_RIP = 16,
	VPT_R_RFLAGS, /* without the arithmetic flags, which are in `fl` */
	VPT_R_ZERO,   /* reads as 0: no base, no index */
	VPT_R_EA,     /* an address that a micro-operation of its own has made */
	VPT_R_T0,     /* to T3: between the micro-operations of one instruction */
	VPT_R_SLOTS = 24
};

struct vpt_soft;
struct vpt_uop;
struct vpt_block;

/*
 * Micro-operations jump to each other through vpt_uop_fn, and to code that compile.c has made,
 * which does not begin with ENDBR. So these jumps have a NOTRACK prefix, and no handler begins
 * with an ENDBR that each micro-operation would execute.
 */
#if defined(__CET__) && defined(__GNUC__)
#define VPT_NO_ENDBR __attribute__((nocf_check))
#else
#define VPT_NO_ENDBR
#endif

/* Returns what is to run next, NULL to leave. */
typedef const struct vpt_uop *(*vpt_uop_fn)(struct vpt_soft *c,
					    const struct vpt_uop *u)VPT_NO_ENDBR;

enum vpt_uop_flags {
	VPT_UOP_SS = 1 << 0, /* its address is on the stack: #SS, not #GP */
};

struct vpt_uop {
	vpt_uop_fn fn;
	uint8_t dst, src;    /* operands, as offsets into the register file */
	uint8_t base, index; /* likewise: address is base + (index << scale) + disp */
	uint8_t scale;
	uint8_t len;   /* of the instruction */
	uint8_t flags; /* enum vpt_uop_flags */
	uint8_t rest;  /* instructions of the block from this one on */
	int64_t disp;
	uint64_t imm;
	uint64_t ip; /* of the instruction, an offset from the CS base */
	const void *ptr;
	uint32_t aux;
	uint32_t kind; /* VPT_KIND(), 0: one of its own */
};

/* From the end of a block to the next: good while `gen` is the processor's. */
struct vpt_link {
	uint64_t gen;
	const struct vpt_uop *first;
	int64_t insns;
};

/* What a block was decoded for. All of it must match for the block to be used. */
enum vpt_block_mode {
	VPT_BLOCK_BITS16 = 0,
	VPT_BLOCK_BITS32 = 1,
	VPT_BLOCK_BITS64 = 2,
	VPT_BLOCK_BITS = 3,
	VPT_BLOCK_USER = 1 << 2,      /* CPL 3 */
	VPT_BLOCK_STACK32 = 1 << 3,   /* SS.B, outside 64-bit mode */
	VPT_BLOCK_SINGLE = 1 << 4,    /* one instruction only */
	VPT_BLOCK_EVERY = 1 << 5,     /* tell the observer of each instruction */
	VPT_BLOCK_PROTECTED = 1 << 6, /* CR0.PE, and not virtual-8086 mode */
	VPT_BLOCK_NO_FPU = 1 << 7,    /* CR0.EM or TS: x87 raises #NM, SSE #UD or #NM */
	VPT_BLOCK_NO_SSE = 1 << 8,    /* CR4.OSFXSR is clear */
	VPT_BLOCK_NO_AVX = 1 << 9,    /* CR4.OSXSAVE or XCR0 does not have it */
	VPT_BLOCK_NO_AVX512 = 1 << 10,
	VPT_BLOCK_MODE_BITS = 11,
};

struct vpt_block {
	struct vpt_block *hash_next;
	struct vpt_block *page_next[2]; /* in the lists of its one or two pages */
	uint64_t gpa, gpa2; /* of its first byte; of the next page if it goes on there */
	uint64_t ip;
	uint64_t cs_base;
	uint32_t mode; /* enum vpt_block_mode */
	uint16_t insns, uops;
	uint16_t bytes;
	bool dead;
	bool compiled;
	struct vpt_link link[2]; /* fall-through, target */
	struct vpt_uop uop[];
};

/*
 * A page that RAM accesses may go to without a look at the page tables. The tags
 * are linear page addresses, or 1 where that access is not to be had: a page not
 * yet dirty, code that is cached, another privilege.
 */
struct vpt_soft_tlb {
	uint64_t read, write;
	uintptr_t host; /* to be added to the linear address */
	uint64_t unused;
};

#define VPT_TLB_BITS 8
#define VPT_TLB_SIZE (1u << VPT_TLB_BITS)

/* Which page permissions hold: each has a TLB of its own. */
enum vpt_tlb_set {
	VPT_TLB_KERNEL,	   /* CPL 0 to 2 */
	VPT_TLB_KERNEL_AC, /* likewise, RFLAGS.AC set: SMAP is suspended */
	VPT_TLB_USER,
	VPT_TLB_SLOW, /* always empty: each access is looked at (#AC, breakpoints) */
	VPT_TLB_SETS
};

struct vpt_soft_jump {
	uint64_t ip;
	struct vpt_link link;
};

#define VPT_JUMP_BITS 10
#define VPT_JUMP_SIZE (1u << VPT_JUMP_BITS)

/* x87, SSE, AVX, AVX-512 as instructions see them, and what XSAVE needs beyond. */
struct vpt_soft_fpu {
	uint8_t zmm[32][64] __attribute__((aligned(64)));
	uint8_t x87[512]
		__attribute__((aligned(64))); /* an FXSAVE64 image; its XMM part is unused */
	uint64_t k[8];
	uint32_t mxcsr;
	uint32_t pkru;
	uint64_t xcr0;
};

struct vpt_soft_vm {
	struct vpt_engine_vm base;
	struct vpt_mem mem; /* borrowed */
	struct vpt_soft *vcpu;
	struct vpt_msr_range trapped[16];
	size_t trapped_count;
};

/* MSRs that the engine has itself: soft/msr.c. */
struct vpt_soft_msrs {
	uint64_t star, lstar, cstar, fmask, kernel_gs_base, tsc_aux;
	uint64_t sysenter_cs, sysenter_esp, sysenter_eip;
	uint64_t pat, misc_enable, spec_ctrl, xss, debugctl, umwait;
	uint64_t mtrr_def, mtrr[32];
};

/* Why a micro-operation returned NULL. */
enum vpt_soft_leave {
	VPT_LEAVE_NEXT = 0, /* go on at RIP */
	VPT_LEAVE_EXIT,	    /* `exit` says what run() or step() returns */
};

struct vpt_soft {
	struct vpt_engine_vcpu base;
	union {
		struct vpt_regs regs;
		uint64_t r[VPT_R_SLOTS];
	};
	/* Arithmetic flags: OF (0 or 1) in the low byte, the others in the high one as
	 * LAHF has them. */
	uint16_t fl;
	bool stepping; /* in step(): what is the core's in run() is to be done */
	/* Of the links that are good: what vpt_soft_unlink() counts, and `mode`. */
	uint64_t gen;
	int64_t left;	   /* instructions until run() ends, blocks begun deducted */
	struct vpt_pt *pt; /* NULL: nothing is traced */
	struct vpt_soft_tlb *tlb;
	struct vpt_soft_jump jump[VPT_JUMP_SIZE];
	struct vpt_soft_tlb tlbs[VPT_TLB_SETS][VPT_TLB_SIZE];

	struct vpt_sregs s;
	uint64_t dr[8];
	uint8_t cpl, bits;
	uint64_t cs_base; /* 0 in 64-bit mode */
	uint32_t cs_limit;
	bool long_mode;
	uint32_t mode; /* enum vpt_block_mode, without SINGLE */
	struct vpt_paging paging;
	struct vpt_soft_msrs msr;
	struct vpt_soft_fpu fpu;

	struct vpt_soft_vm *vm;
	struct vpt_cpuid_entry *cpuid;
	size_t cpuid_count;
	struct vpt_soft_cache *cache;  /* block.c */
	void *decoder[3];	       /* translate.c, by VPT_BLOCK_BITS */
	struct vpt_native *native;     /* native.c */
	struct vpt_compiler *compiler; /* compile.c; NULL where micro-operations do not jump */

	enum vpt_soft_leave leave;
	struct vpt_exit *exit;	 /* of the call in progress */
	jmp_buf escape;		 /* where faults go */
	uint64_t begun;		 /* base.retired when run() began */
	int64_t started;	 /* `left` then */
	int64_t stash;		 /* taken out of `left`: see vpt_soft_call_attention() */
	uint64_t reported;	 /* instructions that the observer has been told of */
	bool want_irq;		 /* come back when RFLAGS.IF allows an interrupt */
	struct vpt_link *missed; /* to be set when the next block is found */
	uint64_t debug;		 /* DR6 bits of data breakpoints that were hit */

	/* An access that is not one piece of RAM: see vpt_soft_rmw(). */
	uint8_t bounce[64] __attribute__((aligned(64)));
	uint64_t bounce_va;
	uint32_t bounce_bytes; /* 0: none */
};

static inline struct vpt_soft *vpt_soft(struct vpt_engine_vcpu *ev)
{
	return (struct vpt_soft *)ev;
}

/*
 * The next micro-operation. Where the compiler makes a jump of it no time is lost;
 * elsewhere (sanitizers, -O0) the loop that called the first one calls the next.
 */
#ifdef VPT_SOFT_THREADED
#define VPT_RUN(c, u) ((u)->fn((c), (u)))
#else
#define VPT_RUN(c, u) ((void)(c), (u))
#endif
#define VPT_NEXT(c, u) VPT_RUN(c, (u) + 1)

/* Defines a micro-operation: VPT_UOP(name) { ...; return VPT_NEXT(c, u); } */
#define VPT_UOP(name) \
	static VPT_NO_ENDBR const struct vpt_uop *name(struct vpt_soft *c, const struct vpt_uop *u)

/* Operand registers; a 32-bit result goes through vpt_set32(). */
#define VPT_REG(c, offset, type) (*(type *)((char *)(c)->r + (offset)))

static inline void vpt_set32(struct vpt_soft *c, unsigned int offset, uint32_t value)
{
	VPT_REG(c, offset, uint64_t) = value;
}

/* RFLAGS whole; and put it back, which is not the same as POPF. */
static inline uint64_t vpt_soft_rflags(const struct vpt_soft *c)
{
	return (c->r[VPT_R_RFLAGS] & ~0x8d5ull) | (c->fl >> 8 & 0xd5) |
	       (uint64_t)(c->fl & 1) << 11 | 2;
}

static inline void vpt_soft_set_rflags(struct vpt_soft *c, uint64_t rflags)
{
	c->r[VPT_R_RFLAGS] = rflags;
	c->fl = (uint16_t)((rflags & 0xd5) << 8 | (rflags >> 11 & 1));
}

/* Instructions retired, as of the one that `u` is of. */
static inline uint64_t vpt_soft_retired(const struct vpt_soft *c, const struct vpt_uop *u)
{
	return c->begun + (uint64_t)(c->started - (c->left + c->stash + u->rest));
}

/* Can this be a linear address in long mode? */
static inline bool vpt_soft_canonical(const struct vpt_soft *c, uint64_t va)
{
	unsigned int shift = c->s.cr4 & VPT_CR4_LA57 ? 7 : 16;

	return (uint64_t)((int64_t)(va << shift) >> shift) == va;
}

/* run.c. The exceptions do not return. */
_Noreturn void vpt_soft_fault(struct vpt_soft *c, const struct vpt_uop *u,
			      const struct vpt_exception *e);
_Noreturn void vpt_soft_raise(struct vpt_soft *c, const struct vpt_uop *u, uint8_t vector);
_Noreturn void vpt_soft_raise_code(struct vpt_soft *c, const struct vpt_uop *u, uint8_t vector,
				   uint32_t error);
/* Leave after this instruction with RIP already set (`done`), or before it. */
const struct vpt_uop *vpt_soft_leave(struct vpt_soft *c, const struct vpt_uop *u, bool done,
				     enum vpt_exit_kind kind);
/* This instruction is done and changed what blocks are decoded for (modes, segments,
 * paging, privilege): derive anew, and go on at the next one. */
const struct vpt_uop *vpt_soft_resume(struct vpt_soft *c, const struct vpt_uop *u);
/* The same for one that changed RFLAGS.IF, which the observer may have to be told. */
const struct vpt_uop *vpt_soft_resume_if(struct vpt_soft *c, const struct vpt_uop *u);
/* Does event trace look at RFLAGS.IF? */
static inline bool vpt_soft_watches_if(const struct vpt_soft *c)
{
	return c->pt && VPT_CTL_GET(c->base.observer->pt->rtit.ctl, EVENT_EN);
}
/* Recompute what follows from sregs, CRs, RFLAGS.AC and CPL; unlinks. */
void vpt_soft_derive(struct vpt_soft *c);
/* run() is to end soon: a device said so during an access. */
void vpt_soft_call_attention(struct vpt_soft *c);
/* A near transfer or a PTWRITE retired: tell the observer. */
void vpt_soft_report(struct vpt_soft *c, const struct vpt_uop *u, const struct vpt_event *event);
/* An instruction that goes on with the next one retired, likewise, where each is told of. */
void vpt_soft_tell_plain(struct vpt_soft *c, const struct vpt_uop *u, uint64_t next);
/* Between two blocks: tell the observer how many instructions ran until now, so that
 * what is recorded next has its place, in however many runs it is that it got there. */
void vpt_soft_tell_ran(struct vpt_soft *c);
/* After a call of the observer, which may have ended the trace or asked for attention. */
void vpt_soft_look_at_observer(struct vpt_soft *c);
/* Call ops of `base.bus`, with the time right. */
void vpt_soft_bus_io(struct vpt_soft *c, const struct vpt_uop *u, uint16_t port, uint8_t size,
		     bool in, uint32_t count, void *data);
void vpt_soft_bus_mmio(struct vpt_soft *c, const struct vpt_uop *u, uint64_t gpa, uint32_t len,
		       bool write, void *data);

/* block.c */
struct vpt_soft_cache *vpt_soft_cache_create(const struct vpt_mem *mem);
void vpt_soft_cache_destroy(struct vpt_soft_cache *cache);
/* The block at RIP in this mode; faults like a fetch. */
struct vpt_block *vpt_soft_block(struct vpt_soft *c, uint32_t mode);
/* translate.c: fill in a block from the code at `code`, `room` bytes of which are on
 * this page; `more` on the next, if block->gpa2 is set. */
void vpt_soft_fill(struct vpt_soft *c, struct vpt_block *b, const uint8_t *code, unsigned int room,
		   const uint8_t *more);
/* Does the instruction at `code` need more than `room` bytes? */
bool vpt_soft_crosses(struct vpt_soft *c, uint32_t mode, const uint8_t *code, unsigned int room);
#define VPT_BLOCK_MAX_INSNS 64
#define VPT_BLOCK_MAX_UOPS  256
/* No link may be followed any more: mappings or modes changed. */
static inline void vpt_soft_unlink(struct vpt_soft *c)
{
	c->gen += 1u << VPT_BLOCK_MODE_BITS;
}
/* Does this page have cached code? Then writes to it are told to vpt_soft_wrote(). */
bool vpt_soft_has_code(const struct vpt_soft *c, uint64_t gpa);
/* Bytes of RAM change: drop the blocks that they are part of. `u`: what is running,
 * or NULL; the rest of its own instruction is still done. */
void vpt_soft_wrote(struct vpt_soft *c, const struct vpt_uop *u, uint64_t gpa, uint64_t len);

/* mmu.c. Accesses fault with #PF, #GP, #SS or #AC. */
void vpt_soft_flush_tlb(struct vpt_soft *c);
void vpt_soft_flush_page(struct vpt_soft *c, uint64_t va);
/* Nobody may write to this page any more without being looked at. */
void vpt_soft_protect(struct vpt_soft *c, uint64_t gpa);
/* Linear address to guest-physical. False: *e. `access`: enum vpt_walk_access. */
bool vpt_soft_translate(struct vpt_soft *c, uint64_t va, unsigned int access, uint64_t *gpa,
			struct vpt_exception *e);
uint64_t vpt_soft_load_slow(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va,
			    unsigned int size);
void vpt_soft_store_slow(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, uint64_t value,
			 unsigned int size);
void *vpt_soft_rmw_slow(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va,
			unsigned int size);
void vpt_soft_rmw_end(struct vpt_soft *c, const struct vpt_uop *u);
/* Any number of bytes up to a page; all of it is checked before any is moved. */
void vpt_soft_read(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, void *to, size_t len);
void vpt_soft_write(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, const void *from,
		    size_t len);
/* Would a write fault? Then it does. */
void vpt_soft_probe_write(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, size_t len);
/* The host address of [va, va + len) for reading or writing, NULL if it is not one
 * piece of RAM (or is code): then use the functions above. Faults. */
void *vpt_soft_host(struct vpt_soft *c, const struct vpt_uop *u, uint64_t va, size_t len,
		    bool write);

#endif /* VMM_SOFT_SOFT_H */
