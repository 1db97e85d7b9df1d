// SPDX-License-Identifier: GPL-2.0-or-later
/* STOP blocks: what is written is read, and a payload that cannot be is refused. */
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

START_TEST(written_is_read)
{
	const struct trace_file_info info = {.vcpus = 2};
	struct trace_post_mortem pm = sample();
	char path[] = "/tmp/vpt-test-XXXXXX";
	const struct trace_post_mortem *got;
	struct trace_reader *r;
	struct trace_writer *w;
	char why[128] = "";

	close(mkstemp(path));
	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	ck_assert_int_eq(trace_writer_stop(w, &pm), 0);
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
	ck_assert_msg(!trace_reader_open(path, &r, why, sizeof(why)), "%s", why);
	ck_assert_ptr_null(trace_reader_extent(r)->why);
	ck_assert_uint_eq(trace_reader_extent(r)->unknown, 0);
	got = trace_reader_stop(r);
	ck_assert_ptr_nonnull(got);
	ck_assert_uint_eq(got->vcpu, 1);
	ck_assert(!memcmp(&got->stop, &pm.stop, sizeof(pm.stop)));
	ck_assert(!memcmp(got->fault, pm.fault, sizeof(pm.fault)));
	ck_assert(!memcmp(got->call, pm.call, sizeof(pm.call)));
	trace_reader_close(r);
	unlink(path);
}
END_TEST

START_TEST(without_one)
{
	const struct trace_file_info info = {.vcpus = 1};
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct trace_reader *r;
	struct trace_writer *w;
	char why[128];

	close(mkstemp(path));
	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
	ck_assert_int_eq(trace_reader_open(path, &r, why, sizeof(why)), 0);
	ck_assert_ptr_null(trace_reader_stop(r));
	trace_reader_close(r);
	unlink(path);
}
END_TEST

START_TEST(too_many_are_not_written)
{
	const struct trace_file_info info = {.vcpus = 2};
	struct trace_post_mortem pm = sample();
	char path[] = "/tmp/vpt-test-XXXXXX";
	struct trace_writer *w;

	close(mkstemp(path));
	ck_assert_int_eq(trace_writer_open(path, &info, &w), 0);
	pm.stop.faults = TRACE_STOP_FAULTS + 1;
	ck_assert_int_eq(trace_writer_stop(w, &pm), -EINVAL);
	pm = sample();
	pm.stop.calls = TRACE_STOP_CALLS + 1;
	ck_assert_int_eq(trace_writer_stop(w, &pm), -EINVAL);
	pm = sample();
	pm.vcpu = 2;
	ck_assert_int_eq(trace_writer_stop(w, &pm), -EINVAL);
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
	unlink(path);
}
END_TEST

/* A payload that is refused leaves nothing behind. */
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

/* The names are what --json of vpt run has as "end". */
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

Suite *test_suite(void)
{
	Suite *suite = suite_create("post_mortem");
	TCase *tc = tcase_create("file");

	tcase_add_test(tc, written_is_read);
	tcase_add_test(tc, without_one);
	tcase_add_test(tc, too_many_are_not_written);
	tcase_add_test(tc, payloads_refused);
	tcase_add_test(tc, names);
	suite_add_tcase(suite, tc);
	return suite;
}
