/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces a function, for payloads that test code and not the set-up of the trace. It uses RTIT, or
 * one circular buffer, which every processor with ToPA supports.
 */
#ifndef GUEST_PT_TRACE_H
#define GUEST_PT_TRACE_H

#include "atom/check.h"
#include "atom/drv.h"
#include "check.h"
#include "drv.h"

struct trace {
	bool on;   /* this guest has PT */
	bool rtit; /* ... or Atom's RTIT; never both */
	struct guest_drv drv;
	struct guest_atom_drv atom;
	uint8_t *buf;
	uint64_t size;
	uint64_t bytes;		      /* bytes of the last run */
	struct guest_scan scan;	      /* packets of the last run with PT */
	struct guest_atom_scan ascan; /* packets of the last run with RTIT */
};

/* The default options of a run: all code, flow only. */
#define TRACE_ALL (VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))

#define TRACE_BUFFER (512ull << 10)

/* Detect PT or RTIT and allocate a buffer. Without either, a run is not traced. */
void trace_init(struct trace *t, uint64_t buffer_bytes);

/*
 * Start with these CTL bits of PT, call fn, stop, and read the output position. RTIT uses its own
 * equivalent bits.
 */
void trace_only(struct trace *t, uint64_t ctl, void (*fn)(void));

/* Trace like trace_only(), and then read all packets. This is much slower than the run itself. */
void trace_run(struct trace *t, uint64_t ctl, void (*fn)(void));

/* Check any run that was not stopped: output moved, and STATUS is clean. */
void trace_report_end(const struct trace *t);

/*
 * Check the packets of an unfiltered run, too: they are whole, a PSB is first, enables and disables
 * are in pairs, and nothing is lost.
 */
void trace_report(const struct trace *t);

/* trace_init(), trace_run() and trace_report() with defaults. */
void trace_simple(struct trace *t, void (*fn)(void));

/* The same for a run that may fill the buffer many times: checks only the end, not the packets. */
void trace_long(struct trace *t, void (*fn)(void));

/*
 * For payloads that test PT itself: returns true if this guest has PT, and otherwise prints a SKIP
 * line.
 */
bool trace_need_pt(const struct trace *t);

/*
 * For payloads that test RTIT itself: the same check, trace_run() with RTIT_CTL bits, and the bytes
 * of the last run.
 */
bool trace_need_rtit(const struct trace *t);
void trace_rtit(struct trace *t, uint64_t ctl, void (*fn)(void));
struct guest_atom_bytes trace_rtit_bytes(const struct trace *t);

#endif /* GUEST_PT_TRACE_H */
