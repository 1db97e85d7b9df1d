// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Walk blocks of code by outcomes and targets. */
#include "libdecode/flow.h"

#include <string.h>

#include "libdecode/edges.h"
#include "libdecode/tracelet.h"

void dec_flow_init(struct dec_flow *f, struct dec_code *code, const struct dec_flow_ops *ops,
		   void *context)
{
	memset(f, 0, sizeof(*f));
	f->code = code;
	f->views = dec_code_views(code);
	f->ops = ops;
	f->context = context;
	f->mode = 64;
	f->weight = 1;
	f->limit = UINT64_MAX;
	f->pops = true;
}

void dec_flow_stop(struct dec_flow *f)
{
	f->cur = NULL;
	f->bits = 0;
	f->nbits = 0;
	f->depth = 0;
}

enum vptd_status dec_flow_jump(struct dec_flow *f, uint64_t ip)
{
	f->cur = dec_code_block(f->code, ip, f->mode);
	f->index = 0;
	if (!f->cur)
		return VPTD_E_MEMORY;
	f->ip = f->cur->ip;
	return VPTD_OK;
}

/*
 * Returns true if the branch of @by led to @ip the last time, too. Most branches without a direct
 * target repeat their last target.
 */
static inline bool leads_to(const struct dec_flow *f, const struct dec_block *by, uint64_t ip)
{
	const struct dec_block *to = by->to[DEC_TAKEN];

	return by->view[DEC_TAKEN] == f->views[by->of_all[DEC_TAKEN]] && to->ip == ip &&
	       to->mode == f->mode;
}

enum vptd_status dec_flow_enter(struct dec_flow *f, struct dec_block *by, uint64_t ip)
{
	if (vpt_likely(leads_to(f, by, ip))) {
		f->cur = by->to[DEC_TAKEN];
		f->index = 0;
		f->ip = ip;
	} else {
		enum vptd_status status = dec_flow_jump(f, ip);

		if (status)
			return status;
		dec_code_link_to(f->code, by, f->cur);
	}
	if (f->edges)
		dec_edges_add(f->edges, by->id, f->ip, 1);
	return VPTD_OK;
}

static void report(struct dec_flow *f, uint32_t count)
{
	f->insns += count;
	if (f->ops && f->ops->run && count)
		f->ops->run(f->context, f->cur, f->index, count);
	f->index += count;
}

/* Run instructions of the current block up to number @until. */
static void run_to(struct dec_flow *f, uint32_t until)
{
	const uint8_t *lens = dec_code_lens(f->code, f->cur);
	uint32_t i;

	for (i = f->index; i < until; i++)
		f->ip += lens[i];
	report(f, until - f->index);
}

/* Run up to a change of code within the current block, and look up the code again. */
static VPT_COLD enum vptd_status change_code(struct dec_flow *f)
{
	if (f->limit > f->insns)
		run_to(f, f->index + (uint32_t)(f->limit - f->insns));
	f->ops->limit(f->context);
	return dec_flow_jump(f, f->ip);
}

/* Continue if there is now an instruction where the current block ended without one. */
static VPT_COLD enum vptd_status no_more(struct dec_flow *f)
{
	/* Code has changed exactly here, such as the page that the instruction ends in. */
	if (f->limit <= f->insns)
		return change_code(f);
	if (f->cur->end == DEC_END_BAD)
		return VPTD_E_BAD_INSN;
	if (!f->ops || !f->ops->hole || !f->ops->hole(f->context, f->ip))
		return VPTD_E_HOLE;
	return dec_flow_jump(f, f->ip);
}

/* Look up the code again if it has changed exactly at the begin of the block. */
static inline enum vptd_status see_code(struct dec_flow *f)
{
	return vpt_unlikely(f->limit <= f->insns) &&
			       (f->index < f->cur->insns || f->cur->end >= DEC_END_HOLE)
		       ? change_code(f)
		       : VPTD_OK;
}

/*
 * Returns true if code changes within the rest of the current block. From the change on the code is
 * in another block, whose end must be examined.
 */
static inline bool changes_within(const struct dec_flow *f)
{
	return f->limit < f->insns + (f->cur->insns - f->index);
}

/* Run the rest of the current block, in which no code changes. */
static inline void finish(struct dec_flow *f)
{
	report(f, f->cur->insns - f->index);
	f->ip = f->cur->next;
}

