// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generated code of the software CPU is never writable at the address where it executes. Memory
 * that a guest can write is never executable. The test reads /proc/self/maps.
 */
#include "lib/suite.h"

#include <stdio.h>
#include <string.h>

#include "lib/beside.h"
#include "soft/region.h"

struct mapping {
	unsigned long first, last, inode;
	char rights[8];
};

/* Read the next line of /proc/self/maps. */
static bool next(FILE *maps, struct mapping *m)
{
	char line[512];

	return fgets(line, sizeof(line), maps) && sscanf(line, "%lx-%lx %7s %*s %*s %lu", &m->first,
							 &m->last, m->rights, &m->inode) == 4;
}

/* Return the permissions of the mapping at an address, or "" if there is none. */
static struct mapping at(const void *address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long a = (unsigned long)address;
	struct mapping m, found = {0};

	ck_assert_ptr_nonnull(maps);
	while (next(maps, &m))
		if (a >= m.first && a < m.last)
			found = m;
	fclose(maps);
	return found;
}

static void expect_none_is_both(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct mapping m;

	ck_assert_ptr_nonnull(maps);
	while (next(maps, &m))
		ck_assert_msg(m.rights[1] != 'w' || m.rights[2] != 'x', "%lx-%lx is %s", m.first,
			      m.last, m.rights);
	fclose(maps);
}

START_TEST(written_here_executed_there)
{
	struct mapping w, x;
	struct soft_region r;
	uint8_t *to;
	void *run;

	ck_assert_int_eq(soft_region_create(&r, 1 << 16), 0);
	to = soft_region_at(&r, &run);
	ck_assert_ptr_ne(to, run);
	w = at(to);
	x = at(run);
	ck_assert_str_eq(w.rights, "rw-s");
	ck_assert_str_eq(x.rights, "r-xs");
	ck_assert_uint_eq(w.inode, x.inode);
	memset(to, 0xc3, 3);
	ck_assert_mem_eq(run, to, 3);
	soft_region_take(&r, to + 3);
	ck_assert_ptr_eq(soft_region_at(&r, &run), to + 16);
	soft_region_destroy(&r);
	ck_assert_uint_eq(at(to).last, 0);
}
END_TEST

/* A loop with a vector instruction, which needs a stub and linked blocks. */
START_TEST(after_a_guest_has_run)
{
	static const char code[] = "\xb9\x00\x10\x00\x00" /* mov ecx, 1000H */
				   "\x66\x0f\xfe\xc1"	  /* paddd xmm0, xmm1 */
				   "\x01\xc8"		  /* add eax, ecx */
				   "\x31\xc3"		  /* xor ebx, eax */
				   "\xff\xc9"		  /* dec ecx */
				   "\x75\xf4"		  /* jnz paddd */
				   "\xf4";		  /* hlt */
	struct engine_exit exit;

	*beside_vcpu->regs = (struct x86_regs){.rsp = BESIDE_STACK, .rflags = X86_FL_FIXED};
	exit = beside_run(code, sizeof(code) - 1, 1 << 20);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(beside_vcpu->regs->rcx, 0);
	expect_none_is_both();
	ck_assert_int_eq(at(beside_mem.host).rights[2], '-');
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_region");
	TCase *tc = tcase_create("region");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_test(tc, written_here_executed_there);
	tcase_add_test(tc, after_a_guest_has_run);
	suite_add_tcase(s, tc);
	return s;
}
