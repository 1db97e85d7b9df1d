/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A payload: one freestanding program that tests one thing, checks its own result and reports pass,
 * fail or skip (lib/report.h).
 *
 * The same binary runs in three settings and reads the setting from CPUID. The guest owns PT, or
 * RTIT on an Atom, and traces itself; the host traces it and hides the trace system; or nothing is
 * traced.
 */
#ifndef GUEST_LIB_GUEST_H
#define GUEST_LIB_GUEST_H

#include "vpt/abi/boot.h"

/* The boot information from vpt; valid from payload() on. */
extern const struct vpt_boot_info *boot;

/* Placed at the top of each payload's file; the text is the first line of its output. */
#define PAYLOAD(text)                              \
	const char payload_name[] = GUEST_PAYLOAD; \
	const char payload_text[] = text

extern const char payload_name[];
extern const char payload_text[];

/* The payload. On return the guest exits with report_summary()'s status. */
void payload(void);

/* End the guest. */
void guest_exit(uint32_t status) __attribute__((noreturn));

#define noinline      __attribute__((noinline))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Keeps the compiler from moving memory accesses across. */
#define barrier() __asm__ volatile("" : : : "memory")

#endif /* GUEST_LIB_GUEST_H */
