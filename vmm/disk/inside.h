/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to vmm/disk: the layers below a disk, from the file upwards. */
#ifndef VMM_DISK_INSIDE_H
#define VMM_DISK_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "disk/disk.h"

/* map.c: values by number. A map of zeros is empty. Neither numbers nor values are in an order. */
struct disk_map_entry {
	uint64_t key; /* the number plus 1; 0 is a free entry */
	union {
		uint8_t *bytes;
		uint64_t number;
	} value;
};

struct disk_map {
	struct disk_map_entry *at;
	size_t n, room; /* the room is 0 or a power of 2 */
};

/* Returns NULL if there is no entry for @number. It is valid until the next disk_map_add(). */
struct disk_map_entry *disk_map_find(const struct disk_map *m, uint64_t number);
/* Add an entry with the value 0, for a number that has none. Returns NULL without memory. */
struct disk_map_entry *disk_map_add(struct disk_map *m, uint64_t number);
/* Returns all entries in ascending order, to be freed by the caller, or NULL without memory. */
struct disk_map_entry *disk_map_sort(const struct disk_map *m);
void disk_map_free(struct disk_map *m);

/* file.c: the file, and checksums of its pieces. */
#define DISK_CHECKED (256u << 10)

struct disk_file {
	int fd;
	bool checked; /* compute checksums; false if the guest writes to the file */
	uint64_t bytes;
	struct timespec mtime;
	struct disk_map crc; /* by piece of DISK_CHECKED bytes; the last piece may be shorter */
	uint8_t *piece;	     /* DISK_CHECKED bytes */
};

/* Take a descriptor. Returns 0, or -errno with *why and without owning the descriptor. */
int disk_file_open(struct disk_file *f, int fd, enum disk_access access, const char **why);
void disk_file_close(struct disk_file *f);
/* Returns 0, or -EIO if the range is not in the file or cannot be read, or -ENOMEM. */
int disk_file_read(struct disk_file *f, uint64_t offset, void *to, size_t bytes);
int disk_file_write(struct disk_file *f, uint64_t offset, const void *from, size_t bytes);
/* Compute the checksum of a piece. Returns 0 or -EIO. */
int disk_file_check(struct disk_file *f, uint64_t piece, uint32_t *crc);

/* unpack.c: decompress exactly @bytes bytes. Bytes after the end are ignored. */
enum disk_packing { DISK_ZLIB, DISK_ZSTD };

/* Returns 0, -EIO if the data is damaged, or -ENOMEM. */
int disk_unpack(enum disk_packing packing, void *to, size_t bytes, const void *from, size_t len);

/* qcow2.c: the tables of a qcow2 image. */
#define DISK_QCOW2_MAGIC 0x514649fbu /* big-endian "QFI\xfb" */

struct disk_qcow2 {
	uint64_t bytes; /* of the disk */
	uint32_t version, cluster_bits;
	enum disk_packing packing;
	uint64_t *l1;
	uint8_t *packed;   /* two clusters, allocated at the first compressed cluster */
	uint8_t *unpacked; /* one cluster */
	uint64_t entry;	   /* the L2 entry of the cluster in @unpacked; 0: none */
};

/* Read the header and the L1 table. Returns 0, or -errno with *why. */
int disk_qcow2_open(struct disk_qcow2 *q, struct disk_file *f, const char **why);
void disk_qcow2_close(struct disk_qcow2 *q);
/* Read a range inside of the disk. Returns 0, -EIO or -ENOMEM. */
int disk_qcow2_read(struct disk_qcow2 *q, struct disk_file *f, uint64_t offset, void *to,
		    size_t bytes);

/* disk.c, save.c */
#define DISK_PIECE 4096u

struct disk {
	struct disk_file file;
	enum disk_format format; /* not DISK_DETECT */
	enum disk_access access;
	uint64_t bytes;		 /* that the guest sees */
	uint64_t overlay_max;	 /* pieces */
	struct disk_map overlay; /* by piece of DISK_PIECE bytes */
	struct disk_qcow2 qcow2;
};

#endif /* VMM_DISK_INSIDE_H */
