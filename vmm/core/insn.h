/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoded instructions, and a cache of them by guest-physical address. Each use compares the cached
 * bytes with memory, so that code that modifies itself is decoded again.
 */
#ifndef VMM_CORE_INSN_H
#define VMM_CORE_INSN_H

#include <stdbool.h>
#include <stdint.h>

#define CORE_INSN_MAX 15

enum core_insn_class {
	CORE_INSN_PLAIN = 0, /* goes on with the next instruction */
	CORE_INSN_COND,	     /* Jcc, J*CXZ, LOOPcc; aux: opcode byte */
	CORE_INSN_JMP,
	CORE_INSN_CALL,
	CORE_INSN_JMP_INDIRECT,
	CORE_INSN_CALL_INDIRECT,
	CORE_INSN_RET,
	CORE_INSN_FAR, /* far JMP, CALL, RET */
	CORE_INSN_INT, /* INT n, INT3, INTO; aux: vector */
	CORE_INSN_INT1,
	CORE_INSN_IRET, /* aux: operand bytes */
	CORE_INSN_SYSCALL,
	CORE_INSN_SYSRET, /* aux: operand bytes */
	CORE_INSN_SYSENTER,
	CORE_INSN_SYSEXIT, /* aux: operand bytes */
	CORE_INSN_MOV_CR3, /* to CR3 */
	CORE_INSN_RDMSR,
	CORE_INSN_WRMSR,
	CORE_INSN_HLT,
	CORE_INSN_PUSHF, /* aux: operand bytes */
	CORE_INSN_POPF,	 /* aux: operand bytes */
	CORE_INSN_SIDT,
	CORE_INSN_CPUID,
	CORE_INSN_RDTSC, /* and RDTSCP */
	CORE_INSN_RDPMC,
	CORE_INSN_PTWRITE, /* aux: operand bytes, 0 if it is none after all */
	CORE_INSN_MONITOR,
	CORE_INSN_MWAIT,
	CORE_INSN_UMONITOR,
	CORE_INSN_UMWAIT,
	CORE_INSN_TPAUSE,
};

enum core_insn_flags {
	CORE_INSN_REP = 1 << 0,	   /* repeats: RIP moves when it is done */
	CORE_INSN_SYSTEM = 1 << 1, /* can change segments or control registers */
	CORE_INSN_DEBUG_REGS = 1 << 2,
	CORE_INSN_LOADS_SS = 1 << 3, /* MOV SS, POP SS */
	CORE_INSN_STI = 1 << 4,
	CORE_INSN_ADDRESS32 = 1 << 5, /* LOOP, J*CXZ: counts in ECX, not in RCX */
	CORE_INSN_ADDRESS16 = 1 << 6,
	CORE_INSN_TARGET16 = 1 << 7, /* COND, JMP, CALL: the target has 16 bits */
};

struct core_insn {
	uint64_t gpa;	    /* of its first byte */
	uint64_t low, high; /* its bytes; beyond `len` they are zero */
	int64_t disp;	    /* COND, JMP, CALL: target minus next IP */
	uint8_t len;	    /* 0: an empty slot */
	uint8_t bits;	    /* 16, 32, 64: the mode it was decoded for */
	uint8_t cls;	    /* enum core_insn_class */
	uint8_t flags;	    /* enum core_insn_flags */
	uint8_t aux;
};

/* Up to 15 bytes at an IP; what is not there is zero. */
struct core_insn_bytes {
	uint64_t low, high;
	uint8_t count;
};

struct core_insn_cache;

struct core_insn_cache *core_insn_cache_create(void);
void core_insn_cache_destroy(struct core_insn_cache *cache);

/*
 * Returns the instruction of these bytes at `gpa` in a mode of `bits`, or NULL if they are none.
 * *truncated is then true if more bytes could make one. The result is valid until the next call.
 */
const struct core_insn *core_insn_find(struct core_insn_cache *cache, uint64_t gpa, uint8_t bits,
				       const struct core_insn_bytes *bytes, bool *truncated);

/* For messages: text of at least 64 bytes. */
void core_insn_format(struct core_insn_cache *cache, uint64_t ip, uint8_t bits,
		      const struct core_insn_bytes *bytes, char *text, unsigned int size);

/* INT4 by its opcode of one byte, which asks for OF first. */
static inline bool core_insn_is_into(const struct core_insn *insn)
{
	return insn->cls == CORE_INSN_INT && insn->len == 1 && (insn->low & 0xff) == 0xce;
}

/* The operand of a far JMP, CALL or RET. */
struct core_insn_far {
	enum { CORE_FAR_JMP, CORE_FAR_CALL, CORE_FAR_RET } kind;
	uint8_t size;	   /* operand bytes */
	bool memory;	   /* the pointer is in memory, at core_insn_address() */
	uint16_t selector; /* else it is this */
	uint64_t offset;
	uint16_t release; /* RET n */
};
bool core_insn_far(struct core_insn_cache *cache, const struct core_insn *insn,
		   struct core_insn_far *far);

/*
 * Get the address of the memory operand of an instruction, without the segment's base. *segment is
 * the second letter of the segment register, 'd' for DS and so on. In 64-bit code it is 0 except
 * for FS, GS and the stack. Returns false if there is no memory operand.
 */
struct x86_regs;
bool core_insn_address(struct core_insn_cache *cache, const struct core_insn *insn,
		       const struct x86_regs *regs, uint64_t *address, char *segment);

/* The first operand, if it is a general register; false: it is not. */
bool core_insn_register(struct core_insn_cache *cache, const struct core_insn *insn,
			const struct x86_regs *regs, uint64_t *value);

/* Where MONITOR and UMONITOR point to, with the letter of core_insn_address(). */
bool core_insn_pointer(struct core_insn_cache *cache, const struct core_insn *insn,
		       const struct x86_regs *regs, uint64_t *address, char *segment);

/* Does the condition of a Jcc opcode hold? */
bool core_insn_condition(uint8_t opcode, uint64_t rflags);

#endif /* VMM_CORE_INSN_H */
