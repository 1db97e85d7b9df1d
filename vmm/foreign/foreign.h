/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace that another program recorded, as its parts, whatever its file looks like: streams of
 * packets, what the operating system said and when, and files that have code. perf.c, raw.c and
 * lldb.c fill it in; output.c makes a .vpt file of it.
 *
 * Every content comes from a hostile file. Times are in the unit of the side-band (perf: ns).
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
#define FOREIGN_NO_TIME	 0	    /* of what was so before the trace began */
#define FOREIGN_KERNEL	 UINT32_MAX /* "pid" of mappings of the kernel */
#define FOREIGN_COMM	 16
#define FOREIGN_BUILD_ID 20

enum foreign_kind {
	FOREIGN_MAP,	  /* a file is mapped executable */
	FOREIGN_COMM_SET, /* the thread has another name */
	FOREIGN_EXEC,	  /* the process has a new, empty address space, and another name */
	FOREIGN_FORK,	  /* a process, or a thread if pid == parent, begins */
	FOREIGN_RUN,	  /* the thread runs on the CPU from here on */
	FOREIGN_POKE,	  /* bytes of the kernel's code change */
};

/* Something that the side-band says. */
struct foreign_event {
	uint64_t time;
	uint64_t order; /* of equal times, that of the file */
	uint32_t kind;	/* enum foreign_kind */
	uint32_t cpu, pid, tid;
	union {
		struct {
			uint64_t addr, len, offset;
			uint32_t file; /* number in `files` */
		} map;
		struct {
			uint64_t addr;
			uint64_t bytes; /* place in `pokes` */
			uint32_t len;
			bool alone; /* the rest of its page need not be known */
		} poke;
		uint32_t parent;
		char comm[FOREIGN_COMM];
	};
};

struct foreign_build_id {
	uint8_t bytes[FOREIGN_BUILD_ID];
	uint8_t len; /* 0: not known */
};

/* Consecutive bytes of a stream, in a file. */
struct foreign_piece {
	size_t source;
	uint64_t at, len; /* in the file */
	uint64_t offset;  /* in the recorder's own numbering of the stream */
	uint64_t order;	  /* of pieces of one stream: a lower one is older */
	bool fresh;	  /* a snapshot: it may begin anywhere, and overlap the piece before it */
};

/* After this many bytes of the recorder's numbering, some are missing. */
struct foreign_loss {
	uint64_t offset;
	uint32_t cpu, tid;
};

struct foreign_stream {
	uint32_t idx, cpu, tid; /* FOREIGN_ANY_CPU: it is of one thread */
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

/* What was left out, or is not as it should be. Each is a line for the user. */
struct foreign_report {
	uint64_t unknown_records; /* of types that are not known */
	uint64_t bad_records;	  /* shorter than what they must have */
	uint64_t lost_records;	  /* that the recorder says it lost */
	uint64_t truncated;	  /* places where trace was lost */
	uint64_t overlap;	  /* bytes that an earlier snapshot had too */
	uint64_t no_file;	  /* executable mappings without a file to read */
	uint64_t wrong_build;	  /* files that are others than were traced */
	uint64_t generated;	  /* symbols that the kernel made, of which there is no code */
	uint64_t reused;	  /* values of CR3 that stood for several processes */
	uint64_t guests;	  /* values of CR3 of guests */
	uint64_t left_out;	  /* pages and changes over a limit */
	uint64_t switches;	  /* placed in the streams */
	uint64_t pages, bytes, spaces, streams;
	bool no_times;	/* several threads, and nothing to place their switches by */
	bool no_kernel; /* the kernel is traced and there is no code of it */
	char first_no_file[128], first_wrong[128];
};

struct foreign_trace {
	const char *program; /* static: "perf", "raw" */
	uint32_t kind;	     /* enum trace_origin_kind */
	struct vpt_caps caps;
	uint64_t tsc_hz;
	uint64_t ctl; /* IA32_RTIT_CTL */
	uint64_t cr3_match;
	struct foreign_clock clock;
	char release[72]; /* of the kernel; empty: not known */
	char *kcore;	  /* path of an ELF core of the kernel's memory; NULL: none */
	const char *root; /* to be put before paths; NULL: none */
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
		struct foreign_build_id *at; /* by number of the file; may have fewer */
		size_t n, room;
	} build_ids;
	struct foreign_report report;
};

void foreign_free(struct foreign_trace *t);

/* Add an event; *@event is zero but for its order. Returns 0 or -ENOMEM. */
int foreign_event(struct foreign_trace *t, struct foreign_event **event);
/* Add a piece to the stream that @key names. Returns 0, -ENOMEM, or -E2BIG: too many streams. */
int foreign_piece(struct foreign_trace *t, const struct foreign_stream *key,
		  const struct foreign_piece *piece);
/* Note the build-id of a file, unless it has one. Returns 0 or -ENOMEM. */
int foreign_build_id(struct foreign_trace *t, size_t file, const uint8_t *bytes, size_t len);
/* Once everything is in: sort events and pieces. */
void foreign_sort(struct foreign_trace *t);

#endif /* VMM_FOREIGN_FOREIGN_H */
