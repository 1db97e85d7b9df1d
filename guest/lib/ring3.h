/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code at CPL 3. Functions marked USER_TEXT are in pages that ring 3 may
 * execute; they must keep to registers and to memory opened to them
 * (paging_allow_user()), since all else of the image is closed.
 */
#ifndef GUEST_LIB_RING3_H
#define GUEST_LIB_RING3_H

#include "vpt/base.h"

#define USER_TEXT __attribute__((section(".user.text"), __noinline__))

/* What SYSCALL in ring 3 ends up in; runs on the kernel's stack. */
typedef uint64_t syscall_fn(uint64_t a, uint64_t b);

/*
 * Set up the descriptors, TSS, SYSCALL MSRs and an address space that has the
 * user pages, and switch to that space. Once.
 */
void ring3_init(syscall_fn *handler);

/* fn(arg) at CPL 3, interrupts off; entered by IRETQ. Returns what it returns. */
uint64_t ring3_call(uint64_t (*fn)(uint64_t), uint64_t arg);

/* For ring 3 itself: SYSCALL into the handler and back by SYSRETQ. */
uint64_t user_syscall(uint64_t a, uint64_t b);

#endif /* GUEST_LIB_RING3_H */
