// SPDX-License-Identifier: GPL-2.0-or-later
/* The processor, the guest and the trace file of tests that record a trace that a processor makes. */
#include "lib/hardware.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

struct hw hw;
static struct engine_vcpu ev;
static char path[] = "/tmp/vpt-hardware-XXXXXX";
static unsigned int pmis;

static int get(struct engine_vcpu *vcpu, struct vpt_rtit *rtit)
{
	(void)vcpu;
	*rtit = hw.msrs;
	return 0;
}

static int set_ctl(struct engine_vcpu *vcpu, uint64_t value)
{
	(void)vcpu;
	if (!hw.refuses)
		hw.msrs.ctl = value;
	return hw.refuses;
}

static int start(struct engine_vcpu *vcpu, const struct vpt_rtit *rtit)
{
	(void)vcpu;
	hw.msrs = *rtit;
	hw.host_on = !hw.refuses;
	return hw.refuses;
}

static int host_read(struct engine_vcpu *vcpu, struct engine_trace *trace)
{
	(void)vcpu;
	*trace = hw.host;
	memset(&hw.host, 0, sizeof(hw.host));
	return 0;
}

static int stop(struct engine_vcpu *vcpu)
{
	(void)vcpu;
	hw.host_on = false;
	return 0;
}

static int get_sregs(struct engine_vcpu *vcpu, struct x86_sregs *s)
{
	(void)vcpu;
	*s = hw.sregs;
	return 0;
}

static int log_writes(struct engine_vcpu *vcpu)
{
	(void)vcpu;
	if (!hw.has_log)
		return -EOPNOTSUPP;
	return hw.log_stops ? ENGINE_WRITES_STOP : 0;
}

static void watch_writes(struct engine_vcpu *vcpu, uint64_t gpa, bool on)
{
	(void)vcpu;
	ck_assert(hw.has_log);
	ck_assert_uint_lt(gpa, RAM);
	hw.watched[gpa / 4096] = on;
}

static int written(struct engine_vcpu *vcpu, const struct engine_writes_sink *sink)
{
	uint64_t i;

	(void)vcpu;
	ck_assert(hw.has_log);
	for (i = 0; i < PAGES; i++) {
		if (!hw.wrote[i] || !hw.watched[i])
			continue;
		hw.wrote[i] = false;
		sink->page(sink->opaque, i * 4096);
	}
	return hw.log_error;
}

static const struct engine_pt pt = {.get = get,
				    .set_ctl = set_ctl,
				    .start = start,
				    .read = host_read,
				    .stop = stop,
				    .log_writes = log_writes,
				    .watch_writes = watch_writes,
				    .written = written};
static const struct engine engine = {.name = "test", .pt = &pt, .get_sregs = get_sregs};

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	memset(ctx, 0, sizeof(*ctx));
}

static void pmi(void *opaque)
{
	(void)opaque;
	pmis++;
}

void hw_open(enum trace_owner owner)
{
	const struct trace_file_info info = {
		.caps = *vpt_caps_model("skl"), .owner = owner, .vcpus = 1};
	const struct tracer_config config = {
		.caps = &info.caps,
		.owner = owner,
		.mem = &hw.mem,
		.engine = &engine,
		.ev = &ev,
		.context = context,
		.pmi = pmi,
	};
	struct tracer_config c = config;
	int fd;

	strcpy(path, "/tmp/vpt-hardware-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(trace_writer_open(path, &info, &hw.writer), 0);
	c.writer = hw.writer;
	ck_assert_int_eq(tracer_init(&hw.tracer, &c), 0);
}

void hw_setup(void)
{
	ck_assert_int_eq(x86_mem_create(&hw.mem, RAM), 0);
	ck_assert(x86_mem_write(&hw.mem, CODE, "\xc3", 1));
	memset(&hw.sregs, 0, sizeof(hw.sregs));
	hw.sregs.cr3 = 0x5000;
	vpt_rtit_reset(&hw.msrs);
	hw.msrs.output_base = BUFFER;
	hw.msrs.output_mask_ptrs = 0xfff;
	hw.refuses = 0;
	pmis = 0;
	memset(&hw.host, 0, sizeof(hw.host));
	memset(hw.watched, 0, sizeof(hw.watched));
	memset(hw.wrote, 0, sizeof(hw.wrote));
	hw.has_log = false;
	hw.log_error = 0;
}

void hw_teardown(void)
{
	tracer_free(&hw.tracer);
	if (hw.reader)
		trace_reader_close(hw.reader);
	hw.reader = NULL;
	x86_mem_destroy(&hw.mem);
	unlink(path);
}

const struct trace_period *hw_read_back(size_t sessions)
{
	const struct trace_period *p;
	char why[160];
	size_t n;

	ck_assert_int_eq(trace_writer_close(hw.writer, 0), 0);
	ck_assert_int_eq(trace_reader_open(path, &hw.reader, why, sizeof(why)), 0);
	p = trace_reader_sessions(hw.reader, 0, &n);
	ck_assert_uint_eq(n, sessions);
	return p;
}

enum vpt_fault hw_wrmsr(uint64_t ctl)
{
	struct engine_report insn = {.event.from = CODE, .next = CODE + 2};

	return tracer_wrmsr(&hw.tracer, VPT_MSR_CTL, ctl, &insn);
}

void hw_write_ctl(uint64_t ctl)
{
	ck_assert_int_eq(hw_wrmsr(ctl), VPT_FAULT_NONE);
}

void hw_put(const void *bytes, size_t len)
{
	uint64_t offset = hw.msrs.output_mask_ptrs >> 32;

	ck_assert(x86_mem_write(&hw.mem, BUFFER + offset, bytes, len));
	hw.msrs.output_mask_ptrs += (uint64_t)len << 32;
}
