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

static inline bool core_null_selector(uint64_t selector)
{
	return !(selector & 0xfffc);
}

/* #GP and the like for a selector; `external`: EXT. Returns false. */
bool core_refuse(struct engine_exception *e, uint8_t vector, uint64_t selector, bool external);
/* The core does not do it (task switches, virtual-8086 mode): the VM stops. */
bool core_cannot(struct core_vcpu *v, const char *what);

/* descriptor.c: 8 or 16 bytes of the table that a selector points into. */
bool core_descriptor_raw(struct core_vcpu *v, uint16_t selector, uint8_t bad, bool external,
			 void *raw, size_t len, struct engine_exception *e);
/* Set the accessed bit, in the table and in *seg. Last, since it may fault. */
bool core_descriptor_accessed(struct core_vcpu *v, struct x86_segment *seg,
			      struct engine_exception *e);
/* Is [offset, offset + len) within the limit? */
bool core_in_limit(const struct x86_segment *seg, uint64_t offset, size_t len);
/* Can the segment be code that runs from here on at `ip`? #GP if not. */
bool core_check_ip(const struct core_vcpu *v, const struct x86_segment *cs, uint64_t ip,
		   bool external, struct engine_exception *e);
static inline bool core_is_code(const struct x86_segment *seg)
{
	return seg->s && seg->type & 8;
}
static inline bool core_is_conforming(const struct x86_segment *seg)
{
	return (seg->type & 0xc) == 0xc;
}
/* CS.L counts in long mode only. */
static inline bool core_is_wide(const struct core_vcpu *v, const struct x86_segment *cs)
{
	return core_vcpu_long_mode(v) && cs->l;
}

/* Most words that are pushed at once: a call gate's parameters and what goes with them. */
#define CORE_STACK_WORDS 36

/* A stack in use; `sp` becomes RSP in the end. */
struct core_stack {
	const struct x86_segment *ss; /* NULL: 64-bit mode, which has no limits */
	uint64_t sp;
	uint8_t cpl;	     /* whose accesses these are */
	unsigned int access; /* X86_WALK_SYSTEM: the processor's own */
	uint32_t error;	     /* of #SS */
};

/* stack.c: the one of now. */
struct core_stack core_stack_now(const struct core_vcpu *v);
/* The stack that the TSS has for `cpl`; `ist` in long mode only, 0: none. *ss is its segment. */
bool core_stack_inner(struct core_vcpu *v, uint8_t cpl, uint8_t ist, bool external,
		      struct x86_segment *ss, struct core_stack *stack, struct engine_exception *e);
/* word[0] is the first one pushed or popped. */
bool core_push(struct core_vcpu *v, struct core_stack *stack, const uint64_t *word,
	       unsigned int count, unsigned int size, struct engine_exception *e);
bool core_pop(struct core_vcpu *v, struct core_stack *stack, uint64_t *word, unsigned int count,
	      unsigned int size, struct engine_exception *e);
/* RSP after `value` is loaded into it, on a stack of this segment in code of this kind. */
uint64_t core_stack_pointer(const struct core_vcpu *v, const struct x86_segment *ss, bool wide,
			    uint64_t value);

/* return.c: CS and SS as IRET and far RET load them. */
bool core_return_code(struct core_vcpu *v, uint64_t selector, uint64_t ip, struct x86_segment *cs,
		      struct engine_exception *e);
bool core_return_stack(struct core_vcpu *v, uint64_t selector, const struct x86_segment *cs,
		       struct x86_segment *ss, struct engine_exception *e);
/* All is checked: go there. `ss` NULL: it stays. */
void core_return_to(struct core_vcpu *v, const struct x86_segment *cs, const struct x86_segment *ss,
		    uint64_t ip, uint64_t sp);
enum core_done core_far_return(struct core_vcpu *v, const struct core_insn_far *far,
			       struct engine_exception *e);

/* callgate.c: far JMP or CALL to a system descriptor. */
enum core_done core_far_system(struct core_vcpu *v, const struct core_insn_far *far,
			       const struct x86_segment *gate, uint64_t next,
			       struct engine_exception *e);

/* real.c: the same in real mode. */
void core_real_code(struct core_vcpu *v, uint64_t selector, uint64_t ip);
bool core_real_deliver(struct core_vcpu *v, const struct engine_exception *event, uint64_t rip,
		       struct engine_exception *e);
enum core_done core_real_iret(struct core_vcpu *v, unsigned int size, struct engine_exception *e);
enum core_done core_real_far(struct core_vcpu *v, const struct core_insn_far *far, uint64_t next,
			     struct engine_exception *e);

/* syscall.c */
enum core_done core_emulate_syscall(struct core_vcpu *v, const struct core_insn *insn,
				    struct engine_exception *e);

#endif /* VMM_CORE_TRANSFER_H */
