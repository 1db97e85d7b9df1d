/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a processor in software share this header. Guest code is decoded once into blocks of
 * micro-operations, each a small function that ends by calling the next. Blocks lead to each other
 * directly while `gen` is unchanged.
 *
 * Micro-operations are precise. One that faults has changed nothing, and does not return
 * (soft_fault()). The core does transfers between segments and privilege levels, and the delivery
 * of events.
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
 * Slots of the register file, in the order of struct x86_regs. Operands are byte
 * offsets into it, so that AH is RAX's offset plus one.
 */
enum soft_slot {
	SOFT_R_RAX,
	SOFT_R_RBX,
	SOFT_R_RCX,
	SOFT_R_RDX,
	SOFT_R_RSI,
	SOFT_R_RDI,
	SOFT_R_RSP,
	SOFT_R_RBP,
	SOFT_R_R8, /* to R15 */
	SOFT_R_RIP = 16,
	SOFT_R_RFLAGS, /* without the arithmetic flags, which are in `fl` */
	SOFT_R_ZERO,   /* reads as 0: no base, no index */
	SOFT_R_EA,     /* an address that a micro-operation of its own has made */
	SOFT_R_T0,     /* to T3: between the micro-operations of one instruction */
	SOFT_R_SLOTS = 24
};

struct soft;
struct soft_uop;
struct soft_block;

/*
 * Micro-operations jump to each other through soft_uop_fn, and to code that compile.c has made,
 * which does not begin with ENDBR. So these jumps have a NOTRACK prefix, and no handler begins
 * with an ENDBR that each micro-operation would execute.
 */
#if defined(__CET__) && defined(__GNUC__)
#define SOFT_NO_ENDBR __attribute__((nocf_check))
#else
#define SOFT_NO_ENDBR
#endif

/* Returns what is to run next, NULL to leave. */
typedef const struct soft_uop *(*soft_uop_fn)(struct soft *c,
					      const struct soft_uop *u)SOFT_NO_ENDBR;

enum soft_uop_flags {
	SOFT_UOP_SS = 1 << 0, /* its address is on the stack: #SS, not #GP */
};

struct soft_uop {
	soft_uop_fn fn;
	uint8_t dst, src;    /* operands, as offsets into the register file */
	uint8_t base, index; /* likewise: address is base + (index << scale) + disp */
	uint8_t scale;
	uint8_t len;   /* of the instruction */
	uint8_t flags; /* enum soft_uop_flags */
	uint8_t rest;  /* instructions of the block from this one on */
	int64_t disp;
	uint64_t imm;
	uint64_t ip; /* of the instruction, an offset from the CS base */
	const void *ptr;
	uint32_t aux;
	uint32_t kind; /* SOFT_KIND(), 0: one of its own */
};

/* From the end of a block to the next: good while `gen` is the processor's. */
struct soft_link {
	uint64_t gen;
	const struct soft_uop *first;
	int64_t insns;
};

/* The mode that a block was decoded for. All bits must match for the block to be used. */
enum soft_block_mode {
	SOFT_BLOCK_BITS16 = 0,
	SOFT_BLOCK_BITS32 = 1,
	SOFT_BLOCK_BITS64 = 2,
	SOFT_BLOCK_BITS = 3,
	SOFT_BLOCK_USER = 1 << 2,      /* CPL 3 */
	SOFT_BLOCK_STACK32 = 1 << 3,   /* SS.B, outside 64-bit mode */
	SOFT_BLOCK_SINGLE = 1 << 4,    /* one instruction only */
	SOFT_BLOCK_EVERY = 1 << 5,     /* tell the observer of each instruction */
	SOFT_BLOCK_PROTECTED = 1 << 6, /* CR0.PE, and not virtual-8086 mode */
	SOFT_BLOCK_NO_FPU = 1 << 7,    /* CR0.EM or TS: x87 raises #NM, SSE #UD or #NM */
	SOFT_BLOCK_NO_SSE = 1 << 8,    /* CR4.OSFXSR is clear */
	SOFT_BLOCK_NO_AVX = 1 << 9,    /* CR4.OSXSAVE or XCR0 does not have it */
	SOFT_BLOCK_NO_AVX512 = 1 << 10,
	SOFT_BLOCK_MODE_BITS = 11,
};

