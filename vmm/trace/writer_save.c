// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Saves a writer in the middle of a file as plain data, and loads it. The resumed file is the same
 * as that of an uninterrupted writer, block for block.
 */
#include "trace/writer_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAVED_MAGIC 0x35575456u /* "VTW5" */

struct saved_writer {
	uint32_t magic;
	uint32_t vcpus;
	uint64_t file_bytes;
	uint64_t nstretches, stretch_bytes;
	uint64_t rtit;
	uint64_t contents;
};

/*
 * The buffered bytes padded to 8, the records, the padded words, and the index follow each struct.
 * The stretches follow the last one.
 */
struct saved_stream {
	uint64_t bytes;
	struct trace_chunk chunk;
	uint32_t gathered, nrecords;
	uint32_t marks, run;
	uint64_t nwords;
	uint64_t nindex, nresolved;
	uint64_t index_gap; /* bit 0: passed_over */
	struct trace_chunk_mark mark[PSB_BYTES];
	struct trace_psb_point state;
	uint64_t session_offset, base, switched, plus_at;
	uint32_t plus_have;
	uint32_t bits; /* enum saved_bits */
	uint8_t plus[PLUS_BYTES];
};

enum saved_bits { SAVED_PLUS = 1 << 0, SAVED_PLACED = 1 << 1, SAVED_BITS = 3 };

VPT_STATIC_ASSERT(sizeof(struct saved_stream) ==
			  72 + 16 * PSB_BYTES + sizeof(struct trace_psb_point) + 40 + PLUS_BYTES,
		  "without padding");

static size_t stream_room(const struct trace_stream *s)
{
	return sizeof(struct saved_stream) + trace_pad8(s->gathered) +
	       s->nrecords * sizeof(*s->records) + trace_pad8(s->nwords * sizeof(*s->words)) +
	       s->nindex * sizeof(*s->index);
}

static uint8_t *put(uint8_t *to, const void *from, size_t len)
{
	if (len)
		memcpy(to, from, len);
	return to + len;
}

static uint8_t *put_padded(uint8_t *to, const void *from, size_t len)
{
	static const uint8_t zeros[8];

	return put(put(to, from, len), zeros, -len & 7);
}

static uint8_t *save_stream(uint8_t *to, const struct trace_stream *s)
{
	struct saved_stream saved = {
		.bytes = s->bytes,
		.gathered = (uint32_t)s->gathered,
		.nrecords = (uint32_t)s->nrecords,
		.marks = s->marks,
		.run = s->run,
		.nwords = s->nwords,
		.nindex = s->nindex,
		.nresolved = s->nresolved,
		.index_gap = s->index_gap | s->passed_over,
		.state = s->state,
		.session_offset = s->session_offset,
		.base = s->base,
		.switched = s->switched,
		.bits = s->placed ? SAVED_PLACED : 0,
	};

	/* The head of an empty buffer does not matter. */
	if (s->gathered)
		saved.chunk = s->chunk;
	memcpy(saved.mark, s->mark, sizeof(saved.mark));
	if (s->plus.on) {
		saved.bits |= SAVED_PLUS;
		saved.plus_at = s->plus.at;
		saved.plus_have = s->plus.have;
		memcpy(saved.plus, s->plus.bytes, s->plus.have);
	}
	to = put(to, &saved, sizeof(saved));
	to = put_padded(to, s->buf, s->gathered);
	to = put(to, s->records, s->nrecords * sizeof(*s->records));
	to = put_padded(to, s->words, s->nwords * sizeof(*s->words));
	return put(to, s->index, s->nindex * sizeof(*s->index));
}

size_t trace_writer_save(const struct trace_writer *w, void *to, size_t room)
{
	const struct saved_writer saved = {SAVED_MAGIC,	     w->vcpus, w->file_bytes, w->nstretches,
					   w->stretch_bytes, w->rtit,  w->contents};
	size_t bytes = sizeof(saved) + w->stretch_bytes;
	unsigned int i;
	uint8_t *at;

	for (i = 0; i < w->vcpus; i++)
		bytes += stream_room(&w->stream[i]);
	if (bytes > room)
		return bytes;
	at = put(to, &saved, sizeof(saved));
	for (i = 0; i < w->vcpus; i++)
		at = save_stream(at, &w->stream[i]);
	put(at, w->stretches, w->stretch_bytes);
	return bytes;
}

/* Take `len` bytes from the rest of the input. */
static bool take(const uint8_t **at, size_t *left, void *to, uint64_t len)
{
	if (len > *left)
		return false;
	if (len)
		memcpy(to, *at, len);
	*at += len;
	*left -= len;
	return true;
}

static bool take_padded(const uint8_t **at, size_t *left, void *to, uint64_t len)
{
	uint8_t zeros[8];

	return take(at, left, to, len) && take(at, left, zeros, -len & 7);
}

static bool counts_ok(const struct saved_stream *s, size_t left)
{
	/* A sequence of PSB_BYTES has its entry in the index, which is then moved. */
	return s->gathered <= s->bytes &&
	       s->gathered < trace_writer_gather(s->bytes - s->gathered - s->base) &&
	       s->nrecords < ORACLE_PER_BLOCK && s->nwords <= RUN_PER_BLOCK &&
	       (!s->nrecords || !s->nwords) && s->run <= s->bytes &&
	       s->nindex <= left / sizeof(struct trace_psb_point) && s->nindex <= INDEX_MOST &&
	       s->nresolved <= s->nindex && (s->run < PSB_BYTES || s->nindex);
}

