// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the instruction at an IP. */
#include "core/vcpu.h"

#include <string.h>

/* Bytes of one page; false if the page cannot be fetched from. */
static bool fetch_page(struct vpt_vcpu *v, uint64_t gva, unsigned int count, uint8_t *to,
		       uint64_t *gpa)
{
	const void *at;
	uint32_t error;

	if (v->bits == 64 && !vpt_canonical(v, gva))
		return false;
	if (!vpt_walk(&v->vm->mem, &v->paging, gva, VPT_WALK_FETCH, gpa, &error))
		return false;
	at = vpt_mem_at(&v->vm->mem, *gpa, count);
	if (!at)
		return false;
	memcpy(to, at, count);
	return true;
}

void vpt_fetch(struct vpt_vcpu *v, uint64_t ip, struct vpt_fetched *f)
{
	uint64_t gva = v->bits == 64 ? ip : (uint32_t)(ip + v->s.cs.base);
	unsigned int room = (unsigned int)(VPT_PAGE_SIZE - gva % VPT_PAGE_SIZE);
	unsigned int count = room < VPT_INSN_MAX ? room : VPT_INSN_MAX;
	uint8_t code[16] = {0};
	bool truncated = false;

	memset(f, 0, sizeof(*f));
	if (!fetch_page(v, gva, count, code, &f->gpa))
		return;
	f->bytes.count = (uint8_t)count;
	memcpy(&f->bytes.low, code, 8);
	memcpy(&f->bytes.high, code + 8, 8);
	f->insn = vpt_insn_find(v->insns, f->gpa, v->bits, &f->bytes, &truncated);
	if (f->insn || !truncated || count == VPT_INSN_MAX)
		return;
	/* The next page is looked at only for an instruction that reaches it. */
	if (!fetch_page(v, gva + room, VPT_INSN_MAX - count, code + count, &f->gpa2))
		return;
	f->bytes.count = VPT_INSN_MAX;
	memcpy(&f->bytes.low, code, 8);
	memcpy(&f->bytes.high, code + 8, 8);
	f->insn = vpt_insn_find(v->insns, f->gpa, v->bits, &f->bytes, &truncated);
}