struct soft_block {
	struct soft_block *hash_next;
	struct soft_block *page_next[2]; /* in the lists of its one or two pages */
	uint64_t gpa, gpa2; /* of its first byte; of the next page if it goes on there */
	uint64_t ip;
	uint64_t cs_base;
	uint32_t mode; /* enum soft_block_mode */
	uint16_t insns, uops;
	uint16_t bytes;
	bool dead;
	bool compiled;
	struct soft_link link[2]; /* fall-through, target */
	struct soft_uop uop[];
};

/*
 * A page that RAM accesses may go to without a look at the page tables. The tags
 * are linear page addresses, or 1 where that access is not to be had: a page not
 * yet dirty, code that is cached, another privilege.
 */
struct soft_tlb {
	uint64_t read, write;
	uintptr_t host; /* to be added to the linear address */
	uint64_t unused;
};

#define SOFT_TLB_BITS 8
#define SOFT_TLB_SIZE (1u << SOFT_TLB_BITS)

/* Which page permissions hold: each has a TLB of its own. */
enum soft_tlb_set {
	SOFT_TLB_KERNEL,    /* CPL 0 to 2 */
	SOFT_TLB_KERNEL_AC, /* likewise, RFLAGS.AC set: SMAP is suspended */
	SOFT_TLB_USER,
	SOFT_TLB_SLOW, /* always empty: each access is looked at (#AC, breakpoints) */
	SOFT_TLB_SETS
};

struct soft_jump {
	uint64_t ip;
	struct soft_link link;
};

#define SOFT_JUMP_BITS 10
#define SOFT_JUMP_SIZE (1u << SOFT_JUMP_BITS)

/* x87, SSE, AVX, AVX-512 as instructions see them, and what XSAVE needs beyond. */
struct soft_fpu {
	uint8_t zmm[32][64] __attribute__((aligned(64)));
	uint8_t x87[512]
		__attribute__((aligned(64))); /* an FXSAVE64 image; its XMM part is unused */
	uint64_t k[8];
	uint32_t mxcsr;
	uint32_t pkru;
	uint64_t xcr0;
};

struct soft_vm {
	struct engine_vm base;
	struct x86_mem mem; /* borrowed */
	struct soft *vcpu;
	struct engine_msr_range trapped[16];
	size_t trapped_count;
};

/* MSRs that the engine has itself: soft/msr.c. */
struct soft_msrs {
	uint64_t star, lstar, cstar, fmask, kernel_gs_base, tsc_aux;
	uint64_t sysenter_cs, sysenter_esp, sysenter_eip;
	uint64_t pat, misc_enable, spec_ctrl, xss, debugctl, umwait;
	uint64_t mtrr_def, mtrr[32];
};

/* Why a micro-operation returned NULL. */
enum soft_leave {
	SOFT_LEAVE_NEXT = 0, /* go on at RIP */
	SOFT_LEAVE_EXIT,     /* `exit` says what run() or step() returns */
};

/* Bits of soft.call: which call of the core is in progress. */
enum soft_call {
	SOFT_STEP = 1 << 0,	/* step(): execute what is the core's in run() */
	SOFT_WANT_IRQ = 1 << 1, /* run(): return when RFLAGS.IF allows an interrupt */
};

struct soft {
	struct engine_vcpu base;
	union {
		struct x86_regs regs;
		uint64_t r[SOFT_R_SLOTS];
	};
	/* Arithmetic flags: OF (0 or 1) in the low byte, the others in the high one as
	 * LAHF has them. */
	uint16_t fl;
	uint8_t call; /* enum soft_call, of the call in progress */
	/* Of the links that are good: what soft_unlink() counts, and `mode`. */
	uint64_t gen;
	int64_t left;	       /* instructions until run() ends, blocks begun deducted */
	struct vpt_gate *gate; /* the observer's; NULL: nothing is traced */
	struct soft_tlb *tlb;
	/* Aligned, so that no entry is in two lines of the host's cache. */
	struct soft_jump jump[SOFT_JUMP_SIZE] __attribute__((aligned(64)));
	struct soft_tlb tlbs[SOFT_TLB_SETS][SOFT_TLB_SIZE] __attribute__((aligned(64)));

	struct x86_sregs s;
	uint64_t dr[8];
	uint8_t cpl, bits;
	uint64_t cs_base; /* 0 in 64-bit mode */
	uint32_t cs_limit;
	uint32_t mode; /* enum soft_block_mode, without SINGLE */
	struct x86_paging paging;
	struct soft_msrs msr;
	struct soft_fpu fpu;

