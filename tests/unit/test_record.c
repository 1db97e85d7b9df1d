// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt record's readers of a host: symbols, BTF, the list of processes, their maps, perf's records, and
 * the spaces of a trace. The tests make the texts and bytes to read.
 */
#include <errno.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/btf.h"
#include "host/cpu.h"
#include "host/ksyms.h"
#include "host/maps.h"
#include "host/perf.h"
#include "host/procs.h"
#include "host/seen.h"
#include "host/tasks.h"
#include "lib/suite.h"
#include "trace/format.h"
#include "vpt/packet.h"

static FILE *text(const char *s)
{
	FILE *file = fmemopen((void *)s, strlen(s), "r");

	ck_assert_ptr_nonnull(file);
	return file;
}

static int read_symbols(const char *kallsyms, const char *modules, struct host_ksyms *syms)
{
	FILE *a = text(kallsyms), *b = modules ? text(modules) : NULL;
	int err = host_ksyms_read(a, b, syms);

	fclose(a);
	if (b)
		fclose(b);
	return err;
}

START_TEST(symbols)
{
	struct host_ksyms s;

	ck_assert_int_eq(read_symbols("ffffffff81000000 T _stext\n"
				      "ffffffff81002345 T _etext\n"
				      "ffffffff82001000 D init_task\n"
				      "ffffffff82002000 D phys_base\n"
				      "ffffffffc0000010 t _stext\t[other]\n"
				      "ffffffffc1000040 t bpf_prog_1\t[bpf]\n",
				      "kvm 8192 1 kvm_intel, Live 0xffffffffc0200000 (E)\n"
				      "cut 8192\n",
				      &s),
			 0);
	ck_assert_uint_eq(s.stext, 0xffffffff81000000);
	ck_assert_uint_eq(s.init_task, 0xffffffff82001000);
	ck_assert_uint_eq(s.phys_base, 0xffffffff82002000);
	ck_assert_uint_eq(s.page_offset_base, 0);
	ck_assert_uint_eq(s.code.n, 3);
	ck_assert_uint_eq(s.code.at[0].start, 0xffffffffc1000000);
	ck_assert_uint_eq(s.code.at[0].end, 0xffffffffc1005000);
	ck_assert_uint_eq(s.code.at[1].end, 0xffffffff81003000);
	ck_assert_uint_eq(s.code.at[2].start, 0xffffffffc0200000);
	ck_assert_uint_eq(s.code.at[2].end, 0xffffffffc0202000);
	host_ksyms_free(&s);
}
END_TEST

START_TEST(symbols_missing)
{
	static const struct {
		const char *text;
		int error;
	} rows[] = {{"0000000000000000 T _stext\n0000000000000000 T _etext\n", -EPERM},
		    {"ffffffff81000000 T _stext\n", -EINVAL},
		    {"no such thing\n", -EPERM}};
	struct host_ksyms s;

	ck_assert_msg(read_symbols(rows[_i].text, NULL, &s) == rows[_i].error, "%s", rows[_i].text);
}
END_TEST

/* struct task_struct { tasks; struct { mm; }; int flag:1; tgid; comm }; struct mm_struct. */
struct blob {
	struct btf_header header;
	struct btf_type task;
	struct btf_member tasks, unnamed, flag, tgid, comm;
	struct btf_type inner;
	struct btf_member mm;
	struct btf_type mm_struct;
	struct btf_member pgd;
	char strings[64];
};

static const char strings[] = "\0task_struct\0tasks\0mm\0tgid\0comm\0mm_struct\0pgd\0flag";

static uint32_t name(const char *s)
{
	uint32_t at = 1;

	while (strcmp(strings + at, s))
		at += (uint32_t)strlen(strings + at) + 1;
	return at;
}

#define STRUCT(n, kflag) ((uint32_t)BTF_KIND_STRUCT << 24 | (uint32_t)(kflag) << 31 | (n))

static void make(struct blob *b)
{
	memset(b, 0, sizeof(*b));
	b->header = (struct btf_header){
		.magic = BTF_MAGIC,
		.version = 1,
		.hdr_len = sizeof(b->header),
		.type_len = offsetof(struct blob, strings) - sizeof(b->header),
		.str_off = offsetof(struct blob, strings) - sizeof(b->header),
		.str_len = sizeof(strings),
	};
	b->task = (struct btf_type){.name_off = name("task_struct"), .info = STRUCT(5, 1)};
	b->tasks = (struct btf_member){.name_off = name("tasks"), .offset = 16 * 8};
	b->unnamed = (struct btf_member){.type = 2, .offset = 32 * 8};
	b->flag = (struct btf_member){.name_off = name("flag"), .offset = 1 << 24 | 41 * 8};
	b->tgid = (struct btf_member){.name_off = name("tgid"), .offset = 48 * 8};
	b->comm = (struct btf_member){.name_off = name("comm"), .offset = 56 * 8};
	b->inner = (struct btf_type){.info = STRUCT(1, 0)};
	b->mm = (struct btf_member){.name_off = name("mm"), .offset = 8 * 8};
	b->mm_struct = (struct btf_type){.name_off = name("mm_struct"), .info = STRUCT(1, 0)};
	b->pgd = (struct btf_member){.name_off = name("pgd"), .offset = 80 * 8};
	memcpy(b->strings, strings, sizeof(strings));
}

