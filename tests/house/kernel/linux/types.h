/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of <linux/types.h> that shared/ may use. This file allows compiling shared/ as kernel
 * code on a machine without kernel sources. The 64-bit types are long long as in the kernel, so the
 * compiler reports printf formats and pointers that confuse them with long.
 */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

#if __STDC_HOSTED__
#error "the kernel is freestanding"
#endif

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long uintptr_t;
typedef unsigned long size_t;
typedef long ssize_t;
typedef _Bool bool;

enum { false = 0, true = 1 };

#define NULL		       ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)

#endif /* _LINUX_TYPES_H */
