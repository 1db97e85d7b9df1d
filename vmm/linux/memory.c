// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the memory of a Linux guest, and find the BTF of its kernel. */
#include "linux/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A kernel's image is at most this large, with its BTF. */
#define IMAGE_MAX (64ull << 20)
#define BTF_MAX	  (64u << 20)
/* BTF of a module is smaller. */
#define BTF_MIN (256u << 10)

/* struct btf_header (linux/btf.h), as every kernel so far has it. */
struct header {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t hdr_len, type_off, type_len, str_off, str_len;
};

bool linux_memory_gpa(const struct linux_memory *m, uint64_t lin, uint64_t *gpa)
{
	uint32_t error;

	return (int64_t)(lin << 7) >> 7 == (int64_t)lin &&
	       x86_walk(m->ram, &m->paging, lin, X86_WALK_READ | X86_WALK_PEEK, gpa, &error);
}

bool linux_memory_read(const struct linux_memory *m, uint64_t lin, void *to, size_t len)
{
	uint8_t *bytes = to;
	uint64_t gpa;

	while (len) {
		size_t part = (size_t)(X86_PAGE_SIZE - lin % X86_PAGE_SIZE);

		if (part > len)
			part = len;
		if (!linux_memory_gpa(m, lin, &gpa) || !x86_mem_read(m->ram, gpa, bytes, part))
			return false;
		bytes += part;
		lin += part;
		len -= part;
	}
	return true;
}

/* Return the size of the BTF at @at, or 0 if there is none. */
static size_t size_of(const uint8_t *at, size_t room)
{
	struct header h;

	if (room < sizeof(h))
		return 0;
	memcpy(&h, at, sizeof(h));
	room -= sizeof(h);
	if (h.type_len < BTF_MIN || h.type_len > BTF_MAX || h.str_len > BTF_MAX || !h.str_len ||
	    h.str_off != h.type_len || h.str_off > room || h.str_len > room - h.str_off)
		return 0;
	return sizeof(h) + h.str_off + h.str_len;
}

int linux_memory_btf(const struct x86_mem *ram, uint64_t gpa, void **btf, size_t *len)
{
	static const uint8_t begin[12] = {0x9f, 0xeb, 1, 0, sizeof(struct header)};
	const uint64_t first = gpa > IMAGE_MAX ? (gpa - IMAGE_MAX) & ~(X86_PAGE_SIZE - 1) : 0;
	const uint8_t *at, *next;
	uint64_t place, room = x86_mem_room(ram, first, &place);

	if (room > 2 * IMAGE_MAX)
		room = 2 * IMAGE_MAX;
	at = room ? ram->host + place : NULL;
	while (at && (next = memmem(at, room, begin, sizeof(begin))) != NULL) {
		room -= (uint64_t)(next - at);
		at = next;
		*len = size_of(at, room);
		if (*len) {
			*btf = malloc(*len);
			if (!*btf)
				return -ENOMEM;
			memcpy(*btf, at, *len);
			return 0;
		}
		at++;
		room--;
	}
	return -ENOENT;
}
