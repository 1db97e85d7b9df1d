/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks of the guest in the trace file. The guest writes a text to the ports of abi/boot.h, and its
 * end writes a MARK block.
 */
#ifndef VMM_CORE_MARK_H
#define VMM_CORE_MARK_H

#include <stddef.h>
#include <stdint.h>

struct core_vcpu;

#define CORE_MARK_TEXT 255u   /* maximum of bytes; the rest of a longer text is dropped */
#define CORE_MARK_MOST 65536u /* maximum of marks of a vCPU; the rest are dropped */

/* The kinds of struct trace_user_mark. */
enum core_mark_by { CORE_MARK_BY_GUEST, CORE_MARK_BY_MONITOR };

/* The marks of a vCPU, also in a snapshot. */
struct core_marks {
	uint32_t count; /* marks so far */
	uint32_t len;	/* bytes in @text */
	char text[CORE_MARK_TEXT + 1];
};

/*
 * Write a mark of the vCPU with the present counts to the trace file, if there is one. The text has
 * up to TRACE_USER_MARK_MAX bytes.
 */
void core_mark_put(struct core_vcpu *v, enum core_mark_by by, const char *text, size_t len);
/* Add a byte to the text. A line feed or NUL ends the text and writes the mark. */
void core_mark_write(struct core_vcpu *v, uint8_t byte);

#endif /* VMM_CORE_MARK_H */
