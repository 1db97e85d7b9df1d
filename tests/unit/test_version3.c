// SPDX-License-Identifier: GPL-2.0-or-later
/* What version 3 of the .vpt file adds: each block goes out and in, and each wrong field is noticed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/suite.h"
#include "trace/crc32c.h"
#include "trace/reader.h"
#include "trace/writer.h"
#include "trace/zstd.h"
#include "vpt/packet.h"

#define ROOM (1u << 20)

/* A file in memory, to which blocks can be added. */
struct file {
	int fd;
	char path[32];
	struct trace_writer *w;
};

static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
static char why[160];

static void begin(struct file *f, unsigned int vcpus)
{
	const struct trace_file_info info = {.vcpus = vcpus};

	f->fd = memfd_create("test", 0);
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	ck_assert_int_eq(trace_writer_open(f->path, &info, &f->w), 0);
}

static struct trace_reader *finish(struct file *f)
{
	struct trace_reader *r;

	ck_assert_int_eq(trace_writer_close(f->w, 0), 0);
	ck_assert_msg(!trace_reader_open(f->path, &r, why, sizeof(why)), "%s", why);
	ck_assert_msg(!trace_reader_extent(r)->why, "%s", trace_reader_extent(r)->why);
	ck_assert_uint_eq(trace_reader_version(r), TRACE_FILE_VERSION);
	return r;
}

static void end(struct file *f, struct trace_reader *r)
{
	trace_reader_close(r);
	close(f->fd);
}

START_TEST(layout)
{
	ck_assert_int_eq(TRACE_BLOCK_ORIGIN, 18);
	ck_assert_int_eq(TRACE_BLOCK_SWITCH, 19);
	ck_assert_int_eq(TRACE_BLOCK_POINT, 20);
	ck_assert_int_eq(TRACE_BLOCK_PACKED, 21);
	ck_assert_int_eq(TRACE_BLOCK_EPOCH, 22);
	ck_assert_int_eq(TRACE_BLOCK_FRAME, 23);
	ck_assert_int_eq(TRACE_BLOCK_VIEW, 24);
	ck_assert_int_eq(TRACE_BLOCK_INPUT, 25);
	ck_assert_int_eq(TRACE_BLOCK_FILE, 26);
	ck_assert_int_eq(TRACE_BLOCK_MARK, 27);
	ck_assert_int_eq(TRACE_BLOCK_CUT, 28);
	ck_assert_int_eq(TRACE_BLOCK_OPTIONS, 29);
	ck_assert_int_eq(TRACE_BLOCK_TASK, 30);
	ck_assert_int_eq(TRACE_BLOCK_CHANGE, 31);
	ck_assert_int_eq(TRACE_BLOCK_REFINED, 32);
	ck_assert_uint_eq(offsetof(struct trace_file_header, flags), 16);
	ck_assert_uint_eq(offsetof(struct trace_origin, cpu), 8);
	ck_assert_uint_eq(offsetof(struct trace_origin, time_zero), 16);
	ck_assert_uint_eq(offsetof(struct trace_origin, source), 64);
	ck_assert_uint_eq(offsetof(struct trace_switch, pid), 24);
	ck_assert_uint_eq(offsetof(struct trace_psb_point, insns), 48);
	ck_assert_uint_eq(offsetof(struct trace_psb_point, flags), 72);
	ck_assert_uint_eq(offsetof(struct trace_psb_point, mode), 76);
	ck_assert_uint_eq(offsetof(struct trace_view, vm), 32);
	ck_assert_uint_eq(offsetof(struct trace_recorded, kind), 24);
	ck_assert_uint_eq(offsetof(struct trace_file_ref, hash), 48);
	ck_assert_uint_eq(offsetof(struct trace_user_mark, len), 36);
	ck_assert_uint_eq(offsetof(struct trace_cut, why), 24);
	ck_assert_uint_eq(offsetof(struct trace_page_change, offset), 16);
}
END_TEST

