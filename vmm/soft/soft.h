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
	SOFT_R_RFLAGS, /* without the arithmetic flags, which `fl` holds */
	SOFT_R_ZERO,   /* reads as 0: no base, no index */
	SOFT_R_EA,     /* an address computed by a separate micro-operation */
	SOFT_R_T0,     /* to T3: between the micro-operations of one instruction */
	SOFT_R_SLOTS = 24
};

struct soft;
struct soft_uop;
struct soft_block;

/*
 * Micro-operations jump to each other through soft_uop_fn, and to code that the compiler has made,
 * which does not begin with ENDBR. So these jumps have a NOTRACK prefix, and no handler begins
 * with an ENDBR that each micro-operation would execute.
 */
#if defined(__CET__) && defined(__GNUC__)
#define SOFT_NO_ENDBR __attribute__((nocf_check))
#else
#define SOFT_NO_ENDBR
#endif

/* Returns the next micro-operation, or NULL to leave. */
typedef const struct soft_uop *(*soft_uop_fn)(struct soft *c,
					      const struct soft_uop *u)SOFT_NO_ENDBR;

enum soft_uop_flags {
	SOFT_UOP_SS = 1 << 0,	   /* the address is on the stack: #SS instead of #GP */
	SOFT_UOP_COUNTED = 1 << 1, /* a branch that the micro-operation before it has counted */
};

struct soft_uop {
	soft_uop_fn fn;
	uint8_t dst, src;    /* operands, as offsets into the register file */
	uint8_t base, index; /* also offsets; the address is base + (index << scale) + disp */
	uint8_t scale;
	uint8_t len;   /* the length of the instruction */
	uint8_t flags; /* enum soft_uop_flags */
	uint8_t rest;  /* the number of instructions of the block from this one on */
	int64_t disp;
	uint64_t imm;
	uint64_t ip; /* the address of the instruction, as an offset from the CS base */
	const void *ptr;
	uint32_t aux;
	uint32_t kind;	   /* SOFT_KIND(), or 0 if the micro-operation has none */
	soft_uop_fn plain; /* the function that was made; `fn` can be compiled code */
};

/* A link from the end of a block to the next. Valid only if `gen` is that of the processor. */
struct soft_link {
	uint64_t gen;
	const struct soft_uop *first;
	int32_t insns;
	uint32_t
		inner; /* compiled code follows it without `first`: 1 and so on for link[0]; or 0 */
};

#define SOFT_LINKS 4u /* of a block */

#define SOFT_STRAYS 64 /* so many branches leave a unit before their target is noted */

#define SOFT_COPIES 6u /* the most units that have a copy of a block of another */

/* The mode that a block was decoded for. All bits must match for the block to be used. */
enum soft_block_mode {
	SOFT_BLOCK_BITS16 = 0,
	SOFT_BLOCK_BITS32 = 1,
	SOFT_BLOCK_BITS64 = 2,
	SOFT_BLOCK_BITS = 3,
	SOFT_BLOCK_USER = 1 << 2,      /* CPL 3 */
	SOFT_BLOCK_STACK32 = 1 << 3,   /* SS.B, outside 64-bit mode */
	SOFT_BLOCK_SINGLE = 1 << 4,    /* one instruction only */
	SOFT_BLOCK_EVERY = 1 << 5,     /* report each instruction to the observer */
	SOFT_BLOCK_PROTECTED = 1 << 6, /* CR0.PE, and not virtual-8086 mode */
	SOFT_BLOCK_NO_FPU = 1 << 7,    /* CR0.EM or TS: x87 raises #NM, SSE #UD or #NM */
	SOFT_BLOCK_NO_SSE = 1 << 8,    /* CR4.OSFXSR is clear */
	SOFT_BLOCK_NO_AVX = 1 << 9,    /* CR4.OSXSAVE is clear, or XCR0 does not enable AVX */
	SOFT_BLOCK_NO_AVX512 = 1 << 10,
	SOFT_BLOCK_CPL1 = 1 << 11,
	SOFT_BLOCK_CPL2 = 1 << 12,
	SOFT_BLOCK_LOGGED = 1 << 13,   /* write a word to the observer's log */
	SOFT_BLOCK_BRANCHES = 1 << 14, /* count branches */
	SOFT_BLOCK_TRACED = 1 << 15,   /* made while there was a gate */
	SOFT_BLOCK_MODE_BITS = 16,
};

