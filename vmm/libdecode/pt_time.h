/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Determine the time of runs and events. Each function takes the decoder's dec_timing, which exists
 * only if the caller asks for time.
 *
 * A TNT packet has the time of its first outcome. Code before that branch began to run after the
 * previous branch. Code after it runs until the next timing packet at the latest. Outcomes are
 * therefore used at each timing packet, and the packet's time is their upper bound.
 */
#ifndef VMM_LIBDECODE_PT_TIME_H
#define VMM_LIBDECODE_PT_TIME_H

#include "libdecode/pt.h"
#include "libdecode/time.h"

enum dec_timed { DEC_TIMED_NONE, DEC_TIMED_RUN, DEC_TIMED_EVENT };

struct dec_timing {
	struct dec_time_config config;
	bool binds;	     /* runs are reported: outcomes are used at each timing packet */
	enum dec_timed what; /* the kind of the run or event that is being reported */
	struct dec_time now;
	struct dec_time next; /* the time after the timing packet at hand, if `has_next` */
	struct dec_time held; /* valid only if `holds`: the time when a waiting event began */
	bool has_next, holds;
	bool held_tsc; /* the waiting event has the time `held` */
	bool eligible; /* the packet at hand has a CYC if time has passed (33.3.6) */
	bool first;    /* no branch has run since the last timing packet */
	bool behind;   /* outcomes from before the last timing packet wait for a deferred TIP */
	bool resumes;  /* the packet at hand may end an overflow */
	bool from_now; /* the next run began at `now`; otherwise at `from` or later */
	uint64_t from;
	uint64_t psb_end; /* the stream offset after the last PSB+ */
	uint64_t end;	  /* the stream offset after the last packet that `now` includes */
};

/* The time of a run or an event. */
struct dec_point {
	bool known; /* false: only `cycles` is valid */
	uint64_t lo, tsc, hi, cycles;
};

void dec_timing_init(struct dec_timing *t, const struct dec_time_config *config, bool binds);

/* pt_time.c: call these before and after the packet takes effect. */
enum vptd_status dec_pt_time_before(struct dec_pt *pt, const struct vpt_packet *p);
void dec_pt_time_after(struct dec_pt *pt, const struct vpt_packet *p);

/*
 * Functions for TNTs and TIPs while no packet waits. Call this one before a packet that ends at
 * @offset.
 */
static inline void dec_timing_pass(struct dec_timing *t, uint64_t offset, size_t size)
{
	if (t->end != offset - size)
		t->now.in_cycs = false;
	t->end = offset;
}

/* Call this function before CYCs and other packets, the last of which ends at @offset. */
static inline void dec_timing_pass_cycs(struct dec_timing *t, uint64_t offset,
					const struct dec_time_cycs *cycs)
{
	t->end = offset;
	dec_time_end_cycs(&t->now, cycs);
	t->from_now = t->from_now || !t->behind;
}

/* Call this function after a TIP. */
static inline void dec_timing_at_target(struct dec_timing *t)
{
	t->from_now = t->from_now || !t->behind;
}

/* Record the begin of the next run before the time advances. */
static inline void dec_timing_keep_from(struct dec_timing *t)
{
	if (t->from_now)
		t->from = t->now.known ? dec_time_lo(&t->now, &t->config) : 0;
	t->from_now = false;
}

/* Note that decoding stops until the next PSB, or ends, @offset bytes into the stream. */
void dec_timing_forget(struct dec_timing *t);
void dec_timing_finish(struct dec_timing *t, uint64_t offset);

/* Note a reported run: @count instructions of @block from number @first on. */
void dec_timing_ran(struct dec_timing *t, const struct dec_block *block, unsigned int first,
		    unsigned int count);

/*
 * Returns true if all runs up to the next timing packet have one time, without a call of
 * dec_timing_ran() for each. Otherwise only those up to the next branch have the same time.
 */
static inline bool dec_timing_settled(const struct dec_timing *t)
{
	return !t->first && (t->from_now || t->behind);
}

/*
 * Set *point to the time of the run or event that is being reported. If there is none, set it to
 * that of the last packet.
 */
void dec_timing_point(const struct dec_timing *t, struct dec_point *point);

#endif /* VMM_LIBDECODE_PT_TIME_H */
