/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoded instructions, and a cache of them by guest-physical address. Each lookup compares the
 * cached bytes with those in memory, so that self-modifying code is decoded again.
 */
#ifndef VMM_CORE_INSN_H
#define VMM_CORE_INSN_H

#include <stdbool.h>
#include <stdint.h>

#define CORE_INSN_MAX 15

enum core_insn_class {
	CORE_INSN_PLAIN = 0, /* continues with the next instruction */
	/* The branches, in and between segments. */
	CORE_INSN_COND, /* Jcc, J*CXZ, LOOPcc; aux: opcode byte */
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
	CORE_INSN_SYSEXIT, /* aux: operand bytes; the last branch */
	CORE_INSN_MOV_CR3, /* MOV to CR3 */
	CORE_INSN_RDMSR,
	CORE_INSN_WRMSR,
	CORE_INSN_HLT,
	CORE_INSN_PUSHF, /* aux: operand bytes */
	CORE_INSN_POPF,	 /* aux: operand bytes */
	CORE_INSN_SIDT,
	CORE_INSN_CPUID,
	CORE_INSN_RDTSC, /* and RDTSCP */
	CORE_INSN_RDPMC,
	CORE_INSN_PTWRITE, /* aux: operand bytes, 0 if the encoding is invalid */
	CORE_INSN_MONITOR,
	CORE_INSN_MWAIT,
	CORE_INSN_UMONITOR,
	CORE_INSN_UMWAIT,
	CORE_INSN_TPAUSE,
};

enum core_insn_flags {
	CORE_INSN_REP = 1 << 0,	   /* has REP: RIP advances after the last iteration */
	CORE_INSN_SYSTEM = 1 << 1, /* can change segments or control registers */
	CORE_INSN_DEBUG_REGS = 1 << 2,
	CORE_INSN_LOADS_SS = 1 << 3, /* MOV SS, POP SS */
	CORE_INSN_STI = 1 << 4,
	CORE_INSN_ADDRESS32 = 1 << 5, /* LOOP, J*CXZ: count in ECX */
	CORE_INSN_ADDRESS16 = 1 << 6,
	CORE_INSN_TARGET16 = 1 << 7, /* COND, JMP, CALL: the target has 16 bits */
};

struct core_insn {
	uint64_t gpa;	    /* guest-physical address of the first byte */
	uint64_t low, high; /* the bytes; zero beyond `len` */
	int64_t disp;	    /* COND, JMP, CALL: target minus next IP */
	uint8_t len;	    /* 0: an empty slot */
	uint8_t bits;	    /* 16, 32 or 64: the mode for which it was decoded */
	uint8_t cls;	    /* enum core_insn_class */
	uint8_t flags;	    /* enum core_insn_flags */
	uint8_t aux;
};

/* Up to 15 bytes at an IP. Bytes beyond `count` are zero. */
struct core_insn_bytes {
	uint64_t low, high;
	uint8_t count;
};

struct core_insn_cache;

struct core_insn_cache *core_insn_cache_create(void);
void core_insn_cache_destroy(struct core_insn_cache *cache);

/*
 * Returns the instruction of these bytes at @gpa in a mode of @bits, or NULL if they are invalid.
 * In that case *truncated is true if more bytes could make them valid. The result is valid until
 * the next call.
 */
const struct core_insn *core_insn_find(struct core_insn_cache *cache, uint64_t gpa, uint8_t bits,
				       const struct core_insn_bytes *bytes, bool *truncated);

/* Disassemble an instruction for messages. @text has at least 64 bytes. */
void core_insn_format(struct core_insn_cache *cache, uint64_t ip, uint8_t bits,
		      const struct core_insn_bytes *bytes, char *text, unsigned int size);

/* Returns true for INTO (opcode CEH), which raises #OF only if OF is set. */
static inline bool core_insn_is_into(const struct core_insn *insn)
{
	return insn->cls == CORE_INSN_INT && insn->len == 1 && (insn->low & 0xff) == 0xce;
}

/* Returns true for a branch instruction, near or far. */
static inline bool core_insn_is_branch(const struct core_insn *insn)
{
	return insn->cls >= CORE_INSN_COND && insn->cls <= CORE_INSN_SYSEXIT;
}

/* The operand of a far JMP, CALL or RET. */
struct core_insn_far {
	enum { CORE_FAR_JMP, CORE_FAR_CALL, CORE_FAR_RET } kind;
	uint8_t size;	   /* operand bytes */
	bool memory;	   /* the far pointer is in memory, at core_insn_address() */
	uint16_t selector; /* the pointer, unless it is in memory */
	uint64_t offset;
	uint16_t release; /* RET n */
};
bool core_insn_far(struct core_insn_cache *cache, const struct core_insn *insn,
		   struct core_insn_far *far);

/*
 * Get the address of the memory operand of an instruction, without the segment's base. The letter
 * in *segment is the first one of the segment register, such as 'd' for DS. In 64-bit code it is 0
 * except for FS, GS and SS. Returns false if there is no memory operand.
 */
struct x86_regs;
bool core_insn_address(struct core_insn_cache *cache, const struct core_insn *insn,
		       const struct x86_regs *regs, uint64_t *address, char *segment);

/* Get the value of the first operand. Returns false if it is not a register. */
bool core_insn_register(struct core_insn_cache *cache, const struct core_insn *insn,
			const struct x86_regs *regs, uint64_t *value);

/* Get the address operand of MONITOR and UMONITOR. *segment is as for core_insn_address(). */
bool core_insn_pointer(struct core_insn_cache *cache, const struct core_insn *insn,
		       const struct x86_regs *regs, uint64_t *address, char *segment);

/* Returns true if the condition of a Jcc opcode holds. */
bool core_insn_condition(uint8_t opcode, uint64_t rflags);

#endif /* VMM_CORE_INSN_H */
