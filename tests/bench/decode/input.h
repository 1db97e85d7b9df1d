/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The input of both decoders: packets, and code with the counter at which it becomes valid. */
#ifndef TESTS_BENCH_DECODE_INPUT_H
#define TESTS_BENCH_DECODE_INPUT_H

#include "trace/reader.h"

/* A page of code in an address space. The bytes belong to the reader. */
struct bench_code {
	uint64_t space, vaddr, gpa;
	uint64_t insns; /* the instruction counter at which it becomes valid */
	const uint8_t *bytes;
	uint64_t offset; /* of the packet in the stream that leads to @insns */
	size_t order;	 /* in the file */
	bool first;	 /* of this address in this space */
	bool early;	 /* can be provided before the first packet */
};

struct bench_input {
	char name[64];
	const char *path;
	struct trace_reader *reader;
	const uint8_t *stream;
	size_t len;
	uint64_t ctl;	 /* IA32_RTIT_CTL */
	uint64_t space;	 /* that runs first */
	uint64_t spaces; /* bits of CR3 that an address space is known by */
	const struct vpt_caps *caps;
	struct bench_code *code; /* in the order in which it is given */
	size_t ncode;
	bool changes;	 /* an address has several contents */
	uint64_t insns;	 /* of the whole trace */
	uint64_t hidden; /* of these, INT n and WRMSR that libipt shows as events alone */
};

/*
 * Read vCPU 0 of a file, which must have one session of Intel PT. Returns 0, or -1 with a message
 * on stderr. The name is that of the file.
 */
int bench_input_open(const char *path, struct bench_input *input);
void bench_input_close(struct bench_input *input);

/* plan.c: decode the trace once to set the offsets. Returns 0, or -1 with a message on stderr. */
int bench_input_plan(struct bench_input *input);

/* Returns true if all spaces have the same code at this address. */
static inline bool bench_is_kernel(uint64_t vaddr)
{
	return vaddr >> 63;
}

#endif /* TESTS_BENCH_DECODE_INPUT_H */
