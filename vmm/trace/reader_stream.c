// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The packet streams of a file and their sessions. Where trace is missing, the stream has a hole of
 * zeros whose size follows from the file's offsets. The session before it ends with TRACE_END_LOST,
 * and another begins behind it, so that decoders search for a PSB there.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/reader_state.h"
#include "vpt/msr.h"

bool trace_reader_stream_room(const struct trace_reader *r, struct trace_reader_vcpu *v,
			      uint64_t more)
{
	if (r->sparse)
		return trace_reader_map_stream(v, v->stream.n + more);
	while (v->stream.room - v->stream.n < more) {
		void *at = trace_vec_grow(v->stream.at, &v->stream.room, 1);

		if (!at)
			return false;
		v->stream.at = at;
	}
	return true;
}

static bool is_piece(const struct trace_reader *r, const struct trace_reader_vcpu *v)
{
	return r->piece && v == &r->vcpu[r->piece_vcpu];
}

/* Returns true if a piece may omit the bytes before a part of the stream. */
static bool omits(const struct trace_reader *r, const struct trace_reader_vcpu *v, uint64_t offset,
		  uint64_t len)
{
	return is_piece(r, v) && offset <= v->whole && len <= v->whole - offset;
}

/* Return the session without an end, or NULL. */
static struct trace_period *open_period(struct trace_reader_vcpu *v)
{
	struct trace_period *last = v->periods.n ? &v->periods.at[v->periods.n - 1] : NULL;

	return last && !last->end ? last : NULL;
}

/* Make a session edge that the file lacks, with the registers of the session before. */
static struct trace_session *make_edge(struct trace_reader *r, const struct trace_reader_vcpu *v,
				       enum trace_session_edge edge, uint64_t offset)
{
	struct trace_session *session = trace_arena_alloc(&r->blocks.arena, sizeof(*session));

	if (!session)
		return NULL;
	if (v->periods.n)
		*session = *v->periods.at[v->periods.n - 1].start;
	else
		*session = (struct trace_session){
			.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(BRANCH_EN) | VPT_CTL_MASK(OS) |
			       VPT_CTL_MASK(USER),
		};
	session->edge = edge;
	session->end = edge == TRACE_SESSION_END ? TRACE_END_LOST : TRACE_END_NONE;
	session->offset = offset;
	session->insns = v->behind;
	return session;
}

static bool begin_period(struct trace_reader_vcpu *v, const struct trace_session *session)
{
	if (!session || !trace_vec_room(&v->periods))
		return false;
	v->periods.at[v->periods.n++] = (struct trace_period){session, NULL};
	return true;
}

/* End the open session, or an empty one, at the end of the stream so far. */
static bool end_as_lost(struct trace_reader *r, struct trace_reader_vcpu *v)
{
	const uint64_t at = v->stream.n;
	struct trace_session *end;

	if (!open_period(v) && !begin_period(v, make_edge(r, v, TRACE_SESSION_START, at)))
		return false;
	end = make_edge(r, v, TRACE_SESSION_END, at);
	if (end)
		open_period(v)->end = end;
	return end;
}

/* Continue the stream at `to`. Returns NULL, or the reason why it cannot. */
static const char *make_hole(struct trace_reader *r, struct trace_reader_vcpu *v, uint64_t to)
{
	const uint64_t bytes = to - v->stream.n;

	if (bytes > r->missing)
		return "a place in the stream is wrong";
	if (!trace_reader_stream_room(r, v, bytes) || !end_as_lost(r, v) ||
	    !begin_period(v, make_edge(r, v, TRACE_SESSION_START, to)))
		return trace_reader_no_memory;
	r->missing -= bytes;
	v->missing += bytes;
	memset(v->stream.at + v->stream.n, 0, bytes);
	v->stream.n += bytes;
	return NULL;
}

const char *trace_reader_trace(struct trace_reader *r, struct trace_reader_vcpu *v,
			       const void *payload, size_t len)
{
	const uint8_t *bytes = (const uint8_t *)payload + sizeof(struct trace_chunk);
	struct trace_chunk copy, *chunk = &copy;
	const char *why = NULL;

	if (len <= sizeof(*chunk))
		return "a block's length is wrong";
	memcpy(chunk, payload, sizeof(*chunk));
	len -= sizeof(*chunk);
	if (!trace_reader_rebase(v, &chunk->offset))
		return "a place in the stream is wrong";
	if (chunk->offset < v->stream.n ||
	    (chunk->offset > v->stream.n && !r->missing && !omits(r, v, chunk->offset, len)))
		return "a TRACE block does not continue its stream";
	if (is_piece(r, v) && !omits(r, v, chunk->offset, len))
		return "a TRACE block is behind the end of its stream";
	if (!trace_vec_room(&v->chunks))
		return trace_reader_no_memory;
	if (chunk->offset > v->stream.n && omits(r, v, chunk->offset, len))
		v->stream.n = chunk->offset;
	else if (chunk->offset > v->stream.n)
		why = make_hole(r, v, chunk->offset);
	if (why)
		return why;
	if (!trace_reader_stream_room(r, v, len))
		return trace_reader_no_memory;
	v->chunks.at[v->chunks.n++] = (struct trace_reader_chunk){.offset = chunk->offset,
								  .gpa = chunk->gpa,
								  .len = len,
								  .file = r->blocks.skipped,
								  .loaded = !r->blocks.skipped};
	if (!r->blocks.skipped)
		memcpy(v->stream.at + v->stream.n, bytes, len);
	v->stream.n += len;
	return NULL;
}

