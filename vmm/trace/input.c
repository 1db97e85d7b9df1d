// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads input files. */
#include "trace/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/source.h"

#define FIRST 4096u

static int copy(struct trace_input *in, struct trace_source *s, size_t bytes)
{
	in->bytes = malloc(bytes + 1);
	if (!in->bytes)
		return -ENOMEM;
	in->size = bytes;
	return trace_source_read(s, 0, in->bytes, bytes);
}

static int load(struct trace_input *in, struct trace_source *s, const void *magic, size_t len)
{
	uint8_t first[16];
	size_t bytes = (size_t)s->size;
	int err = 0;

	/* All bytes of a pipe or a device are in memory already. */
	if (s->fd < 0 && s->bytes) {
		in->bytes = s->bytes;
		in->size = bytes;
		s->bytes = NULL;
		return 0;
	}
	if (len && len <= sizeof(first) && len <= s->size)
		err = trace_source_read(s, 0, first, len);
	if (!err && len && len <= s->size && memcmp(first, magic, len) && bytes > FIRST)
		bytes = FIRST;
	if (bytes > TRACE_INPUT_MAX)
		return -EFBIG;
	return err ? err : copy(in, s, bytes);
}

int trace_input_open_magic(struct trace_input *in, const char *path, const void *magic, size_t len)
{
	struct trace_source s;
	unsigned int i;
	int err = -ENODATA;

	/* The file may be truncated at the same time. */
	for (i = 0; i < 3 && err == -ENODATA; i++) {
		trace_input_close(in);
		err = trace_source_open(&s, path, magic, len);
		if (!err)
			err = load(in, &s, magic, len);
		trace_source_close(&s);
	}
	return err == -ENODATA ? -EIO : err;
}

int trace_input_open(struct trace_input *in, const char *path)
{
	return trace_input_open_magic(in, path, NULL, 0);
}

void trace_input_close(struct trace_input *in)
{
	free(in->bytes);
	*in = (struct trace_input){0};
}
