// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a piece from what a reader has. All code becomes PAGE and MAP blocks, so that equal contents
 * are in the file once. Sessions precede the stream, whose bytes between its parts are omitted.
 */
#include "trace/piece.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/writer_state.h"

#define TRACE_BYTES   ((size_t)1 << 20)
#define SESSION_BYTES 16u
#define BATCH	      1024u

struct piece {
	struct trace_reader *r;
	const struct trace_piece_want *want;
	struct trace_writer *w;
	uint64_t base; /* the place of the reader's stream in the whole stream */
	const uint8_t *stream;
	uint64_t len, done; /* the stream is written or omitted up to @done */
};

static int put(struct piece *p, enum trace_block_type type, const void *head, size_t head_len,
	       const void *body, size_t body_len)
{
	return trace_writer_block(p->w, type, p->want->vcpu, head, head_len, body, body_len);
}

static int put_one(struct piece *p, enum trace_block_type type, const void *payload, size_t len)
{
	return put(p, type, payload, len, NULL, 0);
}

static int put_head(struct piece *p)
{
	const struct trace_cut *cut = trace_reader_cut(p->r, p->want->vcpu);
	const struct trace_origin *origin = trace_reader_origin(p->r);
	struct trace_piece piece = p->want->piece;
	const struct trace_elf_file *elf;
	size_t n, i;

	piece.bytes = p->base + p->len;
	if (cut)
		put_one(p, TRACE_BLOCK_CUT, cut, sizeof(*cut));
	put_one(p, TRACE_BLOCK_PIECE, &piece, sizeof(piece));
	if (origin)
		put_one(p, TRACE_BLOCK_ORIGIN, origin, sizeof(*origin));
	elf = trace_reader_elf(p->r, &n);
	for (i = 0; p->want->images && i < n; i++)
		put(p, TRACE_BLOCK_ELF, elf[i].image, sizeof(*elf[i].image), elf[i].bytes,
		    elf[i].len);
	return p->w->error;
}

/* Copy the side-band that a decoder uses, with places in the whole stream. */
static int put_side(struct piece *p)
{
	const unsigned int vcpu = p->want->vcpu;
	size_t n, i;
	const struct trace_cr3_switch *cr3 = trace_reader_cr3(p->r, vcpu, &n);

	for (i = 0; i < n; i++)
		put_one(p, TRACE_BLOCK_CR3, &cr3[i], sizeof(cr3[i]));

	const struct trace_switch *switches = trace_reader_switches(p->r, vcpu, &n);

	for (i = 0; i < n; i++) {
		struct trace_switch sw = switches[i];

		sw.offset += p->base;
		put_one(p, TRACE_BLOCK_SWITCH, &sw, sizeof(sw));
	}

	const struct trace_epoch *epochs = trace_reader_epochs(p->r, vcpu, &n);

	/* Other code has counters, and is listed without epochs. */
	if (!(trace_reader_info(p->r)->flags & TRACE_INFO_CODE_BY_OFFSET))
		n = 0;
	for (i = 0; i < n; i++) {
		struct trace_epoch epoch = epochs[i];

		epoch.offset += p->base;
		put_one(p, TRACE_BLOCK_EPOCH, &epoch, sizeof(epoch));
	}

	const struct trace_refined *refined = trace_reader_refined(p->r, vcpu);

	if (refined)
		put_one(p, TRACE_BLOCK_REFINED, refined, sizeof(*refined));

	const struct trace_vmcs *vmcs = trace_reader_vmcs(p->r, vcpu, &n);

	for (i = 0; i < n; i++) {
		struct trace_vmcs v = vmcs[i];

		v.offset += p->base;
		put_one(p, TRACE_BLOCK_VMCS, &v, sizeof(v));
	}
	return p->w->error;
}

static int put_edge(struct piece *p, const struct trace_session *edge)
{
	struct trace_session session;

	if (!edge)
		return p->w->error;
	session = *edge;
	session.offset += p->base;
	return put_one(p, TRACE_BLOCK_SESSION, &session, sizeof(session));
}

struct content {
	const uint8_t *bytes;
	size_t at; /* the index in want->code */
};

