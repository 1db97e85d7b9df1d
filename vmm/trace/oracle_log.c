// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects ORACLE and RUN blocks, and walks the instructions in them. */
#include "trace/oracle_log.h"

#include <string.h>

#include "trace/reader_state.h"

static const char wrong_length[] = "a block's length is wrong";

static const struct trace_stretch_insn *insns_of(const struct trace_stretch *s)
{
	return (const struct trace_stretch_insn *)(s + 1);
}

/* Return the address of instruction n, or the address behind the last one. */
static uint64_t insn_ip(const struct trace_stretch *s, unsigned int n)
{
	uint64_t ip = s->ip;
	unsigned int i;

	for (i = 0; i < n; i++)
		ip += insns_of(s)[i].len;
	return ip;
}

static size_t stretch_size(const struct trace_stretch *s)
{
	size_t size = sizeof(*s) + s->insns * sizeof(struct trace_stretch_insn);

	return (size + 7) & ~(size_t)7;
}

static bool padding_ok(const struct trace_stretch *s)
{
	const uint8_t *p = (const uint8_t *)(insns_of(s) + s->insns);
	const uint8_t *end = (const uint8_t *)s + stretch_size(s);

	while (p < end) {
		if (*p++)
			return false;
	}
	return true;
}

static bool stretch_ok(const struct trace_stretch *s)
{
	unsigned int i;

	if (!s->insns || s->flags & ~TRACE_STRETCH_FLAGS || !padding_ok(s))
		return false;
	for (i = 0; i < s->insns; i++) {
		if (!insns_of(s)[i].len || insns_of(s)[i].len > TRACE_STRETCH_LEN_MAX)
			return false;
	}
	return true;
}

/* Extend the table to hold an id. */
static bool make_room(struct trace_stretches *t, uint32_t id)
{
	size_t room = t->room;
	void *at;

	if (id < t->room)
		return true;
	while (room <= id)
		room = room ? 2 * room : 1024;
	at = realloc(t->at, room * sizeof(*t->at));
	if (!at)
		return false;
	t->at = at;
	memset(t->at + t->room, 0, (room - t->room) * sizeof(*t->at));
	t->room = room;
	return true;
}

static const struct trace_stretch *find(const struct trace_stretches *t, uint32_t id)
{
	return id < t->room ? t->at[id] : NULL;
}

const char *trace_stretches_take(struct trace_stretches *t, const void *payload, size_t len)
{
	const uint8_t *p = payload;

	if (!len)
		return wrong_length;
	while (len) {
		const struct trace_stretch *s = (const struct trace_stretch *)p;

		if (len < sizeof(*s) || len < stretch_size(s))
			return wrong_length;
		if (!stretch_ok(s))
			return "a stretch is not as it must be";
		if (s->id >= TRACE_RUN_CUT || s->id >= TRACE_STRETCH_ID_MAX(t->count))
			return "a stretch's number is too large";
		if (find(t, s->id))
			return "a stretch comes twice";
		if (!make_room(t, s->id))
			return trace_reader_no_memory;
		t->at[s->id] = s;
		t->count++;
		p += stretch_size(s);
		len -= stretch_size(s);
	}
	return NULL;
}

/* End a REP instruction: a record at `ip`, which is another place, follows. */
static void end_rep(struct trace_oracle_log *log, uint64_t ip)
{
	log->records += log->rep && ip != log->rep_ip;
	log->rep = false;
}

static void count_record(struct trace_oracle_log *log, const struct trace_oracle_record *r)
{
	if (r->kind != TRACE_ORACLE_CR3)
		end_rep(log, r->ip);
	log->last = NULL;
	log->records++;
}

static void count_stretch(struct trace_oracle_log *log, const struct trace_stretch *s)
{
	end_rep(log, s->ip);
	log->last = s;
	log->records += s->insns;
	if (s->flags & TRACE_STRETCH_REP) {
		log->records--;
		log->rep = true;
		log->rep_ip = insn_ip(s, s->insns - 1u);
	}
}

static const char *count_cut(struct trace_oracle_log *log, uint32_t n)
{
	const struct trace_stretch *s = log->last;

	if (!s || n > s->insns)
		return "a stretch is cut where there is none";
	log->records -= s->insns - log->rep;
	log->records += n;
	log->rep = false;
	log->last = NULL;
	return NULL;
}

const char *trace_oracle_log_count_records(struct trace_oracle_log *log, const void *payload,
					   size_t len)
{
	const struct trace_oracle_record *r = payload;
	size_t n = len / sizeof(*r), i;

	if (!n || len % sizeof(*r))
		return wrong_length;
	/* Only a REP before these words makes counting necessary. */
	for (i = 0; log->rep && i < n; i++) {
		struct trace_oracle_record copy = r[i];

		count_record(log, &copy);
	}
	log->records += n - i;
	log->last = NULL;
	return NULL;
}

