/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code at CPL 3. Functions marked USER_TEXT are in pages that ring 3 may execute. They may use only
 * registers and memory that is open to ring 3 (paging_allow_user()), because the rest of the image
 * is closed.
 */
#ifndef GUEST_LIB_RING3_H
#define GUEST_LIB_RING3_H

#include "vpt/base.h"

#define USER_TEXT __attribute__((section(".user.text"), __noinline__))

/* The contents of the selector registers at CPL 3. */
#define USER_CS32 0x1bu
#define USER_DS	  0x23u
#define USER_CS	  0x2bu

/* The target of SYSCALL in ring 3; it runs on the kernel's stack. */
typedef uint64_t syscall_fn(uint64_t a, uint64_t b);

/*
 * Set up the descriptors, TSS, SYSCALL MSRs and an address space that has the user pages, and
 * switch to that space. Call this once.
 */
void ring3_init(syscall_fn *handler);

/* Call fn(arg) at CPL 3 through IRETQ, with interrupts off. Returns the result of fn. */
uint64_t ring3_call(uint64_t (*fn)(uint64_t), uint64_t arg);

/*
 * Set the target of SYSCALL. The target after ring3_init() is ring3_syscall_entry(), through which
 * ring3_call() returns.
 */
void ring3_set_syscall(void (*entry)(void));
void ring3_syscall_entry(void);

/* Return the top of the stack for entries to ring 0 (TSS.RSP0). IST1 is set as well. */
uint64_t ring3_kernel_stack(void);

/* Called at ring 3: SYSCALL into the handler and return by SYSRETQ. */
uint64_t user_syscall(uint64_t a, uint64_t b);

#endif /* GUEST_LIB_RING3_H */
