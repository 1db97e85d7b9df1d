/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the reader of perf.data: the file's header, its events and its features. */
#ifndef VMM_FOREIGN_PERF_FILE_H
#define VMM_FOREIGN_PERF_FILE_H

#include "foreign/foreign.h"
#include "trace/pairs.h"
#include "foreign/perf_abi.h"
#include "foreign/span.h"

struct perf_attr {
	uint32_t type;
	uint64_t config, sample_type, read_format, flags;
	uint64_t branches, regs_user, regs_intr; /* 0 where the file's struct ends before */
};

struct perf_file {
	struct foreign_trace *trace;
	bool pipe;
	uint64_t data, end; /* of the records of the first source */
	struct {
		struct perf_attr *at;
		size_t n, room;
	} attrs;
	struct trace_pairs ids;	     /* (id, 0) to the attr's number */
	bool has_info;		     /* an AUXTRACE_INFO was read */
	struct trace_pairs programs; /* see perf_bpf.c */
	uint64_t priv[PRIV_COUNT];
	struct perf_unpack *unpack; /* of compressed records; NULL: none yet */

	const char *damage; /* NULL: none so far */
	uint64_t where;
	char *why;
	size_t size;
};

/* A record, of which the body is behind its header. */
struct perf_record {
	uint32_t type;
	uint16_t misc;
	struct span body;
	size_t source;
	uint64_t behind; /* in the source: what follows the record */
	bool packed;	 /* it was compressed, and nothing follows it */
};

/* What a record of the kernel ends with. */
struct perf_sample_id {
	uint32_t pid, tid, cpu;
	uint64_t time;
};

/* perf_header.c: returns 0, or -errno after a line in f->why. */
int perf_header_read(struct perf_file *f);
/* An attr and its ids, as HEADER_ATTR records have them too. Returns 0 or -errno. */
int perf_attr_add(struct perf_file *f, struct span attr, struct span ids);
/* perf_feature.c: a section of the file, or the content of a FEATURE record. 0 or -ENOMEM. */
int perf_feature(struct perf_file *f, unsigned int number, struct span body);
int perf_build_id(struct perf_file *f, uint16_t misc, struct span body);

/* perf_bpf.c: the feature with BPF programs. Returns 0 or -ENOMEM. */
int perf_bpf_programs(struct perf_file *f, struct span body);
/* The program of this id was loaded at that time. */
void perf_bpf_loaded(struct perf_file *f, uint32_t id, uint64_t time);
/* Is there the code of a function at this address? */
bool perf_bpf_has(const struct perf_file *f, uint64_t addr);

/* perf_walk.c: hand out all records. Returns 0 or -errno. */
int perf_walk(struct perf_file *f);
/* The records of bytes that were unpacked; *used bytes are whole records. */
int perf_walk_bytes(struct perf_file *f, size_t source, const uint8_t *bytes, size_t len,
		    size_t *used);
/* perf_record.c: take one. Returns 0 or -errno. */
int perf_record_take(struct perf_file *f, struct perf_record *r);
/* perf_packed.c: take the records that a compressed one holds. */
int perf_packed(struct perf_file *f, struct perf_record *r);
void perf_packed_free(struct perf_unpack *u);
/* perf_info.c: what the trace is like, once all records were read. */
int perf_info(struct perf_file *f, struct span body);
int perf_settle(struct perf_file *f);
/* perf_sample.c: the sample id at the end of a record; it is cut off the body. */
void perf_sample_id(const struct perf_file *f, struct span *body, struct perf_sample_id *id);
/* Packets in a sample. */
int perf_sample(struct perf_file *f, struct perf_record *r);

#endif /* VMM_FOREIGN_PERF_FILE_H */
