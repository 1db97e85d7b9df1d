/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMX transitions in a trace: the packets that a row of the manual's tables names, with whole
 * IPs, without the others.
 */
#ifndef GUEST_VMX_SEEN_H
#define GUEST_VMX_SEEN_H

#include "vpt/packet.h"

struct seen {
	uint8_t kind; /* enum vpt_pkt_kind */
	bool psb;     /* in a PSB+ */
	/* IP, SEEN_NO_IP; PIP: CR3 | NR; VMCS: pointer; CFE: see SEEN_CFE; EVD: payload */
	uint64_t value;
};

#define SEEN_NO_IP (~(uint64_t)0)
#define SEEN_ANY   (~(uint64_t)0 - 1)
#define SEEN_CFE(type, vector, ip) \
	((uint64_t)(type) | (uint64_t)(vector) << 8 | (uint64_t)(ip) << 16)

/* Of the types of table 33-50. */
enum seen_cfe { CFE_VMENTRY = 7, CFE_VMEXIT = 8, CFE_VMEXIT_INTR = 9 };

#define SEEN_MAX 4096u

struct seen_list {
	struct seen at[SEEN_MAX];
	unsigned int count;
	bool whole; /* the bytes were packets to the end, and there was room for them */
};

void seen_read(struct seen_list *list, const uint8_t *bytes, size_t len);

/* How often `want` occurs as a run of neighbours, in a PSB+ if want->psb, else outside. */
unsigned int seen_count(const struct seen_list *list, const struct seen *want, unsigned int n);

/* Lines that show it all, for a report that failed. */
void seen_print(const struct seen_list *list);

#endif /* GUEST_VMX_SEEN_H */
