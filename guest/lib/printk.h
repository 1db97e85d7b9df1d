/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text to the console port. */
#ifndef GUEST_LIB_PRINTK_H
#define GUEST_LIB_PRINTK_H

#include <stdarg.h>

/* %c %s %p %% and %d %u %x with l or z, # and a zero-padded width, e.g. %#06lx. */
void printk(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vprintk(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

#endif /* GUEST_LIB_PRINTK_H */
