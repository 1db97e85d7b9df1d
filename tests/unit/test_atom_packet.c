// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets of Atom's RTIT to bytes, bytes to packets, LIPs to payloads and back, packets to
 * text (RTIT 4.1, 4.2).
 */
#include "lib/atom_packets.h"
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Read a copy that ends where its bytes do, so that ASan sees a byte too many. */
static enum vpt_status read_exact(const uint8_t *bytes, size_t len, bool cycle_acc,
				  struct vpt_atom_packet *packet)
{
	uint8_t *copy = malloc(len ? len : 1);
	enum vpt_status status;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, len);
	status = vpt_atom_packet_read(copy, len, cycle_acc, packet);
	free(copy);
	return status;
}

/* Vectors: what the figures draw, by hand. */

struct vector {
	const char *text;
	uint8_t len, b[VPT_ATOM_PKT_MAX];
	struct vpt_atom_packet packet;
	const char *tags;
};

#define BYTES(...)                              \
	sizeof((const uint8_t[]){__VA_ARGS__}), \
	{                                       \
		__VA_ARGS__                     \
	}

/* clang-format off */
static const struct vector vectors[] = {
	{"TNT         .", BYTES(0x02), {.kind = VPT_ATOM_PKT_TNT, .bits = 1},
	 TEST_ROW_PROVES("ATOM-PKT-TNT")},
	{"TNT         !", BYTES(0x03), {.kind = VPT_ATOM_PKT_TNT, .bits = 1, .value = 1}, ""},
	{"TNT         !..!.", BYTES(0x32), {.kind = VPT_ATOM_PKT_TNT, .bits = 5, .value = 0x12}, ""},
	{"TNT         ......", BYTES(0x40), {.kind = VPT_ATOM_PKT_TNT, .bits = 6}, ""},
	{"TNT         !!!!!!", BYTES(0x7f), {.kind = VPT_ATOM_PKT_TNT, .bits = 6, .value = 0x3f}, ""},
	{"TNT         !!!!!. cyc 5", BYTES(0x7e, 0x15),
	 {.kind = VPT_ATOM_PKT_TNT, .bits = 6, .value = 0x3e, .has_cycles = true, .cycles = 5}, ""},
	{"FUP.PGE     2: 0x605040302010", BYTES(0x82, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60),
	 {.kind = VPT_ATOM_PKT_PGE, .cnt = 2, .value = 0x605040302010},
	 TEST_ROW_PROVES("ATOM-PKT-PGE")},
	{"FUP.PGE     1z: 0x401000", BYTES(0x85, 0x00, 0x10, 0x40, 0x00),
	 {.kind = VPT_ATOM_PKT_PGE, .cnt = 1, .zext = true, .value = 0x401000}, ""},
	{"FUP.PGD     0: 0x1234", BYTES(0x88, 0x34, 0x12),
	 {.kind = VPT_ATOM_PKT_PGD, .value = 0x1234}, TEST_ROW_PROVES("ATOM-PKT-PGD")},
	{"FUP.BuffOvf 0z: 0x7c00", BYTES(0x94, 0x00, 0x7c),
	 {.kind = VPT_ATOM_PKT_BUF_OVF, .zext = true, .value = 0x7c00},
	 TEST_ROW_PROVES("ATOM-PKT-BUFOVF")},
	{"FUP.PCC     0: 0x1 cyc 2097152", BYTES(0x98, 0x01, 0x00, 0x03, 0x00, 0x80),
	 {.kind = VPT_ATOM_PKT_PCC, .value = 1, .has_cycles = true, .cycles = 0x200000},
	 TEST_ROW_PROVES("ATOM-PKT-PCC")},
	{"TIP         2: 0xffff81000000", BYTES(0xb2, 0x00, 0x00, 0x00, 0x81, 0xff, 0xff),
	 {.kind = VPT_ATOM_PKT_TIP, .cnt = 2, .value = 0xffff81000000},
	 TEST_ROW_PROVES("ATOM-PKT-TIP")},
	{"TIP         0: 0xbeef cyc 64", BYTES(0xb0, 0xef, 0xbe, 0x02, 0x01),
	 {.kind = VPT_ATOM_PKT_TIP, .value = 0xbeef, .has_cycles = true, .cycles = 64}, ""},
	{"FUP.FAR     1: 0x89abcdef", BYTES(0xb9, 0xef, 0xcd, 0xab, 0x89),
	 {.kind = VPT_ATOM_PKT_FAR, .cnt = 1, .value = 0x89abcdef},
	 TEST_ROW_PROVES("ATOM-PKT-FAR")},
	{"PSB", BYTES(0xc0, 0, 0, 0, 0, 0, 0, 0, 0), {.kind = VPT_ATOM_PKT_PSB},
	 TEST_ROW_PROVES("ATOM-PKT-PSB")},
	{"TraceStop", BYTES(0xc1), {.kind = VPT_ATOM_PKT_TRACE_STOP},
	 TEST_ROW_PROVES("ATOM-PKT-STOP")},
	{"PIP         0x8978675645", BYTES(0xc2, 0x45, 0x56, 0x67, 0x78, 0x89),
	 {.kind = VPT_ATOM_PKT_PIP, .value = 0x8978675645}, TEST_ROW_PROVES("ATOM-PKT-PIP")},
	{"PIP         0x2000 PG cyc 0", BYTES(0xc3, 0x00, 0x20, 0x00, 0x00, 0x00, 0x01),
	 {.kind = VPT_ATOM_PKT_PIP, .value = 0x2000, .flag = true, .has_cycles = true}, ""},
	{"MTC         range 0: 0xff", BYTES(0xc4, 0xff), {.kind = VPT_ATOM_PKT_MTC, .value = 0xff},
	 TEST_ROW_PROVES("ATOM-PKT-MTC")},
	{"MTC         range 3: 0x0 cyc 4194303", BYTES(0xc7, 0x00, 0xff, 0xff, 0xff),
	 {.kind = VPT_ATOM_PKT_MTC, .aux = 3, .has_cycles = true, .cycles = 0x3fffff}, ""},
	{"STS         0x504030201 acbr 21 ecbr 42", BYTES(0xd5, 0x6a, 0x01, 0x02, 0x03, 0x04, 0x05),
	 {.kind = VPT_ATOM_PKT_STS, .value = 0x504030201, .aux = 21 | 42 << 8},
	 TEST_ROW_PROVES("ATOM-PKT-STS")},
	{"STS         0x0 acbr 0 ecbr 9", BYTES(0xd0, 0x09, 0, 0, 0, 0, 0),
	 {.kind = VPT_ATOM_PKT_STS, .aux = 9 << 8}, ""},
	{"STS         0x0 acbr 63 ecbr 1 cyc 63", BYTES(0xdf, 0xc1, 0, 0, 0, 0, 0, 0xfd),
	 {.kind = VPT_ATOM_PKT_STS, .aux = 63 | 1 << 8, .has_cycles = true, .cycles = 63}, ""},
};
/* clang-format on */

