/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulate the instructions that the core executes itself. */
#ifndef VMM_CORE_EMULATE_H
#define VMM_CORE_EMULATE_H

#include <stdbool.h>
#include <stdint.h>

struct vpt_vcpu;
struct vpt_insn;
struct vpt_exception;

/* What one instruction came to. */
enum vpt_done {
	VPT_DONE_RETIRED,
	VPT_DONE_FAULT,	  /* *e is to be delivered; nothing else changed */
	VPT_DONE_NATIVE,  /* not for the core: the engine must do it */
	VPT_DONE_STOPPED, /* the VM stops */
	VPT_DONE_AGAIN,	  /* nothing happened: look around and try again */
};

/* emulate.c: do what the core does itself. On RETIRED, RIP is the new one. */
enum vpt_done vpt_emulate(struct vpt_vcpu *v, const struct vpt_insn *insn, struct vpt_exception *e);
/* operand.c: the operand of an instruction with one, `bytes` of it; a byte at the address
 * that MONITOR has, and that address. False: *e. */
bool vpt_operand_read(struct vpt_vcpu *v, const struct vpt_insn *insn, unsigned int bytes,
		      uint64_t *value, struct vpt_exception *e);
bool vpt_operand_line(struct vpt_vcpu *v, const struct vpt_insn *insn, uint64_t *address,
		      struct vpt_exception *e);
/* ptwrite.c: PTWRITE, and what PT gets of it when it has retired. */
enum vpt_done vpt_emulate_ptwrite(struct vpt_vcpu *v, const struct vpt_insn *insn,
				  struct vpt_exception *e);
void vpt_ptwrite_tell(struct vpt_vcpu *v, const struct vpt_insn *insn, uint64_t ip, uint64_t next);
/* far.c, iret.c: likewise, transfers between segments and privilege levels. */
enum vpt_done vpt_emulate_far(struct vpt_vcpu *v, const struct vpt_insn *insn,
			      struct vpt_exception *e);
enum vpt_done vpt_emulate_iret(struct vpt_vcpu *v, const struct vpt_insn *insn,
			       struct vpt_exception *e);

#endif /* VMM_CORE_EMULATE_H */