static int by_bytes(const void *a, const void *b)
{
	const struct content *x = a, *y = b;

	return x->bytes == y->bytes ? 0 : memcmp(x->bytes, y->bytes, TRACE_CODE_BYTES);
}

/* Write each content once. ids[i] receives that of want->code[i]. */
static int put_pages(struct piece *p, const struct trace_code *code, uint64_t *ids)
{
	const size_t n = p->want->ncode;
	struct content *all = calloc(n + 1, sizeof(*all));
	struct trace_page_content page = {0};
	size_t i;

	if (!all)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		all[i] = (struct content){code[p->want->code[i]].bytes, i};
	qsort(all, n, sizeof(*all), by_bytes);
	for (i = 0; i < n; i++) {
		if (!i || by_bytes(&all[i - 1], &all[i])) {
			page.id++;
			put(p, TRACE_BLOCK_PAGE, &page, sizeof(page), all[i].bytes,
			    TRACE_CODE_BYTES);
		}
		ids[all[i].at] = page.id;
	}
	free(all);
	return p->w->error;
}

static int put_maps(struct piece *p, const struct trace_code *code, const uint64_t *ids)
{
	struct trace_page_map maps[BATCH];
	size_t n = 0, i;

	for (i = 0; i < p->want->ncode; i++) {
		maps[n++] = (struct trace_page_map){*code[p->want->code[i]].page, ids[i]};
		if (n < BATCH && i + 1 < p->want->ncode)
			continue;
		put_one(p, TRACE_BLOCK_MAP, maps, n * sizeof(*maps));
		n = 0;
	}
	return p->w->error;
}

static int put_code(struct piece *p)
{
	size_t n;
	const struct trace_code *code = trace_reader_code(p->r, p->want->vcpu, &n);
	uint64_t *ids = calloc(p->want->ncode + 1, sizeof(*ids));
	int err = ids ? put_pages(p, code, ids) : -ENOMEM;

	if (!err)
		err = put_maps(p, code, ids);
	free(ids);
	return err;
}

/* Write a part of the stream that is not written yet. */
static void put_bytes(struct piece *p, uint64_t from, uint64_t to)
{
	struct trace_chunk chunk = {.gpa = UINT64_MAX};
	uint64_t n;

	if (to > p->len)
		to = p->len;
	if (from < p->done)
		from = p->done;
	for (; from < to; from += n) {
		n = to - from < TRACE_BYTES ? to - from : TRACE_BYTES;
		chunk.offset = p->base + from;
		put(p, TRACE_BLOCK_TRACE, &chunk, sizeof(chunk), p->stream + from, (size_t)n);
		p->done = from + n;
	}
}

/* Write the part, and the first bytes of sessions, which a decoder reads to find a PSB. */
static int put_stream(struct piece *p)
{
	const struct trace_piece_want *want = p->want;
	size_t n, i;
	const struct trace_period *periods = trace_reader_sessions(p->r, want->vcpu, &n);

	for (i = 0; i < n; i++) {
		put_edge(p, periods[i].start);
		put_edge(p, periods[i].end);
	}
	put_bytes(p, 0, SESSION_BYTES);
	for (i = 0; i < n && periods[i].start->offset < want->from; i++)
		put_bytes(p, periods[i].start->offset, periods[i].start->offset + SESSION_BYTES);
	put_bytes(p, want->from, want->to);
	for (; i < n; i++)
		put_bytes(p, periods[i].start->offset, periods[i].start->offset + SESSION_BYTES);
	return p->w->error;
}

static int put_all(struct piece *p)
{
	int err = put_head(p);

	if (!err)
		err = put_side(p);
	if (!err)
		err = put_code(p);
	return err ? err : put_stream(p);
}

int trace_piece_write(struct trace_reader *r, const struct trace_piece_want *want, int fd)
{
	const struct trace_cut *cut = trace_reader_cut(r, want->vcpu);
	struct piece p = {.r = r, .want = want, .base = cut ? cut->offset : 0};
	size_t len;
	int err = trace_writer_start(fd, trace_reader_info(r), &p.w);

	if (err)
		return err;
	p.stream = trace_reader_stream(r, want->vcpu, &len);
	p.len = len;
	err = put_all(&p);
	if (!err)
		return trace_writer_close(p.w, 0);
	trace_writer_drop(p.w);
	return err;
}
