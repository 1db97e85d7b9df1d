// SPDX-License-Identifier: GPL-2.0-or-later
/* Fetch and decoding of the instruction at an IP. */
#include "core/access.h"
#include "core/fetch.h"
#include "core/vcpu.h"

#include <string.h>

/* Copy bytes of one page. Returns false if code cannot be fetched from the page. */
static bool fetch_page(struct core_vcpu *v, uint64_t gva, unsigned int count, uint8_t *to,
		       uint64_t *gpa)
{
	const void *at;
	uint32_t error;

	if (v->bits == 64 && !core_canonical(v, gva))
		return false;
	if (!x86_walk(&v->vm->mem, &v->paging, gva, X86_WALK_FETCH, gpa, &error))
		return false;
	at = x86_mem_at(&v->vm->mem, *gpa, count);
	if (!at)
		return false;
	memcpy(to, at, count);
	return true;
}

/* Returns the number of bytes from @ip that an instruction can have within the limit of CS. */
static unsigned int most(const struct core_vcpu *v, uint64_t ip)
{
	if (v->bits == 64)
		return CORE_INSN_MAX;
	if (ip > v->s.cs.limit)
		return 0;
	return v->s.cs.limit - ip < CORE_INSN_MAX ? (unsigned int)(v->s.cs.limit - ip) + 1
						  : CORE_INSN_MAX;
}

void core_fetch(struct core_vcpu *v, uint64_t ip, struct core_fetched *f)
{
	uint64_t gva = v->bits == 64 ? ip : (uint32_t)(ip + v->s.cs.base);
	unsigned int room = (unsigned int)(X86_PAGE_SIZE - gva % X86_PAGE_SIZE);
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
	f->insn = core_insn_find(v->insns, f->gpa, v->bits, &f->bytes, &truncated);
	if (f->insn || !truncated || count == all)
		return;
	/* The next page is read only if the instruction extends into it. */
	if (!fetch_page(v, gva + room, all - count, code + count, &f->gpa2))
		return;
	f->bytes.count = (uint8_t)all;
	memcpy(&f->bytes.low, code, 8);
	memcpy(&f->bytes.high, code + 8, 8);
	f->insn = core_insn_find(v->insns, f->gpa, v->bits, &f->bytes, &truncated);
}
