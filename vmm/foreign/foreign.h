/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording of another program as its parts, independent of the file's format. The parts are
 * streams of packets, events of the operating system with their times, and files with code. The
 * readers are perf.c, raw.c and lldb.c. The writer output.c makes a .vpt file from the parts.
 *
 * All content comes from a hostile file. Times are in the unit of the side-band (perf: ns).
 */
#ifndef VMM_FOREIGN_FOREIGN_H
#define VMM_FOREIGN_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foreign/names.h"
#include "trace/source.h"
#include "vpt/caps.h"

#define FOREIGN_NONE	 SIZE_MAX
#define FOREIGN_ANY_CPU	 UINT32_MAX
#define FOREIGN_NO_TIME	 0	    /* time of facts from before the trace */
#define FOREIGN_KERNEL	 UINT32_MAX /* "pid" for mappings of the kernel */
#define FOREIGN_COMM	 16
#define FOREIGN_BUILD_ID 20

enum foreign_kind {
	FOREIGN_MAP,	  /* the process maps a file executable */
	FOREIGN_COMM_SET, /* the thread changes its name */
	FOREIGN_EXEC,	  /* the process has a new, empty address space, and a new name */
	FOREIGN_FORK,	  /* a process starts, or a thread if pid == parent */
	FOREIGN_RUN,	  /* the thread runs on the CPU from here on */
	FOREIGN_POKE,	  /* bytes of the kernel's code change */
};

/* An event of the side-band. */
struct foreign_event {
	uint64_t time;
	uint64_t order; /* position in the file, for equal times */
	uint32_t kind;	/* enum foreign_kind */
	uint32_t cpu, pid, tid;
	union {
		struct {
			uint64_t addr, len, offset;
			uint32_t file; /* index into `files` */
		} map;
		struct {
			uint64_t addr;
			uint64_t bytes; /* position in `pokes` */
			uint32_t len;
			bool alone; /* the rest of its page may be unknown */
		} poke;
		uint32_t parent;
		char comm[FOREIGN_COMM];
	};
};

struct foreign_build_id {
	uint8_t bytes[FOREIGN_BUILD_ID];
	uint8_t len; /* 0 if not known */
};

/* Consecutive bytes of a stream, in a file. */
struct foreign_piece {
	size_t source;
	uint64_t at, len; /* position and length in the file */
	uint64_t offset;  /* offset in the recorder's numbering of the stream */
	uint64_t order;	  /* order of pieces of one stream: a lower value is older */
	bool fresh;	  /* the piece is a snapshot: it may begin anywhere, and overlap the
	           	   * previous piece */
};

/* A loss of bytes at this offset of the recorder's numbering. */
struct foreign_loss {
	uint64_t offset;
	uint32_t cpu, tid;
};

struct foreign_stream {
	uint32_t idx, cpu, tid; /* cpu is FOREIGN_ANY_CPU for a stream of one thread */
	struct {
		struct foreign_piece *at;
		size_t n, room;
	} pieces;
};

/* ns = zero + (tsc * mult >> shift). */
struct foreign_clock {
	bool known;
	unsigned int shift;
	uint64_t mult, zero;
};

/* Counts of omitted and wrong data. Each causes a line for the user. */
struct foreign_report {
	uint64_t unknown_records; /* records of unknown types */
	uint64_t bad_records;	  /* records that are too short */
	uint64_t lost_records;	  /* records that the recorder reports as lost */
	uint64_t truncated;	  /* places with lost trace */
	uint64_t overlap;	  /* bytes that an earlier snapshot already had */
	uint64_t no_file;	  /* executable mappings without a readable file */
	uint64_t wrong_build;	  /* files that differ from the traced ones */
	uint64_t generated;	  /* symbols that the kernel generated, without code */
	uint64_t reused;	  /* values of CR3 that several processes used */
	uint64_t guests;	  /* values of CR3 of guests */
	uint64_t left_out;	  /* pages and changes beyond a limit */
	uint64_t switches;	  /* switches that were placed in the streams */
	uint64_t pages, bytes, spaces, streams;
	bool no_times;	/* several threads, and no times to place their switches */
	bool no_kernel; /* the kernel is traced, but its code is missing */
	char first_no_file[128], first_wrong[128];
};

struct foreign_trace {
	const char *program; /* static text: "perf", "raw" */
	uint32_t kind;	     /* enum trace_origin_kind */
	struct vpt_caps caps;
	uint64_t tsc_hz;
	uint64_t ctl; /* IA32_RTIT_CTL */
	uint64_t cr3_match;
	struct foreign_clock clock;
	char release[72]; /* release of the kernel; empty if not known */
	char *kcore;	  /* path of an ELF core of the kernel's memory, or NULL */
	const char *root; /* prefix for paths, or NULL */
	bool timed;	  /* events have times */
	bool snapshots;

	struct {
		struct trace_source *at;
		size_t n, room;
	} sources;
	struct {
		struct foreign_stream *at;
		size_t n, room;
	} streams;
	struct {
		struct foreign_event *at;
		size_t n, room;
	} events;
	struct {
		struct foreign_loss *at;
		size_t n, room;
	} losses;
	struct {
		uint8_t *at;
		size_t n, room;
	} pokes;
	struct foreign_names files;
	struct {
		struct foreign_build_id *at; /* indexed by the number of the file; may have fewer
		                              * entries */
		size_t n, room;
	} build_ids;
	struct foreign_report report;
};

void foreign_free(struct foreign_trace *t);

/* Add an event. *@event is zero except for its order. Returns 0 or -ENOMEM. */
int foreign_event(struct foreign_trace *t, struct foreign_event **event);
/*
 * Add a piece to the stream of @key. Returns 0, -ENOMEM, or -E2BIG if there are too many streams.
 */
int foreign_piece(struct foreign_trace *t, const struct foreign_stream *key,
		  const struct foreign_piece *piece);
/* Set the build-id of a file, unless it has one. Returns 0 or -ENOMEM. */
int foreign_build_id(struct foreign_trace *t, size_t file, const uint8_t *bytes, size_t len);
/* Sort events and pieces, after all were added. */
void foreign_sort(struct foreign_trace *t);

#endif /* VMM_FOREIGN_FOREIGN_H */
