// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares a decoded trace with the executed instructions. */
#include "oracle/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/align.h"
#include "decode/code.h"
#include "decode/threaded.h"
#include "oracle/loop.h"
#include "oracle/stretches.h"
#include "trace/vec.h"
#include "vpt/atom_msr.h"

/* The maximum number of decoded steps in the search for the start of a trace. */
#define ALIGN_MAX 65536

/* The decoder's items, except those without an expectation. */
enum said { SAID_STEP, SAID_SEGMENT, SAID_ERROR, SAID_OVERFLOW, SAID_END };

struct saying {
	enum said said;
	uint64_t offset;
	uint64_t skipped; /* SEGMENT: bytes before a PSB */
	uint64_t pips;	  /* PIPs before this item */
	const char *text; /* ERROR */
	struct oracle_diff_line line;
};

struct compare {
	struct oracle_comparison *c;
	struct trace_reader *reader;
	unsigned int vcpu;
	bool closed; /* the file is complete */
	const struct trace_period *periods;
	size_t nperiods;
	bool has_spaces; /* address spaces need more than CR3 */
	bool atom;	 /* FUP.PGD does not distinguish an event from an instruction */

	struct oracle_expect expect;
	struct oracle_step step; /* the next expected step */

	struct oracle_stretches_match match;
	struct decode_flow *flow;
	struct decode_disasm *disasm; /* NULL before the first use */
	struct {
		struct saying *at;
		size_t n, room;
	} ahead; /* items that were read and not used yet, from `head` on */
	size_t head;
	uint64_t pips;	 /* PIPs that were read */
	uint64_t placed; /* PIPs before the last step in the right address space */
	char text[160];

	struct decode_segment segment;
	bool in_segment;
	bool align; /* the start of the trace has yet to be found */
	bool part;  /* the trace begins inside a session, at the first instruction of the log */
	bool dead;  /* the rest of this segment cannot be compared */
	uint64_t insns;
	size_t session; /* the session of the next two counters */
	uint64_t session_retired, session_decoded;

	struct oracle_diff_line common[ORACLE_DIFF_CONTEXT];
	unsigned int ncommon;
};

/* Convert an item. Returns false if there is no expectation for it. */
static bool to_saying(const struct compare *m, struct saying *s, const struct decode_item *item)
{
	struct oracle_step *step = &s->line.step;

	memset(s, 0, sizeof(*s));
	s->offset = item->offset;
	step->session = item->session;
	step->cr3 = item->cr3;
	step->ip = item->ip;
	step->to = item->to;
	switch (item->kind) {
	case DECODE_ITEM_END:
		s->said = SAID_END;
		return true;
	case DECODE_ITEM_SEGMENT:
		s->said = SAID_SEGMENT;
		s->skipped = item->value;
		return true;
	case DECODE_ITEM_ERROR:
		s->said = SAID_ERROR;
		s->text = item->text;
		return true;
	case DECODE_ITEM_INSN:
		step->kind = ORACLE_STEP_INSN;
		s->line.mode = item->mode;
		s->line.len = item->size;
		memcpy(s->line.raw, item->raw, sizeof(s->line.raw));
		return true;
	default:
		break;
	}
	switch (item->event) {
	case DECODE_FLOW_ENABLED:
		step->kind = ORACLE_STEP_ENABLED;
		step->ip = item->to;
		return true;
	case DECODE_FLOW_DISABLED:
		step->kind = ORACLE_STEP_DISABLED;
		return true;
	case DECODE_FLOW_ASYNC_BRANCH:
		step->kind = ORACLE_STEP_ASYNC;
		return true;
	case DECODE_FLOW_ASYNC_DISABLED:
		step->kind = m->atom ? ORACLE_STEP_DISABLED : ORACLE_STEP_ASYNC_OFF;
		return true;
	case DECODE_FLOW_STOP:
		step->kind = ORACLE_STEP_STOP;
		return true;
	case DECODE_FLOW_OVERFLOW:
		s->said = SAID_OVERFLOW;
		return true;
	default:
		return false;
	}
}

