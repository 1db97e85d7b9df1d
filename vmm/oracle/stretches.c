// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares runs of a decoder with executed stretches. */
#include "oracle/stretches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code.h"
#include "trace/vec.h"

/*
 * Number of pieces that are kept for the tail, a power of two. Each has at least one instruction.
 */
#define PIECES 16u

/* Limits for words of runs that may recur: for each run, and for all. */
#define WORDS_MAX     1024u
#define ALL_WORDS_MAX ((size_t)1 << 26)

/* Flags of instructions that change more than the IP. */
#define CHANGES (TRACE_ORACLE_CR3_WRITE | TRACE_ORACLE_VM_ENTRY)

/* A stretch, found by its id. */
struct oracle_stretch_known {
	const struct trace_stretch *stretch; /* NULL before the first use */
	uint64_t ip;
	uint32_t block; /* a run of this block with `insns` instructions is equal to the stretch */
	uint16_t insns;
	uint16_t setting; /* setting_of() */
	uint8_t ends;	  /* enum ends */
};

enum ends {
	ENDS_PLAIN,
	ENDS_OPEN,  /* a REP or an INT n: the next word shows whether it retired */
	ENDS_NEVER, /* its instructions change the state of expect.c, which must process them */
};

/* Equal instructions of one stretch, or of all stretches of some words. */
struct piece {
	const struct trace_stretch_insn *insns; /* NULL for a piece of words */
	union {
		uint64_t ip; /* address of the first instruction */
		const uint32_t *words;
	};
	uint64_t offset;
	uint32_t count; /* number of instructions or words */
	uint8_t mode;
};

struct match {
	struct oracle_stretches_match *m;
	const struct trace_stretch *const *table;
	size_t ntable;
	const uint32_t *at, *end;			       /* remaining words, */
	const struct trace_oracle_record *record, *record_end; /* or remaining records */
	uint64_t plain; /* the bytes behind the IP of a record that changes nothing */
	uint16_t setting;
	bool spaces;
	uint64_t space;

	/* The two steps whose records the cursor has passed. */
	uint64_t ahead[2];
	struct trace_stretch_insn ahead_insn[2];
	unsigned int passed; /* number of these that were compared */

	const struct trace_stretch *s; /* the current stretch; NULL before the first */
	unsigned int insn, insns;      /* index of its next instruction, and number of retired
	                                * ones */
	uint64_t ip;		       /* address of the next instruction, if insn < insns */

	uint64_t agreed;
	uint8_t mode; /* mode of the last instruction */
	struct piece piece[PIECES];
	unsigned int npieces;
	struct trace_stretch_insn own[PIECES][ORACLE_STRETCHES_TAIL]; /* instructions for pieces
	                                                               * of records */
};

/* The state, and a copy of it from begin_runs(). */
struct attempt {
	struct match now, before;
};

static const struct trace_stretch_insn *insns_of(const struct trace_stretch *s)
{
	return (const struct trace_stretch_insn *)(s + 1);
}

static uint16_t setting_of(uint8_t cpl, bool pae)
{
	return (uint16_t)(cpl << 1 | pae);
}

/* The file can change during a read, so a word that is checked is read once. */
static uint32_t word_at(const uint32_t *at)
{
	return *(const volatile uint32_t *)at;
}

/* Note instructions, whose mode and offset @run has. */
static void note(struct match *m, const struct trace_stretch_insn *insns, uint64_t ip,
		 uint32_t count, const struct decode_flow_run *run)
{
	m->piece[m->npieces++ % PIECES] = (struct piece){
		.insns = insns, .ip = ip, .offset = run->offset, .count = count, .mode = run->mode};
	m->agreed += count;
	m->mode = run->mode;
}

/* Return the address of instruction @n. */
static uint64_t ip_of(const struct trace_stretch *s, unsigned int n)
{
	uint64_t ip = s->ip;
	unsigned int i;

	for (i = 0; i < n; i++)
		ip += insns_of(s)[i].len;
	return ip;
}

