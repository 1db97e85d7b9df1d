// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads, checks and accessed bits of segment descriptors. */
#include "core/access.h"
#include "core/fault.h"
#include "core/transfer.h"

struct x86_segment core_flat_segment(uint16_t selector, bool code, bool wide, uint8_t dpl)
{
	return (struct x86_segment){
		.limit = ~0u,
		.selector = selector,
		.ar = (code ? X86_AR_CODE : X86_AR_DATA) | (uint32_t)dpl << X86_AR_DPL_SHIFT |
		      (code && wide ? X86_AR_L : X86_AR_DB) | X86_AR_G,
	};
}

/* Returns SS as an entry to a handler of higher privilege leaves it in 64-bit mode. */
struct x86_segment core_null_ss(uint8_t dpl)
{
	struct x86_segment ss = core_flat_segment(dpl, false, false, dpl);

	ss.ar |= X86_AR_UNUSABLE;
	return ss;
}

bool core_refuse(struct engine_exception *e, uint8_t vector, uint64_t selector, bool external)
{
	*e = core_fault_code(vector, (uint32_t)(selector & 0xfffc) | external);
	return false;
}

bool core_cannot(struct core_vcpu *v, const char *what)
{
	core_vm_stop(v->vm, TRACE_STOP_UNABLE, "%s at %#llx", what,
		     (unsigned long long)v->regs->rip);
	return false;
}

/* Get the linear address of a selector's entry. Returns false if the entry is beyond the table. */
static bool locate(const struct core_vcpu *v, uint16_t selector, size_t len, uint64_t *address)
{
	uint32_t offset = selector & 0xfff8u;
	uint64_t base = v->s.gdt.base, limit = v->s.gdt.limit;

	if (selector & 4) {
		base = v->s.ldt.base;
		limit = x86_segment_usable(&v->s.ldt) ? v->s.ldt.limit : 0;
	}
	*address = core_vcpu_long_mode(v) ? base + offset : (uint32_t)(base + offset);
	return offset + len - 1 <= limit;
}

bool core_descriptor_raw(struct core_vcpu *v, uint16_t selector, uint8_t bad, bool external,
			 void *raw, size_t len, struct engine_exception *e)
{
	uint64_t address;

	if (!locate(v, selector, len, &address))
		return core_refuse(e, bad, selector, external);
	return core_read(v, address, raw, len, X86_WALK_SYSTEM, e);
}

bool core_descriptor(struct core_vcpu *v, uint16_t selector, uint8_t bad, bool external,
		     struct x86_segment *seg, struct engine_exception *e)
{
	uint64_t raw;

	if (!core_descriptor_raw(v, selector, bad, external, &raw, sizeof(raw), e))
		return false;
	*seg = x86_segment_unpack(selector, raw);
	return true;
}

bool core_descriptor_accessed(struct core_vcpu *v, struct x86_segment *seg,
			      struct engine_exception *e)
{
	uint64_t address;
	uint8_t rights;

	if (seg->ar & X86_AR_ACCESSED)
		return true;
	if (!locate(v, seg->selector, 8, &address))
		return core_refuse(e, X86_VEC_GP, seg->selector, false);
	if (!core_read(v, address + 5, &rights, 1, X86_WALK_SYSTEM, e))
		return false;
	rights |= X86_AR_ACCESSED;
	if (!core_write(v, address + 5, &rights, 1, X86_WALK_SYSTEM, e))
		return false;
	seg->ar |= X86_AR_ACCESSED;
	return true;
}

bool core_in_limit(const struct x86_segment *seg, uint64_t offset, size_t len)
{
	bool down = (seg->ar & (X86_AR_EXEC | X86_AR_DC)) == X86_AR_DC;
	uint64_t last = offset + len - 1;

	if (down)
		return offset > seg->limit && last <= (seg->ar & X86_AR_DB ? 0xffffffffu : 0xffffu);
	return last <= seg->limit;
}

bool core_check_ip(const struct core_vcpu *v, const struct x86_segment *cs, uint64_t ip,
		   bool external, struct engine_exception *e)
{
	if (core_is_wide(v, cs) ? core_canonical(v, ip) : ip <= cs->limit)
		return true;
	return core_refuse(e, X86_VEC_GP, 0, external);
}