START_TEST(vector_writes)
{
	const struct vector *v = &vectors[_i];
	uint8_t buf[VPT_ATOM_PKT_MAX];

	memset(buf, 0x5a, sizeof(buf));
	ck_assert_msg(vpt_atom_packet_write(buf, &v->packet) == v->len, "%s", v->text);
	ck_assert_msg(!memcmp(buf, v->b, v->len), "%s", v->text);
	TEST_PROVES(v->tags);
}
END_TEST

START_TEST(vector_reads)
{
	const struct vector *v = &vectors[_i];
	struct vpt_atom_packet got;

	ck_assert_msg(read_exact(v->b, v->len, v->packet.has_cycles, &got) == VPT_OK, "%s",
		      v->text);
	ck_assert_msg(test_atom_packet_same(&got, &v->packet), "%s", v->text);
	ck_assert_uint_eq(got.size, v->len);
	TEST_PROVES(v->tags);
}
END_TEST

START_TEST(vector_formats)
{
	const struct vector *v = &vectors[_i];
	char text[128];

	ck_assert_uint_eq(vpt_atom_packet_format(text, sizeof(text), &v->packet), strlen(v->text));
	ck_assert_str_eq(text, v->text);
	for (size_t size = 1; size < 32; size++) {
		ck_assert_uint_eq(vpt_atom_packet_format(text, size, &v->packet), strlen(v->text));
		ck_assert_uint_eq(strlen(text),
				  strlen(v->text) < size ? strlen(v->text) : size - 1);
		ck_assert_int_eq(strncmp(text, v->text, strlen(text)), 0);
	}
}
END_TEST