static void learn(struct oracle_stretch_known *k, const struct trace_stretch *s)
{
	unsigned int i;

	k->stretch = s;
	k->ip = s->ip;
	k->block = DECODE_RUN_PART;
	k->insns = s->insns;
	k->setting = setting_of(s->cpl, s->flags & TRACE_STRETCH_PAE);
	k->ends = s->flags & TRACE_STRETCH_REP ||
				  insns_of(s)[s->insns - 1u].flags & TRACE_ORACLE_SOFT_INT
			  ? ENDS_OPEN
			  : ENDS_PLAIN;
	for (i = 0; i < s->insns; i++) {
		if (insns_of(s)[i].flags & CHANGES)
			k->ends = ENDS_NEVER;
	}
}

static struct oracle_stretch_known *known(struct match *m, uint32_t word)
{
	struct oracle_stretch_known *k;

	if (word >= m->ntable || !m->table[word])
		return NULL;
	k = &m->m->known[word];
	if (!k->stretch)
		learn(k, m->table[word]);
	return k;
}

/* Returns true if a stretch is whole, given that @next is the word after it. */
static bool is_whole(uint32_t next)
{
	return next < TRACE_RUN_CUT || next == TRACE_RUN_RECORD;
}

/*
 * Returns how many instructions of the next stretch retired: all, or all but a REP that continues.
 * Returns 0 if the remaining words do not decide it.
 */
static unsigned int retired(struct match *m, const struct oracle_stretch_known *k)
{
	const struct oracle_stretch_known *next;

	if (k->ends == ENDS_PLAIN)
		return k->insns;
	if (k->ends == ENDS_NEVER)
		return 0;
	next = known(m, m->at[1]);
	if (!next)
		return 0;
	if (k->stretch->flags & TRACE_STRETCH_REP && next->ip == ip_of(k->stretch, k->insns - 1u))
		return k->insns - 1u;
	return k->insns;
}

/* Skip iterations of a REP, except its last one, with which the REP retires. */
static void pass_iterations(struct match *m)
{
	const uint32_t word = m->at[0];
	const struct oracle_stretch_known *k = known(m, word);

	if (!k || k->insns != 1 || !(k->stretch->flags & TRACE_STRETCH_REP))
		return;
	m->at += trace_words_same(m->at + 1, (size_t)(m->end - m->at) - 1, word);
}

/* Begin the next stretch. Returns false if only the cursor can determine the next step. */
static bool begin(struct match *m)
{
	const struct oracle_stretch_known *k;
	unsigned int insns;

	if (m->end - m->at < 2)
		return false;
	pass_iterations(m);
	if (m->end - m->at < 2 || !is_whole(m->at[1]))
		return false;
	k = known(m, m->at[0]);
	if (!k || k->setting != m->setting)
		return false;
	insns = retired(m, k);
	if (!insns)
		return false;
	m->at++;
	m->s = k->stretch;
	m->insn = 0;
	m->insns = insns;
	m->ip = k->ip;
	return true;
}

/* Returns how many instructions of the run, from number @from on, equal those of the stretch. */
static uint32_t compare(struct match *m, const struct decode_flow_run *run, uint32_t from)
{
	const struct trace_stretch_insn *insns = insns_of(m->s) + m->insn;
	uint32_t left = m->insns - m->insn, n = 0;

	if (left > run->count - from)
		left = run->count - from;
	while (n < left && insns[n].len == run->lens[from + n])
		m->ip += insns[n++].len;
	return n;
}

/* Compare with a step whose record the cursor has passed. Returns false if they differ. */
static bool take_ahead(struct match *m, const struct decode_flow_run *run, uint32_t i, uint64_t ip)
{
	struct trace_stretch_insn *insn = &m->ahead_insn[m->passed];

	if (m->ahead[m->passed] != ip)
		return false;
	insn->len = run->lens[i];
	m->m->cr3 = run->cr3;
	m->passed++;
	note(m, insn, ip, 1, run);
	return true;
}

