// SPDX-License-Identifier: GPL-2.0-or-later
/* Lockstep: find and apply the rows of lockstep_overrides.def. */
#include "core/access.h"
#include "core/lockstep.h"

#include <string.h>

enum selector { NONE, AX };
enum registers { DX_CX_BX_AX, RM, INSTEAD, FLAGS_IF_FAULTS };

#define ARITHMETIC (X86_FL_CF | X86_FL_PF | X86_FL_AF | X86_FL_ZF | X86_FL_SF | X86_FL_OF)

static const struct core_lockstep_override overrides[] = {
#define CORE_OVERRIDE(name, opcode, mask, selector, value, registers, reason) \
	{#name, reason, opcode, mask, selector, registers, value},
#include "core/lockstep_overrides.def"
};

const struct core_lockstep_override *core_lockstep_overrides(size_t *count)
{
	*count = sizeof(overrides) / sizeof(overrides[0]);
	return overrides;
}

struct opcode {
	uint32_t bytes; /* the first four after the prefixes */
	uint8_t rex;	/* the last prefix if that is REX, else 0 */
	bool rep;
};

static bool is_prefix(uint8_t byte, uint8_t bits)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64 ... 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return bits == 64 && byte >= 0x40 && byte <= 0x4f;
	}
}

static struct opcode opcode_of(const struct core_insn_bytes *bytes, uint8_t bits)
{
	struct opcode opcode = {0};
	uint8_t code[20] = {0};
	unsigned int i;

	memcpy(code, &bytes->low, 8);
	memcpy(code + 8, &bytes->high, 8);
	for (i = 0; i < bytes->count && is_prefix(code[i], bits); i++) {
		opcode.rex = bits == 64 && code[i] >> 4 == 4 ? code[i] : 0;
		opcode.rep |= code[i] == 0xf2 || code[i] == 0xf3;
	}
	memcpy(&opcode.bytes, code + i, sizeof(opcode.bytes));
	return opcode;
}

static bool selected(const struct core_lockstep_override *row, uint8_t bits,
		     const struct x86_regs *regs)
{
	if (row->registers == INSTEAD && bits == 64)
		return false;
	switch (row->selector) {
	case AX:
		return (uint32_t)regs->rax == row->value;
	default:
		return true;
	}
}

const struct core_lockstep_override *core_lockstep_override_for(const struct core_insn_bytes *bytes,
								uint8_t bits,
								const struct x86_regs *regs)
{
	const struct opcode opcode = opcode_of(bytes, bits);
	size_t i;

	for (i = 0; i < sizeof(overrides) / sizeof(overrides[0]); i++) {
		const struct core_lockstep_override *row = &overrides[i];

		if ((opcode.bytes & row->mask) == row->opcode && selected(row, bits, regs) &&
		    (opcode.rep || row->registers != FLAGS_IF_FAULTS))
			return row;
	}
	return NULL;
}

bool core_lockstep_instead(const struct core_lockstep_override *row)
{
	return row->registers == INSTEAD;
}

static uint64_t with_flags(uint64_t to, uint64_t from)
{
	return (to & ~ARITHMETIC) | (from & ARITHMETIC);
}

/* Copy the arithmetic flags in the frame of the handler that both sides have entered. */
static void frame_flags(struct core_vcpu *from, struct core_vcpu *to)
{
	uint64_t at = to->regs->rsp + (to->delivered.has_error ? 24 : 16), mine, theirs;
	struct engine_exception e;

	if (core_read(from, at, &theirs, 8, X86_WALK_SYSTEM, &e) &&
	    core_read(to, at, &mine, 8, X86_WALK_SYSTEM, &e)) {
		mine = with_flags(mine, theirs);
		(void)core_write(to, at, &mine, 8, X86_WALK_SYSTEM, &e);
	}
}

bool core_lockstep_override_fault(const struct core_lockstep_override *row, struct core_vcpu *from,
				  struct core_vcpu *to)
{
	if (row->registers != FLAGS_IF_FAULTS || from->regs->rsp != to->regs->rsp ||
	    from->bits != 64 || to->bits != 64)
		return false;
	to->regs->rflags = with_flags(to->regs->rflags, from->regs->rflags);
	frame_flags(from, to);
	return true;
}

/* Returns a register by its number in an encoding. */
static uint64_t *numbered(struct x86_regs *regs, unsigned int n)
{
	uint64_t *const low[8] = {&regs->rax, &regs->rcx, &regs->rdx, &regs->rbx,
				  &regs->rsp, &regs->rbp, &regs->rsi, &regs->rdi};

	return n < 8 ? low[n] : &regs->r8 + (n - 8);
}

bool core_lockstep_override(const struct core_lockstep_override *row,
			    const struct core_insn_bytes *bytes, uint8_t bits,
			    const struct x86_regs *from, struct x86_regs *to)
{
	struct x86_regs source = *from;
	const struct opcode opcode = opcode_of(bytes, bits);
	unsigned int rm = (opcode.bytes >> 16 & 7) | (opcode.rex & 1) << 3;

	switch (row->registers) {
	case DX_CX_BX_AX:
		to->rcx = from->rcx;
		to->rbx = from->rbx;
		to->rdx = from->rdx;
		to->rax = from->rax;
		break;
	case RM:
		*numbered(to, rm) = *numbered(&source, rm);
		/* CF reports whether a random number was available. */
		to->rflags = from->rflags;
		break;
	default:
		return row->registers == INSTEAD;
	}
	return true;
}
