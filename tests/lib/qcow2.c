// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a small qcow2 image for the tests of vmm/disk. */
#include "lib/qcow2.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "lib/require.h"

void test_qcow2_put(uint8_t *at, unsigned int bytes, uint64_t value)
{
	while (bytes--) {
		at[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

static void put_header(uint8_t *h, enum test_qcow2_kind kind)
{
	test_qcow2_put(h, 4, 0x514649fb);
	test_qcow2_put(h + 4, 4, kind == TEST_QCOW2_V2 ? 2 : 3);
	test_qcow2_put(h + 20, 4, 12);
	test_qcow2_put(h + 24, 8, TEST_QCOW2_DISK);
	test_qcow2_put(h + 36, 4, 1);
	test_qcow2_put(h + 40, 8, TEST_QCOW2_L1);
	if (kind == TEST_QCOW2_V2)
		return;
	test_qcow2_put(h + 96, 4, 4);
	test_qcow2_put(h + 100, 4, kind == TEST_QCOW2_ZSTD ? 112 : 104);
	if (kind == TEST_QCOW2_ZSTD) {
		test_qcow2_put(h + 72, 8, 1 << 3);
		h[104] = 1;
	}
}

/* Compress a cluster. Returns the number of bytes. */
static size_t pack(uint8_t *to, const uint8_t *from, enum test_qcow2_kind kind)
{
	z_stream z = {
		.next_in = (Bytef *)from,
		.avail_in = TEST_QCOW2_CLUSTER,
		.next_out = to,
		.avail_out = TEST_QCOW2_CLUSTER,
	};
	size_t n;

	if (kind == TEST_QCOW2_ZSTD) {
		n = ZSTD_compress(to, TEST_QCOW2_CLUSTER, from, TEST_QCOW2_CLUSTER, 3);
		REQUIRE(!ZSTD_isError(n));
		return n;
	}
	REQUIRE(deflateInit2(&z, 6, Z_DEFLATED, -12, 9, Z_DEFAULT_STRATEGY) == Z_OK);
	REQUIRE(deflate(&z, Z_FINISH) == Z_STREAM_END);
	n = z.total_out;
	deflateEnd(&z);
	return n;
}

void test_qcow2_make(uint8_t *image, uint8_t *disk, enum test_qcow2_kind kind)
{
	uint8_t *l2 = image + TEST_QCOW2_L2;
	size_t i, n;

	memset(image, 0, TEST_QCOW2_BYTES);
	memset(disk, 0, TEST_QCOW2_DISK);
	put_header(image, kind);
	for (i = 0; i < TEST_QCOW2_CLUSTER; i++) {
		disk[i] = (uint8_t)(i * 7 + i / 256);
		disk[3 * TEST_QCOW2_CLUSTER + i] = (uint8_t)(i / 16 ^ i / 1024);
	}
	memcpy(image + TEST_QCOW2_DATA, disk, TEST_QCOW2_CLUSTER);
	test_qcow2_put(image + TEST_QCOW2_L1, 8, 1ull << 63 | TEST_QCOW2_L2);
	test_qcow2_put(l2, 8, 1ull << 63 | TEST_QCOW2_DATA);
	test_qcow2_put(l2 + 16, 8, TEST_QCOW2_DATA | (kind != TEST_QCOW2_V2));
	if (kind == TEST_QCOW2_V2)
		memcpy(disk + 2 * TEST_QCOW2_CLUSTER, disk, TEST_QCOW2_CLUSTER);
	n = pack(image + TEST_QCOW2_PACKED, disk + 3 * TEST_QCOW2_CLUSTER, kind);
	/* With clusters of 4 KiB, the number of further sectors begins at bit 58. */
	test_qcow2_put(l2 + 24, 8,
		       1ull << 62 | (uint64_t)((n - 1) / 512) << 58 | TEST_QCOW2_PACKED);
}
