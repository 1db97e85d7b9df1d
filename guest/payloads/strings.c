// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * String instructions: one instruction without a packet, for any number of iterations, including
 * none, and also downwards (DF).
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("rep movs, stos, lods, scas, cmps: forwards, backwards, zero times");

#define BYTES 256

static uint8_t src[BYTES], dst[BYTES], down[BYTES];

/* Return RCX after a repeated scan or compare. */
static noinline uint64_t scan_for(const uint8_t *p, uint8_t value, uint64_t n)
{
	__asm__ volatile("repne scasb" : "+D"(p), "+c"(n) : "a"(value) : "memory", "cc");
	return n;
}

static noinline uint64_t compare(const uint8_t *a, const uint8_t *b, uint64_t n)
{
	__asm__ volatile("cmp %%al, %%al; repe cmpsb"
			 : "+S"(a), "+D"(b), "+c"(n)
			 :
			 : "memory", "cc");
	return n;
}

static noinline uint64_t load_last(const uint8_t *p, uint64_t n)
{
	uint64_t value = ~0ull;

	__asm__ volatile("rep lodsb" : "+S"(p), "+c"(n), "+a"(value) : : "memory");
	return value & 0xff;
}

#define COPY(name, insn)                                                                    \
	static noinline const void *name(void *to, const void *from, uint64_t n)            \
	{                                                                                   \
		__asm__ volatile("rep " insn : "+D"(to), "+S"(from), "+c"(n) : : "memory"); \
		return to;                                                                  \
	}

COPY(copy_bytes, "movsb")
COPY(copy_words, "movsw")
COPY(copy_longs, "movsl")
COPY(copy_quads, "movsq")

static noinline void copy_down(uint8_t *to, const uint8_t *from, uint64_t n)
{
	to += n - 1;
	from += n - 1;
	__asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

static noinline void fill(void *to, uint64_t value, uint64_t quads)
{
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(quads) : "a"(value) : "memory");
}

/* One at a time, between branches. */
static noinline uint64_t checksum(const uint8_t *p, uint64_t n)
{
	uint64_t sum = 0, value;

	while (n--) {
		value = 0;
		__asm__ volatile("lodsb" : "+S"(p), "+a"(value) : : "memory");
		sum = sum * 31 + value;
	}
	return sum;
}

static struct {
	uint64_t at, none, equal, differ, last, zero_scan, zero_load, sum;
	bool zero_copy, bytes, words, longs, quads, overlap, filled;
} result;

static bool copied(const void *(*copy)(void *, const void *, uint64_t), uint64_t unit)
{
	fill(dst, 0, BYTES / 8);
	return copy(dst, src, BYTES / unit) == dst + BYTES && !memcmp(dst, src, BYTES);
}

static void work(void)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		result.bytes = copied(copy_bytes, 1);
		result.words = copied(copy_words, 2);
		result.longs = copied(copy_longs, 4);
		result.quads = copied(copy_quads, 8);
	}
	result.zero_copy = copy_bytes(dst, src + 9, 0) == dst && dst[0] == src[0];
	result.zero_scan = scan_for(src, src[0], 0);
	result.zero_load = load_last(src, 0);

	result.at = BYTES - scan_for(src, src[100], BYTES) - 1;
	result.none = scan_for(src, 0xff, BYTES);
	result.equal = compare(src, dst, BYTES);
	dst[200] ^= 1;
	result.differ = BYTES - compare(src, dst, BYTES) - 1;
	result.last = load_last(src, BYTES);

	/* The areas overlap, so that only one direction is right. */
	copy_bytes(down, src, BYTES);
	copy_down(down + 3, down, BYTES - 3);
	result.overlap = !memcmp(down + 3, src, BYTES - 3);

	fill(down, 0x5a5a5a5a5a5a5a5aull, BYTES / 8);
	result.filled = down[0] == 0x5a && down[BYTES - 1] == 0x5a;
	result.sum = checksum(src, BYTES);
}

void payload(void)
{
	uint64_t sum = 0;
	struct trace t;
	unsigned int i;

	/* All bytes differ from their neighbours, and none is 0xff. */
	for (i = 0; i < BYTES; i++)
		src[i] = (uint8_t)(i * 7 % 255);
	for (i = 0; i < BYTES; i++)
		sum = sum * 31 + src[i];
	trace_simple(&t, work);
	report(result.bytes && result.words && result.longs && result.quads,
	       "copies of each width");
	report(result.zero_copy, "a copy of nothing");
	report_equal(result.zero_scan, 0, "a scan of nothing");
	report_equal(result.zero_load, 0xff, "a load of nothing leaves AL");
	report_equal(result.at, 100, "a scan that ends early");
	report_equal(result.none, 0, "a scan that finds nothing");
	report_equal(result.equal, 0, "a compare of equal bytes");
	report_equal(result.differ, 200, "a compare that ends early");
	report_equal(result.last, src[BYTES - 1], "a repeated load keeps the last byte");
	report(result.overlap, "an overlapping copy backwards");
	report(result.filled, "a fill");
	report_equal(result.sum, sum, "string loads between branches");
	report(!(read_rflags() & RFLAGS_DF), "DF is clear again");
}
