/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keep the state of a machine in memory, and return to it many times a second. A return restores
 * all that the guest can observe. This is the vCPU with its TLB, the devices with their time, and
 * the pages of RAM that were written. Blocks that the engine has decoded stay if their code does.
 */
#ifndef VMM_CORE_REWIND_H
#define VMM_CORE_REWIND_H

#include <stdbool.h>

struct core_rewind;
struct core_vm;

/*
 * Keep the present state, between two instructions. The machine has one vCPU, its engine has
 * ENGINE_COUNTS with save() and load(), and no trace is on. Returns 0 or -errno; -ENOTSUP: such a
 * machine cannot be kept.
 */
int core_rewind_keep(struct core_vm *vm, struct core_rewind **rewind);
/* Release the state. NULL is allowed. */
void core_rewind_free(struct core_rewind *r);

/* Return to the state, whatever has stopped the machine. Returns 0 or -errno. */
int core_rewind(struct core_rewind *r);

/*
 * Compare the machine with the state, which needs time for all of RAM. Returns NULL if they are the
 * same, or the name of the part that differs, such as "RAM".
 */
const char *core_rewind_differs(struct core_rewind *r);

#endif /* VMM_CORE_REWIND_H */
