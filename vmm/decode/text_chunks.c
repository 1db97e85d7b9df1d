// SPDX-License-Identifier: GPL-2.0-or-later
/* Compress a text while it is written, and read it back in pieces. */
#include "decode/text_chunks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"
#include "trace/zstd.h"

/* Lines of a listing resemble each other. Higher levels take longer than the listing itself. */
#define LEVEL 1

struct decode_text_writer {
	struct decode_text *to;
	FILE *out;
	int err;
	size_t n;
	char raw[DECODE_TEXT_CHUNK];
};

/* Make room for @len more bytes. */
static bool bytes_room(struct decode_text *t, size_t len)
{
	size_t room = t->bytes.room ? t->bytes.room : 4096;
	uint8_t *at;

	if (len > SIZE_MAX / 4 - t->bytes.n)
		return false;
	while (room < t->bytes.n + len)
		room *= 2;
	if (room == t->bytes.room)
		return true;
	at = realloc(t->bytes.at, room);
	if (!at)
		return false;
	t->bytes.at = at;
	t->bytes.room = room;
	return true;
}

/* Append the text of the writer as a chunk. */
static int flush(struct decode_text_writer *w)
{
	struct decode_text *t = w->to;
	const size_t bound = trace_zstd_bound(w->n);
	size_t packed;

	if (!w->n || w->err)
		return w->err;
	if (!trace_vec_room(&t->chunks) || !bytes_room(t, bound))
		return -ENOMEM;
	packed = trace_zstd_pack(t->bytes.at + t->bytes.n, bound, w->raw, w->n, LEVEL);
	if (!packed)
		return -ENOMEM;
	t->chunks.at[t->chunks.n++] =
		(struct decode_text_chunk){.raw = (uint32_t)w->n, .packed = (uint32_t)packed};
	t->bytes.n += packed;
	w->n = 0;
	return 0;
}

/* Take what stdio writes, for fopencookie(). */
static ssize_t take_text(void *context, const char *text, size_t len)
{
	struct decode_text_writer *w = context;
	size_t done = 0, some;

	while (done < len && !w->err) {
		some = sizeof(w->raw) - w->n;
		if (some > len - done)
			some = len - done;
		memcpy(w->raw + w->n, text + done, some);
		w->n += some;
		done += some;
		if (w->n == sizeof(w->raw))
			w->err = flush(w);
	}
	return w->err ? -1 : (ssize_t)len;
}

struct decode_text_writer *decode_text_begin(struct decode_text *to, FILE **out)
{
	struct decode_text_writer *w = malloc(sizeof(*w));

	if (!w)
		return NULL;
	w->to = to;
	w->err = 0;
	w->n = 0;
	w->out = fopencookie(w, "w", (cookie_io_functions_t){.write = take_text});
	if (!w->out) {
		free(w);
		return NULL;
	}
	setvbuf(w->out, NULL, _IOFBF, 65536);
	*out = w->out;
	return w;
}

int decode_text_end(struct decode_text_writer *w)
{
	int err;

	if (!w)
		return 0;
	err = fclose(w->out) ? -ENOMEM : flush(w);
	free(w);
	return err;
}

bool decode_text_join(struct decode_text *to, struct decode_text *from)
{
	const bool ok = !decode_text_take(to, from->chunks.at, from->chunks.n, from->bytes.at,
					  from->bytes.n);

	decode_text_free(from);
	return ok;
}

int decode_text_take(struct decode_text *to, const struct decode_text_chunk *chunks, size_t n,
		     const void *bytes, size_t len)
{
	size_t left = len, i;

	for (i = 0; i < n; i++) {
		if (!chunks[i].raw || chunks[i].raw > DECODE_TEXT_CHUNK || chunks[i].packed > left)
			return -EINVAL;
		left -= chunks[i].packed;
		if (!trace_vec_room(&to->chunks))
			return -ENOMEM;
		to->chunks.at[to->chunks.n++] = chunks[i];
	}
	if (left)
		return -EINVAL;
	if (!len)
		return 0;
	if (!bytes_room(to, len))
		return -ENOMEM;
	memcpy(to->bytes.at + to->bytes.n, bytes, len);
	to->bytes.n += len;
	return 0;
}

void decode_text_free(struct decode_text *t)
{
	free(t->chunks.at);
	free(t->bytes.at);
	memset(t, 0, sizeof(*t));
}

int decode_text_read(const struct decode_text *t,
		     int (*take)(void *context, const char *text, size_t len), void *context)
{
	const uint8_t *at = t->bytes.at;
	char *raw = malloc(DECODE_TEXT_CHUNK);
	int err = raw ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !err && i < t->chunks.n; i++) {
		const struct decode_text_chunk *c = &t->chunks.at[i];

		err = trace_zstd_unpack(raw, c->raw, at, c->packed);
		if (!err)
			err = take(context, raw, c->raw);
		at += c->packed;
	}
	free(raw);
	return err;
}
