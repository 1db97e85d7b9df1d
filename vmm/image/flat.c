// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads files that makedumpfile -F flattened, as QEMU's dump-guest-memory -z writes them. A header
 * of 4096 bytes is followed by pieces. Each piece follows its offset and its length, both
 * big-endian.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "image/inside.h"
#include "trace/vec.h"

#define HEADER_BYTES 4096u
#define PIECES_MAX   (1u << 22)

struct piece_header {
	uint64_t offset, bytes; /* big-endian, all ones at the end */
};

/* The last of several pieces with one offset is valid, because headers are rewritten. */
static int by_offset(const void *a, const void *b)
{
	const struct image_piece *x = a, *y = b;
	int d = (x->offset > y->offset) - (x->offset < y->offset);

	return d ? d : (x->at > y->at) - (x->at < y->at);
}

/* Read one piece's header at *at. Returns 1, 0 at the end, or -errno. */
static int next_piece(const struct image_image *image, uint64_t *at, struct image_piece *piece,
		      const struct image_why *why)
{
	struct image_image plain = *image;
	struct piece_header h;

	plain.pieces.n = 0;
	if (image_file_read(&plain, *at, &h, sizeof(h)))
		return image_refuse(why, -EINVAL, "a flattened dump that is cut short");
	if (h.offset == UINT64_MAX && h.bytes == UINT64_MAX)
		return 0;
	*piece = (struct image_piece){be64toh(h.offset), be64toh(h.bytes), *at + sizeof(h)};
	if (!piece->bytes || piece->bytes > image->file_bytes ||
	    piece->at > image->file_bytes - piece->bytes ||
	    piece->offset > UINT64_MAX - piece->bytes)
		return image_refuse(why, -EINVAL, "a flattened dump with a piece that is wrong");
	*at = piece->at + piece->bytes;
	return 1;
}

/* Drop pieces that were rewritten. Returns 0, or -EINVAL if others overlap. */
static int resolve(struct image_image *image, const struct image_why *why)
{
	struct image_piece *all = image->pieces.at;
	size_t i, n = 0;

	qsort(all, image->pieces.n, sizeof(*all), by_offset);
	for (i = 0; i < image->pieces.n; i++) {
		struct image_piece p = all[i], *last = n ? &all[n - 1] : NULL;

		if (last && last->offset == p.offset && last->bytes <= p.bytes)
			n--;
		else if (last && last->offset + last->bytes > p.offset)
			return image_refuse(why, -EINVAL, "a flattened dump whose pieces overlap");
		all[n++] = p;
	}
	image->pieces.n = n;
	return 0;
}

int image_flat_open(struct image_image *image, const struct image_why *why)
{
	uint64_t at = HEADER_BYTES;
	struct image_piece piece;
	int some;

	while ((some = next_piece(image, &at, &piece, why)) > 0) {
		if (image->pieces.n == PIECES_MAX)
			return image_refuse(why, -EINVAL, "a flattened dump of too many pieces");
		if (!trace_vec_room(&image->pieces))
			return image_refuse(why, -ENOMEM, "%s", strerror(ENOMEM));
		image->pieces.at[image->pieces.n++] = piece;
	}
	if (some < 0)
		return some;
	if (!image->pieces.n)
		return image_refuse(why, -EINVAL, "a flattened dump without a piece");
	return resolve(image, why);
}

/* Return the last piece that begins at or before @offset, or NULL. */
static const struct image_piece *find_piece(const struct image_image *image, uint64_t offset)
{
	size_t n = trace_vec_before(image->pieces.at, image->pieces.n, e, e->offset <= offset);
	const struct image_piece *p = n ? &image->pieces.at[n - 1] : NULL;

	return p && offset - p->offset < p->bytes ? p : NULL;
}

int image_flat_read(const struct image_image *image, uint64_t offset, void *to, size_t len)
{
	struct image_image plain = *image;
	uint8_t *p = to;

	plain.pieces.n = 0;
	while (len) {
		const struct image_piece *piece = find_piece(image, offset);
		uint64_t in, n = len;
		int err;

		if (!piece)
			return -ENODATA;
		in = offset - piece->offset;
		if (n > piece->bytes - in)
			n = piece->bytes - in;
		err = image_file_read(&plain, piece->at + in, p, (size_t)n);
		if (err)
			return err;
		p += n;
		offset += n;
		len -= (size_t)n;
	}
	return 0;
}
