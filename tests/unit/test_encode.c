// SPDX-License-Identifier: GPL-2.0-or-later
/* The generator's inline encoders, and IPs there and back (table 33-18). */
#include "lib/packets.h"
#include "lib/suite.h"
#include "vpt/encode.h"

#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The inline encoder's bytes for a packet it knows. */
static size_t encode(uint8_t *buf, const struct vpt_packet *p)
{
	enum vpt_ip_bytes ip_bytes = (enum vpt_ip_bytes)p->ip_bytes;

	switch (p->kind) {
	case VPT_PKT_TNT_8:
		return vpt_encode_tnt8(buf, 1ull << p->bits | p->value);
	case VPT_PKT_TNT_64:
		return vpt_encode_tnt64(buf, 1ull << p->bits | p->value);
	case VPT_PKT_TIP:
		return vpt_encode_ip(buf, VPT_OP_TIP, ip_bytes, p->value);
	case VPT_PKT_TIP_PGE:
		return vpt_encode_ip(buf, VPT_OP_TIP_PGE, ip_bytes, p->value);
	case VPT_PKT_TIP_PGD:
		return vpt_encode_ip(buf, VPT_OP_TIP_PGD, ip_bytes, p->value);
	default:
		return vpt_encode_ip(buf, VPT_OP_FUP, ip_bytes, p->value);
	}
}

static void compare_writers(const struct vpt_packet *packet, void *opaque)
{
	uint8_t inlined[VPT_PKT_MAX] = {0}, checked[VPT_PKT_MAX] = {0};
	size_t len = vpt_packet_write(checked, packet);

	(void)opaque;
	ck_assert_uint_eq(encode(inlined, packet), len);
	ck_assert(!memcmp(inlined, checked, len));
}

START_TEST(inline_encoders_write_the_same)
{
	static const enum vpt_pkt_kind kinds[] = {
		VPT_PKT_TNT_8,	 VPT_PKT_TNT_64,  VPT_PKT_TIP,
		VPT_PKT_TIP_PGE, VPT_PKT_TIP_PGD, VPT_PKT_FUP,
	};

	ck_assert_uint_gt(test_each_packet(kinds[_i], compare_writers, NULL), 100);
	TEST_PROVES("PKT-TNT8 PKT-TNT64 PKT-TIP PKT-TIP-PGE PKT-TIP-PGD PKT-FUP");
}
END_TEST

START_TEST(msb)
{
	uint64_t random = (uint64_t)_i;

	ck_assert_uint_eq(vpt_msb(1ull << _i), _i);
	ck_assert_uint_eq(vpt_msb(1ull << _i | test_random(&random) % (1ull << _i)), _i);
}
END_TEST

START_TEST(put_le)
{
	static const uint8_t bytes[] = {0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01};
	uint8_t buf[9];

	memset(buf, 0x5a, sizeof(buf));
	vpt_put_le(buf, 0x0123456789abcdef, (unsigned int)_i);
	ck_assert(!memcmp(buf, bytes, (size_t)_i));
	ck_assert_uint_eq(buf[_i], 0x5a);
}
END_TEST

