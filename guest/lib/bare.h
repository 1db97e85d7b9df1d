/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console and the end of a guest on a machine that is not vpt's (VPT_BOOT_BARE). */
#ifndef GUEST_LIB_BARE_H
#define GUEST_LIB_BARE_H

#include "vpt/base.h"

/* COM1, at the speed that its emulators do not care about. */
void bare_console_init(void);
void bare_console_put(char c);

/* By the test bed's port; without it a line on the console, and a triple fault. */
void bare_exit(uint32_t status) __attribute__((noreturn));

#endif /* GUEST_LIB_BARE_H */
