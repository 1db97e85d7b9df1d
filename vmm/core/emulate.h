/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulate the instructions that the core executes itself. */
#ifndef VMM_CORE_EMULATE_H
#define VMM_CORE_EMULATE_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;
struct vpt_event;
struct core_insn;
struct engine_exception;

/* The outcome of one instruction. */
enum core_done {
	CORE_DONE_RETIRED,
	CORE_DONE_FAULT,   /* *e is to be delivered; nothing else changed */
	CORE_DONE_NATIVE,  /* not for the core: the engine must do it */
	CORE_DONE_STOPPED, /* the VM stops */
	CORE_DONE_AGAIN,   /* nothing happened: look around and try again */
};

/* emulate.c: do what the core does itself. On RETIRED, RIP is the new one. */
enum core_done core_emulate(struct core_vcpu *v, const struct core_insn *insn,
			    struct engine_exception *e);
/* operand.c: the operand of an instruction with one, `bytes` of it; a byte at the address
 * that MONITOR has, and that address. False: *e. */
bool core_operand_read(struct core_vcpu *v, const struct core_insn *insn, unsigned int bytes,
		       uint64_t *value, struct engine_exception *e);
bool core_operand_line(struct core_vcpu *v, const struct core_insn *insn, uint64_t *address,
		       struct engine_exception *e);
/* ptwrite.c: execute PTWRITE, and complete its event when it has retired. */
enum core_done core_emulate_ptwrite(struct core_vcpu *v, const struct core_insn *insn,
				    struct engine_exception *e);
void core_ptwrite_describe(const struct core_vcpu *v, const struct core_insn *insn,
			   struct vpt_event *event);
/* far.c, iret.c: likewise, transfers between segments and privilege levels. */
enum core_done core_emulate_far(struct core_vcpu *v, const struct core_insn *insn,
				struct engine_exception *e);
enum core_done core_emulate_iret(struct core_vcpu *v, const struct core_insn *insn,
				 struct engine_exception *e);

#endif /* VMM_CORE_EMULATE_H */
