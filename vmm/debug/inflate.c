// SPDX-License-Identifier: GPL-2.0-or-later
/* The bytes of a debug section, decompressed if need be, within a limit. */
#include "debug/inflate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* zlib's best ratio, and room for its headers. */
#define RATIO 1032

/* ".zdebug_*": "ZLIB", the size in eight bytes, the highest first; then the stream. */
#define GNU_HEAD 12

static int inflate_all(const uint8_t *from, size_t len, uint8_t *to, size_t size)
{
	z_stream z = {.next_in = (uint8_t *)from, .next_out = to};
	int status = inflateInit(&z);

	if (status != Z_OK)
		return status == Z_MEM_ERROR ? -ENOMEM : -EINVAL;
	while (status == Z_OK) {
		z.avail_in = len - z.total_in > UINT32_MAX ? UINT32_MAX
							   : (unsigned int)(len - z.total_in);
		z.avail_out = size - z.total_out > UINT32_MAX ? UINT32_MAX
							      : (unsigned int)(size - z.total_out);
		status = inflate(&z, Z_NO_FLUSH);
	}
	size -= z.total_out;
	(void)inflateEnd(&z);
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	return status == Z_STREAM_END && !size ? 0 : -EINVAL;
}

static int decompress(const uint8_t *from, size_t len, uint64_t size, uint64_t *budget,
		      struct vpt_debug_bytes *bytes)
{
	if (!size || size / RATIO > len)
		return -EINVAL;
	if (size > *budget)
		return -EFBIG;
	*budget -= size;
	bytes->heap = malloc(size);
	if (!bytes->heap)
		return -ENOMEM;
	bytes->at = bytes->heap;
	bytes->len = size;
	return inflate_all(from, len, bytes->heap, size);
}

static int load_compressed(const struct vpt_object *o, const struct vpt_section *s,
			   uint64_t *budget, struct vpt_debug_bytes *bytes)
{
	size_t head = o->is32 ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	Elf64_Chdr big;
	Elf32_Chdr small;

	if (s->size < head)
		return -EINVAL;
	if (o->is32) {
		memcpy(&small, s->bytes, sizeof(small));
		big = (Elf64_Chdr){.ch_type = small.ch_type, .ch_size = small.ch_size};
	} else {
		memcpy(&big, s->bytes, sizeof(big));
	}
	if (big.ch_type != ELFCOMPRESS_ZLIB)
		return -EINVAL;
	return decompress(s->bytes + head, s->size - head, big.ch_size, budget, bytes);
}

static int load_gnu(const struct vpt_section *s, uint64_t *budget, struct vpt_debug_bytes *bytes)
{
	uint64_t size;

	if (s->size < GNU_HEAD || memcmp(s->bytes, "ZLIB", 4))
		return -EINVAL;
	memcpy(&size, s->bytes + 4, sizeof(size));
	return decompress(s->bytes + GNU_HEAD, s->size - GNU_HEAD, __builtin_bswap64(size), budget,
			  bytes);
}

int vpt_debug_load(const struct vpt_object *o, const char *name, uint64_t *budget,
		   struct vpt_debug_bytes *bytes)
{
	struct vpt_section section;
	char gnu[32];

	memset(bytes, 0, sizeof(*bytes));
	if (vpt_object_find(o, name, &section)) {
		if (section.flags & SHF_COMPRESSED)
			return load_compressed(o, &section, budget, bytes);
		bytes->at = section.bytes;
		bytes->len = section.size;
		return 0;
	}
	snprintf(gnu, sizeof(gnu), ".z%s", name + 1);
	return vpt_object_find(o, gnu, &section) ? load_gnu(&section, budget, bytes) : 0;
}

void vpt_debug_unload(struct vpt_debug_bytes *bytes)
{
	free(bytes->heap);
	memset(bytes, 0, sizeof(*bytes));
}
