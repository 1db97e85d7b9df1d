/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace that the processor's own PT makes (struct engine_pt), on its way to the
 * file. What is seen of it are the places where a guest writes to IA32_RTIT_CTL, and what
 * is in buffers when somebody looks: at these places, at other exits now and then, and at
 * the end.
 *
 * Nobody tells what ran. Code is what the guest could execute when its session began;
 * pages that are new by its end come last. Where a page changed in a session the file has
 * it as it was before. Nobody counts instructions either: the file's counter (trace/
 * format.h) only goes up from session to session, so that code is of the right one.
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
	uint8_t rest[2 * VPT_PKT_MAX]; /* bytes of a packet that is not whole yet */
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
	struct vpt_rtit rtit; /* of it, as it began; a host's while it is being set up */
	struct tracer_collect collect;
	struct tracer_hardware_spaces spaces;
};

/* A guest's WRMSR. GP: as the processor, or KVM, has it. */
enum vpt_fault tracer_hardware_wrmsr(struct tracer *t, uint32_t msr, uint64_t value);
/* A host's, of whose trace the registers are until TraceEn is set, and then begin it. */
enum vpt_fault tracer_hardware_host_write(struct tracer *t, uint32_t msr, uint64_t value);
/* The guest has left: take what there is. */
void tracer_hardware_take(struct tracer *t);
/* The guest is over. */
void tracer_hardware_close(struct tracer *t);

#endif /* VMM_PT_HARDWARE_H */
