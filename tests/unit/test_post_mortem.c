// SPDX-License-Identifier: GPL-2.0-or-later
/* STOP blocks: the reader returns the block that was written and refuses invalid payloads. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/suite.h"
#include "trace/post_mortem.h"
#include "trace/reader.h"
#include "trace/writer.h"

static struct trace_post_mortem sample(void)
{
	struct trace_post_mortem pm = {.vcpu = 1};
	unsigned int i;

	pm.stop.kind = TRACE_STOP_TRIPLE_FAULT;
	pm.stop.rip = 0x1000d1;
	pm.stop.cr2 = 0xdead000;
	pm.stop.mode = 64;
	pm.stop.insn_len = 2;
	memcpy(pm.stop.insn, "\x0f\x0b", 2);
	pm.stop.faults = 3;
	pm.stop.calls = TRACE_STOP_CALLS;
	for (i = 0; i < 3; i++)
		pm.fault[i] = (struct trace_guest_fault){
			.rip = 0x1000d1 + i, .vector = (uint8_t)(6 + i), .error = i};
	for (i = 0; i < TRACE_STOP_CALLS; i++)
		pm.call[i] = 0x100000 + i;
	return pm;
}

static char path[32];
static struct trace_writer *w;

static void setup(void)
{
	const struct trace_file_info info = {.vcpus = 2};

	strcpy(path, "/tmp/vpt-test-XXXXXX");
	close(mkstemp(path));
	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
}

static void teardown(void)
{
	if (w)
		trace_writer_drop(w);
	unlink(path);
}

static struct trace_reader *read_back(void)
{
	struct trace_reader *r;
	char why[128] = "";

	ck_assert_int_eq(trace_writer_close(w, 0), 0);
	w = NULL;
	ck_assert_msg(!trace_reader_open(path, &r, why, sizeof(why)), "%s", why);
	return r;
}

START_TEST(written_is_read)
{
	struct trace_post_mortem pm = sample();
	const struct trace_post_mortem *got;
	struct trace_reader *r;

	ck_assert_int_eq(trace_writer_stop(w, &pm), 0);
	r = read_back();
	ck_assert_ptr_null(trace_reader_extent(r)->why);
	ck_assert_uint_eq(trace_reader_extent(r)->unknown, 0);
	got = trace_reader_stop(r);
	ck_assert_ptr_nonnull(got);
	ck_assert_uint_eq(got->vcpu, 1);
	ck_assert(!memcmp(&got->stop, &pm.stop, sizeof(pm.stop)));
	ck_assert(!memcmp(got->fault, pm.fault, sizeof(pm.fault)));
	ck_assert(!memcmp(got->call, pm.call, sizeof(pm.call)));
	trace_reader_close(r);
}
END_TEST

START_TEST(no_stop_block)
{
	struct trace_reader *r = read_back();

	ck_assert_ptr_null(trace_reader_stop(r));
	trace_reader_close(r);
}
END_TEST

/* The writer refuses numbers that are too large. */
START_TEST(not_written)
{
	struct trace_post_mortem faults = sample(), calls = sample(), vcpu = sample();

	faults.stop.faults = TRACE_STOP_FAULTS + 1;
	ck_assert_int_eq(trace_writer_stop(w, &faults), -EINVAL);
	calls.stop.calls = TRACE_STOP_CALLS + 1;
	ck_assert_int_eq(trace_writer_stop(w, &calls), -EINVAL);
	vcpu.vcpu = 2;
	ck_assert_int_eq(trace_writer_stop(w, &vcpu), -EINVAL);
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
	w = NULL;
}
END_TEST

/* A refused payload leaves the destination unchanged. */
START_TEST(payloads_refused)
{
	struct trace_post_mortem pm = sample(), taken = {.vcpu = 7};
	uint8_t bytes[sizeof(pm)];
	struct trace_guest_stop *head = (struct trace_guest_stop *)bytes;
	const size_t len = sizeof(pm.stop) + 3 * sizeof(pm.fault[0]) + sizeof(pm.call);

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &pm.stop, sizeof(pm.stop));
	ck_assert_ptr_null(trace_post_mortem_take(&taken, bytes, len));
	ck_assert_uint_eq(taken.stop.faults, 3);
	taken = (struct trace_post_mortem){.vcpu = 7};
	ck_assert_ptr_nonnull(trace_post_mortem_take(&taken, bytes, sizeof(pm.stop) - 1));
	ck_assert_ptr_nonnull(trace_post_mortem_take(&taken, bytes, len - 1));
	ck_assert_ptr_nonnull(trace_post_mortem_take(&taken, bytes, len + 8));
	head->faults = TRACE_STOP_FAULTS + 1;
	ck_assert_ptr_nonnull(trace_post_mortem_take(
		&taken, bytes, len + (TRACE_STOP_FAULTS - 2) * sizeof(pm.fault[0])));
	head->faults = 3;
	head->calls = UINT16_MAX;
	ck_assert_ptr_nonnull(trace_post_mortem_take(&taken, bytes, len));
	head->calls = TRACE_STOP_CALLS;
	head->insn_len = sizeof(head->insn) + 1;
	ck_assert_ptr_nonnull(trace_post_mortem_take(&taken, bytes, len));
	ck_assert_uint_eq(taken.vcpu, 7);
	ck_assert_uint_eq(taken.stop.kind, 0);
}
END_TEST

/* vpt run --json prints these names as "end". */
START_TEST(names)
{
	uint32_t kind;

	for (kind = TRACE_STOP_EXIT; kind <= TRACE_STOP_LIMIT; kind++)
		ck_assert_str_ne(trace_stop_text(kind), "?");
	ck_assert_str_eq(trace_stop_text(TRACE_STOP_TRIPLE_FAULT), "triple fault");
	ck_assert_str_eq(trace_stop_text(0), "?");
	ck_assert_str_eq(trace_stop_text(TRACE_STOP_LIMIT + 1), "?");
	ck_assert_str_eq(trace_stop_text(UINT32_MAX), "?");
}
END_TEST

TEST_SUITE("post_mortem", setup, teardown)
{
	TEST_ADD(tcase, written_is_read, no_stop_block, not_written, payloads_refused, names);
}
