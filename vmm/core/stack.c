// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks of far transfers: the current stack, those of the TSS, pushes and pops. */
#include "core/access.h"
#include "core/fault.h"
#include "core/transfer.h"

#include <string.h>

#define TSS_WIDE   8 /* in the type of a TSS: 32-bit or 64-bit */
#define TSS16_SP0  2
#define TSS32_ESP0 4
#define TSS64_RSP0 4
#define TSS64_IST1 36

static uint64_t mask(const struct core_stack *stack)
{
	if (!stack->ss)
		return ~0ull;
	return stack->ss->ar & X86_AR_DB ? 0xffffffff : 0xffff;
}

struct core_stack core_stack_now(const struct core_vcpu *v)
{
	return (struct core_stack){
		.ss = v->bits == 64 ? NULL : &v->s.ss,
		.sp = v->regs->rsp,
		.cpl = v->cpl,
	};
}

uint64_t core_stack_pointer(const struct core_vcpu *v, const struct x86_segment *ss, bool wide,
			    uint64_t value)
{
	if (wide)
		return value;
	/* On a 16-bit stack the upper half of ESP does not change. */
	return ss->ar & X86_AR_DB ? (uint32_t)value
				  : (v->regs->rsp & 0xffff0000) | (value & 0xffff);
}

/* Read a field of the TSS. Raises #TS if the field is beyond the limit. */
static bool tss_field(struct core_vcpu *v, uint32_t offset, void *to, size_t len, bool external,
		      struct engine_exception *e)
{
	if (offset + len - 1 > v->s.tr.limit)
		return core_refuse(e, X86_VEC_TS, v->s.tr.selector, external);
	return core_read(v, v->s.tr.base + offset, to, len, X86_WALK_SYSTEM, e);
}

static bool inner_wide(struct core_vcpu *v, uint8_t cpl, uint8_t ist, bool external,
		       struct core_stack *stack, struct engine_exception *e)
{
	uint32_t offset = ist ? TSS64_IST1 + 8u * (ist - 1u) : TSS64_RSP0 + 8u * cpl;

	if (!tss_field(v, offset, &stack->sp, 8, external, e))
		return false;
	if (!core_canonical(v, stack->sp))
		return core_refuse(e, X86_VEC_SS, 0, external);
	stack->error = external;
	return true;
}

static bool inner_segment(struct core_vcpu *v, uint16_t selector, uint8_t cpl, bool external,
			  struct x86_segment *ss, struct engine_exception *e)
{
	if (core_null_selector(selector))
		return core_refuse(e, X86_VEC_TS, 0, external);
	if (!core_descriptor(v, selector, X86_VEC_TS, external, ss, e))
		return false;
	if ((selector & 3) != cpl || x86_segment_dpl(ss) != cpl || !core_is_stack(ss))
		return core_refuse(e, X86_VEC_TS, selector, external);
	if (!(ss->ar & X86_AR_P))
		return core_refuse(e, X86_VEC_SS, selector, external);
	return true;
}

bool core_stack_inner(struct core_vcpu *v, uint8_t cpl, uint8_t ist, bool external,
		      struct x86_segment *ss, struct core_stack *stack, struct engine_exception *e)
{
	bool narrow = !(v->s.tr.ar & TSS_WIDE);
	uint8_t raw[6] = {0};
	uint32_t sp = 0;
	uint16_t selector;

	*stack = (struct core_stack){.cpl = cpl, .access = cpl < 3 ? X86_WALK_SYSTEM : 0};
	if (core_vcpu_long_mode(v)) {
		*ss = core_null_ss(cpl);
		return inner_wide(v, cpl, ist, external, stack, e);
	}
	if (narrow) {
		if (!tss_field(v, TSS16_SP0 + 4u * cpl, raw, 4, external, e))
			return false;
		memcpy(&sp, raw, 2);
		memcpy(&selector, raw + 2, 2);
	} else {
		if (!tss_field(v, TSS32_ESP0 + 8u * cpl, raw, 6, external, e))
			return false;
		memcpy(&sp, raw, 4);
		memcpy(&selector, raw + 4, 2);
	}
	if (!inner_segment(v, selector, cpl, external, ss, e))
		return false;
	stack->ss = ss;
	stack->sp = sp;
	stack->error = (selector & 0xfffcu) | external;
	return true;
}