struct soft_block {
	/* The first 64 bytes have what a search needs. */
	struct soft_block *hash_next;
	uint64_t gpa,
		gpa2; /* the addresses of its first byte, and of the next page if the block crosses into it */
	uint64_t ip;
	uint64_t cs_base;
	uint32_t mode; /* enum soft_block_mode */
	uint16_t insns, uops;
	uint16_t bytes;
	bool dead;
	uint8_t compiled;	      /* how often it was */
	uint32_t runs;		      /* until it is compiled */
	struct soft_block *unit_next; /* the next of the ring of its unit; NULL: not compiled */
	/* Fall-through, target. An indirect branch has targets in all. */
	struct soft_link link[SOFT_LINKS];
	struct soft_block *page_next[2]; /* the next blocks in the lists of its one or two pages */
	/* Blocks of the units that have copies of this one. */
	struct soft_block *copied[SOFT_COPIES];
	int32_t strays; /* branches to targets that its unit does not have, until they are noted */
	struct soft_uop uop[] __attribute__((aligned(64)));
};

/* Return the block of its first micro-operation. */
static inline struct soft_block *soft_block_of(const struct soft_uop *first)
{
	return (struct soft_block *)((uintptr_t)first - offsetof(struct soft_block, uop));
}

/*
 * A page that RAM accesses may use without a page walk. The tags are linear page addresses, or
 * SOFT_TLB_NONE if that access needs the slow path. Reasons are a page not yet dirty, cached code, or
 * another privilege.
 */
struct soft_tlb {
	uint64_t read, write;
	uintptr_t host; /* the value to add to the linear address */
	uint64_t unused;
};

/* No page, nor a page with the three low bits of an address: soft/compile/site.c. */
#define SOFT_TLB_NONE 8u

#define SOFT_TLB_BITS 10
#define SOFT_TLB_SIZE (1u << SOFT_TLB_BITS)

/*
 * Entries behind those of 4 KiB. Each is of 2 MiB that the page tables map as a whole, or a part of
 * more. Compiled code looks for a page here before it leaves.
 */
#define SOFT_TLB_LARGE 64u
#define SOFT_TLB_SHIFT 21
#define SOFT_TLB_ALL   (SOFT_TLB_SIZE + SOFT_TLB_LARGE)

#define SOFT_FILLED (SOFT_TLB_SIZE / 4)

#define SOFT_SITES 64u /* for each of supervisor and user */

/*
 * Copies of entries of first-level TLBs. A memory operand in compiled code has one of them, whatever its
 * address is. Those from SOFT_SITES on are of user code.
 */
struct soft_sites {
	uint64_t read[2 * SOFT_SITES] __attribute__((aligned(64)));
	uint64_t write[2 * SOFT_SITES];
	uintptr_t host[2 * SOFT_SITES];
	const struct soft_tlb *of[2]; /* the TLBs that they are copies of */
};

/* The number of address spaces that have first-level TLBs. */
#define SOFT_SPACES 4u

/*
 * The entries of a first-level TLB that may be in use. They are all that emptying has to visit, since
 * most address spaces use few of them.
 */
struct soft_filled {
	uint16_t count; /* more than SOFT_FILLED: not all are listed */
	uint16_t at[SOFT_FILLED];
};

/* The page permissions that apply. Each set has its own TLB. */
enum soft_tlb_set {
	SOFT_TLB_KERNEL,    /* CPL 0 to 2 */
	SOFT_TLB_KERNEL_AC, /* likewise, RFLAGS.AC set: SMAP is suspended */
	SOFT_TLB_USER,
	SOFT_TLB_SLOW, /* always empty: each access takes the slow path (#AC, breakpoints) */
};

/* An entry of the second-level TLB: tlb.h. */
struct soft_page {
	uint64_t key;  /* the linear page address and the PCID, which is 0 for a global page */
	uint64_t word; /* the guest-physical page address, with enum soft_page_bits */
	uint64_t born; /* soft_pages.now at the fill; 0 if the entry was dropped */
};

