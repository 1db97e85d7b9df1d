// SPDX-License-Identifier: GPL-2.0-or-later
/* The queue of the decoder's reports. */
#include "decode/disasm.h"
#include "decode/pt_flow.h"
#include "trace/vec.h"

static bool queue_time(struct decode_pt_flow *f, enum decode_told_kind kind)
{
	struct dec_timing *t = &f->ahead.timing;

	if (!trace_vec_room(&f->points))
		return false;
	if (kind == DECODE_TOLD_PARTS) {
		f->points.at[f->points.n++] = f->merge.time;
		return true;
	}
	t->what = kind == DECODE_TOLD_RUN     ? DEC_TIMED_RUN
		  : kind == DECODE_TOLD_EVENT ? DEC_TIMED_EVENT
					      : DEC_TIMED_NONE;
	dec_timing_point(t, &f->points.at[f->points.n++]);
	t->what = DEC_TIMED_NONE;
	return true;
}

struct decode_told *decode_pt_queue(struct decode_pt_flow *f, enum decode_told_kind kind)
{
	struct decode_told *told;

	if (!trace_vec_room(&f->told)) {
		f->ahead.no_memory = true;
		return NULL;
	}
	if (f->base.timed && !queue_time(f, kind)) {
		f->ahead.no_memory = true;
		return NULL;
	}
	told = &f->told.at[f->told.n++];
	told->kind = (uint8_t)kind;
	told->session = (uint32_t)f->ahead.session;
	told->offset = *f->ahead.offset;
	told->code = decode_pt_code_position(&f->ahead);
	told->left = (uint8_t)f->ahead.flow.nbits;
	told->all_read = f->ahead.all_read;
	return told;
}

enum decode_insn_class decode_pt_class(const struct dec_block *block)
{
	/* The event of an INT n reports where the INT n leads. */
	if (block->insn_kind == DEC_INSN_SOFT_INT || block->insn_kind == DEC_INSN_INTO)
		return DECODE_INSN_OTHER;
	return decode_disasm_class_of((enum dec_insn_kind)block->insn_kind);
}

struct decode_told *decode_pt_queue_run(struct decode_pt_flow *f, const struct dec_block *block,
					unsigned int first, unsigned int count)
{
	struct decode_told *told = decode_pt_queue(f, DECODE_TOLD_RUN);

	if (!told)
		return NULL;
	told->has_to = false;
	told->block = block;
	told->first = first;
	told->count = count;
	told->mode = block->mode;
	if (!decode_code_by_offset(f->ahead.store))
		told->code -= count;
	told->class = (uint8_t)(first + count == block->insns ? decode_pt_class(block)
							      : DECODE_INSN_OTHER);
	told->ip = dec_code_ip(f->ahead.code, block, first);
	if (f->base.timed)
		dec_timing_ran(&f->ahead.timing, block, first, count);
	return told;
}
