// SPDX-License-Identifier: GPL-2.0-or-later
/* Write, read and format packets (33.4.2). */
#include "lib/packets.h"
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct bytes {
	size_t len;
	uint8_t b[16];
};

#define B(...)                                          \
	{                                               \
		sizeof((const uint8_t[]){__VA_ARGS__}), \
		{                                       \
			__VA_ARGS__                     \
		}                                       \
	}

struct vector {
	const char *name;
	unsigned int block;
	const char *text;
	struct bytes bytes;
	struct vpt_packet packet;
};

static const struct vector vectors[] = {
#define TEST_VECTOR(name_, block_, text_, bytes_, ...) \
	{.name = name_, .block = block_, .text = text_, .bytes = bytes_, .packet = {__VA_ARGS__}},
#include "unit/packets.tbl"
};

static const struct vector read_vectors[] = {
#define TEST_VECTOR_READ(name_, block_, bytes_, ...) \
	{.name = name_, .block = block_, .bytes = bytes_, .packet = {__VA_ARGS__}},
#include "unit/packets.tbl"
};

static const struct vector bad_vectors[] = {
#define TEST_BAD(name_, block_, bytes_) {.name = name_, .block = block_, .bytes = bytes_},
#include "unit/packets.tbl"
};

/* The tag that a vector proves. */
static const char *tag_of(const struct vector *v)
{
	static const char *const tags[] = {
#define VPT_PKT(kind, text, size, tag, section, meaning) #tag,
#include "../../shared/spec/packets.def"
	};

	return tags[v->packet.kind];
}

static struct vpt_parser parser_in(unsigned int block)
{
	struct vpt_parser parser = {.in_block = block != 0, .block_4_bytes = block == 4};

	return parser;
}

/* Read a copy of exactly @len bytes, so that ASan reports a read beyond the end. */
static enum vpt_status read_exact(struct vpt_parser *parser, const uint8_t *bytes, size_t len,
				  struct vpt_packet *packet)
{
	uint8_t *copy = malloc(len ? len : 1);
	enum vpt_status status;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, bytes, len);
	status = vpt_packet_read(parser, copy, len, packet);
	free(copy);
	return status;
}

static void check_read(const struct vector *v)
{
	struct vpt_parser parser = parser_in(v->block);
	struct vpt_packet got;

	ck_assert_msg(read_exact(&parser, v->bytes.b, v->bytes.len, &got) == VPT_OK, "%s", v->name);
	ck_assert_msg(test_packet_same(&got, &v->packet), "%s", v->name);
	ck_assert_msg(got.size == v->bytes.len, "%s: %u bytes", v->name, got.size);
}

START_TEST(vector_writes)
{
	const struct vector *v = &vectors[_i];
	uint8_t buf[VPT_PKT_MAX];

	memset(buf, 0x5a, sizeof(buf));
	ck_assert_msg(vpt_packet_write(buf, &v->packet) == v->bytes.len, "%s", v->name);
	ck_assert_msg(!memcmp(buf, v->bytes.b, v->bytes.len), "%s", v->name);
	TEST_PROVES(tag_of(v));
}
END_TEST

START_TEST(vector_reads)
{
	check_read(&vectors[_i]);
	TEST_PROVES(tag_of(&vectors[_i]));
	TEST_PROVES("PKT-CYC-EXP PKT-BLOCK-OPEN");
}
END_TEST

START_TEST(vector_formats)
{
	const struct vector *v = &vectors[_i];
	char text[128];

	ck_assert_uint_eq(vpt_packet_format(text, sizeof(text), &v->packet), strlen(v->text));
	ck_assert_str_eq(text, v->text);
}
END_TEST

START_TEST(reserved_bits_are_ignored)
{
	check_read(&read_vectors[_i]);
	TEST_PROVES("PKT-RSVD PKT-CYC-EXP");
}
END_TEST

