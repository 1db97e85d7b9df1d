/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel for perf: kcore, kallsyms and modules, like copies of these files in the /proc of a
 * running machine.
 */
#ifndef VMM_EXPORT_KERNEL_H
#define VMM_EXPORT_KERNEL_H

#include <stdio.h>

#include "debug/symbol.h"
#include "export/pages.h"

/* The range that perf uses as the kernel's text. */
struct export_text {
	uint64_t begin, end; /* 0 if there is no kernel */
};

/* Find the text range from the pages. */
void export_kernel_text(const struct export_pages *pages, struct export_text *text);

/*
 * Write the pages that ran. Gaps between nearby pages are filled with zeros. `text` is changed to
 * the segment that begins with the text, because perf drops maps that overlap the kernel's own map.
 * Returns 0 or -errno.
 */
int export_kcore(const struct export_pages *pages, struct export_text *text, FILE *out);

/* Write the trace's own symbols, with _text and _etext from `text`. */
int export_kallsyms(const struct debug_symbols *symbols, const struct export_text *text, FILE *out);

/*
 * Copy a kernel's /proc/kallsyms or System.map. `text` is set from the symbols. Returns -EINVAL if
 * the file has another format, or neither _text nor _stext.
 */
int export_kallsyms_copy(FILE *in, struct export_text *text, FILE *out);

#endif /* VMM_EXPORT_KERNEL_H */
