// SPDX-License-Identifier: GPL-2.0-or-later
/* A disk: the image, and over it the pieces that the guest wrote. */
#include "disk/inside.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read from the image without the overlay. */
static int read_image(struct disk *d, uint64_t offset, void *to, size_t bytes)
{
	if (d->format == DISK_QCOW2)
		return disk_qcow2_read(&d->qcow2, &d->file, offset, to, bytes);
	return disk_file_read(&d->file, offset, to, bytes);
}

static enum disk_format detect(struct disk_file *f)
{
	uint32_t magic;

	if (f->bytes < sizeof(magic) || disk_file_read(f, 0, &magic, sizeof(magic)))
		return DISK_RAW;
	return be32toh(magic) == DISK_QCOW2_MAGIC ? DISK_QCOW2 : DISK_RAW;
}

static int open_image(struct disk *d, enum disk_format format, const char **why)
{
	int err = 0;

	d->format = format == DISK_DETECT ? detect(&d->file) : format;
	d->bytes = d->file.bytes;
	if (d->format == DISK_QCOW2 && d->access == DISK_WRITE_THROUGH) {
		*why = "rw is only for raw images, and this one is qcow2";
		return -EINVAL;
	}
	if (d->format == DISK_QCOW2) {
		err = disk_qcow2_open(&d->qcow2, &d->file, why);
		d->bytes = d->qcow2.bytes;
	} else if (d->bytes % DISK_SECTOR) {
		*why = "a raw image whose size is not a multiple of 512 bytes";
		err = -EINVAL;
	}
	return err;
}

int disk_open(struct disk **disk, int fd, const struct disk_options *o, const char **why)
{
	struct disk *d = calloc(1, sizeof(*d));
	int err;

	*disk = NULL;
	if (!d) {
		*why = "no memory";
		return -ENOMEM;
	}
	err = disk_file_open(&d->file, fd, o->access, why);
	if (err) {
		free(d);
		return err;
	}
	d->access = o->access;
	d->overlay_max = (o->overlay_max ? o->overlay_max : DISK_OVERLAY_DEFAULT) / DISK_PIECE;
	err = open_image(d, o->format, why);
	if (!err) {
		*disk = d;
		return 0;
	}
	disk_map_free(&d->file.crc);
	free(d->file.piece);
	free(d);
	return err;
}

void disk_close(struct disk *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < d->overlay.room; i++)
		if (d->overlay.at[i].key)
			free(d->overlay.at[i].value.bytes);
	disk_map_free(&d->overlay);
	disk_qcow2_close(&d->qcow2);
	disk_file_close(&d->file);
	free(d);
}

uint64_t disk_size(const struct disk *d)
{
	return d->bytes;
}

enum disk_access disk_access(const struct disk *d)
{
	return d->access;
}

uint64_t disk_overlay_bytes(const struct disk *d)
{
	return (uint64_t)d->overlay.n * DISK_PIECE;
}

static bool is_inside(const struct disk *d, uint64_t offset, size_t bytes)
{
	return offset <= d->bytes && bytes <= d->bytes - offset;
}

/* Returns how many of the next bytes are in the same piece. */
static size_t in_piece(uint64_t offset, size_t bytes)
{
	const size_t left = DISK_PIECE - (size_t)(offset % DISK_PIECE);

	return bytes < left ? bytes : left;
}

/* Returns how many of the next bytes are in consecutive pieces that the overlay does not have. */
static size_t below(const struct disk *d, uint64_t offset, size_t bytes)
{
	size_t sum = 0;

	while (sum < bytes && !disk_map_find(&d->overlay, (offset + sum) / DISK_PIECE))
		sum += in_piece(offset + sum, bytes - sum);
	return sum;
}

int disk_read(struct disk *d, uint64_t offset, void *to, size_t bytes)
{
	uint8_t *at = to;
	int err = 0;

	if (!is_inside(d, offset, bytes))
		return -EINVAL;
	while (bytes && !err) {
		size_t n = d->overlay.n ? below(d, offset, bytes) : bytes;

		if (n) {
			err = read_image(d, offset, at, n);
		} else {
			n = in_piece(offset, bytes);
			memcpy(at,
			       disk_map_find(&d->overlay, offset / DISK_PIECE)->value.bytes +
				       offset % DISK_PIECE,
			       n);
		}
		at += n;
		offset += n;
		bytes -= n;
	}
	return err;
}

/* Add a piece to the overlay, with the image's bytes unless @whole will be overwritten. */
static int add_piece(struct disk *d, uint64_t piece, bool whole)
{
	const uint64_t left = d->bytes - piece * DISK_PIECE;
	uint8_t *bytes = calloc(1, DISK_PIECE);
	struct disk_map_entry *entry;
	int err = 0;

	if (!bytes)
		return -ENOMEM;
	if (!whole)
		err = read_image(d, piece * DISK_PIECE, bytes,
				 left < DISK_PIECE ? (size_t)left : DISK_PIECE);
	entry = err ? NULL : disk_map_add(&d->overlay, piece);
	if (!entry) {
		free(bytes);
		return err ? err : -ENOMEM;
	}
	entry->value.bytes = bytes;
	return 0;
}

/* Make sure that the overlay has room for all pieces of a range. */
static int check_room(const struct disk *d, uint64_t offset, size_t bytes)
{
	uint64_t piece, more = 0;

	for (piece = offset / DISK_PIECE; piece <= (offset + bytes - 1) / DISK_PIECE; piece++)
		more += !disk_map_find(&d->overlay, piece);
	return d->overlay.n + more > d->overlay_max ? -ENOSPC : 0;
}

static int write_overlay(struct disk *d, uint64_t offset, const uint8_t *from, size_t bytes)
{
	int err = bytes ? check_room(d, offset, bytes) : 0;

	while (bytes && !err) {
		const uint64_t piece = offset / DISK_PIECE;
		const size_t n = in_piece(offset, bytes);

		if (!disk_map_find(&d->overlay, piece))
			err = add_piece(d, piece, n == DISK_PIECE);
		if (err)
			break;
		memcpy(disk_map_find(&d->overlay, piece)->value.bytes + offset % DISK_PIECE, from,
		       n);
		from += n;
		offset += n;
		bytes -= n;
	}
	return err;
}

int disk_write(struct disk *d, uint64_t offset, const void *from, size_t bytes)
{
	if (!is_inside(d, offset, bytes))
		return -EINVAL;
	switch (d->access) {
	case DISK_READ_ONLY:
		return -EROFS;
	case DISK_WRITE_THROUGH:
		return disk_file_write(&d->file, offset, from, bytes);
	case DISK_OVERLAY:
		break;
	}
	return write_overlay(d, offset, from, bytes);
}

int disk_flush(struct disk *d)
{
	return d->access == DISK_WRITE_THROUGH && fdatasync(d->file.fd) ? -EIO : 0;
}