/* Invalid bytes are refused. Each prefix of them is refused or too short, and never a packet. */
START_TEST(bad_bytes)
{
	const struct vector *v = &bad_vectors[_i];
	const struct vpt_packet untouched = {.kind = VPT_PKT_COUNT, .value = 42};
	struct vpt_parser parser = parser_in(v->block), before = parser;
	struct vpt_packet got = untouched;

	for (size_t len = 0; len <= v->bytes.len; len++) {
		enum vpt_status status = read_exact(&parser, v->bytes.b, len, &got);

		ck_assert_msg(status == VPT_E_BAD_PACKET ||
				      (status == VPT_E_EOS && len < v->bytes.len),
			      "%s: status %d at %zu bytes", v->name, status, len);
	}
	ck_assert(test_packet_same(&got, &untouched));
	ck_assert(parser.in_block == before.in_block);
	ck_assert(parser.block_4_bytes == before.block_4_bytes);
	TEST_PROVES("PKT-IP-RESERVED PKT-TNT-STOP PKT-MODE-LEAF PKT-PTW-BYTES PKT-CYC-EXP PKT-PSB "
		    "PKT-MNT");
}
END_TEST

static void round_trip(const struct vpt_packet *packet, void *opaque)
{
	struct vpt_parser parser = test_parser_for(packet), start = parser;
	uint8_t buf[VPT_PKT_MAX], full[2 * VPT_PKT_MAX];
	size_t len = vpt_packet_write(buf, packet);
	struct vpt_packet got;

	(void)opaque;
	ck_assert_uint_gt(len, 0);
	ck_assert_uint_le(len, sizeof(buf));
	for (size_t cut = 0; cut < len; cut++) {
		ck_assert_int_eq(read_exact(&parser, buf, cut, &got), VPT_E_EOS);
		ck_assert(parser.in_block == start.in_block);
	}
	ck_assert_int_eq(read_exact(&parser, buf, len, &got), VPT_OK);
	ck_assert(test_packet_same(&got, packet));
	ck_assert_uint_eq(got.size, len);

	/* Bytes after the packet do not change the result. */
	memset(full, 0xff, sizeof(full));
	memcpy(full, buf, len);
	parser = start;
	ck_assert_int_eq(read_exact(&parser, full, sizeof(full), &got), VPT_OK);
	ck_assert(test_packet_same(&got, packet));
	ck_assert_uint_eq(got.size, len);
}

static void stays_inside(const struct vpt_packet *p, void *opaque)
{
	uint8_t buf[VPT_PKT_MAX + 8];
	unsigned int i;

	(void)opaque;
	memset(buf, 0xa5, sizeof(buf));
	ck_assert_uint_ne(vpt_packet_write(buf, p), 0);
	for (i = VPT_PKT_MAX; i < sizeof(buf); i++)
		ck_assert_uint_eq(buf[i], 0xa5);
}

/* No byte is written behind the buffer. */
START_TEST(every_packet_stays_inside)
{
	ck_assert_uint_gt(test_each_packet((enum vpt_pkt_kind)_i, stays_inside, NULL), 0);
}
END_TEST

START_TEST(every_packet_round_trips)
{
	ck_assert_uint_gt(test_each_packet((enum vpt_pkt_kind)_i, round_trip, NULL), 0);
}
END_TEST

/* The values that test_each_packet() made. All but the last three members are sets of bits. */
struct seen {
	unsigned int ip_bytes;
	unsigned int cyc_bytes;	    /* lengths of CYC */
	unsigned int types;	    /* of CFE and BBP */
	unsigned int types_flag;    /* likewise, with IP or of 4-byte items */
	uint64_t ids;		    /* of BIP, and types of EVD */
	uint64_t ids_4;		    /* likewise, of 4-byte items */
	unsigned int bits, bits_ip; /* sizes of PTW in bytes, without and with IP */
	bool vector[256];
	uint64_t longest[VPT_PKT_MAX];	/* the greatest value of CYC by length */
	uint64_t shortest[VPT_PKT_MAX]; /* the least value of CYC by length */
};