size_t trace_words_same(const uint32_t *words, size_t n, uint32_t word)
{
	size_t i = 0, j;

	/* Compare eight words at a time, so that a compiler can vectorise the comparison. */
	for (; n - i >= 8; i += 8) {
		uint32_t differ = 0;

		for (j = 0; j < 8; j++)
			differ |= words[i + j] ^ word;
		if (differ)
			break;
	}
	while (i < n && words[i] == word)
		i++;
	return i;
}

/* The file can change during a read, so a word that is checked is read once. */
static uint32_t word_at(const uint32_t *at)
{
	return *(const volatile uint32_t *)at;
}

/*
 * Count consecutive stretches, which are nearly all words. Iterations of a REP often repeat one
 * word thousands of times, and only the first one counts. Returns how many words were counted.
 */
static size_t count_plain(struct trace_oracle_log *log, const struct trace_stretches *t,
			  const uint32_t *words, size_t n)
{
	const struct trace_stretch *s, *last = NULL;
	uint64_t records = 0;
	size_t i;

	for (i = 0; i < n && !log->rep; i++) {
		s = find(t, word_at(&words[i]));
		if (!s || s->flags & TRACE_STRETCH_REP)
			break;
		records += s->insns;
		last = s;
	}
	if (last)
		log->last = last;
	log->records += records;
	return i;
}

static size_t skip_iterations(const struct trace_oracle_log *log, const uint32_t *words, size_t n)
{
	const struct trace_stretch *s = log->last;

	return log->rep && s->insns == 1 ? trace_words_same(words, n, s->id) : 0;
}

static const char *check_words(struct trace_oracle_log *log, const struct trace_stretches *t,
			       const uint32_t *words, size_t n)
{
	struct trace_oracle_record record;
	const char *why = NULL;
	size_t i;

	for (i = count_plain(log, t, words, n); i < n && !why;
	     i += count_plain(log, t, words + i, n - i)) {
		const uint32_t word = word_at(&words[i++]);
		const struct trace_stretch *s = find(t, word);

		if (s) {
			count_stretch(log, s);
			i += skip_iterations(log, words + i, n - i);
		} else if (word == TRACE_RUN_RECORD) {
			if (n - i < TRACE_RECORD_WORDS)
				return "a record is cut off";
			memcpy(&record, &words[i], sizeof(record));
			count_record(log, &record);
			i += TRACE_RECORD_WORDS;
		} else if (word >= TRACE_RUN_CUT) {
			why = count_cut(log, word - TRACE_RUN_CUT);
		} else {
			why = "a stretch ran that is not there";
		}
	}
	return why;
}

const char *trace_oracle_log_count_words(struct trace_oracle_log *log,
					 const struct trace_stretches *t, const void *payload,
					 size_t len)
{
	const uint64_t records = log->records;
	const char *why;

	if (!len || len % sizeof(uint32_t))
		return wrong_length;
	why = check_words(log, t, payload, len / sizeof(uint32_t));
	if (why)
		log->records = records;
	return why;
}

static const char *keep(struct trace_oracle_log *log, const struct trace_oracle_block *block)
{
	if (!trace_vec_room(&log->blocks))
		return trace_reader_no_memory;
	log->blocks.at[log->blocks.n++] = *block;
	return NULL;
}

const char *trace_oracle_log_keep_records(struct trace_oracle_log *log, const void *payload,
					  size_t len)
{
	return keep(log, &(struct trace_oracle_block){
				 .at = payload, .n = len / sizeof(struct trace_oracle_record)});
}

const char *trace_oracle_log_keep_words(struct trace_oracle_log *log, const void *payload,
					size_t len)
{
	return keep(log, &(struct trace_oracle_block){
				 .at = payload, .n = len / sizeof(uint32_t), .words = true});
}

/* Return the block of a cursor, NULL at the end. */
static const struct trace_oracle_block *block_of(const struct trace_oracle_log *log, size_t *block,
						 size_t *record)
{
	if (*block < log->blocks.n && *record == log->blocks.at[*block].n) {
		++*block;
		*record = 0;
	}
	return *block < log->blocks.n ? &log->blocks.at[*block] : NULL;
}

static bool is_record(uint32_t word, size_t left)
{
	return word == TRACE_RUN_RECORD && left > TRACE_RECORD_WORDS;
}

/*
 * Read the next entry: a stretch, or a record, which is copied. Returns false at the end, and if
 * words have changed since they were checked.
 */
