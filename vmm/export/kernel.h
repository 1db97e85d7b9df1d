/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel for perf: kcore, kallsyms and modules, like copies of those in a running
 * machine's /proc.
 */
#ifndef VMM_EXPORT_KERNEL_H
#define VMM_EXPORT_KERNEL_H

#include <stdio.h>

#include "debug/symbol.h"
#include "export/pages.h"

/* The range that perf takes for the kernel's text. */
struct export_text {
	uint64_t begin, end; /* 0: there is no kernel */
};

/* From the pages. */
void export_kernel_text(const struct export_pages *pages, struct export_text *text);

/*
 * The pages that ran, what lies between two that are not far from each other as zeros.
 * `text` becomes the part of it that begins with the text: perf drops what the kernel's
 * own map overlaps. 0 or -errno.
 */
int export_kcore(const struct export_pages *pages, struct export_text *text, FILE *out);

/* From the trace's own symbols, with _text and _etext as they are in `text`. */
int export_kallsyms(const struct debug_symbols *symbols, const struct export_text *text, FILE *out);

/*
 * A copy of a kernel's /proc/kallsyms or System.map; `text` becomes what it says. -EINVAL:
 * it is none, or without _text or _stext.
 */
int export_kallsyms_copy(FILE *in, struct export_text *text, FILE *out);

#endif /* VMM_EXPORT_KERNEL_H */
