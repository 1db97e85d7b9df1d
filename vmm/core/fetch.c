// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the instruction at an IP. */
#include "core/access.h"
#include "core/fetch.h"
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

/* Bytes from `ip` that the limit of CS lets an instruction have. */
static unsigned int most(const struct vpt_vcpu *v, uint64_t ip)
{
	if (v->bits == 64)
		return VPT_INSN_MAX;
	if (ip > v->s.cs.limit)
		return 0;
	return v->s.cs.limit - ip < VPT_INSN_MAX ? (unsigned int)(v->s.cs.limit - ip) + 1
						 : VPT_INSN_MAX;
}

void vpt_fetch(struct vpt_vcpu *v, uint64_t ip, struct vpt_fetched *f)
{
	uint64_t gva = v->bits == 64 ? ip : (uint32_t)(ip + v->s.cs.base);
	unsigned int room = (unsigned int)(VPT_PAGE_SIZE - gva % VPT_PAGE_SIZE);
	unsigned int all = most(v, ip);
	unsigned int count = room < all ? room : all;
	uint8_t code[16] = {0};
	bool truncated = false;

	memset(f, 0, sizeof(*f));
	if (!count || !fetch_page(v, gva, count, code, &f->gpa))
		return;
	f->bytes.count = (uint8_t)count;
	memcpy(&f->bytes.low, code, 8);
	memcpy(&f->bytes.high, code + 8, 8);
	f->insn = vpt_insn_find(v->insns, f->gpa, v->bits, &f->bytes, &truncated);
	if (f->insn || !truncated || count == all)
		return;
	/* The next page is looked at only for an instruction that reaches it. */
	if (!fetch_page(v, gva + room, all - count, code + count, &f->gpa2))
		return;
	f->bytes.count = (uint8_t)all;
	memcpy(&f->bytes.low, code, 8);
	memcpy(&f->bytes.high, code + 8, 8);
	f->insn = vpt_insn_find(v->insns, f->gpa, v->bits, &f->bytes, &truncated);
}
