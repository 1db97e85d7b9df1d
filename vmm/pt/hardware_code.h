/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Record the code of a session of the processor's own PT (hardware.h).
 *
 * A sweep lists the pages that the guest can execute, from its page tables. The engine's log of
 * writes finds the changed ones of them sooner, at exits.
 */
#ifndef VMM_PT_HARDWARE_CODE_H
#define VMM_PT_HARDWARE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracer;

enum tracer_code_sweep {
	TRACER_CODE_SWEEP_ALL,	/* all pages */
	TRACER_CODE_SWEEP_NEAR, /* pages near the IPs of the trace */
	/* Pages near the IPs that are not known, and of known spaces only the lower half. */
	TRACER_CODE_SWEEP_NEW,
};

/*
 * Record the code of the address spaces that were active since the last time. The tables of a space
 * that is no longer in use may be anything by now. Without a file, no code is recorded.
 *
 * An EPOCH block marks the read, because code that it finds changed since the one before.
 *
 * A kernel's first page tables make all of memory executable. So during a session only pages near
 * the IPs of the trace are code. All pages are at its begin and end. If the kernel isolates its page
 * tables, a process has two spaces (isolation.h), and both are recorded.
 *
 * Returns the number of pages of the largest space.
 */
size_t tracer_code_sweep(struct tracer *t, enum tracer_code_sweep how);

/* Returns true if the trace has IPs in pages of ring 3 that are not recorded, since the last call. */
bool tracer_code_is_new(struct tracer *t);

/* Have the engine log the writes to code, if it can. */
void tracer_code_log(struct tracer *t);
/* Record the code that was written since the last call. */
void tracer_code_written(struct tracer *t);

#endif /* VMM_PT_HARDWARE_CODE_H */
