/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What transfers between segments have in common: far JMP, CALL and RET, IRET and
 * the delivery of events. Each checks all that can fault before it changes anything
 * but accessed bits. False: *e is the exception.
 */
#ifndef VMM_CORE_TRANSFER_H
#define VMM_CORE_TRANSFER_H

#include "core/descriptor.h"
#include "core/emulate.h"
#include "core/fault.h"
#include "core/vcpu.h"

static inline bool vpt_null_selector(uint64_t selector)
{
	return !(selector & 0xfffc);
}

/* #GP and the like for a selector; `external`: EXT. Returns false. */
bool vpt_refuse(struct vpt_exception *e, uint8_t vector, uint64_t selector, bool external);
/* The core does not do it (task switches, virtual-8086 mode): the VM stops. */
bool vpt_cannot(struct vpt_vcpu *v, const char *what);

/* descriptor.c: 8 or 16 bytes of the table that a selector points into. */
bool vpt_descriptor_raw(struct vpt_vcpu *v, uint16_t selector, uint8_t bad, bool external,
			void *raw, size_t len, struct vpt_exception *e);
/* Set the accessed bit, in the table and in *seg. Last, since it may fault. */
bool vpt_descriptor_accessed(struct vpt_vcpu *v, struct vpt_segment *seg, struct vpt_exception *e);
/* Is [offset, offset + len) within the limit? */
bool vpt_in_limit(const struct vpt_segment *seg, uint64_t offset, size_t len);
/* Can the segment be code that runs from here on at `ip`? #GP if not. */
bool vpt_check_ip(const struct vpt_vcpu *v, const struct vpt_segment *cs, uint64_t ip,
		  bool external, struct vpt_exception *e);
static inline bool vpt_is_code(const struct vpt_segment *seg)
{
	return seg->s && seg->type & 8;
}
static inline bool vpt_is_conforming(const struct vpt_segment *seg)
{
	return (seg->type & 0xc) == 0xc;
}
/* CS.L counts in long mode only. */
static inline bool vpt_is_wide(const struct vpt_vcpu *v, const struct vpt_segment *cs)
{
	return v->long_mode && cs->l;
}

/* Most words that are pushed at once: a call gate's parameters and what goes with them. */
#define VPT_STACK_WORDS 36

/* A stack in use; `sp` becomes RSP in the end. */
struct vpt_stack {
	const struct vpt_segment *ss; /* NULL: 64-bit mode, which has no limits */
	uint64_t sp;
	uint8_t cpl;	     /* whose accesses these are */
	unsigned int access; /* VPT_WALK_SYSTEM: the processor's own */
	uint32_t error;	     /* of #SS */
};

/* stack.c: the one of now. */
struct vpt_stack vpt_stack_now(const struct vpt_vcpu *v);
/* The stack that the TSS has for `cpl`; `ist` in long mode only, 0: none. *ss is its segment. */
bool vpt_stack_inner(struct vpt_vcpu *v, uint8_t cpl, uint8_t ist, bool external,
		     struct vpt_segment *ss, struct vpt_stack *stack, struct vpt_exception *e);
/* word[0] is the first one pushed or popped. */
bool vpt_push(struct vpt_vcpu *v, struct vpt_stack *stack, const uint64_t *word, unsigned int count,
	      unsigned int size, struct vpt_exception *e);
bool vpt_pop(struct vpt_vcpu *v, struct vpt_stack *stack, uint64_t *word, unsigned int count,
	     unsigned int size, struct vpt_exception *e);
/* RSP after `value` is loaded into it, on a stack of this segment in code of this kind. */
uint64_t vpt_stack_pointer(const struct vpt_vcpu *v, const struct vpt_segment *ss, bool wide,
			   uint64_t value);

/* return.c: CS and SS as IRET and far RET load them. */
bool vpt_return_code(struct vpt_vcpu *v, uint64_t selector, uint64_t ip, struct vpt_segment *cs,
		     struct vpt_exception *e);
bool vpt_return_stack(struct vpt_vcpu *v, uint64_t selector, const struct vpt_segment *cs,
		      struct vpt_segment *ss, struct vpt_exception *e);
/* All is checked: go there. `ss` NULL: it stays. */
void vpt_return_to(struct vpt_vcpu *v, const struct vpt_segment *cs, const struct vpt_segment *ss,
		   uint64_t ip, uint64_t sp);
enum vpt_done vpt_far_return(struct vpt_vcpu *v, const struct vpt_insn_far *far,
			     struct vpt_exception *e);

/* callgate.c: far JMP or CALL to a system descriptor. */
enum vpt_done vpt_far_system(struct vpt_vcpu *v, const struct vpt_insn_far *far,
			     const struct vpt_segment *gate, uint64_t next,
			     struct vpt_exception *e);

/* real.c: the same in real mode. */
void vpt_real_code(struct vpt_vcpu *v, uint64_t selector, uint64_t ip);
bool vpt_real_deliver(struct vpt_vcpu *v, const struct vpt_exception *event, uint64_t rip,
		      struct vpt_exception *e);
enum vpt_done vpt_real_iret(struct vpt_vcpu *v, unsigned int size, struct vpt_exception *e);
enum vpt_done vpt_real_far(struct vpt_vcpu *v, const struct vpt_insn_far *far, uint64_t next,
			   struct vpt_exception *e);

/* syscall.c */
enum vpt_done vpt_emulate_syscall(struct vpt_vcpu *v, const struct vpt_insn *insn,
				  struct vpt_exception *e);

#endif /* VMM_CORE_TRANSFER_H */
