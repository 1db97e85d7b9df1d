// SPDX-License-Identifier: GPL-2.0-or-later
/* Record a trace that a processor makes: sessions and buffers of a guest and a host. */
#include "lib/hardware.h"
#include "lib/suite.h"

#include <errno.h>
#include <string.h>

static void check_stream(const char *text)
{
	const uint8_t *stream;
	size_t n;

	stream = trace_reader_stream(hw.reader, 0, &n);
	ck_assert_uint_eq(n, strlen(text));
	ck_assert_mem_eq(stream, text, n);
}

START_TEST(sessions_of_a_guest)
{
	const struct trace_period *p;

	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON);
	ck_assert_uint_eq(hw.msrs.ctl, ON);
	hw_put("abc", 3);
	tracer_take(&hw.tracer);
	hw_put("defg", 4);
	hw_write_ctl(ON & ~VPT_CTL_MASK(TRACE_EN));
	hw_write_ctl(ON);
	hw_put("hi", 2);
	tracer_close(&hw.tracer, CODE);
	p = hw_read_back(2);
	ck_assert_uint_eq(p[0].start->ctl, ON);
	ck_assert_uint_eq(p[0].start->output_mask_ptrs, 0xfff);
	ck_assert_uint_eq(p[0].end->end, TRACE_END_DISABLED);
	ck_assert_uint_eq(p[1].start->offset, 7);
	ck_assert_uint_eq(p[1].end->end, TRACE_END_CLOSED);
	check_stream("abcdefghi");
	ck_assert_uint_eq(trace_reader_gpa(hw.reader, 0, 8), BUFFER + 8);
	ck_assert_uint_eq(hw.tracer.recorder.bytes, 9);
}
END_TEST

/* The processor or KVM refuses the write, or STATUS.Stopped is set: there is no session. */
START_TEST(refused)
{
	hw_open(TRACE_OWNER_GUEST);
	ck_assert_int_eq(hw_wrmsr(ON | 1ull << 63), VPT_FAULT_GP);
	hw.refuses = -EINVAL;
	ck_assert_int_eq(hw_wrmsr(ON), VPT_FAULT_GP);
	hw.refuses = 0;
	hw.msrs.status = VPT_STATUS_MASK(STOPPED);
	hw_write_ctl(ON);
	hw_write_ctl(0);
	ck_assert_int_eq(hw.tracer.recorder.error, 0);
	hw_read_back(0);
}
END_TEST

static const struct {
	uint64_t status, ctl;
	enum trace_session_end end;
} ends[] = {
	{0, ON, TRACE_END_DISABLED},
	{VPT_STATUS_MASK(STOPPED), ON, TRACE_END_TRACE_STOP},
	{VPT_STATUS_MASK(ERROR), ON, TRACE_END_ERROR},
	{VPT_STATUS_MASK(STOPPED), ON | VPT_CTL_MASK(TOPA), TRACE_END_TRACE_STOP},
};

START_TEST(why_a_session_ended)
{
	const struct trace_period *p;

	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ends[_i].ctl);
	hw.msrs.status = ends[_i].status;
	hw_write_ctl(0);
	p = hw_read_back(1);
	ck_assert_uint_eq(p[0].end->end, ends[_i].end);
}
END_TEST

START_TEST(a_full_region)
{
	const uint64_t entry = BUFFER | 1u << 4; /* STOP */
	const struct trace_period *p;

	ck_assert(x86_mem_write(&hw.mem, 0x3000, &entry, sizeof(entry)));
	hw.msrs.output_base = 0x3000;
	hw.msrs.output_mask_ptrs = 0x7f;
	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON | VPT_CTL_MASK(TOPA));
	hw.msrs.output_mask_ptrs = 0xff;
	hw.msrs.status = VPT_STATUS_MASK(STOPPED);
	hw_write_ctl(0);
	p = hw_read_back(1);
	ck_assert_uint_eq(p[0].end->end, TRACE_END_TOPA_STOP);
	ck_assert_uint_eq(p[0].end->offset, 4096);
}
END_TEST

