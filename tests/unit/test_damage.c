// SPDX-License-Identifier: GPL-2.0-or-later
/* .vpt files of which a part is missing, and files that change while they are read. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/suite.h"
#include "trace/crc32c.h"
#include "trace/reader.h"

static struct {
	int fd;
	char path[32];
	uint64_t size;
	uint64_t at[32]; /* where blocks begin */
	size_t n;
} file;

static struct trace_reader *r;
static char why[256];

static void put(const void *bytes, size_t len)
{
	ck_assert_int_eq(pwrite(file.fd, bytes, len, (off_t)file.size), (ssize_t)len);
	file.size += len;
}

/* A header of a block with a right checksum. */
static struct trace_block head_of(uint16_t type, uint16_t vcpu, const void *payload, uint32_t len)
{
	struct trace_block block = {TRACE_BLOCK_MAGIC, type, vcpu, len, 0};

	block.crc = trace_crc32c(trace_crc32c(0, &block, sizeof(block)), payload, len);
	return block;
}

static void add(uint16_t type, uint16_t vcpu, const void *payload, uint32_t len)
{
	static const uint8_t zeros[8];
	const struct trace_block block = head_of(type, vcpu, payload, len);

	file.at[file.n++] = file.size;
	put(&block, sizeof(block));
	put(payload, len);
	put(zeros, -len & 7);
}

static void add_trace(uint16_t vcpu, uint64_t offset, const char *text)
{
	struct {
		struct trace_chunk chunk;
		char text[64];
	} p = {.chunk = {.offset = offset, .gpa = 0x10000 + offset}};

	memcpy(p.text, text, strlen(text));
	add(TRACE_BLOCK_TRACE, vcpu, &p, (uint32_t)(sizeof(p.chunk) + strlen(text)));
}

static void add_session(enum trace_session_edge edge, uint64_t offset, uint64_t ctl)
{
	const struct trace_session s = {
		.edge = edge,
		.end = edge == TRACE_SESSION_END ? TRACE_END_DISABLED : TRACE_END_NONE,
		.offset = offset,
		.ctl = ctl,
		.insns = 100 + offset,
	};

	add(TRACE_BLOCK_SESSION, 0, &s, sizeof(s));
}

static void begin(uint32_t vcpus)
{
	const struct trace_file_header header = {
		.magic = TRACE_FILE_MAGIC, .version = TRACE_FILE_OLD, .size = sizeof(header)};
	const struct trace_file_info info = {.vcpus = vcpus, .model = "skl"};

	file.fd = memfd_create("damage", MFD_CLOEXEC);
	file.size = file.n = 0;
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	put(&header, sizeof(header));
	add(TRACE_BLOCK_INFO, 0, &info, sizeof(info));
}

static void finish(void)
{
	const struct trace_file_end end = {0};

	add(TRACE_BLOCK_END, 0, &end, sizeof(end));
}

static void teardown(void)
{
	trace_reader_close(r);
	r = NULL;
	close(file.fd);
}

/* Change a bit of the n-th block's payload. */
static void flip(size_t n)
{
	uint8_t byte;
	const off_t at = (off_t)(file.at[n] + sizeof(struct trace_block));

	ck_assert_int_eq(pread(file.fd, &byte, 1, at), 1);
	byte ^= 4;
	ck_assert_int_eq(pwrite(file.fd, &byte, 1, at), 1);
}

static void open_file(unsigned int how)
{
	ck_assert_msg(!trace_reader_open_as(file.path, how, &r, why, sizeof(why)), "%s", why);
}

/* The stream of vCPU 0, missing bytes as dots. */
static const char *stream(void)
{
	static char text[128];
	size_t len, i;
	const uint8_t *bytes = trace_reader_stream(r, 0, &len);

	ck_assert_uint_lt(len, sizeof(text));
	for (i = 0; i < len; i++)
		text[i] = bytes[i] ? (char)bytes[i] : '.';
	text[len] = 0;
	return text;
}

/* Sessions as FIRST-END:CTL, L if the end is LOST, ? if there is none. */
static const char *sessions(void)
{
	static char text[256];
	size_t n, i, at = 0;
	const struct trace_period *p = trace_reader_sessions(r, 0, &n);

	text[0] = 0;
	for (i = 0; i < n; i++) {
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%llu-", i ? " " : "",
				       (unsigned long long)p[i].start->offset);
		if (p[i].end)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%llu%s",
					       (unsigned long long)p[i].end->offset,
					       p[i].end->end == TRACE_END_LOST ? "L" : "");
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s:%llx", p[i].end ? "" : "?",
				       (unsigned long long)p[i].start->ctl);
	}
	return text;
}

