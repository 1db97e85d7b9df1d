// SPDX-License-Identifier: GPL-2.0-or-later
/* Images of disks: each kind of cluster, the refusals, the overlay and its snapshots. */
#include "lib/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disk/disk.h"
#include "lib/qcow2.h"

#define RAW_BYTES (600u << 10) /* three pieces with checksums, of which the last is short */

static uint8_t image[TEST_QCOW2_BYTES], expected[TEST_QCOW2_DISK], raw[RAW_BYTES], got[RAW_BYTES];
static const char *why;

/* Returns a file with these bytes. */
static int file_of(const void *bytes, size_t count)
{
	int fd = memfd_create("disk", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, bytes, count, 0), (ssize_t)count);
	return fd;
}

static struct disk *open_as(int fd, enum disk_format format, enum disk_access access, uint64_t max)
{
	const struct disk_options o = {format, access, max};
	struct disk *d;

	ck_assert_int_eq(disk_open(&d, fd, &o, &why), 0);
	ck_assert_ptr_nonnull(d);
	ck_assert_int_eq(disk_access(d), access);
	return d;
}

static int make_raw(void)
{
	size_t i;

	for (i = 0; i < RAW_BYTES; i++)
		raw[i] = (uint8_t)(i * 13 + i / 512);
	return file_of(raw, RAW_BYTES);
}

static void check_file(int fd)
{
	ck_assert_int_eq(pread(fd, got, RAW_BYTES, 0), RAW_BYTES);
	ck_assert_mem_eq(got, raw, RAW_BYTES);
}

START_TEST(clusters)
{
	static const size_t sizes[] = {1, 511, 512, 4095, 4096, 4097, TEST_QCOW2_DISK};
	struct disk *d;
	size_t i, at;

	test_qcow2_make(image, expected, (enum test_qcow2_kind)_i);
	d = open_as(file_of(image, sizeof(image)), DISK_DETECT, DISK_OVERLAY, 0);
	ck_assert_uint_eq(disk_size(d), TEST_QCOW2_DISK);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (at = 0; at + sizes[i] <= TEST_QCOW2_DISK; at += 1021) {
			ck_assert_int_eq(disk_read(d, at, got, sizes[i]), 0);
			ck_assert_mem_eq(got, expected + at, sizes[i]);
		}
	ck_assert_int_eq(disk_read(d, TEST_QCOW2_DISK, got, 1), -EINVAL);
	ck_assert_int_eq(disk_read(d, UINT64_MAX, got, 2), -EINVAL);
	ck_assert_int_eq(disk_read(d, TEST_QCOW2_DISK, got, 0), 0);
	disk_close(d);
}
END_TEST

/* One number of the header, and the word that the refusal has. */
static const struct {
	unsigned int at, bytes;
	uint64_t value;
	const char *word;
} headers[] = {
	{4, 4, 1, "version"},
	{4, 4, 4, "version"},
	{8, 8, 0x100, "backing file"},
	{20, 4, 8, "damaged header"},
	{20, 4, 22, "damaged header"},
	{20, 4, 0xffffffff, "damaged header"},
	{24, 8, 0, "multiple of 512"},
	{24, 8, 513, "multiple of 512"},
	{24, 8, 1ull << 63, "multiple of"},
	{24, 8, 1ull << 62, "too large"},
	{24, 8, 4 << 20, "L1 table"},
	{32, 4, 1, "encrypted"},
	{32, 4, 2, "encrypted"},
	{36, 4, 0, "L1 table"},
	{40, 8, 0x1008, "L1 table"},
	{40, 8, 0x5000, "L1 table"},
	{40, 8, ~0xfffull, "L1 table"},
	{72, 8, 2, "corrupt"},
	{72, 8, 4, "external data"},
	{72, 8, 8, "compression"},
	{72, 8, 16, "extended L2"},
	{72, 8, 32, "unknown incompatible"},
	{72, 8, 1ull << 63, "incompatible"},
	{100, 4, 96, "damaged header"},
	{100, 4, 0x10000, "damaged header"},
	{100, 4, 105, "damaged header"},
};

START_TEST(refusals)
{
	const struct disk_options o = {DISK_QCOW2, DISK_OVERLAY, 0};
	struct disk *d;
	int fd, err;

	test_qcow2_make(image, expected, TEST_QCOW2_V3);
	test_qcow2_put(image + headers[_i].at, headers[_i].bytes, headers[_i].value);
	fd = file_of(image, sizeof(image));
	err = disk_open(&d, fd, &o, &why);
	ck_assert_int_eq(err, -EINVAL);
	ck_assert_ptr_null(d);
	ck_assert_msg(strstr(why, headers[_i].word), "%s: %s", headers[_i].word, why);
	close(fd);
}
END_TEST