static void inspect(const struct vpt_packet *p, void *opaque)
{
	struct seen *s = opaque;
	uint8_t buf[VPT_PKT_MAX];
	size_t len = vpt_packet_write(buf, p);

	s->ip_bytes |= 1u << p->ip_bytes;
	s->cyc_bytes |= 1u << len;
	s->types |= 1u << (p->value & 31);
	if (p->flag)
		s->types_flag |= 1u << (p->value & 31);
	*(p->bits == 32 ? &s->ids_4 : &s->ids) |= 1ull << (p->aux & 63);
	s->bits |= p->bits / 8;
	if (p->flag)
		s->bits_ip |= p->bits / 8;
	s->vector[p->aux & 255] = true;
	if (p->value > s->longest[len % VPT_PKT_MAX])
		s->longest[len % VPT_PKT_MAX] = p->value;
	if (!s->shortest[len % VPT_PKT_MAX] || p->value < s->shortest[len % VPT_PKT_MAX])
		s->shortest[len % VPT_PKT_MAX] = p->value;
}

static struct seen seen(enum vpt_pkt_kind kind)
{
	struct seen s;

	memset(&s, 0, sizeof(s));
	ck_assert_uint_gt(test_each_packet(kind, inspect, &s), 0);
	return s;
}

/* test_each_packet(), which many tests use, makes each value of these fields. */
START_TEST(each_value_is_made)
{
	static const enum vpt_pkt_kind with_ip[] = {VPT_PKT_TIP, VPT_PKT_TIP_PGE, VPT_PKT_TIP_PGD,
						    VPT_PKT_FUP};
	struct seen s = seen(VPT_PKT_CYC);
	unsigned int i;

	/* 5 bits, and 7 more with each byte (33.4.2.14). */
	ck_assert_uint_eq(s.cyc_bytes, 0x7fe);
	for (i = 1; i < 10; i++) {
		ck_assert_uint_eq(s.longest[i], (1ull << (7 * i - 2)) - 1);
		ck_assert_uint_eq(s.shortest[i + 1], 1ull << (7 * i - 2));
	}
	ck_assert_uint_eq(s.longest[10], ~0ull);
	for (i = 0; i < ARRAY_SIZE(with_ip); i++)
		ck_assert_msg(seen(with_ip[i]).ip_bytes == 0x5f, "%s", vpt_pkt_name(with_ip[i]));
	s = seen(VPT_PKT_CFE);
	ck_assert_uint_eq(s.types & s.types_flag, ~0u);
	for (i = 0; i < 256; i++)
		ck_assert(s.vector[i]);
	s = seen(VPT_PKT_BBP);
	ck_assert_uint_eq(s.types & s.types_flag, ~0u);
	s = seen(VPT_PKT_BIP);
	ck_assert_uint_eq(s.ids & s.ids_4, 0xffffffff);
	ck_assert_uint_eq(seen(VPT_PKT_EVD).ids, ~0ull);
	s = seen(VPT_PKT_TRIG);
	ck_assert_uint_eq(s.cyc_bytes, 1 << 3 | 1 << 5);
	for (i = 0; i < 256; i++)
		ck_assert(s.vector[i]);
	s = seen(VPT_PKT_PTW);
	ck_assert_uint_eq(s.bits & s.bits_ip, 12);
}
END_TEST

/* A fixed size in packets.def is the size of each packet of that kind. */
static void fixed_size(const struct vpt_packet *packet, void *opaque)
{
	const unsigned int *size = opaque;
	uint8_t buf[VPT_PKT_MAX];

	ck_assert_uint_eq(vpt_packet_write(buf, packet), *size);
}

START_TEST(sizes_and_names)
{
	static const struct {
		unsigned int size;
		const char *name;
	} spec[] = {
#define VPT_PKT(kind, text, size, tag, section, meaning) {size, text},
#include "../../shared/spec/packets.def"
	};
	unsigned int size = spec[_i].size;

	ck_assert_str_eq(vpt_pkt_name((enum vpt_pkt_kind)_i), spec[_i].name);
	if (size)
		ck_assert_uint_gt(test_each_packet((enum vpt_pkt_kind)_i, fixed_size, &size), 0);
}
END_TEST

