// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code at its limits: call stacks deeper than those of processor and decoder, a page that changes
 * 100,000 times, and one page at several addresses. Each with runs and with counts alone, and with
 * the stream as a whole and byte by byte.
 */
#include "lib/suite.h"

#include <malloc.h>
#include <stdbool.h>
#include <string.h>

#include "libdecode/code.h"
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

#define ELSEWHERE (CODE + 0x7f0000000000u)

/* One page at two addresses of a space: what runs at each, and the page's key for both. */
START_TEST(a_page_at_two_addresses)
{
	struct vptd_counts *counts = vptd_counts_new();
	struct vptd_config config = {.size = sizeof(config), .flags = VPTD_EDGES};
	struct vptd_ops ops = {
		.size = sizeof(ops), .event = on_event, .run = _i & RUNS ? on_run : NULL};
	const uint64_t at[] = {CODE, ELSEWHERE};
	enum vptd_status status;
	struct vptd_decoder *d;
	struct vptd_edge edge;
	struct seen seen = {0};
	unsigned int i, k;

	memcpy(page, recursion, sizeof(recursion));
	d = vptd_new(&config, &ops, &seen, &status);
	ck_assert(d && counts);
	trace.len = 0;
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(vptd_page(d, 0, at[i], 1, page), VPTD_OK);
		put_psb(at[i]);
		for (k = 0; k < 3; k++)
			tnt(k == 2);
		for (k = 0; k < 3; k++)
			tnt(true);
		put_ip(0x6d, at[1 - i]);
		put_psb(at[1 - i]);
		put_ip(0x7d, at[1 - i]);
		put_ip(0x6d, at[1 - i]);
	}
	ck_assert_uint_eq(decode(d, &seen, _i), 2 * (3 * 3 + 1));
	ck_assert_uint_eq(seen.errors, 0);
	ck_assert_int_eq(vptd_count(d, counts), VPTD_OK);
	ck_assert_uint_eq(vptd_counts_edges(counts), 2 * 7);
	for (i = 0; vptd_counts_edge(counts, i, &edge); i++) {
		ck_assert_uint_eq(edge.from & ~0xfffull, at[i / 7] & ~0xfffull);
		ck_assert_uint_eq(edge.page, 1);
	}
	vptd_free(d);
	vptd_counts_free(counts);
}
END_TEST

/* BDM64: the decoder looks ahead for the abort, and counts each branch on the way there once. */
START_TEST(edges_of_a_look_ahead)
{
	struct vptd_counts *counts = vptd_counts_new();
	struct vptd_config config = {
		.size = sizeof(config), .flags = VPTD_EDGES, .family = 6, .model = 0x3d};
	struct vptd_ops ops = {
		.size = sizeof(ops), .event = on_event, .run = _i & RUNS ? on_run : NULL};
	enum vptd_status status;
	struct vptd_decoder *d;
	struct vptd_edge edge;
	struct seen seen = {0};
	unsigned int i;

	memset(page, 0x90, sizeof(page));
	memcpy(page, "\xff\xe0", 2);
	memcpy(page + 0x100, "\xeb\x02", 2);
	memcpy(page + 0x200, "\xff\xe0", 2);
	d = vptd_new(&config, &ops, &seen, &status);
	ck_assert(d && counts);
	ck_assert_int_eq(vptd_page(d, 0, CODE, 1, page), VPTD_OK);
	trace.len = 0;
	put_psb(CODE);
	put_ip(0x6d, CODE + 0x100);
	/* MODE.TSX with TXAbort */
	put("\x99\x22", 2);
	put_ip(0x7d, CODE + 0x104);
	put_ip(0x6d, CODE + 0x200);
	put_ip(0x6d, CODE);
	ck_assert_uint_eq(decode(d, &seen, _i), 3);
	ck_assert_uint_eq(seen.errors, 0);
	ck_assert_int_eq(vptd_count(d, counts), VPTD_OK);
	ck_assert_uint_eq(vptd_counts_edges(counts), 3);
	for (i = 0; vptd_counts_edge(counts, i, &edge); i++)
		ck_assert_uint_eq(edge.count, 1);
	vptd_free(d);
	vptd_counts_free(counts);
}
END_TEST

static const struct dec_block *block_at(struct dec_code *code, uint64_t ip, unsigned int mode)
{
	const struct dec_block *block = dec_code_block(code, ip, mode);

	ck_assert_ptr_nonnull(block);
	return block;
}

