/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the host's kernel is asked: its log, perf's Intel PT, the accesses to MSRs. */
#ifndef BED_KVM_BUGS_KERNEL_H
#define BED_KVM_BUGS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the kernel has logged since, if it is a complaint. */
void kernel_log_begin(void);
bool kernel_log_complaint(char *text, size_t size);

/* A system-wide trace of CPU 0 by perf; its bytes are collected in order. */
struct host_trace {
	int fd;
	void *pages;
	uint8_t *aux;
	uint8_t *bytes;
	size_t size;	/* of what was collected */
	size_t dropped; /* bytes that came when `bytes` was full */
};

/* Both end the program if they fail. An event counts for nothing but that it exists. */
void host_trace_open(struct host_trace *trace, size_t watermark);
int host_event_open(void);
/* Take what is there. */
void host_trace_read(struct host_trace *trace);
void host_trace_close(struct host_trace *trace);

/* Reads and writes by the kernel of MSRs from `first` to `last`, by ftrace. */
bool msr_count_begin(uint32_t first, uint32_t last);
unsigned int msr_count_end(void);

/* Packets that aren't any, or a stream without a PSB: SIZE_MAX. */
size_t bad_packets(const uint8_t *bytes, size_t size);

#endif