#define SOFT_WAYS	4u
#define SOFT_DATA_ROWS	1024u
#define SOFT_CODE_ROWS	256u
#define SOFT_WHOLE_ROWS 128u /* of each size, for data and code */
#define SOFT_LARGE_BITS 4096u

/*
 * The second-level TLB. The newest entry of a row is the first, and a hit changes nothing. A flush
 * only notes its time: an entry is valid if it is at least as new as the last flush of its kind.
 */
struct soft_pages {
	struct soft_page data[SOFT_DATA_ROWS * SOFT_WAYS];
	struct soft_page code[SOFT_CODE_ROWS * SOFT_WAYS];
	/* Whole pages of 2 MiB, 4 MiB and 1 GiB. Rows of a size of their own keep neighbours apart. */
	struct soft_page whole[3][SOFT_WHOLE_ROWS * SOFT_WAYS];
	uint64_t now;		/* the number of flushes */
	uint64_t flushed;	/* the last flush of everything */
	uint64_t flushed_local; /* the last flush of everything except global pages */
	uint64_t pcid[4096];	/* the last flush of each PCID */
	uint64_t turn;		/* the number of changes of the address space */
	uint64_t parts; /* fills with a part of a large page since the last flush of everything */
	/* Large pages of three sizes that may have entries, by the hash of their number. */
	uint64_t large[3][SOFT_LARGE_BITS / 64];
};

/* An address space with first-level TLBs and links. */
struct soft_space {
	uint64_t cr3;
	uint64_t gen;  /* soft.gen when the space was left; 0 if no link is valid */
	uint64_t used; /* soft_pages.turn when the space was entered */
	uint32_t pcid;
	uint32_t filled; /* a bit for each TLB that may have entries */
};

struct soft_jump {
	uint64_t ip;
	struct soft_link link;
};

/* A page of code whose translation is valid while `gen` is that of the processor. */
struct soft_fetch {
	uint64_t page; /* the linear address */
	uint64_t gpa;
	uint64_t gen;
	uint64_t unused;
};

#define SOFT_FETCH_SIZE 256u

#define SOFT_JUMP_BITS 10
#define SOFT_JUMP_SIZE (1u << SOFT_JUMP_BITS)

/*
 * x87, SSE, AVX and AVX-512 state as instructions use it, and the further state that XSAVE needs.
 */
struct soft_fpu {
	uint8_t zmm[32][64] __attribute__((aligned(64)));
	uint8_t x87[512]
		__attribute__((aligned(64))); /* an FXSAVE64 image; its XMM part is unused */
	uint64_t k[8];
	uint32_t mxcsr;
	uint32_t pkru;
	uint64_t xcr0;
};

/* The largest number of vCPUs. */
#define SOFT_VCPUS 64u

/* vCPUs run one at a time. Each has blocks of its own, because links depend on its mappings. */
struct soft_vm {
	struct engine_vm base;
	struct x86_mem mem; /* borrowed from the VM */
	struct soft *vcpu[SOFT_VCPUS];
	unsigned int vcpus;
	/* For each page of RAM the number of vCPUs that have blocks of its code. */
	uint8_t *coded;
	struct engine_msr_range trapped[32];
	size_t trapped_count;
};

/* The MSRs that the engine emulates: soft/msr.c. */
struct soft_msrs {
	uint64_t star, lstar, cstar, fmask, kernel_gs_base, tsc_aux;
	uint64_t sysenter_cs, sysenter_esp, sysenter_eip;
	uint64_t pat, misc_enable, spec_ctrl, xss, debugctl, umwait;
	uint64_t mtrr_def, mtrr[32];
};

/* Bits of soft.call: which call of the core is in progress. */
enum soft_call {
	SOFT_STEP = 1 << 0,	/* step(): execute instructions that run() leaves to the core */
	SOFT_WANT_IRQ = 1 << 1, /* run(): return when RFLAGS.IF allows an interrupt */
	SOFT_LEFT = 1 << 2,	/* a micro-operation has set what the call returns in `exit` */
	SOFT_ALONE = 1 << 3,	/* run(): the next instruction has a block of its own */
	SOFT_DUE = 1 << 4,	/* run(): only a due time limits the budget */
};

#define SOFT_WATCHES 64u

