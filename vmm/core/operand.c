// SPDX-License-Identifier: GPL-2.0-or-later
/* Operands of instructions that the core executes itself. */
#include "core/access.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/transfer.h"

static const struct vpt_segment *segment_of(const struct vpt_vcpu *v, char letter)
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

static bool refuse(struct vpt_exception *e, char letter)
{
	*e = vpt_fault_code(letter == 's' ? VPT_VEC_SS : VPT_VEC_GP, 0);
	return false;
}

/* Of the segment that `letter` says (vpt_insn_address()) to linear. */
static bool linear(const struct vpt_vcpu *v, char letter, uint64_t offset, size_t len,
		   uint64_t *address, struct vpt_exception *e)
{
	const struct vpt_segment *seg = segment_of(v, letter);

	if (v->bits == 64) {
		*address = offset + (letter == 'f' || letter == 'g' ? seg->base : 0);
		return vpt_canonical(v, *address) || refuse(e, letter);
	}
	if (seg->unusable || !vpt_in_limit(seg, offset, len))
		return refuse(e, letter);
	*address = (uint32_t)(seg->base + offset);
	return true;
}

bool vpt_operand_read(struct vpt_vcpu *v, const struct vpt_insn *insn, unsigned int bytes,
		      uint64_t *value, struct vpt_exception *e)
{
	uint64_t address;
	char letter;

	*value = 0;
	if (vpt_insn_register(v->insns, insn, v->regs, value))
		return true;
	if (!vpt_insn_address(v->insns, insn, v->regs, &address, &letter)) {
		*e = vpt_fault_plain(VPT_VEC_UD);
		return false;
	}
	return linear(v, letter, address, bytes, &address, e) &&
	       vpt_read(v, address, value, bytes, VPT_WALK_READ, e);
}

bool vpt_operand_line(struct vpt_vcpu *v, const struct vpt_insn *insn, uint64_t *address,
		      struct vpt_exception *e)
{
	uint8_t byte;
	char letter;

	if (!vpt_insn_pointer(v->insns, insn, v->regs, address, &letter)) {
		*e = vpt_fault_plain(VPT_VEC_UD);
		return false;
	}
	return linear(v, letter, *address, 1, address, e) &&
	       vpt_read(v, *address, &byte, 1, VPT_WALK_READ, e);
}
