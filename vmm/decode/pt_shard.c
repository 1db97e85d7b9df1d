// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Start a flow at a PSB, and end it at another. The PSB+ between two shards is decoded twice. The
 * shard before it reports its events, and the shard behind it takes the state from it.
 */
#include <errno.h>
#include <string.h>

#include "decode/pt_shard.h"

/*
 * Set the counter and the code. In a FREE shard the counter begins at that of the last change, and
 * no change occurs. The limit is finite if there are later changes, as in a flow without shards.
 */
static void set_counter(struct decode_pt_flow *f, const struct decode_shard *shard, uint64_t insns)
{
	struct dec_flow *flow = &f->ahead.flow;

	flow->insns = shard->counter == DECODE_SHARD_FREE ? shard->insns : insns;
	f->ahead.code_at = shard->from.psb;
	decode_pt_follow_code(f);
	if (shard->counter == DECODE_SHARD_FREE && flow->limit != UINT64_MAX)
		flow->limit = UINT64_MAX - 1;
}

static void set_stop(struct decode_pt_flow *f, const struct decode_cut *cut)
{
	f->stop.segment = cut->segment;
	f->stop.begins = cut->begins;
	f->stop.at = cut->end;
}

/* Forget the items of the shard before. */
static void clear(struct decode_pt_flow *f)
{
	f->head = f->told.n = f->points.n = 0;
	f->run = NULL;
	f->has_behind = false;
	memset(&f->cfe, 0, sizeof(f->cfe));
	f->cfe_items.n = 0;
	f->items_given = false;
	f->counts.open = false;
	f->merge.parts.n = f->merge.told = 0;
	f->merge.parts.open = false;
	f->ahead.segment = NULL;
	dec_flow_stop(&f->ahead.flow);
}

/* Decode the PSB+ at the begin of a shard, and drop its events. */
static int decode_psb_plus(struct decode_pt_flow *f, const struct decode_cut *cut)
{
	const struct decode_segment *s = &f->segments[cut->segment];
	int some = decode_pt_start_bytes(f, s, cut->psb);

	if (some)
		return some;
	some = 1;
	f->next = cut->segment + 1;
	f->told_bare = true;
	f->cr3 = DECODE_CR3_UNKNOWN;
	f->space = NULL;
	f->page_at = UINT64_MAX;
	f->read = 0;
	decode_pt_ahead_begin_at(f, s, cut->psb, cut->session);
	set_stop(f, cut);
	while (some > 0 && !decode_pt_at_stop(f)) {
		f->head = f->told.n = f->points.n = 0;
		decode_pt_merge_next(f);
		some = f->ahead.system->push(f);
		if (!some)
			return -EPROTO;
		if (some > 0 && decode_pt_drop_told(f))
			return -ENOMEM;
	}
	f->head = f->told.n = f->points.n = 0;
	return some < 0 ? some : 0;
}

int decode_pt_shard_start(struct decode_pt_flow *f, const struct decode_shard *shard,
			  const struct decode_pt_carry *carry, struct decode_pt_state *state)
{
	/* The times of a shard are converted first, which learns its spaces. */
	const size_t learned = decode_spaces_count_learned(f->spaces);
	int err = 0;

	clear(f);
	f->quiet = true;
	f->ahead.next_cr3 = carry->next_cr3;
	f->ahead.next_resumed = carry->next_resumed;
	f->ahead.flow.mode = carry->mode;
	set_counter(f, shard, carry->insns);
	/* The bytes of the last segment are those up to here. */
	set_stop(f, &shard->to);
	if (shard->from.begins)
		f->next = shard->from.segment;
	else
		err = decode_psb_plus(f, &shard->from);
	if (err)
		return err;
	decode_pt_shard_state(f, state);
	state->learned = learned;
	set_stop(f, &shard->to);
	return 0;
}

static bool is_unfit(const struct decode_pt_flow *f)
{
	const struct dec_pt *pt = &f->ahead.pt;
	const struct dec_flow *flow = &f->ahead.flow;

	return !pt->synced || !pt->enabled || !flow->cur || flow->nbits || flow->depth ||
	       pt->alone.n || pt->bound.n || pt->behind.n || pt->carry.n || pt->parser.in_block ||
	       decode_pt_counts_is_open(f) || f->merge.parts.open || f->has_behind ||
	       f->cfe.has_fault_address || f->cfe.has_qualification || f->cfe.has_reason ||
	       (pt->timing && pt->timing->holds);
}

/*
 * Get the time of the last packet, which events have. The clocks of all earlier CYCs and the rest of
 * dec_timing are left out, because only the times of runs depend on them.
 */
static void get_time(const struct dec_timing *t, struct decode_pt_state *state)
{
	if (!t)
		return;
	state->time = t->now;
	state->time.cycles = state->time.psb_cycles = 0;
	if (!t->binds)
		return;
	state->run.first = t->first;
	state->run.behind = t->behind;
	state->run.eligible = t->eligible;
	state->run.from_now = t->from_now;
	state->run.from = t->from_now ? 0 : t->from;
}