/* Queue a decoded item, if it is to be compared. Returns 0 or -ENOMEM. */
static int put_ahead(struct compare *m, const struct decode_item *item)
{
	struct saying s;

	m->c->decoded += item->kind == DECODE_ITEM_INSN;
	m->pips += item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_PAGING;
	if (!to_saying(m, &s, item))
		return 0;
	s.pips = m->pips;
	/* The text lives as long as the item, and no item is read after an error. */
	if (s.text) {
		snprintf(m->text, sizeof(m->text), "%s", s.text);
		s.text = m->text;
	}
	if (m->head && m->head == m->ahead.n)
		m->head = m->ahead.n = 0;
	if (!trace_vec_room(&m->ahead))
		return -ENOMEM;
	m->ahead.at[m->ahead.n++] = s;
	return 0;
}

/* Read up to item `i` from here, or up to an item that is not a step. */
static int read_ahead(struct compare *m, size_t i)
{
	while (m->ahead.n <= m->head + i) {
		struct decode_item item;
		int err;

		if (m->ahead.n > m->head && m->ahead.at[m->ahead.n - 1].said != SAID_STEP)
			return 0;
		err = decode_flow_next(m->flow, &item);
		if (!err)
			err = put_ahead(m, &item);
		if (err)
			return err;
	}
	return 0;
}

/* Return item `i` from here, or the last one. */
static const struct saying *ahead(const struct compare *m, size_t i)
{
	size_t at = m->head + i;

	return &m->ahead.at[at < m->ahead.n ? at : m->ahead.n - 1];
}

/* Advance the expected step. */
static void take_step(struct compare *m)
{
	if (m->step.kind == ORACLE_STEP_INSN) {
		if (m->step.session != m->session) {
			m->session = m->step.session;
			m->session_retired = 0;
			m->session_decoded = 0;
		}
		m->c->retired++;
		m->session_retired++;
	}
	oracle_expect_next(&m->expect, &m->step);
}

static bool is_over(const struct oracle_step *step)
{
	return step->kind == ORACLE_STEP_END || step->kind == ORACLE_STEP_WRONG;
}

/* Returns true if the next expected step belongs to this segment. */
static bool expected_here(const struct compare *m, const struct oracle_step *step)
{
	return !is_over(step) && step->session < m->segment.first + m->segment.count;
}

static void expected_line(const struct compare *m, const struct oracle_step *step,
			  struct oracle_diff_line *line)
{
	const struct decode_code_store *code = decode_flow_code(m->flow);

	memset(line, 0, sizeof(*line));
	line->step = *step;
	line->mode = 64;
	line->len = (uint8_t)decode_code_read(code, decode_code_space(code, step->cr3), step->ip,
					      line->raw, sizeof(line->raw));
}

/* Record a difference here; keep the first one with its context. */
static int differ(struct compare *m, const char *text)
{
	struct oracle_diff *diff = &m->c->diff;
	struct oracle_expect expect = m->expect;
	struct oracle_step step = m->step;
	unsigned int i;
	int err;

	m->dead = true;
	/* The progress reads the number on the thread that decodes. */
	__atomic_store_n(&m->c->mismatches, m->c->mismatches + 1, __ATOMIC_RELAXED);
	if (m->c->mismatches > 1)
		return 0;

	err = read_ahead(m, ORACLE_DIFF_CONTEXT);
	if (err)
		return err;
	diff->vcpu = m->vcpu;
	diff->session = expected_here(m, &step) ? step.session : m->session;
	diff->insns = m->insns;
	diff->offset = ahead(m, 0)->offset;
	if (text) {
		snprintf(diff->buf, sizeof(diff->buf), "%s", text);
		diff->text = diff->buf;
	}
	diff->ncommon = m->ncommon < ORACLE_DIFF_CONTEXT ? m->ncommon : ORACLE_DIFF_CONTEXT;
	for (i = 0; i < diff->ncommon; i++)
		diff->common[i] = m->common[(m->ncommon - diff->ncommon + i) % ORACLE_DIFF_CONTEXT];
	for (i = 0; i < ORACLE_DIFF_CONTEXT && expected_here(m, &step); i++) {
		expected_line(m, &step, &diff->expected[i]);
		oracle_expect_next(&expect, &step);
	}
	diff->nexpected = i;
	for (i = 0; i < ORACLE_DIFF_CONTEXT && m->head + i < m->ahead.n; i++) {
		if (ahead(m, i)->said != SAID_STEP)
			break;
		diff->decoded[i] = ahead(m, i)->line;
	}
	diff->ndecoded = i;
	return 0;
}