/* One entry of a table, the cluster of the disk, and what a read of it returns. */
static const struct {
	unsigned int at;
	uint64_t value;
	unsigned int cluster;
	int result;
} entries[] = {
	{TEST_QCOW2_L1, 0, 0, 0},
	{TEST_QCOW2_L1, 0x5000, 0, -EIO}, /* the table is behind the file's end */
	{TEST_QCOW2_L1, 0xfffffffffff000, 0, -EIO},
	{TEST_QCOW2_L1, 0x2200, 0, -EIO}, /* not aligned */
	{TEST_QCOW2_L1, 0x2001, 0, -EIO}, /* reserved bits */
	{TEST_QCOW2_L1, 0x2000 | 1ull << 60, 0, -EIO},
	{TEST_QCOW2_L2, 0x5000, 0, -EIO},
	{TEST_QCOW2_L2, 0xfffffffffff000, 0, -EIO},
	{TEST_QCOW2_L2, 0x3200, 0, -EIO},
	{TEST_QCOW2_L2, 0x3002, 0, -EIO},
	{TEST_QCOW2_L2, 0x3000 | 1ull << 56, 0, -EIO},
	{TEST_QCOW2_L2, 0x2000, 0, 0}, /* data may overlap a table */
	{TEST_QCOW2_L2 + 24, 1ull << 62 | 0x5000, 3, -EIO},
	{TEST_QCOW2_L2 + 24, 1ull << 62 | 0x3000, 3, -EIO}, /* no compressed data */
	{TEST_QCOW2_L2 + 24, 3ull << 62 | 0x4000, 3, -EIO},
	{TEST_QCOW2_L2 + 24, 0x7fffffffffffffffull, 3, -EIO},
};

START_TEST(tables)
{
	struct disk *d;

	test_qcow2_make(image, expected, TEST_QCOW2_V3);
	test_qcow2_put(image + entries[_i].at, 8, entries[_i].value);
	d = open_as(file_of(image, sizeof(image)), DISK_QCOW2, DISK_OVERLAY, 0);
	ck_assert_int_eq(disk_read(d, entries[_i].cluster * 4096, got, 4096), entries[_i].result);
	disk_close(d);
}
END_TEST

START_TEST(files)
{
	const struct disk_options o = {DISK_DETECT, DISK_OVERLAY, 0},
				  rw = {DISK_DETECT, DISK_WRITE_THROUGH, 0},
				  qcow2 = {DISK_QCOW2, DISK_OVERLAY, 0};
	struct disk *d;
	int ends[2], fd = file_of("", 0);

	ck_assert_int_eq(disk_open(&d, fd, &o, &why), -EINVAL);
	ck_assert_str_eq(why, "an empty file");
	ck_assert_int_eq(pwrite(fd, "abc", 3, 0), 3);
	ck_assert_int_eq(disk_open(&d, fd, &o, &why), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "not a multiple of 512"));
	ck_assert_int_eq(disk_open(&d, fd, &qcow2, &why), -EINVAL);
	ck_assert_str_eq(why, "not a qcow2 image");
	close(fd);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(disk_open(&d, ends[0], &o, &why), -EINVAL);
	ck_assert_str_eq(why, "not a regular file");
	close(ends[0]);
	close(ends[1]);
	test_qcow2_make(image, expected, TEST_QCOW2_V3);
	fd = file_of(image, sizeof(image));
	ck_assert_int_eq(disk_open(&d, fd, &rw, &why), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "rw is only for raw"));
	/* With its format, such a file is a raw image. */
	d = open_as(fd, DISK_RAW, DISK_READ_ONLY, 0);
	ck_assert_uint_eq(disk_size(d), sizeof(image));
	disk_close(d);
	disk_close(NULL);
}
END_TEST