/* Compare instruction by instruction. Returns the number of equal ones. */
static uint32_t take_parts(struct match *m, const struct decode_flow_run *run)
{
	uint64_t ip = run->ip, begun;
	uint32_t i = 0, n;

	while (i < run->count) {
		if (m->passed < 2) {
			if (!take_ahead(m, run, i, ip))
				return i;
			ip += run->lens[i++];
			continue;
		}
		if ((m->insn == m->insns && !begin(m)) || m->ip != ip)
			return i;
		begun = m->ip;
		n = compare(m, run, i);
		if (!n)
			return i;
		note(m, insns_of(m->s) + m->insn, begun, n, run);
		if (!i && n == run->count && !m->insn && n == m->s->insns)
			m->m->known[m->s->id].block = run->block;
		m->insn += n;
		ip = m->ip;
		i += n;
	}
	return i;
}

static uint32_t take(void *context, const struct decode_flow_run *run)
{
	struct match *m = &((struct attempt *)context)->now;
	const struct oracle_stretch_known *k;
	uint32_t word;

	if (m->spaces && run->cr3 != m->space)
		return 0;
	if (m->insn < m->insns || m->passed < 2 || m->end - m->at < 2)
		return take_parts(m, run);
	word = word_at(m->at);
	if (word >= m->ntable)
		return take_parts(m, run);
	k = &m->m->known[word];
	/* A stretch that was not compared yet has no block. */
	if (run->block == DECODE_RUN_PART || k->block != run->block || k->insns != run->count ||
	    k->setting != m->setting || !is_whole(m->at[1]) || k->ends != ENDS_PLAIN)
		return take_parts(m, run);
	m->at++;
	m->s = k->stretch;
	m->insn = m->insns = k->insns;
	note(m, insns_of(k->stretch), k->ip, k->insns, run);
	return run->count;
}

/*
 * Behind its IP a record has 8 bytes: kind, CPL and flags. All records of the same CPL and paging
 * that change nothing are equal under PLAIN_MASK.
 */
#define PLAIN_FLAGS (CHANGES | TRACE_ORACLE_SOFT_INT | TRACE_ORACLE_PAE)
#define PLAIN_MASK  (0xffffull | (uint64_t)PLAIN_FLAGS << 16)

static uint64_t plain_of(uint8_t cpl, bool pae)
{
	return (uint64_t)cpl << 8 | (uint64_t)(pae ? TRACE_ORACLE_PAE : 0) << 16;
}

static bool is_plain(const struct match *m, const struct trace_oracle_record *r)
{
	uint64_t rest;

	memcpy(&rest, (const char *)r + sizeof(r->ip), sizeof(rest));
	return (rest & PLAIN_MASK) == m->plain;
}

/* Note instructions whose lengths only the run has. Of a long run, keep the last ones. */
static void note_own(struct match *m, const struct decode_flow_run *run, uint32_t from, uint32_t to,
		     uint64_t end)
{
	struct trace_stretch_insn *own = m->own[m->npieces % PIECES];
	uint32_t n = to - from < ORACLE_STRETCHES_TAIL ? to - from : ORACLE_STRETCHES_TAIL, i;

	for (i = n; i; i--) {
		own[i - 1].len = run->lens[--to];
		end -= own[i - 1].len;
	}
	if (!n)
		return;
	note(m, own, end, n, run);
	m->agreed += to - from;
}