static bool peek(const struct trace_oracle_log *log, const struct trace_stretches *t, size_t *block,
		 size_t *at, const struct trace_stretch **stretch,
		 struct trace_oracle_record *record)
{
	const struct trace_oracle_block *b = block_of(log, block, at);
	const uint32_t *words;
	uint32_t word;

	*stretch = NULL;
	if (!b)
		return false;
	if (!b->words) {
		*record = ((const struct trace_oracle_record *)b->at)[(*at)++];
		return true;
	}
	words = (const uint32_t *)b->at + *at;
	word = word_at(words);
	if (is_record(word, b->n - *at)) {
		memcpy(record, words + 1, sizeof(*record));
		*at += 1 + TRACE_RECORD_WORDS;
		return true;
	}
	*stretch = find(t, word);
	++*at;
	return *stretch;
}

/*
 * Returns true if the REP instruction at `ip`, the last one of the stretch just read, has retired.
 */
static bool rep_retired(const struct trace_oracle_log *log, const struct trace_stretches *t,
			const struct trace_oracle_cursor *c, uint64_t ip)
{
	size_t block = c->block, at = c->record;
	const struct trace_stretch *s;
	struct trace_oracle_record r;

	while (peek(log, t, &block, &at, &s, &r)) {
		if (s)
			return s->ip != ip;
		if (r.kind != TRACE_ORACLE_CR3)
			return r.ip != ip;
	}
	return false;
}

/* Returns true if the next record is an event at `ip`. */
static bool event_follows(const struct trace_oracle_log *log, const struct trace_stretches *t,
			  const struct trace_oracle_cursor *c, uint64_t ip)
{
	size_t block = c->block, at = c->record;
	const struct trace_stretch *s;
	struct trace_oracle_record r;

	return peek(log, t, &block, &at, &s, &r) && !s && r.kind == TRACE_ORACLE_EVENT &&
	       r.ip == ip;
}

/* If the stretch just read is cut, store the number of its retired instructions. */
static bool take_cut(const struct trace_oracle_log *log, struct trace_oracle_cursor *c,
		     unsigned int *insns)
{
	const struct trace_oracle_block *b = block_of(log, &c->block, &c->record);
	uint32_t word;

	if (!b || !b->words)
		return false;
	word = word_at((const uint32_t *)b->at + c->record);
	if (word < TRACE_RUN_CUT || word == TRACE_RUN_RECORD)
		return false;
	if (word - TRACE_RUN_CUT < *insns)
		*insns = word - TRACE_RUN_CUT;
	c->record++;
	return true;
}

static void begin_stretch(const struct trace_oracle_log *log, const struct trace_stretches *t,
			  struct trace_oracle_cursor *c, const struct trace_stretch *s)
{
	c->stretch = s;
	c->ip = s->ip;
	c->insn = 0;
	c->insns = s->insns;
	c->soft_int = false;
	if (!take_cut(log, c, &c->insns) && s->flags & TRACE_STRETCH_REP &&
	    !rep_retired(log, t, c, insn_ip(s, s->insns - 1u)))
		c->insns--;
	if (c->insns && insns_of(s)[c->insns - 1].flags & TRACE_ORACLE_SOFT_INT)
		c->soft_int = event_follows(log, t, c, insn_ip(s, c->insns - 1));
}

/* Returns true if execution reaches the instruction at `ip` otherwise than by falling through. */
static bool has_arrived(const struct trace_oracle_cursor *c, uint64_t ip)
{
	switch (c->came) {
	case TRACE_CAME_AFTER:
		return ip != c->from;
	case TRACE_CAME_FROM:
		return ip - c->from - 1 >= TRACE_STRETCH_LEN_MAX;
	default:
		return true;
	}
}

static void passed_insn(struct trace_oracle_cursor *c)
{
	bool jumped = c->insn == c->stretch->insns && c->stretch->flags & TRACE_STRETCH_JUMP;

	c->from = c->ip;
	c->came = jumped ? TRACE_CAME_BY_BRANCH : TRACE_CAME_AFTER;
}

static const struct trace_oracle_record *report_insn(struct trace_oracle_cursor *c)
{
	const struct trace_stretch *s = c->stretch;
	const struct trace_stretch_insn *insn = &insns_of(s)[c->insn++];
	unsigned int flags = insn->flags & ~(unsigned int)(TRACE_ORACLE_ARRIVED | TRACE_ORACLE_PAE);

	if (c->insn == 1 && has_arrived(c, c->ip))
		flags |= TRACE_ORACLE_ARRIVED;
	if (s->flags & TRACE_STRETCH_PAE)
		flags |= TRACE_ORACLE_PAE;
	if (!c->soft_int || c->insn != c->insns)
		flags &= ~(unsigned int)TRACE_ORACLE_SOFT_INT;
	c->made = (struct trace_oracle_record){
		.ip = c->ip,
		.kind = TRACE_ORACLE_INSN,
		.cpl = s->cpl,
		.aux = (uint16_t)flags,
	};
	c->ip += insn->len;
	passed_insn(c);
	return &c->made;
}

