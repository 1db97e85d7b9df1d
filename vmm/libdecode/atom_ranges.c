// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Evaluate address ranges and outcomes as RTIT's registers define them. */
#include "libdecode/atom_inside.h"

static bool in_range(const struct vpt_atom_regs *regs, unsigned int range, uint64_t lip)
{
	return lip >= regs->lip[range] && lip < regs->lip[range + VPT_ATOM_RANGES];
}

/* Returns the ranges of an event ID, one bit each. */
static unsigned int ranges_of(uint64_t id)
{
	return id == VPT_ATOM_ID_EITHER ? 3 : id <= VPT_ATOM_ID_RANGE1 ? 1u << id : 0;
}

static bool in_ranges(const struct vpt_atom_regs *regs, uint64_t id, uint64_t ip)
{
	uint64_t lip = ip & VPT_MASK64(47, 0);
	unsigned int ranges = ranges_of(id);

	if (id == VPT_ATOM_ID_ALWAYS)
		return true;
	return (ranges & 1 && in_range(regs, 0, lip)) || (ranges & 2 && in_range(regs, 1, lip));
}

bool dec_atom_in_filter(const struct vpt_atom_regs *regs, uint64_t ip)
{
	return in_ranges(regs, VPT_ATOM_GET(EVENTS, FILTER, regs->events), ip);
}

/* Returns true if @ip is one of two addresses that belong to RANGE0 and RANGE1. */
static bool is_edge(uint64_t id, const uint64_t *of, uint64_t ip)
{
	unsigned int ranges = ranges_of(id);
	uint64_t lip = ip & VPT_MASK64(47, 0);

	return (ranges & 1 && lip == of[0]) || (ranges & 2 && lip == of[1]);
}

bool dec_atom_ends_filter(const struct vpt_atom_regs *regs, uint64_t ip)
{
	return is_edge(VPT_ATOM_GET(EVENTS, FILTER, regs->events), &regs->lip[2], ip);
}

bool dec_atom_stops_at(const struct vpt_atom_regs *regs, uint64_t ip, bool branch)
{
	uint64_t id = VPT_ATOM_GET(EVENTS, STOP, regs->events);

	return branch ? in_ranges(regs, id, ip) : is_edge(id, &regs->lip[0], ip);
}

unsigned int dec_atom_gathered(uint32_t tnt_buff)
{
	unsigned int n = 0;

	while (n < VPT_ATOM_TNT_MAX && tnt_buff >> (n + 1))
		n++;
	return n;
}
