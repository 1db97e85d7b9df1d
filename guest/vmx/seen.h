/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMX transitions in a trace: only the packets that the manual's tables name, with whole IPs.
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

/* The CFE types of VMX in table 33-50. */
enum seen_cfe { CFE_VMENTRY = 7, CFE_VMEXIT = 8, CFE_VMEXIT_INTR = 9 };

#define SEEN_MAX 4096u

struct seen_list {
	struct seen at[SEEN_MAX];
	unsigned int count;
	bool whole; /* all bytes formed packets, and the list had room for all of them */
};

void seen_read(struct seen_list *list, const uint8_t *bytes, size_t len);

/*
 * Returns how often the @n elements of @want occur consecutively. want->psb selects a PSB+ or the
 * other packets.
 */
unsigned int seen_count(const struct seen_list *list, const struct seen *want, unsigned int n);

/* Print the whole list, after a failed report. */
void seen_print(const struct seen_list *list);

#endif /* GUEST_VMX_SEEN_H */
