/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of an input file in memory: a copy, which does not change with the file. */
#ifndef VMM_TRACE_INPUT_H
#define VMM_TRACE_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct vpt_input {
	uint8_t *bytes; /* writable; never NULL once it is open */
	size_t size;
};

/*
 * Load `path`, or standard input for "-". 0 or -errno: -EFBIG if it has more than VPT_INPUT_MAX
 * bytes, or VPT_SOURCE_PIPE_MAX if it is a pipe or a device. The struct is the caller's, zero-initialised; vpt_input_close() also after an error.
 */
int vpt_input_open(struct vpt_input *in, const char *path);
/*
 * The same for a file that begins with @magic. If it does not, only its first bytes are loaded,
 * which are enough to say so.
 */
int vpt_input_open_magic(struct vpt_input *in, const char *path, const void *magic, size_t len);
void vpt_input_close(struct vpt_input *in);

#define VPT_INPUT_MAX (4ull << 30)

#endif /* VMM_TRACE_INPUT_H */