/* 1 START, 2 to 4 TRACE, 5 END, 6 START, 7 TRACE, 8 END; block 0 is INFO, 9 END. */
static void sample(void)
{
	begin(1);
	add_session(TRACE_SESSION_START, 0, 0x2005);
	add_trace(0, 0, "aaaa");
	add_trace(0, 4, "bbbbb");
	add_trace(0, 9, "cc");
	add_session(TRACE_SESSION_END, 11, 0x2005);
	add_session(TRACE_SESSION_START, 11, 0x200d);
	add_trace(0, 11, "dddd");
	add_session(TRACE_SESSION_END, 15, 0x200d);
	finish();
}

static const struct {
	size_t first, last; /* blocks that are damaged */
	const char *stream, *sessions;
} losses[] = {
	{1, 1, "aaaabbbbbccdddd", "11-15:200d"},
	{2, 2, "....bbbbbccdddd", "0-0L:2005 4-11:2005 11-15:200d"},
	{3, 3, "aaaa.....ccdddd", "0-4L:2005 9-11:2005 11-15:200d"},
	{4, 4, "aaaabbbbb..dddd", "0-9L:2005 11-15:200d"},
	{5, 5, "aaaabbbbbccdddd", "0-11L:2005 11-15:200d"},
	{6, 6, "aaaabbbbbccdddd", "0-11:2005"},
	{7, 7, "aaaabbbbbcc....", "0-11:2005 11-11L:200d"},
	{8, 8, "aaaabbbbbccdddd", "0-11:2005 11-?:200d"},
	{4, 6, "aaaabbbbb..dddd", "0-9L:2005 11-15:2005"},
	{3, 7, "aaaa...........", "0-4L:2005"},
	{1, 2, "....bbbbbccdddd", "0-0L:200d 4-11:200d 11-15:200d"},
	{1, 7, "...............", "0-0L:200d"},
};

START_TEST(one_loss)
{
	const size_t first = losses[_i].first, last = losses[_i].last;
	const struct trace_extent *extent;
	size_t i;

	sample();
	for (i = first; i <= last; i++)
		flip(i);
	open_file(0);
	ck_assert_str_eq(stream(), losses[_i].stream);
	ck_assert_str_eq(sessions(), losses[_i].sessions);
	extent = trace_reader_extent(r);
	ck_assert_uint_eq(extent->damages, 1);
	ck_assert_uint_eq(extent->damage->offset, file.at[first]);
	ck_assert_uint_eq(extent->damage->bytes, file.at[last + 1] - file.at[first]);
	ck_assert_uint_eq(extent->lost, extent->damage->bytes);
	ck_assert(!extent->cut && extent->closed);
	ck_assert_str_eq(extent->why, "a block's checksum is wrong");
	for (i = 0; i < strlen(stream()); i++)
		ck_assert_uint_eq(trace_reader_gpa(r, 0, i),
				  losses[_i].stream[i] == '.' ? UINT64_MAX : 0x10000 + i);
}
END_TEST

START_TEST(several_losses)
{
	const struct trace_extent *extent;

	sample();
	flip(2);
	flip(4);
	flip(7);
	open_file(0);
	ck_assert_str_eq(stream(), "....bbbbb......");
	ck_assert_str_eq(sessions(), "0-0L:2005 4-9L:2005 11-11L:200d");
	ck_assert_uint_eq(trace_reader_stream_missing(r, 0), 10);
	extent = trace_reader_extent(r);
	ck_assert_uint_eq(extent->damages, 3);
	ck_assert_uint_eq(extent->damage[1].offset, file.at[4]);
	ck_assert_uint_eq(extent->damage[2].offset, file.at[7]);
	ck_assert_uint_eq(extent->readable, file.at[2]);
}
END_TEST

START_TEST(up_to_the_first)
{
	sample();
	flip(3);
	open_file(TRACE_READER_PREFIX);
	ck_assert_str_eq(stream(), "aaaa");
	ck_assert_str_eq(sessions(), "0-?:2005");
	ck_assert_uint_eq(trace_reader_extent(r)->lost, file.size - file.at[3]);
	ck_assert(!trace_reader_extent(r)->cut);
}
END_TEST

/* Bytes in place of a block, or more of them: blocks need not be aligned. */
START_TEST(moved)
{
	uint8_t rest[1024];
	const size_t len = (size_t)(file.size - file.at[3]);

	ck_assert_uint_le(len, sizeof(rest));
	ck_assert_int_eq(pread(file.fd, rest, len, (off_t)file.at[3]), (ssize_t)len);
	ck_assert_int_eq(pwrite(file.fd, "something VBL VBLK else", 23, (off_t)file.at[3]), 23);
	ck_assert_int_eq(pwrite(file.fd, rest, len, (off_t)file.at[3] + _i), (ssize_t)len);
	open_file(0);
	ck_assert_str_eq(stream(), "aaaabbbbbccdddd");
	ck_assert_uint_eq(trace_reader_extent(r)->damages, 1);
	ck_assert_uint_eq(trace_reader_extent(r)->lost, (uint64_t)_i);
}
END_TEST

