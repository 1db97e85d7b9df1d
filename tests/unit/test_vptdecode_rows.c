// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code at its limits: call stacks deeper than those of processor and decoder, and a page that
 * changes 100,000 times. Each with runs and with counts alone, and with the stream as a whole and
 * byte by byte.
 */
#include "lib/suite.h"

#include <malloc.h>
#include <stdbool.h>
#include <string.h>

#include "libdecode/flow.h"
#include "libdecode/vptdecode.h"

#define CODE 0x401000u

enum { RUNS = 1, PIECES = 2, WAYS = 4 };

static uint8_t page[VPTD_PAGE];
static struct {
	uint8_t bytes[32768];
	size_t len;
	unsigned int bits, nbits; /* of a short TNT that is not full */
} trace;

static void put(const void *bytes, size_t len)
{
	ck_assert_uint_le(trace.len + len, sizeof(trace.bytes));
	memcpy(trace.bytes + trace.len, bytes, len);
	trace.len += len;
}

static void end_tnt(void)
{
	uint8_t byte = (uint8_t)((1u << trace.nbits | trace.bits) << 1);

	if (trace.nbits)
		put(&byte, 1);
	trace.bits = trace.nbits = 0;
}

static void tnt(bool taken)
{
	trace.bits = trace.bits << 1 | taken;
	if (++trace.nbits == 6)
		end_tnt();
}

/* TIP 6DH or FUP 7DH, with 6 bytes. */
static void put_ip(uint8_t opcode, uint64_t ip)
{
	end_tnt();
	put(&opcode, 1);
	put(&ip, 6);
}

/* PSB, MODE.Exec 64, FUP, PSBEND */
static void put_psb(uint64_t ip)
{
	unsigned int i;

	end_tnt();
	for (i = 0; i < 8; i++)
		put("\x02\x82", 2);
	put("\x99\x01", 2);
	put_ip(0x7d, ip);
	put("\x02\x23", 2);
}

struct seen {
	uint64_t insns, errors, error, ip;
};

static void on_run(void *context, const struct vptd_run *run)
{
	((struct seen *)context)->insns += run->count;
}

static void on_event(void *context, const struct vptd_event *event)
{
	struct seen *seen = context;

	if (event->kind != VPTD_EVENT_ERROR)
		return;
	if (!seen->errors++) {
		seen->error = event->value;
		seen->ip = event->ip;
	}
}

#define CACHE (1u << 20)

static struct vptd_decoder *make(struct seen *seen, int way)
{
	const struct vptd_config config = {.size = sizeof(config), .cache = CACHE};
	const struct vptd_ops ops = {
		.size = sizeof(ops), .event = on_event, .run = way & RUNS ? on_run : NULL};
	struct vptd_decoder *d;
	enum vptd_status status;

	memset(seen, 0, sizeof(*seen));
	d = vptd_new(&config, &ops, seen, &status);
	ck_assert(d && status == VPTD_OK);
	return d;
}

/* Decode the trace. Returns the instructions. An assertion costs more than many packets. */
static uint64_t decode(struct vptd_decoder *d, struct seen *seen, int way)
{
	size_t at, n = way & PIECES ? 1 : trace.len;
	uint64_t before = vptd_insns(d);
	enum vptd_status status = VPTD_OK;

	seen->insns = 0;
	for (at = 0; !status && at < trace.len; at += n)
		status = vptd_push(d, trace.bytes + at, n);
	if (!status)
		status = vptd_finish(d);
	if (status || (way & RUNS && seen->insns != vptd_insns(d) - before))
		ck_abort_msg("status %d, %lu instructions in runs", status,
			     (unsigned long)seen->insns);
	return vptd_insns(d) - before;
}

/* CALL f; JMP RAX. f: JZ to the RET; CALL f; RET. */
static const uint8_t recursion[] = {0xe8, 0x02, 0,    0,    0,	  0xff, 0xe0, 0x74,
				    0x05, 0xe8, 0xf9, 0xff, 0xff, 0xff, 0xc3};
#define BACK_IN_MAIN (CODE + 5)
#define BACK_IN_F    (CODE + 14)

/*
 * Recursion @depth CALLs deep, and back. The processor compresses the innermost @compressed RETs.
 * The instructions are each CALL, the JZ that follows it, its RET, and the JMP.
 */
