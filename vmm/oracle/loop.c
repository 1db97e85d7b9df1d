// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds loops of direct branches in the code, and skips them in the execution. */
#include "oracle/loop.h"

/*
 * Advance to the next instruction if the one at @ip sends no packet. Returns false if it may send
 * one.
 */
static bool follow(const struct decode_code_store *code, struct decode_disasm *disasm,
		   unsigned int mode, uint64_t cr3, uint64_t *ip)
{
	struct dec_insn insn;
	uint8_t bytes[15];
	size_t n = decode_code_read(code, decode_code_space(code, cr3), *ip, bytes, sizeof(bytes));

	if (!n || decode_disasm_read(disasm, mode, bytes, n, &insn) != 1)
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
	*ip = decode_disasm_target(&insn, mode, *ip);
	return true;
}

bool oracle_loop_find(struct oracle_loop *loop, const struct decode_code_store *code,
		      struct decode_disasm *disasm, unsigned int mode,
		      const struct oracle_step *step)
{
	uint64_t ip = step->ip;

	if (step->kind != ORACLE_STEP_INSN)
		return false;
	for (loop->insns = 0; loop->insns < ORACLE_LOOP_MAX;) {
		loop->ip[loop->insns++] = ip;
		if (!follow(code, disasm, mode, step->cr3, &ip))
			return false;
		if (ip == step->ip)
			return true;
	}
	return false;
}

uint64_t oracle_loop_leave(const struct oracle_loop *loop, struct oracle_expect *expect,
			   struct oracle_step *step)
{
	uint64_t n = 0;

	while (step->kind == ORACLE_STEP_INSN && step->ip == loop->ip[n % loop->insns]) {
		oracle_expect_next(expect, step);
		n++;
	}
	return n;
}