START_TEST(side_band)
{
	const struct trace_origin origin = {
		.kind = TRACE_ORIGIN_PERF,
		.flags = TRACE_ORIGIN_HARDWARE | TRACE_ORIGIN_TIME,
		.cpu = {TRACE_CPU_INTEL, 6, 143, 8},
		.time_mult = 7,
		.time_shift = 31,
		.program = "vpt import",
		.source = "perf.data",
	};
	const struct trace_switch sw[3] = {
		{0, 0x1000, 5, 10, 11}, {3, 0x2000, 6, 20, 21}, {3, 0, 7, 0, 0}};
	const struct trace_recorded in = {
		.retired = 9, .turn = 2, .kind = TRACE_RECORDED_CONSOLE, .len = 3};
	struct trace_user_mark mark = {.insns = 4, .value = 77, .len = 5};
	struct trace_task task = {.insns = 5,
				  .cr3 = 0x3000,
				  .pid = 7,
				  .tid = 8,
				  .kind = TRACE_TASK_NAMED,
				  .name = "sh"};
	const struct trace_task *tasks;
	struct trace_file_ref ref = {
		.kind = TRACE_REF_CORE, .hash_is = TRACE_HASH_SHA256, .bytes = 1 << 20};
	const struct trace_reader_input *inputs;
	const struct trace_reader_mark *marks;
	const struct trace_reader_ref *refs;
	const struct trace_switch *got;
	struct trace_reader *r;
	struct file f;
	size_t n;

	begin(&f, 2);
	ck_assert_int_eq(trace_writer_origin(f.w, &origin), 0);
	ck_assert_int_eq(trace_writer_trace(f.w, 1, ~0ull, "abcd", 4), 0);
	ck_assert_int_eq(trace_writer_switches(f.w, 1, sw, 2), 0);
	ck_assert_int_eq(trace_writer_switches(f.w, 1, sw + 2, 1), 0);
	ck_assert_int_eq(trace_writer_switches(f.w, 1, sw, 1), -EINVAL);
	ck_assert_int_eq(trace_writer_input(f.w, 1, &in, "ls\n"), 0);
	ck_assert_int_eq(trace_writer_input(f.w, 0, &in, "cd\n"), 0);
	ck_assert_int_eq(trace_writer_mark(f.w, 1, &mark, "start"), 0);
	ck_assert_int_eq(trace_writer_task(f.w, 1, &task), 0);
	task.kind = TRACE_TASK_KINDS;
	ck_assert_int_eq(trace_writer_task(f.w, 1, &task), -EINVAL);
	task.kind = TRACE_TASK_NAMED;
	ck_assert_int_eq(trace_writer_ref(f.w, 0, &ref, "memory.elf"), 0);
	ck_assert_int_eq(trace_writer_ref(f.w, 0, &ref, ""), -EINVAL);
	r = finish(&f);

	ck_assert_mem_eq(trace_reader_origin(r), &origin, sizeof(origin));
	got = trace_reader_switches(r, 1, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert_mem_eq(got, sw, sizeof(sw));
	trace_reader_switches(r, 0, &n);
	ck_assert_uint_eq(n, 0);
	inputs = trace_reader_inputs(r, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(inputs[0].vcpu, 1);
	ck_assert_mem_eq(inputs[0].head, &in, sizeof(in));
	ck_assert_mem_eq(inputs[0].bytes, "ls\n", 3);
	ck_assert_mem_eq(inputs[1].bytes, "cd\n", 3);
	marks = trace_reader_marks(r, 1, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(marks->mark.offset, 4);
	ck_assert_uint_eq(marks->mark.value, 77);
	ck_assert_mem_eq(marks->text, "start", 5);
	tasks = trace_reader_tasks(r, 1, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(tasks->offset, 4);
	ck_assert_mem_eq(tasks, &task, sizeof(task));
	trace_reader_tasks(r, 0, &n);
	ck_assert_uint_eq(n, 0);
	refs = trace_reader_refs(r, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(refs->ref->bytes, 1 << 20);
	ck_assert_uint_eq(refs->ref->name_len, 10);
	ck_assert_mem_eq(refs->name, "memory.elf", 10);
	end(&f, r);
}
END_TEST

/* All places of a part of a stream are those in the part. */
START_TEST(cut_stream)
{
	const struct trace_cut cut = {.offset = 1000, .insns = 50, .why = TRACE_CUT_SHARD};
	const struct trace_switch sw = {.offset = 1004, .space = 0x1000};
	struct trace_session session = {.ctl = 0x2005, .insns = 50};
	struct trace_vmcs vmcs = {.vmcs = 0x8000};
	struct trace_user_mark mark = {0};
	const struct trace_period *periods;
	struct trace_reader *r;
	struct file f;
	size_t n;

	begin(&f, 1);
	ck_assert_int_eq(trace_writer_cut(f.w, 0, &cut), 0);
	ck_assert_int_eq(trace_writer_cut(f.w, 0, &cut), -EINVAL);
	ck_assert_int_eq(trace_writer_session(f.w, 0, &session), 0);
	ck_assert_uint_eq(session.offset, 1000);
	ck_assert_int_eq(trace_writer_trace(f.w, 0, ~0ull, psb, sizeof(psb)), 0);
	ck_assert_int_eq(trace_writer_switches(f.w, 0, &sw, 1), 0);
	ck_assert_int_eq(trace_writer_vmcs(f.w, 0, &vmcs), 0);
	ck_assert_int_eq(trace_writer_mark(f.w, 0, &mark, ""), 0);
	ck_assert_uint_eq(trace_writer_stream_bytes(f.w, 0), 16);
	r = finish(&f);
	ck_assert_uint_eq(trace_reader_cut(r, 0)->offset, 1000);
	ck_assert_uint_eq(trace_reader_stream_bytes(r, 0), 16);
	ck_assert_uint_eq(trace_reader_stream_missing(r, 0), 0);
	periods = trace_reader_sessions(r, 0, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(periods->start->offset, 0);
	ck_assert_uint_eq(trace_reader_switches(r, 0, &n)->offset, 4);
	ck_assert_uint_eq(trace_reader_vmcs(r, 0, &n)->offset, 16);
	ck_assert_uint_eq(trace_reader_marks(r, 0, &n)->mark.offset, 16);
	ck_assert_uint_eq(trace_reader_points(r, 0, &n)->offset, 0);
	ck_assert_uint_eq(n, 1);
	end(&f, r);
}
END_TEST

static uint8_t *put(uint8_t *to, struct vpt_packet packet)
{
	return to + vpt_packet_write(to, &packet);
}

/* A whole PSB+, in pieces of _i bytes. */
START_TEST(point_has_psb_plus)
{
	uint8_t bytes[256], *at = bytes;
	const struct trace_psb_point *points;
	struct trace_session session = {.ctl = 0x2005, .insns = 50};
	const struct trace_cr3_switch sw = {0x5000, 50};
	struct trace_reader *r;
	struct file f;
	size_t n, i;

	at = put(at, (struct vpt_packet){.kind = VPT_PKT_PSB});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_TSC, .value = 0x123456});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_TMA, .value = 1});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_CBR, .value = 24});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_PIP, .value = 0x7000, .flag = true});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_VMCS, .value = 0x9000});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_MODE_TSX});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_MODE_EXEC, .value = 5});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_FUP,
					 .ip_bytes = VPT_IP_SEXT_48,
					 .value = 0xffff81000000ull});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_PSBEND});
	/* Behind PSBEND nothing is of the PSB. */
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_PIP, .value = 0x8000});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_PSB});
	at = put(at, (struct vpt_packet){.kind = VPT_PKT_PSBEND});

	begin(&f, 1);
	trace_writer_session(f.w, 0, &session);
	trace_writer_cr3(f.w, 0, &sw);
	for (i = 0; i < (size_t)(at - bytes); i += (size_t)_i) {
		n = (size_t)(at - bytes) - i;
		trace_writer_trace(f.w, 0, ~0ull, bytes + i, n < (size_t)_i ? n : (size_t)_i);
	}
	r = finish(&f);
	points = trace_reader_points(r, 0, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(points[0].flags, TRACE_POINT_FLAGS & ~(unsigned int)TRACE_POINT_EPOCH);
	ck_assert_uint_eq(points[0].cr3, 0x7000);
	ck_assert_uint_eq(points[0].vmcs, 0x9000);
	ck_assert_uint_eq(points[0].tsc, 0x123456);
	ck_assert_uint_eq(points[0].ip, 0xffffffff81000000ull);
	ck_assert_uint_eq(points[0].insns, 50);
	ck_assert_uint_eq(points[0].space, 0x5000);
	ck_assert_uint_eq(points[0].mode, 64);
	ck_assert_uint_eq(points[0].cbr, 24);
	ck_assert_uint_eq(points[1].flags, TRACE_POINT_SPACE);
	ck_assert_uint_eq(points[1].cr3, 0);
	ck_assert_uint_eq(points[1].insns, 0);

	ck_assert_ptr_eq(trace_reader_point_before(r, 0, 0), points);
	ck_assert_ptr_eq(trace_reader_point_before(r, 0, points[1].offset - 1), points);
	ck_assert_ptr_eq(trace_reader_point_before(r, 0, points[1].offset), points + 1);
	ck_assert_ptr_eq(trace_reader_point_before(r, 0, UINT64_MAX), points + 1);
	end(&f, r);
}
END_TEST

