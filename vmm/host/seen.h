/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which address spaces a trace is of, by its PIP and VMCS packets. */
#ifndef VMM_HOST_SEEN_H
#define VMM_HOST_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_seen_space {
	uint64_t cr3;
	uint64_t vmcs; /* of guests; TRACE_SPACE_ANY_VMCS: none was told */
	uint64_t host; /* of guests: CR3 of the host before it, its VMM's; UINT64_MAX: not known */
	bool non_root;
	unsigned int cpu; /* the vCPU of the file */
};

/* All zero is empty. Sorted by nothing; each one is there once for each cpu. */
struct host_seen {
	struct host_seen_space *at;
	size_t n, room;
};

/* Look through the stream of a vCPU. 0 or -ENOMEM. */
int host_seen_stream(struct host_seen *seen, unsigned int cpu, const uint8_t *bytes, size_t len);
void host_seen_free(struct host_seen *seen);

#endif /* VMM_HOST_SEEN_H */
