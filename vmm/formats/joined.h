/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Write a format from results of address spaces (decode/space_parts.h), without a walk. */
#ifndef VMM_FORMATS_JOINED_H
#define VMM_FORMATS_JOINED_H

#include "decode/space_parts.h"
#include "formats/format.h"

struct format_joined {
	const struct format_type *type;
	FILE *out;
	struct trace_reader *reader;
	const struct debug_symbols *symbols; /* NULL if there are none */
	struct decode_space_parts
		*parts; /* those of each vCPU of the trace, from its begin to its end */
	uint64_t base;	/* of struct format_run */
};

/*
 * Returns true if the format can be made of results of address spaces, and sets *wanted to their
 * kind. Formats with times or events need a walk.
 */
bool format_can_join(const struct format_type *type, enum decode_space_wanted *wanted);

/*
 * Write the format. The trees of the results are closed. The caller checks the errors of @out. Returns
 * 0 or -errno.
 */
int format_joined_write(const struct format_joined *j);

#endif /* VMM_FORMATS_JOINED_H */