/* Every kind at every boundary, whole and cut, with each length of cycle count and without. */

static void round_trip(const struct vpt_atom_packet *packet)
{
	uint8_t buf[2 * VPT_ATOM_PKT_MAX];
	size_t len;
	struct vpt_atom_packet got;

	memset(buf, 0xff, sizeof(buf));
	len = vpt_atom_packet_write(buf, packet);
	ck_assert_uint_gt(len, 0);
	ck_assert_uint_le(len, VPT_ATOM_PKT_MAX);
	for (size_t cut = 0; cut < len; cut++)
		ck_assert_int_eq(read_exact(buf, cut, packet->has_cycles, &got), VPT_E_EOS);
	ck_assert_int_eq(read_exact(buf, len, packet->has_cycles, &got), VPT_OK);
	ck_assert(test_atom_packet_same(&got, packet));
	ck_assert_uint_eq(got.size, len);
	/* What follows changes nothing; it is no longer where eight bytes were stored. */
	memset(buf + len, 0xff, sizeof(buf) - len);
	ck_assert_int_eq(vpt_atom_packet_read(buf, sizeof(buf), packet->has_cycles, &got), VPT_OK);
	ck_assert(test_atom_packet_same(&got, packet));
	ck_assert_uint_eq(got.size, len);
}

static void with_cycles(const struct vpt_atom_packet *packet, void *opaque)
{
	static const uint32_t cycles[] = {0,	  1,	  0x3f,	   0x40,     0x55,
					  0x3fff, 0x4000, 0x12345, 0x1fffff, 0x3fffff};
	struct vpt_atom_packet more = *packet;
	uint8_t buf[VPT_ATOM_PKT_MAX];
	struct vpt_atom_packet got;

	(void)opaque;
	round_trip(packet);
	for (size_t i = 0; i < COUNT(cycles); i++) {
		more.has_cycles = true;
		more.cycles = cycles[i];
		if (vpt_atom_pkt_has_cycles(packet->kind, packet->bits))
			round_trip(&more);
		else
			ck_assert_uint_eq(vpt_atom_packet_write(buf, &more), 0);
	}
	/* A packet that has none is whole as it is, in cycle accurate mode too. */
	if (!vpt_atom_pkt_has_cycles(packet->kind, packet->bits)) {
		const size_t len = vpt_atom_packet_write(buf, packet);

		ck_assert_int_eq(read_exact(buf, len, true, &got), VPT_OK);
		ck_assert(test_atom_packet_same(&got, packet));
	} else {
		const size_t len = vpt_atom_packet_write(buf, packet);

		ck_assert_int_eq(read_exact(buf, len, true, &got), VPT_E_EOS);
	}
}

START_TEST(every_packet_round_trips)
{
	ck_assert_uint_gt(test_each_atom_packet((enum vpt_atom_pkt_kind)_i, with_cycles, NULL), 0);
}
END_TEST

/* 4.2.15 lists them. */
START_TEST(which_packets_have_cycles)
{
	static const bool has[VPT_ATOM_PKT_COUNT] = {
		[VPT_ATOM_PKT_TIP] = true, [VPT_ATOM_PKT_PGE] = true,	  [VPT_ATOM_PKT_PGD] = true,
		[VPT_ATOM_PKT_FAR] = true, [VPT_ATOM_PKT_BUF_OVF] = true, [VPT_ATOM_PKT_PCC] = true,
		[VPT_ATOM_PKT_PIP] = true, [VPT_ATOM_PKT_MTC] = true,	  [VPT_ATOM_PKT_STS] = true,
	};
	const enum vpt_atom_pkt_kind kind = (enum vpt_atom_pkt_kind)_i;

	for (unsigned int bits = 0; bits < 8; bits++)
		ck_assert(vpt_atom_pkt_has_cycles(kind, bits) ==
			  (kind == VPT_ATOM_PKT_TNT ? bits == 6 : has[kind]));
	ck_assert(!vpt_atom_pkt_has_cycles(VPT_ATOM_PKT_COUNT, 6));
	ck_assert(!vpt_atom_pkt_has_cycles((enum vpt_atom_pkt_kind)1000, 6));
	TEST_PROVES("ATOM-CYC");
}
END_TEST