/* Returns true if the session was made for a hole that ends at a real edge. */
static bool is_made(const struct trace_reader *r, const struct trace_period *open, uint64_t offset)
{
	return open && r->blocks.damages.n && open->start->offset == offset;
}

static const char *start(struct trace_reader *r, struct trace_reader_vcpu *v,
			 const struct trace_session *session)
{
	struct trace_period *open = open_period(v);

	if (is_made(r, open, session->offset)) {
		open->start = session;
		return NULL;
	}
	if (open && !r->blocks.damages.n)
		return "a session starts inside another";
	if (open && !end_as_lost(r, v))
		return trace_reader_no_memory;
	return begin_period(v, session) ? NULL : trace_reader_no_memory;
}

static const char *end(struct trace_reader *r, struct trace_reader_vcpu *v,
		       const struct trace_session *session)
{
	struct trace_period *open = open_period(v);

	if (session->end == TRACE_END_NONE || (!open && !r->blocks.damages.n))
		return "a session ends that never started";
	if (is_made(r, open, session->offset) && v->periods.n > 1)
		v->periods.n--;
	else if (open)
		open->end = session;
	return NULL;
}

static const char *check_session(const struct trace_reader *r, const struct trace_reader_vcpu *v,
				 const struct trace_session *session)
{
	if (session->offset > v->stream.n && !r->missing && !omits(r, v, session->offset, 0))
		return "a session's place in the stream is wrong";
	if (v->periods.n && session->offset < v->periods.at[v->periods.n - 1].start->offset)
		return "a session's place in the stream is wrong";
	if (session->end > TRACE_END_CHANGED)
		return "how a session ended is not known";
	if (session->edge != TRACE_SESSION_START && session->edge != TRACE_SESSION_END)
		return "a SESSION block is neither start nor end";
	return NULL;
}

/* Return a copy with its place in the file's part. A place before that part is wrong. */
static const struct trace_session *rebased(struct trace_reader *r,
					   const struct trace_reader_vcpu *v,
					   const struct trace_session *session)
{
	struct trace_session *copy = trace_arena_alloc(&r->blocks.arena, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *session;
	if (!trace_reader_rebase(v, &copy->offset))
		copy->edge = UINT32_MAX;
	return copy;
}

const char *trace_reader_session(struct trace_reader *r, struct trace_reader_vcpu *v,
				 const void *payload, size_t len)
{
	const struct trace_session *session = payload;
	const char *why;

	if (len != sizeof(*session))
		return "a block's length is wrong";
	if (v->cut.offset) {
		session = rebased(r, v, session);
		if (!session)
			return trace_reader_no_memory;
	}
	why = check_session(r, v, session);
	if (!why && session->offset > v->stream.n && !omits(r, v, session->offset, 0))
		why = make_hole(r, v, session->offset);
	if (!why)
		why = session->edge == TRACE_SESSION_START ? start(r, v, session)
							   : end(r, v, session);
	if (!why)
		trace_reader_saw(v, session->insns);
	return why;
}

void trace_reader_gap(struct trace_reader *r)
{
	unsigned int i;

	/*
	 * An unknown number of bytes may have been removed from the file. Assume at most as many as
	 * the file still has.
	 */
	if (r->blocks.damages.n == 1)
		r->missing = r->blocks.source.size;
	for (i = 0; r->info && i < r->info->vcpus; i++)
		r->vcpu[i].behind = r->vcpu[i].insns;
}

const struct trace_period *trace_reader_sessions(const struct trace_reader *r, unsigned int vcpu,
						 size_t *count)
{
	*count = r->vcpu[vcpu].periods.n;
	return r->vcpu[vcpu].periods.at;
}

const uint8_t *trace_reader_stream(struct trace_reader *r, unsigned int vcpu, size_t *len)
{
	static const uint8_t none[1];

	*len = r->vcpu[vcpu].stream.n;
	return *len ? r->vcpu[vcpu].stream.at : none;
}

uint64_t trace_reader_stream_bytes(const struct trace_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].stream.n;
}

uint64_t trace_reader_settled(const struct trace_reader *r, unsigned int vcpu)
{
	const struct trace_reader_vcpu *v = &r->vcpu[vcpu];

	return v->chunks.n ? v->chunks.at[v->chunks.n - 1].offset : 0;
}

uint64_t trace_reader_stream_missing(const struct trace_reader *r, unsigned int vcpu)
{
	return r->vcpu[vcpu].missing;
}

uint64_t trace_reader_gpa(const struct trace_reader *r, unsigned int vcpu, uint64_t offset)
{
	const struct trace_reader_vcpu *v = &r->vcpu[vcpu];
	const struct trace_reader_chunk *c;
	size_t lo = 0, hi = v->chunks.n;

	if (offset >= v->stream.n || !hi)
		return UINT64_MAX;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (v->chunks.at[mid].offset <= offset)
			lo = mid;
		else
			hi = mid;
	}
	c = &v->chunks.at[lo];
	if (c->gpa == UINT64_MAX || offset < c->offset || offset - c->offset >= c->len)
		return UINT64_MAX;
	return c->gpa + (offset - c->offset);
}
