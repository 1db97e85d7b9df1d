// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes of linear memory on behalf of the guest. */
#include "core/access.h"
#include "core/fault.h"
#include "core/vcpu.h"

#include <string.h>

/* Every access of the core fits into two pages. The engine transfers XSAVE areas itself. */
#define MAX_PAGES 2

struct piece {
	uint8_t *host;
	uint64_t gpa;
	size_t len;
};

bool core_canonical(const struct core_vcpu *v, uint64_t address)
{
	unsigned int shift = v->s.cr4 & X86_CR4_LA57 ? 7 : 16;

	return (uint64_t)((int64_t)(address << shift) >> shift) == address;
}

/* Translate the whole range before the first byte is transferred. */
static bool translate(struct core_vcpu *v, uint64_t gva, size_t len, unsigned int access,
		      struct piece *piece, struct engine_exception *e)
{
	size_t i;

	v->paging.rflags = (uint32_t)v->regs->rflags;
	for (i = 0; i < MAX_PAGES; i++) {
		size_t room = (size_t)(X86_PAGE_SIZE - gva % X86_PAGE_SIZE);
		struct x86_page page;

		piece[i] = (struct piece){0};
		if (!len)
			continue;
		if (room > len)
			room = len;
		if (core_vcpu_long_mode(v) && !core_canonical(v, gva)) {
			*e = core_fault_code(X86_VEC_GP, 0);
			return false;
		}
		if (!x86_walk_page(&v->vm->mem, &v->paging, gva, access, &page)) {
			*e = core_fault_code(X86_VEC_PF, page.error);
			e->cr2 = core_vcpu_long_mode(v) ? gva : (uint32_t)gva;
			return false;
		}
		piece[i].host = x86_mem_at(&v->vm->mem, page.gpa, room);
		piece[i].gpa = page.gpa;
		piece[i].len = room;
		gva += room;
		len -= room;
	}
	return !len;
}

/* Note an access that the owner of the VM watches. The next look of the loop finds it. */
static void note(struct core_vcpu *v, uint64_t gva, size_t len, uint32_t access)
{
	const uint32_t hit = engine_data_find(v->data, v->datas, gva, len, access);

	if (hit)
		v->ev->data_hit = hit;
}

bool core_read(struct core_vcpu *v, uint64_t gva, void *dst, size_t len, unsigned int access,
	       struct engine_exception *e)
{
	struct piece piece[MAX_PAGES];
	uint8_t *to = dst;
	size_t i;

	if (!translate(v, gva, len, access, piece, e))
		return false;
	if (vpt_unlikely(v->datas && len))
		note(v, gva, len, ENGINE_DATA_READ);
	for (i = 0; i < MAX_PAGES && piece[i].len; to += piece[i].len, i++) {
		/* Reads of addresses without RAM return ones. */
		if (piece[i].host)
			memcpy(to, piece[i].host, piece[i].len);
		else
			memset(to, 0xff, piece[i].len);
	}
	return true;
}

bool core_write(struct core_vcpu *v, uint64_t gva, const void *src, size_t len, unsigned int access,
		struct engine_exception *e)
{
	struct piece piece[MAX_PAGES];
	const uint8_t *from = src;
	size_t i;

	if (!translate(v, gva, len, access | X86_WALK_WRITE, piece, e))
		return false;
	if (vpt_unlikely(v->datas && len))
		note(v, gva, len, ENGINE_DATA_WRITE);
	for (i = 0; i < MAX_PAGES && piece[i].len; from += piece[i].len, i++) {
		if (!piece[i].host)
			continue;
		memcpy(piece[i].host, from, piece[i].len);
		if (v->engine->vm_wrote)
			v->engine->vm_wrote(v->vm->machine, piece[i].gpa, piece[i].len);
	}
	return true;
}
