/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions, decoded as far as the core needs to know them, and a cache of
 * them by guest-physical address that is checked against the bytes at each use,
 * so that code which changes itself is seen as it is.
 */
#ifndef VMM_CORE_INSN_H
#define VMM_CORE_INSN_H

#include <stdbool.h>
#include <stdint.h>

#define VPT_INSN_MAX 15

enum vpt_insn_class {
	VPT_INSN_PLAIN = 0, /* goes on with the next instruction */
	VPT_INSN_COND,	    /* Jcc, J*CXZ, LOOPcc; aux: opcode byte */
	VPT_INSN_JMP,
	VPT_INSN_CALL,
	VPT_INSN_JMP_INDIRECT,
	VPT_INSN_CALL_INDIRECT,
	VPT_INSN_RET,
	VPT_INSN_FAR, /* far JMP, CALL, RET */
	VPT_INSN_INT, /* INT n, INT3, INTO; aux: vector */
	VPT_INSN_INT1,
	VPT_INSN_IRET, /* aux: operand bytes */
	VPT_INSN_SYSCALL,
	VPT_INSN_SYSRET, /* aux: operand bytes */
	VPT_INSN_SYSENTER,
	VPT_INSN_SYSEXIT, /* aux: operand bytes */
	VPT_INSN_MOV_CR3, /* to CR3 */
	VPT_INSN_RDMSR,
	VPT_INSN_WRMSR,
	VPT_INSN_HLT,
	VPT_INSN_PUSHF, /* aux: operand bytes */
	VPT_INSN_POPF,	/* aux: operand bytes */
	VPT_INSN_SIDT,
	VPT_INSN_CPUID,
	VPT_INSN_RDTSC, /* and RDTSCP */
	VPT_INSN_RDPMC,
	VPT_INSN_PTWRITE, /* aux: operand bytes, 0 if it is none after all */
	VPT_INSN_MONITOR,
	VPT_INSN_MWAIT,
	VPT_INSN_UMONITOR,
	VPT_INSN_UMWAIT,
	VPT_INSN_TPAUSE,
};

enum vpt_insn_flags {
	VPT_INSN_REP = 1 << 0,	  /* repeats: RIP moves when it is done */
	VPT_INSN_SYSTEM = 1 << 1, /* can change segments or control registers */
	VPT_INSN_DEBUG_REGS = 1 << 2,
	VPT_INSN_LOADS_SS = 1 << 3, /* MOV SS, POP SS */
	VPT_INSN_STI = 1 << 4,
	VPT_INSN_ADDRESS32 = 1 << 5, /* LOOP, J*CXZ: counts in ECX, not in RCX */
	VPT_INSN_ADDRESS16 = 1 << 6,
	VPT_INSN_TARGET16 = 1 << 7, /* COND, JMP, CALL: the target has 16 bits */
};

struct vpt_insn {
	uint64_t gpa;	    /* of its first byte */
	uint64_t low, high; /* its bytes; beyond `len` they are zero */
	int64_t disp;	    /* COND, JMP, CALL: target minus next IP */
	uint8_t len;	    /* 0: an empty slot */
	uint8_t bits;	    /* 16, 32, 64: the mode it was decoded for */
	uint8_t cls;	    /* enum vpt_insn_class */
	uint8_t flags;	    /* enum vpt_insn_flags */
	uint8_t aux;
};

/* Up to 15 bytes at an IP; what is not there is zero. */
struct vpt_insn_bytes {
	uint64_t low, high;
	uint8_t count;
};

struct vpt_insn_cache;

struct vpt_insn_cache *vpt_insn_cache_create(void);
void vpt_insn_cache_destroy(struct vpt_insn_cache *cache);

/*
 * The instruction that these bytes at `gpa` are in a mode of `bits`, or NULL if
 * they are none; *truncated then tells whether more bytes would make one. Valid
 * until the next call.
 */
const struct vpt_insn *vpt_insn_find(struct vpt_insn_cache *cache, uint64_t gpa, uint8_t bits,
				     const struct vpt_insn_bytes *bytes, bool *truncated);

/* For messages: text of at least 64 bytes. */
void vpt_insn_format(struct vpt_insn_cache *cache, uint64_t ip, uint8_t bits,
		     const struct vpt_insn_bytes *bytes, char *text, unsigned int size);

/* INT4 by its opcode of one byte, which asks for OF first. */
static inline bool vpt_insn_is_into(const struct vpt_insn *insn)
{
	return insn->cls == VPT_INSN_INT && insn->len == 1 && (insn->low & 0xff) == 0xce;
}

/* What a far JMP, CALL or RET says. */
struct vpt_insn_far {
	enum { VPT_FAR_JMP, VPT_FAR_CALL, VPT_FAR_RET } kind;
	uint8_t size;	   /* operand bytes */
	bool memory;	   /* the pointer is in memory, at vpt_insn_address() */
	uint16_t selector; /* else it is this */
	uint64_t offset;
	uint16_t release; /* RET n */
};
bool vpt_insn_far(struct vpt_insn_cache *cache, const struct vpt_insn *insn,
		  struct vpt_insn_far *far);

/*
 * Address of the memory operand of an instruction, without segment base;
 * *segment is the second letter of "ds" to "gs" - 'd', 's' and so on -, for 64-bit
 * code 0 unless it is FS, GS or the stack's. False if there is none.
 */
struct vpt_regs;
bool vpt_insn_address(struct vpt_insn_cache *cache, const struct vpt_insn *insn,
		      const struct vpt_regs *regs, uint64_t *address, char *segment);

/* The first operand, if it is a general register; false: it is not. */
bool vpt_insn_register(struct vpt_insn_cache *cache, const struct vpt_insn *insn,
		       const struct vpt_regs *regs, uint64_t *value);

/* Where MONITOR and UMONITOR point to, with the letter of vpt_insn_address(). */
bool vpt_insn_pointer(struct vpt_insn_cache *cache, const struct vpt_insn *insn,
		      const struct vpt_regs *regs, uint64_t *address, char *segment);

/* Does the condition of a Jcc opcode hold? */
bool vpt_insn_condition(uint8_t opcode, uint64_t rflags);

#endif /* VMM_CORE_INSN_H */
