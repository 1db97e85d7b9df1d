// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libvptdecode without memory: one allocation fails, each in its turn. A call says so, or
 * everything is as if it had not failed.
 */
#include "lib/suite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libdecode/vptdecode.h"

#define CODE 0x401000u

/* tests/build.mk has the linker call these. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool armed;		    /* allocations are the decoder's */
static unsigned int calls, failing; /* how many there were, and which fails; 0: none */
static size_t largest;		    /* bytes of the largest reallocation */

static bool fails(void)
{
	return armed && ++calls == failing;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	if (armed && size > largest)
		largest = size;
	return fails() ? NULL : __real_realloc(old, size);
}

/* CALL RET; DEC EAX; JNZ back; INT3; RET. Each space has its own count of NOPs before the RET. */
static const uint8_t code[] = {0xe8, 0x06, 0, 0, 0, 0xff, 0xc8, 0x75, 0xf7, 0xcc, 0xcc};

#define SPACES 3u

/* PSB, PIP, MODE.Exec 64, FUP CODE, PSBEND; TNT: taken but for the last. */
static const uint8_t trace[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x02, 0x82, 0x02, 0x43, 0x00, 0,    0,	  0,	0,    0,    0x99, 0x01, 0x7d, 0x00,
	0x10, 0x40, 0x00, 0x00, 0x00, 0x02, 0x23, 0xfe, 0xfe, 0xfe, 0xfe, 0x0c,
};
#define PIP_CR3 19u /* CR3[19:12] in it */

struct result {
	uint64_t insns, errors, edges, count;
};

static bool give_code(struct vptd_decoder *d)
{
	uint8_t page[VPTD_PAGE];
	unsigned int i;

	for (i = 1; i <= SPACES; i++) {
		memset(page, 0x90, sizeof(page));
		memcpy(page, code, sizeof(code));
		page[sizeof(code) + i] = 0xc3;
		if (vptd_page(d, i * 0x1000, CODE, i, page))
			return false;
	}
	return true;
}

static bool push(struct vptd_decoder *d)
{
	uint8_t bytes[sizeof(trace)];
	unsigned int i;

	memcpy(bytes, trace, sizeof(trace));
	for (i = 1; i <= SPACES; i++) {
		bytes[PIP_CR3] = (uint8_t)i;
		if (vptd_push(d, bytes, sizeof(bytes)) || vptd_finish(d))
			return false;
	}
	return true;
}

static bool count(struct vptd_decoder *d, struct vptd_counts *counts, struct result *r)
{
	struct vptd_edge edge;
	size_t i;

	if (vptd_count(d, counts))
		return false;
	r->edges = vptd_counts_edges(counts);
	for (i = 0; vptd_counts_edge(counts, i, &edge); i++)
		r->count += edge.count;
	r->insns = vptd_insns(d);
	r->errors = vptd_events(d, VPTD_EVENT_ERROR);
	return true;
}

/* Returns false if a call reported that there is no memory. */
static bool decode(struct result *r)
{
	const struct vptd_config config = {.size = sizeof(config), .flags = VPTD_EDGES};
	struct vptd_counts *counts;
	enum vptd_status status;
	struct vptd_decoder *d;
	bool good;

	calls = 0;
	armed = true;
	d = vptd_new(&config, NULL, NULL, &status);
	counts = vptd_counts_new();
	good = d && counts && give_code(d) && push(d) && count(d, counts, r);
	vptd_counts_free(counts);
	vptd_free(d);
	armed = false;
	ck_assert_int_eq(status, d ? VPTD_OK : VPTD_E_MEMORY);
	return good;
}

START_TEST(each_allocation)
{
	struct result want = {0}, got;
	unsigned int all, silent = 0;

	failing = 0;
	ck_assert(decode(&want));
	all = calls;
	ck_assert_uint_eq(want.errors, 0);
	/* Of each CALL, RET and JNZ. */
	ck_assert_uint_eq(want.count, SPACES * 13u * 3);
	ck_assert_uint_eq(want.edges, SPACES * 4u);
	for (failing = 1; failing <= all; failing++) {
		got = (struct result){0};
		if (!decode(&got))
			continue;
		silent++;
		ck_assert_msg(!memcmp(&got, &want, sizeof(got)),
			      "allocation %u of %u: %lu instructions, %lu edges, %lu in all",
			      failing, all, (unsigned long)got.insns, (unsigned long)got.edges,
			      (unsigned long)got.count);
	}
	ck_assert_uint_lt(silent, all);
}
END_TEST

/* A page that changes all the time: its tracelets are made again and again. */
START_TEST(changing_code)
{
	const struct vptd_config config = {
		.size = sizeof(config), .flags = VPTD_EDGES, .cache = _i ? UINT64_MAX : 1u << 20};
	unsigned int i, rounds = _i ? 1 : 20000;
	uint8_t page[VPTD_PAGE] = {0};
	enum vptd_status status;
	struct vptd_decoder *d;

	memcpy(page, code, sizeof(code));
	page[sizeof(code)] = 0xc3;
	armed = true;
	failing = 0;
	largest = 0;
	d = vptd_new(&config, NULL, NULL, &status);
	for (i = 0; d && !status && i < rounds; i++) {
		page[VPTD_PAGE - 1] = i & 1;
		status = vptd_page(d, VPTD_ANY_SPACE, CODE, 1, page);
		if (!status)
			status = vptd_push(d, trace, sizeof(trace));
		if (!status)
			status = vptd_finish(d);
	}
	armed = false;
	ck_assert_int_eq(status, VPTD_OK);
	ck_assert_uint_eq(vptd_insns(d), rounds * 52ull);
	ck_assert_uint_le(largest, 1u << 20);
	vptd_free(d);
}
END_TEST

/* Two places that one slot of the cache of recent blocks is for, each before a missing page. */
START_TEST(missing_pages)
{
	static const uint64_t pages[] = {CODE, CODE + (1u << 25)};
	uint8_t page[VPTD_PAGE], bytes[27];
	unsigned int i, before = 0;
	struct vptd_decoder *d;
	enum vptd_status status;

	memset(page, 0x90, sizeof(page));
	page[VPTD_PAGE - 1] = 0xe9;
	memcpy(bytes, trace, 16);
	memcpy(bytes + 16, "\x99\x01\x7d\xfe\x1f", 5);
	memcpy(bytes + 25, "\x02\x23", 2);
	armed = true;
	failing = 0;
	d = vptd_new(NULL, NULL, NULL, &status);
	for (i = 0; !status && i < 2; i++)
		status = vptd_page(d, VPTD_ANY_SPACE, pages[i], i + 1, page);
	for (i = 0; !status && i < 200000; i++) {
		const uint64_t ip = pages[i & 1] + 0xffe;

		memcpy(bytes + 19, &ip, 6);
		status = vptd_push(d, bytes, sizeof(bytes));
		if (i == 1000)
			before = calls;
	}
	armed = false;
	ck_assert_int_eq(status, VPTD_OK);
	ck_assert_uint_eq(vptd_events(d, VPTD_EVENT_ERROR), 199999);
	ck_assert_uint_eq(calls, before);
	vptd_free(d);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("vptdecode_memory");
	TCase *t = tcase_create("memory");

	tcase_add_test(t, each_allocation);
	tcase_add_loop_test(t, changing_code, 0, 2);
	tcase_add_test(t, missing_pages);
	suite_add_tcase(s, t);
	return s;
}