/* Compare with records of single instructions. */
static uint32_t take_records(void *context, const struct decode_flow_run *run)
{
	struct match *m = &((struct attempt *)context)->now;
	uint64_t ip = run->ip;
	uint32_t i = 0, from;

	if (m->spaces && run->cr3 != m->space)
		return 0;
	for (; m->passed < 2 && i < run->count; ip += run->lens[i++]) {
		if (!take_ahead(m, run, i, ip))
			return i;
	}
	for (from = i; i < run->count && m->record < m->record_end; ip += run->lens[i++]) {
		if (m->record->ip != ip || !is_plain(m, m->record))
			break;
		m->record++;
	}
	note_own(m, run, from, i, ip);
	return i;
}

/* Make room for stretches below @n. Returns 0 or -ENOMEM. */
static int make_room(struct oracle_stretches_match *m, size_t n)
{
	struct oracle_stretch_known *known;
	size_t i;

	if (n <= m->nknown)
		return 0;
	known = realloc(m->known, n * sizeof(*known));
	if (!known)
		return -ENOMEM;
	m->known = known;
	for (i = m->nknown; i < n; i++)
		known[i] = (struct oracle_stretch_known){.block = DECODE_RUN_PART};
	m->nknown = n;
	return 0;
}

/* Returns true if the state is between two stretches. */
static bool is_between(const struct match *m)
{
	return m->passed == 2 && m->insn == m->insns;
}

static void begin_runs(void *context)
{
	struct attempt *a = context;

	a->before = a->now;
}

/*
 * A mark has the number of its words in bits 15:0, and the index of the first word above. The entry
 * before that word is the setting.
 */
static uint64_t end_runs(void *context, bool whole)
{
	struct attempt *a = context;
	struct match *m = &a->now;
	struct oracle_stretches_match *out = m->m;
	const uint32_t *from = a->before.at;
	size_t n = (size_t)(m->at - from), i;

	if (!whole) {
		*m = a->before;
		return 0;
	}
	if (!is_between(&a->before) || !is_between(m) || !n || n > WORDS_MAX ||
	    out->words.n + n >= ALL_WORDS_MAX || out->known[m->s->id].ends != ENDS_PLAIN)
		return 0;
	for (i = 0; i <= n; i++) {
		if (!trace_vec_room(&out->words))
			return 0;
		out->words.at[out->words.n++] = i ? word_at(&from[i - 1]) : m->setting;
	}
	if (out->words.at[out->words.n - 1] != m->s->id)
		return 0;
	return (uint64_t)(out->words.n - n) << 16 | n;
}

/* Returns true if the next words equal those of a mark, and therefore have the same meaning. */
static bool again(void *context, uint64_t mark, uint32_t insns, uint64_t offset)
{
	struct match *m = &((struct attempt *)context)->now;
	const uint32_t *words = m->m->words.at + (mark >> 16);
	const size_t n = mark & 0xffff;
	const struct trace_stretch *last;

	if (!is_between(m) || (size_t)(m->end - m->at) <= n || words[-1] != m->setting ||
	    memcmp(m->at, words, n * sizeof(*words)) || !is_whole(m->at[n]))
		return false;
	m->piece[m->npieces++ % PIECES] = (struct piece){
		.words = m->at, .offset = offset, .count = (uint32_t)n, .mode = m->mode};
	m->agreed += insns;
	m->at += n;
	last = m->m->known[words[n - 1]].stretch;
	m->s = last;
	m->insn = m->insns = last->insns;
	return true;
}

/*
 * Copy the last instructions of a piece to the end of @n places. Returns the number of free places.
 */
static unsigned int fill(const struct piece *p, struct oracle_stretches_insn *tail, unsigned int n)
{
	const uint32_t skip = p->count > n ? p->count - n : 0;
	uint64_t ip = p->ip;
	uint32_t i;

	n -= p->count - skip;
	for (i = 0; i < p->count; i++) {
		if (i >= skip)
			tail[n + i - skip] = (struct oracle_stretches_insn){ip, p->offset, p->mode,
									    p->insns[i].len};
		ip += p->insns[i].len;
	}
	return n;
}

