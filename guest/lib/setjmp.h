/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of libc, without a signal mask. */
#ifndef GUEST_LIB_SETJMP_H
#define GUEST_LIB_SETJMP_H

#include "vpt/base.h"

/* registers RBX RBP R12 to R15 RSP RIP */
typedef uint64_t jmp_buf[8];

int setjmp(jmp_buf buf) __attribute__((returns_twice));
void longjmp(jmp_buf buf, int value) __attribute__((noreturn));

/* Call fn(arg) on another stack that ends at `top`. */
uint64_t call_on_stack(uint64_t (*fn)(uint64_t), uint64_t arg, void *top);

#endif /* GUEST_LIB_SETJMP_H */