/* More than one buffer is written between two reads: two sessions with a loss between them. */
START_TEST(a_loss)
{
	static const uint8_t lap[4096] = {[0 ... 4095] = 0x5a};
	const struct trace_period *p;

	hw_open(TRACE_OWNER_GUEST);
	hw_write_ctl(ON);
	hw_put("abc", 3);
	tracer_take(&hw.tracer);
	ck_assert(x86_mem_write(&hw.mem, BUFFER, lap, sizeof(lap)));
	hw.msrs.output_mask_ptrs = 0xfff | 10ull << 32;
	hw_write_ctl(0);
	p = hw_read_back(2);
	ck_assert_uint_eq(p[0].end->end, TRACE_END_LOST);
	ck_assert_uint_eq(p[0].end->offset, 3);
	ck_assert_uint_eq(p[1].start->offset, 3);
	ck_assert_uint_eq(p[1].end->offset, 3 + 4096);
}
END_TEST

START_TEST(a_host)
{
	static const uint8_t one[] = "one", two[] = "two";
	const struct trace_period *p;

	hw_open(TRACE_OWNER_HOST);
	ck_assert_int_eq(tracer_host_write(&hw.tracer, VPT_MSR_CR3_MATCH, 0x5000, CODE),
			 VPT_FAULT_NONE);
	ck_assert_int_eq(tracer_host_write(&hw.tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_NONE);
	ck_assert(hw.host_on);
	ck_assert_uint_eq(hw.msrs.cr3_match, 0x5000);
	/* The guest cannot use PT. */
	ck_assert_int_eq(hw_wrmsr(ON), VPT_FAULT_GP);
	hw.host.piece[0].bytes = one;
	hw.host.piece[0].len = 3;
	hw.host.piece[1].bytes = two;
	hw.host.piece[1].len = 3;
	tracer_take(&hw.tracer);
	tracer_take(&hw.tracer);
	hw.host.status = VPT_STATUS_MASK(STOPPED);
	tracer_close(&hw.tracer, CODE);
	ck_assert(!hw.host_on);
	p = hw_read_back(1);
	check_stream("onetwo");
	ck_assert_uint_eq(p[0].start->cr3_match, 0x5000);
	ck_assert_uint_eq(p[0].end->end, TRACE_END_TRACE_STOP);
}
END_TEST

/* A host ends its trace while the guest runs, takes the last bytes, and begins another one. */
START_TEST(a_host_that_stops)
{
	const struct trace_period *p;

	hw_open(TRACE_OWNER_HOST);
	ck_assert_int_eq(tracer_host_write(&hw.tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_NONE);
	hw.host.piece[0].bytes = (const uint8_t *)"one";
	hw.host.piece[0].len = 3;
	ck_assert_int_eq(tracer_host_write(&hw.tracer, VPT_MSR_CTL, 0, CODE), VPT_FAULT_NONE);
	ck_assert(!hw.host_on);
	/* Nothing is taken without a trace. */
	hw.host.piece[0].bytes = (const uint8_t *)"none";
	hw.host.piece[0].len = 4;
	tracer_take(&hw.tracer);
	memset(&hw.host, 0, sizeof(hw.host));
	ck_assert_int_eq(tracer_host_write(&hw.tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_NONE);
	ck_assert(hw.host_on);
	hw.host.piece[0].bytes = (const uint8_t *)"two";
	hw.host.piece[0].len = 3;
	tracer_take(&hw.tracer);
	tracer_close(&hw.tracer, CODE);
	ck_assert(!hw.host_on);
	p = hw_read_back(2);
	check_stream("onetwo");
	ck_assert_uint_eq(p[0].end->end, TRACE_END_DISABLED);
	ck_assert_uint_eq(p[1].end->end, TRACE_END_CLOSED);
}
END_TEST

START_TEST(a_host_that_is_refused)
{
	hw_open(TRACE_OWNER_HOST);
	hw.refuses = -ENOMEM;
	ck_assert_int_eq(tracer_host_write(&hw.tracer, VPT_MSR_CTL, ON, CODE), VPT_FAULT_GP);
	ck_assert_int_eq(hw.tracer.recorder.error, -ENOMEM);
	ck_assert_int_eq(trace_writer_close(hw.writer, 0), 0);
}
END_TEST

TEST_SUITE("hardware", hw_setup, hw_teardown)
{
	TEST_ADD(tcase, sessions_of_a_guest, refused, a_full_region, a_loss, a_host,
		 a_host_that_stops, a_host_that_is_refused);
	TEST_ROWS(tcase, why_a_session_ended, ends);
}