/* Note how execution reaches the instruction after a record. */
static void pass(struct trace_oracle_cursor *c, const struct trace_oracle_record *r)
{
	switch (r->kind) {
	case TRACE_ORACLE_INSN:
		c->came = TRACE_CAME_FROM;
		c->from = r->ip;
		c->stretch = NULL;
		break;
	case TRACE_ORACLE_CR3:
	case TRACE_ORACLE_STOP:
		break;
	default:
		c->came = TRACE_CAME_BY_BRANCH;
		c->stretch = NULL;
		break;
	}
}

static const struct trace_oracle_record *report_record(struct trace_oracle_cursor *c,
						       const uint32_t *words)
{
	struct trace_oracle_record *r = &c->made;

	memcpy(r, words, sizeof(*r));
	c->record += 1 + TRACE_RECORD_WORDS;
	/* After a stretch, the writer does not know how an instruction was reached. */
	if (r->kind == TRACE_ORACLE_INSN && c->stretch && c->came != TRACE_CAME_FROM) {
		r->aux &= (uint16_t)~TRACE_ORACLE_ARRIVED;
		r->aux |= has_arrived(c, r->ip) ? TRACE_ORACLE_ARRIVED : 0;
	}
	if ((r->kind == TRACE_ORACLE_EVENT || r->kind == TRACE_ORACLE_VM_EXIT ||
	     r->kind == TRACE_ORACLE_INIT || r->kind == TRACE_ORACLE_STOP) &&
	    has_arrived(c, r->ip))
		r->aux |= TRACE_ORACLE_AUX(0, TRACE_ORACLE_ARRIVED);
	pass(c, r);
	return r;
}

const struct trace_oracle_record *trace_oracle_log_next(const struct trace_oracle_log *log,
							const struct trace_stretches *t,
							struct trace_oracle_cursor *c)
{
	const struct trace_oracle_block *b;
	const struct trace_stretch *s;
	const uint32_t *words;
	uint32_t word;

	for (;;) {
		if (c->insn < c->insns)
			return report_insn(c);
		b = block_of(log, &c->block, &c->record);
		if (!b)
			return NULL;
		if (!b->words) {
			const struct trace_oracle_record *r = b->at;

			c->made = r[c->record++];
			pass(c, &c->made);
			return &c->made;
		}
		words = (const uint32_t *)b->at + c->record;
		word = word_at(words);
		if (is_record(word, b->n - c->record))
			return report_record(c, words + 1);
		s = find(t, word);
		if (!s)
			return NULL;
		c->record++;
		/* An iteration that is followed by the same iteration has not retired. */
		if (s->flags & TRACE_STRETCH_REP && s->insns == 1)
			c->record += trace_words_same(words + 1, b->n - c->record, word);
		begin_stretch(log, t, c, s);
	}
}

bool trace_oracle_log_rest(const struct trace_oracle_log *log, const struct trace_stretches *t,
			   const struct trace_oracle_cursor *c, struct trace_oracle_rest *rest)
{
	const struct trace_oracle_block *b = &log->blocks.at[c->block];

	if (c->insn < c->insns || c->block == log->blocks.n || c->record == b->n)
		return false;
	*rest = (struct trace_oracle_rest){
		.n = b->n - c->record,
		.stretch = t->at,
		.stretches = t->room,
	};
	if (b->words)
		rest->word = (const uint32_t *)b->at + c->record;
	else
		rest->record = (const struct trace_oracle_record *)b->at + c->record;
	return true;
}

void trace_oracle_cursor_pass_records(struct trace_oracle_cursor *c, size_t n, uint64_t ip)
{
	const struct trace_oracle_record last = {.kind = TRACE_ORACLE_INSN, .ip = ip};

	c->record += n;
	pass(c, &last);
}

void trace_oracle_cursor_pass(struct trace_oracle_cursor *c, size_t n,
			      const struct trace_stretch *s, unsigned int insn, unsigned int insns,
			      uint64_t ip)
{
	c->record += n;
	c->stretch = s;
	c->insn = insn;
	c->insns = insns;
	c->soft_int = false;
	c->ip = ip;
	passed_insn(c);
}