/* The byte that a vCPU's code has at an address, at a counter. -1: there is no such page. */
static int code_at(struct trace_reader *r, unsigned int vcpu, uint64_t space, uint64_t vaddr,
		   uint64_t insns)
{
	const struct trace_code *code, *best = NULL;
	size_t n, i;

	code = trace_reader_code(r, vcpu, &n);
	for (i = 0; i < n; i++)
		if (code[i].page->cr3 == space && code[i].page->vaddr == vaddr &&
		    code[i].page->insns <= insns &&
		    (!best || code[i].page->insns >= best->page->insns))
			best = &code[i];
	return best ? best->bytes[0] : -1;
}

/* One frame at two addresses changes; an address moves to another frame; one ends. */
START_TEST(epochs)
{
	struct trace_frame frames[4] = {
		{.gpa = 0x1000}, {.gpa = 0x2000}, {.gpa = 0x1000, .epoch = 2}};
	const struct trace_view views[5] = {
		{.space = 0x10000, .vaddr = 0x400000, .gpa = 0x1000},
		{.space = 0x20000, .vaddr = 0x500000, .gpa = 0x1000},
		{.space = 0x20000, .vaddr = 0x500000, .gpa = 0x2000, .epoch = 3},
		{.space = 0x10000, .vaddr = 0x600000, .gpa = 0x2000, .epoch = 1},
		{.space = 0x10000, .vaddr = 0x600000, .epoch = 2, .flags = TRACE_VIEW_GONE},
	};
	struct trace_epoch epoch[4] = {{.epoch = 2, .insns = 100},
				       {.epoch = 3, .insns = 200},
				       {.epoch = 1, .insns = 7},
				       {.epoch = 3, .insns = 9}};
	uint8_t page[TRACE_CODE_BYTES];
	struct trace_reader *r;
	struct file f;
	unsigned int i;
	size_t n;

	begin(&f, 3);
	for (i = 0; i < 3; i++) {
		memset(page, (int)(0x90 + i), sizeof(page));
		ck_assert_int_eq(trace_writer_page(f.w, page, &frames[i].content), 0);
	}
	ck_assert_int_eq(trace_writer_frames(f.w, frames, 3), 0);
	frames[3].content = 4;
	ck_assert_int_eq(trace_writer_frames(f.w, frames + 3, 1), -EINVAL);
	ck_assert_int_eq(trace_writer_views(f.w, views, 5), 0);
	for (i = 0; i < 4; i++) {
		trace_writer_trace(f.w, i / 2, ~0ull, "abcd", 4);
		ck_assert_int_eq(trace_writer_epoch(f.w, i / 2, &epoch[i]), 0);
	}
	ck_assert_int_eq(trace_writer_epoch(f.w, 1, &epoch[2]), -EINVAL);
	r = finish(&f);
	ck_assert_uint_eq(trace_reader_epochs(r, 0, &n)[1].offset, 8);
	ck_assert_uint_eq(n, 2);

	ck_assert_int_eq(code_at(r, 0, 0x10000, 0x400000, 0), 0x90);
	ck_assert_int_eq(code_at(r, 0, 0x10000, 0x400000, 99), 0x90);
	ck_assert_int_eq(code_at(r, 0, 0x10000, 0x400000, 100), 0x92);
	ck_assert_int_eq(code_at(r, 0, 0x20000, 0x500000, 100), 0x92);
	ck_assert_int_eq(code_at(r, 0, 0x20000, 0x500000, 200), 0x91);
	/* A vCPU that passes over an epoch enters it with the next one. */
	ck_assert_int_eq(code_at(r, 1, 0x10000, 0x400000, 8), 0x90);
	ck_assert_int_eq(code_at(r, 1, 0x10000, 0x400000, 9), 0x92);
	ck_assert_int_eq(code_at(r, 1, 0x10000, 0x600000, 6), -1);
	ck_assert_int_eq(code_at(r, 1, 0x10000, 0x600000, 7), 0x91);
	/* A vCPU without epochs stays in epoch 0. */
	ck_assert_int_eq(code_at(r, 2, 0x10000, 0x400000, 1000), 0x90);
	ck_assert_int_eq(code_at(r, 2, 0x10000, 0x600000, 1000), -1);
	end(&f, r);
}
END_TEST