#define SOFT_PUT 8u /* bytes that compiled code puts at most between two checks */

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
	/* The generation of valid links: a number for each space and unlinking, and `mode`. */
	uint64_t gen;
	int64_t left; /* instructions until run() ends, less those of blocks that have begun */
	struct vpt_gate *gate; /* the gate of the observer; NULL if no trace is on */
	/*
	 * The same for compiled code of SOFT_BLOCK_TRACED while the gate is open. Otherwise `closed`, which
	 * has no room for an outcome. The gate takes an outcome while those it has are below `tnt_limit`.
	 */
	struct vpt_gate *open;
	uint64_t tnt_limit;
	/*
	 * The unit of `open` takes SOFT_PUT bytes of packets while out.cur is below `put_limit`. While SOFT_TNT
	 * has the outcomes, psb_bytes does not count the bytes from `put_from` on.
	 */
	const uint8_t *put_limit, *put_from;
	struct soft_tlb *tlb;
	/* Aligned, so that no entry crosses a cache line of the host. */
	struct soft_jump jump[SOFT_JUMP_SIZE] __attribute__((aligned(64)));
	struct soft_fetch fetch[SOFT_FETCH_SIZE];
	struct soft_sites sites;

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
	unsigned int index; /* in vm->vcpu */
	struct engine_cpuid_entry *cpuid;
	size_t cpuid_count;
	struct soft_cache *cache;	/* block.c */
	uint64_t emptied;		/* how often it has dropped all blocks */
	void *decoder[3];		/* translate.c, by SOFT_BLOCK_BITS */
	struct soft_native *native;	/* native.c */
	struct soft_compiler *compiler; /* compile.h; NULL if none, or if micro-operations return */

	struct engine_exit *exit; /* the exit of the call in progress */
	jmp_buf escape;		  /* the target of longjmp() for faults */
	uint64_t begun;		  /* base.retired when run() began */
	int64_t started;	  /* `left` when run() began */
	int64_t stash;		  /* the part removed from `left`: see soft_call_attention() */
	uint64_t reported;	  /* instructions reported to the observer */
	struct engine_log *log;	  /* the log of the observer; NULL if there is none, or no trace */
	/*
	 * The first micro-operation of the last block in the log, NULL if its cut is in the log, too.
	 * `part` stands for it while a part of the block runs as single instructions.
	 */
	const struct soft_uop *logged;
	struct soft_uop part;
	/*
	 * Makes run() end between two blocks. Not a bit of `base.state`, because interrupt() sets it
	 * in a signal handler.
	 */
	volatile bool interrupted;
	struct soft_link *missed; /* the link to set when the next block is found */
	uint64_t debug;		  /* DR6 bits of data breakpoints that were hit */
	struct vpt_pt closed;	  /* it takes nothing and compresses no RET */

	/* An access that is not one piece of RAM: see soft_rmw(). */
	uint8_t bounce[64] __attribute__((aligned(64)));
	uint64_t bounce_va;
	uint32_t bounce_bytes; /* 0 if unused */

	struct soft_space space[SOFT_SPACES];
	uint32_t in_space; /* the current one of `space` */
	uint32_t set;	   /* the current enum soft_tlb_set */
	uint64_t gens;	   /* the newest generation */
	struct soft_pages pages;
	uint64_t watch[SOFT_WATCHES]; /* run() ends before an instruction with such a RIP */
	unsigned int watches;
	struct engine_data_watch data[ENGINE_DATA_WATCHES];
	unsigned int data_watches;

	struct soft_filled filled[SOFT_SPACES][SOFT_TLB_SLOW];
	uint32_t made; /* a bit for each TLB below that is initialised, the last one for `slow` */
	/* The last members, which have no contents before their first use. */
	struct soft_tlb tlbs[SOFT_SPACES][SOFT_TLB_SLOW][SOFT_TLB_ALL] __attribute__((aligned(64)));
	struct soft_tlb slow[SOFT_TLB_ALL] __attribute__((aligned(64))); /* always empty */
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
 * The next micro-operation. If the compiler makes the call a jump, it costs no time. Otherwise
 * (sanitizers, -O0) the loop that called the first micro-operation calls the next.
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

/* Get or set the whole RFLAGS. Setting differs from POPF. */
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

