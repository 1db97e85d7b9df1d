// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Streams of which only a part is in memory: those of a piece, and those that are read lazily. Such a
 * stream is a map, and pages of omitted bytes take no memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/reader_state.h"

#define MAP_LEAST ((size_t)1 << 20)
#define PAGE	  ((uint64_t)4096)

/* The bytes that the decoder reads at the begin of a session, to find a PSB. */
#define SESSION_BYTES 16u

bool trace_reader_map_stream(struct trace_reader_vcpu *v, uint64_t bytes)
{
	size_t room = v->stream.room ? v->stream.room : MAP_LEAST;
	void *at;

	if (bytes <= v->stream.room)
		return true;
	if (bytes > SIZE_MAX / 4)
		return false;
	while (room < bytes)
		room *= 2;
	if (v->stream.at)
		at = mremap(v->stream.at, v->stream.room, room, MREMAP_MAYMOVE);
	else
		at = mmap(NULL, room, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return false;
	/* A byte would take a huge page. If the kernel has none, this fails. */
	(void)madvise(at, room, MADV_NOHUGEPAGE);
	v->stream.at = at;
	v->stream.room = room;
	return true;
}

void trace_reader_free_stream(const struct trace_reader *r, struct trace_reader_vcpu *v)
{
	if (!r->sparse)
		free(v->stream.at);
	else if (v->stream.at)
		munmap(v->stream.at, v->stream.room);
	v->stream.at = NULL;
}

static bool has_streams(const struct trace_reader *r)
{
	unsigned int i;

	for (i = 0; i < r->info->vcpus; i++)
		if (r->vcpu[i].stream.n || r->vcpu[i].periods.n)
			return true;
	return false;
}

const char *trace_reader_take_piece(struct trace_reader *r, unsigned int vcpu, const void *payload,
				    size_t len)
{
	struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	const struct trace_piece *piece = payload;
	uint64_t whole;

	if (len != sizeof(*piece))
		return "a block's length is wrong";
	if (r->piece)
		return "a PIECE block is not the only one";
	whole = piece->bytes;
	if (piece->first > piece->last || whole > TRACE_PIECE_BYTES_MAX ||
	    !trace_reader_rebase(v, &whole))
		return "a PIECE block is not as it must be";
	if (has_streams(r))
		return "a PIECE block is behind a stream";
	r->is_piece = !(r->how & TRACE_READER_PIECE);
	if (r->is_piece)
		r->blocks.error = -EINVAL;
	r->sparse = true;
	if (!r->is_piece && !trace_reader_map_stream(v, whole))
		return trace_reader_no_memory;
	v->whole = whole;
	r->piece = piece;
	r->piece_vcpu = vcpu;
	return NULL;
}

const struct trace_piece *trace_reader_piece(const struct trace_reader *r, unsigned int *vcpu)
{
	*vcpu = r->piece_vcpu;
	return r->piece;
}

int trace_reader_load_chunk(struct trace_reader *r, struct trace_reader_vcpu *v,
			    struct trace_reader_chunk *c)
{
	struct trace_block head;
	void *payload;
	const char *why = trace_blocks_load(&r->blocks, c->file, &head, &payload);

	if (r->blocks.error)
		return r->blocks.error;
	if (why)
		return -EBADMSG;
	/* The file may have changed since its blocks were listed. */
	if (head.type == TRACE_BLOCK_TRACE && head.len == c->len + sizeof(struct trace_chunk)) {
		memcpy(v->stream.at + c->offset, (uint8_t *)payload + sizeof(struct trace_chunk),
		       c->len);
		c->loaded = true;
	}
	trace_arena_undo(&r->blocks.arena, payload, (head.len + 7) & ~(size_t)7);
	return c->loaded ? 0 : -EBADMSG;
}

int trace_reader_load(struct trace_reader *r, unsigned int vcpu, uint64_t from, uint64_t to)
{
	struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	size_t i = trace_vec_before(v->chunks.at, v->chunks.n, e, e->offset + e->len <= from);
	uint64_t at = from;
	int err = 0;

	if (to > v->stream.n)
		return -ENODATA;
	for (; !err && at < to && i < v->chunks.n && v->chunks.at[i].offset <= at; i++) {
		if (!v->chunks.at[i].loaded)
			err = trace_reader_load_chunk(r, v, &v->chunks.at[i]);
		at = v->chunks.at[i].offset + v->chunks.at[i].len;
	}
	return err || at >= to ? err : -ENODATA;
}

int trace_reader_load_sessions(struct trace_reader *r, unsigned int vcpu)
{
	const struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	size_t i;
	int err = 0;

	for (i = 0; !err && i <= v->periods.n; i++) {
		const uint64_t at = i ? v->periods.at[i - 1].start->offset : 0;
		const uint64_t left = v->stream.n - at;

		if (left)
			err = trace_reader_load(r, vcpu, at,
						at + (left < SESSION_BYTES ? left : SESSION_BYTES));
		/* Bytes that are missing because of damage are 0 for any reader. */
		if (err == -ENODATA)
			err = 0;
	}
	return err;
}

void trace_reader_drop_pages(const struct trace_reader_vcpu *v, uint64_t from, uint64_t to)
{
	const uint64_t first = (from + PAGE - 1) & ~(PAGE - 1), end = to & ~(PAGE - 1);

	/* The stream is a map, so it begins with a page. */
	if (first < end)
		(void)madvise(v->stream.at + first, end - first, MADV_DONTNEED);
}

int trace_reader_unload(struct trace_reader *r, unsigned int vcpu, uint64_t from, uint64_t to)
{
	struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	const size_t first = trace_vec_before(v->chunks.at, v->chunks.n, e, e->offset < from);
	const struct trace_reader_chunk *last;
	size_t i;

	for (i = first; i < v->chunks.n && v->chunks.at[i].file &&
			v->chunks.at[i].offset + v->chunks.at[i].len <= to;
	     i++)
		v->chunks.at[i].loaded = false;
	if (i == first)
		return 0;
	last = &v->chunks.at[i - 1];
	trace_reader_drop_pages(v, v->chunks.at[first].offset, last->offset + last->len);
	return trace_reader_load_sessions(r, vcpu);
}

int trace_reader_end_streams(struct trace_reader *r)
{
	unsigned int i;
	int err = 0;

	if (r->piece && !r->is_piece)
		r->vcpu[r->piece_vcpu].stream.n = r->vcpu[r->piece_vcpu].whole;
	for (i = 0; !err && r->how & TRACE_READER_SKIPS && r->info && i < r->info->vcpus; i++)
		err = trace_reader_load_sessions(r, i);
	return err;
}
