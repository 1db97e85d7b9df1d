// SPDX-License-Identifier: GPL-2.0-or-later
/* The .vpt file: what is written is read, and what is damaged is noticed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/suite.h"
#include "lib/synth.h"
#include "trace/crc32c.h"

#define RECORDS 300

static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

/* The whole of a file in memory. */
struct bytes {
	uint8_t *at;
	size_t n;
};

static struct bytes load(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct bytes b = {malloc(1 << 20), 0};

	ck_assert_ptr_nonnull(f);
	b.n = fread(b.at, 1, 1 << 20, f);
	fclose(f);
	return b;
}

/* Put bytes into a memory file and open that. */
static int open_bytes(const uint8_t *at, size_t n, struct trace_reader **r, char *why, size_t size)
{
	static int fd = -1;
	char path[32];

	if (fd < 0)
		fd = memfd_create("test", 0);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(pwrite(fd, at, n, 0), (ssize_t)n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return trace_reader_open(path, r, why, size);
}

/* Two contents, of which one is at two places, and of one place both. */
static void write_pages(struct trace_writer *w)
{
	struct trace_page_map maps[3] = {
		{{.cr3 = 0x1000, .vaddr = 0x500000, .gpa = 0x7000, .insns = 5}, 0},
		{{.cr3 = 0x2000, .vaddr = 0x600000, .gpa = 0x7000, .insns = 6}, 0},
		{{.cr3 = 0x1000, .vaddr = 0x500000, .gpa = 0x7000, .insns = 7}, 0},
	};
	uint8_t bytes[TRACE_CODE_BYTES];

	memset(bytes, 0x90, sizeof(bytes));
	ck_assert_int_eq(trace_writer_page(w, bytes, &maps[0].content), 0);
	ck_assert_uint_eq(maps[0].content, 1);
	maps[1].content = maps[0].content;
	ck_assert_int_eq(trace_writer_map(w, 1, maps, 2), 0);
	memset(bytes, 0xcc, sizeof(bytes));
	ck_assert_int_eq(trace_writer_page(w, bytes, &maps[2].content), 0);
	ck_assert_int_eq(trace_writer_map(w, 1, &maps[2], 1), 0);
	maps[2].content = 3;
	ck_assert_int_eq(trace_writer_map(w, 1, &maps[2], 1), -EINVAL);
	maps[2].content = 0;
	ck_assert_int_eq(trace_writer_map(w, 1, &maps[2], 1), -EINVAL);
}

/* A bit of everything, in two vCPUs' worth of blocks. */
static void write_sample(const char *path)
{
	struct trace_file_info info = {.vcpus = 2, .seed = 77, .model = "skl"};
	struct trace_ram_range ram[2] = {{0, 0x100000}, {0x100000000, 0x1000}};
	struct trace_elf_image image = {.name = "a.elf", .bias = 0x10};
	struct trace_code_page page = {.cr3 = 0x1000, .vaddr = 0x400000, .insns = 5};
	struct trace_session session = {.ctl = 0x2005, .insns = 3};
	struct trace_cr3_switch sw = {0x3000, 9};
	struct trace_space spaces[2] = {
		{0x1000, 0x3000, .vmcs = TRACE_SPACE_ANY_VMCS, .name = "init", .pid = 1},
		{.id = 0x2000, .cr3 = 0x3000, .vmcs = 0x8000, .flags = TRACE_SPACE_NON_ROOT},
	};
	struct trace_vmcs vmcs = {.vmcs = 0x8000, .tsc_offset = 5, .vm = 3};
	uint8_t code[TRACE_CODE_BYTES];
	unsigned int i;
	struct trace_writer *w;
	memset(code, 0xf4, sizeof(code));
	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	trace_writer_ram(w, ram, 2);
	trace_writer_elf(w, &image, "not really", 10);
	trace_writer_session(w, 1, &session);
	trace_writer_code(w, 1, &page, code);
	write_pages(w);
	trace_writer_trace(w, 1, 0x5000, psb, sizeof(psb));
	trace_writer_trace(w, 1, 0x5010, "abc", 3);
	trace_writer_trace(w, 1, 0x9000, "defg", 4);
	trace_writer_cr3(w, 1, &sw);
	trace_writer_spaces(w, spaces, 1);
	trace_writer_spaces(w, spaces + 1, 1);
	ck_assert_int_eq(trace_writer_vmcs(w, 1, &vmcs), 0);
	ck_assert_uint_eq(vmcs.offset, 23);
	for (i = 0; i < RECORDS; i++) {
		struct trace_oracle_record record = {.ip = i, .aux = 1};

		trace_writer_oracle(w, 0, record);
	}
	ck_assert_int_eq(trace_writer_sync(w), 0);
	session.edge = TRACE_SESSION_END;
	session.end = TRACE_END_DISABLED;
	trace_writer_session(w, 1, &session);
	ck_assert_uint_eq(session.offset, 23);
	ck_assert_uint_eq(trace_writer_stream_bytes(w, 1), 23);
	ck_assert_int_eq(trace_writer_close(w, 42), 0);
}

static struct bytes sample(void)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct bytes b;

	close(mkstemp(path));
	write_sample(path);
	b = load(path);
	unlink(path);
	return b;
}