/* Packets with one field out of range. */
/* clang-format off */
#define P(kind_, ...) {.kind = VPT_PKT_##kind_, __VA_ARGS__}
static const struct vpt_packet unwritable[] = {
	{.kind = VPT_PKT_COUNT}, {.kind = (enum vpt_pkt_kind)1000}, P(TNT_8, .bits = 0), P(TNT_8, .bits = 7),
	P(TNT_8, .bits = 3, .value = 8), P(TNT_64, .bits = 0), P(TNT_64, .bits = 48),
	P(TNT_64, .bits = 255), P(TNT_64, .bits = 47, .value = 1ull << 47),
	P(TIP, .ip_bytes = 0, .value = 1), P(TIP, .ip_bytes = 1, .value = 0x10000),
	P(TIP_PGE, .ip_bytes = 2, .value = 1ull << 32),
	P(TIP_PGD, .ip_bytes = 3, .value = 1ull << 48), P(FUP, .ip_bytes = 4, .value = 1ull << 48),
	P(FUP, .ip_bytes = 5), P(FUP, .ip_bytes = 7), P(FUP, .ip_bytes = 8), P(PIP, .value = 1),
	P(PIP, .value = 0x10), P(PIP, .value = 1ull << 52), P(MODE_EXEC, .value = 8),
	P(MODE_TSX, .value = 4), P(CBR, .value = 0x100), P(TSC, .value = 1ull << 56),
	P(MTC, .value = 0x100), P(TMA, .value = 0x10000), P(TMA, .aux = 0x200),
	P(VMCS, .value = 0x800), P(VMCS, .value = 1ull << 52), P(PTW, .bits = 0),
	P(PTW, .bits = 16), P(PTW, .bits = 32, .value = 1ull << 32), P(MWAIT, .value = 0x100),
	P(MWAIT, .aux = 4), P(PWRE, .value = 0x100), P(PWRX, .value = 0x100), P(PWRX, .aux = 0x10),
	P(BBP, .value = 0x20), P(BIP, .bits = 64, .aux = 0x20),
	P(BIP, .bits = 32, .value = 1ull << 32), P(BIP, .bits = 8), P(CFE, .value = 0x20),
	P(CFE, .aux = 0x100), P(EVD, .aux = 0x40), P(TRIG, .aux = 0x200), P(TRIG, .value = 1),
	P(TRIG, .bits = 8, .value = 1), P(TRIG, .bits = 16, .value = 0x10000),
};
/* clang-format on */

START_TEST(out_of_range_is_not_written)
{
	uint8_t buf[VPT_PKT_MAX];

	ck_assert_uint_eq(vpt_packet_write(buf, &unwritable[_i]), 0);
	TEST_PROVES("PKT-TNT-STOP PKT-IP-RESERVED");
}
END_TEST

/* Row: the block state. All pairs of first bytes, each followed by each of these tails. */
START_TEST(every_two_bytes)
{
	static const uint8_t tails[] = {0x00, 0x01, 0x02, 0x82, 0xff};
	static const unsigned int blocks[] = {0, 4, 8};
	unsigned int counts[VPT_E_BAD_PACKET + 1] = {0};

	for (unsigned int prefix = 0; prefix < 0x10000; prefix++) {
		for (unsigned int t = 0; t < ARRAY_SIZE(tails); t++) {
			struct vpt_parser parser = parser_in(blocks[_i]);
			enum vpt_status status;
			struct vpt_packet got;
			uint8_t buf[20];
			size_t len = 2 + (prefix + t) % 19;

			memset(buf, tails[t], sizeof(buf));
			buf[0] = (uint8_t)prefix;
			buf[1] = (uint8_t)(prefix >> 8);
			status = read_exact(&parser, buf, len, &got);
			ck_assert(status == VPT_OK || status == VPT_E_EOS ||
				  status == VPT_E_BAD_PACKET);
			counts[status]++;
			if (status)
				continue;
			ck_assert_uint_gt(got.size, 0);
			ck_assert_uint_le(got.size, len);
			ck_assert_uint_le(got.size, VPT_PKT_MAX);
		}
	}
	/* Each result is frequent, so each assertion above is exercised. */
	ck_assert_uint_gt(counts[VPT_OK], 100000);
	ck_assert_uint_gt(counts[VPT_E_EOS], 1000);
	ck_assert_uint_gt(counts[VPT_E_BAD_PACKET], 10000);
}
END_TEST