/* Every row of the table, with the bits that it takes from either side. */
static const struct {
	unsigned int ip_bytes;
	uint64_t last_ip, payload;
	enum vpt_status status;
	uint64_t ip;
} rows[] = {
	{0, 0x1111222233334444, 0x55556666, VPT_E_EOS, 0},
	{1, 0x1111222233334444, 0x5555, VPT_OK, 0x1111222233335555},
	{1, 0, 0xffff, VPT_OK, 0xffff},
	{1, ~0ull, 0, VPT_OK, 0xffffffffffff0000},
	/* More than the payload's own bits never counts. */
	{1, 0x1111222233334444, 0x9999888877776666, VPT_OK, 0x1111222233336666},
	{2, 0x1111222233334444, 0x55556666, VPT_OK, 0x1111222255556666},
	{2, 0, 0xffffffff, VPT_OK, 0xffffffff},
	{2, ~0ull, 0, VPT_OK, 0xffffffff00000000},
	{2, 0x1111222233334444, 0x9999888977776666, VPT_OK, 0x1111222277776666},
	{3, 0x1111222233334444, 0x7fffffffffff, VPT_OK, 0x00007fffffffffff},
	{3, 0x1111222233334444, 0x800000000000, VPT_OK, 0xffff800000000000},
	{3, ~0ull, 0, VPT_OK, 0},
	{3, 0, 0xffffffffffff, VPT_OK, ~0ull},
	{3, 0, 0x9999000077776666, VPT_OK, 0x77776666},
	{4, 0x1111222233334444, 0x555566667777, VPT_OK, 0x1111555566667777},
	{4, 0, 0xffffffffffff, VPT_OK, 0x0000ffffffffffff},
	{4, ~0ull, 0, VPT_OK, 0xffff000000000000},
	{4, 0x1111222233334444, 0x9999888877776666, VPT_OK, 0x1111888877776666},
	{5, 0x1111222233334444, 0x55556666, VPT_E_BAD_PACKET, 0},
	{6, 0x1111222233334444, 0x5555666677778888, VPT_OK, 0x5555666677778888},
	{6, ~0ull, 0, VPT_OK, 0},
	{7, 0x1111222233334444, 0x55556666, VPT_E_BAD_PACKET, 0},
	{8, 0x1111222233334444, 0x55556666, VPT_E_BAD_PACKET, 0},
	{~0u, 0x1111222233334444, 0x55556666, VPT_E_BAD_PACKET, 0},
};

START_TEST(ip_reconstruction)
{
	const uint64_t untouched = 0xdeadbeef;
	uint64_t ip = untouched;

	ck_assert_int_eq(vpt_ip_expand(rows[_i].last_ip, rows[_i].ip_bytes, rows[_i].payload, &ip),
			 rows[_i].status);
	ck_assert_uint_eq(ip, rows[_i].status ? untouched : rows[_i].ip);
	TEST_PROVES("PKT-IP-SUPPRESSED PKT-IP-UPDATE16 PKT-IP-UPDATE32 PKT-IP-SEXT48 "
		    "PKT-IP-UPDATE48 PKT-IP-FULL PKT-IP-RESERVED");
}
END_TEST

/* Bytes of payload by IPBytes. */
static unsigned int payload_len(enum vpt_ip_bytes ip_bytes)
{
	uint8_t buf[VPT_PKT_MAX];

	return (unsigned int)vpt_encode_ip(buf, VPT_OP_TIP, ip_bytes, 0) - 1;
}

/* Does this mode carry `ip` after `last_ip`, as the decoder sees it? */
static bool carries(enum vpt_ip_bytes ip_bytes, uint64_t ip, uint64_t last_ip)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	uint8_t buf[VPT_PKT_MAX];
	uint64_t got;
	size_t len = vpt_encode_ip(buf, VPT_OP_TIP, ip_bytes, ip);

	ck_assert_int_eq(vpt_packet_read(&parser, buf, len, &packet), VPT_OK);
	return vpt_ip_expand(last_ip, packet.ip_bytes, packet.value, &got) == VPT_OK && got == ip;
}

/* Check that the chosen form carries the IP, and that no shorter form does. */
static enum vpt_ip_bytes check_choice(uint64_t ip, uint64_t last_ip)
{
	static const enum vpt_ip_bytes modes[] = {
		VPT_IP_UPDATE_16, VPT_IP_UPDATE_32, VPT_IP_SEXT_48, VPT_IP_UPDATE_48, VPT_IP_FULL,
	};
	enum vpt_ip_bytes choice = vpt_ip_compress(ip, last_ip);

	ck_assert(carries(choice, ip, last_ip));
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		if (payload_len(modes[i]) < payload_len(choice))
			ck_assert(!carries(modes[i], ip, last_ip));
	}
	return choice;
}

static bool canonical(uint64_t ip)
{
	return ip >> 47 == 0 || ip >> 47 == 0x1ffff;
}

