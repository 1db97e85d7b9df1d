// SPDX-License-Identifier: GPL-2.0-or-later
/* The tasks of a file as address spaces: which task an item belongs to, and where PARTS are cut. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/code.h"
#include "decode/spaces.h"
#include "decode/tasks.h"
#include "lib/suite.h"
#include "trace/writer.h"
#include "vpt/msr.h"

static struct trace_writer *writer;
static struct trace_reader *reader;
static struct decode_tasks *tasks;
static char path[64];
static int fd;

static void setup(void)
{
	const struct trace_file_info info = {.vcpus = 2};

	fd = memfd_create("test", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(trace_writer_open(path, &info, &writer), 0);
	reader = NULL;
	tasks = NULL;
}

static void teardown(void)
{
	decode_tasks_close(tasks);
	trace_reader_close(reader);
	close(fd);
}

static void session(uint64_t insns, uint64_t ctl)
{
	struct trace_session s = {.edge = TRACE_SESSION_START, .insns = insns, .ctl = ctl};

	ck_assert_int_eq(trace_writer_session(writer, 0, &s), 0);
}

static void runs(uint64_t insns, uint64_t cr3, uint32_t tid)
{
	struct trace_task t = {.insns = insns, .cr3 = cr3, .pid = tid, .tid = tid};

	ck_assert_int_eq(trace_writer_task(writer, 0, &t), 0);
}

static void named_on(unsigned int vcpu, uint64_t cr3, uint32_t pid, uint32_t tid, const char *name)
{
	struct trace_task t = {.cr3 = cr3, .pid = pid, .tid = tid, .kind = TRACE_TASK_NAMED};

	snprintf(t.name, sizeof(t.name), "%s", name);
	ck_assert_int_eq(trace_writer_task(writer, vcpu, &t), 0);
}

static void named(uint64_t cr3, uint32_t pid, uint32_t tid, const char *name)
{
	named_on(0, cr3, pid, tid, name);
}

static void begin(void)
{
	struct decode_item segment = {.kind = DECODE_ITEM_SEGMENT, .cr3 = DECODE_CR3_UNKNOWN};
	char why[160];

	ck_assert_int_eq(trace_writer_close(writer, 0), 0);
	ck_assert_msg(!trace_reader_open(path, &reader, why, sizeof(why)), "%s", why);
	ck_assert_int_eq(decode_tasks_open(reader, &tasks), 0);
	if (!tasks)
		return;
	decode_tasks_begin(tasks, 0);
	decode_tasks_item(tasks, &segment);
}

/* Check the text of the space of a block. */
static void block(uint32_t insns, uint64_t cr3, const char *wanted)
{
	struct decode_item item = {.kind = DECODE_ITEM_BLOCK, .insns = insns, .cr3 = cr3};
	char text[64] = "none";

	decode_tasks_item(tasks, &item);
	if (item.space)
		decode_space_format(item.space, text, sizeof(text));
	ck_assert_str_eq(text, wanted);
	ck_assert(!decode_tasks_more(tasks, &item));
}

START_TEST(none)
{
	session(0, VPT_CTL_MASK(OS));
	begin();
	ck_assert_ptr_null(tasks);
}
END_TEST

START_TEST(processes)
{
	session(100, VPT_CTL_MASK(OS));
	named(0x2000, 7, 7, "sh");
	named(0x4000, 7, 7, "ls");
	named(0x6000, 8, 9, "worker");
	named(0, 2, 2, "kthreadd");
	runs(110, 0x2000, 7);
	runs(140, 0x6000, 9);
	runs(150, 0, 2);
	begin();
	/* The block that contains the change belongs to the task that it begins. */
	block(10, 0x2000, "none");
	block(10, 0x2000, "sh, pid 7");
	/* The user half, a program that was executed, and a thread of another process. */
	block(10, 0x3000, "sh, pid 7");
	block(10, 0x4000, "ls, pid 7");
	block(5, 0x6000, "worker/9, pid 8");
	/* A kernel thread keeps the address space of the task before. */
	block(10, 0x6000, "kthreadd, pid 2");
	block(1000, DECODE_CR3_UNKNOWN, "kthreadd, pid 2");
}
END_TEST

