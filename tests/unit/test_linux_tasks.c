// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The task that a Linux guest runs, read from its memory. The tests make page tables, a BTF of the
 * structures, and the structures themselves.
 */
#include <errno.h>
#include <linux/btf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/btf.h"
#include "lib/suite.h"
#include "linux/tasks.h"

#define RAM	 (4u << 20)
#define IMAGE	 (1u << 20)	       /* physical address of the kernel's image */
#define KERNEL	 0xffff888000000000ull /* RAM is mapped here, and nothing else */
#define TASK	 (KERNEL + 0x8000)
#define MM	 (KERNEL + 0x9000)
#define PGD	 0x3000u
#define GS	 (KERNEL + 0xa000)
#define PRESENT	 3ull
#define BIG_PAGE 0x80ull

static const char strings[] = "\0task_struct\0pid\0tgid\0comm\0mm\0self_exec_id\0mm_struct\0pgd\0"
			      "current_task\0.data..percpu\0pcpu_hot";

/* In the order of its types: 1 task_struct, 2 mm_struct, 3 the variable, 4 its section. */
struct blob {
	struct btf_header header;
	struct btf_type task;
	struct btf_member pid, tgid, comm, mm, executed;
	struct btf_type mm_struct;
	struct btf_member pgd;
	struct btf_type var;
	uint32_t linkage;
	struct btf_type section;
	struct btf_var_secinfo at;
	char strings[160];
};

static uint32_t name(const char *s)
{
	uint32_t at = 1;

	while (strcmp(strings + at, s))
		at += (uint32_t)strlen(strings + at) + 1;
	return at;
}

#define INFO(kind, n) ((uint32_t)BTF_KIND_##kind << 24 | (n))

static struct btf_member member(const char *s, uint32_t bytes)
{
	return (struct btf_member){.name_off = name(s), .offset = bytes * 8};
}

static void make_btf(struct blob *b)
{
	memset(b, 0, sizeof(*b));
	b->header = (struct btf_header){
		.magic = BTF_MAGIC,
		.version = 1,
		.hdr_len = sizeof(b->header),
		.type_len = offsetof(struct blob, strings) - sizeof(b->header),
		.str_off = offsetof(struct blob, strings) - sizeof(b->header),
		.str_len = sizeof(b->strings),
	};
	b->task = (struct btf_type){.name_off = name("task_struct"), .info = INFO(STRUCT, 5)};
	b->pid = member("pid", 0x10);
	b->tgid = member("tgid", 0x14);
	b->comm = member("comm", 0x20);
	b->mm = member("mm", 0x40);
	b->executed = member("self_exec_id", 0x50);
	b->mm_struct = (struct btf_type){.name_off = name("mm_struct"), .info = INFO(STRUCT, 1)};
	b->pgd = member("pgd", 0x18);
	b->var = (struct btf_type){
		.name_off = name("current_task"), .info = INFO(VAR, 0), .type = 1};
	b->section = (struct btf_type){.name_off = name(".data..percpu"), .info = INFO(DATASEC, 1)};
	b->at = (struct btf_var_secinfo){.type = 3, .offset = 0x80, .size = 8};
	memcpy(b->strings, strings, sizeof(strings));
}

static struct x86_mem ram;
static struct linux_memory memory;
static struct linux_tasks_where where;

static void put(uint64_t gpa, uint64_t value, size_t len)
{
	ck_assert(x86_mem_write(&ram, gpa, &value, len));
}

/* A task, its address space, and the pointer to it, behind four levels of page tables. */
static void setup(void)
{
	struct blob b;

	make_btf(&b);
	ck_assert_int_eq(x86_mem_create(&ram, RAM), 0);
	ck_assert_int_eq(linux_tasks_layout(&b, sizeof(b), &where), 0);
	put(PGD + 8 * (KERNEL >> 39 & 511), 0x4000 | PRESENT, 8);
	put(0x4000, 0x5000 | PRESENT, 8);
	put(0x5000, 0 | BIG_PAGE | PRESENT, 8);
	put(0x5008, 0x200000 | BIG_PAGE | PRESENT, 8);
	/* Mapped to no RAM. */
	put(0x5010, 0x40000000 | BIG_PAGE | PRESENT, 8);
	memory = (struct linux_memory){
		.ram = &ram,
		.paging = {.cr0 = 0x80000001,
			   .cr3 = PGD,
			   .cr4 = 0x20,
			   .efer = 0x500,
			   .max_phy_addr = 39},
	};
	put(0xa080, TASK, 8);
	put(0x8010, 12, 4);
	put(0x8014, 11, 4);
	ck_assert(x86_mem_write(&ram, 0x8020, "worker", 7));
	put(0x8040, MM, 8);
	put(0x8050, 3, 4);
	put(0x9018, KERNEL + 0xc000, 8);
}

static void teardown(void)
{
	x86_mem_destroy(&ram);
}

START_TEST(layout)
{
	struct blob b;
	uint32_t at;

	ck_assert_uint_eq(where.current, 0x80);
	ck_assert_uint_eq(where.pid, 0x10);
	ck_assert_uint_eq(where.self_exec_id, 0x50);
	ck_assert_uint_eq(where.pgd, 0x18);
	make_btf(&b);
	ck_assert_int_eq(host_btf_percpu(&b, sizeof(b), "pid", &at), -ENOENT);
	/* A variable of a type that is not there, and another section. */
	b.at.type = 5;
	ck_assert_int_eq(linux_tasks_layout(&b, sizeof(b), &where), -ENOENT);
	b.at.type = UINT32_MAX;
	ck_assert_int_eq(linux_tasks_layout(&b, sizeof(b), &where), -ENOENT);
	make_btf(&b);
	b.section.name_off = name("pid");
	ck_assert_int_eq(linux_tasks_layout(&b, sizeof(b), &where), -ENOENT);
	make_btf(&b);
	b.section.info = INFO(DATASEC, 0xffff);
	ck_assert_int_eq(linux_tasks_layout(&b, sizeof(b), &where), -EINVAL);
	/* A member is missing. */
	make_btf(&b);
	b.executed.name_off = name("pid");
	ck_assert_int_eq(linux_tasks_layout(&b, sizeof(b), &where), -ENOENT);
}
END_TEST

