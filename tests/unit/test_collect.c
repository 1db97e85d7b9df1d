// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trace in a guest's buffer, read after it was put there: held against the library's
 * own output, which puts it.
 */
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#include "pt/collect.h"
#include "vpt/output.h"

#define RAM	  (1u << 20)
#define FIRST	  0x1000u /* tables */
#define SECOND	  0x2000u
#define REGIONS	  0x10000u
#define PUT_MAX	  65536u
#define RUNS	  200
#define TOPA_END  1u
#define TOPA_INT  4u
#define TOPA_STOP 16u

static struct x86_mem mem;
static struct vpt_output out;
static struct vpt_rtit rtit;
static struct tracer_collect c;

static uint8_t put[PUT_MAX], got[PUT_MAX];
static size_t nput, ngot, last; /* last: where the last loss was */
static unsigned int losses, interrupts;
static uint32_t state;

static uint32_t next_random(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	(void)opaque;
	return x86_mem_read(&mem, gpa, dst, len);
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	(void)opaque;
	return x86_mem_write(&mem, gpa, src, len);
}

static const struct vpt_mem_ops ops = {.read = mem_read, .write = mem_write};

static void take(void *opaque, uint64_t gpa, const uint8_t *bytes, uint64_t len)
{
	(void)opaque;
	ck_assert_ptr_eq(bytes, x86_mem_at(&mem, gpa, len));
	ck_assert_uint_le(len, PUT_MAX - ngot);
	memcpy(got + ngot, bytes, len);
	ngot += len;
}

static void lose(void *opaque)
{
	(void)opaque;
	losses++;
	last = ngot;
}

static void interrupt(void *opaque)
{
	(void)opaque;
	interrupts++;
}

/* For more than there is room for. */
static void count(void *opaque, uint64_t gpa, const uint8_t *bytes, uint64_t len)
{
	(void)opaque;
	ck_assert_ptr_nonnull(bytes);
	ck_assert_ptr_eq(bytes, x86_mem_at(&mem, gpa, len));
	ngot += len;
}

static const struct tracer_collect_sink sink = {take, lose, interrupt, NULL};

static void setup(void)
{
	ck_assert_int_eq(x86_mem_create(&mem, RAM), 0);
	memset(&c, 0, sizeof(c));
	vpt_rtit_reset(&rtit);
	vpt_output_init(&out, vpt_caps_model("icx"), &ops, NULL);
	nput = ngot = last = 0;
	losses = interrupts = 0;
}

static void teardown(void)
{
	tracer_collect_end(&c);
	x86_mem_destroy(&mem);
}

static void entry(uint64_t table, unsigned int index, uint64_t value)
{
	ck_assert(x86_mem_write(&mem, table + 8ull * index, &value, sizeof(value)));
}

static void start(void)
{
	ck_assert_uint_eq(vpt_output_start(&out, &rtit), VPT_OUT_OK);
	tracer_collect_start(&c, &mem, &rtit);
}

/* Bytes none of which is 0, so that they change what is there. */
static void put_some(size_t len)
{
	size_t i;

	ck_assert_uint_le(len, PUT_MAX - nput);
	for (i = 0; i < len; i++)
		put[nput + i] = (uint8_t)(next_random() % 255 + 1);
	for (i = 0; i < len; i += 16)
		(void)vpt_output_put(&out, put + nput + i, len - i < 16 ? len - i : 16);
	nput += len;
	vpt_output_flush(&out);
	vpt_output_sync(&out, &rtit);
}

static void inspect(void)
{
	tracer_collect_read(&c, &rtit, &sink);
}

static void is_all(void)
{
	ck_assert_uint_eq(losses, 0);
	ck_assert_uint_eq(ngot, nput);
	ck_assert_mem_eq(got, put, nput);
}

/* Two tables of three regions, used in another order than they lie in memory. */
static void two_tables(void)
{
	rtit.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(TOPA);
	rtit.output_base = FIRST;
	entry(FIRST, 0, REGIONS + 0x2000);
	entry(FIRST, 1, REGIONS | TOPA_INT);
	entry(FIRST, 2, SECOND | TOPA_END);
	entry(SECOND, 0, (REGIONS + 0x4000) | 1 << 6); /* 8 KiB */
	entry(SECOND, 1, FIRST | TOPA_END);
	start();
}

#define LAP 0x4000u

static void one_range(uint64_t offset)
{
	rtit.ctl = VPT_CTL_MASK(TRACE_EN);
	rtit.output_base = REGIONS;
	rtit.output_mask_ptrs = offset << 32 | 0xfff;
	start();
}