START_TEST(btf)
{
	struct host_tasks_where w;
	const char *why;
	struct blob b;
	uint32_t at;

	make(&b);
	ck_assert_int_eq(host_tasks_layout(&b, sizeof(b), &w, &why), 0);
	ck_assert_uint_eq(w.tasks, 16);
	ck_assert_uint_eq(w.mm, 40);
	ck_assert_uint_eq(w.tgid, 48);
	ck_assert_uint_eq(w.comm, 56);
	ck_assert_uint_eq(w.pgd, 80);
	ck_assert_int_eq(host_btf_offset(&b, sizeof(b), "task_struct", "flag", &at), -ENOENT);
	ck_assert_int_eq(host_btf_offset(&b, sizeof(b), "task_struct", "none", &at), -ENOENT);
	ck_assert_int_eq(host_btf_offset(&b, sizeof(b), "mm_struct", "tasks", &at), -ENOENT);
}
END_TEST

START_TEST(btf_hostile)
{
	struct blob b;
	uint32_t at;
	size_t i;

	/* A struct that is a member of itself, and a type that does not exist. */
	make(&b);
	b.mm.name_off = 0;
	b.mm.type = 2;
	ck_assert_int_eq(host_btf_offset(&b, sizeof(b), "task_struct", "mm", &at), -ENOENT);
	b.mm.type = 1u << 30;
	ck_assert_int_eq(host_btf_offset(&b, sizeof(b), "task_struct", "mm", &at), -ENOENT);
	make(&b);
	b.task.info = STRUCT(0xffff, 0);
	ck_assert_int_eq(host_btf_offset(&b, sizeof(b), "task_struct", "mm", &at), -EINVAL);
	for (i = 0; i < sizeof(b) - sizeof(b.strings) + sizeof(strings); i++) {
		void *cut = malloc(i + 1);

		make(&b);
		memcpy(cut, &b, i);
		ck_assert_int_eq(host_btf_offset(cut, i, "task_struct", "mm", &at), -EINVAL);
		free(cut);
	}
}
END_TEST

#define BASE	   0xffff888000000000ull
#define MEMORY	   0x4000u
#define TASK(n)	   (BASE + 0x100 * (n)) /* 0 is init_task */
#define PAGE_TABLE 0x12000ull

static uint8_t memory[MEMORY];

static int read_memory(void *from, uint64_t vaddr, void *to, size_t len)
{
	(void)from;
	if (vaddr < BASE || vaddr - BASE > MEMORY - len)
		return -EFAULT;
	memcpy(to, memory + (vaddr - BASE), len);
	return 0;
}

static void put(uint64_t vaddr, uint64_t value)
{
	memcpy(memory + (vaddr - BASE), &value, sizeof(value));
}

static const struct host_tasks_where where = {
	.init_task = TASK(0),
	.page_offset = BASE,
	.tasks = 16,
	.mm = 40,
	.tgid = 48,
	.comm = 56,
	.pgd = 80,
};
static const struct host_memory fake = {read_memory, NULL};

/* A kernel thread and two processes. */
static void make_tasks(void)
{
	unsigned int i;

	memset(memory, 0, sizeof(memory));
	for (i = 0; i < 4; i++) {
		put(TASK(i) + 16, TASK((i + 1) % 4) + 16);
		put(TASK(i) + 40, i < 2 ? 0 : BASE + 0x1000 * i);
		put(TASK(i) + 48, 40 + i);
		memcpy(memory + 0x100 * i + 56, "sleepsleepsleepX", 16);
		put(BASE + 0x1000 * i + 80, BASE + PAGE_TABLE + 0x2000 * i);
	}
}

static int count_task(void *to, const struct host_task *task)
{
	unsigned int *n = to;

	ck_assert_uint_eq(task->pid, 42 + *n);
	ck_assert_uint_eq(task->cr3, PAGE_TABLE + 0x2000 * (2 + *n));
	ck_assert_str_eq(task->comm, "sleepsleepsleep");
	++*n;
	return 0;
}