/* Guest memory may hold what looks like a block: a length that leads on is believed first. */
START_TEST(block_in_a_block)
{
	struct {
		struct trace_code_page page;
		uint8_t bytes[TRACE_CODE_BYTES];
	} code = {.page = {.vaddr = 0x1000}};
	const struct trace_file_end end = {.guest_exit = 77};
	const struct trace_block head = head_of(TRACE_BLOCK_END, 0, &end, sizeof(end));

	memcpy(code.bytes + 512, &head, sizeof(head));
	memcpy(code.bytes + 512 + sizeof(head), &end, sizeof(end));
	begin(1);
	add(TRACE_BLOCK_CODE, 0, &code, sizeof(code));
	add_trace(0, 0, "aaaa");
	finish();
	flip(1);
	open_file(0);
	ck_assert_uint_eq(trace_reader_extent(r)->damages, 1);
	ck_assert_uint_eq(trace_reader_end(r)->guest_exit, 0);
	ck_assert_str_eq(stream(), "aaaa");
}
END_TEST

/* No more is taken for missing than the file has bytes, in all streams together. */
START_TEST(holes_are_bounded)
{
	static const uint8_t junk[4096];
	unsigned int v;
	uint64_t sum = 0;

	begin(1024);
	put(junk, sizeof(junk));
	for (v = 0; v < 20; v++)
		add_trace((uint16_t)v, _i ? 1ull << 40 : 3000, "aaaa");
	finish();
	open_file(0);
	for (v = 0; v < 1024; v++)
		sum += trace_reader_stream_bytes(r, v);
	if (_i)
		ck_assert_uint_eq(sum, 0);
	else
		ck_assert(sum >= 3004 && sum <= file.size + 20 * 4);
}
END_TEST

/* The oracle ends where records are missing: their number is unknown. */
START_TEST(oracle_ends)
{
	const struct trace_oracle_record record[2] = {{.ip = 1}, {.ip = 2}};

	begin(1);
	add(TRACE_BLOCK_ORACLE, 0, record, sizeof(record));
	add_trace(0, 0, "aaaa");
	add(TRACE_BLOCK_ORACLE, 0, record, sizeof(record));
	finish();
	flip(2);
	open_file(0);
	ck_assert_uint_eq(trace_reader_oracle_count(r, 0), 2);
	trace_reader_close(r);
	open_file(TRACE_READER_NO_ORACLE);
	ck_assert_uint_eq(trace_reader_oracle_count(r, 0), 0);
}
END_TEST

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Each 4 bytes begin a block of some length, none of which is one. */
START_TEST(dense_headers)
{
	static const uint32_t lengths[] = {TRACE_BLOCK_MAGIC, 0, 1000, 70000, 3 << 20};
	const size_t len = 8 << 20;
	uint32_t *words = malloc(len);
	double start;
	size_t i;

	for (i = 0; i < len / 4; i++)
		words[i] = i & 1 && _i ? lengths[_i] : TRACE_BLOCK_MAGIC;
	begin(1);
	put(words, len);
	finish();
	free(words);
	start = seconds();
	open_file(0);
	ck_assert_double_lt(seconds() - start, 10);
	ck_assert_uint_ge(trace_reader_extent(r)->damages, 1);
}
END_TEST

/* A sparse file is as long as it likes, and so is a block in it. */
START_TEST(sparse)
{
	const struct trace_block block = {TRACE_BLOCK_MAGIC, TRACE_BLOCK_ELF, 0, 1u << 30, 0};
	struct rusage before, after;
	double start;

	begin(1);
	if (_i)
		put(&block, sizeof(block));
	ck_assert_int_eq(ftruncate(file.fd, (1ll << 30) + 4096 * _i), 0);
	getrusage(RUSAGE_SELF, &before);
	start = seconds();
	open_file(0);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_double_lt(seconds() - start, 60);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 100 << 10);
	ck_assert_uint_eq(trace_reader_extent(r)->damages, 1);
}
END_TEST

START_TEST(endless)
{
#ifndef __SANITIZE_ADDRESS__
	const struct rlimit limit = {1ul << 30, 1ul << 30};

	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
#endif
	ck_assert_int_eq(trace_reader_open("/dev/zero", &r, why, sizeof(why)), -EINVAL);
	ck_assert_str_eq(why, "not a .vpt file");
	r = NULL;
	file.fd = -1;
}
END_TEST

