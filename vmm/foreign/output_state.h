/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the output: shared by output*.c only. */
#ifndef VMM_FOREIGN_OUTPUT_STATE_H
#define VMM_FOREIGN_OUTPUT_STATE_H

#include "foreign/code.h"
#include "foreign/elf_note.h"
#include "foreign/output.h"
#include "foreign/place.h"

/* From this time on, the counter of one vCPU is at least this. */
struct foreign_mark {
	uint64_t time, insns;
};

struct foreign_marks {
	struct foreign_mark *at; /* sorted by time */
	size_t n, room;
};

struct foreign_output {
	struct foreign_trace *trace;
	struct foreign_tasks tasks;
	struct foreign_code code;
	struct trace_writer *writer;
	struct trace_pairs votes, pips; /* as in struct foreign_place */
	struct trace_pairs used;	/* pairs of (vCPU, address space) */
	struct foreign_marks *marks;	/* one for each vCPU */
	struct foreign_visits *visits;	/* one for each vCPU */
	struct trace_pairs best;	/* maps (CR3, 0) to the index plus 1 of the vote with most
	                            * packets */
	struct trace_pairs reused;	/* set of (CR3, 0) that several processes had */
	struct trace_pairs ids;		/* maps (CR3, NR) to its space */
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

/* Return the counter from which on a change at @time is valid on a vCPU. */
uint64_t foreign_counter(const struct foreign_output *o, unsigned int vcpu, uint64_t time);

/* output_stream.c: write the packets and sessions of a stream. Returns 0 or -errno. */
int foreign_write_stream(struct foreign_output *o, unsigned int vcpu);
/* output_spaces.c: write SPACE blocks, after all streams. */
int foreign_write_spaces(struct foreign_output *o);
/* output_reused.c: write SWITCH blocks in place of PIPs where several processes had one CR3. */
int foreign_write_reused(struct foreign_output *o);
/* output_code.c: write the code of the processes that ran; output_kernel.c: that of the kernel. */
int foreign_write_code(struct foreign_output *o);
/* output_elf.c: write the images, after their code. */
int foreign_write_images(struct foreign_output *o);
int foreign_write_kernel(struct foreign_output *o);
/* output_poke.c: write the changes of the kernel's code. */
int foreign_write_pokes(struct foreign_output *o, int fd, const struct foreign_loads *loads);

#endif /* VMM_FOREIGN_OUTPUT_STATE_H */
