// SPDX-License-Identifier: GPL-2.0-or-later
/* Lockstep: the table of what one engine cannot know of the other, in use. */
#include "core/lockstep.h"

#include <string.h>

enum selector { NONE, AX, CX };
enum registers { DX_AX, DX_CX_BX_AX, RM };

static const struct vpt_lockstep_override overrides[] = {
#define VPT_OVERRIDE(name, opcode, mask, selector, value, registers, reason) \
	{#name, reason, opcode, mask, selector, registers, value},
#define VPT_UNKNOWN(field, mask, when, reason)
#include "core/lockstep_overrides.def"
};

static const struct vpt_lockstep_unknown unknowns[] = {
#define VPT_OVERRIDE(name, opcode, mask, selector, value, registers, reason)
#define VPT_UNKNOWN(field, mask, when, reason) {VPT_LS_##field, mask, #when, reason},
#include "core/lockstep_overrides.def"
};

const struct vpt_lockstep_override *vpt_lockstep_overrides(size_t *count)
{
	*count = sizeof(overrides) / sizeof(overrides[0]);
	return overrides;
}

const struct vpt_lockstep_unknown *vpt_lockstep_unknowns(size_t *count)
{
	*count = sizeof(unknowns) / sizeof(unknowns[0]);
	return unknowns;
}

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

/* The first four bytes after the prefixes; *rex is the last of these, if it is one. */
static uint32_t opcode_of(const struct vpt_insn_bytes *bytes, uint8_t bits, uint8_t *rex)
{
	uint8_t code[20] = {0};
	uint32_t opcode;
	unsigned int i;

	memcpy(code, &bytes->low, 8);
	memcpy(code + 8, &bytes->high, 8);
	*rex = 0;
	for (i = 0; i < bytes->count && is_prefix(code[i], bits); i++)
		*rex = bits == 64 && code[i] >> 4 == 4 ? code[i] : 0;
	memcpy(&opcode, code + i, sizeof(opcode));
	return opcode;
}

static bool selected(const struct vpt_lockstep_override *row, const struct vpt_regs *regs)
{
	switch (row->selector) {
	case AX:
		return (uint32_t)regs->rax == row->value;
	case CX:
		return (uint32_t)regs->rcx == row->value;
	default:
		return true;
	}
}

const struct vpt_lockstep_override *vpt_lockstep_override_for(const struct vpt_insn_bytes *bytes,
							      uint8_t bits,
							      const struct vpt_regs *regs)
{
	uint8_t rex;
	uint32_t opcode = opcode_of(bytes, bits, &rex);
	size_t i;

	for (i = 0; i < sizeof(overrides) / sizeof(overrides[0]); i++)
		if ((opcode & overrides[i].mask) == overrides[i].opcode &&
		    selected(&overrides[i], regs))
			return &overrides[i];
	return NULL;
}

/* In the order of their numbers. */
static uint64_t *numbered(struct vpt_regs *regs, unsigned int n)
{
	uint64_t *const low[8] = {&regs->rax, &regs->rcx, &regs->rdx, &regs->rbx,
				  &regs->rsp, &regs->rbp, &regs->rsi, &regs->rdi};

	return n < 8 ? low[n] : &regs->r8 + (n - 8);
}

void vpt_lockstep_override(const struct vpt_lockstep_override *row,
			   const struct vpt_insn_bytes *bytes, uint8_t bits,
			   const struct vpt_regs *from, struct vpt_regs *to)
{
	struct vpt_regs source = *from;
	uint8_t rex;
	uint32_t opcode = opcode_of(bytes, bits, &rex);
	unsigned int rm = (opcode >> 16 & 7) | (rex & 1) << 3;

	switch (row->registers) {
	case DX_CX_BX_AX:
		to->rcx = from->rcx;
		to->rbx = from->rbx;
		/* fall through */
	case DX_AX:
		to->rdx = from->rdx;
		to->rax = from->rax;
		break;
	case RM:
		*numbered(to, rm) = *numbered(&source, rm);
		/* CF says whether there was a number. */
		to->rflags = from->rflags;
		break;
	}
}

uint64_t vpt_lockstep_ignored(const struct vpt_lockstep_state *a,
			      const struct vpt_lockstep_state *b, enum vpt_lockstep_field field)
{
#define A(id) (a->value[VPT_LS_##id])
#define B(id) (b->value[VPT_LS_##id])
#define VPT_OVERRIDE(name, opcode, mask, selector, value, registers, reason)
#define VPT_UNKNOWN(of, mask, when, reason) \
	if (field == VPT_LS_##of && (when)) \
		ignored |= (mask);
	uint64_t ignored = 0;

	(void)a;
	(void)b;
	(void)field;
#include "core/lockstep_overrides.def"
	return ignored;
}