/* By the highest bit in which the IP and the last one differ. */
static enum vpt_ip_bytes expected(uint64_t ip, unsigned int bit)
{
	if (bit < 16)
		return VPT_IP_UPDATE_16;
	if (bit < 32)
		return VPT_IP_UPDATE_32;
	if (canonical(ip))
		return VPT_IP_SEXT_48;
	return bit < 48 ? VPT_IP_UPDATE_48 : VPT_IP_FULL;
}

/* Where each mode becomes legal, and where it ends to be. */
START_TEST(compression_at_each_bit)
{
	static const uint64_t lasts[] = {0,
					 ~0ull,
					 0x401000,
					 0xffffffff81000000,
					 0x00007fffffffffff,
					 0xffff800000000000,
					 0x0000800000000000,
					 0xffff7fffffffffff,
					 0x1234567890abcdef};
	unsigned int bit = (unsigned int)_i;

	for (unsigned int i = 0; i < ARRAY_SIZE(lasts); i++) {
		uint64_t ip = lasts[i] ^ 1ull << bit;
		/* Bits below the highest difference differ as well, or don't. */
		uint64_t below = ip ^ ((1ull << bit) - 1);

		ck_assert_int_eq(check_choice(ip, lasts[i]), expected(ip, bit));
		ck_assert_int_eq(check_choice(below, lasts[i]), expected(below, bit));
	}
	TEST_PROVES("PKT-IP-UPDATE16 PKT-IP-UPDATE32 PKT-IP-SEXT48 PKT-IP-UPDATE48 PKT-IP-FULL");
}
END_TEST

START_TEST(compression_of_the_same_ip)
{
	ck_assert_int_eq(check_choice(0, 0), VPT_IP_UPDATE_16);
	ck_assert_int_eq(check_choice(0xffffffff81000000, 0xffffffff81000000), VPT_IP_UPDATE_16);
}
END_TEST

START_TEST(compression_at_random)
{
	uint64_t random = (uint64_t)_i, last_ip = 0;

	for (unsigned int round = 0; round < 20000; round++) {
		uint64_t ip = test_random(&random);

		/* Anything, the last one's neighbourhood, user and kernel space. */
		switch (test_random(&random) % 4) {
		case 0:
			ip = last_ip ^ ip >> test_random(&random) % 64;
			break;
		case 1:
			ip >>= 17;
			break;
		case 2:
			ip |= 0xffff800000000000;
			break;
		default:
			break;
		}
		check_choice(ip, last_ip);
		last_ip = ip;
	}
}
END_TEST

/* Exactly @_i bytes are copied, whichever stores do it. */
START_TEST(short_copies)
{
	const size_t len = (size_t)_i;
	uint8_t from[64], to[64];
	size_t i;

	for (i = 0; i < sizeof(from); i++)
		from[i] = (uint8_t)(i + 1);
	memset(to, 0xa5, sizeof(to));
	vpt_copy_short(to + 24, from + 24, len);
	for (i = 0; i < sizeof(to); i++)
		ck_assert_uint_eq(to[i], i >= 24 && i < 24 + len ? i + 1 : 0xa5);
	for (i = 0; i < sizeof(from); i++)
		ck_assert_uint_eq(from[i], i + 1);
	if (len < 3 || len > 10)
		return;
	memset(to, 0xa5, sizeof(to));
	vpt_put_short(to + 24, 0x0807060504030201, 0x0a09, len);
	for (i = 0; i < sizeof(to); i++)
		ck_assert_uint_eq(to[i], i >= 24 && i < 24 + len ? i - 23 : 0xa5);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("encode");
	TCase *tc = tcase_create("encoders");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, inline_encoders_write_the_same, 0, 6);
	tcase_add_loop_test(tc, msb, 0, 64);
	tcase_add_loop_test(tc, put_le, 0, 9);
	tcase_add_loop_test(tc, short_copies, 0, VPT_COPY_SHORT_MAX + 1);
	suite_add_tcase(suite, tc);

	tc = tcase_create("ip");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, ip_reconstruction, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, compression_at_each_bit, 0, 64);
	tcase_add_test(tc, compression_of_the_same_ip);
	tcase_add_loop_test(tc, compression_at_random, 0, 4);
	suite_add_tcase(suite, tc);
	return suite;
}
