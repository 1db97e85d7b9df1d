/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks that a guest can make of its own trace without a decoder. */
#ifndef GUEST_PT_CHECK_H
#define GUEST_PT_CHECK_H

#include "lib/flow.h"
#include "vpt/packet.h"

struct guest_scan {
	uint32_t count[VPT_PKT_COUNT];
	uint64_t tnt_bits;
	size_t parsed;		       /* size of whole packets */
	enum vpt_status end;	       /* OK, EOS: the last packet is cut, BAD_PACKET */
	enum vpt_pkt_kind first, last; /* first and last packet except PAD and timing */
};

void guest_scan(struct guest_scan *scan, const uint8_t *buf, size_t len);

/*
 * The flow in a trace: TIP, TIP.PGE, TIP.PGD, FUP, PIP (value: CR3), TraceStop and OVF in order,
 * and TNT_8 for each branch outcome. Status in PSB+ is omitted.
 */
#define FLOW_TNT(taken)                \
	{                              \
		VPT_PKT_TNT_8, (taken) \
	}
#define FLOW_TIP(ip)                                   \
	{                                              \
		VPT_PKT_TIP, (uint64_t)(uintptr_t)(ip) \
	}
#define FLOW_PGE(ip)                                       \
	{                                                  \
		VPT_PKT_TIP_PGE, (uint64_t)(uintptr_t)(ip) \
	}
#define FLOW_PGD(ip)                                       \
	{                                                  \
		VPT_PKT_TIP_PGD, (uint64_t)(uintptr_t)(ip) \
	}
#define FLOW_FUP(ip)                                   \
	{                                              \
		VPT_PKT_FUP, (uint64_t)(uintptr_t)(ip) \
	}
#define FLOW_PIP(cr3)              \
	{                          \
		VPT_PKT_PIP, (cr3) \
	}
#define FLOW_STOP                     \
	{                             \
		VPT_PKT_TRACE_STOP, 0 \
	}

/*
 * Write at most `max` elements of the flow in [buf, buf + len) to `flow`. Returns their total
 * number.
 */
size_t guest_flow_read(const uint8_t *buf, size_t len, struct guest_flow *flow, size_t max);

/* Compare the whole flow. Prints one report line, and any difference. */
bool guest_flow_report(const uint8_t *buf, size_t len, const struct guest_flow *want, size_t count,
		       const char *what);

#endif /* GUEST_PT_CHECK_H */
