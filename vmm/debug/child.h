/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The child process that runs libelf and libdw. */
#ifndef VMM_DEBUG_CHILD_H
#define VMM_DEBUG_CHILD_H

#include "debug/record.h"

/* In the child, after fork(): set limits, write the records of a file to @fd, and end. */
void debug_run_child(const void *elf, size_t len, unsigned int what, int fd)
	__attribute__((noreturn));

#endif /* VMM_DEBUG_CHILD_H */