static void recurse(unsigned int depth, unsigned int compressed)
{
	unsigned int i;

	trace.len = 0;
	put_psb(CODE);
	for (i = 1; i < depth; i++)
		tnt(false);
	tnt(true);
	for (i = depth; i; i--) {
		if (depth - i < compressed)
			tnt(true);
		else
			put_ip(0x6d, i == 1 ? BACK_IN_MAIN : BACK_IN_F);
	}
	put_ip(0x6d, CODE);
	/* The stack is as it must be: one more CALL, and its RET. */
	tnt(true);
	tnt(true);
	put_ip(0x6d, CODE);
}

static const unsigned int depths[] = {
	1, 63, 64, 65, 66, 200, DEC_STACK, DEC_STACK + 1, DEC_STACK + 64, 3000};
#define DEPTHS (sizeof(depths) / sizeof(depths[0]))

/* A processor keeps 64 CALLs, and loses the oldest (33.4.2.2). RETs of those are not compressed. */
START_TEST(deep_stack)
{
	unsigned int depth = depths[_i / WAYS];
	int way = _i % WAYS;
	struct seen seen;
	struct vptd_decoder *d = make(&seen, way);

	memcpy(page, recursion, sizeof(recursion));
	ck_assert_int_eq(vptd_page(d, 0, CODE, 1, page), VPTD_OK);
	recurse(depth, 64);
	ck_assert_uint_eq(decode(d, &seen, way), 3 * depth + 1 + 4);
	ck_assert_uint_eq(seen.errors, 0);
	vptd_free(d);
}
END_TEST

/* No processor compresses a RET whose CALL the decoder has lost: an error, up to the next PSB. */
START_TEST(too_deep_for_the_decoder)
{
	struct seen seen;
	struct vptd_decoder *d = make(&seen, _i);

	memcpy(page, recursion, sizeof(recursion));
	ck_assert_int_eq(vptd_page(d, 0, CODE, 1, page), VPTD_OK);
	recurse(DEC_STACK + 1, DEC_STACK);
	ck_assert_uint_eq(decode(d, &seen, _i), 3 * (DEC_STACK + 1) + 1 + 4);
	ck_assert_uint_eq(seen.errors, 0);
	recurse(DEC_STACK + 2, DEC_STACK + 1);
	put_psb(CODE);
	tnt(true);
	tnt(true);
	put_ip(0x6d, CODE);
	/* Each RET counts as executed, also the one that leads to an unknown place. */
	ck_assert_uint_eq(decode(d, &seen, _i), 2 * (DEC_STACK + 2) + DEC_STACK + 1 + 4);
	ck_assert_uint_eq(seen.errors, 1);
	ck_assert_uint_eq(seen.error, VPTD_E_RETURN);
	vptd_free(d);
}
END_TEST

#define FLIPS 100000u

/* DEC EAX; JNZ back; JMP RAX, behind @nops NOPs. */
static void make_loop(uint8_t *bytes, unsigned int nops)
{
	memset(bytes, 0x90, VPTD_PAGE);
	memcpy(bytes + nops, "\xff\xc8\x75\xfc\xff\xe0", 6);
}

static size_t allocated(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* A page that changes between two contents needs the memory of both, and of full caches. */
START_TEST(a_page_that_flips)
{
	static uint8_t other[VPTD_PAGE];
	struct seen seen;
	struct vptd_decoder *d = make(&seen, _i);
	size_t before = allocated();
	unsigned int i;

	make_loop(page, 1);
	make_loop(other, 3);
	trace.len = 0;
	put_psb(CODE);
	for (i = 0; i < 20; i++)
		tnt(i < 19);
	put_ip(0x6d, CODE);
	for (i = 0; i < FLIPS; i++) {
		if (vptd_page(d, 0, CODE, 1, i & 1 ? other : page) ||
		    decode(d, &seen, _i) != (i & 1 ? 3u : 1u) + 20 * 2 + 1)
			ck_abort_msg("flip %u", i);
		if (!(i % 4096))
			ck_assert_uint_le(allocated(), before + 3 * CACHE);
	}
	ck_assert_uint_eq(seen.errors, 0);
	vptd_free(d);
}
END_TEST

Suite *vpt_suite(void)
{
	Suite *s = suite_create("vptdecode_rows");
	TCase *t = tcase_create("rows");

	tcase_add_loop_test(t, deep_stack, 0, DEPTHS * WAYS);
	tcase_add_loop_test(t, too_deep_for_the_decoder, 0, WAYS);
	tcase_add_loop_test(t, a_page_that_flips, 0, WAYS);
	suite_add_tcase(s, t);
	return s;
}
