/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of an input file in memory. They are a copy, which does not change with the file. */
#ifndef VMM_TRACE_INPUT_H
#define VMM_TRACE_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct trace_input {
	uint8_t *bytes; /* writable; never NULL once it is open */
	size_t size;
};

/*
 * Load @path, or standard input for "-". Returns 0 or -errno: -EFBIG if the file has more than
 * TRACE_INPUT_MAX bytes, or a pipe or a device more than TRACE_SOURCE_PIPE_MAX. The caller
 * zero-initialises the struct, and calls trace_input_close() also after an error.
 */
int trace_input_open(struct trace_input *in, const char *path);
/* Load a file that must begin with @magic. Only the first bytes of any other file are loaded. */
int trace_input_open_magic(struct trace_input *in, const char *path, const void *magic, size_t len);
void trace_input_close(struct trace_input *in);

#define TRACE_INPUT_MAX (4ull << 30)

#endif /* VMM_TRACE_INPUT_H */
