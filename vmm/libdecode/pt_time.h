/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The time of runs and events. Each function takes the decoder's dec_timing, which exists only if
 * the caller asks for time.
 *
 * A TNT packet has the time of its first outcome. What runs before that branch has begun after
 * the branch before, and what runs after it lasts until the next timing packet at most. Outcomes
 * are therefore used when a timing packet comes, and the packet's time is their upper bound.
 */
#ifndef VMM_LIBDECODE_PT_TIME_H
#define VMM_LIBDECODE_PT_TIME_H

#include "libdecode/pt.h"
#include "libdecode/time.h"

enum dec_timed { DEC_TIMED_NONE, DEC_TIMED_RUN, DEC_TIMED_EVENT };

struct dec_timing {
	struct dec_time_config config;
	bool binds;	     /* runs are reported: outcomes are used at each timing packet */
	enum dec_timed what; /* what is being reported */
	struct dec_time now;
	struct dec_time next; /* behind the timing packet that is being taken, if `has_next` */
	struct dec_time held; /* when an event began that waits for other packets, if `holds` */
	bool has_next, holds;
	bool held_tsc; /* the event that waits is of that time */
	bool eligible; /* the packet at hand has a CYC if time has passed (33.3.6) */
	bool first;    /* no branch has run since the last timing packet */
	bool behind;   /* outcomes from before the last timing packet wait for a deferred TIP */
	bool resumes;  /* the packet at hand may end an overflow */
	bool from_now; /* what runs next began at `now`; else at `from` or later */
	uint64_t from;
	uint64_t psb_end; /* stream offset behind the last PSB+ */
	uint64_t end;	  /* stream offset behind the last packet of which `now` knows */
};

/* A time that a run or an event has. */
struct dec_point {
	bool known; /* else only `cycles` is valid */
	uint64_t lo, tsc, hi, cycles;
};

void dec_timing_init(struct dec_timing *t, const struct dec_time_config *config, bool binds);

/* pt_time.c: call these before and after the packet takes effect. */
enum vptd_status dec_pt_time_before(struct dec_pt *pt, const struct vpt_packet *p);
void dec_pt_time_after(struct dec_pt *pt, const struct vpt_packet *p);

/* The same for a TNT or TIP while nothing waits: before a packet that ends at @offset, */
static inline void dec_timing_pass(struct dec_timing *t, uint64_t offset, size_t size)
{
	if (t->end != offset - size)
		t->now.in_cycs = false;
	t->end = offset;
}

/* before CYCs and other packets, the last of which ends at @offset, */
static inline void dec_timing_pass_cycs(struct dec_timing *t, uint64_t offset,
					const struct dec_time_cycs *cycs)
{
	t->end = offset;
	dec_time_end_cycs(&t->now, cycs);
	t->from_now = t->from_now || !t->behind;
}

/* and after a TIP. */
static inline void dec_timing_at_target(struct dec_timing *t)
{
	t->from_now = t->from_now || !t->behind;
}

/* The time moves on: keep when the next run began. */
static inline void dec_timing_keep_from(struct dec_timing *t)
{
	if (t->from_now)
		t->from = t->now.known ? dec_time_lo(&t->now, &t->config) : 0;
	t->from_now = false;
}

/* Decoding stops until the next PSB; or ends, @offset bytes into the stream. */
void dec_timing_forget(struct dec_timing *t);
void dec_timing_finish(struct dec_timing *t, uint64_t offset);

/* A run was reported: @count instructions of @block from number @first on. */
void dec_timing_ran(struct dec_timing *t, const struct dec_block *block, unsigned int first,
		    unsigned int count);

/* The time of the run or event that is being reported; of the last packet if there is none. */
void dec_timing_point(const struct dec_timing *t, struct dec_point *point);

#endif /* VMM_LIBDECODE_PT_TIME_H */
