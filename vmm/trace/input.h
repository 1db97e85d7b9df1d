/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of an input file in memory, mapped where that is possible. */
#ifndef VMM_TRACE_INPUT_H
#define VMM_TRACE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vpt_input {
	uint8_t *bytes; /* writable; writes do not reach the file */
	size_t size;
	bool mapped;
};

/*
 * Load `path`, or standard input for "-". 0 or -errno. The struct is the
 * caller's, zero-initialised; vpt_input_close() also after an error.
 *
 * A file that is made shorter while it is open faults like any mapping.
 */
int vpt_input_open(struct vpt_input *in, const char *path);
void vpt_input_close(struct vpt_input *in);

#endif /* VMM_TRACE_INPUT_H */
