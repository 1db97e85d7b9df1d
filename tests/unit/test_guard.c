// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that a guest fills lies between inaccessible pages and is excluded from core dumps. The tests
 * read the kernel's list of mappings and access bytes beyond the ends of mappings.
 */
#include "lib/suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/beside.h"
#include "soft/region.h"
#include "x86/guard.h"

struct mapping {
	unsigned long first, last;
	char rights[8], name[64];
	bool undumped;
};

#define MAPPINGS 4096

static struct mapping mappings[MAPPINGS];
static size_t count;

/* Read /proc/self/smaps. */
static void inspect(void)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	char line[512];

	ck_assert_ptr_nonnull(smaps);
	count = 0;
	while (fgets(line, sizeof(line), smaps)) {
		struct mapping m = {0};

		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %63s", &m.first, &m.last, m.rights,
			   m.name) >= 3) {
			ck_assert_uint_lt(count, MAPPINGS);
			mappings[count++] = m;
		}
		if (!strncmp(line, "VmFlags:", 8) && count)
			mappings[count - 1].undumped = strstr(line, " dd") != NULL;
	}
	fclose(smaps);
}

/* Return the index of the mapping that begins at this address. */
static size_t at(const void *address)
{
	size_t i;

	for (i = 0; i < count && mappings[i].first != (unsigned long)address; i++)
		;
	ck_assert_msg(i < count, "no mapping begins at %p", address);
	return i;
}

static bool is_guard(const struct mapping *m)
{
	return !strncmp(m->rights, "---", 3) && m->last - m->first >= X86_GUARD_BYTES;
}

/* Return the number of bytes of all guards. */
static unsigned long guard_bytes(void)
{
	unsigned long bytes = 0;
	size_t i;

	inspect();
	for (i = 0; i < count; i++)
		bytes += is_guard(&mappings[i]) ? mappings[i].last - mappings[i].first : 0;
	return bytes;
}

static void expect_guarded(size_t i)
{
	const struct mapping *m = &mappings[i];

	ck_assert_uint_gt(i, 0);
	ck_assert_uint_lt(i + 1, count);
	ck_assert_msg(is_guard(&m[-1]) && m[-1].last == m->first, "no guard before %lx", m->first);
	ck_assert_msg(is_guard(&m[1]) && m[1].first == m->last, "no guard after %lx", m->last);
	ck_assert_msg(m->undumped, "%lx would be in a core dump", m->first);
}

/* Read the byte in a child. Return the signal that kills the child, or 0. */
static int signal_at(const volatile uint8_t *byte)
{
	struct rlimit none = {0};
	int status = 0;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL);
		(void)*byte;
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

START_TEST(ram)
{
	struct x86_mem mem;

	ck_assert_int_eq(x86_mem_create(&mem, 3 * X86_PAGE_SIZE), 0);
	inspect();
	expect_guarded(at(mem.host));
	ck_assert_int_eq(signal_at(mem.host), 0);
	ck_assert_int_eq(signal_at(mem.host + mem.bytes - 1), 0);
	ck_assert_int_eq(signal_at(mem.host - 1), SIGSEGV);
	ck_assert_int_eq(signal_at(mem.host - X86_GUARD_BYTES), SIGSEGV);
	ck_assert_int_eq(signal_at(mem.host + mem.bytes), SIGSEGV);
	ck_assert_int_eq(signal_at(mem.host + mem.bytes + X86_GUARD_BYTES - 1), SIGSEGV);
	x86_mem_destroy(&mem);
}
END_TEST

START_TEST(generated_code)
{
	struct soft_region r;

	ck_assert_int_eq(soft_region_create(&r, 1 << 16), 0);
	inspect();
	expect_guarded(at(r.writable));
	expect_guarded(at(r.executable));
	soft_region_destroy(&r);
}
END_TEST

/* A whole machine has guards around its RAM and each region of generated code. */
START_TEST(a_guest_that_has_run)
{
	size_t i, regions = 0;

	*beside_vcpu->regs = (struct x86_regs){.rsp = BESIDE_STACK, .rflags = X86_FL_FIXED};
	ck_assert_int_eq(beside_run("\xf4", 1, 1 << 20).kind, ENGINE_EXIT_HLT);
	inspect();
	expect_guarded(at(beside_mem.host));
	for (i = 0; i < count; i++)
		if (!strncmp(mappings[i].name, "/memfd:vpt", 10)) {
			regions++;
			expect_guarded(i);
		}
	ck_assert_uint_ge(regions, 2);
}
END_TEST

/* Unmapping also unmaps the guards. */
START_TEST(unmapping_removes_guards)
{
	static const size_t sizes[] = {1, 4096, 12345, 2 << 20, (2 << 20) + 1, 100 << 20};
	unsigned long before = guard_bytes();
	size_t i;
	uint8_t *m;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		m = x86_guard_map(sizes[i], PROT_READ | PROT_WRITE, -1);
		ck_assert_ptr_nonnull(m);
		ck_assert_uint_eq((uintptr_t)m % (2 << 20), 0);
		m[0] = m[sizes[i] - 1] = 1;
		inspect();
		expect_guarded(at(m));
		x86_guard_unmap(m, sizes[i]);
	}
	/* "Less" is allowed, since a sanitizer may use a part of its own reservations meanwhile. */
	ck_assert_uint_le(guard_bytes(), before);
}
END_TEST

/* Mappings that fail: no address space, or an invalid file. */
static const struct {
	size_t bytes;
	int fd, error;
} failures[] = {{0, -1, ENOMEM},
		{SIZE_MAX, -1, ENOMEM},
		{(size_t)1 << 62, -1, ENOMEM},
		{4096, 1 << 20, EBADF}};

START_TEST(no_mapping)
{
	errno = 0;
	ck_assert_ptr_null(x86_guard_map(failures[_i].bytes, PROT_READ, failures[_i].fd));
	ck_assert_int_eq(errno, failures[_i].error);
	x86_guard_unmap(NULL, 4096);
}
END_TEST

TEST_SUITE("guard", beside_create, beside_destroy)
{
	TEST_ROWS(tcase, no_mapping, failures);
	TEST_ADD(tcase, ram, generated_code, a_guest_that_has_run, unmapping_removes_guards);
}
