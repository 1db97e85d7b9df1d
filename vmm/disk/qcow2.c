// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qcow2 images, which are only read. The format is QEMU's docs/interop/qcow2.txt. The active state
 * is read, and internal snapshots are ignored. The L1 table is in memory, and an L2 entry is read
 * from the file at each access.
 */
#include "disk/inside.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_V2	 72u
#define HEADER_V3	 104u
#define HEADER_PACKING	 112u /* the size of a header that has the type of compression */
#define CLUSTER_BITS_MIN 9u
#define CLUSTER_BITS_MAX 21u
#define L1_MAX		 (32u << 20) /* bytes */

#define OFFSET_MASK  0x00fffffffffffe00ull /* bits 9 to 55 of an entry */
#define COPIED	     (1ull << 63)
#define IS_PACKED    (1ull << 62)
#define IS_ZERO	     (1ull << 0)
#define PACKED_SHIFT 62u

enum incompatible {
	DIRTY = 1 << 0, /* only the reference counts are affected */
	CORRUPT = 1 << 1,
	EXTERNAL = 1 << 2,
	PACKING = 1 << 3,
	EXTENDED_L2 = 1 << 4,
};

static uint32_t be32_at(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static uint64_t be64_at(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/* Returns NULL, or the reason why an image with these incompatible features is refused. */
static const char *refuse_features(uint64_t features)
{
	if (features & EXTERNAL)
		return "a qcow2 image with an external data file";
	if (features & CORRUPT)
		return "a qcow2 image that is marked as corrupt";
	if (features & EXTENDED_L2)
		return "a qcow2 image with extended L2 entries";
	if (features & ~(uint64_t)(DIRTY | PACKING))
		return "a qcow2 image with an unknown incompatible feature";
	return NULL;
}

/* Check the fields that only version 3 has. */
static const char *refuse_v3(struct disk_qcow2 *q, const uint8_t *header)
{
	const uint64_t features = be64_at(header + 72);
	const uint32_t size = be32_at(header + 100);
	const char *why = refuse_features(features);
	uint8_t type = 0;

	if (why)
		return why;
	if (size < HEADER_V3 || size % 8 || size > 1u << q->cluster_bits)
		return "a qcow2 image with a damaged header";
	if (size >= HEADER_PACKING)
		type = header[104];
	if (type > 1 || (type == 1) != !!(features & PACKING))
		return "a qcow2 image with an unknown type of compression";
	q->packing = type ? DISK_ZSTD : DISK_ZLIB;
	return NULL;
}

static const char *refuse(struct disk_qcow2 *q, const uint8_t *header)
{
	q->version = be32_at(header + 4);
	q->cluster_bits = be32_at(header + 20);
	q->bytes = be64_at(header + 24);
	if (be32_at(header) != DISK_QCOW2_MAGIC)
		return "not a qcow2 image";
	if (q->version != 2 && q->version != 3)
		return "a qcow2 image of an unknown version";
	if (q->cluster_bits < CLUSTER_BITS_MIN || q->cluster_bits > CLUSTER_BITS_MAX)
		return "a qcow2 image with a damaged header";
	if (be64_at(header + 8))
		return "a qcow2 image with a backing file; qemu-img convert makes one without it";
	if (be32_at(header + 32))
		return "an encrypted qcow2 image";
	if (!q->bytes || q->bytes % DISK_SECTOR || q->bytes > INT64_MAX)
		return "a qcow2 image of a disk whose size is not a multiple of 512 bytes";
	return q->version == 3 ? refuse_v3(q, header) : NULL;
}

/* Read the L1 table of @count entries at @offset. Only entries that the disk's size needs remain. */
static const char *read_l1(struct disk_qcow2 *q, struct disk_file *f, uint64_t offset,
			   uint32_t count)
{
	const uint32_t bits = 2 * q->cluster_bits - 3; /* of the range of one L1 entry */
	const uint64_t need = ((q->bytes - 1) >> bits) + 1;
	size_t i;

	if (need > L1_MAX / 8)
		return "a qcow2 image of a disk that is too large";
	if (count < need || offset & ((1ull << q->cluster_bits) - 1) || offset > f->bytes ||
	    need * 8 > f->bytes - offset)
		return "a qcow2 image with a damaged L1 table";
	q->l1 = calloc(need, sizeof(*q->l1));
	if (!q->l1)
		return "no memory";
	if (disk_file_read(f, offset, q->l1, need * 8))
		return "the L1 table cannot be read";
	for (i = 0; i < need; i++)
		q->l1[i] = be64toh(q->l1[i]);
	return NULL;
}

int disk_qcow2_open(struct disk_qcow2 *q, struct disk_file *f, const char **why)
{
	uint8_t header[HEADER_PACKING] = {0};
	size_t bytes = f->bytes < sizeof(header) ? (size_t)f->bytes : sizeof(header);

	memset(q, 0, sizeof(*q));
	if (bytes < HEADER_V2 || disk_file_read(f, 0, header, bytes)) {
		*why = "not a qcow2 image";
		return -EINVAL;
	}
	*why = refuse(q, header);
	if (!*why)
		*why = read_l1(q, f, be64_at(header + 40), be32_at(header + 36));
	if (!*why)
		return 0;
	disk_qcow2_close(q);
	return -EINVAL;
}

void disk_qcow2_close(struct disk_qcow2 *q)
{
	free(q->l1);
	free(q->packed);
	free(q->unpacked);
	memset(q, 0, sizeof(*q));
}

/* Read the L2 entry for an offset of the disk; 0 if no L2 table has one. */
static int read_entry(const struct disk_qcow2 *q, struct disk_file *f, uint64_t offset,
		      uint64_t *entry)
{
	const uint32_t l2_bits = q->cluster_bits - 3;
	const uint64_t l1 = q->l1[offset >> (q->cluster_bits + l2_bits)];
	const uint64_t index = (offset >> q->cluster_bits) & ((1ull << l2_bits) - 1);
	const uint64_t table = l1 & OFFSET_MASK;
	uint8_t bytes[8];
	int err;

	*entry = 0;
	if (l1 & ~(OFFSET_MASK | COPIED) || table & ((1ull << q->cluster_bits) - 1))
		return -EIO;
	if (!table)
		return 0;
	err = disk_file_read(f, table + index * 8, bytes, sizeof(bytes));
	if (!err)
		*entry = be64_at(bytes);
	return err;
}

static bool make_buffers(struct disk_qcow2 *q)
{
	if (!q->packed)
		q->packed = malloc((size_t)2 << q->cluster_bits);
	if (!q->unpacked)
		q->unpacked = malloc((size_t)1 << q->cluster_bits);
	return q->packed && q->unpacked;
}

/* Decompress the cluster of a compressed entry into q->unpacked. */
static int unpack(struct disk_qcow2 *q, struct disk_file *f, uint64_t entry)
{
	const uint32_t bits = PACKED_SHIFT - (q->cluster_bits - 8);
	const uint64_t offset = entry & ((1ull << bits) - 1);
	const uint64_t sectors = ((entry & (IS_PACKED - 1)) >> bits) + 1;
	size_t len = (size_t)(sectors * DISK_SECTOR - offset % DISK_SECTOR);
	int err;

	if (q->entry == entry)
		return 0;
	if (entry & COPIED || offset >= f->bytes)
		return -EIO;
	/* The file may end inside of the last sector. */
	if (len > f->bytes - offset)
		len = (size_t)(f->bytes - offset);
	if (!make_buffers(q))
		return -ENOMEM;
	q->entry = 0;
	err = disk_file_read(f, offset, q->packed, len);
	if (!err)
		err = disk_unpack(q->packing, q->unpacked, (size_t)1 << q->cluster_bits, q->packed,
				  len);
	if (!err)
		q->entry = entry;
	return err;
}

/* Read a range of one cluster. */
static int read_cluster(struct disk_qcow2 *q, struct disk_file *f, uint64_t offset, uint8_t *to,
			size_t bytes)
{
	const uint64_t in_cluster = offset & ((1ull << q->cluster_bits) - 1);
	uint64_t entry, host, allowed = OFFSET_MASK | COPIED;
	int err = read_entry(q, f, offset, &entry);

	if (err)
		return err;
	if (entry & IS_PACKED) {
		err = unpack(q, f, entry);
		if (!err)
			memcpy(to, q->unpacked + in_cluster, bytes);
		return err;
	}
	if (q->version == 3)
		allowed |= IS_ZERO;
	host = entry & OFFSET_MASK;
	if (entry & ~allowed || host & ((1ull << q->cluster_bits) - 1))
		return -EIO;
	if (!host || entry & IS_ZERO) {
		memset(to, 0, bytes);
		return 0;
	}
	return disk_file_read(f, host + in_cluster, to, bytes);
}

int disk_qcow2_read(struct disk_qcow2 *q, struct disk_file *f, uint64_t offset, void *to,
		    size_t bytes)
{
	const uint64_t cluster = 1ull << q->cluster_bits;
	uint8_t *at = to;
	int err = 0;

	while (bytes && !err) {
		const uint64_t left = cluster - (offset & (cluster - 1));
		const size_t n = bytes < left ? bytes : (size_t)left;

		err = read_cluster(q, f, offset, at, n);
		at += n;
		offset += n;
		bytes -= n;
	}
	return err;
}
