// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Joins the pieces of a stream. There is a break where the recorder's numbering jumps, or where it
 * reports lost trace.
 *
 * A snapshot is the content of a ring, and may begin with the end of the previous snapshot. The
 * overlap is the longest end of that snapshot with which the new one begins. It is accepted only if
 * it contains a whole PSB+, because a few bytes can be equal by chance.
 */
#include "foreign/joined.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/vec.h"
#include "vpt/packet.h"

#define PSB_BYTES 16u
#define PADDING	  8u

static int add_break(struct foreign_joined *j)
{
	if (!j->len || (j->breaks.n && j->breaks.at[j->breaks.n - 1] == j->len))
		return 0;
	if (!trace_vec_room(&j->breaks))
		return -ENOMEM;
	j->breaks.at[j->breaks.n++] = j->len;
	return 0;
}

/* Knuth, Morris and Pratt: return the length of the longest end of @a with which @b begins. */
static int common_bytes(const uint8_t *a, size_t na, const uint8_t *b, size_t nb, size_t *common)
{
	uint32_t *back;
	size_t i, k = 0;

	*common = 0;
	if (na > nb) {
		a += na - nb;
		na = nb;
	}
	if (!na || nb >= UINT32_MAX)
		return 0;
	back = calloc(nb, sizeof(*back));
	if (!back)
		return -ENOMEM;
	for (i = 1; i < nb; i++) {
		while (k && b[i] != b[k])
			k = back[k - 1];
		k += b[i] == b[k];
		back[i] = (uint32_t)k;
	}
	for (i = k = 0; i < na; i++) {
		while (k && (k == nb || a[i] != b[k]))
			k = back[k - 1];
		k += a[i] == b[k];
	}
	free(back);
	*common = k;
	return 0;
}

/* A snapshot begins at @at. Remove the overlap with the earlier bytes. */
static int drop_overlap(struct foreign_trace *t, struct foreign_joined *j, size_t at)
{
	size_t last = j->breaks.n ? j->breaks.at[j->breaks.n - 1] : 0;
	size_t common, len = j->len - at, psb;
	int err = common_bytes(j->bytes + last, at - last, j->bytes + at, len, &common);

	if (err)
		return err;
	psb = vpt_packet_find_psb(j->bytes + at, common);
	/* Require the PSB and packets behind it. */
	if (psb == common || common - psb < 2 * PSB_BYTES) {
		size_t end = j->len;

		j->len = at;
		err = add_break(j);
		j->len = end;
		return err;
	}
	t->report.overlap += common;
	memmove(j->bytes + at, j->bytes + at + common, len - common);
	j->len -= common;
	return 0;
}

/* Return the next loss within a piece or right behind it. The caller adds the bytes before it. */
static uint64_t next_loss(const struct foreign_trace *t, const struct foreign_stream *s,
			  size_t *next, uint64_t from, uint64_t to)
{
	for (; *next < t->losses.n; ++*next) {
		const struct foreign_loss *loss = &t->losses.at[*next];

		if (loss->cpu != s->cpu || (s->cpu == FOREIGN_ANY_CPU && loss->tid != s->tid) ||
		    loss->offset <= from)
			continue;
		return loss->offset <= to ? loss->offset : UINT64_MAX;
	}
	return UINT64_MAX;
}

static int add_piece(struct foreign_trace *t, const struct foreign_stream *s,
		     const struct foreign_piece *p, struct foreign_joined *j, size_t *next)
{
	uint64_t at = p->offset, end = p->offset + p->len, loss;
	int err = 0;

	if (p->fresh || end < at)
		end = at;
	while (!err && at < end) {
		loss = next_loss(t, s, next, at, end);
		if (loss == UINT64_MAX)
			break;
		err = trace_source_read(&t->sources.at[p->source], p->at + (at - p->offset),
					j->bytes + j->len, (size_t)(loss - at));
		j->len += (size_t)(loss - at);
		at = loss;
		if (!err)
			err = add_break(j);
		t->report.truncated++;
	}
	if (err)
		return err;
	at -= p->offset;
	err = trace_source_read(&t->sources.at[p->source], p->at + at, j->bytes + j->len,
				(size_t)(p->len - at));
	j->len += (size_t)(p->len - at);
	return err;
}

/*
 * perf pads a piece with zeros to a multiple of 8, which its numbering does not count. Returns true
 * if the piece at @offset continues the stream, whose end has the number @expected.
 */
static bool drop_padding(struct foreign_joined *j, uint64_t offset, uint64_t expected)
{
	uint64_t padding = expected - offset, i;

	if (padding >= PADDING || padding > j->len)
		return false;
	for (i = 1; i <= padding; i++) {
		if (j->bytes[j->len - i])
			return false;
	}
	j->len -= (size_t)padding;
	return true;
}

int foreign_join(struct foreign_trace *t, const struct foreign_stream *s, struct foreign_joined *j)
{
	uint64_t total = 0, expected = 0;
	size_t i, next = 0;
	int err = 0;

	memset(j, 0, sizeof(*j));
	/*
	 * The reader of perf.data has checked that the pieces are in the file and do not overlap.
	 */
	for (i = 0; i < s->pieces.n; i++)
		total += s->pieces.at[i].len;
	j->bytes = malloc((size_t)total + 1);
	if (!j->bytes)
		return -ENOMEM;
	for (i = 0; i < s->pieces.n && !err; i++) {
		const struct foreign_piece *p = &s->pieces.at[i];
		size_t at = j->len;

		if (i && !p->fresh && !drop_padding(j, p->offset, expected)) {
			err = add_break(j);
			t->report.truncated++;
			at = j->len;
		}
		if (!err)
			err = add_piece(t, s, p, j, &next);
		if (!err && i && p->fresh)
			err = drop_overlap(t, j, at);
		expected = p->offset + p->len;
	}
	if (err)
		foreign_joined_free(j);
	return err;
}

void foreign_joined_free(struct foreign_joined *j)
{
	free(j->bytes);
	free(j->breaks.at);
	memset(j, 0, sizeof(*j));
}