START_TEST(task)
{
	struct linux_task got;

	ck_assert_uint_eq(linux_tasks_current(&where, &memory, GS), TASK);
	ck_assert(linux_tasks_read(&where, &memory, TASK, &got));
	ck_assert_uint_eq(got.tid, 12);
	ck_assert_uint_eq(got.pid, 11);
	ck_assert_uint_eq(got.executed, 3);
	ck_assert_uint_eq(got.cr3, 0xc000);
	ck_assert_str_eq(got.name, "worker");
	put(0x8040, 0, 8);
	ck_assert(linux_tasks_read(&where, &memory, TASK, &got));
	ck_assert_uint_eq(got.cr3, 0);
}
END_TEST

/* Bytes of the guest that are no task: the address, the bytes there, and how many. */
static const struct {
	uint64_t gpa, value;
	size_t len;
} wrong[] = {
	{0x8010, 0x400001, 4},		    /* no number of a thread */
	{0x8014, UINT32_MAX, 4},	    /* no number of a process */
	{0x8020, 0, 1},			    /* no name */
	{0x8040, 0x9000, 8},		    /* an address of user space */
	{0x8040, KERNEL + (8ull << 20), 8}, /* not mapped */
	{0x8040, KERNEL + 0x400000, 8},	    /* no RAM */
	{0x8040, 0xfff0000000000000ull, 8}, /* not canonical */
	{0x9018, 0xc000, 8},		    /* a table in user space */
	{0x9018, KERNEL + (1ull << 38), 8}, /* a table that is not mapped */
};

START_TEST(hostile_tasks)
{
	struct linux_task got;

	put(wrong[_i].gpa, wrong[_i].value, wrong[_i].len);
	ck_assert(!linux_tasks_read(&where, &memory, TASK, &got));
}
END_TEST

START_TEST(hostile_places)
{
	struct linux_task got;
	char full[16];

	memset(full, 'x', sizeof(full));
	ck_assert(!linux_tasks_read(&where, &memory, 0x8000, &got));
	ck_assert(!linux_tasks_read(&where, &memory, UINT64_MAX - 8, &got));
	/* The end of the last page that is mapped. */
	ck_assert(!linux_tasks_read(&where, &memory, KERNEL + 0x400000 - 0x18, &got));
	ck_assert(x86_mem_write(&ram, 0x8020, full, sizeof(full)));
	ck_assert(!linux_tasks_read(&where, &memory, TASK, &got));
	ck_assert_uint_eq(linux_tasks_current(&where, &memory, 0x7fff00000000), 0);
	ck_assert_uint_eq(linux_tasks_current(&where, &memory, KERNEL + 0x800000), 0);
	put(0xa080, 0x8000, 8);
	ck_assert_uint_eq(linux_tasks_current(&where, &memory, GS), 0);
	/* A read changes no accessed bit. */
	ck_assert_uint_eq(*(uint64_t *)x86_mem_at(&ram, 0x4000, 8), 0x5000 | PRESENT);
}
END_TEST

#define BTF_SIZE (512u << 10)

static void put_header(uint64_t gpa, const struct btf_header *h)
{
	ck_assert(x86_mem_write(&ram, gpa, h, sizeof(*h)));
}

START_TEST(search)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = 1,
			       .hdr_len = sizeof(h),
			       .type_len = BTF_SIZE,
			       .str_off = BTF_SIZE,
			       .str_len = 100};
	void *btf;
	size_t len;

	ck_assert_int_eq(linux_memory_btf(&ram, IMAGE, &btf, &len), -ENOENT);
	/* Sizes beyond RAM, and a module's. */
	ck_assert(x86_mem_write(&ram, RAM - 12, &h, 12));
	put_header(RAM - BTF_SIZE, &h);
	h.type_len = h.str_off = 64;
	put_header(IMAGE, &h);
	h.type_len = h.str_off = UINT32_MAX;
	put_header(IMAGE + 64, &h);
	h.type_len = h.str_off = BTF_SIZE;
	h.str_len = 0;
	put_header(IMAGE + 128, &h);
	h.str_len = 100;
	h.str_off = 0;
	put_header(IMAGE + 192, &h);
	ck_assert_int_eq(linux_memory_btf(&ram, IMAGE, &btf, &len), -ENOENT);
	h.str_off = BTF_SIZE;
	put_header(IMAGE + 12345, &h);
	ck_assert_int_eq(linux_memory_btf(&ram, IMAGE + 0x100000, &btf, &len), 0);
	ck_assert_uint_eq(len, sizeof(h) + BTF_SIZE + 100);
	ck_assert_mem_eq(btf, &h, sizeof(h));
	free(btf);
	ck_assert_int_eq(linux_memory_btf(&ram, UINT64_MAX, &btf, &len), -ENOENT);
}
END_TEST

TEST_SUITE("linux_tasks", setup, teardown)
{
	TEST_ROWS(tcase, hostile_tasks, wrong);
	TEST_ADD(tcase, layout, task, hostile_places, search);
}
