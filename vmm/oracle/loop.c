// SPDX-License-Identifier: GPL-2.0-or-later
/* Loops of direct branches: found in the code, and left in what ran. */
#include "loop.h"

/* The instruction behind the one at @ip, if that sends no packet. False: it may send one. */
static bool follow(const struct vpt_code_store *code, struct vpt_disasm *disasm, unsigned int mode,
		   uint64_t cr3, uint64_t *ip)
{
	struct dec_insn insn;
	uint8_t bytes[15];
	size_t n = vpt_code_read(code, vpt_code_space(code, cr3), *ip, bytes, sizeof(bytes));

	if (!n || vpt_disasm_look(disasm, mode, bytes, n, &insn) != 1)
		return false;
	switch ((enum dec_insn_kind)insn.kind) {
	case DEC_INSN_PLAIN:
	case DEC_INSN_PTWRITE:
	case DEC_INSN_VMPTRLD:
		insn.disp = 0;
		break;
	case DEC_INSN_JUMP:
	case DEC_INSN_CALL:
		break;
	default:
		return false;
	}
	*ip = vpt_disasm_target(&insn, mode, *ip);
	return true;
}

bool vpt_loop_find(struct vpt_loop *loop, const struct vpt_code_store *code,
		   struct vpt_disasm *disasm, unsigned int mode, const struct vpt_step *step)
{
	uint64_t ip = step->ip;

	if (step->kind != VPT_STEP_INSN)
		return false;
	for (loop->insns = 0; loop->insns < VPT_LOOP_MAX;) {
		loop->ip[loop->insns++] = ip;
		if (!follow(code, disasm, mode, step->cr3, &ip))
			return false;
		if (ip == step->ip)
			return true;
	}
	return false;
}

uint64_t vpt_loop_leave(const struct vpt_loop *loop, struct vpt_expect *expect,
			struct vpt_step *step)
{
	uint64_t n = 0;

	while (step->kind == VPT_STEP_INSN && step->ip == loop->ip[n % loop->insns]) {
		vpt_expect_next(expect, step);
		n++;
	}
	return n;
}
