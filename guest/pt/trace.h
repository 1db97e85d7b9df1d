/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracing a function, for payloads that are about what runs and not about the set-up of the trace.
 * It uses RTIT, or one circular buffer, which every processor with ToPA has.
 */
#ifndef GUEST_PT_TRACE_H
#define GUEST_PT_TRACE_H

#include "atom/check.h"
#include "atom/drv.h"
#include "check.h"
#include "drv.h"

struct trace {
	bool on;   /* this guest has PT of its own */
	bool rtit; /* ... or Atom's RTIT; never both */
	struct guest_drv drv;
	struct guest_atom_drv atom;
	uint8_t *buf;
	uint64_t size;
	uint64_t bytes;		      /* that the last run produced */
	struct guest_scan scan;	      /* of those, with PT */
	struct guest_atom_scan ascan; /* ... with RTIT */
};

/* The default options of a run: all code, flow only. */
#define TRACE_ALL (VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))

#define TRACE_BUFFER (512ull << 10)

/* Find PT or RTIT and give it a buffer. Without either a run just runs. */
void trace_init(struct trace *t, uint64_t buffer_bytes);

/*
 * Start with these CTL bits, call fn, stop, see how far the output got. They are PT's; RTIT
 * gets those of its own that do the same.
 */
void trace_only(struct trace *t, uint64_t ctl, void (*fn)(void));

/* The same, and then read all packets: much slower than the run itself. */
void trace_run(struct trace *t, uint64_t ctl, void (*fn)(void));

/* Of any run that was not stopped: output moved, STATUS is clean. */
void trace_report_end(const struct trace *t);

/*
 * And what holds of its packets where nothing was filtered either: they are
 * whole, a PSB first, enables and disables in pairs, nothing lost.
 */
void trace_report(const struct trace *t);

/* trace_init(), trace_run() and trace_report() with defaults. */
void trace_simple(struct trace *t, void (*fn)(void));

/*
 * The same for a run that may fill the buffer many times over: its packets are not
 * read again, only the end is looked at.
 */
void trace_long(struct trace *t, void (*fn)(void));

/*
 * For payloads that are about PT itself: true if this guest has PT, else a SKIP
 * line that says so.
 */
bool trace_need_pt(const struct trace *t);

/*
 * For payloads that are about RTIT itself: the same for that, trace_run() with RTIT_CTL bits,
 * and the bytes of the last run.
 */
bool trace_need_rtit(const struct trace *t);
void trace_rtit(struct trace *t, uint64_t ctl, void (*fn)(void));
struct guest_atom_bytes trace_rtit_bytes(const struct trace *t);

#endif /* GUEST_PT_TRACE_H */
