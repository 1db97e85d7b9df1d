// SPDX-License-Identifier: GPL-2.0-or-later
/* Ids of the address spaces that a guest under a VMM has, and how many there can be. */
#include "lib/suite.h"

#include <errno.h>
#include <string.h>

#include "pt/spaces.h"

static struct tracer_space_table table;
static struct vpt_pt_vmx vmx;

static void setup(void)
{
	memset(&table, 0, sizeof(table));
	vmx = (struct vpt_pt_vmx){.vmcs = 0x7000, .non_root = true};
}

static void teardown(void)
{
	tracer_spaces_free(&table);
}

static int note(uint64_t cr3, uint64_t *id)
{
	const struct vpt_context ctx = {.cr3 = cr3};
	struct trace_space space;
	int is_new = tracer_spaces_note(&table, &vmx, &ctx, &space);

	*id = space.id;
	return is_new;
}

START_TEST(one_id_each)
{
	uint64_t first, second, root, id;

	ck_assert_int_eq(note(0x1000, &first), 1);
	ck_assert_int_eq(note(0x2000, &second), 1);
	ck_assert_int_eq(note(0x1000, &id), 0);
	ck_assert_uint_eq(id, first);
	vmx.non_root = false;
	ck_assert_int_eq(note(0x1000, &root), 1);
	ck_assert(first != second && second != root && first != root);
	ck_assert_int_eq(note(0x1000, &id), 0);
	ck_assert_uint_eq(id, root);
}
END_TEST

/* A guest with more spaces than that does not get more memory of the host. */
START_TEST(bounded)
{
	uint64_t i, id, first;

	ck_assert_int_eq(note(0, &first), 1);
	for (i = 1; i < TRACER_SPACES_MOST; i++)
		ck_assert_int_eq(note(i << 12, &id), 1);
	ck_assert_int_eq(note(i << 12, &id), -ENOSPC);
	ck_assert_uint_eq(id, 0);
	ck_assert_uint_eq(table.n, TRACER_SPACES_MOST);
	ck_assert_int_eq(note(0, &id), 0);
	ck_assert_uint_eq(id, first);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("space_table");
	TCase *tc = tcase_create("space_table");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_id_each);
	tcase_add_test(tc, bounded);
	suite_add_tcase(suite, tc);
	return suite;
}