START_TEST(crc_known)
{
	static uint8_t bytes[2 * 3 * 1360 + 20]; /* two times three lanes, and more */
	unsigned int i;

	ck_assert_uint_eq(trace_crc32c(0, "123456789", 9), 0xe3069283);
	ck_assert_uint_eq(trace_crc32c_table(0, "123456789", 9), 0xe3069283);
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37);
	for (i = 0; i < sizeof(bytes); i += i < 100 ? 1 : 61) {
		uint32_t sum = trace_crc32c_table(0, bytes, i);

		ck_assert_uint_eq(trace_crc32c(0, bytes, i), sum);
		ck_assert_uint_eq(
			trace_crc32c(trace_crc32c(0, bytes, i / 3), bytes + i / 3, i - i / 3), sum);
	}
}
END_TEST

/* docs/abi/vpt-file.md says where fields are. */
START_TEST(layout)
{
	ck_assert_uint_eq(offsetof(struct vpt_caps, l15_eax), 20);
	ck_assert_uint_eq(offsetof(struct vpt_caps, signature), 32);
	ck_assert_uint_eq(offsetof(struct vpt_caps, vmx_pt), 39);
	ck_assert_uint_eq(offsetof(struct trace_file_info, engine), 56);
	ck_assert_uint_eq(offsetof(struct trace_file_info, owner), 72);
	ck_assert_uint_eq(offsetof(struct trace_file_info, tsc_multiplier), 96);
	ck_assert_uint_eq(offsetof(struct trace_file_info, oracle), 112);
	ck_assert_uint_eq(offsetof(struct trace_elf_image, bias), 64);
	ck_assert_uint_eq(offsetof(struct trace_code_page, insns), 24);
	ck_assert_uint_eq(offsetof(struct trace_session, offset), 16);
	ck_assert_uint_eq(offsetof(struct trace_session, ctl), 32);
	ck_assert_uint_eq(offsetof(struct trace_session, addr), 72);
	ck_assert_uint_eq(offsetof(struct trace_oracle_record, aux), 10);
	ck_assert_uint_eq(sizeof(struct trace_cr3_switch), 16);
	ck_assert_uint_eq(sizeof(struct trace_file_end), 16);
	ck_assert_int_eq(TRACE_BLOCK_END, 9);
	ck_assert_int_eq(TRACE_BLOCK_CR3, 10);
	ck_assert_int_eq(TRACE_BLOCK_SPACE, 11);
	ck_assert_int_eq(TRACE_BLOCK_VMCS, 12);
	ck_assert_int_eq(TRACE_BLOCK_STRETCH, 13);
	ck_assert_int_eq(TRACE_BLOCK_RUN, 14);
	ck_assert_int_eq(TRACE_BLOCK_PAGE, 16);
	ck_assert_int_eq(TRACE_BLOCK_MAP, 17);
	ck_assert_uint_eq(sizeof(struct trace_page_content), 16);
	ck_assert_uint_eq(offsetof(struct trace_page_map, content), 32);
	ck_assert_uint_eq(offsetof(struct trace_stretch, insns), 6);
	ck_assert_uint_eq(offsetof(struct trace_stretch, ip), 8);
	ck_assert_uint_eq(offsetof(struct trace_space, flags), 24);
	ck_assert_uint_eq(offsetof(struct trace_space, name), 40);
	ck_assert_uint_eq(offsetof(struct trace_vmcs, vm), 32);
	ck_assert_int_eq(TRACE_END_CLOSED, 5);
	ck_assert_int_eq(TRACE_ORACLE_STOP, 4);
	ck_assert(TRACE_ORACLE_VM_EXIT == 5 && TRACE_ORACLE_INIT == 6);
}
END_TEST

