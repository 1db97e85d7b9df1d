/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's kernel: its log, perf's Intel PT, and the accesses to MSRs. */
#ifndef BED_KVM_BUGS_KERNEL_H
#define BED_KVM_BUGS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copy the next complaint in the kernel's log after kernel_log_begin(). Returns false if there
 * is none.
 */
void kernel_log_begin(void);
bool kernel_log_complaint(char *text, size_t size);

/* A system-wide trace of CPU 0 by perf, with its bytes collected in order. */
struct host_trace {
	int fd;
	void *pages;
	uint8_t *aux;
	uint8_t *bytes;
	size_t size;	/* of the collected bytes */
	size_t dropped; /* bytes that did not fit into `bytes` */
};

/*
 * Both functions exit the program on failure. The event stays disabled, because only its
 * existence matters.
 */
void host_trace_open(struct host_trace *trace, size_t watermark);
int host_event_open(void);
/* Collect the new bytes of the AUX area. */
void host_trace_read(struct host_trace *trace);
void host_trace_close(struct host_trace *trace);

/*
 * Count the kernel's reads and writes of the MSRs @first to @last with ftrace. Returns false if
 * the events cannot be enabled.
 */
bool msr_count_begin(uint32_t first, uint32_t last);
unsigned int msr_count_end(void);

/* Return the number of invalid packets, or SIZE_MAX if the stream has no PSB. */
size_t bad_packets(const uint8_t *bytes, size_t size);

#endif