START_TEST(tasks)
{
	unsigned int n = 0;

	make_tasks();
	ck_assert_int_eq(host_tasks_walk(&where, &fake, count_task, &n), 0);
	ck_assert_uint_eq(n, 2);
	/* The walk ends if the list does not return to init_task. */
	put(TASK(1) + 16, TASK(1) + 16);
	n = 0;
	ck_assert_int_eq(host_tasks_walk(&where, &fake, count_task, &n), -EFAULT);
	put(TASK(1) + 16, 0x1000);
	ck_assert_int_eq(host_tasks_walk(&where, &fake, count_task, &n), -EFAULT);
}
END_TEST

START_TEST(processes)
{
	struct host_perf_record record = {HOST_PERF_MAP, 43, 0x7000, 0x800, 0x3000, "/lib/x"};
	struct host_procs procs = {0};
	const struct host_proc *p;

	make_tasks();
	ck_assert_int_eq(host_procs_update(&procs, &where, &fake, "/none", false), 0);
	ck_assert_uint_eq(procs.n, 2);
	/* CR3 may have a PCID, and the bit of the user page table of page-table isolation. */
	p = host_procs_find(&procs, PAGE_TABLE + 0x6000 + 0x1805);
	ck_assert_ptr_nonnull(p);
	ck_assert_uint_eq(p->task.pid, 43);
	ck_assert_ptr_null(host_procs_find(&procs, PAGE_TABLE));
	ck_assert_int_eq(host_procs_map(&procs, &record), 0);
	ck_assert_uint_eq(p->maps.n, 1);
	ck_assert_uint_eq(p->maps.at[0].range.end, 0x8000);
	/* A process ends, and a new process has its page table. */
	put(TASK(2) + 48, 99);
	put(TASK(2) + 16, TASK(0) + 16);
	ck_assert_int_eq(host_procs_update(&procs, &where, &fake, "/none", true), 0);
	ck_assert_uint_eq(procs.n, 2);
	ck_assert_uint_eq(host_procs_find(&procs, PAGE_TABLE + 0x4000)->task.pid, 99);
	p = host_procs_find(&procs, PAGE_TABLE + 0x6000);
	ck_assert(!p->seen);
	ck_assert_uint_eq(p->maps.n, 1);
	host_procs_free(&procs);
}
END_TEST

START_TEST(maps)
{
	FILE *file = text("55000000-55001000 r--p 00000000 08:01 12  /bin/a b\n"
			  "55001000-55003000 r-xp 00001000 08:01 12  /bin/a b\n"
			  "7ffe0000-7ffe1000 r-xp 00000000 00:00 0   [vdso]\n"
			  "70000000-70001000 --xp 00000000 00:00 0\n"
			  "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n"
			  "rubbish\n");
	struct host_map more = {.range = {0x55002000, 0x55004000}, .path = "/bin/c"};
	struct host_maps m = {0};
	uint8_t page[4096];

	ck_assert_int_eq(host_maps_read(file, &m), 0);
	fclose(file);
	ck_assert_uint_eq(m.n, 3);
	ck_assert_uint_eq(m.at[0].range.start, 0x55001000);
	ck_assert_uint_eq(m.at[0].offset, 0x1000);
	ck_assert_str_eq(m.at[0].path, "/bin/a b");
	ck_assert_str_eq(m.at[1].path, "[vdso]");
	ck_assert_str_eq(m.at[2].path, "");
	ck_assert_int_eq(host_maps_add(&m, &more), 0);
	ck_assert_uint_eq(m.n, 3);
	ck_assert(!host_map_page(&m.at[1], -1, -1, 0x7ffe0000, page));
	host_maps_free(&m);
}
END_TEST

START_TEST(map_from_file)
{
	struct host_map map = {.range = {0x10000, 0x13000}, .offset = 0x1000};
	uint8_t page[4096];
	FILE *file = tmpfile();
	int i;

	for (i = 0; i < 0x1000 + 0x1010; i++)
		fputc(i < 0x2000 ? 1 : 2, file);
	fflush(file);
	ck_assert(host_map_page(&map, -1, fileno(file), 0x10000, page));
	ck_assert_uint_eq(page[0], 1);
	ck_assert(host_map_page(&map, -1, fileno(file), 0x11000, page));
	ck_assert_uint_eq(page[0xf], 2);
	ck_assert_uint_eq(page[0x10], 0);
	ck_assert(!host_map_page(&map, -1, fileno(file), 0x12000, page));
	fclose(file);
}
END_TEST

