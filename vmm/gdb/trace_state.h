/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a session with a trace, for its own files. */
#ifndef VMM_GDB_TRACE_STATE_H
#define VMM_GDB_TRACE_STATE_H

#include "gdb/link.h"
#include "gdb/trace_walk.h"

#define GDB_TRACE_BREAKS 64u

struct gdb_trace_cpu {
	struct gdb_walk *walk; /* NULL until it is needed */
	uint64_t n;	       /* the number of the next instruction */
	uint64_t told;	       /* @n when the client last read the branches, plus 1; 0: never */
};

struct gdb_trace {
	struct gdb_link *link;
	struct trace_reader *reader;
	struct gdb_trace_cpu *cpu;
	unsigned int cpus, now; /* the vCPU that commands are for */
	uint64_t ip[GDB_TRACE_BREAKS];
	size_t breaks;
	char *branches; /* the document of qXfer:btrace, or NULL */
	size_t branches_len;
	bool records; /* the client has switched btrace on */
	bool left;
	int error; /* the first error of decoding, or 0 */
	char packet[GDB_PACKET + 1], reply[GDB_PACKET + 1];
};

void gdb_trace_answer(struct gdb_trace *t, const char *text);
/* Answer with a message that the client shows. */
void gdb_trace_refuse(struct gdb_trace *t, const char *text);
/* Get the next instruction of a vCPU. Returns false if there is none. */
bool gdb_trace_insn(struct gdb_trace *t, unsigned int cpu, struct gdb_walk_insn *insn);

/* trace_query.c: answers a packet that begins with q or Q. */
void gdb_trace_query(struct gdb_trace *t, const char *packet);
/* trace_branches.c: answers packets of btrace. Returns false if the packet is another one. */
bool gdb_trace_branches(struct gdb_trace *t, const char *packet);
/* Answer with a part of a document. @range: the offset and the length, as in qXfer. */
void gdb_trace_part(struct gdb_trace *t, const char *text, size_t whole, const char *range);

#endif /* VMM_GDB_TRACE_STATE_H */