static void agree(struct compare *m, const struct oracle_diff_line *line)
{
	bool insn = m->step.kind == ORACLE_STEP_INSN;

	m->common[m->ncommon++ % ORACLE_DIFF_CONTEXT] = *line;
	take_step(m);
	m->insns += insn;
	m->session_decoded += insn;
	m->c->events += !insn;
	m->head++;
}

/* Returns true for INT n, and for instructions that can clear TraceEn: WRMSR, XSAVES. */
static bool may_be_untold(const struct oracle_diff_line *line)
{
	const uint8_t *op = line->raw;
	unsigned int i = 0;

	if (line->mode == 64 && (op[0] & 0xf0) == 0x40)
		i++;
	if (op[i] == 0xcc || op[i] == 0xcd || op[i] == 0xce || op[i] == 0xf1)
		return true;
	if (op[i] != 0x0f)
		return false;
	return op[i + 1] == 0x30 || (op[i + 1] == 0xc7 && (op[i + 2] >> 3 & 7) == 5);
}

/* Returns true if the next step is implied by the step behind it. */
static bool is_told(struct compare *m, size_t i)
{
	const struct oracle_diff_line *line = &ahead(m, i)->line;
	const struct oracle_step *next;

	if (!m->expect.tells_all || line->step.kind != ORACLE_STEP_INSN || !may_be_untold(line) ||
	    m->head + i + 1 >= m->ahead.n || ahead(m, i + 1)->said != SAID_STEP)
		return false;
	next = &ahead(m, i + 1)->line.step;
	return next->ip == line->step.ip &&
	       (next->kind == ORACLE_STEP_ASYNC || next->kind == ORACLE_STEP_ASYNC_OFF ||
		(m->atom && next->kind == ORACLE_STEP_DISABLED));
}

/* Find the place in the execution where the trace starts. */
static int align(struct compare *m)
{
	struct oracle_step *pattern;
	uint64_t before;
	bool ends = false;
	size_t i, n = 0;
	int err = read_ahead(m, ALIGN_MAX - 1);

	if (err)
		return err;
	pattern = calloc(ALIGN_MAX, sizeof(*pattern));
	if (!pattern)
		return -ENOMEM;
	for (i = 0; i < ALIGN_MAX && m->head + i < m->ahead.n; i++) {
		ends = ahead(m, i)->said == SAID_SEGMENT || ahead(m, i)->said == SAID_END;
		if (ahead(m, i)->said != SAID_STEP)
			break;
		if (!is_told(m, i))
			pattern[n++] = ahead(m, i)->line.step;
	}
	err = oracle_align(&m->expect, &m->step, m->segment.first + m->segment.count, pattern, n,
			   ends, &before);
	free(pattern);
	if (err == -ENOENT)
		return differ(m, "what the trace sets in with did not run");
	if (err)
		return err;
	/* The trace does not tell that it is enabled where it begins. */
	if (m->part && before > (m->step.kind == ORACLE_STEP_ENABLED))
		return differ(m, "the trace sets in behind the first instruction of this part");
	m->part = false;

	while (before) {
		m->c->skipped += m->step.kind == ORACLE_STEP_INSN;
		before -= !m->step.told;
		take_step(m);
	}
	m->align = false;
	return 0;
}

/* In a file that was cut, either side may have lost more than the other. */
static bool beyond_records(const struct compare *m)
{
	return m->step.kind == ORACLE_STEP_END && !m->closed;
}

/*
 * Returns true if the IP is equal, but belongs to another address space. Guests and hosts often
 * have the same code at the same address. VM entries and exits that are concealed send no PIP
 * (33.5.1), so the trace cannot show the space before the next PIP.
 */