/* Contents that differ in a few bytes, at both ends of a page. A large change is a page. */
START_TEST(changes)
{
	static const struct {
		size_t at, len;
	} part[] = {{0, 1}, {4095, 1}, {100, 1024}, {100, 1025}};
	uint8_t page[5][TRACE_CODE_BYTES];
	const uint8_t *const *contents;
	uint64_t id[5], bytes, more;
	struct trace_reader *r;
	struct file f;
	unsigned int i;
	size_t n;

	begin(&f, 1);
	memset(page[0], 0x90, sizeof(page[0]));
	ck_assert_int_eq(trace_writer_page(f.w, page[0], &id[0]), 0);
	for (i = 1; i < 5; i++) {
		memcpy(page[i], page[i - 1], sizeof(page[i]));
		memset(page[i] + part[i - 1].at, (int)i, part[i - 1].len);
		bytes = trace_writer_file_bytes(f.w);
		ck_assert_int_eq(trace_writer_change(f.w, id[i - 1], page[i], part[i - 1].at,
						     part[i - 1].at + part[i - 1].len, &id[i]),
				 0);
		more = trace_writer_file_bytes(f.w) - bytes;
		ck_assert_uint_eq(more, i < 4 ? 40 + ((part[i - 1].len + 7) & ~7u) : 32 + 4096);
	}
	ck_assert_int_eq(trace_writer_change(f.w, 6, page[1], 0, 1, &id[0]), -EINVAL);
	ck_assert_int_eq(trace_writer_change(f.w, 0, page[1], 0, 1, &id[0]), -EINVAL);
	ck_assert_int_eq(trace_writer_change(f.w, 1, page[1], 1, 1, &id[0]), -EINVAL);
	ck_assert_int_eq(trace_writer_change(f.w, 1, page[1], 4096, 4097, &id[0]), -EINVAL);
	r = finish(&f);
	contents = trace_reader_contents(r, &n);
	ck_assert_uint_eq(n, 5);
	for (i = 0; i < 5; i++)
		ck_assert_mem_eq(contents[i], page[i], sizeof(page[i]));
	end(&f, r);
}
END_TEST

/* A few blocks and a stream to be wrong about: 20 bytes of vCPU 1, a PAGE block with id 1. */
static size_t sample(uint8_t *to)
{
	struct file f;
	uint8_t page[TRACE_CODE_BYTES] = {0};
	const struct trace_switch sw = {.offset = 8};
	const struct trace_cut cut = {.offset = 100, .why = TRACE_CUT_RING};
	struct trace_epoch epoch = {.epoch = 5, .insns = 5};
	uint64_t id;
	ssize_t n;

	begin(&f, 3);
	trace_writer_trace(f.w, 1, ~0ull, psb, sizeof(psb));
	trace_writer_page(f.w, page, &id);
	trace_writer_switches(f.w, 1, &sw, 1);
	trace_writer_epoch(f.w, 1, &epoch);
	trace_writer_cut(f.w, 2, &cut);
	ck_assert_int_eq(trace_writer_sync(f.w), 0);
	trace_writer_drop(f.w);
	n = pread(f.fd, to, ROOM, 0);
	ck_assert_int_gt(n, 0);
	close(f.fd);
	return (size_t)n;
}

static size_t append(uint8_t *to, unsigned int type, unsigned int vcpu, size_t len, const void *p)
{
	struct trace_block block = {TRACE_BLOCK_MAGIC, (uint16_t)type, (uint16_t)vcpu,
				    (uint32_t)len, 0};

	block.crc = trace_crc32c(trace_crc32c(0, &block, sizeof(block)), p, len);
	memcpy(to, &block, sizeof(block));
	memset(to + sizeof(block), 0, (len + 7) & ~7u);
	memcpy(to + sizeof(block), p, len);
	return sizeof(block) + ((len + 7) & ~7u);
}

static struct trace_reader *read_bytes(const uint8_t *bytes, size_t len, int *err)
{
	struct trace_reader *r = NULL;
	char path[32];
	int fd = memfd_create("test", 0);

