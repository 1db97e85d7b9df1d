// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the address spaces in a trace. */
#include "host/seen.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"
#include "trace/vec.h"
#include "vpt/packet.h"

/* A larger number is treated as damage. */
#define SEEN_MAX 65536u

static int note(struct host_seen *seen, const struct host_seen_space *space)
{
	size_t i = seen->n;

	/* Usually it is one of the last entries. */
	while (i--) {
		struct host_seen_space *s = &seen->at[i];

		if (s->cr3 != space->cr3 || s->vmcs != space->vmcs ||
		    s->non_root != space->non_root || s->cpu != space->cpu)
			continue;
		if (s->host == UINT64_MAX)
			s->host = space->host;
		return 0;
	}
	if (seen->n == SEEN_MAX)
		return 0;
	if (!trace_vec_room(seen))
		return -ENOMEM;
	seen->at[seen->n++] = *space;
	return 0;
}

int host_seen_stream(struct host_seen *seen, unsigned int cpu, const uint8_t *bytes, size_t len)
{
	struct host_seen_space last = {.vmcs = TRACE_SPACE_ANY_VMCS, .cpu = cpu};
	uint64_t vmcs = TRACE_SPACE_ANY_VMCS, host = UINT64_MAX;
	bool in_psb = false, has_pip = false;
	struct vpt_parser parser = {0};
	struct vpt_packet p;
	size_t at = 0;
	int err = 0;

	while (at < len && !err) {
		if (vpt_packet_read(&parser, bytes + at, len - at, &p) != VPT_OK) {
			at += 1 + vpt_packet_find_psb(bytes + at + 1, len - at - 1);
			memset(&parser, 0, sizeof(parser));
			continue;
		}
		at += p.size;
		if (p.kind == VPT_PKT_PSB) {
			in_psb = true;
			has_pip = false;
		} else if (p.kind == VPT_PKT_VMCS) {
			vmcs = p.value == TRACE_SPACE_ID_MASK ? TRACE_SPACE_ANY_VMCS : p.value;
		} else if (p.kind == VPT_PKT_PIP) {
			last.cr3 = p.value;
			last.non_root = p.flag;
			has_pip = true;
		}
		/* In a PSB+ the VMCS packet follows the PIP to which it applies. */
		if (p.kind == VPT_PKT_PSBEND)
			in_psb = false;
		if (has_pip && !in_psb) {
			last.vmcs = last.non_root ? vmcs : TRACE_SPACE_ANY_VMCS;
			if (!last.non_root)
				host = last.cr3;
			last.host = last.non_root ? host : UINT64_MAX;
			err = note(seen, &last);
			has_pip = false;
		}
	}
	return err;
}

void host_seen_free(struct host_seen *seen)
{
	free(seen->at);
	memset(seen, 0, sizeof(*seen));
}
