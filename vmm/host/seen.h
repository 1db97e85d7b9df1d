/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address spaces in a trace, from its PIP and VMCS packets. */
#ifndef VMM_HOST_SEEN_H
#define VMM_HOST_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_seen_space {
	uint64_t cr3;
	uint64_t vmcs; /* VMCS of a guest; TRACE_SPACE_ANY_VMCS if it is not known */
	uint64_t host; /* for guests: the last CR3 of the host, which is the VMM's; UINT64_MAX if
	                * not known */
	bool non_root;
	unsigned int cpu; /* vCPU of the file */
};

/* All zero is empty. Unsorted; each space is in the list once for each CPU. */
struct host_seen {
	struct host_seen_space *at;
	size_t n, room;
};

/* Search the stream of a vCPU. Returns 0 or -ENOMEM. */
int host_seen_stream(struct host_seen *seen, unsigned int cpu, const uint8_t *bytes, size_t len);
void host_seen_free(struct host_seen *seen);

#endif /* VMM_HOST_SEEN_H */