/* The lengths that 4.2.14 gives, and which bits stand where. */
START_TEST(cycle_counts)
{
	static const struct {
		uint32_t cycles;
		uint8_t len, b[3];
	} counts[] = {
		{0, 1, {0x01}},
		{0x2a, 1, {0xa9}},
		{0x3f, 1, {0xfd}},
		{0x40, 2, {0x02, 0x01}},
		{0x2aaa, 2, {0xaa, 0xaa}},
		{0x3fff, 2, {0xfe, 0xff}},
		{0x4000, 3, {0x03, 0x00, 0x01}},
		{0x155555, 3, {0x57, 0x55, 0x55}},
		{0x3fffff, 3, {0xff, 0xff, 0xff}},
	};

	for (size_t i = 0; i < COUNT(counts); i++) {
		struct vpt_atom_packet p = {
			.kind = VPT_ATOM_PKT_MTC, .has_cycles = true, .cycles = counts[i].cycles};
		uint8_t buf[VPT_ATOM_PKT_MAX];

		ck_assert_uint_eq(vpt_atom_packet_write(buf, &p), 2u + counts[i].len);
		ck_assert_int_eq(memcmp(buf + 2, counts[i].b, counts[i].len), 0);
	}
}
END_TEST

/* CCNT 0 is reserved; a count may be longer than it has to be. */
START_TEST(odd_cycle_counts)
{
	struct vpt_atom_packet p = {.kind = VPT_ATOM_PKT_COUNT}, got = p;
	uint8_t buf[5] = {0xc4, 0x12, 0, 0, 0};

	for (unsigned int first = 0; first < 256; first += 4) {
		buf[2] = (uint8_t)first;
		ck_assert_int_eq(read_exact(buf, sizeof(buf), true, &got), VPT_E_BAD_PACKET);
		ck_assert_int_eq(read_exact(buf, 3, true, &got), VPT_E_BAD_PACKET);
		ck_assert(test_atom_packet_same(&got, &p));
	}
	buf[2] = 0x17;
	ck_assert_int_eq(read_exact(buf, sizeof(buf), true, &got), VPT_OK);
	ck_assert_uint_eq(got.cycles, 5);
	ck_assert_uint_eq(got.size, 5);
	ck_assert_int_eq(read_exact(buf, 4, true, &got), VPT_E_EOS);
	ck_assert_int_eq(read_exact(buf, 2, true, &got), VPT_E_EOS);
	/* Without cycle counts that is another packet. */
	ck_assert_int_eq(read_exact(buf, sizeof(buf), false, &got), VPT_OK);
	ck_assert_uint_eq(got.size, 2);
	ck_assert(!got.has_cycles);
}
END_TEST

/* Header bytes: figure 2, bit 7 first; - is any bit. */

static const struct {
	const char *bits;
	enum vpt_atom_pkt_kind kind; /* COUNT: reserved */
} headers[] = {
	{"01------", VPT_ATOM_PKT_TNT},
	{"001-----", VPT_ATOM_PKT_TNT},
	{"0001----", VPT_ATOM_PKT_TNT},
	{"00001---", VPT_ATOM_PKT_TNT},
	{"000001--", VPT_ATOM_PKT_TNT},
	{"0000001-", VPT_ATOM_PKT_TNT},
	/* Neither is in the figure: no outcomes. */
	{"0000000-", VPT_ATOM_PKT_COUNT},
	/* CNT 3 is reserved (4.2.3). */
	{"10----11", VPT_ATOM_PKT_COUNT},
	{"10000---", VPT_ATOM_PKT_PGE},
	{"10001---", VPT_ATOM_PKT_PGD},
	{"10010---", VPT_ATOM_PKT_BUF_OVF},
	{"10011---", VPT_ATOM_PKT_PCC},
	{"1010----", VPT_ATOM_PKT_COUNT},
	{"10110---", VPT_ATOM_PKT_TIP},
	{"10111---", VPT_ATOM_PKT_FAR},
	{"11000000", VPT_ATOM_PKT_PSB},
	{"11000001", VPT_ATOM_PKT_TRACE_STOP},
	{"1100001-", VPT_ATOM_PKT_PIP},
	{"110001--", VPT_ATOM_PKT_MTC},
	{"11001---", VPT_ATOM_PKT_COUNT},
	{"1101----", VPT_ATOM_PKT_STS},
	{"111-----", VPT_ATOM_PKT_COUNT},
};