	struct soft_vm *vm;
	struct engine_cpuid_entry *cpuid;
	size_t cpuid_count;
	struct soft_cache *cache;	/* block.c */
	void *decoder[3];		/* translate.c, by SOFT_BLOCK_BITS */
	struct soft_native *native;	/* native.c */
	struct soft_compiler *compiler; /* compile.c; NULL where micro-operations do not jump */

	enum soft_leave leave;
	struct engine_exit *exit; /* of the call in progress */
	jmp_buf escape;		  /* where faults go */
	uint64_t begun;		  /* base.retired when run() began */
	int64_t started;	  /* `left` then */
	int64_t stash;		  /* taken out of `left`: see soft_call_attention() */
	uint64_t reported;	  /* instructions that the observer has been told of */
	struct soft_link *missed; /* to be set when the next block is found */
	uint64_t debug;		  /* DR6 bits of data breakpoints that were hit */

	/* An access that is not one piece of RAM: see vpt_soft_rmw(). */
	uint8_t bounce[64] __attribute__((aligned(64)));
	uint64_t bounce_va;
	uint32_t bounce_bytes; /* 0: none */
};

static inline struct soft *soft(struct engine_vcpu *ev)
{
	return (struct soft *)ev;
}

static inline bool soft_long_mode(const struct soft *c)
{
	return c->s.efer & X86_EFER_LMA;
}

/*
 * The next micro-operation. Where the compiler makes a jump of it no time is lost;
 * elsewhere (sanitizers, -O0) the loop that called the first one calls the next.
 */
#ifdef SOFT_THREADED
#define SOFT_RUN(c, u) ((u)->fn((c), (u)))
#else
#define SOFT_RUN(c, u) ((void)(c), (u))
#endif
#define SOFT_NEXT(c, u) SOFT_RUN(c, (u) + 1)

/* Defines a micro-operation: SOFT_UOP(name) { ...; return SOFT_NEXT(c, u); } */
#define SOFT_UOP(name) \
	static SOFT_NO_ENDBR const struct soft_uop *name(struct soft *c, const struct soft_uop *u)

/* Operand registers; a 32-bit result goes through soft_set32(). */
#define SOFT_REG(c, offset, type) (*(type *)((char *)(c)->r + (offset)))

static inline void soft_set32(struct soft *c, unsigned int offset, uint32_t value)
{
	SOFT_REG(c, offset, uint64_t) = value;
}

/* RFLAGS whole; and put it back, which is not the same as POPF. */
static inline uint64_t soft_rflags(const struct soft *c)
{
	return (c->r[SOFT_R_RFLAGS] & ~0x8d5ull) | (c->fl >> 8 & 0xd5) |
	       (uint64_t)(c->fl & 1) << 11 | 2;
}

static inline void soft_set_rflags(struct soft *c, uint64_t rflags)
{
	c->r[SOFT_R_RFLAGS] = rflags;
	c->fl = (uint16_t)((rflags & 0xd5) << 8 | (rflags >> 11 & 1));
}

/* Instructions retired, as of the one that `u` is of. */
static inline uint64_t soft_retired(const struct soft *c, const struct soft_uop *u)
{
	return c->begun + (uint64_t)(c->started - (c->left + c->stash + u->rest));
}

/* Can this be a linear address in long mode? */
static inline bool soft_canonical(const struct soft *c, uint64_t va)
{
	unsigned int shift = c->s.cr4 & X86_CR4_LA57 ? 7 : 16;

	return (uint64_t)((int64_t)(va << shift) >> shift) == va;
}

/* run.c. The exceptions do not return. */
_Noreturn void soft_fault(struct soft *c, const struct soft_uop *u,
			  const struct engine_exception *e);
_Noreturn void soft_raise(struct soft *c, const struct soft_uop *u, uint8_t vector);
_Noreturn void soft_raise_code(struct soft *c, const struct soft_uop *u, uint8_t vector,
			       uint32_t error);
/* Leave after this instruction with RIP already set (`done`), or before it. */
const struct soft_uop *soft_leave(struct soft *c, const struct soft_uop *u, bool done,
				  enum engine_exit_kind kind);
/* This instruction is done and changed what blocks are decoded for (modes, segments,
 * paging, privilege): derive anew, and go on at the next one. */
