/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the reader of perf.data: the file's header, its events and its features. */
#ifndef VMM_FOREIGN_PERF_FILE_H
#define VMM_FOREIGN_PERF_FILE_H

#include "foreign/foreign.h"
#include "trace/pairs.h"
#include "foreign/perf_abi.h"
#include "foreign/span.h"

struct perf_attr {
	uint32_t type;
	uint64_t config, sample_type, read_format, flags;
	uint64_t branches, regs_user, regs_intr; /* 0 if the file's struct ends first */
};

struct perf_file {
	struct foreign_trace *trace;
	bool pipe;
	uint64_t data, end; /* bounds of the records in the first source */
	struct {
		struct perf_attr *at;
		size_t n, room;
	} attrs;
	struct trace_pairs ids;	     /* maps (id, 0) to the attr's number */
	bool has_info;		     /* an AUXTRACE_INFO was read */
	struct trace_pairs programs; /* see perf_bpf.c */
	uint64_t priv[PRIV_COUNT];
	struct perf_unpack *unpack; /* state for compressed records; NULL before the first */

	const char *damage; /* NULL if there is no damage so far */
	uint64_t where;
	char *why;
	size_t size;
};

/* A record, whose body is behind its header. */
struct perf_record {
	uint32_t type;
	uint16_t misc;
	struct span body;
	size_t source;
	uint64_t behind; /* position of the data behind the record, in the source */
	bool packed;	 /* the record was compressed, and no data follows it */
};

/* The sample id at the end of a record of the kernel. */
struct perf_sample_id {
	uint32_t pid, tid, cpu;
	uint64_t time;
};

/* perf_header.c: read the header. Returns 0, or -errno after a line in f->why. */
int perf_header_read(struct perf_file *f);
/* Add an attr and its ids, also from HEADER_ATTR records. Returns 0 or -errno. */
int perf_attr_add(struct perf_file *f, struct span attr, struct span ids);
/*
 * perf_feature.c: read a section of the file, or the content of a FEATURE record. Returns 0 or
 * -ENOMEM.
 */
int perf_feature(struct perf_file *f, unsigned int number, struct span body);
int perf_build_id(struct perf_file *f, uint16_t misc, struct span body);

/* perf_bpf.c: read the feature with BPF programs. Returns 0 or -ENOMEM. */
int perf_bpf_programs(struct perf_file *f, struct span body);
/* Note that the program with this id was loaded at @time. */
void perf_bpf_loaded(struct perf_file *f, uint32_t id, uint64_t time);
/* Returns true if the code of a function at this address is known. */
bool perf_bpf_has(const struct perf_file *f, uint64_t addr);

/* perf_walk.c: process all records. Returns 0 or -errno. */
int perf_walk(struct perf_file *f);
/* Process the records in unpacked bytes; *used bytes are whole records. */
int perf_walk_bytes(struct perf_file *f, size_t source, const uint8_t *bytes, size_t len,
		    size_t *used);
/* perf_record.c: process one record. Returns 0 or -errno. */
int perf_record_take(struct perf_file *f, struct perf_record *r);
/* perf_packed.c: process the records inside a compressed record. */
int perf_packed(struct perf_file *f, struct perf_record *r);
void perf_packed_free(struct perf_unpack *u);
/* perf_info.c: read the properties of the trace, after all records. */
int perf_info(struct perf_file *f, struct span body);
int perf_finish(struct perf_file *f);
/* perf_sample.c: read the sample id at the end of a record, and remove it from the body. */
void perf_sample_id(const struct perf_file *f, struct span *body, struct perf_sample_id *id);
/* Add the packets in a sample. */
int perf_sample(struct perf_file *f, struct perf_record *r);

#endif /* VMM_FOREIGN_PERF_FILE_H */
