// SPDX-License-Identifier: GPL-2.0-or-later
/* Segment descriptors, as far as long mode looks at them. */
#include "core/vcpu.h"

struct vpt_segment vpt_flat_segment(uint16_t selector, bool code, bool wide, uint8_t dpl)
{
	return (struct vpt_segment){
		.limit = ~0u,
		.selector = selector,
		.type = code ? 11 : 3,
		.dpl = dpl,
		.s = true,
		.present = true,
		.l = code && wide,
		.db = !(code && wide),
		.g = true,
	};
}

/* What 64-bit mode leaves in SS when it enters a handler of higher privilege. */
struct vpt_segment vpt_null_ss(uint8_t dpl)
{
	struct vpt_segment ss = vpt_flat_segment(dpl, false, false, dpl);

	ss.unusable = true;
	return ss;
}

static struct vpt_segment unpack(uint16_t selector, uint64_t raw)
{
	uint32_t limit = (uint32_t)(raw & 0xffff) | (uint32_t)(raw >> 32 & 0xf0000);
	bool g = raw >> 55 & 1;

	return (struct vpt_segment){
		.base = (raw >> 16 & 0xffffff) | (raw >> 32 & 0xff000000),
		.limit = g ? limit << 12 | 0xfff : limit,
		.selector = selector,
		.type = raw >> 40 & 15,
		.s = raw >> 44 & 1,
		.dpl = raw >> 45 & 3,
		.present = raw >> 47 & 1,
		.avl = raw >> 52 & 1,
		.l = raw >> 53 & 1,
		.db = raw >> 54 & 1,
		.g = g,
	};
}

bool vpt_descriptor(struct vpt_vcpu *v, uint16_t selector, uint8_t bad, bool external,
		    struct vpt_segment *seg, struct vpt_exception *e)
{
	uint32_t offset = selector & 0xfff8u;
	uint64_t base = v->s.gdt.base, limit = v->s.gdt.limit, raw;

	if (selector & 4) {
		base = v->s.ldt.base;
		limit = v->s.ldt.unusable || !v->s.ldt.present ? 0 : v->s.ldt.limit;
	}
	if (offset + 7 > limit) {
		*e = vpt_fault_code(bad, offset | (selector & 4) | external);
		return false;
	}
	if (!vpt_read(v, base + offset, &raw, sizeof(raw), VPT_WALK_SYSTEM, e))
		return false;
	*seg = unpack(selector, raw);
	/* The accessed bit is set in what is loaded, but not written back. */
	if (seg->s)
		seg->type |= 1;
	return true;
}