const struct soft_uop *soft_resume(struct soft *c, const struct soft_uop *u);
/* The same for one that changed RFLAGS.IF, which the observer may have to be told. */
const struct soft_uop *soft_resume_if(struct soft *c, const struct soft_uop *u);
/* Returns true if the observer wants to know of changes of RFLAGS.IF. */
static inline bool soft_watches_if(const struct soft *c)
{
	return c->gate && c->base.observer->wants & ENGINE_WANTS_INTR_FLAG;
}
/* Recompute what follows from sregs, CRs, RFLAGS.AC and CPL; unlinks. */
void soft_derive(struct soft *c);
/* run() is to end soon: a device said so during an access. */
void soft_call_attention(struct soft *c);
/* Report a near transfer or a PTWRITE that retired. The caller has set r->event and r->next. */
void soft_report(struct soft *c, const struct soft_uop *u, struct engine_report *r);
/* An instruction that goes on with the next one retired, likewise, where each is told of. */
void soft_report_plain(struct soft *c, const struct soft_uop *u, uint64_t next);
/* Between two blocks: tell the observer how many instructions ran until now, so that
 * what is recorded next has its place, in however many runs it is that it got there. */
void soft_report_ran(struct soft *c);
/* After a call of the observer, which may have ended the trace or asked for attention. */
void soft_poll_observer(struct soft *c);
/* Call ops of `base.bus`, with the time right. */
void soft_bus_io(struct soft *c, const struct soft_uop *u, uint16_t port, uint8_t size, bool in,
		 uint32_t count, void *data);
void soft_bus_mmio(struct soft *c, const struct soft_uop *u, uint64_t gpa, uint32_t len, bool write,
		   void *data);

/* block.c */
struct soft_cache *soft_cache_create(const struct x86_mem *mem);
void soft_cache_destroy(struct soft_cache *cache);
/* The block at RIP in this mode; faults like a fetch. */
struct soft_block *soft_block(struct soft *c, uint32_t mode);
/* translate.c: fill in a block from the code at `code`, `room` bytes of which are on
 * this page; `more` on the next, if block->gpa2 is set. */
void soft_fill(struct soft *c, struct soft_block *b, const uint8_t *code, unsigned int room,
	       const uint8_t *more);
/* Does the instruction at `code` need more than `room` bytes? */
bool soft_crosses(struct soft *c, uint32_t mode, const uint8_t *code, unsigned int room);
#define SOFT_BLOCK_MAX_INSNS 64
#define SOFT_BLOCK_MAX_UOPS  256
/* No link may be followed any more: mappings or modes changed. */
static inline void soft_unlink(struct soft *c)
{
	c->gen += 1u << SOFT_BLOCK_MODE_BITS;
}
/* Does this page have cached code? Then writes to it are told to soft_wrote(). */
bool soft_has_code(const struct soft *c, uint64_t gpa);
/* Bytes of RAM change: drop the blocks that they are part of. `u`: what is running,
 * or NULL; the rest of its own instruction is still done. */
void soft_wrote(struct soft *c, const struct soft_uop *u, uint64_t gpa, uint64_t len);

/* mmu.c. Accesses fault with #PF, #GP, #SS or #AC. */
void soft_flush_tlb(struct soft *c);
void soft_flush_page(struct soft *c, uint64_t va);
/* Nobody may write to this page any more without being looked at. */
void soft_protect(struct soft *c, uint64_t gpa);
/* Linear address to guest-physical. False: *e. `access`: enum x86_walk_access. */
bool soft_translate(struct soft *c, uint64_t va, unsigned int access, uint64_t *gpa,
		    struct engine_exception *e);
uint64_t soft_load_slow(struct soft *c, const struct soft_uop *u, uint64_t va, unsigned int size);
void soft_store_slow(struct soft *c, const struct soft_uop *u, uint64_t va, uint64_t value,
		     unsigned int size);
void *soft_rmw_slow(struct soft *c, const struct soft_uop *u, uint64_t va, unsigned int size);
void soft_rmw_end(struct soft *c, const struct soft_uop *u);
/* Any number of bytes up to a page; all of it is checked before any is moved. */
void soft_read(struct soft *c, const struct soft_uop *u, uint64_t va, void *to, size_t len);
void soft_write(struct soft *c, const struct soft_uop *u, uint64_t va, const void *from,
		size_t len);
/* Would a write fault? Then it does. */
void soft_probe_write(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len);
/* The host address of [va, va + len) for reading or writing, NULL if it is not one
 * piece of RAM (or is code): then use the functions above. Faults. */
void *soft_host(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len, bool write);

#endif /* VMM_SOFT_SOFT_H */