/* Continue at the other end of a link of the current block. */
static inline enum vptd_status follow(struct dec_flow *f, unsigned int which)
{
	struct dec_block *block = f->cur;

	block->hits[which] += f->weight;
	f->cur = dec_flow_link(f, block, which);
	f->index = 0;
	if (vpt_unlikely(!f->cur))
		return VPTD_E_MEMORY;
	f->ip = f->cur->ip;
	return VPTD_OK;
}

enum vptd_status dec_flow_finish(struct dec_flow *f)
{
	while (vpt_unlikely(changes_within(f))) {
		enum vptd_status status = change_code(f);

		if (status)
			return status;
	}
	finish(f);
	return VPTD_OK;
}

enum vptd_status dec_flow_through(struct dec_flow *f, unsigned int which)
{
	enum vptd_status status = dec_flow_finish(f);

	if (status)
		return status;
	if (dec_flow_pushes(f, f->cur))
		dec_flow_push(f, f->cur->next);
	return follow(f, which);
}

static bool is_direct(const struct dec_block *block)
{
	return block->end == DEC_END_JUMP || block->end == DEC_END_CALL;
}

/* Execute a compressed RET, whose outcome is "taken" (33.4.2.2). */
static enum vptd_status compressed_return(struct dec_flow *f)
{
	uint64_t to;

	if (!(f->bits >> 63) || !dec_flow_pop(f, &to))
		return VPTD_E_RETURN;
	if (f->last_call)
		dec_flow_push(f, to);
	f->bits <<= 1;
	f->nbits--;
	return dec_flow_enter(f, f->cur, to);
}

enum vptd_status dec_flow_block(struct dec_flow *f)
{
	if (vpt_unlikely(changes_within(f)))
		return change_code(f);
	switch ((enum dec_end)f->cur->end) {
	case DEC_END_JUMP_IND:
	case DEC_END_CALL_IND:
	case DEC_END_FAR:
		return VPTD_STUCK;
	case DEC_END_RET:
		if (!f->has_retc)
			return VPTD_STUCK;
		/*
		 * Stop before a RET whose return address is unknown or whose outcome is not
		 * "taken".
		 */
		if (f->last_call && !(f->depth && f->bits >> 63))
			return VPTD_E_RETURN;
		break;
	default:
		break;
	}
	finish(f);
	switch ((enum dec_end)f->cur->end) {
	case DEC_END_COND: {
		unsigned int taken = (unsigned int)(f->bits >> 63);

		f->bits <<= 1;
		f->nbits--;
		return follow(f, taken);
	}
	case DEC_END_CALL:
	case DEC_END_JUMP:
		if (dec_flow_pushes(f, f->cur))
			dec_flow_push(f, f->cur->next);
		return follow(f, DEC_TAKEN);
	case DEC_END_RET:
		return compressed_return(f);
	case DEC_END_HOLE:
	case DEC_END_BAD:
		return no_more(f);
	default:
		return follow(f, DEC_FALL);
	}
}

enum vptd_status dec_flow_drain(struct dec_flow *f)
{
	struct dec_circle circle = {0};

	while (f->nbits) {
		unsigned int before = f->nbits;
		enum vptd_status status = see_code(f);

		if (status)
			return status;
		if (f->tracelets && !f->index && dec_tracelets_run(f->tracelets, f)) {
			circle = (struct dec_circle){0};
			continue;
		}
		status = dec_flow_block(f);
		if (status)
			return status;
		if (f->nbits != before)
			circle = (struct dec_circle){0};
		else if (dec_flow_circles(f, f->cur, &circle))
			return VPTD_E_LOOP;
	}
	return VPTD_OK;
}

/* Run one block that needs neither outcome nor target, or run up to a change of its code. */
static enum vptd_status one_block(struct dec_flow *f)
{
	enum vptd_status status;

	if (vpt_unlikely(changes_within(f)))
		return change_code(f);
	status = dec_flow_lacks(f->cur);
	if (status)
		return status;
	if (f->cur->end == DEC_END_HOLE || f->cur->end == DEC_END_BAD) {
		status = dec_flow_finish(f);
		return status ? status : no_more(f);
	}
	return dec_flow_through(f, is_direct(f->cur) ? DEC_TAKEN : DEC_FALL);
}

enum vptd_status dec_flow_seek(struct dec_flow *f, uint32_t ends, struct dec_block **found)
{
	struct dec_circle circle = {0};

	for (;;) {
		enum vptd_status status = see_code(f);

		if (status)
			return status;
		if (ends >> f->cur->end & 1 && !changes_within(f)) {
			*found = f->cur;
			return VPTD_OK;
		}
		if (dec_flow_circles(f, f->cur, &circle))
			return VPTD_E_LOOP;
		status = one_block(f);
		if (status)
			return status;
	}
}

