// SPDX-License-Identifier: GPL-2.0-or-later
/* Operands of instructions that the core executes itself. */
#include "core/access.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

static const struct x86_segment *segment_of(const struct core_vcpu *v, char letter)
{
	switch (letter) {
	case 'c':
		return &v->s.cs;
	case 'e':
		return &v->s.es;
	case 'f':
		return &v->s.fs;
	case 'g':
		return &v->s.gs;
	case 's':
		return &v->s.ss;
	default:
		return &v->s.ds;
	}
}

static bool refuse(struct engine_exception *e, char letter)
{
	*e = core_fault_code(letter == 's' ? X86_VEC_SS : X86_VEC_GP, 0);
	return false;
}

/* Convert an offset in the segment of @letter (core_insn_address()) to a linear address. */
static bool linear(const struct core_vcpu *v, char letter, uint64_t offset, size_t len,
		   uint64_t *address, struct engine_exception *e)
{
	const struct x86_segment *seg = segment_of(v, letter);

	if (v->bits == 64) {
		*address = offset + (letter == 'f' || letter == 'g' ? seg->base : 0);
		return core_canonical(v, *address) || refuse(e, letter);
	}
	if (seg->ar & X86_AR_UNUSABLE || !core_in_limit(seg, offset, len))
		return refuse(e, letter);
	*address = (uint32_t)(seg->base + offset);
	return true;
}

bool core_operand_read(struct core_vcpu *v, const struct core_insn *insn, unsigned int bytes,
		       uint64_t *value, struct engine_exception *e)
{
	uint64_t address;
	char letter;

	*value = 0;
	if (core_insn_register(v->insns, insn, v->regs, value))
		return true;
	if (!core_insn_address(v->insns, insn, v->regs, &address, &letter)) {
		*e = core_fault_plain(X86_VEC_UD);
		return false;
	}
	return linear(v, letter, address, bytes, &address, e) &&
	       core_read(v, address, value, bytes, X86_WALK_READ, e);
}

bool core_operand_line(struct core_vcpu *v, const struct core_insn *insn, uint64_t *address,
		       struct engine_exception *e)
{
	uint8_t byte;
	char letter;

	if (!core_insn_pointer(v->insns, insn, v->regs, address, &letter)) {
		*e = core_fault_plain(X86_VEC_UD);
		return false;
	}
	return linear(v, letter, *address, 1, address, e) &&
	       core_read(v, *address, &byte, 1, X86_WALK_READ, e);
}
