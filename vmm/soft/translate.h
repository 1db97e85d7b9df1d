/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a decoded instruction to micro-operations. insns.def names for each mnemonic
 * the function here that translates it.
 */
#ifndef VMM_SOFT_TRANSLATE_H
#define VMM_SOFT_TRANSLATE_H

#include <Zydis/Zydis.h>

#include "soft/soft.h"

struct vpt_translation {
	struct vpt_soft *c;
	const ZydisDecodedInstruction *insn;
	const ZydisDecodedOperand *op; /* all of them, the hidden ones too */
	const uint8_t *code;	       /* its bytes */
	uint64_t ip, next;	       /* RIP of it and after it */
	uint8_t bits;		       /* 16, 32, 64 */
	uint8_t size;		       /* operand bytes: 1, 2, 4, 8 of the first operand */
	uint32_t mode;		       /* enum vpt_block_mode */
	uint32_t arg;		       /* of the row in insns.def */
	bool ends;		       /* set: the block ends with this instruction */
	struct vpt_block *block;       /* in progress */
};

/*
 * Translate t->insn: append micro-operations, the last one ending with VPT_NEXT()
 * unless t->ends. False: this form cannot be done, which makes it raise #UD.
 */
typedef bool (*vpt_translate_fn)(struct vpt_translation *t);

/* Append one, with ip and len filled in and all operands ZERO. */
struct vpt_uop *vpt_tr_emit(struct vpt_translation *t, vpt_uop_fn fn);

/* Is operand n a general register, memory, an immediate? */
bool vpt_tr_is_gpr(const struct vpt_translation *t, unsigned int n);
bool vpt_tr_is_mem(const struct vpt_translation *t, unsigned int n);
bool vpt_tr_is_imm(const struct vpt_translation *t, unsigned int n);
/* Bytes of operand n. */
unsigned int vpt_tr_size(const struct vpt_translation *t, unsigned int n);
/* Offset of a general register (any width, AH too) in the register file. */
uint8_t vpt_tr_reg(ZydisRegister reg);
/* The same of operand n. */
uint8_t vpt_tr_gpr(const struct vpt_translation *t, unsigned int n);
/* Immediate of operand n, sign-extended where the instruction says so. */
uint64_t vpt_tr_imm(const struct vpt_translation *t, unsigned int n);

/*
 * The address of memory operand n, as base, index, scale and disp of a micro-operation
 * of this instruction: call it first, then emit, then vpt_tr_put_address(). Where a
 * segment or the address size matters it emits one that computes the address, checks
 * it and leaves it in EA; `len` bytes are checked against the segment's limit.
 */
struct vpt_address {
	uint8_t base, index, scale, flags;
	int64_t disp;
};
struct vpt_address vpt_tr_address(struct vpt_translation *t, unsigned int n, unsigned int len,
				  bool write);
static inline void vpt_tr_put_address(struct vpt_uop *u, const struct vpt_address *a)
{
	u->base = a->base;
	u->index = a->index;
	u->scale = a->scale;
	u->flags |= a->flags;
	u->disp = a->disp;
}

/* The offset alone, as LEA makes it, in the address size: left in EA. */
void vpt_tr_offset(struct vpt_translation *t, unsigned int n);

/* Raise an exception when executed. #GP, #SS, #PF... get error code 0. */
void vpt_tr_raise(struct vpt_translation *t, uint8_t vector);
/* Leave for the core before this instruction when in run(). (The translator `core`
 * below is for instructions that the core alone does.) */
void vpt_tr_leave(struct vpt_translation *t);

/* Translators, by file. insns.def says which does what. */
#define VPT_TRANSLATOR(name) bool vpt_tr_##name(struct vpt_translation *t)
VPT_TRANSLATOR(alu);   /* alu.c: ADD OR ADC SBB AND SUB XOR CMP TEST INC DEC NEG NOT */
VPT_TRANSLATOR(shift); /* shift.c: ROL ROR RCL RCR SHL SHR SAR, SHLD SHRD */
VPT_TRANSLATOR(mul);   /* muldiv.c: MUL IMUL MULX */
VPT_TRANSLATOR(div);   /* DIV IDIV */
VPT_TRANSLATOR(mov);   /* mov.c: MOV of registers, memory, immediates; MOVABS */
VPT_TRANSLATOR(movx);  /* MOVZX MOVSX MOVSXD */
VPT_TRANSLATOR(cmov);  /* CMOVcc */
VPT_TRANSLATOR(setcc); /* SETcc */
VPT_TRANSLATOR(lea);
VPT_TRANSLATOR(xchg);	 /* exchange.c: XCHG XADD CMPXCHG CMPXCHG8B CMPXCHG16B */
VPT_TRANSLATOR(bit);	 /* bit.c: BT BTS BTR BTC with their bit-string forms */
VPT_TRANSLATOR(extend);	 /* mov.c: CBW CWDE CDQE CWD CDQ CQO */
VPT_TRANSLATOR(flag);	 /* flag.c: CLC STC CMC CLD STD LAHF SAHF */
VPT_TRANSLATOR(stack);	 /* stack.c: PUSH POP PUSHA POPA ENTER LEAVE */
VPT_TRANSLATOR(pushf);	 /* PUSHF POPF */
VPT_TRANSLATOR(string);	 /* string.c: MOVS CMPS SCAS LODS STOS INS OUTS, with REP */
VPT_TRANSLATOR(decimal); /* decimal.c: DAA DAS AAA AAS AAM AAD, SALC, XLAT, BOUND */
VPT_TRANSLATOR(branch);	 /* branch.c: near JMP CALL RET, Jcc, LOOPcc, J*CXZ */
VPT_TRANSLATOR(nop);	 /* nop.c: NOP PAUSE PREFETCH fences CLFLUSH... */
VPT_TRANSLATOR(core);	 /* system.c: what only the core does: far transfers, INT, IRET ... */
VPT_TRANSLATOR(system);	 /* system.c: CR, DR, descriptor tables, HLT, CLI, STI, INVLPG ... */
VPT_TRANSLATOR(segment); /* segment.c: MOV and POP to segment registers, LDS..., LAR LSL VERR */
VPT_TRANSLATOR(msr);	 /* msr.c: RDMSR WRMSR RDTSC RDTSCP RDPMC CPUID, FSGSBASE, SWAPGS */
VPT_TRANSLATOR(io);	 /* io.c: IN OUT */
VPT_TRANSLATOR(ptwrite); /* ptwrite.c */
VPT_TRANSLATOR(native);	 /* native.c: by the same instruction on the host, registers only
			  * general ones: BMI, ADX, CRC32, MOVBE, POPCNT, BSF, BSWAP ... */
VPT_TRANSLATOR(vector);	 /* vector.c: likewise MMX, SSE, AVX, AVX-512 */
VPT_TRANSLATOR(x87);	 /* x87.c: likewise */
VPT_TRANSLATOR(xstate);	 /* xstate.c: FXSAVE XSAVE family, LDMXCSR, XGETBV, XSETBV, EMMS */

#endif /* VMM_SOFT_TRANSLATE_H */
