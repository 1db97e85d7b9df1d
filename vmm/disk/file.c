// SPDX-License-Identifier: GPL-2.0-or-later
/* The file of an image: reads and writes inside its first size, and checksums of what was read. */
#include "disk/inside.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/crc32c.h"

int disk_file_open(struct disk_file *f, int fd, enum disk_access access, const char **why)
{
	struct stat st;

	if (fstat(fd, &st)) {
		*why = "its size cannot be read";
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		*why = "not a regular file";
		return -EINVAL;
	}
	if (st.st_size <= 0) {
		*why = "an empty file";
		return -EINVAL;
	}
	/* File systems without locks are accepted. */
	if (flock(fd, (access == DISK_WRITE_THROUGH ? LOCK_EX : LOCK_SH) | LOCK_NB) &&
	    errno == EWOULDBLOCK) {
		*why = "another process uses it as a disk";
		return -EBUSY;
	}
	*f = (struct disk_file){
		.fd = fd,
		.checked = access != DISK_WRITE_THROUGH,
		.bytes = (uint64_t)st.st_size,
		.mtime = st.st_mtim,
		.piece = malloc(DISK_CHECKED),
	};
	if (f->piece)
		return 0;
	*why = "no memory";
	return -ENOMEM;
}

void disk_file_close(struct disk_file *f)
{
	disk_map_free(&f->crc);
	free(f->piece);
	close(f->fd);
}

/* Returns 0, or -EIO also at the end of a file that was truncated. */
static int read_all(int fd, uint64_t offset, void *to, size_t bytes)
{
	uint8_t *at = to;

	while (bytes) {
		ssize_t n = pread(fd, at, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		at += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}

static bool is_inside(const struct disk_file *f, uint64_t offset, size_t bytes)
{
	return offset <= f->bytes && bytes <= f->bytes - offset;
}

int disk_file_check(struct disk_file *f, uint64_t piece, uint32_t *crc)
{
	const uint64_t from = piece * DISK_CHECKED, left = f->bytes - from;
	const size_t bytes = left < DISK_CHECKED ? (size_t)left : DISK_CHECKED;
	int err = read_all(f->fd, from, f->piece, bytes);

	if (!err)
		*crc = trace_crc32c(0, f->piece, bytes);
	return err;
}

/* Compute the checksum of a piece before its first read. */
static int note(struct disk_file *f, uint64_t piece)
{
	struct disk_map_entry *entry;
	uint32_t crc;
	int err;

	if (disk_map_find(&f->crc, piece))
		return 0;
	err = disk_file_check(f, piece, &crc);
	if (err)
		return err;
	entry = disk_map_add(&f->crc, piece);
	if (!entry)
		return -ENOMEM;
	entry->value.number = crc;
	return 0;
}

int disk_file_read(struct disk_file *f, uint64_t offset, void *to, size_t bytes)
{
	uint64_t piece;
	int err = 0;

	if (!bytes)
		return 0;
	if (!is_inside(f, offset, bytes))
		return -EIO;
	for (piece = offset / DISK_CHECKED; f->checked && !err; piece++) {
		if (piece > (offset + bytes - 1) / DISK_CHECKED)
			break;
		err = note(f, piece);
	}
	return err ? err : read_all(f->fd, offset, to, bytes);
}

int disk_file_write(struct disk_file *f, uint64_t offset, const void *from, size_t bytes)
{
	const uint8_t *at = from;

	if (!is_inside(f, offset, bytes))
		return -EIO;
	while (bytes) {
		ssize_t n = pwrite(f->fd, at, bytes, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		at += n;
		offset += (uint64_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}
