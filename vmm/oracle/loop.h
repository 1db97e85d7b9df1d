/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops of direct branches, such as "jmp ." or "pause; jmp". No packet shows how often such a loop
 * runs. A decoder leaves it at the first pass over the address of the next event.
 */
#ifndef VMM_ORACLE_LOOP_H
#define VMM_ORACLE_LOOP_H

#include "decode/code.h"
#include "decode/disasm.h"
#include "oracle/expect.h"

/* The maximum length of a loop in instructions. */
#define ORACLE_LOOP_MAX 256

struct oracle_loop {
	uint64_t ip[ORACLE_LOOP_MAX];
	unsigned int insns;
};

/*
 * Returns true if the code at @step returns to @step, and no instruction on the way sends a packet.
 * @mode: the width of the code in bits.
 */
bool oracle_loop_find(struct oracle_loop *loop, const struct decode_code_store *code,
		      struct decode_disasm *disasm, unsigned int mode,
		      const struct oracle_step *step);

/* Advance *@expect and *@step behind the steps of the loop. Returns their number. */
uint64_t oracle_loop_leave(const struct oracle_loop *loop, struct oracle_expect *expect,
			   struct oracle_step *step);

#endif /* VMM_ORACLE_LOOP_H */