/* Expand words into their pieces. */
static void replay(const struct match *m, const struct piece *p, struct match *pieces)
{
	const struct decode_flow_run run = {.offset = p->offset, .mode = p->mode};

	*pieces = *m;
	pieces->at = p->words;
	pieces->insn = pieces->insns = pieces->npieces = 0;
	while (pieces->at < p->words + p->count && begin(pieces))
		note(pieces, insns_of(pieces->s), pieces->ip, pieces->insns, &run);
}

static const struct piece *piece_before(const struct match *m, unsigned int i)
{
	return i < m->npieces && i < PIECES ? &m->piece[(m->npieces - 1 - i) % PIECES] : NULL;
}

/* Copy the last equal instructions. */
static void keep_tail(const struct match *m, struct oracle_stretches_match *out)
{
	const struct piece *p, *q;
	unsigned int i, j, n;
	struct match inner;

	n = m->agreed < ORACLE_STRETCHES_TAIL ? (unsigned int)m->agreed : ORACLE_STRETCHES_TAIL;
	memset(out->tail, 0, sizeof(out->tail));
	out->ntail = n;
	for (i = 0; n && (p = piece_before(m, i)); i++) {
		if (p->insns) {
			n = fill(p, out->tail, n);
			continue;
		}
		replay(m, p, &inner);
		for (j = 0; n && (q = piece_before(&inner, j)); j++)
			n = fill(q, out->tail, n);
	}
}

static void move_on(const struct match *m, const struct trace_oracle_rest *rest,
		    struct oracle_expect *expect, struct oracle_step *step)
{
	const struct oracle_stretches_match *out = m->m;
	const uint64_t last[2] = {out->tail[out->ntail - 2].ip, out->tail[out->ntail - 1].ip};

	if (rest->record)
		trace_oracle_cursor_pass_records(&expect->cursor,
						 (size_t)(m->record - rest->record), last[1]);
	else
		trace_oracle_cursor_pass(&expect->cursor, (size_t)(m->at - rest->word), m->s,
					 m->insn, m->insns, ip_of(m->s, m->insn));
	oracle_expect_pass(expect, step, last);
}

int oracle_stretches_match(struct oracle_stretches_match *out, struct decode_flow *flow,
			   struct oracle_expect *expect, struct oracle_step *step, bool spaces)
{
	static const struct decode_flow_takers takers = {
		.take = take, .begin = begin_runs, .end = end_runs, .again = again};
	static const struct decode_flow_takers single = {.take = take_records};
	struct trace_oracle_rest rest;
	struct attempt a;
	struct match *m = &a.now;
	int err;

	out->agreed = 0;
	if (!trace_reader_oracle_rest(expect->reader, expect->vcpu, &expect->cursor, &rest))
		return 0;
	err = make_room(out, rest.stretches);
	if (err)
		return err;
	*m = (struct match){
		.m = out,
		.table = rest.stretch,
		.ntable = rest.stretches,
		.at = rest.word,
		.end = rest.word ? rest.word + rest.n : NULL,
		.record = rest.record,
		.record_end = rest.record ? rest.record + rest.n : NULL,
		.setting = setting_of(expect->cpl, expect->pae),
		.plain = plain_of(expect->cpl, expect->pae),
		.spaces = spaces,
		.space = decode_code_space(decode_flow_code(flow), step->cr3),
		.ahead = {step->ip, expect->pending.ip},
	};
	err = decode_flow_runs(flow, rest.record ? &single : &takers, &a);
	out->agreed = m->agreed;
	out->again = m->agreed < 2 ? (unsigned int)m->agreed : 2;
	keep_tail(m, out);
	if (m->agreed > 2)
		move_on(m, &rest, expect, step);
	return err;
}

void oracle_stretches_match_free(struct oracle_stretches_match *m)
{
	free(m->known);
	free(m->words.at);
	memset(m, 0, sizeof(*m));
}
