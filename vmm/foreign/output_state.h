/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the output: shared by output*.c and nothing else. */
#ifndef VMM_FOREIGN_OUTPUT_STATE_H
#define VMM_FOREIGN_OUTPUT_STATE_H

#include "foreign/code.h"
#include "foreign/elf_note.h"
#include "foreign/output.h"
#include "foreign/place.h"

/* Of one vCPU: from this time on the counter is at least this. */
struct foreign_mark {
	uint64_t time, insns;
};

struct foreign_marks {
	struct foreign_mark *at; /* by time */
	size_t n, room;
};

struct foreign_output {
	struct foreign_trace *trace;
	struct foreign_tasks tasks;
	struct foreign_code code;
	struct trace_writer *writer;
	struct trace_pairs votes, pips; /* as struct foreign_place has them */
	struct trace_pairs used;	/* (vCPU, address space) */
	struct foreign_marks *marks;	/* of each vCPU */
	struct foreign_visits *visits;	/* likewise */
	struct trace_pairs best;   /* (CR3, 0) to the index plus 1 of the vote with most packets */
	struct trace_pairs reused; /* (CR3, 0) that other processes had, too */
	struct trace_pairs ids;	   /* (CR3, NR) to its space */
	struct {
		struct trace_space *at;
		size_t n, room;
	} spaces;
	uint64_t next_id;
};

static inline uint64_t foreign_mm_id(size_t mm)
{
	return FOREIGN_FIRST_ID + ((uint64_t)mm + 1) * TRACE_CODE_BYTES;
}

/* The counter from which on what changed at @time counts on a vCPU. */
uint64_t foreign_counter(const struct foreign_output *o, unsigned int vcpu, uint64_t time);

/* output_stream.c: the packets and sessions of a stream. Returns 0 or -errno. */
int foreign_write_stream(struct foreign_output *o, unsigned int vcpu);
/* output_spaces.c: SPACE blocks, once all streams are written. */
int foreign_write_spaces(struct foreign_output *o);
/* output_reused.c: SWITCH blocks in place of PIPs where a CR3 stood for several processes. */
int foreign_write_reused(struct foreign_output *o);
/* output_code.c: code of the processes that ran, output_kernel.c: of the kernel. */
int foreign_write_code(struct foreign_output *o);
/* output_elf.c: the images, once their code is written. */
int foreign_write_images(struct foreign_output *o);
int foreign_write_kernel(struct foreign_output *o);
/* output_poke.c: its changes. */
int foreign_write_pokes(struct foreign_output *o, int fd, const struct foreign_loads *loads);

#endif /* VMM_FOREIGN_OUTPUT_STATE_H */