/* All that a reader hands out, once more. */
static void use_all(void)
{
	struct trace_oracle_cursor cursor = {0};
	unsigned int v;
	size_t n;

	ck_assert_str_eq(stream(), "aaaabbbbbccdddd");
	ck_assert_str_eq(sessions(), "0-11:2005 11-15:200d");
	for (v = 0; v < trace_reader_info(r)->vcpus; v++) {
		trace_reader_code(r, v, &n);
		while (trace_reader_oracle(r, v, &cursor))
			;
	}
	ck_assert_uint_eq(trace_reader_info(r)->vcpus, 1);
}

/* The reader hands out copies of the file. */
START_TEST(changed_meanwhile)
{
	const uint32_t many = 1000000;

	sample();
	open_file(0);
	if (_i)
		ck_assert_int_eq(ftruncate(file.fd, 0), 0);
	else
		ck_assert_int_eq(pwrite(file.fd, &many, sizeof(many),
					(off_t)(file.at[0] + sizeof(struct trace_block) +
						offsetof(struct trace_file_info, vcpus))),
				 sizeof(many));
	use_all();
}
END_TEST

/* The sum of all that stays in the file. It may change, but is there. */
static unsigned int sum_in_place(void)
{
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *record;
	unsigned int sum = 0, i;
	size_t n;
	const struct trace_code *code = trace_reader_code(r, 0, &n);

	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(code[1].page->vaddr, 0x2000);
	for (i = 0; i < TRACE_CODE_BYTES; i++)
		sum += code[0].bytes[i] + code[1].bytes[i];
	for (i = 0; (record = trace_reader_oracle(r, 0, &cursor)); i++)
		sum += (unsigned int)record->ip;
	ck_assert_uint_eq(i, 300);
	return sum;
}

/* Large parts stay in the file, which may be rewritten or made shorter meanwhile. */
START_TEST(in_place)
{
	static struct {
		struct trace_code_page page;
		uint8_t bytes[TRACE_CODE_BYTES];
	} code = {.page = {.vaddr = 0x1000}};
	static struct trace_oracle_record records[300];
	const unsigned int how[] = {0, TRACE_READER_CODE_IN_PLACE};
	const bool shorter = _i & 1;
	unsigned int before, i;

	for (i = 0; i < 300; i++)
		records[i].ip = 1;
	memset(code.bytes, 1, sizeof(code.bytes));
	begin(1);
	add(TRACE_BLOCK_CODE, 0, &code, sizeof(code));
	code.page.vaddr = 0x2000;
	add(TRACE_BLOCK_CODE, 0, &code, sizeof(code));
	add(TRACE_BLOCK_ORACLE, 0, records, sizeof(records));
	finish();
	open_file(how[_i / 2]);
	before = sum_in_place();
	ck_assert_uint_eq(before, 2 * TRACE_CODE_BYTES + 300);
	ck_assert(!trace_reader_torn(r));

	memset(code.bytes, 3, sizeof(code.bytes));
	if (shorter)
		ck_assert_int_eq(ftruncate(file.fd, 0), 0);
	else
		ck_assert_int_gt(pwrite(file.fd, &code, sizeof(code),
					(off_t)(file.at[1] + sizeof(struct trace_block))),
				 0);
	if (shorter)
		ck_assert_uint_eq(sum_in_place(), _i / 2 ? 0 : 2 * TRACE_CODE_BYTES);
	else
		ck_assert_uint_eq(sum_in_place(), _i / 2 ? before + 2 * TRACE_CODE_BYTES : before);
	ck_assert_int_eq(trace_reader_torn(r), shorter);
}
END_TEST

/* A signal that is not of a map does what it did before. */
START_TEST(other_bus_errors)
{
	int status;
	pid_t pid;

	sample();
	open_file(0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		raise(SIGBUS);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	/* A sanitizer has a handler of its own, which ends the process. */
	ck_assert(WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS : WEXITSTATUS(status));
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("damage");
	TCase *tc = tcase_create("reader");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, one_loss, 0, sizeof(losses) / sizeof(losses[0]));
	tcase_add_test(tc, several_losses);
	tcase_add_test(tc, up_to_the_first);
	tcase_add_test(tc, block_in_a_block);
	tcase_add_loop_test(tc, holes_are_bounded, 0, 2);
	tcase_add_test(tc, oracle_ends);
	tcase_add_loop_test(tc, dense_headers, 0, 5);
	tcase_add_loop_test(tc, sparse, 0, 2);
	tcase_add_test(tc, endless);
	tcase_add_loop_test(tc, changed_meanwhile, 0, 2);
	tcase_add_loop_test(tc, in_place, 0, 4);
	tcase_add_test(tc, other_bus_errors);
	suite_add_tcase(s, tc);

	tc = tcase_create("moved");
	tcase_add_checked_fixture(tc, sample, teardown);
	tcase_add_loop_test(tc, moved, 23, 40);
	suite_add_tcase(s, tc);
	return s;
}
