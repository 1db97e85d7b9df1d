/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Emulation of the instructions that the core executes itself. */
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
	CORE_DONE_FAULT,   /* *e must be delivered; nothing else changed */
	CORE_DONE_NATIVE,  /* the engine must execute the instruction */
	CORE_DONE_STOPPED, /* the VM has stopped */
	CORE_DONE_AGAIN,   /* no instruction to report: check for events, then call again */
};

/*
 * Execute @insn if the core emulates it (emulate.c). After CORE_DONE_RETIRED, RIP is the next
 * instruction's.
 */
enum core_done core_emulate(struct core_vcpu *v, const struct core_insn *insn,
			    struct engine_exception *e);
/*
 * Read the operand of an instruction, @bytes long (operand.c). core_operand_line() reads a byte at
 * the address of MONITOR or UMONITOR and returns that address. Both return false with an exception
 * in *e.
 */
bool core_operand_read(struct core_vcpu *v, const struct core_insn *insn, unsigned int bytes,
		       uint64_t *value, struct engine_exception *e);
bool core_operand_line(struct core_vcpu *v, const struct core_insn *insn, uint64_t *address,
		       struct engine_exception *e);
/* Execute PTWRITE, and complete its event after it has retired (ptwrite.c). */
enum core_done core_emulate_ptwrite(struct core_vcpu *v, const struct core_insn *insn,
				    struct engine_exception *e);
void core_ptwrite_describe(const struct core_vcpu *v, const struct core_insn *insn,
			   struct vpt_event *event);
/* Execute far JMP, CALL and RET (far.c), or IRET (iret.c). */
enum core_done core_emulate_far(struct core_vcpu *v, const struct core_insn *insn,
				struct engine_exception *e);
enum core_done core_emulate_iret(struct core_vcpu *v, const struct core_insn *insn,
				 struct engine_exception *e);

#endif /* VMM_CORE_EMULATE_H */
