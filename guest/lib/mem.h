/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory functions of libc. */
#ifndef GUEST_LIB_MEM_H
#define GUEST_LIB_MEM_H

#include "vpt/base.h"

void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);

#endif /* GUEST_LIB_MEM_H */