static bool elsewhere(struct compare *m, const struct saying *s)
{
	const struct oracle_step *decoded = &s->line.step;

	if (!m->has_spaces || decoded->kind != ORACLE_STEP_INSN)
		return false;
	if (decode_code_space(decode_flow_code(m->flow), m->step.cr3) == decoded->cr3) {
		m->placed = s->pips;
		return false;
	}
	return m->placed != s->pips;
}

/* Make a line of instruction @i of the tail. */
static void matched_line(const struct compare *m, unsigned int i, struct oracle_diff_line *line)
{
	const struct oracle_stretches_insn *insn = &m->match.tail[i];

	*line = (struct oracle_diff_line){
		.step = {.kind = ORACLE_STEP_INSN,
			 .session = m->step.session,
			 .ip = insn->ip,
			 .cr3 = m->match.cr3},
		.mode = insn->mode,
		.len = insn->len,
	};
	(void)decode_code_read(decode_flow_code(m->flow), m->match.cr3, insn->ip, line->raw,
			       insn->len);
}

/*
 * Compare whole stretches as long as they are equal. The last two instructions are compared again.
 */
static int match(struct compare *m)
{
	struct oracle_stretches_match *match = &m->match;
	uint64_t passed;
	unsigned int i;
	int err;

	if (m->step.session != m->session || m->c->unit == ORACLE_COMPARE_STEPS ||
	    !oracle_expect_is_steady(&m->expect, &m->step))
		return 0;
	err = oracle_stretches_match(match, m->flow, &m->expect, &m->step, m->has_spaces);
	if (err || !match->agreed)
		return err;
	passed = match->agreed - match->again;
	m->c->decoded += match->agreed;
	m->c->matched += passed;
	m->c->retired += passed;
	m->session_retired += passed;
	m->session_decoded += passed;
	m->insns += passed;
	m->placed = m->pips;
	m->head = m->ahead.n = 0;
	for (i = 0; i + match->again < match->ntail; i++)
		matched_line(m, i, &m->common[m->ncommon++ % ORACLE_DIFF_CONTEXT]);
	for (; i < match->ntail; i++) {
		if (!trace_vec_room(&m->ahead))
			return -ENOMEM;
		m->ahead.at[m->ahead.n] = (struct saying){
			.said = SAID_STEP, .offset = match->tail[i].offset, .pips = m->pips};
		matched_line(m, i, &m->ahead.at[m->ahead.n++].line);
	}
	return 0;
}

/*
 * Advance as long as the instructions are the expected ones, which is the usual case. Queue the
 * first different item for the other functions.
 */
static int run_on(struct compare *m)
{
	const size_t end = m->segment.first + m->segment.count;

	if (m->head != m->ahead.n || !m->in_segment || m->align || m->dead)
		return 0;
	while (m->step.kind == ORACLE_STEP_INSN && m->step.session < end) {
		struct oracle_diff_line *line;
		struct decode_item item;
		int err = match(m);

		/* Address spaces need the slow comparison. */
		if (err || m->head != m->ahead.n || m->has_spaces)
			return err;
		err = decode_flow_next(m->flow, &item);
		if (err)
			return err;
		if (item.kind != DECODE_ITEM_INSN || item.ip != m->step.ip)
			return put_ahead(m, &item);
		m->c->decoded++;
		m->insns++;
		line = &m->common[m->ncommon++ % ORACLE_DIFF_CONTEXT];
		line->step = m->step;
		line->mode = item.mode;
		line->len = item.size;
		memcpy(line->raw, item.raw, sizeof(line->raw));
		take_step(m);
		m->session_decoded++;
	}
	return 0;
}

static unsigned int mode_here(const struct compare *m)
{
	return m->ncommon ? m->common[(m->ncommon - 1) % ORACLE_DIFF_CONTEXT].mode : 64;
}

/*
 * Skip the expected steps of a loop of direct branches. If @decoded is not NULL, the next expected
 * step after the loop must be @decoded. Returns 1 if there was such a loop, 0 if not, or -ENOMEM.
 */
