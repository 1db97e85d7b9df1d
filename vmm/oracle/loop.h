/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops of direct branches, such as "jmp ." or "pause; jmp". No packet tells how often such a
 * loop runs. A decoder leaves it where the address of the next event comes for the first time.
 */
#ifndef VMM_ORACLE_LOOP_H
#define VMM_ORACLE_LOOP_H

#include "decode/code.h"
#include "decode/disasm.h"
#include "expect.h"

/* The longest loop that is looked for, in instructions. */
#define VPT_LOOP_MAX 256

struct vpt_loop {
	uint64_t ip[VPT_LOOP_MAX];
	unsigned int insns;
};

/*
 * Return true if the code at @step comes back to there and no instruction on the way sends a
 * packet. @mode: the width of the code in bits.
 */
bool vpt_loop_find(struct vpt_loop *loop, const struct vpt_code_store *code,
		   struct vpt_disasm *disasm, unsigned int mode, const struct vpt_step *step);

/* Move *@expect and *@step behind the steps that are the loop's. Returns how many there were. */
uint64_t vpt_loop_leave(const struct vpt_loop *loop, struct vpt_expect *expect,
			struct vpt_step *step);

#endif /* VMM_ORACLE_LOOP_H */
