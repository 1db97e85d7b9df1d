// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets to bytes, bytes to packets, and packets to text (33.4.2). */
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

/* Read a copy that ends where its bytes do, so that ASan sees a byte too many. */
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

/* Bad bytes are bad, and their beginnings are bad or too short, never a packet. */
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

	/* What follows doesn't change what is read. */
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

/* Nothing is written behind the buffer. */
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

/* What test_each_packet() gave, where it is easily forgotten. */
struct seen {
	unsigned int ip_bytes;	    /* sets, as are these: */
	unsigned int cyc_bytes;	    /* lengths of CYC, */
	unsigned int types;	    /* of CFE and BBP, */
	unsigned int types_flag;    /* ... with IP, or of 4-byte items, */
	uint64_t ids;		    /* of BIP and types of EVD, */
	uint64_t ids_4;		    /* ... of 4-byte items, */
	unsigned int bits, bits_ip; /* of PTW in bytes */
	bool vector[256];
	uint64_t longest[VPT_PKT_MAX]; /* CYC's greatest value, by length */
	uint64_t shortest[VPT_PKT_MAX];
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

/* Of what the round trips are made, here and in the comparisons with other readers. */
START_TEST(each_packet_is_each)
{
	struct seen s = seen(VPT_PKT_CYC);
	unsigned int i;

	/* 5 bits, and 7 more with each byte (33.4.2.14). */
	ck_assert_uint_eq(s.cyc_bytes, 0x7fe);
	for (i = 1; i < 10; i++) {
		ck_assert_uint_eq(s.longest[i], (1ull << (7 * i - 2)) - 1);
		ck_assert_uint_eq(s.shortest[i + 1], 1ull << (7 * i - 2));
	}
	ck_assert_uint_eq(s.longest[10], ~0ull);
	ck_assert_uint_eq(seen(VPT_PKT_TIP).ip_bytes, 0x5f);
	ck_assert_uint_eq(seen(VPT_PKT_TIP_PGE).ip_bytes, 0x5f);
	ck_assert_uint_eq(seen(VPT_PKT_TIP_PGD).ip_bytes, 0x5f);
	ck_assert_uint_eq(seen(VPT_PKT_FUP).ip_bytes, 0x5f);
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

/* A fixed size in packets.def is the size of every packet of that kind. */
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

/* One field out of its range. */
static const struct vpt_packet unwritable[] = {
	{.kind = VPT_PKT_COUNT},
	{.kind = (enum vpt_pkt_kind)1000},
	{.kind = VPT_PKT_TNT_8, .bits = 0},
	{.kind = VPT_PKT_TNT_8, .bits = 7},
	{.kind = VPT_PKT_TNT_8, .bits = 3, .value = 8},
	{.kind = VPT_PKT_TNT_64, .bits = 0},
	{.kind = VPT_PKT_TNT_64, .bits = 48},
	{.kind = VPT_PKT_TNT_64, .bits = 255},
	{.kind = VPT_PKT_TNT_64, .bits = 47, .value = 1ull << 47},
	{.kind = VPT_PKT_TIP, .ip_bytes = 0, .value = 1},
	{.kind = VPT_PKT_TIP, .ip_bytes = 1, .value = 0x10000},
	{.kind = VPT_PKT_TIP_PGE, .ip_bytes = 2, .value = 1ull << 32},
	{.kind = VPT_PKT_TIP_PGD, .ip_bytes = 3, .value = 1ull << 48},
	{.kind = VPT_PKT_FUP, .ip_bytes = 4, .value = 1ull << 48},
	{.kind = VPT_PKT_FUP, .ip_bytes = 5},
	{.kind = VPT_PKT_FUP, .ip_bytes = 7},
	{.kind = VPT_PKT_FUP, .ip_bytes = 8},
	{.kind = VPT_PKT_PIP, .value = 1},
	{.kind = VPT_PKT_PIP, .value = 0x10},
	{.kind = VPT_PKT_PIP, .value = 1ull << 52},
	{.kind = VPT_PKT_MODE_EXEC, .value = 8},
	{.kind = VPT_PKT_MODE_TSX, .value = 4},
	{.kind = VPT_PKT_CBR, .value = 0x100},
	{.kind = VPT_PKT_TSC, .value = 1ull << 56},
	{.kind = VPT_PKT_MTC, .value = 0x100},
	{.kind = VPT_PKT_TMA, .value = 0x10000},
	{.kind = VPT_PKT_TMA, .aux = 0x200},
	{.kind = VPT_PKT_VMCS, .value = 0x800},
	{.kind = VPT_PKT_VMCS, .value = 1ull << 52},
	{.kind = VPT_PKT_PTW, .bits = 0},
	{.kind = VPT_PKT_PTW, .bits = 16},
	{.kind = VPT_PKT_PTW, .bits = 32, .value = 1ull << 32},
	{.kind = VPT_PKT_MWAIT, .value = 0x100},
	{.kind = VPT_PKT_MWAIT, .aux = 4},
	{.kind = VPT_PKT_PWRE, .value = 0x100},
	{.kind = VPT_PKT_PWRX, .value = 0x100},
	{.kind = VPT_PKT_PWRX, .aux = 0x10},
	{.kind = VPT_PKT_BBP, .value = 0x20},
	{.kind = VPT_PKT_BIP, .bits = 64, .aux = 0x20},
	{.kind = VPT_PKT_BIP, .bits = 32, .value = 1ull << 32},
	{.kind = VPT_PKT_BIP, .bits = 8},
	{.kind = VPT_PKT_CFE, .value = 0x20},
	{.kind = VPT_PKT_CFE, .aux = 0x100},
	{.kind = VPT_PKT_EVD, .aux = 0x40},
	{.kind = VPT_PKT_TRIG, .aux = 0x200},
	{.kind = VPT_PKT_TRIG, .value = 1},
	{.kind = VPT_PKT_TRIG, .bits = 8, .value = 1},
	{.kind = VPT_PKT_TRIG, .bits = 16, .value = 0x10000},
};

START_TEST(out_of_range_is_not_written)
{
	uint8_t buf[VPT_PKT_MAX];

	ck_assert_uint_eq(vpt_packet_write(buf, &unwritable[_i]), 0);
	TEST_PROVES("PKT-TNT-STOP PKT-IP-RESERVED");
}
END_TEST

/* All beginnings of two bytes, in each state, with each of these as a tail. */
START_TEST(every_beginning_is_judged)
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
	/* Each outcome is frequent, so none of the asserts above is idle. */
	ck_assert_uint_gt(counts[VPT_OK], 100000);
	ck_assert_uint_gt(counts[VPT_E_EOS], 1000);
	ck_assert_uint_gt(counts[VPT_E_BAD_PACKET], 10000);
}
END_TEST

/* The second bytes that may follow 02 are those of the vectors. */
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

/* What each kind does to an open block. */
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