START_TEST(locks)
{
	const struct disk_options o = {DISK_RAW, DISK_OVERLAY, 0};
	char name[] = "/tmp/vpt-disk.XXXXXX";
	int fd = mkstemp(name), again;
	struct disk *d, *other;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	d = open_as(fd, DISK_RAW, DISK_WRITE_THROUGH, 0);
	again = open(name, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(disk_open(&other, again, &o, &why), -EBUSY);
	disk_close(d);
	/* Any number of disks can read an image. */
	other = open_as(again, DISK_RAW, DISK_OVERLAY, 0);
	d = open_as(open(name, O_RDONLY | O_CLOEXEC), DISK_RAW, DISK_READ_ONLY, 0);
	disk_close(d);
	disk_close(other);
	unlink(name);
}
END_TEST

START_TEST(overlay)
{
	int fd = make_raw(), copy = dup(fd);
	struct disk *d = open_as(fd, DISK_DETECT, DISK_OVERLAY, 0);
	static uint8_t disk[RAW_BYTES];
	size_t i;

	memcpy(disk, raw, RAW_BYTES);
	for (i = 0; i < 40; i++) {
		const size_t at = i * 14983 % (RAW_BYTES - 9000), n = i * 977 % 9000;

		memset(disk + at, (int)i, n);
		ck_assert_int_eq(disk_write(d, at, disk + at, n), 0);
	}
	ck_assert_int_eq(disk_read(d, 0, got, RAW_BYTES), 0);
	ck_assert_mem_eq(got, disk, RAW_BYTES);
	ck_assert_int_eq(disk_read(d, 77777, got, 100000), 0);
	ck_assert_mem_eq(got, disk + 77777, 100000);
	ck_assert_int_eq(disk_write(d, RAW_BYTES - 1, got, 2), -EINVAL);
	ck_assert_int_eq(disk_flush(d), 0);
	check_file(copy);
	disk_close(d);
	close(copy);
}
END_TEST

START_TEST(bound)
{
	int fd = make_raw();
	struct disk *d = open_as(fd, DISK_RAW, DISK_OVERLAY, 8192);

	memset(got, 0xee, 16384);
	ck_assert_int_eq(disk_write(d, 4096, got, 8193), -ENOSPC);
	ck_assert_uint_eq(disk_overlay_bytes(d), 0);
	ck_assert_int_eq(disk_write(d, 4000, got, 200), 0);
	ck_assert_uint_eq(disk_overlay_bytes(d), 8192);
	ck_assert_int_eq(disk_write(d, 8191, got, 1), 0);
	ck_assert_int_eq(disk_write(d, 8191, got, 2), -ENOSPC);
	ck_assert_int_eq(disk_read(d, 8192, got, 1), 0);
	ck_assert_uint_eq(got[0], raw[8192]);
	disk_close(d);
}
END_TEST

START_TEST(through)
{
	int fd = make_raw(), copy = dup(fd);
	struct disk *d = open_as(fd, DISK_RAW, DISK_READ_ONLY, 0);

	ck_assert_int_eq(disk_write(d, 0, got, 1), -EROFS);
	check_file(copy);
	disk_close(d);
	d = open_as(copy, DISK_RAW, DISK_WRITE_THROUGH, 0);
	memset(raw + 1000, 0x5a, 300000);
	ck_assert_int_eq(disk_write(d, 1000, raw + 1000, 300000), 0);
	ck_assert_int_eq(disk_write(d, RAW_BYTES, raw, 1), -EINVAL);
	ck_assert_int_eq(disk_read(d, 0, got, RAW_BYTES), 0);
	ck_assert_mem_eq(got, raw, RAW_BYTES);
	ck_assert_int_eq(disk_flush(d), 0);
	check_file(copy);
	disk_close(d);
}
END_TEST

/* A file that is truncated while in use gives errors, and reads before its new end still work. */
START_TEST(truncated)
{
	int fd = make_raw();
	struct disk *d = open_as(fd, DISK_RAW, DISK_OVERLAY, 0);

	ck_assert_int_eq(disk_read(d, 0, got, 4096), 0);
	ck_assert_int_eq(ftruncate(fd, 8192), 0);
	ck_assert_int_eq(disk_read(d, 4096, got, 4096), 0);
	ck_assert_mem_eq(got, raw + 4096, 4096);
	ck_assert_int_eq(disk_read(d, 8192, got, 1), -EIO);
	ck_assert_int_eq(disk_read(d, RAW_BYTES - 4096, got, 4096), -EIO);
	ck_assert_int_eq(disk_write(d, RAW_BYTES - 4096, got, 1), -EIO);
	ck_assert_uint_eq(disk_overlay_bytes(d), 0);
	disk_close(d);
}
END_TEST

static uint8_t saved[RAW_BYTES];
static size_t saved_bytes, loaded;

static int put(void *opaque, const void *bytes, size_t count)
{
	(void)opaque;
	if (count > sizeof(saved) - saved_bytes)
		return -ENOSPC;
	memcpy(saved + saved_bytes, bytes, count);
	saved_bytes += count;
	return 0;
}

static int get(void *opaque, void *bytes, size_t count)
{
	(void)opaque;
	if (count > saved_bytes - loaded)
		return -EINVAL;
	memcpy(bytes, saved + loaded, count);
	loaded += count;
	return 0;
}

/* Save a disk that has read its first piece and written in the second one. Returns its file. */
static int save_one(void)
{
	int fd = make_raw(), copy = dup(fd);
	struct disk *d = open_as(fd, DISK_RAW, DISK_OVERLAY, 0);

	ck_assert_int_eq(disk_read(d, 5000, got, 10), 0);
	memset(got, 0x77, 8192);
	ck_assert_int_eq(disk_write(d, 299000, got, 8192), 0);
	saved_bytes = loaded = 0;
	ck_assert_int_eq(disk_save(d, put, NULL), 0);
	disk_close(d);
	return copy;
}

static int load(int fd, uint64_t max)
{
	struct disk *d = open_as(fd, DISK_RAW, DISK_OVERLAY, max);
	int err;

	loaded = 0;
	err = disk_load(d, get, NULL, &why);
	if (!err) {
		ck_assert_int_eq(disk_read(d, 0, got, RAW_BYTES), 0);
		memset(raw + 299000, 0x77, 8192);
		ck_assert_mem_eq(got, raw, RAW_BYTES);
	}
	disk_close(d);
	return err;
}

START_TEST(snapshot)
{
	static uint8_t first[RAW_BYTES];
	int fd = save_one();
	struct disk *d;
	size_t n;

	memcpy(first, saved, saved_bytes);
	n = saved_bytes;
	/* A disk that was loaded saves the same bytes. */
	d = open_as(dup(fd), DISK_RAW, DISK_OVERLAY, 0);
	ck_assert_int_eq(disk_load(d, get, NULL, &why), 0);
	ck_assert_uint_eq(loaded, saved_bytes);
	saved_bytes = 0;
	ck_assert_int_eq(disk_save(d, put, NULL), 0);
	ck_assert_uint_eq(saved_bytes, n);
	ck_assert_mem_eq(saved, first, n);
	disk_close(d);
	ck_assert_int_eq(load(fd, 0), 0);
	d = open_as(make_raw(), DISK_RAW, DISK_WRITE_THROUGH, 0);
	ck_assert_int_eq(disk_save(d, put, NULL), -ENOTSUP);
	disk_close(d);
}
END_TEST

static void keep_time(int fd, const struct stat *st)
{
	const struct timespec times[2] = {st->st_atim, st->st_mtim};

	ck_assert_int_eq(futimens(fd, times), 0);
}

START_TEST(changed)
{
	int fd = save_one(), i;
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	/* The same time and size, but another byte in a piece that was read. */
	ck_assert_int_eq(pwrite(fd, "x", 1, 200000), 1);
	keep_time(fd, &st);
	ck_assert_int_eq(load(dup(fd), 0), -ESTALE);
	ck_assert_ptr_nonnull(strstr(why, "content"));
	ck_assert_int_eq(pwrite(fd, raw + 200000, 1, 200000), 1);
	for (i = 0; i < 2; i++) {
		st.st_mtim.tv_nsec = st.st_mtim.tv_nsec ? 0 : 1;
		if (i)
			st.st_mtim.tv_sec--;
		keep_time(fd, &st);
		ck_assert_int_eq(load(dup(fd), 0), -ESTALE);
		ck_assert_ptr_nonnull(strstr(why, "modified"));
	}
	ck_assert_int_eq(ftruncate(fd, RAW_BYTES - 512), 0);
	ck_assert_int_eq(load(dup(fd), 0), -ESTALE);
	ck_assert_ptr_nonnull(strstr(why, "shorter"));
	ck_assert_int_eq(ftruncate(fd, RAW_BYTES + 512), 0);
	ck_assert_int_eq(load(fd, 0), -ESTALE);
	ck_assert_ptr_nonnull(strstr(why, "longer"));
}
END_TEST

START_TEST(damaged_snapshot)
{
	int fd = save_one();
	const size_t n = saved_bytes;
	size_t i;

	for (i = 0; i < n; i += i < 200 ? 8 : 1000) {
		saved_bytes = i;
		ck_assert_int_eq(load(dup(fd), 0), -EINVAL);
	}
	saved_bytes = n;
	ck_assert_int_eq(load(dup(fd), 4096), -ENOSPC);
	/* The number of the first piece of the overlay, behind the head and the checksums. */
	saved[(7 + 2 * 2) * 8 + 7] = 0xff;
	ck_assert_int_eq(load(dup(fd), 0), -EINVAL);
	saved[0] ^= 1;
	ck_assert_int_eq(load(fd, 0), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "no disk"));
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("disk");
	TCase *c = tcase_create("disk");

	suite_add_tcase(suite, c);
	tcase_add_loop_test(c, clusters, TEST_QCOW2_V2, TEST_QCOW2_ZSTD + 1);
	TEST_ROWS(c, refusals, headers);
	TEST_ROWS(c, tables, entries);
	TEST_ADD(c, files, locks, overlay, bound, through, truncated, snapshot, changed,
		 damaged_snapshot);
	return suite;
}