START_TEST(round_trip)
{
	struct bytes b = sample();
	struct trace_oracle_cursor cursor = {0};
	const struct trace_period *periods;
	const struct trace_cr3_switch *sw;
	const struct trace_space *spaces;
	const struct trace_vmcs *vmcs;
	const struct trace_ram_range *ram;
	const struct trace_elf_file *elf;
	const struct trace_code *code;
	const uint8_t *stream;
	struct trace_reader *r;
	unsigned int i;
	char why[128];
	size_t n;

	ck_assert_int_eq(open_bytes(b.at, b.n, &r, why, sizeof(why)), 0);
	ck_assert_uint_eq(trace_reader_info(r)->seed, 77);
	ck_assert_uint_eq(trace_reader_end(r)->guest_exit, 42);
	ck_assert(trace_reader_extent(r)->closed);
	ck_assert_ptr_null(trace_reader_extent(r)->why);
	ck_assert_uint_eq(trace_reader_extent(r)->readable, b.n);

	ram = trace_reader_ram(r, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(ram[1].gpa, 0x100000000);
	elf = trace_reader_elf(r, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(elf->len, 10);
	ck_assert_mem_eq(elf->bytes, "not really", 10);
	ck_assert_uint_eq(elf->image->bias, 0x10);

	trace_reader_code(r, 0, &n);
	ck_assert_uint_eq(n, 0);
	code = trace_reader_code(r, 1, &n);
	ck_assert_uint_eq(n, 4);
	ck_assert_uint_eq(code->page->insns, 5);
	ck_assert_uint_eq(code->bytes[TRACE_CODE_BYTES - 1], 0xf4);
	ck_assert_uint_eq(code->content, 0);
	for (i = 1; i < 4; i++) {
		ck_assert_uint_eq(code[i].page->cr3, i == 2 ? 0x2000 : 0x1000);
		ck_assert_uint_eq(code[i].page->vaddr, i == 2 ? 0x600000 : 0x500000);
		ck_assert_uint_eq(code[i].page->gpa, 0x7000);
		ck_assert_uint_eq(code[i].page->insns, 4 + i);
		ck_assert_uint_eq(code[i].content, i == 3 ? 2 : 1);
		ck_assert_uint_eq(code[i].bytes[TRACE_CODE_BYTES - 1], i == 3 ? 0xcc : 0x90);
	}
	ck_assert_ptr_eq(code[1].bytes, code[2].bytes);
	ck_assert_ptr_eq(trace_reader_contents(r, &n)[1], code[3].bytes);
	ck_assert_uint_eq(n, 2);
	sw = trace_reader_cr3(r, 1, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(sw->cr3, 0x3000);
	spaces = trace_reader_spaces(r, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(spaces[0].name, "init");
	ck_assert_uint_eq(spaces[1].vmcs, 0x8000);
	vmcs = trace_reader_vmcs(r, 1, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(vmcs->tsc_offset, 5);
	ck_assert_uint_eq(vmcs->offset, 23);
	trace_reader_vmcs(r, 0, &n);
	ck_assert_uint_eq(n, 0);

	periods = trace_reader_sessions(r, 1, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(periods->start->offset, 0);
	ck_assert_uint_eq(periods->end->offset, 23);
	ck_assert_uint_eq(periods->end->end, TRACE_END_DISABLED);

	stream = trace_reader_stream(r, 1, &n);
	ck_assert_uint_eq(n, 23);
	ck_assert_mem_eq(stream, psb, 16);
	ck_assert_mem_eq(stream + 16, "abcdefg", 7);
	ck_assert_uint_eq(trace_reader_gpa(r, 1, 0), 0x5000);
	ck_assert_uint_eq(trace_reader_gpa(r, 1, 18), 0x5012);
	ck_assert_uint_eq(trace_reader_gpa(r, 1, 19), 0x9000);
	ck_assert_uint_eq(trace_reader_gpa(r, 1, 22), 0x9003);
	ck_assert_uint_eq(trace_reader_gpa(r, 1, 23), UINT64_MAX);
	trace_reader_stream(r, 0, &n);
	ck_assert_uint_eq(n, 0);

	ck_assert_uint_eq(trace_reader_oracle_count(r, 0), RECORDS);
	ck_assert_uint_eq(trace_reader_oracle_count(r, 1), 0);
	for (i = 0; i < RECORDS; i++)
		ck_assert_uint_eq(trace_reader_oracle(r, 0, &cursor)->ip, i);
	ck_assert_ptr_null(trace_reader_oracle(r, 0, &cursor));
	ck_assert_ptr_null(trace_reader_oracle(r, 0, &cursor));
	trace_reader_close(r);
	free(b.at);
}
END_TEST

START_TEST(large_streams)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct trace_file_info info = {.vcpus = 2};
	struct trace_oracle_cursor cursor = {0};
	struct trace_writer *w;
	struct trace_reader *r;
	const uint8_t *stream;
	uint8_t bytes[5000];
	uint64_t at = 0;
	unsigned int i;
	char why[128];
	size_t n, k;

	close(mkstemp(path));
	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	for (i = 0; i < 200; i++) {
		size_t len = 1 + i * 7919 % sizeof(bytes);
		struct trace_oracle_record record = {.ip = i};

		for (k = 0; k < len; k++)
			bytes[k] = (uint8_t)((at + k) * 31 >> 3);
		ck_assert_int_eq(trace_writer_trace(w, i & 1, 0x10000 + at, bytes, len), 0);
		if (!(i & 1))
			at += len;
		for (k = 0; k < 100; k++)
			ck_assert_int_eq(trace_writer_oracle(w, 1, record), 0);
	}
	ck_assert_int_eq(trace_writer_close(w, 0), 0);

	ck_assert_int_eq(trace_reader_open(path, &r, why, sizeof(why)), 0);
	stream = trace_reader_stream(r, 0, &n);
	ck_assert_uint_eq(n, at);
	for (k = 0; k < n; k++)
		ck_assert_uint_eq(stream[k], (uint8_t)(k * 31 >> 3));
	for (k = 0; k < n; k += 97)
		ck_assert_uint_eq(trace_reader_gpa(r, 0, k), 0x10000 + k);
	ck_assert_uint_eq(trace_reader_oracle_count(r, 1), 20000);
	for (i = 0; i < 20000; i++)
		ck_assert_uint_eq(trace_reader_oracle(r, 1, &cursor)->ip, i / 100);
	trace_reader_close(r);
	unlink(path);
}
END_TEST

/* PSBs at 3 and 40, cut into blocks of _i bytes; 02 82 stands before the second. */
START_TEST(psb_index)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct trace_file_info info = {.vcpus = 1};
	const struct trace_psb_point *index;
	uint8_t bytes[64] = {0};
	struct trace_writer *w;
	struct trace_reader *r;
	struct bytes b;
	unsigned int i;
	char why[128];
	size_t n;

	memcpy(bytes + 3, psb, 16);
	memcpy(bytes + 38, "\x02\x82", 2);
	memcpy(bytes + 40, psb, 16);
	close(mkstemp(path));
	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	for (i = 0; i < sizeof(bytes); i += (unsigned int)_i) {
		size_t len = sizeof(bytes) - i < (size_t)_i ? sizeof(bytes) - i : (size_t)_i;

		ck_assert_int_eq(trace_writer_trace(w, 0, UINT64_MAX, bytes + i, len), 0);
		ck_assert_int_eq(trace_writer_sync(w), 0);
	}
	ck_assert_int_eq(trace_writer_close(w, 0), 0);

	b = load(path);
	ck_assert_int_eq(trace_reader_open(path, &r, why, sizeof(why)), 0);
	index = trace_reader_points(r, 0, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(index[0].offset, 3);
	ck_assert_uint_eq(index[1].offset, 40);
	for (i = 0; i < 2; i++) {
		struct trace_block block;
		struct trace_chunk chunk;

		memcpy(&block, b.at + index[i].file_offset, sizeof(block));
		memcpy(&chunk, b.at + index[i].file_offset + sizeof(block), sizeof(chunk));
		ck_assert_uint_eq(block.type, TRACE_BLOCK_TRACE);
		ck_assert_uint_le(chunk.offset, index[i].offset);
		ck_assert_uint_gt(chunk.offset + block.len - sizeof(chunk), index[i].offset);
	}
	trace_reader_close(r);
	free(b.at);
	unlink(path);
}
END_TEST

/* Ends of the blocks of a file, its header's first. */
static size_t boundaries(const struct bytes *b, size_t *ends)
{
	size_t n = 0, at = sizeof(struct trace_file_header);

	for (;;) {
		struct trace_block block;

		ends[n++] = at;
		if (at == b->n)
			return n;
		memcpy(&block, b->at + at, sizeof(block));
		at += sizeof(block) + ((block.len + 7) & ~7u);
	}
}

/* A guest that does nothing but send PSBs does not fill memory with their places. */
START_TEST(index_is_bounded)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct trace_file_info info = {.vcpus = 1};
	const struct trace_psb_point *index;
	struct trace_writer *w;
	struct trace_reader *r;
	const uint8_t *stream;
	char why[128];
	size_t n, len, i;

	close(mkstemp(path));
	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	for (i = 0; i < 300000; i++) {
		ck_assert_int_eq(trace_writer_trace(w, 0, UINT64_MAX, psb, sizeof(psb)), 0);
		ck_assert_int_eq(trace_writer_trace(w, 0, UINT64_MAX, "abcd", i % 5), 0);
	}
	ck_assert_int_eq(trace_writer_close(w, 0), 0);

	ck_assert_int_eq(trace_reader_open(path, &r, why, sizeof(why)), 0);
	stream = trace_reader_stream(r, 0, &len);
	index = trace_reader_points(r, 0, &n);
	ck_assert_uint_gt(n, 30000);
	ck_assert_uint_le(n, 65536);
	for (i = 0; i < n; i++) {
		ck_assert(!i || index[i].offset > index[i - 1].offset);
		ck_assert_uint_le(index[i].offset + sizeof(psb), len);
		ck_assert_mem_eq(stream + index[i].offset, psb, sizeof(psb));
		ck_assert_uint_ne(index[i].file_offset, 0);
	}
	trace_reader_close(r);
	unlink(path);
}
END_TEST

/* All that a reader has is what the whole file has, or the beginning of it. */
static void check_prefix(struct trace_reader *r)
{
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *record;
	const struct trace_code *code;
	const uint8_t *stream;
	uint64_t i = 0;
	size_t n;

	stream = trace_reader_stream(r, 1, &n);
	ck_assert_uint_le(n, 23);
	ck_assert_int_eq(memcmp(stream,
				"\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82"
				"abcdefg",
				n),
			 0);
	code = trace_reader_code(r, 1, &n);
	if (n)
		ck_assert_uint_eq(code->bytes[0], 0xf4);
	while ((record = trace_reader_oracle(r, 0, &cursor)))
		ck_assert_uint_eq(record->ip, i++);
	ck_assert_uint_eq(i, trace_reader_oracle_count(r, 0));
}

START_TEST(every_truncation)
{
	struct bytes b = sample();
	size_t ends[64], nends = boundaries(&b, ends), n;

	for (n = 0; n < b.n; n++) {
		struct trace_reader *r = NULL;
		char why[128] = "";
		int err = open_bytes(b.at, n, &r, why, sizeof(why));
		size_t last = 0, i;

		for (i = 0; i < nends && ends[i] <= n; i++)
			last = ends[i];
		if (n < ends[1]) {
			ck_assert_int_eq(err, -EINVAL);
			ck_assert_int_ne(*why, 0);
			ck_assert_ptr_null(strchr(why, '\n'));
			continue;
		}
		ck_assert_int_eq(err, 0);
		ck_assert_uint_eq(trace_reader_extent(r)->readable, last);
		ck_assert_uint_eq(trace_reader_extent(r)->file_bytes, n);
		ck_assert(!trace_reader_extent(r)->closed);
		ck_assert_ptr_nonnull(trace_reader_extent(r)->why);
		check_prefix(r);
		trace_reader_close(r);
	}
	free(b.at);
}
END_TEST

/* What a reader has where one block is missing: what the file has, or holes. */
static void check_parts(struct trace_reader *r)
{
	static const uint8_t whole[] = "\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82\2\x82"
				       "abcdefg";
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *record;
	const struct trace_extent *extent = trace_reader_extent(r);
	const struct trace_code *code;
	const uint8_t *stream;
	uint64_t i = 0, missing = 0;
	size_t n, k;

	stream = trace_reader_stream(r, 1, &n);
	ck_assert_uint_le(n, 23);
	for (k = 0; k < n; k++) {
		missing += stream[k] != whole[k];
		ck_assert(stream[k] == whole[k] || !stream[k]);
	}
	ck_assert_uint_eq(missing, trace_reader_stream_missing(r, 1));
	code = trace_reader_code(r, 1, &n);
	for (k = 0; k < n; k++)
		ck_assert(code[k].bytes[0] == 0xf4 || code[k].bytes[0] == 0x90 ||
			  code[k].bytes[0] == 0xcc);
	while ((record = trace_reader_oracle(r, 0, &cursor)))
		ck_assert_uint_eq(record->ip, i++);
	ck_assert_uint_eq(i, trace_reader_oracle_count(r, 0));
	ck_assert_uint_eq(extent->damages, 1);
	ck_assert_uint_eq(extent->damage->offset, extent->readable);
	ck_assert_uint_eq(extent->damage->bytes, extent->lost);
}

/* Is it where a block ends? */
static bool is_end(uint64_t at, const size_t *ends, size_t nends)
{
	size_t i;

	for (i = 0; i < nends && ends[i] != at; i++)
		;
	return i < nends;
}

/* Change each byte, by the bits of flips[_i]: one block is missing, and what follows is not. */
START_TEST(every_flip)
{
	static const uint8_t flips[] = {0xff, 0x01, 0x80};
	struct bytes b = sample();
	size_t ends[64], nends = boundaries(&b, ends), n;

	for (n = 0; n < b.n; n++) {
		struct trace_reader *r = NULL;
		char why[128] = "";
		size_t last = 0, i;

		b.at[n] ^= flips[_i];
		for (i = 0; i < nends && ends[i] <= n; i++)
			last = ends[i];
		if (open_bytes(b.at, b.n, &r, why, sizeof(why))) {
			ck_assert_uint_lt(n, ends[1]);
			ck_assert_int_ne(*why, 0);
		} else {
			/* Only the header's reserved words may change unnoticed. */
			ck_assert_uint_eq(trace_reader_extent(r)->readable, last ? last : b.n);
			ck_assert(last || n >= offsetof(struct trace_file_header, reserved));
			if (last) {
				check_parts(r);
				ck_assert(is_end(last + trace_reader_extent(r)->lost, ends, nends));
			} else {
				check_prefix(r);
			}
			trace_reader_close(r);
		}
		b.at[n] ^= flips[_i];
	}
	free(b.at);
}
END_TEST

static const struct {
	const char *name;
	size_t at;
	uint8_t byte;
	const char *why;
} headers[] = {
	{"foreign", 0, 'X', "not a .vpt file"},
	{"newer", 8, 4, "its format version is 4, this program reads 1 to 3"},
	{"version 0", 8, 0, "its format version is 0, this program reads 1 to 3"},
	{"short header", 12, 24, "its header is damaged"},
	{"odd header", 12, 33, "its header is damaged"},
	{"header past the end", 14, 1, "its header is damaged"},
	{"other block first", 32 + 4, 2,
	 "its first block cannot be read: a block's checksum is wrong"},
};

START_TEST(bad_header)
{
	struct bytes b = sample();
	struct trace_reader *r;
	char why[128];

	b.at[headers[_i].at] = headers[_i].byte;
	ck_assert_int_eq(open_bytes(b.at, b.n, &r, why, sizeof(why)), -EINVAL);
	ck_assert_str_eq(why, headers[_i].why);
	free(b.at);
}
END_TEST

START_TEST(no_file)
{
	struct trace_reader *r;
	char why[128];

	ck_assert_int_eq(trace_reader_open("/nonexistent/x", &r, why, sizeof(why)), -ENOENT);
	ck_assert_int_eq(trace_reader_open("/tmp", &r, why, sizeof(why)), -EISDIR);
	ck_assert_int_eq(trace_reader_open("/dev/null", &r, why, sizeof(why)), -EINVAL);
	ck_assert_str_eq(why, "not a .vpt file: it has 0 bytes");
}
END_TEST

START_TEST(from_pipe)
{
	struct bytes b = sample();
	struct trace_reader *r;
	char why[128];
	int fds[2];

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(write(fds[1], b.at, b.n), (ssize_t)b.n);
	close(fds[1]);
	ck_assert_int_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	ck_assert_int_eq(trace_reader_open("-", &r, why, sizeof(why)), 0);
	ck_assert(trace_reader_extent(r)->closed);
	check_prefix(r);
	trace_reader_close(r);
	free(b.at);
}
END_TEST

#define NO_PAGE	    "a MAP block names a PAGE block that is not there"
#define SPACE_WRONG "an address space is not as it must be"
#define FULL	    0x6161616161616161ull /* of a name without an end */

/* Blocks that are whole and still not right, put before the last but one. */
static const struct {
	const char *why;
	uint16_t type, vcpu;
	uint32_t len;
	uint64_t words[17];
} wrong[] = {
	{"an INFO block is not the only one, or of a wrong length", TRACE_BLOCK_INFO, 0, 120, {0}},
	{"a block is of a vCPU that is not there", TRACE_BLOCK_TRACE, 2, 24, {0}},
	{"a block is of a vCPU that is not there", 999, 2, 24, {0}},
	{"a block's length is wrong", TRACE_BLOCK_RAM, 0, 15, {0}},
	{"a block's length is wrong", TRACE_BLOCK_ELF, 0, 71, {0}},
	{"a block's length is wrong", TRACE_BLOCK_CODE, 0, 40, {0}},
	{"a block's length is wrong", TRACE_BLOCK_TRACE, 0, 16, {0}},
	{"a block's length is wrong", TRACE_BLOCK_TRACE, 0, 0, {0}},
	{"a TRACE block does not continue its stream", TRACE_BLOCK_TRACE, 1, 24, {24}},
	{"a TRACE block does not continue its stream", TRACE_BLOCK_TRACE, 1, 24, {UINT64_MAX}},
	{"a block's length is wrong", TRACE_BLOCK_SESSION, 1, 128, {0}},
	{"a session ends that never started", TRACE_BLOCK_SESSION, 0, 136, {1 | 1ull << 32}},
	{"a session ends that never started", TRACE_BLOCK_SESSION, 1, 136, {1 | 1ull << 32, 0, 23}},
	{"a SESSION block is neither start nor end", TRACE_BLOCK_SESSION, 1, 136, {2, 0, 23}},
	{"a session's place in the stream is wrong", TRACE_BLOCK_SESSION, 1, 136, {0, 0, 24}},
	{"how a session ended is not known", TRACE_BLOCK_SESSION, 1, 136, {8ull << 32, 0, 23}},
	{"a block's length is wrong", TRACE_BLOCK_ORACLE, 0, 24, {0}},
	{"a block's length is wrong", TRACE_BLOCK_ORACLE, 0, 0, {0}},
	{"a block's length is wrong", TRACE_BLOCK_INDEX, 0, 16, {0}},
	{"a block's length is wrong", TRACE_BLOCK_END, 0, 24, {0}},
	{"a block's length is wrong", TRACE_BLOCK_CR3, 1, 24, {0}},
	{"a CR3 block goes back", TRACE_BLOCK_CR3, 1, 16, {0x3000, 8}},
	{"a block's length is wrong", TRACE_BLOCK_SPACE, 0, 0, {0}},
	{"a block's length is wrong", TRACE_BLOCK_SPACE, 0, 88, {0x1000}},
	{SPACE_WRONG, TRACE_BLOCK_SPACE, 0, 80, {0}},
	{SPACE_WRONG, TRACE_BLOCK_SPACE, 0, 80, {0x1001}},
	{SPACE_WRONG, TRACE_BLOCK_SPACE, 0, 80, {1ull << 52}},
	{SPACE_WRONG, TRACE_BLOCK_SPACE, 0, 80, {0x1000, 0, 0, 8}},
	{SPACE_WRONG, TRACE_BLOCK_SPACE, 0, 80, {0x1000, 0, 0, 0, 0, FULL, FULL, FULL, FULL, FULL}},
	{"a block's length is wrong", TRACE_BLOCK_VMCS, 1, 48, {0}},
	{"a VMCS block goes back", TRACE_BLOCK_VMCS, 1, 40, {0x8000, 22}},
	{"a block's length is wrong", TRACE_BLOCK_PAGE, 0, 40, {3}},
	{"a block's length is wrong", TRACE_BLOCK_MAP, 1, 48, {0x1000, 0, 0, 0, 2}},
	{"a block's length is wrong", TRACE_BLOCK_MAP, 1, 0, {0}},
	{"a page of code is not aligned", TRACE_BLOCK_MAP, 1, 40, {0x1000, 1, 0, 0, 2}},
	{"the id of a content does not rise", TRACE_BLOCK_PAGE, 0, 16 + TRACE_CODE_BYTES, {2}},
	{NO_PAGE, TRACE_BLOCK_MAP, 1, 40, {0x1000, 0x1000, 0, 0, 3}},
	{NO_PAGE, TRACE_BLOCK_MAP, 1, 80, {0x1000, 0x1000, 0, 0, 2, 0x1000, 0x2000, 0, 0, 0}},
};

static void append(struct bytes *b, uint16_t type, uint16_t vcpu, uint32_t len, const void *p)
{
	struct trace_block block = {TRACE_BLOCK_MAGIC, type, vcpu, len, 0};

	block.crc = trace_crc32c(trace_crc32c(0, &block, sizeof(block)), p, len);
	memcpy(b->at + b->n, &block, sizeof(block));
	memset(b->at + b->n + sizeof(block), 0, (len + 7) & ~7u);
	memcpy(b->at + b->n + sizeof(block), p, len);
	b->n += sizeof(block) + ((len + 7) & ~7u);
}

START_TEST(wrong_block)
{
	uint8_t payload[2 * TRACE_CODE_BYTES] = {0};
	struct bytes b = sample();
	size_t ends[64], nends = boundaries(&b, ends);
	struct trace_reader *r;
	char why[128];

	/* In place of INDEX and END. */
	b.n = ends[nends - 3];
	memcpy(payload, wrong[_i].words, sizeof(wrong[_i].words));
	append(&b, wrong[_i].type, wrong[_i].vcpu, wrong[_i].len, payload);
	ck_assert_int_eq(open_bytes(b.at, b.n, &r, why, sizeof(why)), 0);
	ck_assert_ptr_nonnull(trace_reader_extent(r)->why);
	ck_assert_str_eq(trace_reader_extent(r)->why, wrong[_i].why);
	ck_assert_uint_eq(trace_reader_extent(r)->readable, ends[nends - 3]);
	check_prefix(r);
	trace_reader_close(r);
	free(b.at);
}
END_TEST

START_TEST(unknown_block)
{
	struct bytes b = sample();
	size_t ends[64], nends = boundaries(&b, ends);
	struct trace_file_end end = {0};
	struct trace_reader *r;
	char why[128];

	b.n = ends[nends - 3];
	append(&b, 999, 0, 5, "hello");
	append(&b, TRACE_BLOCK_END, 0, sizeof(end), &end);
	ck_assert_int_eq(open_bytes(b.at, b.n, &r, why, sizeof(why)), 0);
	ck_assert_ptr_null(trace_reader_extent(r)->why);
	ck_assert_uint_eq(trace_reader_extent(r)->unknown, 1);
	trace_reader_close(r);

	append(&b, 999, 0, 5, "hello");
	ck_assert_int_eq(open_bytes(b.at, b.n, &r, why, sizeof(why)), 0);
	ck_assert_str_eq(trace_reader_extent(r)->why, "something follows the END block");
	trace_reader_close(r);
	free(b.at);
}
END_TEST

START_TEST(full_device)
{
	struct trace_file_info info = {.vcpus = 1};
	struct trace_writer *w;

	ck_assert_int_eq(trace_writer_open("/dev/full", &info, &w), -ENOSPC);
	ck_assert_int_eq(trace_writer_open("/nonexistent/x", &info, &w), -ENOENT);
	info.vcpus = 0;
	ck_assert_int_eq(trace_writer_open("/dev/null", &info, &w), -EINVAL);
	info.vcpus = TRACE_FILE_MAX_VCPUS + 1;
	ck_assert_int_eq(trace_writer_open("/dev/null", &info, &w), -EINVAL);
}
END_TEST

/* Write what write_sample() does into a file that may not grow beyond `limit`. */
static int write_limited(const char *path, size_t limit)
{
	struct rlimit old, now;
	struct trace_file_info info = {.vcpus = 1};
	struct trace_session session = {0};
	struct trace_oracle_record record = {0};
	struct trace_writer *w;
	int err;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	now = old;
	now.rlim_cur = limit;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &now), 0);
	err = trace_writer_open(path, &info, &w);
	if (!err) {
		trace_writer_session(w, 0, &session);
		trace_writer_trace(w, 0, UINT64_MAX, psb, sizeof(psb));
		trace_writer_oracle(w, 0, record);
		err = trace_writer_sync(w);
		/* An error stays, whatever is tried next. */
		if (err) {
			ck_assert_int_eq(trace_writer_trace(w, 0, 0, psb, 1), err);
			ck_assert_int_eq(trace_writer_ram(w, NULL, 0), err);
			ck_assert_int_eq(trace_writer_session(w, 0, &session), err);
			ck_assert_int_eq(trace_writer_oracle(w, 0, record), err);
			ck_assert_int_eq(trace_writer_close(w, 0), err);
		} else {
			err = trace_writer_close(w, 0);
		}
	}
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	return err;
}

START_TEST(full_at_every_byte)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct bytes whole;
	size_t limit;

	signal(SIGXFSZ, SIG_IGN);
	close(mkstemp(path));
	ck_assert_int_eq(write_limited(path, 1 << 20), 0);
	whole = load(path);
	for (limit = 0; limit < whole.n; limit++) {
		struct bytes b;

		ck_assert_int_eq(write_limited(path, limit), -EFBIG);
		b = load(path);
		/* As far as it got, it is the same file. */
		ck_assert_uint_eq(b.n, limit);
		ck_assert_int_eq(memcmp(b.at, whole.at, limit), 0);
		free(b.at);
	}
	free(whole.at);
	unlink(path);
}
END_TEST

/* Kill a writer: what it gave away before is there. */
START_TEST(killed)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct trace_reader *r;
	const uint8_t *stream;
	char why[128];
	int fds[2];
	size_t n;
	pid_t pid;
	char c;

	close(mkstemp(path));
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct trace_file_info info = {.vcpus = 1};
		struct trace_session session = {0};
		struct trace_writer *w;

		if (trace_writer_open(path, &info, &w) || trace_writer_session(w, 0, &session) ||
		    trace_writer_trace(w, 0, UINT64_MAX, psb, sizeof(psb)) ||
		    trace_writer_sync(w) || trace_writer_trace(w, 0, UINT64_MAX, "lost", 4) ||
		    write(fds[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	ck_assert_int_eq(read(fds[0], &c, 1), 1);
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);

	ck_assert_int_eq(trace_reader_open(path, &r, why, sizeof(why)), 0);
	stream = trace_reader_stream(r, 0, &n);
	ck_assert_uint_eq(n, sizeof(psb));
	ck_assert_mem_eq(stream, psb, sizeof(psb));
	ck_assert_ptr_null(trace_reader_sessions(r, 0, &n)->end);
	ck_assert_str_eq(trace_reader_extent(r)->why, "the file ends without an END block");
	trace_reader_close(r);
	unlink(path);
}
END_TEST

START_TEST(bad_vcpu)
{
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct trace_writer *w;

	close(mkstemp(path));
	ck_assert_int_eq(trace_writer_open(path, &(struct trace_file_info){.vcpus = 2}, &w), 0);
	ck_assert_int_eq(trace_writer_trace(w, 2, 0, psb, 1), -EINVAL);
	ck_assert_int_eq(trace_writer_session(w, 2, &(struct trace_session){0}), -EINVAL);
	ck_assert_int_eq(trace_writer_code(w, 2, &(struct trace_code_page){0}, psb), -EINVAL);
	ck_assert_int_eq(trace_writer_map(w, 2, NULL, 0), -EINVAL);
	ck_assert_int_eq(trace_writer_cr3(w, 2, &(struct trace_cr3_switch){0}), -EINVAL);
	ck_assert_int_eq(trace_writer_oracle(w, 2, (struct trace_oracle_record){0}), -EINVAL);
	ck_assert_uint_eq(trace_writer_stream_bytes(w, 2), 0);
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
	unlink(path);
}
END_TEST

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

Suite *test_suite(void)
{
	Suite *suite = suite_create("vptfile");
	TCase *tc = tcase_create("file");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, crc_known);
	tcase_add_test(tc, layout);
	tcase_add_test(tc, round_trip);
	tcase_add_test(tc, index_is_bounded);
	tcase_add_test(tc, large_streams);
	tcase_add_loop_test(tc, psb_index, 1, 41);
	tcase_add_test(tc, every_truncation);
	tcase_add_loop_test(tc, every_flip, 0, 3);
	tcase_add_loop_test(tc, bad_header, 0, COUNT(headers));
	tcase_add_test(tc, no_file);
	tcase_add_test(tc, from_pipe);
	tcase_add_loop_test(tc, wrong_block, 0, COUNT(wrong));
	tcase_add_test(tc, unknown_block);
	tcase_add_test(tc, full_device);
	tcase_add_test(tc, full_at_every_byte);
	tcase_add_test(tc, killed);
	tcase_add_test(tc, bad_vcpu);
	suite_add_tcase(suite, tc);
	return suite;
}