static int leave_loop(struct compare *m, const struct oracle_step *decoded)
{
	struct oracle_expect expect = m->expect;
	struct oracle_step step = m->step;
	struct oracle_loop_seen seen = {m->vcpu, m->step.session, m->insns, m->step.ip, false};
	struct oracle_loop loop;
	uint64_t n;

	if (!expected_here(m, &m->step))
		return 0;
	if (!m->disasm)
		m->disasm = decode_disasm_new(NULL);
	if (!m->disasm)
		return -ENOMEM;
	if (!oracle_loop_find(&loop, decode_flow_code(m->flow), m->disasm, mode_here(m), &step))
		return 0;
	n = oracle_loop_leave(&loop, &expect, &step);
	if (decoded && (!expected_here(m, &step) || !oracle_same_step(&step, decoded)))
		return 0;
	m->c->looped += n;
	for (; n; n--)
		take_step(m);
	oracle_expect_next(&expect, &step);
	seen.ends = is_over(&step) || step.session != seen.session;
	if (!m->c->loops++ || seen.ends)
		m->c->loop = seen;
	return 1;
}

/*
 * Returns true if an event replaced the instruction at its address. The packets are those of an INT
 * n that runs (table 33-23), or of a write to CTL that ends the trace.
 */
static bool is_untold(const struct compare *m, const struct saying *s)
{
	const struct oracle_step *decoded = &s->line.step;

	return m->expect.tells_all && decoded->kind == ORACLE_STEP_INSN &&
	       (m->step.kind == ORACLE_STEP_ASYNC || m->step.kind == ORACLE_STEP_ASYNC_OFF) &&
	       expected_here(m, &m->step) && m->step.session == decoded->session &&
	       m->step.ip == decoded->ip && may_be_untold(&s->line);
}

/* Compare a decoded step. */
static int compare_step(struct compare *m)
{
	const struct saying *s;
	int err;

	if (m->align && !m->dead && !beyond_records(m)) {
		err = align(m);
		if (err)
			return err;
	}
	s = ahead(m, 0);
	if (m->dead || beyond_records(m)) {
		m->head++;
		return 0;
	}
	if (expected_here(m, &m->step) && oracle_same_step(&m->step, &s->line.step)) {
		if (!elsewhere(m, s)) {
			agree(m, &s->line);
			return 0;
		}
		err = differ(m, "the trace has it in another address space");
		m->head++;
		return err;
	}
	if (is_untold(m, s)) {
		m->c->untold++;
		m->head++;
		return 0;
	}
	err = leave_loop(m, &s->line.step);
	if (err > 0) {
		agree(m, &s->line);
		return 0;
	}
	if (!err)
		err = differ(m, m->step.kind == ORACLE_STEP_WRONG ? m->step.text : NULL);
	m->head++;
	return err;
}

/* Handle an error of the decoder. In a loop of direct branches an error is not a difference. */
static int compare_error(struct compare *m)
{
	const char *text = ahead(m, 0)->text;
	int err = 0;

	if (!m->dead && !strcmp(text, DECODE_ITEM_STALL))
		err = leave_loop(m, NULL);
	if (err > 0)
		m->align = true;
	else
		m->c->errors++;
	if (!err && !m->dead)
		err = differ(m, text);
	m->head++;
	return err < 0 ? err : 0;
}

static bool falls_short(const struct compare *m)
{
	const struct trace_session *end;

	if (!m->segment.count)
		return true;
	end = m->periods[m->segment.first + m->segment.count - 1].end;
	if (!end || end->end == TRACE_END_TOPA_STOP || end->end == TRACE_END_ERROR)
		return true;
	/* The processor is losing packets, from an unknown time on. */
	return m->atom && VPT_ATOM_GET(STATUS, BUFFER_OVERFLOW, end->status);
}

static int note_shortfall(struct compare *m, size_t session)
{
	const struct trace_session *end = m->periods[session].end;

	if (!trace_vec_room(&m->c->shortfalls))
		return -ENOMEM;
	m->c->shortfalls.at[m->c->shortfalls.n++] = (struct oracle_shortfall){
		.vcpu = m->vcpu,
		.session = session,
		.end = end ? end->end : TRACE_END_NONE,
		.atom = m->atom,
		.retired = m->session == session ? m->session_retired : 0,
		.decoded = m->session == session ? m->session_decoded : 0,
	};
	return 0;
}

