/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps a software vCPU and executes the same instructions on the host's processor. A window of
 * memory has the same addresses on both sides. Only one such vCPU exists at a time.
 */
#ifndef TESTS_LIB_BESIDE_H
#define TESTS_LIB_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "x86/mem.h"
#include "x86/x86.h"

/* The guest's memory. The first 4 MiB are mapped one to one, and the window follows. */
enum beside_layout {
	BESIDE_RAM = 8 << 20,
	BESIDE_PML4 = 0x1000,
	BESIDE_PDPT = 0x2000,
	BESIDE_PD = 0x3000,
	BESIDE_GDT = 0x4000,
	BESIDE_LDT = 0x5000,
	BESIDE_TSS = 0x6000,
	BESIDE_CODE = 0x10000,
	BESIDE_STACK = 0x20000,
	BESIDE_DATA = 0x30000,
	BESIDE_WINDOW_RAM = 4 << 20,
	BESIDE_WINDOW = 0x10000000, /* linear */
	BESIDE_WINDOW_BYTES = 2 << 20,
	BESIDE_NOWHERE = BESIDE_WINDOW + BESIDE_WINDOW_BYTES, /* not mapped */
};

/* Selectors of the GDT that beside_mode() uses; a test may add others from FREE on. */
enum beside_selector {
	BESIDE_CODE64 = 0x08,
	BESIDE_DATA0 = 0x10,
	BESIDE_CODE32 = 0x18,
	BESIDE_CODE64_3 = 0x20 | 3,
	BESIDE_DATA3 = 0x28 | 3,
	BESIDE_CODE32_3 = 0x30 | 3,
	BESIDE_FREE = 0x40,
	BESIDE_GDT_BYTES = 0x100,
};

/* In the order of struct x86_regs. */
enum beside_reg {
	RAX,
	RBX,
	RCX,
	RDX,
	RSI,
	RDI,
	RSP,
	RBP,
	R8,
	R9,
	R10,
	R11,
	R12,
	R13,
	R14,
	R15,
	REGS
};

struct beside_state {
	uint64_t reg[REGS];
	uint64_t rflags;
};

#define BESIDE_FLAGS \
	(X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_OF | X86_FL_DF)

/* An instruction made by the assembler. */
struct beside_insn {
	const uint8_t *code, *end;
	const char *text;
};

/* Rows of a table that lies between __start_TABLE and __stop_TABLE. */
#define BESIDE_INSN(table, text)                      \
	__asm__(".pushsection .text.insns, \"ax\"\n"  \
		"771:	" text "\n"                   \
		"772:	jmp	beside_native_end\n"        \
		".popsection\n"                       \
		".pushsection .rodata.insns, \"a\"\n" \
		"773:	.asciz \"" text "\"\n"        \
		".popsection\n"                       \
		".pushsection " #table ", \"aw\"\n"   \
		"	.quad 771b, 772b, 773b\n"           \
		".popsection\n");

extern struct x86_mem beside_mem;
extern struct engine_vm *beside_vm;
extern struct engine_vcpu *beside_vcpu;
extern const struct engine *beside_engine;

void beside_create(void);
void beside_destroy(void);

/* Set the mode, with flat segments. 64 and 32: protected mode with paging; 16: real mode. */
void beside_mode(unsigned int bits, unsigned int cpl);
struct x86_sregs beside_sregs(void);
void beside_set_sregs(const struct x86_sregs *s);

void beside_put(uint64_t gpa, const void *bytes, size_t len);
void beside_put64(uint64_t gpa, uint64_t value);
uint64_t beside_get64(uint64_t gpa);

/* Put code at BESIDE_CODE, and step it once. RIP starts at BESIDE_CODE, or at 0 in real mode. */
struct engine_exit beside_step(const void *code, size_t len);
/* The same with these registers, and BESIDE_DATA in RSI. */
void beside_step_with(const void *code, size_t len, uint64_t rax, uint64_t rdi);
/* Save the vCPU, and load what was saved. */
void beside_reload(void);
#define BESIDE_STEP(code) beside_step(code, sizeof(code) - 1)
/* Do the same with the engine's run(), until an exit or the given number of instructions. */
struct engine_exit beside_run(const void *code, size_t len, uint64_t insns);

/*
 * beside_window() returns the window, which a test fills for both sides. beside_native() executes
 * the instruction on the host's processor and updates @s and the window.
 */
uint8_t *beside_window(void);
void beside_native(struct beside_state *s, const uint8_t *code);
/*
 * Execute the instruction on both sides from the state `in`. The test fails if registers, RIP, the
 * flags in `flags` or the first 64 KiB of the window differ.
 */
void beside_compare(const struct beside_insn *insn, const struct beside_state *in, uint64_t flags);

#endif /* TESTS_LIB_BESIDE_H */
