// SPDX-License-Identifier: GPL-2.0-or-later
/* Run one case of tests/cli/libdecode through the flow decoder. */
#include "lib/flowcase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libdecode/tracelet.h"

#define TEXT_MAX 262144

struct run {
	const struct flow_case *c;
	struct dec_code *code;
	struct dec_tracelets *tracelets;
	struct dec_flow flow;
	struct dec_pt pt;
	struct dec_timing timing;
	char *text;
	size_t len;
	unsigned int next; /* index of the next code that is not mapped yet */
	struct {
		uint64_t key;
		uint8_t bytes[DEC_PAGE];
	} page[FLOW_CODE_MAX];
	unsigned int npages;
};

/* Return the page of a key. Bytes that the case does not define are invalid in every mode. */
static uint8_t *page_of(struct run *r, uint64_t key)
{
	unsigned int i;

	for (i = 0; i < r->npages; i++) {
		if (r->page[i].key == key)
			return r->page[i].bytes;
	}
	r->page[r->npages].key = key;
	for (i = 0; i < DEC_PAGE; i++)
		r->page[r->npages].bytes[i] = i % 2 ? 0xff : 0x0f;
	return r->page[r->npages++].bytes;
}

static void word(struct run *r, const char *text)
{
	int n = snprintf(r->text + r->len, TEXT_MAX - r->len, "%s%s", r->len ? " " : "", text);

	r->len += n < 0 ? 0 : (size_t)n;
	if (r->len >= TEXT_MAX)
		abort();
}

/* Append the time of what is being reported: /lo,tsc,hi+cycles or /?+cycles. */
static void put_time(struct run *r, char *text, enum dec_timed what)
{
	struct dec_point p;

	if (!r->c->timed)
		return;
	r->timing.what = what;
	dec_timing_point(&r->timing, &p);
	text += strlen(text);
	if (p.known)
		text += sprintf(text, "/%llx,%llx,", (unsigned long long)p.lo,
				(unsigned long long)p.tsc);
	if (p.known && p.hi != DEC_NO_BOUND)
		text += sprintf(text, "%llx", (unsigned long long)p.hi);
	sprintf(text, "%s+%llx", p.known ? "" : "/?", (unsigned long long)p.cycles);
}

static void on_run(void *context, const struct dec_block *block, unsigned int first,
		   unsigned int count)
{
	struct run *r = context;
	const uint8_t *lens = dec_code_lens(r->code, block);
	uint64_t ip = block->ip;
	unsigned int i;
	char text[120];

	for (i = 0; i < first + count; ip += lens[i++]) {
		if (i < first)
			continue;
		snprintf(text, sizeof(text), "%llx", (unsigned long long)ip);
		if (i == first)
			put_time(r, text, DEC_TIMED_RUN);
		word(r, text);
	}
	if (r->c->timed)
		dec_timing_ran(&r->timing, block, first, count);
}

static void name_of(const char *name, char *text)
{
	for (; *name; name++)
		*text++ = *name == ' ' ? '-' : *name;
	*text = 0;
}

static bool has_value(enum vptd_event_kind kind)
{
	return kind == VPTD_EVENT_PAGING || kind == VPTD_EVENT_EXEC_MODE ||
	       kind == VPTD_EVENT_TSX || kind == VPTD_EVENT_VMCS || kind == VPTD_EVENT_PTWRITE ||
	       kind == VPTD_EVENT_CFE || kind == VPTD_EVENT_IFLAG || kind == VPTD_EVENT_MWAIT ||
	       kind == VPTD_EVENT_PWRE || kind == VPTD_EVENT_PWRX || kind == VPTD_EVENT_EVD ||
	       kind == VPTD_EVENT_BLOCK || kind == VPTD_EVENT_ITEM;
}

