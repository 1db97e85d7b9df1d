// SPDX-License-Identifier: GPL-2.0-or-later
/* Segment descriptors: read, checked, marked as accessed. */
#include "core/access.h"
#include "core/fault.h"
#include "core/transfer.h"

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

bool vpt_refuse(struct vpt_exception *e, uint8_t vector, uint64_t selector, bool external)
{
	*e = vpt_fault_code(vector, (uint32_t)(selector & 0xfffc) | external);
	return false;
}

bool vpt_cannot(struct vpt_vcpu *v, const char *what)
{
	vpt_vm_stop(v->vm, VPT_STOP_UNABLE, "%s at %#llx", what, (unsigned long long)v->regs->rip);
	return false;
}

/* Where the entry of a selector is. False: beyond the table. */
static bool locate(const struct vpt_vcpu *v, uint16_t selector, size_t len, uint64_t *address)
{
	uint32_t offset = selector & 0xfff8u;
	uint64_t base = v->s.gdt.base, limit = v->s.gdt.limit;

	if (selector & 4) {
		base = v->s.ldt.base;
		limit = v->s.ldt.unusable || !v->s.ldt.present ? 0 : v->s.ldt.limit;
	}
	*address = v->long_mode ? base + offset : (uint32_t)(base + offset);
	return offset + len - 1 <= limit;
}

bool vpt_descriptor_raw(struct vpt_vcpu *v, uint16_t selector, uint8_t bad, bool external,
			void *raw, size_t len, struct vpt_exception *e)
{
	uint64_t address;

	if (!locate(v, selector, len, &address))
		return vpt_refuse(e, bad, selector, external);
	return vpt_read(v, address, raw, len, VPT_WALK_SYSTEM, e);
}

bool vpt_descriptor(struct vpt_vcpu *v, uint16_t selector, uint8_t bad, bool external,
		    struct vpt_segment *seg, struct vpt_exception *e)
{
	uint64_t raw;

	if (!vpt_descriptor_raw(v, selector, bad, external, &raw, sizeof(raw), e))
		return false;
	*seg = vpt_segment_unpack(selector, raw);
	return true;
}

bool vpt_descriptor_accessed(struct vpt_vcpu *v, struct vpt_segment *seg, struct vpt_exception *e)
{
	uint64_t address;
	uint8_t rights;

	if (seg->type & 1)
		return true;
	if (!locate(v, seg->selector, 8, &address))
		return vpt_refuse(e, VPT_VEC_GP, seg->selector, false);
	if (!vpt_read(v, address + 5, &rights, 1, VPT_WALK_SYSTEM, e))
		return false;
	rights |= 1;
	if (!vpt_write(v, address + 5, &rights, 1, VPT_WALK_SYSTEM, e))
		return false;
	seg->type |= 1;
	return true;
}

bool vpt_in_limit(const struct vpt_segment *seg, uint64_t offset, size_t len)
{
	bool down = !(seg->type & 8) && seg->type & 4;
	uint64_t last = offset + len - 1;

	if (down)
		return offset > seg->limit && last <= (seg->db ? 0xffffffffu : 0xffffu);
	return last <= seg->limit;
}

bool vpt_check_ip(const struct vpt_vcpu *v, const struct vpt_segment *cs, uint64_t ip,
		  bool external, struct vpt_exception *e)
{
	if (vpt_is_wide(v, cs) ? vpt_canonical(v, ip) : ip <= cs->limit)
		return true;
	return vpt_refuse(e, VPT_VEC_GP, 0, external);
}
