/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfer a trace of the processor's own PT (struct engine_pt) to the file. This code only sees
 * the guest's writes to IA32_RTIT_CTL and the content of buffers. It reads the buffers at these
 * writes, at some other exits, and at the end.
 *
 * The executed code is not reported. Each read records the code that can be executed in the address
 * spaces since the last read. So a change of code was between two reads, and code that existed only
 * in between is missing. If the engine logs writes to code, each exit of a guest that its host
 * traces is such a read (hardware_code.h).
 *
 * Instructions are not counted either. The positions of code are offsets in the stream
 * (TRACE_INFO_CODE_BY_OFFSET). The file's counter only rises from session to session.
 */
#ifndef VMM_PT_HARDWARE_H
#define VMM_PT_HARDWARE_H

#include "pt/collect.h"
#include "pt/seen.h"
#include "trace/format.h"

struct tracer;

/* Bits of tracer_hardware.state. */
enum tracer_hardware_state {
	TRACER_HARDWARE_ON = 1 << 0, /* a session is in progress */
	TRACER_HARDWARE_FOR_HOST = 1 << 1,
	TRACER_HARDWARE_FULL = 1 << 2,	/* the session has too much code to record it again */
	TRACER_HARDWARE_LOGS = 1 << 3,	/* the engine logs writes to code */
	TRACER_HARDWARE_STOPS = 1 << 4, /* the guest stops before it writes to a page of code */
};

#define TRACER_HARDWARE_SPACES 64u
#define TRACER_HARDWARE_PAGES  65536u

/* The changes of a page that is watched. */
struct tracer_hardware_page {
	uint16_t score;
	uint16_t offset; /* of the last change */
	uint8_t idle;	 /* reports without a change since the last change */
};

struct tracer_hardware {
	uint32_t state; /* enum tracer_hardware_state */
	uint64_t sessions;
	/* The registers at the start of the session, or a host's registers during setup. */
	struct vpt_rtit rtit;
	struct tracer_collect collect;
	struct tracer_seen seen;
	uint64_t reads; /* of code */
	/* The times of the host from which on code is recorded again: all, the written, the new. */
	uint64_t code_at, written_at, new_at;
	/* Some CR3s whose kernel has been recorded, plus 1, and their number so far. */
	uint64_t space[TRACER_HARDWARE_SPACES];
	size_t spaces;
	uint32_t emptied; /* the result of tracer_code_pages_emptied() at the last sweep */
	struct tracer_hardware_page page[TRACER_HARDWARE_PAGES]; /* by a hash */
};

/* Handle a guest's WRMSR. Returns VPT_FAULT_GP if the processor or KVM refuses the write. */
enum vpt_fault tracer_hardware_wrmsr(struct tracer *t, uint32_t msr, uint64_t value);
/* Handle a host's write. The registers take effect when TraceEn is set, which begins the trace. */
enum vpt_fault tracer_hardware_host_write(struct tracer *t, uint32_t msr, uint64_t value);
/* Read the available bytes after the guest has exited. */
void tracer_hardware_take(struct tracer *t);
/*
 * After an exit, while TRACER_HARDWARE_LOGS is set: record code that has changed, if it is time.
 */
void tracer_hardware_exited(struct tracer *t);
/* Return the counter of the session. */
uint64_t tracer_hardware_counter(const struct tracer *t);
/* End the trace, because the guest has ended. */
void tracer_hardware_close(struct tracer *t);

#endif /* VMM_PT_HARDWARE_H */