		/* In a block 100b in bits 2:0 is no TNT. */
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

/* Through the stream's own packets, not a parser that is set up for it. */
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

/* The definition, slowly: the first place, then the last of its run. */
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

/* A payload that ends like a PSB begins must not shift the packets after it. */
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

/* Cut texts end with a zero, touch nothing beyond it and report the whole length. */
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

/* Names and numbers of each payload, reserved values too. */
/* clang-format off */
static const struct {
	const char *text;
	struct vpt_packet packet;
} texts[] = {
	{"CFE       type 0x0", {.kind = VPT_PKT_CFE, .value = 0}},
	{"CFE       INTR vector 0x0", {.kind = VPT_PKT_CFE, .value = 1}},
	{"CFE       IRET", {.kind = VPT_PKT_CFE, .value = 2}},
	{"CFE       SMI", {.kind = VPT_PKT_CFE, .value = 3}},
	{"CFE       RSM", {.kind = VPT_PKT_CFE, .value = 4}},
	{"CFE       SIPI vector 0x0", {.kind = VPT_PKT_CFE, .value = 5}},
	{"CFE       INIT", {.kind = VPT_PKT_CFE, .value = 6}},
	{"CFE       VMENTRY", {.kind = VPT_PKT_CFE, .value = 7}},
	{"CFE       VMEXIT", {.kind = VPT_PKT_CFE, .value = 8}},
	{"CFE       VMEXIT_INTR vector 0x0", {.kind = VPT_PKT_CFE, .value = 9}},
	{"CFE       SHUTDOWN", {.kind = VPT_PKT_CFE, .value = 10}},
	{"CFE       type 0xb", {.kind = VPT_PKT_CFE, .value = 11}},
	{"CFE       UINTR vector 0x0", {.kind = VPT_PKT_CFE, .value = 12}},
	{"CFE       UIRET", {.kind = VPT_PKT_CFE, .value = 13}},
	{"CFE       type 0xe", {.kind = VPT_PKT_CFE, .value = 14}},
	{"CFE       type 0xf", {.kind = VPT_PKT_CFE, .value = 15}},
	{"CFE       type 0x10", {.kind = VPT_PKT_CFE, .value = 16}},
	{"CFE       type 0x20", {.kind = VPT_PKT_CFE, .value = 32}},
	{"CFE       type 0x21", {.kind = VPT_PKT_CFE, .value = 33}},
	{"CFE       IRET vector 0x1f", {.kind = VPT_PKT_CFE, .value = 2, .aux = 31}},
	{"BBP       type 0x0 8-byte", {.kind = VPT_PKT_BBP, .value = 0}},
	{"BBP       GPR 8-byte", {.kind = VPT_PKT_BBP, .value = 1}},
	{"BBP       type 0x2 8-byte", {.kind = VPT_PKT_BBP, .value = 2}},
	{"BBP       type 0x3 8-byte", {.kind = VPT_PKT_BBP, .value = 3}},
	{"BBP       PEBS-basic 8-byte", {.kind = VPT_PKT_BBP, .value = 4}},
	{"BBP       PEBS-memory 8-byte", {.kind = VPT_PKT_BBP, .value = 5}},
	{"BBP       type 0x6 8-byte", {.kind = VPT_PKT_BBP, .value = 6}},
	{"BBP       type 0x7 8-byte", {.kind = VPT_PKT_BBP, .value = 7}},
	{"BBP       LBR-0 8-byte", {.kind = VPT_PKT_BBP, .value = 8}},
	{"BBP       LBR-1 8-byte", {.kind = VPT_PKT_BBP, .value = 9}},
	{"BBP       LBR-2 8-byte", {.kind = VPT_PKT_BBP, .value = 10}},
	{"BBP       type 0xb 8-byte", {.kind = VPT_PKT_BBP, .value = 11}},
	{"BBP       type 0xc 8-byte", {.kind = VPT_PKT_BBP, .value = 12}},
	{"BBP       type 0xd 8-byte", {.kind = VPT_PKT_BBP, .value = 13}},
	{"BBP       type 0xe 8-byte", {.kind = VPT_PKT_BBP, .value = 14}},
	{"BBP       type 0xf 8-byte", {.kind = VPT_PKT_BBP, .value = 15}},
	{"BBP       XMM 8-byte", {.kind = VPT_PKT_BBP, .value = 16}},
	{"BBP       type 0x11 8-byte", {.kind = VPT_PKT_BBP, .value = 17}},
	{"EVD       PFA 0x7", {.kind = VPT_PKT_EVD, .value = 7, .aux = 0}},
	{"EVD       VMXQ 0x7", {.kind = VPT_PKT_EVD, .value = 7, .aux = 1}},
	{"EVD       VMXR 0x7", {.kind = VPT_PKT_EVD, .value = 7, .aux = 2}},
	{"EVD       type 0x3 0x7", {.kind = VPT_PKT_EVD, .value = 7, .aux = 3}},
	{"EVD       type 0x4 0x7", {.kind = VPT_PKT_EVD, .value = 7, .aux = 4}},
	{"PWRX      last 0x0 deepest 0x0 wake interrupt", {.kind = VPT_PKT_PWRX, .aux = 0x1}},
	{"PWRX      last 0x0 deepest 0x0 wake timer", {.kind = VPT_PKT_PWRX, .aux = 0x2}},
	{"PWRX      last 0x0 deepest 0x0 wake store", {.kind = VPT_PKT_PWRX, .aux = 0x4}},
	{"PWRX      last 0x0 deepest 0x0 wake hw", {.kind = VPT_PKT_PWRX, .aux = 0x8}},
	{"PWRX      last 0x0 deepest 0x0 wake none", {.kind = VPT_PKT_PWRX, .aux = 0x10}},
	{"PWRX      last 0x0 deepest 0x0 wake interrupt timer store hw", {.kind = VPT_PKT_PWRX, .aux = 0x1f}},
	{"PWRX      last 0x0 deepest 0x0 wake none", {.kind = VPT_PKT_PWRX, .aux = 0xf0}},
	{"MODE.TSX  InTX=1 TXAbort=1", {.kind = VPT_PKT_MODE_TSX, .value = 3}},
	{"MODE.Exec 16-bit IF", {.kind = VPT_PKT_MODE_EXEC, .value = 4}},
	{"MODE.Exec CS.L+CS.D IF", {.kind = VPT_PKT_MODE_EXEC, .value = 7}},
	{"MODE.Exec 16-bit", {.kind = VPT_PKT_MODE_EXEC, .value = 8}},
	{"CBR       7", {.kind = VPT_PKT_CBR, .value = 7}},
	{"CYC       5", {.kind = VPT_PKT_CYC, .value = 5}},
	{"CYC       18446744073709551615", {.kind = VPT_PKT_CYC, .value = ~0ull}},
	{"BIP       20: 0x0", {.kind = VPT_PKT_BIP, .aux = 0x20}},
	{"PWRE      state 0xf sub 0x1", {.kind = VPT_PKT_PWRE, .value = 0x1f1}},
	{"PWRX      last 0xf deepest 0x1 wake none", {.kind = VPT_PKT_PWRX, .value = 0x1f1}},
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

/* A name alone has no blanks after it, even where the buffer ends among them. */
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
	/* Fields that no packet has must not lead out of a table. */
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

Suite *test_suite(void)
{
	Suite *suite = suite_create("packet");
	TCase *tc = tcase_create("vectors");

	tcase_add_loop_test(tc, vector_writes, 0, ARRAY_SIZE(vectors));
	tcase_add_loop_test(tc, vector_reads, 0, ARRAY_SIZE(vectors));
	tcase_add_loop_test(tc, vector_formats, 0, ARRAY_SIZE(vectors));
	tcase_add_loop_test(tc, reserved_bits_are_ignored, 0, ARRAY_SIZE(read_vectors));
	tcase_add_loop_test(tc, bad_bytes, 0, ARRAY_SIZE(bad_vectors));
	suite_add_tcase(suite, tc);

	tc = tcase_create("kinds");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, every_packet_stays_inside, 0, VPT_PKT_COUNT);
	tcase_add_loop_test(tc, every_packet_round_trips, 0, VPT_PKT_COUNT);
	tcase_add_test(tc, each_packet_is_each);
	tcase_add_loop_test(tc, sizes_and_names, 0, VPT_PKT_COUNT);
	tcase_add_loop_test(tc, out_of_range_is_not_written, 0, ARRAY_SIZE(unwritable));
	tcase_add_loop_test(tc, every_beginning_is_judged, 0, 3);
	tcase_add_loop_test(tc, extended_opcodes, 0, 256);
	tcase_add_loop_test(tc, every_kind_has_a_vector, 0, VPT_PKT_COUNT);
	suite_add_tcase(suite, tc);

	tc = tcase_create("stream");
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, blocks, 0, VPT_PKT_COUNT);
	tcase_add_test(tc, block_in_a_stream);
	tcase_add_loop_test(tc, psb_is_found, 0, 4);
	tcase_add_loop_test(tc, psb_after_a_lookalike, 0, 8);
	suite_add_tcase(suite, tc);

	tc = tcase_create("format");
	tcase_add_loop_test(tc, format_cuts, 0, 32);
	tcase_add_loop_test(tc, format_payload, 0, sizeof(texts) / sizeof(texts[0]));
	tcase_add_loop_test(tc, format_cuts_names, 1, 16);
	tcase_add_test(tc, format_of_nonsense);
	suite_add_tcase(suite, tc);
	return suite;
}