#define NEEDS_TARGET \
	(1u << DEC_END_RET | 1u << DEC_END_JUMP_IND | 1u << DEC_END_CALL_IND | 1u << DEC_END_FAR)

enum vptd_status dec_flow_branch(struct dec_flow *f, struct dec_block **by)
{
	enum vptd_status status;
	uint64_t expected;

	if (vpt_likely(NEEDS_TARGET >> f->cur->end & 1 && f->index < f->cur->insns &&
		       !changes_within(f))) {
		*by = f->cur;
		finish(f);
	} else {
		status = dec_flow_seek(f, NEEDS_TARGET, by);
		if (!status)
			status = dec_flow_finish(f);
		if (status)
			return status;
	}
	if (f->cur->end == DEC_END_CALL_IND)
		dec_flow_push(f, f->cur->next);
	else if (f->cur->end == DEC_END_RET && f->pops)
		dec_flow_pop(f, &expected);
	return VPTD_OK;
}

enum vptd_status dec_flow_target(struct dec_flow *f, uint64_t ip)
{
	enum vptd_status status = f->nbits ? dec_flow_drain(f) : VPTD_OK;
	struct dec_block *by;

	if (status > VPTD_STUCK)
		return status;
	status = dec_flow_branch(f, &by);
	return status ? status : dec_flow_enter(f, by, ip);
}

/* Find the number of the instruction at @ip among the remaining ones of the current block. */
static bool find(const struct dec_flow *f, uint64_t ip, uint32_t *index)
{
	const uint8_t *lens = dec_code_lens(f->code, f->cur);
	uint64_t at = f->ip;
	uint32_t i;

	if (ip - f->ip > f->cur->last - f->ip)
		return false;
	for (i = f->index; i < f->cur->insns; at += lens[i++]) {
		if (at == ip) {
			*index = i;
			return true;
		}
	}
	return false;
}

enum vptd_status dec_flow_advance(struct dec_flow *f, uint64_t ip, uint64_t insns, bool *there)
{
	for (;;) {
		enum vptd_status status = see_code(f);
		uint32_t until;

		if (status)
			return status;
		*there = f->ip == ip || f->insns >= insns;
		if (*there)
			return VPTD_OK;
		if (f->index == f->cur->insns) {
			status = no_more(f);
			if (status)
				return status;
			continue;
		}
		if (!find(f, ip, &until))
			until = f->cur->insns - 1u;
		if (insns - f->insns < until - f->index)
			until = f->index + (uint32_t)(insns - f->insns);
		if (f->limit - f->insns < until - f->index)
			status = change_code(f);
		else if (until != f->index)
			run_to(f, until);
		else
			return VPTD_OK;
		if (status)
			return status;
	}
}

static bool enters_behind(const struct dec_flow *f, uint64_t ip)
{
	return f->cur->end == DEC_END_FAR && f->cur->insn_kind == DEC_INSN_VM_ENTRY &&
	       f->cur->next == ip;
}

enum vptd_status dec_flow_goto(struct dec_flow *f, uint64_t ip, bool *entered)
{
	struct dec_circle circle = {0};
	uint32_t index;

	*entered = false;

	if (f->mode != 64)
		ip &= 0xffffffffu;
	for (;;) {
		enum vptd_status status;

		status = see_code(f);
		if (status)
			return status;
		if (f->ip == ip)
			return VPTD_OK;
		if (find(f, ip, &index)) {
			if (f->limit - f->insns < index - f->index) {
				status = change_code(f);
				if (status)
					return status;
				continue;
			}
			run_to(f, index);
			return VPTD_OK;
		}
		*entered = enters_behind(f, ip);
		/* Execution can stop exactly at the end of a page that has no successor. */
		if (*entered || (f->cur->end == DEC_END_HOLE && f->cur->next == ip)) {
			status = dec_flow_finish(f);
			return status ? status : dec_flow_jump(f, ip);
		}
		if (dec_flow_circles(f, f->cur, &circle))
			return VPTD_E_LOOP;
		status = one_block(f);
		if (status)
			return status;
	}
}

struct dec_flow dec_flow_probe(const struct dec_flow *f)
{
	struct dec_flow probe = *f;

	probe.ops = NULL;
	probe.limit = UINT64_MAX;
	probe.weight = 0;
	return probe;
}

bool dec_flow_reaches(struct dec_flow *f, uint64_t ip)
{
	struct dec_flow probe = dec_flow_probe(f);
	bool entered;

	return dec_flow_goto(&probe, ip, &entered) == VPTD_OK;
}