/* The name of the end is that of a program that never left the processor before. */
START_TEST(executed)
{
	session(0, VPT_CTL_MASK(OS));
	named(0x2000, 7, 7, "sh");
	named(0, 7, 7, "id");
	runs(0, 0x2000, 7);
	runs(30, 0, 9);
	named(0, 9, 9, "modprobe");
	begin();
	block(10, 0x2000, "sh, pid 7");
	block(10, 0x8000, "id, pid 7");
	block(10, 0x9000, "id, pid 7");
	/* A kernel thread becomes a process. */
	block(10, 0x8000, "modprobe, pid 9");
	block(10, 0xa000, "modprobe, pid 9");
}
END_TEST

/* Without page-table isolation two processes may have neighbouring tables. */
START_TEST(neighbours)
{
	session(0, VPT_CTL_MASK(OS));
	named(0x2000, 7, 7, "one");
	named(0x3000, 8, 8, "two");
	runs(0, 0x2000, 7);
	runs(10, 0x3000, 8);
	begin();
	block(10, 0x2000, "one, pid 7");
	block(10, 0x3000, "two, pid 8");
}
END_TEST

/* In a trace of user mode no kernel thread runs. */
START_TEST(user_only)
{
	session(0, VPT_CTL_MASK(USER));
	named(0, 9, 9, "modprobe");
	runs(0, 0, 9);
	begin();
	block(10, 0x8000, "modprobe, pid 9");
}
END_TEST

/* A thread moves to another vCPU, and has a new name there. */
START_TEST(moves)
{
	session(0, VPT_CTL_MASK(OS));
	named_on(1, 0x2000, 7, 8, "threads");
	runs(0, 0x2000, 8);
	named_on(0, 0x2000, 7, 8, "alpha");
	begin();
	block(10, 0x2000, "alpha/8, pid 7");
}
END_TEST

START_TEST(parts)
{
	static const struct decode_part part[] = {
		{.insns = 10}, {.insns = 10}, {.insns = 10}, {.insns = 10}, {.insns = 10}};
	struct decode_item item = {
		.kind = DECODE_ITEM_PARTS, .insns = 5, .parts = part, .cr3 = 0x2000};
	char text[64];

	session(0, VPT_CTL_MASK(OS));
	named(0x2000, 7, 7, "one");
	named(0x2000, 7, 8, "two");
	runs(0, 0x2000, 7);
	runs(25, 0x2000, 8);
	runs(30, 0x2000, 7);
	runs(32, 0x2000, 8);
	begin();
	decode_tasks_item(tasks, &item);
	decode_space_format(item.space, text, sizeof(text));
	ck_assert_str_eq(text, "one, pid 7");
	ck_assert_uint_eq(item.insns, 2);
	ck_assert(decode_tasks_more(tasks, &item));
	decode_space_format(item.space, text, sizeof(text));
	ck_assert_str_eq(text, "two/8, pid 7");
	ck_assert_ptr_eq(item.parts, part + 2);
	ck_assert_uint_eq(item.insns, 1);
	ck_assert(decode_tasks_more(tasks, &item));
	ck_assert_uint_eq(item.insns, 2);
	ck_assert_ptr_eq(item.parts, part + 3);
	ck_assert(!decode_tasks_more(tasks, &item));
}
END_TEST