/* Row: the byte behind 02. Exactly the opcodes of the vectors are valid. */
START_TEST(extended_opcodes)
{
	const uint8_t buf[] = {0x02, (uint8_t)_i};
	struct vpt_parser parser = {0};
	enum vpt_status status;
	struct vpt_packet got;
	bool is_defined = false;

	for (unsigned int i = 0; i < ARRAY_SIZE(vectors); i++)
		is_defined |= vectors[i].bytes.b[0] == 0x02 && vectors[i].bytes.b[1] == _i;
	status = read_exact(&parser, buf, sizeof(buf), &got);
	ck_assert_msg(is_defined == (status != VPT_E_BAD_PACKET), "02 %02x: %d", _i, status);
}
END_TEST

START_TEST(every_kind_has_a_vector)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(vectors) && (int)vectors[i].packet.kind != _i; i++)
		;
	ck_assert_msg(i < ARRAY_SIZE(vectors), "no vector of %s",
		      vpt_pkt_name((enum vpt_pkt_kind)_i));
	ck_assert_msg(test_packet_known((enum vpt_pkt_kind)_i) != TEST_KNOWN_UNSAID,
		      "no TEST_PACKET of %s", vpt_pkt_name((enum vpt_pkt_kind)_i));
}
END_TEST

/* Row: a kind of packet, which ends an open block or does not. */
START_TEST(blocks)
{
	enum vpt_pkt_kind kind = (enum vpt_pkt_kind)_i;
	static const bool ends[VPT_PKT_COUNT] = {
		[VPT_PKT_BEP] = true,	  [VPT_PKT_OVF] = true,	      [VPT_PKT_TNT_8] = true,
		[VPT_PKT_TNT_64] = true,  [VPT_PKT_TIP] = true,	      [VPT_PKT_TIP_PGE] = true,
		[VPT_PKT_TIP_PGD] = true, [VPT_PKT_MODE_EXEC] = true, [VPT_PKT_MODE_TSX] = true,
		[VPT_PKT_PIP] = true,	  [VPT_PKT_VMCS] = true,      [VPT_PKT_TRACE_STOP] = true,
		[VPT_PKT_PSB] = true,	  [VPT_PKT_PSBEND] = true,    [VPT_PKT_PTW] = true,
		[VPT_PKT_MWAIT] = true,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(vectors); i++) {
		const uint8_t item[] = {0x14, 1, 2, 3, 4, 5, 6, 7, 8};
		struct vpt_parser parser = parser_in(8);
		const struct vector *v = &vectors[i];
		struct vpt_packet got;

		/* In a block, 100b in bits 2:0 is a BIP and no TNT. */
		if (v->packet.kind != kind || (v->bytes.b[0] & 7) == 4)
			continue;
		ck_assert_int_eq(read_exact(&parser, v->bytes.b, v->bytes.len, &got), VPT_OK);
		ck_assert_int_eq(got.kind, kind);
		ck_assert_int_eq(read_exact(&parser, item, sizeof(item), &got), VPT_OK);
		ck_assert_int_eq(got.kind, ends[kind] ? VPT_PKT_TNT_8 : VPT_PKT_BIP);
		if (!ends[kind])
			ck_assert_uint_eq(got.size, kind == VPT_PKT_BBP && v->packet.flag ? 5 : 9);
	}
	TEST_PROVES("PKT-BLOCK-OPEN PKT-BLOCK-END PKT-BLOCK-FORBIDDEN");
}
END_TEST