static void on_event(void *context, const struct vptd_event *e)
{
	char text[240], name[80];
	size_t n;

	if (e->flags & VPTD_EV_STATUS)
		return;
	name_of(vptd_event_text(e->kind), text);
	n = strlen(text);
	if (e->flags & VPTD_EV_IP)
		n += (size_t)sprintf(text + n, "@%llx", (unsigned long long)e->ip);
	if (e->flags & VPTD_EV_TO)
		n += (size_t)sprintf(text + n, ">%llx", (unsigned long long)e->to);
	if (has_value(e->kind))
		n += (size_t)sprintf(text + n, "=%llx", (unsigned long long)e->value);
	if (e->kind == VPTD_EVENT_ERROR) {
		name_of(vptd_status_text((enum vptd_status)e->value), name);
		sprintf(text + n, ":%s", name);
	}
	put_time(context, text, DEC_TIMED_EVENT);
	word(context, text);
}

/* Map the code whose counter has been reached. */
static void on_limit(void *context)
{
	struct run *r = context;

	for (; r->next < r->c->ncode && r->c->code[r->next].at <= r->flow.insns; r->next++) {
		const struct flow_code *code = &r->c->code[r->next];
		uint8_t *page = page_of(r, code->key);

		memcpy(page + code->address % DEC_PAGE, code->bytes, code->len);
		if (dec_code_content(r->code, code->key, page) ||
		    dec_code_map(r->code, code->space, code->address & ~(uint64_t)(DEC_PAGE - 1),
				 code->key))
			abort();
	}
	r->flow.limit = r->next < r->c->ncode ? r->c->code[r->next].at : UINT64_MAX;
}

/* Decode with the code and the tracelets of @r. */
static void decode(struct run *r, size_t piece, bool report)
{
	static const struct dec_flow_ops loud = {.run = on_run, .limit = on_limit},
					 silent = {.limit = on_limit};
	static const struct dec_pt_ops loud_pt = {on_event, NULL}, silent_pt = {NULL, NULL};
	size_t at, n;

	dec_flow_init(&r->flow, r->code, report ? &loud : &silent, r);
	r->flow.tracelets = r->tracelets;
	if (dec_code_select(r->code, 0))
		abort();
	on_limit(r);
	dec_pt_init(&r->pt, &r->flow, &r->c->config, report ? &loud_pt : &silent_pt, r);
	if (r->c->timed) {
		dec_timing_init(&r->timing, &r->c->time, report);
		r->pt.timing = &r->timing;
	}
	for (at = 0; at < r->c->len; at += n) {
		n = r->c->len - at < piece ? r->c->len - at : piece;
		dec_pt_push(&r->pt, r->c->packets + at, n);
	}
	dec_pt_finish(&r->pt);
}

static void begin(struct run *r, const struct flow_case *c, bool tracelets)
{
	memset(r, 0, sizeof(*r));
	r->c = c;
	r->code = dec_code_new();
	r->tracelets = tracelets ? dec_tracelets_new(1 << 16, true) : NULL;
	if (!r->code || (tracelets && !r->tracelets))
		abort();
}

static void finish(struct run *r)
{
	dec_tracelets_free(r->tracelets);
	dec_code_free(r->code);
}

char *flow_case_run(const struct flow_case *c, size_t piece)
{
	static struct run r;

	begin(&r, c, false);
	r.text = malloc(TEXT_MAX);
	if (!r.text)
		abort();
	r.text[0] = 0;
	decode(&r, piece, true);
	finish(&r);
	return r.text;
}

uint64_t flow_case_count(const struct flow_case *c, bool tracelets, size_t piece, bool again)
{
	static struct run r;
	uint64_t insns;

	begin(&r, c, tracelets);
	decode(&r, piece, false);
	insns = r.flow.insns;
	if (again) {
		decode(&r, piece, false);
		if (r.flow.insns != insns)
			insns = UINT64_MAX;
	}
	finish(&r);
	return insns;
}

uint64_t flow_case_insns(const struct flow_case *c)
{
	const char *word = c->flow;
	uint64_t n = 0;

	while (*word) {
		size_t digits = strspn(word, "0123456789abcdef"), len = strcspn(word, " ");

		/* Count the word if it is an address, with or without a time. */
		n += digits && (digits == len || word[digits] == '/');
		word += len + (word[len] == ' ');
	}
	return n;
}

bool flow_case_changes(const struct flow_case *c)
{
	unsigned int i;

	for (i = 0; i < c->ncode; i++) {
		if (c->code[i].at)
			return true;
	}
	return false;
}