/* Behind a gap, the tasks whose packets are before it have run. */
START_TEST(gap)
{
	static const uint8_t pad[1024];
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT, .cr3 = 0x2000, .offset = 1 << 18};
	int i;

	session(0, VPT_CTL_MASK(OS));
	named(0x2000, 7, 7, "one");
	named(0x2000, 8, 8, "two");
	runs(0, 0x2000, 7);
	ck_assert_int_eq(trace_writer_trace(writer, 0, ~0ull, pad, sizeof(pad)), 0);
	runs(1000000, 0x2000, 8);
	for (i = 0; i < 512; i++)
		ck_assert_int_eq(trace_writer_trace(writer, 0, ~0ull, pad, sizeof(pad)), 0);
	runs(2000000, 0x2000, 7);
	begin();
	block(10, 0x2000, "one, pid 7");
	decode_tasks_item(tasks, &item);
	block(10, 0x2000, "two, pid 8");
	block(999980, 0x2000, "two, pid 8");
	block(11, 0x2000, "one, pid 7");
}
END_TEST

/* Returns true if other tasks, which start at the counter with a guess, have the same state. */
static bool starts(uint64_t insns, uint32_t at_session, uint64_t cr3)
{
	uint64_t words[2][DECODE_TASKS_WORDS];
	struct decode_tasks *other;

	ck_assert_int_eq(decode_tasks_open(reader, &other), 0);
	decode_tasks_begin_at(other, 0, insns, at_session, cr3);
	decode_tasks_words(tasks, words[0]);
	decode_tasks_words(other, words[1]);
	decode_tasks_close(other);
	return !memcmp(words[0], words[1], sizeof(words[0]));
}

/* A shard starts at the counter. The CR3 at the begin of a task matters to those of the kernel only. */
START_TEST(within)
{
	session(100, VPT_CTL_MASK(OS));
	named(0x2000, 7, 7, "sh");
	named(0, 7, 7, "id");
	named(0, 2, 2, "kthreadd");
	runs(110, 0x2000, 7);
	runs(140, 0, 2);
	begin();
	ck_assert(starts(100, 0, 0x2000));
	block(10, 0x2000, "none");
	ck_assert(starts(110, 0, 0x2000));
	block(10, 0x2000, "sh, pid 7");
	ck_assert(starts(120, 0, 0x2000) && starts(120, 0, 0x9000));
	ck_assert(!starts(119, 0, 0x2000) && !starts(110, 0, 0x2000) && !starts(120, 1, 0x2000));
	block(30, 0x2000, "kthreadd, pid 2");
	ck_assert(starts(150, 0, 0x2000) && starts(150, 0, 0x2123));
	ck_assert(!starts(150, 0, 0x4000));
}
END_TEST

/* The space of a thread is found by its number and its CR3, also if a block has not made it. */
START_TEST(again)
{
	static const struct {
		uint64_t cr3;
		const char *name;
	} rows[] = {{0x2000, "sh, pid 7"}, {0, "id, pid 7"}, {0x8000, "id, pid 7"}};
	const struct trace_space *space;
	char text[64];

	session(0, VPT_CTL_MASK(OS));
	named(0x2000, 7, 7, "sh");
	named(0, 7, 7, "id");
	runs(0, 0x2000, 7);
	begin();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		space = decode_tasks_space(tasks, rows[i].cr3, 7);
		decode_space_format(space, text, sizeof(text));
		ck_assert_str_eq(text, rows[i].name);
		ck_assert(space->flags & DECODE_SPACE_TASK && space->vcpu == 7 &&
			  space->cr3 == rows[i].cr3);
		ck_assert_ptr_eq(space, decode_tasks_space(tasks, rows[i].cr3, 7));
	}
	block(10, 0x8000, "id, pid 7");
	/* A file of results may name a thread that the trace does not have. */
	space = decode_tasks_space(tasks, 0x5000, 9);
	decode_space_format(space, text, sizeof(text));
	ck_assert_str_eq(text, "cr3 0x5000");
}
END_TEST

TEST_SUITE("decode_tasks", setup, teardown)
{
	TEST_ADD(tcase, none, processes, executed, neighbours, user_only, moves, parts, gap);
	TEST_ADD(tcase, within, again);
}