/* The packets of the stream open and end the blocks. */
START_TEST(block_in_a_stream)
{
	static const uint8_t stream[] = {
		0x04,				    /* TNT */
		0x02, 0x63, 0x81,		    /* BBP, 4 bytes */
		0x04, 1,    2,	  3, 4,		    /* BIP 0 */
		0x59, 0x04,			    /* MTC */
		0x02, 0x63, 0x04,		    /* BBP, 8 bytes */
		0x0c, 1,    2,	  3, 4, 5, 6, 7, 8, /* BIP 1 */
		0x02, 0xb3,			    /* BEP IP */
		0x0c,				    /* TNT */
	};
	static const enum vpt_pkt_kind kinds[] = {
		VPT_PKT_TNT_8, VPT_PKT_BBP, VPT_PKT_BIP, VPT_PKT_MTC,
		VPT_PKT_BBP,   VPT_PKT_BIP, VPT_PKT_BEP, VPT_PKT_TNT_8,
	};
	struct vpt_parser parser = {0};
	size_t at = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct vpt_packet got;

		ck_assert_int_eq(vpt_packet_read(&parser, stream + at, sizeof(stream) - at, &got),
				 VPT_OK);
		ck_assert_int_eq(got.kind, kinds[i]);
		at += got.size;
	}
	ck_assert_uint_eq(at, sizeof(stream));
	TEST_PROVES("PKT-BLOCK-OPEN PKT-BLOCK-END PKT-BBP PKT-BIP PKT-BEP");
}
END_TEST

static bool pattern_at(const uint8_t *buf, size_t len, size_t at)
{
	for (size_t i = 0; i < 16; i++) {
		if (at + i >= len || buf[at + i] != (i % 2 ? 0x82 : 0x02))
			return false;
	}
	return true;
}

/* Find the first PSB pattern, and then the last one of its run. */
static size_t find_psb_slowly(const uint8_t *buf, size_t len)
{
	size_t at = 0, end;

	while (at < len && !pattern_at(buf, len, at))
		at++;
	if (at == len)
		return len;
	for (end = at + 16; end + 1 < len && buf[end] == 0x02 && buf[end + 1] == 0x82;)
		end += 2;
	return at + (end - at) % 16;
}

START_TEST(psb_is_found)
{
	static const uint8_t alphabet[] = {0x02, 0x82, 0x02, 0x82, 0x00};
	uint64_t random = (uint64_t)_i;
	unsigned int found = 0;

	for (unsigned int round = 0; round < 20000; round++) {
		uint8_t buf[96];
		size_t len = test_random(&random) % sizeof(buf);
		size_t run = test_random(&random) % 64;
		size_t at = test_random(&random) % sizeof(buf);

		for (size_t i = 0; i < sizeof(buf); i++)
			buf[i] = alphabet[test_random(&random) % sizeof(alphabet)];
		for (size_t i = 0; i < run && at + i < sizeof(buf); i++)
			buf[at + i] = i % 2 ? 0x82 : 0x02;
		ck_assert_uint_eq(vpt_packet_find_psb(buf, len), find_psb_slowly(buf, len));
		found += vpt_packet_find_psb(buf, len) < len;
	}
	ck_assert_uint_gt(found, 2000);
	ck_assert_uint_lt(found, 18000);
	TEST_PROVES("PKT-PSB-SYNC");
}
END_TEST

/* Bytes before a PSB that look like its beginning must not move the position of the PSB. */
START_TEST(psb_after_a_lookalike)
{
	uint8_t buf[64] = {0};
	struct vpt_parser parser = {0};
	struct vpt_packet psb = {.kind = VPT_PKT_PSB}, got;
	size_t at = 3 + 2 * (size_t)_i;

	for (size_t i = 3; i < at; i++)
		buf[i] = i % 2 ? 0x02 : 0x82;
	vpt_packet_write(buf + at, &psb);
	buf[at + 16] = 0x02;
	buf[at + 17] = 0x23;
	ck_assert_uint_eq(vpt_packet_find_psb(buf, sizeof(buf)), at);
	ck_assert_int_eq(vpt_packet_read(&parser, buf + at + 16, 2, &got), VPT_OK);
	ck_assert_int_eq(got.kind, VPT_PKT_PSBEND);
	TEST_PROVES("PKT-PSB-SYNC");
}
END_TEST

