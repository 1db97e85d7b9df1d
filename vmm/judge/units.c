// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert between instructions and blocks of a decoder. */
#include "judge/units.h"

static bool ends_block(const struct decode_item *insn)
{
	return insn->class != DECODE_INSN_OTHER && insn->class != DECODE_INSN_PTWRITE;
}

int judge_units_block(struct judge_units *u, struct decode_item *item)
{
	struct decode_item *block = &u->pending;

	if (u->holding) {
		*item = u->held;
		u->holding = false;
		return 0;
	}
	for (;;) {
		int err = u->next(u->context, item);

		/* The decoder returns BLOCKs only if there is nothing to assemble. */
		if (err || item->kind == DECODE_ITEM_BLOCK)
			return err;
		if (item->kind != DECODE_ITEM_INSN) {
			if (!block->insns)
				return 0;
			u->held = *item;
			u->holding = true;
			break;
		}
		if (!block->insns) {
			*block = *item;
			block->kind = DECODE_ITEM_BLOCK;
		} else {
			block->insns++;
			block->last = item->ip;
			block->class = item->class;
			block->offset = item->offset;
		}
		if (ends_block(item))
			break;
	}
	*item = *block;
	block->insns = 0;
	return 0;
}

/*
 * Take the next instruction of the pending block. Returns false if the code has changed. A block
 * that ends with a PTWRITE whose IP is in the trace can contain jumps, regardless of libipt's
 * options.
 */
static bool take_insn(struct judge_units *u, const struct decode_code_store *code,
		      struct decode_disasm *d, struct decode_item *item)
{
	struct decode_item *block = &u->pending;
	struct dec_insn insn = {0};
	size_t n;

	*item = *block;
	n = decode_code_read(code, block->cr3, block->ip, item->raw, sizeof(item->raw));
	item->kind = DECODE_ITEM_INSN;
	item->class = DECODE_INSN_UNKNOWN;
	if (decode_disasm_read(d, block->mode, item->raw, n, &insn) == 1)
		item->class = (uint8_t)decode_disasm_class_of((enum dec_insn_kind)insn.kind);
	item->size = insn.len;
	item->insns = 1;
	item->last = item->ip;
	block->insns--;
	block->ip += insn.len;
	if (insn.kind == DEC_INSN_JUMP || insn.kind == DEC_INSN_CALL)
		block->ip = decode_disasm_target(&insn, block->mode, item->ip);
	return insn.len && (block->insns || item->ip == block->last);
}

int judge_units_insn(struct judge_units *u, struct decode_code_store *const *code,
		     struct decode_disasm *d, struct decode_item *item)
{
	if (!u->pending.insns) {
		int err = u->next(u->context, item);

		if (err || item->kind != DECODE_ITEM_BLOCK)
			return err;
		u->pending = *item;
	}
	if (!take_insn(u, *code, d, item)) {
		u->pending.insns = 0;
		item->kind = DECODE_ITEM_ERROR;
		item->text = "libipt's blocks and our disassembler do not agree";
	}
	return 0;
}
