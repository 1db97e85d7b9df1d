/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that a guest can make of its own RTIT trace without a decoder. */
#ifndef GUEST_ATOM_CHECK_H
#define GUEST_ATOM_CHECK_H

#include "lib/flow.h"
#include "vpt/atom_packet.h"

/* The bytes of a trace. With `cycles`, they contain cycle counts, which no byte marks. */
struct guest_atom_bytes {
	const uint8_t *buf;
	size_t len;
	bool cycle_acc;
};

/*
 * Call `fn` with each packet. Returns the size of whole packets, which is the size of the trace
 * unless *end is not VPT_OK.
 */
size_t guest_atom_walk(const struct guest_atom_bytes *bytes,
		       void (*fn)(void *opaque, const struct vpt_atom_packet *packet), void *opaque,
		       enum vpt_status *end);

struct guest_atom_scan {
	uint32_t count[VPT_ATOM_PKT_COUNT];
	uint64_t tnt_bits;
	uint64_t cycles;		    /* sum of all cycle counts */
	uint32_t bad_cycles;		    /* packets with an unexpected or a missing cycle
	                    		     * count */
	size_t parsed;			    /* bytes of whole packets */
	enum vpt_status end;		    /* OK, EOS: the last packet is cut, BAD_PACKET */
	enum vpt_atom_pkt_kind first, last; /* first and last packet except MTC and STS */
};

void guest_atom_scan(struct guest_atom_scan *scan, const struct guest_atom_bytes *bytes);

/*
 * The flow in a trace: all packets but MTC, with whole IPs, and each outcome as a TNT. Values: PIP:
 * CR3, CR0.PG in bit 40; PSB, STS and TraceStop: 0. Writes at most `max` elements to `flow`;
 * returns their total number.
 */
size_t guest_atom_flow_read(const struct guest_atom_bytes *bytes, struct guest_flow *flow,
			    size_t max);

/* An element of an expectation: ATOM(PGE, label), ATOM(TNT, 1), ATOM(PSB, 0). */
#define ATOM(kind, value)                                         \
	{                                                         \
		VPT_ATOM_PKT_##kind, (uint64_t)(uintptr_t)(value) \
	}
#define ATOM_PIP(cr3) ATOM(PIP, ((cr3)&VPT_MASK64(39, 0)) | VPT_BIT64(40))
#define ATOM_FLOW_MAX 64

/* Compare the whole flow. Prints one report line, and any difference. */
bool guest_atom_flow_report(const struct guest_atom_bytes *bytes, const struct guest_flow *want,
			    size_t count, const char *what);

/* Compare the flow from the last element that equals the first of `want` on. */
bool guest_atom_tail_report(const struct guest_atom_bytes *bytes, const struct guest_flow *want,
			    size_t count, const char *what);

/* ATOM_EXPECT(&bytes, "what", ATOM(PSB, 0), ...); ATOM_EXPECT_TAIL() compares the end. */
#define ATOM_EXPECT(bytes, what, ...)                                        \
	do {                                                                 \
		const struct guest_flow want[] = {__VA_ARGS__};              \
                                                                             \
		guest_atom_flow_report(bytes, want, ARRAY_SIZE(want), what); \
	} while (0)
#define ATOM_EXPECT_TAIL(bytes, what, ...)                                   \
	do {                                                                 \
		const struct guest_flow want[] = {__VA_ARGS__};              \
                                                                             \
		guest_atom_tail_report(bytes, want, ARRAY_SIZE(want), what); \
	} while (0)

#endif /* GUEST_ATOM_CHECK_H */