/* A truncated text ends with a zero, and the return value is the whole length. */
START_TEST(format_cuts)
{
	static const char whole[] = "TIP.PGE   3: 0x401000";
	const struct vpt_packet packet = {
		.kind = VPT_PKT_TIP_PGE,
		.ip_bytes = 3,
		.value = 0x401000,
	};
	size_t size = (size_t)_i;
	char text[32];

	memset(text, '#', sizeof(text));
	ck_assert_uint_eq(vpt_packet_format(text, size, &packet), strlen(whole));
	if (size) {
		size_t shown = size <= strlen(whole) ? size - 1 : strlen(whole);

		ck_assert_uint_eq(strlen(text), shown);
		ck_assert(!memcmp(text, whole, shown));
		for (size_t i = shown + 1; i < sizeof(text); i++)
			ck_assert_int_eq(text[i], '#');
	} else {
		ck_assert_int_eq(text[0], '#');
	}
}
END_TEST

/* The text of each payload, with reserved values. */
/* clang-format off */
static const struct {
	const char *text;
	struct vpt_packet packet;
} texts[] = {
#define T(text_, kind_, ...) {text_, {.kind = VPT_PKT_##kind_, .value = __VA_ARGS__}}
	T("CFE       type 0x0", CFE, 0), T("CFE       INTR vector 0x0", CFE, 1),
	T("CFE       IRET", CFE, 2), T("CFE       SMI", CFE, 3), T("CFE       RSM", CFE, 4),
	T("CFE       SIPI vector 0x0", CFE, 5), T("CFE       INIT", CFE, 6),
	T("CFE       VMENTRY", CFE, 7), T("CFE       VMEXIT", CFE, 8),
	T("CFE       VMEXIT_INTR vector 0x0", CFE, 9), T("CFE       SHUTDOWN", CFE, 10),
	T("CFE       type 0xb", CFE, 11), T("CFE       UINTR vector 0x0", CFE, 12),
	T("CFE       UIRET", CFE, 13), T("CFE       type 0xe", CFE, 14),
	T("CFE       type 0xf", CFE, 15), T("CFE       type 0x10", CFE, 16),
	T("CFE       type 0x20", CFE, 32), T("CFE       type 0x21", CFE, 33),
	T("CFE       IRET vector 0x1f", CFE, 2, .aux = 31), T("BBP       type 0x0 8-byte", BBP, 0),
	T("BBP       GPR 8-byte", BBP, 1), T("BBP       type 0x2 8-byte", BBP, 2),
	T("BBP       type 0x3 8-byte", BBP, 3), T("BBP       PEBS-basic 8-byte", BBP, 4),
	T("BBP       PEBS-memory 8-byte", BBP, 5), T("BBP       type 0x6 8-byte", BBP, 6),
	T("BBP       type 0x7 8-byte", BBP, 7), T("BBP       LBR-0 8-byte", BBP, 8),
	T("BBP       LBR-1 8-byte", BBP, 9), T("BBP       LBR-2 8-byte", BBP, 10),
	T("BBP       type 0xb 8-byte", BBP, 11), T("BBP       type 0xc 8-byte", BBP, 12),
	T("BBP       type 0xd 8-byte", BBP, 13), T("BBP       type 0xe 8-byte", BBP, 14),
	T("BBP       type 0xf 8-byte", BBP, 15), T("BBP       XMM 8-byte", BBP, 16),
	T("BBP       type 0x11 8-byte", BBP, 17), T("EVD       PFA 0x7", EVD, 7, .aux = 0),
	T("EVD       VMXQ 0x7", EVD, 7, .aux = 1), T("EVD       VMXR 0x7", EVD, 7, .aux = 2),
	T("EVD       type 0x3 0x7", EVD, 7, .aux = 3),
	T("EVD       type 0x4 0x7", EVD, 7, .aux = 4),
	T("PWRX      last 0x0 deepest 0x0 wake interrupt", PWRX, 0, .aux = 0x1),
	T("PWRX      last 0x0 deepest 0x0 wake timer", PWRX, 0, .aux = 0x2),
	T("PWRX      last 0x0 deepest 0x0 wake store", PWRX, 0, .aux = 0x4),
	T("PWRX      last 0x0 deepest 0x0 wake hw", PWRX, 0, .aux = 0x8),
	T("PWRX      last 0x0 deepest 0x0 wake none", PWRX, 0, .aux = 0x10),
	T("PWRX      last 0x0 deepest 0x0 wake interrupt timer store hw", PWRX, 0, .aux = 0x1f),
	T("PWRX      last 0x0 deepest 0x0 wake none", PWRX, 0, .aux = 0xf0),
	T("MODE.TSX  InTX=1 TXAbort=1", MODE_TSX, 3), T("MODE.Exec 16-bit IF", MODE_EXEC, 4),
	T("MODE.Exec CS.L+CS.D IF", MODE_EXEC, 7), T("MODE.Exec 16-bit", MODE_EXEC, 8),
	T("CBR       7", CBR, 7), T("CYC       5", CYC, 5),
	T("CYC       18446744073709551615", CYC, ~0ull),
	T("BIP       20: 0x0", BIP, 0, .aux = 0x20), T("PWRE      state 0xf sub 0x1", PWRE, 0x1f1),
	T("PWRX      last 0xf deepest 0x1 wake none", PWRX, 0x1f1),
};
/* clang-format on */