/* Return the number of retired instructions as of the instruction of `u`. */
static inline uint64_t soft_retired(const struct soft *c, const struct soft_uop *u)
{
	return c->begun + (uint64_t)(c->started - (c->left + c->stash + u->rest));
}

/* Returns true if this can be a linear address in long mode. */
static inline bool soft_canonical(const struct soft *c, uint64_t va)
{
	unsigned int shift = c->s.cr4 & X86_CR4_LA57 ? 7 : 16;

	return (uint64_t)((int64_t)(va << shift) >> shift) == va;
}

/* run.c. The functions that raise exceptions do not return. */
_Noreturn void soft_fault(struct soft *c, const struct soft_uop *u,
			  const struct engine_exception *e);
_Noreturn void soft_raise(struct soft *c, const struct soft_uop *u, uint8_t vector);
_Noreturn void soft_raise_code(struct soft *c, const struct soft_uop *u, uint8_t vector,
			       uint32_t error);
/* Leave after this instruction with RIP already set (`done`), or before it. */
const struct soft_uop *soft_leave(struct soft *c, const struct soft_uop *u, bool done,
				  enum engine_exit_kind kind);
/*
 * End an instruction that changed the mode of decoding (modes, segments, paging, privilege). Derive
 * the state again, and resume at the next instruction.
 */
const struct soft_uop *soft_resume(struct soft *c, const struct soft_uop *u);
/* The same for an instruction that changed RFLAGS.IF, which may need a report to the observer. */
const struct soft_uop *soft_resume_if(struct soft *c, const struct soft_uop *u);
/* Returns true if the observer requires reports of RFLAGS.IF changes. */
static inline bool soft_watches_if(const struct soft *c)
{
	return c->gate && c->base.observer->wants & ENGINE_WANTS_INTR_FLAG;
}
/*
 * Recompute the state that follows from system registers, DR7, XCR0 and RFLAGS. Flushes the TLB if
 * paging changed, and unlinks all blocks if the CS base or limit changed.
 */
void soft_derive(struct soft *c);
/*
 * A link to a block of this many instructions was not followed, because the budget has ended. Returns true
 * if it ended for a due time, and takes them now. The gate is closed then.
 */
bool soft_pass_due(struct soft *c, int32_t insns);
/* Make run() end soon, because a device requested it during an access. */
void soft_call_attention(struct soft *c);
/* The same if ENGINE_ATTENTION is set. */
void soft_note_attention(struct soft *c);
/*
 * Execute the instruction of `u` in a block of its own, before any of its effects. An access to a
 * device is such an instruction. The device may end run(), and then it ends after this instruction,
 * wherever the block began. Returns if the instruction is alone, or the last of its block.
 */
void soft_isolate(struct soft *c, const struct soft_uop *u);
/* Report a near branch that retired; `next` is the IP after the instruction. */
void soft_report_branch(struct soft *c, const struct soft_uop *u, uint8_t kind, uint64_t next,
			uint64_t to, bool taken);
/* Report a PTWRITE that retired, of this value; u->imm is the next IP. */
void soft_report_ptwrite(struct soft *c, const struct soft_uop *u, uint64_t value, bool wide);
/*
 * Write to the log that the last block was left at the instruction of `u`, or after it if `done`.
 */
void soft_log_cut(struct soft *c, const struct soft_uop *u, bool done);
/* Report a retired sequential instruction, in every-instruction mode. */
void soft_report_plain(struct soft *c, const struct soft_uop *u, uint64_t next);
/*
 * Report to the observer, before an event between two blocks, how many instructions have retired
 * since the last report.
 */
void soft_report_ran(struct soft *c);
/*
 * Apply the changes of an observer's call, which may have ended the trace or requested attention.
 */
void soft_poll_observer(struct soft *c);
/* Call the operations of `base.bus` at the current time. */
void soft_bus_io(struct soft *c, const struct soft_uop *u, uint16_t port, uint8_t size, bool in,
		 uint32_t count, void *data);
void soft_bus_mmio(struct soft *c, const struct soft_uop *u, uint64_t gpa, uint32_t len, bool write,
		   void *data);

