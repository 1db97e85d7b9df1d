// SPDX-License-Identifier: GPL-2.0-or-later
/* The identity of an image and the overlay in snapshots. All integers are little-endian. */
#include "disk/inside.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAGIC 0x304b534944545056ull /* "VPTDISK0" */

enum head {
	HEAD_MAGIC,
	HEAD_BYTES,
	HEAD_SIZE,
	HEAD_SECONDS,
	HEAD_NS,
	HEAD_CRCS,
	HEAD_PIECES,
	HEAD_WORDS
};

static int put_word(disk_put *put, void *opaque, uint64_t word)
{
	word = htole64(word);
	return put(opaque, &word, sizeof(word));
}

static int get_word(disk_get *get, void *opaque, uint64_t *word)
{
	int err = get(opaque, word, sizeof(*word));

	*word = le64toh(*word);
	return err;
}

static int save_crcs(const struct disk *d, disk_put *put, void *opaque)
{
	struct disk_map_entry *sorted = disk_map_sort(&d->file.crc);
	int err = sorted ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !err && i < d->file.crc.n; i++) {
		err = put_word(put, opaque, sorted[i].key - 1);
		if (!err)
			err = put_word(put, opaque, sorted[i].value.number);
	}
	free(sorted);
	return err;
}

static int save_pieces(const struct disk *d, disk_put *put, void *opaque)
{
	struct disk_map_entry *sorted = disk_map_sort(&d->overlay);
	int err = sorted ? 0 : -ENOMEM;
	size_t i;

	for (i = 0; !err && i < d->overlay.n; i++) {
		err = put_word(put, opaque, sorted[i].key - 1);
		if (!err)
			err = put(opaque, sorted[i].value.bytes, DISK_PIECE);
	}
	free(sorted);
	return err;
}

int disk_save(const struct disk *d, disk_put *put, void *opaque)
{
	const uint64_t head[HEAD_WORDS] = {
		[HEAD_MAGIC] = MAGIC,
		[HEAD_BYTES] = d->file.bytes,
		[HEAD_SIZE] = d->bytes,
		[HEAD_SECONDS] = (uint64_t)d->file.mtime.tv_sec,
		[HEAD_NS] = (uint64_t)d->file.mtime.tv_nsec,
		[HEAD_CRCS] = d->file.crc.n,
		[HEAD_PIECES] = d->overlay.n,
	};
	int err = 0;
	size_t i;

	if (d->access == DISK_WRITE_THROUGH)
		return -ENOTSUP;
	for (i = 0; !err && i < HEAD_WORDS; i++)
		err = put_word(put, opaque, head[i]);
	if (!err)
		err = save_crcs(d, put, opaque);
	return err ? err : save_pieces(d, put, opaque);
}

/* Returns the reason if the file cannot be the one of the snapshot. */
static const char *check_head(const struct disk *d, const uint64_t *head, int *err)
{
	const uint64_t pieces = (d->bytes - 1) / DISK_PIECE + 1;

	*err = -EINVAL;
	if (head[HEAD_MAGIC] != MAGIC)
		return "the snapshot has no disk here";
	*err = -ESTALE;
	if (head[HEAD_BYTES] > d->file.bytes)
		return "the image is shorter than at the snapshot";
	if (head[HEAD_BYTES] < d->file.bytes)
		return "the image is longer than at the snapshot";
	if (head[HEAD_SIZE] != d->bytes)
		return "the image has another format or another disk than at the snapshot";
	*err = -EINVAL;
	if (head[HEAD_CRCS] > (d->file.bytes - 1) / DISK_CHECKED + 1 || head[HEAD_PIECES] > pieces)
		return "the snapshot's part for the disk is damaged";
	*err = 0;
	return NULL;
}

/* Compare the checksums of all pieces that the run had read, and keep them. */
static int load_crcs(struct disk *d, disk_get *get, void *opaque, uint64_t count)
{
	const uint64_t last = (d->file.bytes - 1) / DISK_CHECKED;
	uint64_t piece, expected, next = 0;
	struct disk_map_entry *entry;
	uint32_t crc;
	int err;

	for (; count; count--) {
		err = get_word(get, opaque, &piece);
		if (!err)
			err = get_word(get, opaque, &expected);
		if (err)
			return err;
		if (piece < next || piece > last)
			return -EINVAL;
		next = piece + 1;
		if (disk_file_check(&d->file, piece, &crc) || crc != expected)
			return -ESTALE;
		entry = disk_map_find(&d->file.crc, piece);
		if (!entry)
			entry = disk_map_add(&d->file.crc, piece);
		if (!entry)
			return -ENOMEM;
		entry->value.number = crc;
	}
	return 0;
}

static int load_pieces(struct disk *d, disk_get *get, void *opaque, uint64_t count)
{
	uint64_t piece, next = 0;
	uint8_t bytes[DISK_PIECE];
	int err;

	for (; count; count--) {
		err = get_word(get, opaque, &piece);
		if (!err)
			err = get(opaque, bytes, DISK_PIECE);
		if (err)
			return err;
		if (piece < next || piece > (d->bytes - 1) / DISK_PIECE)
			return -EINVAL;
		next = piece + 1;
		if (disk_write(d, piece * DISK_PIECE, bytes,
			       d->bytes - piece * DISK_PIECE < DISK_PIECE
				       ? (size_t)(d->bytes - piece * DISK_PIECE)
				       : DISK_PIECE))
			return -ENOSPC;
	}
	return 0;
}

int disk_load(struct disk *d, disk_get *get, void *opaque, const char **why)
{
	uint64_t head[HEAD_WORDS];
	int err = 0;
	size_t i;

	*why = "the snapshot's part for the disk is damaged";
	for (i = 0; !err && i < HEAD_WORDS; i++)
		err = get_word(get, opaque, &head[i]);
	if (err)
		return err;
	*why = check_head(d, head, &err);
	if (err)
		return err;
	if (head[HEAD_SECONDS] != (uint64_t)d->file.mtime.tv_sec ||
	    head[HEAD_NS] != (uint64_t)d->file.mtime.tv_nsec) {
		*why = "the image was modified after the snapshot (its time differs)";
		return -ESTALE;
	}
	err = load_crcs(d, get, opaque, head[HEAD_CRCS]);
	if (!err)
		err = load_pieces(d, get, opaque, head[HEAD_PIECES]);
	if (err == -ESTALE)
		*why = "the image's content differs from that at the snapshot";
	else if (err == -ENOMEM)
		*why = "no memory";
	else if (err == -ENOSPC)
		*why = "the overlay of the snapshot is larger than the overlay may be";
	else if (err)
		*why = "the snapshot's part for the disk is damaged";
	return err;
}