static bool head_ok(const struct saved_stream *s)
{
	if (s->gathered)
		return s->chunk.offset == s->bytes - s->gathered;
	return !s->chunk.offset && !s->chunk.gpa;
}

static bool point_ok(const struct trace_psb_point *point)
{
	return !(point->flags & ~(uint32_t)TRACE_POINT_FLAGS) && !point->reserved;
}

/* The collected bytes of a PSB+ are those before the end of the stream. */
static bool plus_ok(const struct saved_stream *s)
{
	if (s->bits & ~(uint32_t)SAVED_BITS || s->base > s->bytes)
		return false;
	if (!(s->bits & SAVED_PLUS))
		return !s->plus_at && !s->plus_have;
	return s->nindex && s->plus_have < PLUS_BYTES && s->plus_at <= s->bytes &&
	       s->plus_have == s->bytes - s->plus_at;
}

static bool index_ok(const struct trace_stream *s)
{
	size_t i;

	for (i = 0; i < s->nindex; i++)
		if (!point_ok(&s->index[i]))
			return false;
	return true;
}

static int load_stream(struct trace_stream *s, const uint8_t **at, size_t *left)
{
	struct saved_stream saved;

	if (!take(at, left, &saved, sizeof(saved)) || !counts_ok(&saved, *left) ||
	    !head_ok(&saved) || !plus_ok(&saved) || !point_ok(&saved.state))
		return -EINVAL;
	s->index = malloc(saved.nindex * sizeof(*s->index) + 1);
	if (saved.nwords)
		s->words = malloc(GATHER_ORACLE);
	if (!s->index || (saved.nwords && !s->words))
		return -ENOMEM;
	s->bytes = saved.bytes;
	s->chunk = saved.chunk;
	s->gathered = saved.gathered;
	s->nrecords = saved.nrecords;
	s->nwords = saved.nwords;
	s->marks = saved.marks;
	s->run = saved.run;
	s->nindex = s->index_room = saved.nindex;
	s->nresolved = saved.nresolved;
	s->index_gap = saved.index_gap & ~1ull;
	s->passed_over = saved.index_gap & 1;
	memcpy(s->mark, saved.mark, sizeof(s->mark));
	s->state = saved.state;
	s->session_offset = saved.session_offset;
	s->base = saved.base;
	s->switched = saved.switched;
	s->placed = saved.bits & SAVED_PLACED;
	s->plus.on = saved.bits & SAVED_PLUS;
	s->plus.at = saved.plus_at;
	s->plus.have = saved.plus_have;
	memcpy(s->plus.bytes, saved.plus, saved.plus_have);
	if (!take_padded(at, left, s->buf, s->gathered) ||
	    !take(at, left, s->records, s->nrecords * sizeof(*s->records)) ||
	    !take_padded(at, left, s->words, s->nwords * sizeof(*s->words)) ||
	    !take(at, left, s->index, s->nindex * sizeof(*s->index)))
		return -EINVAL;
	return index_ok(s) ? 0 : -EINVAL;
}

static int load_stretches(struct trace_writer *w, const struct saved_writer *saved,
			  const uint8_t **at, size_t *left)
{
	if (saved->stretch_bytes > GATHER_STRETCH || saved->stretch_bytes % 8)
		return -EINVAL;
	w->nstretches = saved->nstretches;
	w->stretch_bytes = saved->stretch_bytes;
	if (!w->stretch_bytes)
		return 0;
	w->stretches = malloc(GATHER_STRETCH);
	if (!w->stretches)
		return -ENOMEM;
	return take(at, left, w->stretches, w->stretch_bytes) ? 0 : -EINVAL;
}

int trace_writer_resume(int fd, const void *state, size_t bytes, uint64_t *file_bytes,
			struct trace_writer **writer)
{
	const uint8_t *at = state;
	struct saved_writer saved;
	struct trace_writer *w;
	unsigned int i;
	int err;

	if (!take(&at, &bytes, &saved, sizeof(saved)) || saved.magic != SAVED_MAGIC ||
	    !saved.vcpus || saved.vcpus > TRACE_FILE_MAX_VCPUS || saved.rtit > 1 ||
	    saved.contents >> 62 || saved.vcpus > bytes / sizeof(struct saved_stream))
		return -EINVAL;
	err = trace_writer_new(fd, saved.vcpus, &w);
	if (err)
		return err;
	w->rtit = saved.rtit;
	w->contents = saved.contents;
	for (i = 0; !err && i < w->vcpus; i++)
		err = load_stream(&w->stream[i], &at, &bytes);
	if (!err)
		err = load_stretches(w, &saved, &at, &bytes);
	if (!err && bytes)
		err = -EINVAL;
	if (err) {
		trace_writer_drop(w);
		return err;
	}
	*file_bytes = saved.file_bytes;
	*writer = w;
	return 0;
}

int trace_writer_refill(struct trace_writer *w, const void *bytes, size_t len)
{
	struct iovec iov = {(void *)bytes, len};

	return w->error || !len ? w->error : trace_writer_put(w, &iov, 1);
}

uint64_t trace_writer_file_bytes(const struct trace_writer *w)
{
	return w->file_bytes;
}

int trace_writer_reread(const struct trace_writer *w, int *fd)
{
	struct stat st;
	char path[32];

	if (fstat(w->fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ESPIPE;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", w->fd);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? -errno : 0;
}