START_TEST(format_payload)
{
	char text[64];

	ck_assert_uint_eq(vpt_packet_format(text, sizeof(text), &texts[_i].packet),
			  strlen(texts[_i].text));
	ck_assert_str_eq(text, texts[_i].text);
}
END_TEST

/* The text of a packet without payload has no trailing blanks, however small the buffer is. */
START_TEST(format_cuts_names)
{
	const struct vpt_packet packet = {.kind = VPT_PKT_PSB};
	char text[16];

	memset(text, '#', sizeof(text));
	ck_assert_uint_eq(vpt_packet_format(text, (size_t)_i, &packet), 3);
	ck_assert_uint_eq(strlen(text), _i > 3 ? 3 : _i - 1);
}
END_TEST

START_TEST(format_of_nonsense)
{
	/* Invalid fields must not index beyond a table. */
	char text[512];

	for (unsigned int kind = 0; kind <= VPT_PKT_COUNT; kind++) {
		struct vpt_packet packet = {
			.kind = (enum vpt_pkt_kind)kind,
			.ip_bytes = 0xff,
			.bits = 0xff,
			.flag = true,
			.aux = 0xffff,
			.value = ~0ull,
		};

		ck_assert_uint_lt(vpt_packet_format(text, sizeof(text), &packet), sizeof(text));
		ck_assert_int_eq(
			strncmp(text, vpt_pkt_name(packet.kind), strlen(vpt_pkt_name(packet.kind))),
			0);
	}
	ck_assert_str_eq(vpt_pkt_name(VPT_PKT_COUNT), "?");
	ck_assert_str_eq(vpt_pkt_name((enum vpt_pkt_kind) - 1), "?");
}
END_TEST

TEST_SUITE("packet", NULL, NULL)
{
	TEST_ROWS(tcase, vector_writes, vectors);
	TEST_ROWS(tcase, vector_reads, vectors);
	TEST_ROWS(tcase, vector_formats, vectors);
	TEST_ROWS(tcase, reserved_bits_are_ignored, read_vectors);
	TEST_ROWS(tcase, bad_bytes, bad_vectors);
	tcase_set_timeout(tcase, 60);
	TEST_LOOP(tcase, VPT_PKT_COUNT, every_packet_stays_inside, every_packet_round_trips,
		  sizes_and_names, every_kind_has_a_vector, blocks);
	TEST_ROWS(tcase, out_of_range_is_not_written, unwritable);
	tcase_add_loop_test(tcase, every_two_bytes, 0, 3);
	tcase_add_loop_test(tcase, extended_opcodes, 0, 256);
	tcase_add_loop_test(tcase, psb_is_found, 0, 4);
	tcase_add_loop_test(tcase, psb_after_a_lookalike, 0, 8);
	tcase_add_loop_test(tcase, format_cuts, 0, 32);
	TEST_ROWS(tcase, format_payload, texts);
	tcase_add_loop_test(tcase, format_cuts_names, 1, 16);
	TEST_ADD(tcase, each_value_is_made, block_in_a_stream, format_of_nonsense);
}
