/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A small qcow2 image with a cluster of each kind. */
#ifndef TESTS_LIB_QCOW2_H
#define TESTS_LIB_QCOW2_H

#include <stdint.h>

#define TEST_QCOW2_CLUSTER 4096u
/* The clusters of the file: header, L1 table, L2 table, data, compressed data. */
#define TEST_QCOW2_L1	  0x1000u
#define TEST_QCOW2_L2	  0x2000u
#define TEST_QCOW2_DATA	  0x3000u
#define TEST_QCOW2_PACKED 0x4000u
#define TEST_QCOW2_BYTES  0x5000u
/* The clusters of the disk: data, none, zero, compressed, none. */
#define TEST_QCOW2_DISK (5 * TEST_QCOW2_CLUSTER)

enum test_qcow2_kind { TEST_QCOW2_V2, TEST_QCOW2_V3, TEST_QCOW2_ZSTD };

/*
 * Make an image in TEST_QCOW2_BYTES bytes at @image, and what a guest reads from it in
 * TEST_QCOW2_DISK bytes at @disk. An image of version 2 has no zero cluster, but data again.
 */
void test_qcow2_make(uint8_t *image, uint8_t *disk, enum test_qcow2_kind kind);
/* Write a big-endian number of @bytes bytes. */
void test_qcow2_put(uint8_t *at, unsigned int bytes, uint64_t value);

#endif /* TESTS_LIB_QCOW2_H */