/* block.c */
struct soft_cache *soft_cache_create(const struct x86_mem *mem, unsigned int index);
void soft_cache_destroy(struct soft_cache *cache);
/* Return the block at RIP in this mode. Faults like a fetch. */
struct soft_block *soft_block(struct soft *c, uint32_t mode);
/*
 * translate.c: fill in a block from the code at `code`. `room` bytes are on this page. `more` has
 * those of the next page if block->gpa2 is set.
 */
void soft_fill(struct soft *c, struct soft_block *b, const uint8_t *code, unsigned int room,
	       const uint8_t *more);
/* Returns true if the instruction at `code` needs more than `room` bytes. */
bool soft_crosses(struct soft *c, uint32_t mode, const uint8_t *code, unsigned int room);
#define SOFT_BLOCK_MAX_INSNS 64
#define SOFT_BLOCK_MAX_UOPS  256
/* Invalidate the links of the current address space. */
static inline void soft_new_gen(struct soft *c)
{
	c->gens += 1u << SOFT_BLOCK_MODE_BITS;
	c->gen = c->gens | (c->gen & ((1u << SOFT_BLOCK_MODE_BITS) - 1));
}
/* Invalidate all links, after a change of code or modes. */
static inline void soft_unlink(struct soft *c)
{
	unsigned int i;

	for (i = 0; i < SOFT_SPACES; i++)
		c->space[i].gen = 0;
	soft_new_gen(c);
}
/* Report all code again if the observer has forgotten code. Linked blocks are not reported. */
static inline void soft_code_again(struct soft *c)
{
	if (vpt_likely(!(c->base.state & ENGINE_CODE_AGAIN)))
		return;
	c->base.state &= ~(uint32_t)ENGINE_CODE_AGAIN;
	soft_unlink(c);
}
/* Returns true if this page has cached code. Then report writes to it with soft_wrote(). */
bool soft_has_code(const struct soft *c, uint64_t gpa);
/* Returns true if one of the pages of 2 MiB from `gpa` on has, or if it is not all RAM. */
bool soft_has_code_near(const struct soft *c, uint64_t gpa);
/*
 * Drop the blocks whose bytes in RAM change. `u` is the running micro-operation or NULL. The rest
 * of its instruction still runs.
 */
void soft_wrote(struct soft *c, const struct soft_uop *u, uint64_t gpa, uint64_t len);
/* Drop all blocks, between two run()s. */
void soft_drop_blocks(struct soft *c);

/* data.c: the accesses to data that the caller watches. */
/* Return the accesses, enum engine_data_access, that are watched at bytes of [va, va + len). */
uint32_t soft_data_watched(const struct soft *c, uint64_t va, uint64_t len);
/* An instruction is about to make this access, and cannot fault any more at its pages. */
void soft_data_check(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len, bool write);
void soft_watch_data(struct engine_vcpu *ev, const struct engine_data_watch *watches, size_t count);

/* mmu.c. Accesses fault with #PF, #GP, #SS or #AC. */
/*
 * Translate a linear to a guest-physical address. Returns false with the exception in *e. `access`
 * is an enum x86_walk_access.
 */
bool soft_translate(struct soft *c, uint64_t va, unsigned int access, uint64_t *gpa,
		    struct engine_exception *e);
/*
 * Drop the translations of the code at RIP that differ from the page tables. A processor may drop a
 * translation at any time.
 */
void soft_drop_stale_code(struct soft *c);
uint64_t soft_load_slow(struct soft *c, const struct soft_uop *u, uint64_t va, unsigned int size);
void soft_store_slow(struct soft *c, const struct soft_uop *u, uint64_t va, uint64_t value,
		     unsigned int size);
void *soft_rmw_slow(struct soft *c, const struct soft_uop *u, uint64_t va, unsigned int size);
void soft_rmw_end(struct soft *c, const struct soft_uop *u);
/* Access up to a page of bytes. The whole range is checked before any byte is moved. */
void soft_read(struct soft *c, const struct soft_uop *u, uint64_t va, void *to, size_t len);
void soft_write(struct soft *c, const struct soft_uop *u, uint64_t va, const void *from,
		size_t len);
/* Fault if a write would fault. */
void soft_probe_write(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len);
/*
 * Return the host address of [va, va + len) for reading or writing. NULL if the range is not
 * contiguous RAM or has code. Then use the functions above. Faults.
 */
void *soft_host(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len, bool write);

#endif /* VMM_SOFT_SOFT_H */
