/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For tests of the recording of a trace that a processor makes. The engine has fake MSRs, and the
 * tests write the bytes of the trace.
 */
#ifndef TESTS_LIB_HARDWARE_H
#define TESTS_LIB_HARDWARE_H

#include "pt/tracer.h"
#include "trace/reader.h"
#include "vpt/encode.h"
#include "x86/x86.h"

#define RAM    (1u << 20)
#define BUFFER 0x40000u
#define CODE   0x80000u
#define PAGES  (RAM / 4096)

#define ON (VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN))

extern struct hw {
	struct x86_mem mem;
	struct tracer tracer;
	struct trace_writer *writer;
	struct trace_reader *reader;

	/* The processor. */
	struct vpt_rtit msrs;
	struct x86_sregs sregs;
	int refuses;
	struct engine_trace host;
	bool host_on;

	/* The engine's log: the watched pages, and those that are reported as written. */
	bool has_log, log_stops, watched[PAGES], wrote[PAGES];
	int log_error;
} hw;

/* The fixture. Code is at CODE, paging is off, and the buffer has one page. */
void hw_setup(void);
void hw_teardown(void);

/* Create a file and a tracer that records into it. */
void hw_open(enum trace_owner owner);
/* Finish the file and read it. Check the number of sessions and return them. */
const struct trace_period *hw_read_back(size_t sessions);

/* The guest writes CTL. hw_write_ctl() checks that there is no fault. */
enum vpt_fault hw_wrmsr(uint64_t ctl);
void hw_write_ctl(uint64_t ctl);
/* The processor puts bytes into the guest's buffer. */
void hw_put(const void *bytes, size_t len);

#endif /* TESTS_LIB_HARDWARE_H */
