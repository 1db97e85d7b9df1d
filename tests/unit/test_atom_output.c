// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the bytes of Atom's RTIT go (2.3, 3.3.10 to 3.3.12). */
#include "lib/atomfix.h"

#define BASE 0x240000u

/* The bytes of a trace, in the order of their coming, as a stream has them. */
struct stream {
	uint8_t bytes[4096];
	size_t len;
	uint8_t stage[64];
};

static struct stream seen;

static void take(void *opaque, const void *bytes, size_t len)
{
	(void)opaque;
	ck_assert_uint_le(len, sizeof(seen.bytes) - seen.len);
	memcpy(seen.bytes + seen.len, bytes, len);
	seen.len += len;
}

static void put_region(struct atomfix *fix, uint64_t base, uint64_t mask, uint64_t offset)
{
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, ATOMFIX_EVENTS);
	atomfix_write(fix, VPT_ATOM_MSR_BASE_ADDR, base);
	atomfix_write(fix, VPT_ATOM_MSR_LIMIT_MASK, mask);
	atomfix_write(fix, VPT_ATOM_MSR_OFFSET, offset);
}

/* The same walk each time. */
static void walk(struct atomfix *fix, unsigned int jumps)
{
	unsigned int i;

	for (i = 0; i < jumps; i++) {
		atomfix_jcc(fix, i & 1);
		atomfix_jump(fix, 0x12345678u * (uint64_t)i);
	}
}

static void trace(struct atomfix *fix, unsigned int jumps)
{
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL);
	walk(fix, jumps);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
}

/* The reference: what a trace hub gets, with OFFSET moving as if it were memory. */
static void record(unsigned int jumps)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_NONE);

	seen.len = 0;
	vpt_atom_set_stream(&fix->atom, seen.stage, sizeof(seen.stage), take);
	put_region(fix, BASE, ATOMFIX_ROOM - 1, 0);
	trace(fix, jumps);
	ck_assert_uint_gt(seen.len, 0);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_OFFSET), seen.len);
	ck_assert_uint_eq(fix->mem.committed.count, 0);
	atomfix_free(fix);
}

struct place {
	uint64_t base, mask, offset;
};

static const struct place places[] = {
	{BASE, 0x3fff, 0},	  {BASE, 0x3fff, 0x123},
	{BASE, 0x3f, 0},			       /* the smallest: it wraps over and over */
	{BASE, 0x3f, 0x3f},	  {BASE, 0x7f, 0x1f3}, /* OFFSET beyond the mask */
	{BASE | 0xfc0, 0xfff, 7},		       /* bits of the mask in the base */
	{BASE, 0xc3f, 0x430},			       /* holes: it wraps at the first */
	{BASE | 0x400, 0xc3f, 0}, {BASE, 0x3ffc3f, 0x12fc05},
};

/* 2.3, byte by byte: what is where, in which order, and where OFFSET stands. */
static void compare(struct atomfix *fix, const struct place *p)
{
	uint32_t offset = (uint32_t)p->offset;
	uint8_t byte;
	size_t i;

	ck_assert_uint_eq(fix->mem.committed.count, seen.len);
	for (i = 0; i < seen.len; i++) {
		uint64_t gpa = (p->base & ~p->mask) + (offset & p->mask);

		ck_assert_uint_eq(fix->mem.committed.gpa[i], gpa);
		if (seen.len - i <= 64) {
			guestmem_peek(&fix->mem, gpa, &byte, 1);
			ck_assert_uint_eq(byte, seen.bytes[i]);
		}
		offset = (offset + 1) & (uint32_t)p->mask;
	}
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_OFFSET), offset);
}

/* Row: a place, in each way in which memory can be there. */
START_TEST(addresses)
{
	const struct place *p = &places[_i / GUESTMEM_MAP_MODES];
	enum guestmem_map map = (enum guestmem_map)(_i % GUESTMEM_MAP_MODES);
	struct atomfix *fix = atomfix_new(map);

	record(60);
	guestmem_ram(&fix->mem, BASE & ~0x3fffffull, 0x400000);
	put_region(fix, p->base, p->mask, p->offset);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL);
	/* A mapped region is written byte by byte only if its mask has holes. */
	if (map == GUESTMEM_MAP_WHOLE)
		ck_assert_int_eq(fix->atom.scattered, (p->mask & (p->mask + 1)) != 0);
	walk(fix, 60);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	compare(fix, p);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OUT-ADDRESS ATOM-OUT-WRAP ATOM-OUT-PORT");
}
END_TEST

