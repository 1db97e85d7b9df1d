/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The modules of a coverage file: the ELF images in the trace, and windows of other addresses. */
#ifndef VMM_FORMATS_MODULES_H
#define VMM_FORMATS_MODULES_H

#include "formats/format.h"

/* A range of addresses. Offsets from @start fit into 32 bits. */
struct format_module {
	uint64_t start, end;		     /* @end is exclusive */
	const struct trace_elf_image *image; /* NULL for a window */
};

struct format_modules {
	struct format_module *at;
	size_t n;
};

/* List the ELF images of a trace, sorted by address. Returns 0 or -ENOMEM. */
int format_modules_open(const struct trace_reader *reader, struct format_modules *modules);
/* Find the module of an address. Outside of all images it is a window of 4 GiB. */
struct format_module format_modules_find(const struct format_modules *modules, uint64_t ip);
/*
 * Find the begin of the only ELF image of a trace. Returns 0, -ENOMEM, or -ENOENT if there is no
 * image or more than one.
 */
int format_modules_begin(const struct trace_reader *reader, uint64_t *begin);
void format_modules_close(struct format_modules *modules);

#endif /* VMM_FORMATS_MODULES_H */
