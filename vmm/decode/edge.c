// SPDX-License-Identifier: GPL-2.0-or-later
/* Name the changes of flow between blocks. */
#include "decode/edge.h"

void decode_from_block(struct decode_from *from, const struct decode_item *block)
{
	*from = (struct decode_from){
		.known = true,
		.ip = block->last,
		.next = block->size ? block->last + block->size : 0,
		.block = block->ip,
		.class = block->class,
	};
}

void decode_from_event(struct decode_from *from, const struct decode_item *event)
{
	*from = (struct decode_from){
		.known = true,
		.ip = event->ip,
		.block = from->known ? from->block : 0,
		.event = true,
	};
}

bool decode_edge_kind(const struct decode_from *from, uint64_t ip, enum decode_edge_kind *kind)
{
	if (!from->known)
		return false;
	if (from->event) {
		*kind = DECODE_EDGE_EVENT;
		return true;
	}
	switch ((enum decode_insn_class)from->class) {
	case DECODE_INSN_COND:
		*kind = ip == from->next ? DECODE_EDGE_NOT_TAKEN : DECODE_EDGE_TAKEN;
		return true;
	case DECODE_INSN_JUMP:
		*kind = DECODE_EDGE_JUMP;
		return true;
	case DECODE_INSN_CALL:
		*kind = DECODE_EDGE_CALL;
		return true;
	case DECODE_INSN_RETURN:
		*kind = DECODE_EDGE_RETURN;
		return true;
	case DECODE_INSN_FAR_CALL:
	case DECODE_INSN_FAR_RETURN:
	case DECODE_INSN_FAR_JUMP:
		*kind = DECODE_EDGE_FAR;
		return true;
	default:
		return false;
	}
}