/* The decoder has reached the end of this segment: compare the end with the expected one. */
static int end_segment(struct compare *m)
{
	size_t last = m->segment.first + m->segment.count - 1;
	bool shortfall = falls_short(m);
	int err = 0;

	if (!m->in_segment)
		return 0;
	m->in_segment = false;

	while (!err && expected_here(m, &m->step)) {
		bool excused = m->align || (shortfall && m->step.session == last);

		if (!m->dead && !excused)
			err = differ(m, "the trace ends before what ran does");
		/* The instructions of a session without a PSB cannot be decoded. */
		m->c->skipped += m->align && !m->dead && m->step.kind == ORACLE_STEP_INSN;
		take_step(m);
	}
	if (!err && m->step.kind == ORACLE_STEP_WRONG && !m->dead)
		err = differ(m, m->step.text);
	if (!err && shortfall && m->segment.count)
		err = note_shortfall(m, last);
	return err;
}

static int begin_segment(struct compare *m)
{
	const struct saying *s = ahead(m, 0);
	int err = end_segment(m);

	if (err)
		return err;
	m->segment = *decode_flow_segment(m->flow);
	m->in_segment = true;
	/* The first session of a part may begin without a PSB. */
	m->part = m->part && !s->skipped;
	m->align = s->skipped || m->part;
	m->dead = false;
	m->insns = 0;
	m->ncommon = 0;
	m->head++;
	return 0;
}

static int run(struct compare *m)
{
	for (;;) {
		int err = run_on(m);

		if (!err)
			err = read_ahead(m, 0);
		if (err)
			return err;
		switch (ahead(m, 0)->said) {
		case SAID_STEP:
			err = compare_step(m);
			break;
		case SAID_SEGMENT:
			err = begin_segment(m);
			break;
		case SAID_OVERFLOW:
			m->align = true;
			m->head++;
			break;
		case SAID_ERROR:
			err = compare_error(m);
			break;
		case SAID_END:
			return end_segment(m);
		}
		if (err)
			return err;
	}
}

static int open_flow(struct compare *m)
{
	const bool one = m->c->by != DECODE_FLOW_BY_LIBVPTDECODE || trace_reader_source(m->reader);

	if (m->c->threaded && !one)
		return decode_threaded_open(m->reader, m->vcpu, &m->flow);
	return judge_flow_open_by(m->reader, m->vcpu, DECODE_FLOW_INSNS, m->c->by, &m->flow);
}

int oracle_compare(struct trace_reader *reader, unsigned int vcpu, struct oracle_comparison *c)
{
	struct compare m = {
		.c = c,
		.reader = reader,
		.vcpu = vcpu,
		.closed = trace_reader_extent(reader)->closed,
	};
	size_t spaces;
	int err;

	m.periods = trace_reader_sessions(reader, vcpu, &m.nperiods);
	trace_reader_spaces(reader, &spaces);
	m.has_spaces = spaces != 0;
	m.part = trace_reader_cut(reader, vcpu);
	m.atom = trace_reader_info(reader)->flags & TRACE_INFO_ATOM;
	oracle_expect_init(&m.expect, reader, vcpu);
	m.expect.tells_all = m.atom || c->by == DECODE_FLOW_BY_LIBVPTDECODE;
	oracle_expect_next(&m.expect, &m.step);
	err = open_flow(&m);
	if (err)
		return err;

	err = run(&m);
	/* Steps remain without a segment. */
	if (!err && !is_over(&m.step) && m.closed)
		err = differ(&m, "what ran has no trace");
	while (!err && !is_over(&m.step))
		take_step(&m);
	if (!err && m.step.kind == ORACLE_STEP_WRONG && !m.dead)
		err = differ(&m, m.step.text);
	c->sessions += m.nperiods;
	decode_flow_close(m.flow);
	oracle_stretches_match_free(&m.match);
	decode_disasm_free(m.disasm);
	free(m.ahead.at);
	return err;
}

void oracle_comparison_free(struct oracle_comparison *c)
{
	free(c->shortfalls.at);
	memset(c, 0, sizeof(*c));
}