/* With a look before each lap is over nothing is lost, wherever looks come. */
START_TEST(looks_in_time)
{
	unsigned int i;

	state = (uint32_t)_i;
	if (_i & 1)
		two_tables();
	else
		one_range(next_random() % 0x1000);
	for (i = 0; i < 12; i++) {
		put_some(next_random() % (_i & 1 ? LAP / 4 : 0x1000));
		inspect();
	}
	is_all();
}
END_TEST

/* Without, what is there in the end is the last lap, and a loss is told of before it. */
START_TEST(looks_too_late)
{
	const size_t lap = _i & 1 ? LAP : 0x1000;
	size_t first;

	state = (uint32_t)_i;
	if (_i & 1)
		two_tables();
	else
		one_range(next_random() % 0x1000);
	first = next_random() % lap;
	put_some(first);
	inspect();
	is_all();
	put_some(lap + 1 + next_random() % lap);
	inspect();
	ck_assert_uint_eq(losses, 1);
	ck_assert_uint_eq(last, first);
	ck_assert_uint_eq(ngot - last, lap);
	ck_assert_mem_eq(got + last, put + nput - lap, lap);

	/* It goes on from there. */
	put_some(100);
	inspect();
	ck_assert_uint_eq(losses, 1);
	ck_assert_mem_eq(got + ngot - 100, put + nput - 100, 100);
}
END_TEST

START_TEST(exactly_a_lap)
{
	two_tables();
	put_some(LAP);
	inspect();
	/* No byte is ahead that could tell it from none: but all of them have changed. */
	ck_assert_uint_eq(ngot, LAP);
	ck_assert_mem_eq(got, put, LAP);
}
END_TEST

START_TEST(nothing)
{
	two_tables();
	inspect();
	put_some(10);
	inspect();
	inspect();
	is_all();
}
END_TEST

START_TEST(interrupts_of_full_regions)
{
	two_tables();
	put_some(0x1fff);
	inspect();
	ck_assert_uint_eq(interrupts, 0);
	put_some(1);
	inspect();
	ck_assert_uint_eq(interrupts, 1);
	put_some(0x2000);
	inspect();
	ck_assert_uint_eq(interrupts, 1);
	is_all();
}
END_TEST

START_TEST(stop)
{
	two_tables();
	entry(SECOND, 0, (REGIONS + 0x4000) | TOPA_STOP);
	tracer_collect_start(&c, &mem, &rtit);
	put_some(0x2800);
	inspect();
	is_all();
	put_some(0x1000);
	inspect();
	ck_assert_uint_eq(losses, 0);
	ck_assert_uint_eq(ngot, 0x3000);
	ck_assert_mem_eq(got, put, ngot);
}
END_TEST

START_TEST(has_pages)
{
	two_tables();
	ck_assert(tracer_collect_has(&c, REGIONS));
	ck_assert(tracer_collect_has(&c, REGIONS + 0x5000));
	ck_assert(!tracer_collect_has(&c, REGIONS + 0x1000));
	ck_assert(!tracer_collect_has(&c, REGIONS + 0x6000));
	tracer_collect_end(&c);
	ck_assert(!tracer_collect_has(&c, REGIONS));
}
END_TEST

/* Whatever a guest writes to registers and tables: what is read is RAM, and has an end. */
START_TEST(hostile)
{
	const struct tracer_collect_sink counts = {count, lose, interrupt, NULL};
	unsigned int i, n;

	state = (uint32_t)_i * 77 + 1;
	for (n = 0; n < 20; n++) {
		rtit.ctl = next_random() % 2 ? VPT_CTL_MASK(TOPA) : 0;
		rtit.output_base = next_random() % 3 ? FIRST : (uint64_t)next_random() << 7;
		rtit.output_mask_ptrs = (uint64_t)(next_random() % 0x3000) << 32 |
					(next_random() % 2 ? 0xfff : next_random());
		for (i = 0; i < 64; i++)
			entry(FIRST, i,
			      (uint64_t)(next_random() % (RAM / 4096 + 4)) << 12 |
				      (next_random() % 64 & ~(uint32_t)(next_random() % 64)) |
				      (uint64_t)(next_random() % 4 ? 0 : next_random() % 16) << 6);
		ngot = 0;
		if (n % 4)
			tracer_collect_read(&c, &rtit, &counts);
		else
			tracer_collect_start(&c, &mem, &rtit);
		ck_assert_uint_le(c.bytes, 2 * RAM);
		ck_assert_uint_le(ngot, 2 * RAM);
	}
}
END_TEST

TEST_SUITE("collect", setup, teardown)
{
	TEST_LOOP(tcase, RUNS, looks_in_time, looks_too_late);
	TEST_ADD(tcase, exactly_a_lap, nothing, interrupts_of_full_regions, stop, has_pages);
	TEST_LOOP(tcase, RUNS, hostile);
}