START_TEST(records)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, bytes, offset, inode[4];
		char path[16];
	} map = {{PERF_RECORD_MMAP2, 0, sizeof(map)}, 7, 7, 0x1000, 0x2000, 0x3000, {0}, "/bin/x"};
	struct {
		struct perf_event_header header;
		uint64_t a, b, c;
	} aux = {{PERF_RECORD_AUX, 0, sizeof(aux)}, 0, 0, 0},
	  lost = {{PERF_RECORD_LOST, 0, sizeof(lost)}, 1, 12, 0},
	  fork = {{PERF_RECORD_FORK, 0, sizeof(fork)}, 0, 0, 0};
	struct host_perf_record r;

	ck_assert(host_perf_parse(&map, sizeof(map), &r));
	ck_assert_int_eq(r.kind, HOST_PERF_MAP);
	ck_assert_uint_eq(r.pid, 7);
	ck_assert_uint_eq(r.bytes, 0x2000);
	ck_assert_uint_eq(r.offset, 0x3000);
	ck_assert_str_eq(r.path, "/bin/x");
	memset(map.path, 'x', sizeof(map.path));
	ck_assert(!host_perf_parse(&map, sizeof(map), &r));
	ck_assert(!host_perf_parse(&map, 32, &r));
	ck_assert(!host_perf_parse(&aux, sizeof(aux), &r));
	aux.c = PERF_AUX_FLAG_TRUNCATED;
	ck_assert(host_perf_parse(&aux, sizeof(aux), &r));
	ck_assert_int_eq(r.kind, HOST_PERF_STOPPED);
	ck_assert(!host_perf_parse(&aux, 24, &r));
	ck_assert(host_perf_parse(&lost, sizeof(lost), &r));
	ck_assert_int_eq(r.kind, HOST_PERF_LOST);
	ck_assert_uint_eq(r.bytes, 12);
	ck_assert(host_perf_parse(&fork, sizeof(fork), &r));
	ck_assert_int_eq(r.kind, HOST_PERF_TASK);
}
END_TEST

static const struct {
	const char *text;
	unsigned int n, third, fourth;
} lists[] = {
	{"0-2,8\n", 4, 2, 8}, {"0-3", 4, 2, 3}, {"0-4", 0, 0, 0},
	{"", 0, 0, 0},	      {"1,", 0, 0, 0},	{"2-1", 0, 0, 0},
	{"-1", 0, 0, 0},      {"1x", 0, 0, 0},	{"18446744073709551615", 0, 0, 0},
};

START_TEST(cpu_lists)
{
	unsigned int cpus[4], n = host_cpu_list(lists[_i].text, cpus, 4);

	ck_assert_msg(n == lists[_i].n, "%s: %u CPUs", lists[_i].text, n);
	ck_assert_msg(!n || (cpus[2] == lists[_i].third && cpus[3] == lists[_i].fourth), "%s",
		      lists[_i].text);
}
END_TEST

START_TEST(spaces_seen)
{
	static const struct vpt_packet packets[] = {
		{.kind = VPT_PKT_PSB},
		{.kind = VPT_PKT_PIP, .value = 0x1000, .flag = true},
		{.kind = VPT_PKT_VMCS, .value = 0x7000},
		{.kind = VPT_PKT_PSBEND},
		{.kind = VPT_PKT_PIP, .value = 0x2000},
		{.kind = VPT_PKT_PIP, .value = 0x1000, .flag = true},
		{.kind = VPT_PKT_VMCS, .value = 0x8000},
		{.kind = VPT_PKT_PIP, .value = 0x1000, .flag = true},
		{.kind = VPT_PKT_PIP, .value = 0x2000},
	};
	struct host_seen seen = {0};
	uint8_t bytes[256];
	size_t i, n = 0;

	for (i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		n += vpt_packet_write(bytes + n, &packets[i]);
	ck_assert_int_eq(host_seen_stream(&seen, 3, bytes, n), 0);
	ck_assert_uint_eq(seen.n, 3);
	ck_assert(seen.at[0].non_root && seen.at[0].vmcs == 0x7000 && seen.at[0].cpu == 3);
	ck_assert(!seen.at[1].non_root && seen.at[1].vmcs == TRACE_SPACE_ANY_VMCS);
	ck_assert_uint_eq(seen.at[1].cr3, 0x2000);
	ck_assert(seen.at[2].non_root && seen.at[2].vmcs == 0x8000);
	/* The CR3 of the VMM is the last host CR3 before the guest's visit. */
	ck_assert(seen.at[0].host == 0x2000 && seen.at[2].host == 0x2000);
	/* Bytes that are no packet are skipped. Spaces of another CPU are separate. */
	memset(bytes, 0xff, 3);
	ck_assert_int_eq(host_seen_stream(&seen, 4, bytes, n), 0);
	host_seen_free(&seen);
}
END_TEST

TEST_SUITE("record", NULL, NULL)
{
	tcase_add_loop_test(tcase, symbols_missing, 0, 3);
	TEST_ROWS(tcase, cpu_lists, lists);
	TEST_ADD(tcase, symbols, btf, btf_hostile, tasks, processes, maps, map_from_file, records,
		 spaces_seen);
}
