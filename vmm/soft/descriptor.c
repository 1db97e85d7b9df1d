// SPDX-License-Identifier: GPL-2.0-or-later
/* Segments and descriptors (SDM vol. 3, 3.4, 5.2 to 5.6). */
#include "soft/system.h"

struct x86_segment *soft_seg_cache(struct soft *c, enum soft_seg n)
{
	switch (n) {
	case SOFT_SEG_ES:
		return &c->s.es;
	case SOFT_SEG_CS:
		return &c->s.cs;
	case SOFT_SEG_SS:
		return &c->s.ss;
	case SOFT_SEG_FS:
		return &c->s.fs;
	case SOFT_SEG_GS:
		return &c->s.gs;
	default:
		return &c->s.ds;
	}
}

static bool type_permits(const struct x86_segment *s, bool write)
{
	bool code = s->ar & X86_AR_EXEC, rw = s->ar & X86_AR_RW;

	if (!x86_segment_usable(s))
		return false;
	return write ? !code && rw : !code || rw;
}

bool soft_permits(const struct soft *c, const struct x86_segment *s, uint64_t offset, uint64_t len,
		  bool write)
{
	uint64_t last = offset + len - 1;

	if (c->bits == 64)
		return true;
	if (c->mode & SOFT_BLOCK_PROTECTED && !type_permits(s, write))
		return false;
	if ((s->ar & (X86_AR_EXEC | X86_AR_DC)) == X86_AR_DC)
		return offset > s->limit && last <= (s->ar & X86_AR_DB ? 0xffffffffu : 0xffffu);
	return last <= s->limit;
}

uint64_t soft_linear(struct soft *c, const struct soft_uop *u, enum soft_seg n, uint64_t offset,
		     unsigned int len, bool write)
{
	const struct x86_segment *s = soft_seg_cache(c, n);

	if (c->bits == 64)
		return offset + (n == SOFT_SEG_FS || n == SOFT_SEG_GS ? s->base : 0);
	if (!soft_permits(c, s, offset, len, write))
		soft_raise_code(c, u, n == SOFT_SEG_SS ? X86_VEC_SS : X86_VEC_GP, 0);
	return (uint32_t)(s->base + offset);
}

/* Return the length of the part of a system access that is on one page. */
static size_t system_piece(struct soft *c, const struct soft_uop *u, uint64_t va, size_t len,
			   bool write, uint64_t *gpa)
{
	size_t room = (size_t)(X86_PAGE_SIZE - va % X86_PAGE_SIZE);
	struct engine_exception e;

	if (!soft_translate(c, va, X86_WALK_SYSTEM | (write ? X86_WALK_WRITE : X86_WALK_READ), gpa,
			    &e))
		soft_fault(c, u, &e);
	return len < room ? len : room;
}

void soft_system_read(struct soft *c, const struct soft_uop *u, uint64_t va, void *to, size_t len)
{
	uint8_t *at = to;
	uint64_t gpa;
	size_t part;

	for (; len; len -= part, va += part, at += part) {
		part = system_piece(c, u, va, len, false, &gpa);
		if (!x86_mem_read(&c->vm->mem, gpa, at, part))
			memset(at, 0xff, part);
	}
}

void soft_system_write(struct soft *c, const struct soft_uop *u, uint64_t va, const void *from,
		       size_t len)
{
	const uint8_t *at = from;
	uint64_t gpa;
	size_t part;

	for (; len; len -= part, va += part, at += part) {
		part = system_piece(c, u, va, len, true, &gpa);
		if (x86_mem_write(&c->vm->mem, gpa, at, part))
			soft_wrote(c, u, gpa, part);
	}
}

bool soft_descriptor(struct soft *c, const struct soft_uop *u, uint16_t selector, bool wide,
		     struct soft_descriptor *d)
{
	uint32_t offset = selector & 0xfff8u, limit = c->s.gdt.limit;
	uint64_t base = c->s.gdt.base, raw[2] = {0};

	if (selector & 4) {
		if (!x86_segment_usable(&c->s.ldt))
			return false;
		base = c->s.ldt.base;
		limit = c->s.ldt.limit;
	}
	if (offset + (wide ? 15 : 7) > limit)
		return false;
	soft_system_read(c, u, base + offset, raw, wide ? 16 : 8);
	*d = (struct soft_descriptor){.at = base + offset,
				      .raw = raw[0],
				      .high = raw[1],
				      .seg = x86_segment_unpack(selector, raw[0])};
	return true;
}