void decode_pt_shard_state(const struct decode_pt_flow *f, struct decode_pt_state *state)
{
	const struct decode_pt_ahead *a = &f->ahead;
	const struct dec_block *block = a->flow.cur;

	memset(state, 0, sizeof(*state));
	/* In the last session the decoder does not search for a space after a PIP. */
	if (!a->segment || !a->pip || a->session + 1 < f->nperiods)
		state->next_cr3 = a->next_cr3;
	state->next_resumed = a->next_resumed;
	state->mode = a->flow.mode;
	state->learned = decode_spaces_count_learned(f->spaces);
	state->between = !a->segment;
	state->unfit = (f->cfe_items.n && !f->items_given) || (!state->between && is_unfit(f));
	if (state->between || state->unfit)
		return;
	state->enabled = a->pt.enabled;
	state->blind = a->pt.blind;
	state->nr = a->pt.nr;
	state->pip = a->pip;
	state->mode_exec = a->pt.mode_told;
	state->block_type = a->pt.block_type;
	state->waits = a->pt.waits;
	state->last_ip = a->pt.last_ip;
	state->pip_cr3 = a->pt.cr3;
	state->vmcs = a->pt.vmcs;
	state->cr3 = a->cr3;
	state->ip = a->flow.ip;
	state->last = block->last;
	if (f->merge.function)
		state->function = f->merge.function(f->merge.context, block->ip);
	state->session = a->session;
	state->next_switch = a->next_switch;
	get_time(a->pt.timing, state);
}

#define GENERAL_WORDS 5
#define FLOW_WORDS    16
#define ANCHOR_WORDS  22
#define TIME_WORDS    11
VPT_STATIC_ASSERT(GENERAL_WORDS + FLOW_WORDS + TIME_WORDS + ANCHOR_WORDS == DECODE_STATE_WORDS,
		  "all words have a place");

static void flow_words(const struct decode_pt_state *s, uint64_t *to)
{
	const uint64_t words[FLOW_WORDS] = {
		s->enabled, s->blind,	 s->nr,	     s->pip,	     s->mode_exec, s->block_type,
		s->waits,   s->last_ip,	 s->pip_cr3, s->vmcs,	     s->cr3,	   s->ip,
		s->last,    s->function, s->session, s->next_switch,
	};

	memcpy(to, words, sizeof(words));
}

/* The part of the time that an anchor sets anew. Without an anchor it is not used. */
static void anchor_words(const struct dec_time *t, uint64_t *to)
{
	const uint64_t words[ANCHOR_WORDS] = {
		t->at_anchor,  t->lo,
		t->hi,	       t->next,
		t->clocks,     t->told_clocks,
		t->drop,       t->parts,
		t->least,      t->most,
		t->told_least, t->no_most,
		t->span,       t->spans,
		t->has_base,   t->vague,
		t->lost,       t->has_tsc,
		t->ctc,	       t->base,
		t->width,      (uint64_t)t->ticks,
	};

	memcpy(to, words, sizeof(words));
}

static void time_words(const struct dec_time *t, uint64_t *to)
{
	const uint64_t words[TIME_WORDS] = {
		t->known,
		t->in_cycs,
		t->cbr,
		t->cbr_guess,
		t->cbr_min,
		t->cbr_max,
		t->in_psb,
		t->cal_clocks,
		t->cal_ticks,
		t->psb_tsc,
		t->known ? t->ctc_bits : 0,
	};

	memcpy(to, words, sizeof(words));
}

void decode_pt_state_words(const struct decode_pt_state *s, uint64_t *words)
{
	memset(words, 0, DECODE_STATE_WORDS * sizeof(*words));
	words[0] = s->between;
	words[1] = s->mode;
	words[2] = s->next_cr3;
	words[3] = s->next_resumed;
	words[4] = s->learned;
	if (s->between || s->unfit)
		return;
	flow_words(s, words + GENERAL_WORDS);
	time_words(&s->time, words + GENERAL_WORDS + FLOW_WORDS);
	if (s->time.known)
		anchor_words(&s->time, words + GENERAL_WORDS + FLOW_WORDS + TIME_WORDS);
}

static bool is_run_timed_alike(const struct decode_pt_state *a, const struct decode_pt_state *b)
{
	return a->run.first == b->run.first && a->run.behind == b->run.behind &&
	       a->run.eligible == b->run.eligible && a->run.from_now == b->run.from_now &&
	       a->run.from == b->run.from;
}

bool decode_pt_state_same(const struct decode_pt_state *a, const struct decode_pt_state *b)
{
	uint64_t x[DECODE_STATE_WORDS], y[DECODE_STATE_WORDS];

	decode_pt_state_words(a, x);
	decode_pt_state_words(b, y);
	return !a->unfit && !b->unfit && !memcmp(x, y, sizeof(x)) && is_run_timed_alike(a, b);
}