static enum vpt_atom_pkt_kind kind_of(unsigned int header)
{
	for (size_t i = 0; i < COUNT(headers); i++) {
		unsigned int bit = 0;

		while (bit < 8 && (headers[i].bits[bit] == '-' ||
				   headers[i].bits[bit] == (header >> (7 - bit) & 1 ? '1' : '0')))
			bit++;
		if (bit == 8)
			return headers[i].kind;
	}
	ck_abort_msg("%02x is in no row", header);
	return VPT_ATOM_PKT_COUNT;
}

/* Sizes by header, from figures 3 to 12. */
static unsigned int size_of(enum vpt_atom_pkt_kind kind, unsigned int header)
{
	static const unsigned int sizes[VPT_ATOM_PKT_COUNT] = {
		[VPT_ATOM_PKT_TNT] = 1, [VPT_ATOM_PKT_PSB] = 9, [VPT_ATOM_PKT_TRACE_STOP] = 1,
		[VPT_ATOM_PKT_PIP] = 6, [VPT_ATOM_PKT_MTC] = 2, [VPT_ATOM_PKT_STS] = 7,
	};

	return sizes[kind] ? sizes[kind] : 3 + 2 * (header & 3);
}

START_TEST(header_byte)
{
	const uint8_t buf[16] = {(uint8_t)_i};
	const enum vpt_atom_pkt_kind kind = kind_of((unsigned int)_i);
	const struct vpt_atom_packet untouched = {.kind = VPT_ATOM_PKT_COUNT, .value = 42};
	struct vpt_atom_packet got = untouched;

	for (size_t len = 0; len <= sizeof(buf); len++) {
		const enum vpt_status status = read_exact(buf, len, false, &got);

		if (!len) {
			ck_assert_int_eq(status, VPT_E_EOS);
		} else if (kind == VPT_ATOM_PKT_COUNT) {
			ck_assert_int_eq(status, VPT_E_BAD_PACKET);
		} else if (len < size_of(kind, (unsigned int)_i)) {
			ck_assert_int_eq(status, VPT_E_EOS);
		} else {
			ck_assert_int_eq(status, VPT_OK);
			ck_assert_int_eq(got.kind, kind);
			ck_assert_uint_eq(got.size, size_of(kind, (unsigned int)_i));
			got = untouched;
		}
		ck_assert(test_atom_packet_same(&got, &untouched));
	}
}
END_TEST

/* A byte of PSB that is not 0 is told as soon as it is there. */
START_TEST(broken_psbs)
{
	for (size_t at = 1; at < 9; at++) {
		uint8_t buf[9] = {0xc0};
		struct vpt_atom_packet got;

		buf[at] = 0x80;
		for (size_t len = 1; len <= sizeof(buf); len++)
			ck_assert_int_eq(read_exact(buf, len, false, &got),
					 len > at ? VPT_E_BAD_PACKET : VPT_E_EOS);
	}
}
END_TEST

/* One field out of its range. */
static const struct vpt_atom_packet unwritable[] = {
	{.kind = VPT_ATOM_PKT_COUNT},
	{.kind = (enum vpt_atom_pkt_kind)1000},
	{.kind = VPT_ATOM_PKT_TNT, .bits = 0},
	{.kind = VPT_ATOM_PKT_TNT, .bits = 7},
	{.kind = VPT_ATOM_PKT_TNT, .bits = 255},
	{.kind = VPT_ATOM_PKT_TNT, .bits = 3, .value = 8},
	{.kind = VPT_ATOM_PKT_TNT, .bits = 5, .has_cycles = true},
	{.kind = VPT_ATOM_PKT_PGE, .cnt = 3},
	{.kind = VPT_ATOM_PKT_TIP, .cnt = 255},
	{.kind = VPT_ATOM_PKT_PGD, .cnt = 0, .value = 0x10000},
	{.kind = VPT_ATOM_PKT_FAR, .cnt = 1, .value = 1ull << 32},
	{.kind = VPT_ATOM_PKT_PCC, .cnt = 2, .value = 1ull << 48},
	{.kind = VPT_ATOM_PKT_BUF_OVF, .cnt = 2, .value = ~0ull},
	{.kind = VPT_ATOM_PKT_PIP, .value = 1ull << 40},
	{.kind = VPT_ATOM_PKT_MTC, .value = 0x100},
	{.kind = VPT_ATOM_PKT_MTC, .aux = 4},
	{.kind = VPT_ATOM_PKT_STS, .value = 1ull << 40},
	{.kind = VPT_ATOM_PKT_STS, .aux = 64},
	{.kind = VPT_ATOM_PKT_STS, .aux = 64 << 8},
	{.kind = VPT_ATOM_PKT_PSB, .has_cycles = true},
	{.kind = VPT_ATOM_PKT_TRACE_STOP, .has_cycles = true},
	{.kind = VPT_ATOM_PKT_TIP, .has_cycles = true, .cycles = 1u << 22},
};

