/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Common parts of far transfers: far JMP, CALL and RET, IRET and the delivery of events. Each
 * function performs all checks that can fault before it changes any state, except for accessed
 * bits. Functions that return false have an exception in *e, unless stated otherwise.
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

/*
 * Set *e to the exception @vector with the selector as error code. @external is its EXT bit.
 * Returns false.
 */
bool core_refuse(struct engine_exception *e, uint8_t vector, uint64_t selector, bool external);
/*
 * Stop the VM for a feature that the core does not emulate (task switches, virtual-8086 mode).
 * Returns false.
 */
bool core_cannot(struct core_vcpu *v, const char *what);

/* Read the 8 or 16 bytes of a selector's descriptor (descriptor.c). */
bool core_descriptor_raw(struct core_vcpu *v, uint16_t selector, uint8_t bad, bool external,
			 void *raw, size_t len, struct engine_exception *e);
/*
 * Set the accessed bit in the table and in *seg. This must be the last check, because it may fault.
 */
bool core_descriptor_accessed(struct core_vcpu *v, struct x86_segment *seg,
			      struct engine_exception *e);
/* Returns true if [offset, offset + len) is within the limit. */
bool core_in_limit(const struct x86_segment *seg, uint64_t offset, size_t len);
/* Raise #GP if code in the segment @cs cannot run at @ip. */
bool core_check_ip(const struct core_vcpu *v, const struct x86_segment *cs, uint64_t ip,
		   bool external, struct engine_exception *e);
static inline bool core_is_code(const struct x86_segment *seg)
{
	return (seg->ar & (X86_AR_S | X86_AR_EXEC)) == (X86_AR_S | X86_AR_EXEC);
}
/* Returns true if the segment is data that can be written. */
static inline bool core_is_stack(const struct x86_segment *seg)
{
	return (seg->ar & (X86_AR_S | X86_AR_EXEC | X86_AR_RW)) == (X86_AR_S | X86_AR_RW);
}
static inline bool core_is_conforming(const struct x86_segment *seg)
{
	return (seg->ar & (X86_AR_EXEC | X86_AR_DC)) == (X86_AR_EXEC | X86_AR_DC);
}
/* Returns true if the attributes of @cs are those of 64-bit code: L set and D clear. */
static inline bool core_is_code64(const struct x86_segment *cs)
{
	return (cs->ar & (X86_AR_L | X86_AR_DB)) == X86_AR_L;
}
/* Returns true for 64-bit code. CS.L is only used in long mode. */
static inline bool core_is_wide(const struct core_vcpu *v, const struct x86_segment *cs)
{
	return core_vcpu_long_mode(v) && cs->ar & X86_AR_L;
}

/*
 * An upper bound of the words of one push: 31 parameters of a call gate, SS:SP and the return
 * address.
 */
#define CORE_STACK_WORDS 36

/* A stack during a transfer. `sp` becomes RSP at the end. */
struct core_stack {
	const struct x86_segment *ss; /* NULL: 64-bit mode, without limits */
	uint64_t sp;
	uint8_t cpl;	     /* the privilege level of the accesses */
	unsigned int access; /* X86_WALK_SYSTEM: accesses of the processor itself */
	uint32_t error;	     /* the error code of #SS */
};

/* Returns the current stack (stack.c). */
struct core_stack core_stack_now(const struct core_vcpu *v);
/*
 * Get the stack of the TSS for @cpl, and its segment. @ist selects an IST stack in long mode, 0:
 * none.
 */
bool core_stack_inner(struct core_vcpu *v, uint8_t cpl, uint8_t ist, bool external,
		      struct x86_segment *ss, struct core_stack *stack, struct engine_exception *e);
/* Push or pop @count words of @size bytes. word[0] is the first word pushed or popped. */
bool core_push(struct core_vcpu *v, struct core_stack *stack, const uint64_t *word,
	       unsigned int count, unsigned int size, struct engine_exception *e);
bool core_pop(struct core_vcpu *v, struct core_stack *stack, uint64_t *word, unsigned int count,
	      unsigned int size, struct engine_exception *e);
/*
 * Returns RSP after a load of @value. @ss is the stack's segment, and @wide is true for 64-bit
 * code.
 */
uint64_t core_stack_pointer(const struct core_vcpu *v, const struct x86_segment *ss, bool wide,
			    uint64_t value);

/* Load CS, or SS, for IRET and far RET (return.c). */
bool core_return_code(struct core_vcpu *v, uint64_t selector, uint64_t ip, struct x86_segment *cs,
		      struct engine_exception *e);
bool core_return_stack(struct core_vcpu *v, uint64_t selector, const struct x86_segment *cs,
		       struct x86_segment *ss, struct engine_exception *e);
/* Complete a return after all checks. If @ss is NULL, SS does not change. */
void core_return_to(struct core_vcpu *v, const struct x86_segment *cs, const struct x86_segment *ss,
		    uint64_t ip, uint64_t sp);
enum core_done core_far_return(struct core_vcpu *v, const struct core_insn_far *far,
			       struct engine_exception *e);

/* Execute a far JMP or CALL to a system descriptor (callgate.c). */
enum core_done core_far_system(struct core_vcpu *v, const struct core_insn_far *far,
			       const struct x86_segment *gate, uint64_t next,
			       struct engine_exception *e);

/* The same transfers in real mode (real.c). */
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