/* Is @b the block @a at another address, and made without decoding it again? */
static void same_block(struct dec_code *code, const struct dec_block *a, const struct dec_block *b)
{
	uint64_t delta = b->ip - a->ip;

	ck_assert_uint_eq(a->insns, b->insns);
	ck_assert_uint_eq(a->end, b->end);
	ck_assert_uint_eq(a->insn_kind, b->insn_kind);
	ck_assert_uint_eq(a->last + delta, b->last);
	ck_assert_uint_eq(a->next + delta, b->next);
	ck_assert_ptr_eq(dec_code_lens(code, a), dec_code_lens(code, b));
	ck_assert_int_eq(a->id != b->id, 1);
}

static const unsigned int modes[] = {16, 32, 64};

/* The blocks of a page are decoded once, whatever addresses it is mapped at. */
START_TEST(decoded_once)
{
	const uint64_t at[] = {0x7000, CODE, 0x405000, 0x12345000};
	struct dec_code *code = dec_code_new();
	const struct dec_block *first, *block;
	unsigned int mode = modes[_i], i;

	ck_assert_ptr_nonnull(code);
	memset(page, 0x90, sizeof(page));
	memcpy(page + 3, "\x74\x10\x90\xeb\x20\x90\xff\xe0", 8);
	memcpy(page + 0x100, "\x48\x74", 2);
	memcpy(page + 0xffe, "\x90\x74", 2);
	ck_assert_int_eq(dec_code_content(code, 7, page), 0);
	for (i = 0; i < 4; i++)
		ck_assert_int_eq(dec_code_map(code, 0, at[i], 7), 0);
	/* First where the page was mapped first, and elsewhere. */
	first = block_at(code, at[0], mode);
	ck_assert_uint_eq(first->insns, 4);
	ck_assert_uint_eq(first->target, at[0] + 0x15);
	for (i = 1; i < 4; i++) {
		block = block_at(code, at[i], mode);
		same_block(code, first, block);
		ck_assert_uint_eq(block->target, at[i] + 0x15);
	}
	first = block_at(code, at[2] + 5, mode);
	for (i = 0; i < 4; i++) {
		block = block_at(code, at[i] + 5, mode);
		if (i != 2)
			same_block(code, first, block);
		ck_assert_uint_eq(block->target, at[i] + 0x28);
	}
	/* A block that another page completes is one of its address. */
	ck_assert_int_eq(dec_code_map(code, 0, at[3] + DEC_PAGE, 7), 0);
	ck_assert_uint_eq(block_at(code, at[3] + 0xffe, mode)->end, DEC_END_COND);
	ck_assert_uint_eq(block_at(code, at[1] + 0xffe, mode)->end, DEC_END_HOLE);
	ck_assert_int_eq(dec_code_map(code, 0, at[1] + DEC_PAGE, 7), 0);
	ck_assert_uint_eq(block_at(code, at[1] + 0xffe, mode)->end, DEC_END_COND);
	ck_assert_uint_eq(block_at(code, at[2] + 0xffe, mode)->end, DEC_END_HOLE);
	/* A mode has blocks of its own: DEC EAX and JZ, or JZ with a prefix. */
	for (i = 0; i < 8; i++) {
		unsigned int other = modes[1 + i % 2];

		block = block_at(code, at[3 - i / 2] + 0x100, other);
		ck_assert_uint_eq(block->insns, other == 64 ? 1 : 2);
	}
	/* Other content has blocks of its own. */
	page[0] = 0xeb;
	ck_assert_int_eq(dec_code_content(code, 7, page), 0);
	ck_assert_uint_eq(block_at(code, at[3], mode)->insns, 1);
	ck_assert_uint_eq(block_at(code, at[1], mode)->insns, 1);
	dec_code_free(code);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("vptdecode_rows");
	TCase *t = tcase_create("rows");

	tcase_add_loop_test(t, deep_stack, 0, DEPTHS * WAYS);
	tcase_add_loop_test(t, too_deep_for_the_decoder, 0, WAYS);
	tcase_add_loop_test(t, a_page_that_flips, 0, WAYS);
	tcase_add_loop_test(t, a_page_at_two_addresses, 0, WAYS);
	tcase_add_loop_test(t, decoded_once, 0, 3);
	tcase_add_loop_test(t, edges_of_a_look_ahead, 0, WAYS);
	suite_add_tcase(s, t);
	return s;
}
