/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The disk of a guest: an image in a file of the host, and the guest's writes. The file changes
 * only with DISK_WRITE_THROUGH. Otherwise writes stay in memory, in an overlay of 4 KiB pieces.
 *
 * Images are raw, or qcow2 of version 2 or 3, which is only read. Images with a backing file, an
 * external data file, encryption or an unknown incompatible feature are refused.
 *
 * An image is hostile. Each entry of its tables is checked against the size of the file. No
 * allocation has a size from the file without a bound. The file is read with pread(), so a file
 * that another program truncates causes an error of a read, and no signal.
 */
#ifndef VMM_DISK_DISK_H
#define VMM_DISK_DISK_H

#include <stddef.h>
#include <stdint.h>

#define DISK_SECTOR	     512u
#define DISK_OVERLAY_DEFAULT (1ull << 30)

struct disk;

/* DISK_DETECT is qcow2 if the file begins with its magic number, and else raw. */
enum disk_format { DISK_DETECT, DISK_RAW, DISK_QCOW2 };

enum disk_access {
	DISK_OVERLAY,	    /* keep the guest's writes in memory */
	DISK_READ_ONLY,	    /* refuse the guest's writes */
	DISK_WRITE_THROUGH, /* write to the file, which must be raw */
};

struct disk_options {
	enum disk_format format;
	enum disk_access access;
	/* The most bytes that the overlay holds; 0 is DISK_OVERLAY_DEFAULT. */
	uint64_t overlay_max;
};

/*
 * Open the image in @fd, a regular file that is open for reading, and for writing with
 * DISK_WRITE_THROUGH. The file is locked against another process that writes to it as a disk. On
 * success, *disk owns the descriptor.
 *
 * Returns 0, or -errno with the reason in *why, a constant text of one line.
 */
int disk_open(struct disk **disk, int fd, const struct disk_options *o, const char **why);
/* Free the disk and its overlay, and close the file. @disk may be NULL. */
void disk_close(struct disk *disk);

/* Returns the size in bytes that the guest sees, a multiple of DISK_SECTOR. */
uint64_t disk_size(const struct disk *disk);
enum disk_access disk_access(const struct disk *disk);
/* Returns the number of bytes that the overlay holds. */
uint64_t disk_overlay_bytes(const struct disk *disk);

/*
 * Access any range of bytes. Both functions return 0 or an error.
 *
 * The error is -EINVAL if the range is not inside of the disk. It is -EIO if the image is damaged or
 * was truncated, or if the host failed. It is -EROFS for a write to a disk with DISK_READ_ONLY. It
 * is -ENOSPC if a write would exceed the bound of the overlay, which then has not changed. It is
 * -ENOMEM without memory.
 */
int disk_read(struct disk *disk, uint64_t offset, void *to, size_t bytes);
int disk_write(struct disk *disk, uint64_t offset, const void *from, size_t bytes);
/* Wait until writes to the file are on the host's disk. Returns 0 or -EIO. */
int disk_flush(struct disk *disk);

/* Write or read the next @count bytes of a snapshot. Returns 0 or -errno. */
typedef int disk_put(void *opaque, const void *bytes, size_t count);
typedef int disk_get(void *opaque, void *bytes, size_t count);

/*
 * Save the identity of the image and the overlay. The identity is the size of the file, its time of
 * modification and checksums. Each 256 KiB of the file of which the run read a part has a checksum.
 * Equal runs with the same file save the same bytes.
 *
 * Returns 0, the error of @put, -ENOTSUP for a disk with DISK_WRITE_THROUGH, or -ENOMEM.
 */
int disk_save(const struct disk *disk, disk_put *put, void *opaque);
/*
 * Load the bytes of disk_save() into a disk that was just opened with the same options, and check
 * that the file is the same. Returns 0, or -errno with the reason in *why. -ESTALE means that the
 * image has changed, and -EINVAL that the saved bytes are invalid. After an error, only
 * disk_close() is allowed.
 */
int disk_load(struct disk *disk, disk_get *get, void *opaque, const char **why);

#endif /* VMM_DISK_DISK_H */
