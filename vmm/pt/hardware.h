/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transfer a trace of the processor's own PT (struct engine_pt) to the file. This code only sees
 * the guest's writes to IA32_RTIT_CTL and the content of buffers. It reads the buffers at these
 * writes, at some other exits, and at the end.
 *
 * The executed code is not reported. The file has the code that the guest could execute when its
 * session began. Pages that are new by the end of the session follow. If a page changed during a
 * session, the file has its old content. Instructions are not counted either. The file's counter
 * (trace/format.h) only rises from session to session, so that code belongs to the correct session.
 */
#ifndef VMM_PT_HARDWARE_H
#define VMM_PT_HARDWARE_H

#include "pt/collect.h"
#include "trace/format.h"
#include "vpt/packet.h"

struct tracer;

#define TRACER_HARDWARE_CR3S 64

/* Bits of tracer_hardware_spaces.state. */
enum tracer_spaces_state {
	TRACER_SPACES_SYNCED = 1 << 0, /* the parser is at the start of a packet */
};

/* The CR3s of PIPs, which are the address spaces of the code. */
struct tracer_hardware_spaces {
	struct vpt_parser parser;
	uint32_t state;		       /* TRACER_SPACES_SYNCED */
	uint8_t rest[2 * VPT_PKT_MAX]; /* the bytes of an incomplete packet */
	size_t rests;
	uint64_t cr3[TRACER_HARDWARE_CR3S];
	size_t count;
};

void tracer_hardware_feed(struct tracer_hardware_spaces *spaces, const uint8_t *bytes, size_t len);

/* Bits of tracer_hardware.state. */
enum tracer_hardware_state {
	TRACER_HARDWARE_ON = 1 << 0, /* a session is in progress */
	TRACER_HARDWARE_FOR_HOST = 1 << 1,
};

struct tracer_hardware {
	uint32_t state; /* enum tracer_hardware_state */
	uint64_t sessions;
	/* The registers at the start of the session, or a host's registers during setup. */
	struct vpt_rtit rtit;
	struct tracer_collect collect;
	struct tracer_hardware_spaces spaces;
};

/* Handle a guest's WRMSR. Returns VPT_FAULT_GP if the processor or KVM refuses the write. */
enum vpt_fault tracer_hardware_wrmsr(struct tracer *t, uint32_t msr, uint64_t value);
/* Handle a host's write. The registers take effect when TraceEn is set, which begins the trace. */
enum vpt_fault tracer_hardware_host_write(struct tracer *t, uint32_t msr, uint64_t value);
/* Read the available bytes after the guest has exited. */
void tracer_hardware_take(struct tracer *t);
/* End the trace, because the guest has ended. */
void tracer_hardware_close(struct tracer *t);

#endif /* VMM_PT_HARDWARE_H */