START_TEST(out_of_range_is_not_written)
{
	uint8_t buf[VPT_ATOM_PKT_MAX];

	ck_assert_uint_eq(vpt_atom_packet_write(buf, &unwritable[_i]), 0);
}
END_TEST

/* LIP compression */

/* Table 18; X is 2. A LIP can match only what is valid. */
static const struct row_18 {
	uint8_t cnt;
	bool zext;
	uint8_t match_high, match_low, zero_high, zero_low;
} table_18[] = {
	{0, false, 1, 1, 0, 2}, {0, false, 1, 1, 1, 0}, {0, true, 2, 2, 1, 1},
	{1, false, 1, 0, 0, 2}, {1, true, 2, 0, 1, 0},	{1, true, 0, 2, 1, 0},
	{2, false, 0, 2, 0, 2},
};

static bool fits(uint8_t wanted, bool is)
{
	return wanted == 2 || wanted == is;
}

static bool row_applies(const struct row_18 *row, uint64_t lip, uint64_t last, bool valid)
{
	return fits(row->match_high, valid && (lip >> 32 & 0xffff) == (last >> 32 & 0xffff)) &&
	       fits(row->match_low, valid && (lip >> 16 & 0xffff) == (last >> 16 & 0xffff)) &&
	       fits(row->zero_high, !(lip >> 32 & 0xffff)) &&
	       fits(row->zero_low, !(lip >> 16 & 0xffff));
}

/* Words that differ in one bit, or in all, or not. */
static const uint16_t words[] = {0, 1, 2, 0x7fff, 0x8000, 0xfffe, 0xffff};

#define WORDS COUNT(words)

static uint64_t lip_of(size_t n, uint64_t low)
{
	return (uint64_t)words[n / WORDS % WORDS] << 32 | (uint64_t)words[n % WORDS] << 16 | low;
}

static void check_lip(const struct row_18 *row, uint64_t lip, uint64_t last, bool valid)
{
	/* Both fields begin wrong: one that the function does not set would show. */
	struct vpt_atom_packet packet = {.kind = VPT_ATOM_PKT_TIP, .cnt = 9, .zext = !row->zext},
			       got;
	uint8_t buf[VPT_ATOM_PKT_MAX];
	uint64_t back = 0;
	size_t len;

	vpt_atom_lip_compress(lip, (uint32_t)(last >> 16), valid, &packet.cnt, &packet.zext);
	ck_assert_uint_eq(packet.cnt, row->cnt);
	ck_assert(packet.zext == row->zext);
	/* Bits that a 64-bit address has above make no difference. */
	vpt_atom_lip_compress(lip | 0xffffull << 48, (uint32_t)(last >> 16), valid, &packet.cnt,
			      &packet.zext);
	ck_assert_uint_eq(packet.cnt, row->cnt);
	packet.value = lip & (~0ull >> (64 - 16 * (packet.cnt + 1)));
	len = vpt_atom_packet_write(buf, &packet);
	ck_assert_uint_eq(len, 3u + 2u * row->cnt);
	ck_assert_int_eq(vpt_atom_packet_read(buf, len, false, &got), VPT_OK);
	ck_assert_int_eq(vpt_atom_lip_expand(&got, (uint32_t)(last >> 16), valid, &back), VPT_OK);
	ck_assert_uint_eq(back, lip);
	/* It leans on the last LIP where something is neither sent nor zero, and only there. */
	if (valid)
		ck_assert_int_eq(vpt_atom_lip_expand(&got, 0, false, &back),
				 row->zext || row->cnt == 2 ? VPT_OK : VPT_E_EOS);
}