	ck_assert_int_eq(pwrite(fd, bytes, len, 0), (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*why = 0;
	*err = trace_reader_open(path, &r, why, sizeof(why));
	close(fd);
	return *err ? NULL : r;
}

#define LENGTH	"a block's length is wrong"
#define PLACE	"a place in the stream is wrong"
#define ORIGIN	"an ORIGIN block is not as it must be"
#define POINT	"a POINT block is not as it must be"
#define FRAME	"a FRAME block is not as it must be"
#define VIEW	"a VIEW block is not as it must be"
#define REF	"a FILE block is not as it must be"
#define CUT	"a CUT block is not as it must be"
#define TASK	"a TASK block is not as it must be"
#define OPTIONS "an OPTIONS block is not as it must be"
#define PACKED	"a PACKED block's lengths are out of range"
#define RISE	"the id of a content does not rise"
#define CHANGE	"a CHANGE block is outside of its page"
#define FULL	0x6161616161616161ull
#define U(a, b) ((uint64_t)(b) << 32 | (a))

static const struct {
	const char *why;
	unsigned int type, vcpu, len;
	uint64_t words[2 + TRACE_CODE_BYTES / 8];
} wrong[] = {
	{LENGTH, TRACE_BLOCK_ORIGIN, 0, 120, {0}},
	{ORIGIN, TRACE_BLOCK_ORIGIN, 0, 128, {TRACE_ORIGIN_KINDS}},
	{ORIGIN, TRACE_BLOCK_ORIGIN, 0, 128, {U(0, 8)}},
	{ORIGIN, TRACE_BLOCK_ORIGIN, 0, 128, {0, TRACE_CPU_VENDORS}},
	{ORIGIN, TRACE_BLOCK_ORIGIN, 0, 128, {0, 0, 0, U(0, 64)}},
	{ORIGIN, TRACE_BLOCK_ORIGIN, 0, 128, {0, 0, 0, 0, FULL, FULL, FULL, FULL}},
	{ORIGIN,
	 TRACE_BLOCK_ORIGIN,
	 0,
	 128,
	 {0, 0, 0, 0, 0, 0, 0, 0, FULL, FULL, FULL, FULL, FULL, FULL, FULL, FULL}},
	{LENGTH, TRACE_BLOCK_SWITCH, 1, 0, {0}},
	{LENGTH, TRACE_BLOCK_SWITCH, 1, 40, {0}},
	{"a SWITCH block goes back", TRACE_BLOCK_SWITCH, 1, 32, {7}},
	{"a SWITCH block goes back", TRACE_BLOCK_SWITCH, 1, 64, {9, 0, 0, 0, 8}},
	{PLACE, TRACE_BLOCK_SWITCH, 2, 32, {99}},
	{LENGTH, TRACE_BLOCK_POINT, 1, 72, {0}},
	{POINT, TRACE_BLOCK_POINT, 1, 80, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1000}},
	{POINT, TRACE_BLOCK_POINT, 1, 80, {0, 0, 0, 0, 0, 0, 0, 0, 0, U(TRACE_POINT_MODE, 33)}},
	{POINT, TRACE_BLOCK_POINT, 1, 80, {0, 0, 0, 0, 0, 0, 0, 0, 0, U(0, 64)}},
	{POINT, TRACE_BLOCK_POINT, 1, 80, {0, 0, 0, 0, 0, 0, 0, 0, 0, U(0, 1 << 16)}},
	{PLACE, TRACE_BLOCK_POINT, 2, 80, {99}},
	{"a POINT block goes back", TRACE_BLOCK_POINT, 1, 160, {3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}},
	{LENGTH, TRACE_BLOCK_EPOCH, 1, 24, {6, 16, 5}},
	{"an EPOCH block goes back", TRACE_BLOCK_EPOCH, 1, 32, {4, 16, 5}},
	{"an EPOCH block goes back", TRACE_BLOCK_EPOCH, 1, 32, {5, 15, 5}},
	{"an EPOCH block goes back", TRACE_BLOCK_EPOCH, 1, 32, {5, 16, 4}},
	{PLACE, TRACE_BLOCK_EPOCH, 2, 32, {5, 16, 5}},
	{LENGTH, TRACE_BLOCK_FRAME, 0, 0, {0}},
	{LENGTH, TRACE_BLOCK_FRAME, 0, 40, {0}},
	{FRAME, TRACE_BLOCK_FRAME, 0, 32, {1, 1}},
	{FRAME, TRACE_BLOCK_FRAME, 0, 32, {0, 1, 0, U(0, 1)}},
	{"a FRAME block names a PAGE block that is not there", TRACE_BLOCK_FRAME, 0, 32, {0, 2}},
	{LENGTH, TRACE_BLOCK_VIEW, 0, 0, {0}},
	{LENGTH, TRACE_BLOCK_VIEW, 0, 32, {0}},
	{VIEW, TRACE_BLOCK_VIEW, 0, 40, {0, 1}},
	{VIEW, TRACE_BLOCK_VIEW, 0, 40, {0, 0, 1}},
	{VIEW, TRACE_BLOCK_VIEW, 0, 40, {0, 0, 0, 0, U(0, 2)}},
	{VIEW, TRACE_BLOCK_VIEW, 0, 40, {0, 0, 0x1000, 0, U(0, 1)}},
	{LENGTH, TRACE_BLOCK_INPUT, 1, 0, {0}},
	{LENGTH, TRACE_BLOCK_INPUT, 1, 24, {0}},
	{LENGTH, TRACE_BLOCK_INPUT, 1, 32, {0, 0, 0, U(1, 1)}},
	{LENGTH, TRACE_BLOCK_INPUT, 1, 32, {0, 0, 0, U(1, 0xffffffff)}},
	{LENGTH, TRACE_BLOCK_INPUT, 1, 48, {0, 0, 0, U(1, 1), 0}},
	{"the kind of an input is not known", TRACE_BLOCK_INPUT, 1, 32, {0}},
	{"the kind of an input is not known",
	 TRACE_BLOCK_INPUT,
	 1,
	 32,
	 {0, 0, 0, TRACE_RECORDED_KINDS}},
	{"an INPUT block goes back", TRACE_BLOCK_INPUT, 1, 64, {9, 0, 9, 1, 8, 0, 9, 1}},
	{"an INPUT block goes back", TRACE_BLOCK_INPUT, 1, 64, {9, 0, 9, 1, 9, 0, 8, 1}},
	{LENGTH, TRACE_BLOCK_OPTIONS, 0, 0, {0}},
	{LENGTH, TRACE_BLOCK_OPTIONS, 0, 8, {U(1, 1)}},
	{LENGTH, TRACE_BLOCK_OPTIONS, 0, 8, {U(1, 0xffffffff)}},
	{LENGTH, TRACE_BLOCK_OPTIONS, 0, 24, {U(1, 8), FULL >> 8}},
	{OPTIONS, TRACE_BLOCK_OPTIONS, 0, 8, {U(1, 0)}},
	{OPTIONS, TRACE_BLOCK_OPTIONS, 0, 16, {U(2, 8), FULL >> 8}},
	{OPTIONS, TRACE_BLOCK_OPTIONS, 0, 16, {U(1, 8), FULL}},
	{OPTIONS, TRACE_BLOCK_OPTIONS, 0, 16, {U(1, 3), 0xff00ff}},
	{LENGTH, TRACE_BLOCK_FILE, 0, 72, {0}},
	{LENGTH, TRACE_BLOCK_FILE, 0, 80, {1}},
	{LENGTH, TRACE_BLOCK_FILE, 0, 88, {1, U(0, 7), 0, 0, 0, 0, 0, 0, 0, 0, FULL}},
	{REF, TRACE_BLOCK_FILE, 0, 88, {0, U(0, 8), 0, 0, 0, 0, 0, 0, 0, 0, FULL}},
	{REF, TRACE_BLOCK_FILE, 0, 88, {TRACE_REF_KINDS, U(0, 8), 0, 0, 0, 0, 0, 0, 0, 0, FULL}},
	{REF, TRACE_BLOCK_FILE, 0, 88, {1, U(TRACE_HASH_KINDS, 8), 0, 0, 0, 0, 0, 0, 0, 0, FULL}},
	{REF, TRACE_BLOCK_FILE, 0, 88, {1, U(0, 8), 0, 0, 0, 0, 0, 0, 0, 0, FULL >> 8}},
	{LENGTH, TRACE_BLOCK_MARK, 1, 0, {0}},
	{LENGTH, TRACE_BLOCK_MARK, 1, 32, {0}},
	{LENGTH, TRACE_BLOCK_MARK, 1, 40, {0, 0, 0, 0, U(0, 1)}},
	{LENGTH, TRACE_BLOCK_MARK, 1, 40, {0, 0, 0, 0, U(0, 0xffffffff)}},
	{"the kind of a mark is not known", TRACE_BLOCK_MARK, 1, 40, {0, 0, 0, 0, 3}},
	{"a MARK block goes back", TRACE_BLOCK_MARK, 1, 80, {9, 0, 0, 0, 0, 8}},
	{PLACE, TRACE_BLOCK_MARK, 2, 40, {0}},
	{LENGTH, TRACE_BLOCK_TASK, 1, 0, {0}},
	{LENGTH, TRACE_BLOCK_TASK, 1, 48, {0}},
	{TASK, TRACE_BLOCK_TASK, 1, 56, {0, 0, 0, 0, 2}},
	{TASK, TRACE_BLOCK_TASK, 1, 56, {0, 0, 0, 0, U(1, 1)}},
	{TASK, TRACE_BLOCK_TASK, 1, 56, {0, 0, 0, 0, 1, FULL, FULL}},
	{"a TASK block goes back", TRACE_BLOCK_TASK, 1, 112, {9, 0, 0, 0, 0, 0, 0, 8}},
	{PLACE, TRACE_BLOCK_TASK, 2, 56, {0}},
	{LENGTH, TRACE_BLOCK_CHANGE, 0, 16, {2, 1}},
	{LENGTH, TRACE_BLOCK_CHANGE, 0, 24, {2, 1}},
	{RISE, TRACE_BLOCK_CHANGE, 0, 32, {1, 1}},
	{RISE, TRACE_BLOCK_PAGE, 0, 16 + TRACE_CODE_BYTES, {1}},
	{"a CHANGE block names a content that is not there", TRACE_BLOCK_CHANGE, 0, 32, {3, 2}},
	{CHANGE, TRACE_BLOCK_CHANGE, 0, 32, {2, 1, 4089}},
	{CHANGE, TRACE_BLOCK_CHANGE, 0, 32, {2, 1, 0xffffffff}},
	{CHANGE, TRACE_BLOCK_CHANGE, 0, 32, {2, 1, U(0, 1)}},
	{LENGTH, TRACE_BLOCK_REFINED, 0, 24, {0}},
	{"a REFINED block is not as it must be", TRACE_BLOCK_REFINED, 0, 32, {0}},
	{LENGTH, TRACE_BLOCK_CUT, 0, 24, {0}},
	{CUT, TRACE_BLOCK_CUT, 0, 32, {8}},
	{CUT, TRACE_BLOCK_CUT, 0, 32, {8, 0, 0, TRACE_CUT_WHYS}},
	{CUT, TRACE_BLOCK_CUT, 0, 32, {8, 7, 0, 1}},
	{CUT, TRACE_BLOCK_CUT, 0, 32, {8, 0, 0, U(1, 1)}},
	{"a CUT block is not the first of its vCPU", TRACE_BLOCK_CUT, 1, 32, {8, 0, 0, 1}},
	{"a CUT block is not the first of its vCPU", TRACE_BLOCK_CUT, 2, 32, {8, 0, 0, 1}},
	{PLACE, TRACE_BLOCK_TRACE, 2, 24, {99}},
	{PLACE, TRACE_BLOCK_VMCS, 2, 40, {0, 99}},
	{"a session's place in the stream is wrong", TRACE_BLOCK_SESSION, 2, 136, {0, 0, 99}},
	{LENGTH, TRACE_BLOCK_PACKED, 0, 8, {0}},
	{"how a PACKED block is compressed is not known", TRACE_BLOCK_PACKED, 0, 24, {U(2, 8), 8}},
	{PACKED, TRACE_BLOCK_PACKED, 0, 24, {U(1, 0), 8}},
	{PACKED, TRACE_BLOCK_PACKED, 0, 24, {U(1, 9), 8}},
	{PACKED, TRACE_BLOCK_PACKED, 0, 24, {U(1, TRACE_PACKED_MAX + 8), 8}},
	{PACKED, TRACE_BLOCK_PACKED, 0, 24, {U(1, 0xfffffff8), 8}},
	{PACKED, TRACE_BLOCK_PACKED, 0, 24, {U(1, 25 * 64), 8}},
	{PACKED, TRACE_BLOCK_PACKED, 0, 24, {U(1, 8), 0}},
	{PACKED, TRACE_BLOCK_PACKED, 0, 24, {U(1, 8), 9}},
	{PACKED, TRACE_BLOCK_PACKED, 0, 24, {U(1, 8), U(8, 1)}},
	{"a PACKED block cannot be unpacked", TRACE_BLOCK_PACKED, 0, 24, {U(1, 8), 8, FULL}},
};

/* A wrong block is left out, what comes before is there, and what follows too. */
START_TEST(wrong_block)
{
	const struct trace_file_end last = {0};
	static uint8_t bytes[ROOM];
	size_t n = sample(bytes), good = n;
	struct trace_reader *r;
	int err;

	n += append(bytes + n, wrong[_i].type, wrong[_i].vcpu, wrong[_i].len, wrong[_i].words);
	n += append(bytes + n, TRACE_BLOCK_END, 0, sizeof(last), &last);
	r = read_bytes(bytes, n, &err);
	ck_assert_msg(r != NULL, "%s", why);
	ck_assert_uint_eq(trace_reader_extent(r)->damages, 1);
	ck_assert_str_eq(trace_reader_extent(r)->why, wrong[_i].why);
	ck_assert_uint_eq(trace_reader_extent(r)->readable, good);
	ck_assert(trace_reader_extent(r)->closed);
	ck_assert_uint_eq(trace_reader_stream_bytes(r, 1), 16);
	trace_reader_close(r);
}
END_TEST

/* An unknown type is skipped and counted; one that is needed refuses the file, but not an old one. */
START_TEST(unknown_types)
{
	static uint8_t bytes[ROOM];
	size_t n = sample(bytes), m;
	struct trace_reader *r;
	int err;

	m = n + append(bytes + n, 0x7fff, 0, 5, "hello");
	r = read_bytes(bytes, m, &err);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(trace_reader_extent(r)->unknown, 1);
	trace_reader_close(r);

	m = n + append(bytes + n, 0x8012, 0, 5, "hello");
	ck_assert_ptr_null(read_bytes(bytes, m, &err));
	ck_assert_int_eq(err, -EINVAL);
	ck_assert_str_eq(why, "it cannot be read without its blocks of type 0x8012, which this "
			      "program does not know: use a newer vpt");

	/* In an old file every type from 18 on is unknown: the sample has three, and one that is not. */
	bytes[8] = TRACE_FILE_OLD;
	r = read_bytes(bytes, m, &err);
	ck_assert_ptr_nonnull(r);
	ck_assert_uint_eq(trace_reader_extent(r)->unknown, 4);
	trace_reader_close(r);
}
END_TEST

/* So do flags of the header, and a version that does not go with them. */
START_TEST(unknown_header)
{
	static uint8_t bytes[ROOM];
	size_t n = sample(bytes);
	int err;

	bytes[23] = 0x80;
	ck_assert_ptr_null(read_bytes(bytes, n, &err));
	ck_assert_int_eq(err, -EINVAL);
	ck_assert_str_eq(why, "its header has flags 0x8000000000000000, which this program does "
			      "not know: use a newer vpt");
	bytes[8] = TRACE_FILE_OLD_ATOM;
	ck_assert_ptr_null(read_bytes(bytes, n, &err));
	ck_assert_str_eq(why, "its first block cannot be read: its version is that of RTIT, and "
			      "its flags are not");
}
END_TEST

/* Flags of INFO refuse from version 3 on. */
START_TEST(unknown_flags)
{
	static uint8_t bytes[ROOM];
	struct trace_file_info info = {.vcpus = 1, .flags = 1 << 3};
	struct trace_reader *r;
	size_t n = sizeof(struct trace_file_header);
	int err;

	sample(bytes);
	n += append(bytes + n, TRACE_BLOCK_INFO, 0, sizeof(info), &info);
	ck_assert_ptr_null(read_bytes(bytes, n, &err));
	ck_assert_int_eq(err, -EINVAL);
	ck_assert_str_eq(why, "its first block cannot be read: it has flags that this program does "
			      "not know");
	bytes[8] = TRACE_FILE_OLD;
	r = read_bytes(bytes, n, &err);
	ck_assert_ptr_nonnull(r);
	trace_reader_close(r);
}
END_TEST

/* A PACKED block of some bytes that claims to hold what it holds. */
static size_t append_packed(uint8_t *to, const uint8_t *inside, size_t len)
{
	static uint8_t payload[ROOM];
	struct trace_packed packed = {.method = TRACE_PACKED_ZSTD, .bytes = (uint32_t)len};
	size_t n = trace_zstd_pack(payload + sizeof(packed), sizeof(payload) - sizeof(packed),
				   inside, len, 3);

	ck_assert_uint_gt(n, 0);
	packed.packed = (uint32_t)n;
	memcpy(payload, &packed, sizeof(packed));
	n += sizeof(packed);
	while (len / TRACE_PACKED_RATIO > n)
		payload[n++] = 0;
	return append(to, TRACE_BLOCK_PACKED, 0, n, payload);
}

/* A small file with many CHANGE blocks, which could be compressed. */
START_TEST(changes_are_bounded)
{
	static uint8_t bytes[ROOM], inside[ROOM];
	const size_t n = sample(bytes);
	struct trace_page_change change[2] = {{.id = 1, .base = 1}};
	struct trace_reader *r;
	size_t at = n, contents;
	int err;

	for (change->id = 2; change->id < 4000; change->id++)
		at += append(bytes + at, TRACE_BLOCK_CHANGE, 0, sizeof(*change) + 1, change);
	r = read_bytes(bytes, at, &err);
	ck_assert_ptr_nonnull(r);
	ck_assert_str_eq(trace_reader_extent(r)->why, "the file ends without an END block");
	trace_reader_close(r);
	memcpy(inside, bytes + n, at - n);
	at = n + append_packed(bytes + n, inside, at - n);
	r = read_bytes(bytes, at, &err);
	ck_assert_ptr_nonnull(r);
	ck_assert_str_eq(trace_reader_extent(r)->why,
			 "the CHANGE blocks would take too much memory");
	trace_reader_contents(r, &contents);
	ck_assert_uint_eq(contents, 1 + 1024 + at / 16);
	trace_reader_close(r);
}
END_TEST

static size_t trace_block(uint8_t *to, uint64_t offset, char fill, size_t len)
{
	static uint8_t payload[ROOM];
	const struct trace_chunk chunk = {offset, ~0ull};

	memcpy(payload, &chunk, sizeof(chunk));
	memset(payload + sizeof(chunk), fill, len);
	return append(to, TRACE_BLOCK_TRACE, 1, sizeof(chunk) + len, payload);
}

START_TEST(packed_blocks)
{
	static uint8_t bytes[ROOM], inside[ROOM];
	size_t n = sample(bytes), k, len;
	const uint8_t *stream;
	struct trace_reader *r;
	int err;

	k = trace_block(inside, 16, 'a', 100000);
	k += append(inside + k, 0x7ffe, 0, 3, "abc");
	k += trace_block(inside + k, 100016, 'b', 5);
	n += append_packed(bytes + n, inside, k);
	r = read_bytes(bytes, n, &err);
	ck_assert_msg(r != NULL, "%s", why);
	ck_assert_uint_eq(trace_reader_extent(r)->damages, 1); /* there is no END */
	ck_assert_uint_eq(trace_reader_extent(r)->inside, 3);
	ck_assert_uint_eq(trace_reader_extent(r)->unknown, 1);
	stream = trace_reader_stream(r, 1, &len);
	ck_assert_uint_eq(len, 100021);
	ck_assert_uint_eq(stream[100015], 'a');
	ck_assert_uint_eq(stream[100016], 'b');
	trace_reader_close(r);
}
END_TEST

/* What must not be inside: nothing of it is taken, and the blocks before it are. */
static const struct {
	const char *why;
	unsigned int type;
} inner[] = {
	{"a PACKED block holds a block that may not be in one", TRACE_BLOCK_INFO},
	{"a PACKED block holds a block that may not be in one", TRACE_BLOCK_PACKED},
	{"a PACKED block holds a block that may not be in one", TRACE_BLOCK_INDEX},
	{"a PACKED block holds a block that may not be in one", TRACE_BLOCK_POINT},
	{"a PACKED block holds a block that may not be in one", TRACE_BLOCK_END},
	{"a block's length is wrong", TRACE_BLOCK_CUT},
	{"a PACKED block holds something that is no block", 0},
};

START_TEST(wrong_inside)
{
	static uint8_t bytes[ROOM], inside[ROOM];
	const struct trace_file_end last = {0};
	size_t n = sample(bytes), k, bad;
	struct trace_reader *r;
	int err;

	bad = k = trace_block(inside, 16, 'a', 10);
	k += append(inside + k, inner[_i].type, 0, 8, "abcdefg");
	if (!inner[_i].type)
		inside[bad + 12] ^= 1; /* its checksum */
	n += append_packed(bytes + n, inside, k);
	n += append(bytes + n, TRACE_BLOCK_END, 0, sizeof(last), &last);
	r = read_bytes(bytes, n, &err);
	ck_assert_msg(r != NULL, "%s", why);
	ck_assert_uint_eq(trace_reader_extent(r)->damages, 1);
	ck_assert_str_eq(trace_reader_extent(r)->why, inner[_i].why);
	ck_assert_uint_eq(trace_reader_stream_bytes(r, 1), 26);
	ck_assert(trace_reader_extent(r)->closed);
	trace_reader_close(r);
}
END_TEST

/* Each byte of a PACKED block changes: it alone is lost, and the stream resumes behind it. */
START_TEST(packed_flips)
{
	static uint8_t bytes[ROOM], inside[ROOM];
	size_t n = sample(bytes), begins = n, ends, k, at;
	struct trace_reader *r;
	int err;

	k = trace_block(inside, 16, 'a', 100);
	n += append_packed(bytes + n, inside, k);
	ends = n;
	n += trace_block(bytes + n, 116, 'b', 7);
	for (at = begins; at < ends; at++) {
		bytes[at] ^= 0x41;
		r = read_bytes(bytes, n, &err);
		ck_assert_msg(r != NULL, "%s", why);
		ck_assert_uint_eq(trace_reader_extent(r)->readable, begins);
		ck_assert_uint_eq(trace_reader_stream_bytes(r, 1), 123);
		ck_assert_uint_eq(trace_reader_stream_missing(r, 1), 100);
		trace_reader_close(r);
		bytes[at] ^= 0x41;
	}
}
END_TEST

/* Many views of one frame with many contents are not worked out without end. */
START_TEST(views_are_bounded)
{
	static uint8_t bytes[ROOM];
	size_t n = sample(bytes), i;
	static struct trace_frame frames[4096];
	static struct trace_view views[4096];
	int err;

	for (i = 0; i < 4096; i++) {
		frames[i] = (struct trace_frame){.content = 1, .epoch = i};
		views[i] = (struct trace_view){.space = i};
	}
	n += append(bytes + n, TRACE_BLOCK_FRAME, 0, sizeof(frames), frames);
	n += append(bytes + n, TRACE_BLOCK_VIEW, 0, sizeof(views), views);
	ck_assert_ptr_null(read_bytes(bytes, n, &err));
	ck_assert_int_eq(err, -EINVAL);
	ck_assert_str_eq(why, "its FRAME and VIEW blocks would take too much memory");
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("version3");
	TCase *tc = tcase_create("blocks");

	tcase_add_test(tc, layout);
	tcase_add_test(tc, side_band);
	tcase_add_test(tc, cut_stream);
	tcase_add_loop_test(tc, point_has_psb_plus, 1, 130);
	tcase_add_test(tc, epochs);
	tcase_add_test(tc, changes);
	suite_add_tcase(s, tc);

	tc = tcase_create("wrong");
	tcase_add_loop_test(tc, wrong_block, 0, sizeof(wrong) / sizeof(wrong[0]));
	tcase_add_test(tc, unknown_types);
	tcase_add_test(tc, unknown_header);
	tcase_add_test(tc, unknown_flags);
	tcase_add_test(tc, views_are_bounded);
	tcase_add_test(tc, changes_are_bounded);
	suite_add_tcase(s, tc);

	tc = tcase_create("packed");
	tcase_add_test(tc, packed_blocks);
	tcase_add_loop_test(tc, wrong_inside, 0, sizeof(inner) / sizeof(inner[0]));
	tcase_add_test(tc, packed_flips);
	suite_add_tcase(s, tc);
	return s;
}