/* Row: bytes of RAM, then a hole of 20, then RAM: what memory refuses is lost, alone. */
START_TEST(refused)
{
	enum { HOLE = 20 };
	const uint64_t first = (uint64_t)(_i % 30), base = 0x10000;
	struct atomfix *fix = atomfix_new(_i < 30 ? GUESTMEM_MAP_WHOLE : GUESTMEM_MAP_NONE);
	uint8_t byte;
	size_t i, n = 0;

	record(30);
	if (first)
		guestmem_ram(&fix->mem, base, first);
	guestmem_ram(&fix->mem, base + first + HOLE, 0x1000);
	put_region(fix, base, 0xfff, 0);
	trace(fix, 30);
	for (i = 0; i < seen.len; i++) {
		if (i >= first && i < first + HOLE)
			continue;
		ck_assert_uint_eq(fix->mem.committed.gpa[n++], base + i);
		guestmem_peek(&fix->mem, base + i, &byte, 1);
		ck_assert_uint_eq(byte, seen.bytes[i]);
	}
	ck_assert_uint_eq(fix->mem.committed.count, n);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_OFFSET), seen.len);
	atomfix_free(fix);
	TEST_PROVES("ATOM-OUT-ADDRESS");
}
END_TEST

/* The region is written while a trace runs: the next byte goes where it says. */
START_TEST(moved)
{
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	size_t middle;

	guestmem_ram(&fix->mem, BASE, 0x10000);
	put_region(fix, BASE, 0xfff, 0);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL);
	walk(fix, 5);
	middle = atomfix_read(fix, VPT_ATOM_MSR_OFFSET);
	atomfix_write(fix, VPT_ATOM_MSR_OFFSET, 0x800);
	walk(fix, 1);
	atomfix_write(fix, VPT_ATOM_MSR_BASE_ADDR, BASE + 0x4000);
	atomfix_write(fix, VPT_ATOM_MSR_LIMIT_MASK, 0x3f);
	walk(fix, 1);
	vpt_atom_flush(&fix->atom);
	ck_assert_uint_eq(fix->mem.committed.gpa[middle - 1], BASE + middle - 1);
	ck_assert_uint_eq(fix->mem.committed.gpa[middle], BASE + 0x800);
	ck_assert_uint_eq(fix->mem.committed.gpa[fix->mem.committed.count - 1],
			  BASE + 0x4000 + ((fix->atom.regs.offset - 1) & 0x3f));
	atomfix_free(fix);
	TEST_PROVES("ATOM-CTL-LIVE ATOM-OUT-ADDRESS");
}
END_TEST

/* Row: Dest, and OFFSET as TraceStop comes. With Dest clear its byte goes to C0H. */
START_TEST(trace_stop)
{
	const uint64_t dest = _i & 1 ? VPT_ATOM_MASK(CTL, DEST) : 0;
	const uint64_t at = _i & 2 ? 0x1f0 : 0x10;
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	uint64_t stop, end;
	uint8_t byte;

	guestmem_ram(&fix->mem, BASE, 0x10000);
	put_region(fix, BASE, 0xfff, at);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, (ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, DEST)) | dest);
	end = atomfix_read(fix, VPT_ATOM_MSR_OFFSET);
	atomfix_write(fix, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_ALWAYS << 3);
	stop = dest ? BASE + end : ((BASE + end) & ~0xffull) | 0xc0;
	guestmem_peek(&fix->mem, stop, &byte, 1);
	ck_assert_uint_eq(byte, 0xc1);
	ck_assert_uint_eq(fix->mem.committed.gpa[fix->mem.committed.count - 1], stop);
	ck_assert_uint_eq(atomfix_read(fix, VPT_ATOM_MSR_OFFSET), end + 1);
	ck_assert_uint_eq(fix->falls, 1);
	atomfix_free(fix);
	TEST_PROVES("ATOM-STOP-DEST ATOM-STOP ATOM-WHEN-STOP");
}
END_TEST

TEST_SUITE("atom_output", NULL, NULL)
{
	TEST_LOOP(tcase, GUESTMEM_MAP_MODES * (int)(sizeof(places) / sizeof(places[0])), addresses);
	TEST_LOOP(tcase, 60, refused);
	TEST_ADD(tcase, moved);
	TEST_LOOP(tcase, 4, trace_stop);
}
