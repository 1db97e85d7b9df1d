/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The console and the end of a guest on a machine that is not vpt's (VPT_BOOT_BARE). */
#ifndef GUEST_LIB_BARE_H
#define GUEST_LIB_BARE_H

#include "vpt/base.h"

/* Initialise COM1. Emulators ignore the speed. */
void bare_console_init(void);
void bare_console_put(char c);

/*
 * End the guest through the test bed's port; without the port, print a line and cause a triple
 * fault.
 */
void bare_exit(uint32_t status) __attribute__((noreturn));

#endif /* GUEST_LIB_BARE_H */
