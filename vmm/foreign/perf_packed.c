// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads compressed records. Each holds a part of a zstd stream that contains records. A record may
 * begin in one part and end in the next. Each file of a directory has its own stream.
 */
#include <errno.h>
#include <stdlib.h>

#include "foreign/perf_file.h"
#include "foreign/unpack.h"

/* Room for an incomplete record and the next unpacked piece. */
#define ROOM (3u * 65536u)

/*
 * Bounds the ratio of all unpacked to all compressed bytes, so that a small file cannot take hours.
 */
#define RATIO_MAX 1024u
#define FREE_PASS (16u << 20)

struct perf_unpack {
	struct foreign_unpack *stream;
	size_t source; /* the source of the stream */
	uint64_t packed, unpacked;
	size_t have; /* bytes of an incomplete record */
	uint8_t bytes[ROOM];
};

void perf_packed_free(struct perf_unpack *u)
{
	if (u)
		foreign_unpack_free(u->stream);
	free(u);
}

/* Return the state of the source's stream, or NULL if there is no memory. */
static struct perf_unpack *of_source(struct perf_file *f, size_t source)
{
	struct perf_unpack *u = f->unpack;

	if (u && u->source == source)
		return u;
	perf_packed_free(u);
	f->unpack = u = malloc(sizeof(*u));
	if (!u)
		return NULL;
	u->stream = foreign_unpack_new();
	u->source = source;
	u->packed = u->unpacked = 0;
	u->have = 0;
	if (u->stream)
		return u;
	free(u);
	f->unpack = NULL;
	return NULL;
}

static int damaged(struct perf_file *f)
{
	f->damage = "a compressed record is damaged";
	return 0;
}

int perf_packed(struct perf_file *f, struct perf_record *r)
{
	struct perf_unpack *u = of_source(f, r->source);
	struct span body = r->body;
	uint64_t size = body.left;
	int err = 0;

	if (!u)
		return -ENOMEM;
	if (r->type == REC_COMPRESSED2)
		size = span_u64(&body);
	if (body.bad || size > body.left || r->packed)
		return damaged(f);
	u->packed += size;
	foreign_unpack_give(u->stream, body.at, (size_t)size);
	while (!err && !f->damage) {
		size_t n = foreign_unpack_next(u->stream, u->bytes + u->have, ROOM - u->have), used;

		if (n == SIZE_MAX)
			return damaged(f);
		u->unpacked += n;
		if (u->unpacked > FREE_PASS && u->unpacked / RATIO_MAX > u->packed)
			return damaged(f);
		u->have += n;
		if (!n)
			break;
		err = perf_walk_bytes(f, r->source, u->bytes, u->have, &used);
		u->have -= used;
		memmove(u->bytes, u->bytes + used, u->have);
	}
	return err;
}