enum touch { READ, PROBE, WRITE };

/* Read, write or probe a run of bytes at an offset in the stack segment. */
static bool touch(struct core_vcpu *v, const struct core_stack *stack, enum touch how,
		  uint64_t offset, void *data, size_t len, struct engine_exception *e)
{
	unsigned int access = stack->access | (how == PROBE ? X86_WALK_WRITE : 0);
	uint8_t cpl = v->paging.cpl;
	bool ok;

	if (stack->ss) {
		if (!core_in_limit(stack->ss, offset, len)) {
			*e = core_fault_code(X86_VEC_SS, stack->error);
			return false;
		}
		offset = (uint32_t)(stack->ss->base + offset);
	}
	v->paging.cpl = stack->cpl;
	if (how == WRITE)
		ok = core_write(v, offset, data, len, access, e);
	else
		ok = core_read(v, offset, data, len, access, e);
	v->paging.cpl = cpl;
	if (!ok && e->vector == X86_VEC_GP)
		*e = core_fault_code(X86_VEC_SS, stack->error);
	return ok;
}

static void move(struct core_stack *stack, uint64_t sp)
{
	/* On a 16-bit stack the upper half of ESP does not change. */
	uint64_t keep = mask(stack) == 0xffff ? 0xffff0000 : 0;

	stack->sp = (stack->sp & keep) | (sp & mask(stack));
}

/*
 * Push a frame that wraps around the end of the segment. All words are probed before the first is
 * written.
 */
static bool push_wrapped(struct core_vcpu *v, const struct core_stack *stack, const uint64_t *word,
			 unsigned int count, unsigned int size, struct engine_exception *e)
{
	enum touch how;
	unsigned int i;

	for (how = PROBE; how <= WRITE; how++) {
		for (i = 0; i < count; i++) {
			uint64_t data = word[i];

			if (!touch(v, stack, how, (stack->sp - (i + 1) * size) & mask(stack), &data,
				   size, e))
				return false;
		}
	}
	return true;
}

bool core_push(struct core_vcpu *v, struct core_stack *stack, const uint64_t *word,
	       unsigned int count, unsigned int size, struct engine_exception *e)
{
	uint64_t sp = stack->sp & mask(stack), len = count * size;
	uint8_t raw[CORE_STACK_WORDS * 8];
	unsigned int i;

	for (i = 0; i < count; i++)
		memcpy(raw + (count - 1 - i) * size, &word[i], size);
	if (sp && sp < len ? !push_wrapped(v, stack, word, count, size, e)
			   : !touch(v, stack, WRITE, (sp - len) & mask(stack), raw, len, e))
		return false;
	move(stack, sp - len);
	return true;
}

bool core_pop(struct core_vcpu *v, struct core_stack *stack, uint64_t *word, unsigned int count,
	      unsigned int size, struct engine_exception *e)
{
	uint64_t sp = stack->sp & mask(stack), len = count * size;
	uint8_t raw[CORE_STACK_WORDS * 8];
	unsigned int i;
	bool ok = true;

	if (mask(stack) - sp >= len - 1)
		ok = touch(v, stack, READ, sp, raw, len, e);
	else
		for (i = 0; i < count && ok; i++)
			ok = touch(v, stack, READ, (sp + i * size) & mask(stack), raw + i * size,
				   size, e);
	if (!ok)
		return false;
	for (i = 0; i < count; i++) {
		word[i] = 0;
		memcpy(&word[i], raw + i * size, size);
	}
	move(stack, sp + len);
	return true;
}