START_TEST(table_18_row)
{
	const struct row_18 *row = &table_18[_i];
	unsigned int hits = 0;

	for (size_t n = 0; n < WORDS * WORDS; n++) {
		for (size_t k = 0; k < WORDS * WORDS; k++) {
			for (unsigned int valid = 0; valid < 2; valid++) {
				const uint64_t lip = lip_of(n, 0x1234), last = lip_of(k, 0xabcd);

				if (!row_applies(row, lip, last, valid))
					continue;
				check_lip(row, lip, last, valid);
				hits++;
			}
		}
	}
	ck_assert_uint_gt(hits, 0);
	TEST_PROVES("ATOM-LIP-LAST");
}
END_TEST

/* The rows are a partition, but for 5 and 6, which say the same of what matches nothing. */
START_TEST(table_18_is_whole)
{
	for (size_t n = 0; n < 2 * WORDS * WORDS * WORDS * WORDS; n++) {
		const uint64_t lip = lip_of(n / 2, 0), last = lip_of(n / 2 / WORDS / WORDS, 0);
		const struct row_18 *found = NULL;

		for (size_t i = 0; i < COUNT(table_18); i++) {
			if (!row_applies(&table_18[i], lip, last, n & 1))
				continue;
			ck_assert(!found || (i == 5 && found == &table_18[4]));
			found = &table_18[i];
		}
		ck_assert_ptr_nonnull(found);
	}
}
END_TEST

START_TEST(odd_lips)
{
	struct vpt_atom_packet packet = {.kind = VPT_ATOM_PKT_TIP, .cnt = 3};
	uint64_t lip = 42;

	ck_assert_int_eq(vpt_atom_lip_expand(&packet, 1, true, &lip), VPT_E_BAD_PACKET);
	packet.zext = true;
	ck_assert_int_eq(vpt_atom_lip_expand(&packet, 1, true, &lip), VPT_E_BAD_PACKET);
	packet.zext = false;
	for (packet.cnt = 0; packet.cnt < 2; packet.cnt++)
		ck_assert_int_eq(vpt_atom_lip_expand(&packet, 0x12345678, false, &lip), VPT_E_EOS);
	ck_assert_uint_eq(lip, 42);
	/* Nobody sends Zext with all bytes; then there is nothing for it to say. */
	packet.cnt = 2;
	packet.zext = true;
	packet.value = 0x812345678000;
	ck_assert_int_eq(vpt_atom_lip_expand(&packet, 1, false, &lip), VPT_OK);
	ck_assert_uint_eq(lip, 0x812345678000);
	ck_assert_uint_eq(vpt_atom_canonical(lip), 0xffff812345678000);
	ck_assert_uint_eq(vpt_atom_canonical(0x712345678000), 0x712345678000);
	ck_assert_uint_eq(vpt_atom_canonical(0xffff712345678000), 0x712345678000);
}
END_TEST

/* PSBs */

/* What the search means, byte by byte. */
static size_t find_slowly(const uint8_t *buf, size_t len)
{
	static const uint8_t psb[9] = {0xc0};

	for (size_t at = 0; at + sizeof(psb) <= len; at++) {
		if (!memcmp(buf + at, psb, sizeof(psb)))
			return at;
	}
	return len;
}

/* All strings of 0, C0 and another byte that make a difference: up to 11 long. */
START_TEST(psb_is_found)
{
	static const uint8_t letters[] = {0x00, 0xc0, 0x31};
	unsigned int found = 0;

	for (size_t len = 0; len <= 11; len++) {
		unsigned int strings = 1;

		for (size_t i = 0; i < len; i++)
			strings *= 3;
		for (unsigned int n = 0; n < strings; n++) {
			uint8_t buf[11];
			unsigned int rest = n;

			for (size_t i = 0; i < len; i++, rest /= 3)
				buf[i] = letters[rest % 3];
			ck_assert_uint_eq(vpt_atom_packet_find_psb(buf, len),
					  find_slowly(buf, len));
			found += find_slowly(buf, len) < len;
		}
	}
	ck_assert_uint_gt(found, 30);
}
END_TEST

/* In a stream: behind zeros, behind a C0 of a payload, more than one, cut at the end. */
START_TEST(psb_in_a_stream)
{
	uint8_t buf[64];

	for (size_t at = 0; at + 9 <= sizeof(buf); at++) {
		for (size_t zeros = 0; zeros <= 20 && zeros <= at; zeros++) {
			memset(buf, 0x31, sizeof(buf));
			memset(buf + at - zeros, 0, zeros);
			memset(buf + at, 0, 9);
			buf[at] = 0xc0;
			ck_assert_uint_eq(vpt_atom_packet_find_psb(buf, sizeof(buf)), at);
			ck_assert_uint_eq(vpt_atom_packet_find_psb(buf, at + 9), at);
			ck_assert_uint_eq(vpt_atom_packet_find_psb(buf, at + 8), at + 8);
			if (at >= zeros + 1 && zeros < 8) {
				buf[at - zeros - 1] = 0xc0;
				ck_assert_uint_eq(vpt_atom_packet_find_psb(buf, sizeof(buf)), at);
			}
		}
	}
	memset(buf, 0, sizeof(buf));
	ck_assert_uint_eq(vpt_atom_packet_find_psb(buf, sizeof(buf)), sizeof(buf));
	ck_assert_uint_eq(vpt_atom_packet_find_psb(buf, 0), 0);
}
END_TEST

/* Names, and what has none */

START_TEST(names)
{
	static const struct {
		const char *name;
		unsigned int size;
	} spec[] = {
#define VPT_ATOM_PKT(kind, text, size, cycles, tag, section, meaning) {text, size},
#include "../../shared/spec/rtit.def"
	};
	const enum vpt_atom_pkt_kind kind = (enum vpt_atom_pkt_kind)_i;

	ck_assert_str_eq(vpt_atom_pkt_name(kind), spec[_i].name);
	ck_assert(vpt_atom_pkt_has_lip(kind) == !spec[_i].size);
	if (spec[_i].size)
		ck_assert_uint_eq(spec[_i].size, size_of(kind, 0));
}
END_TEST

START_TEST(format_of_nonsense)
{
	/* Fields that no packet has must not lead out of a table. */
	char text[512];

	for (unsigned int kind = 0; kind <= VPT_ATOM_PKT_COUNT; kind++) {
		struct vpt_atom_packet packet = {
			.kind = (enum vpt_atom_pkt_kind)kind,
			.bits = 0xff,
			.cnt = 0xff,
			.zext = true,
			.flag = true,
			.has_cycles = true,
			.aux = 0xffff,
			.cycles = ~0u,
			.value = ~0ull,
		};

		ck_assert_uint_lt(vpt_atom_packet_format(text, sizeof(text), &packet),
				  sizeof(text));
		ck_assert_int_eq(strncmp(text, vpt_atom_pkt_name(packet.kind),
					 strlen(vpt_atom_pkt_name(packet.kind))),
				 0);
	}
	ck_assert_str_eq(vpt_atom_pkt_name(VPT_ATOM_PKT_COUNT), "?");
	ck_assert_str_eq(vpt_atom_pkt_name((enum vpt_atom_pkt_kind) - 1), "?");
	ck_assert_uint_eq(vpt_atom_packet_format(text, 0, &vectors[0].packet),
			  strlen(vectors[0].text));
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("atom_packet");
	TCase *tc = tcase_create("vectors");

	tcase_add_loop_test(tc, vector_writes, 0, COUNT(vectors));
	tcase_add_loop_test(tc, vector_reads, 0, COUNT(vectors));
	tcase_add_loop_test(tc, vector_formats, 0, COUNT(vectors));
	suite_add_tcase(suite, tc);

	tc = tcase_create("kinds");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, every_packet_round_trips, 0, VPT_ATOM_PKT_COUNT);
	tcase_add_loop_test(tc, which_packets_have_cycles, 0, VPT_ATOM_PKT_COUNT);
	tcase_add_test(tc, cycle_counts);
	tcase_add_test(tc, odd_cycle_counts);
	tcase_add_loop_test(tc, header_byte, 0, 256);
	tcase_add_test(tc, broken_psbs);
	tcase_add_loop_test(tc, out_of_range_is_not_written, 0, COUNT(unwritable));
	tcase_add_loop_test(tc, names, 0, VPT_ATOM_PKT_COUNT);
	tcase_add_test(tc, format_of_nonsense);
	suite_add_tcase(suite, tc);

	tc = tcase_create("lips");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, table_18_row, 0, COUNT(table_18));
	tcase_add_test(tc, table_18_is_whole);
	tcase_add_test(tc, odd_lips);
	suite_add_tcase(suite, tc);

	tc = tcase_create("stream");
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, psb_is_found);
	tcase_add_test(tc, psb_in_a_stream);
	suite_add_tcase(suite, tc);
	return suite;
}
