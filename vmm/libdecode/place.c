// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Look up the code that the selected address space has at an address. */
#include "libdecode/code_inside.h"

#include <string.h>

static struct dec_place *map_of(const struct dec_code *code, uint64_t vaddr)
{
	void **slot = dec_table_find(&code->maps, vaddr, code->space->key);

	if (!slot)
		slot = dec_table_find(&code->maps, vaddr, DEC_ANY_SPACE);
	return slot ? *slot : NULL;
}

static struct dec_place *place_now(const struct dec_code *code, uint64_t vaddr, bool *shared)
{
	const struct dec_common *common;
	void **slot;

	*shared = vaddr >> 63 && !code->separate;
	if (!*shared)
		return map_of(code, vaddr);
	slot = dec_table_find(&code->common, vaddr, 0);
	if (!slot)
		return NULL;
	common = *slot;
	if (!common->differs)
		return common->place;
	*shared = false;
	return map_of(code, vaddr);
}

struct dec_place *dec_code_place(struct dec_code *code, uint64_t ip, bool *shared)
{
	uint64_t vaddr = ip & ~(uint64_t)(DEC_PAGE - 1);
	struct dec_place *place = place_now(code, vaddr, shared);

	if (!place && code->fetch && code->fetch(code->context, code->space->key, vaddr))
		place = place_now(code, vaddr, shared);
	return place;
}

size_t dec_code_read(struct dec_code *code, uint64_t ip, uint8_t *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		bool shared;
		const struct dec_place *place = dec_code_place(code, ip + done, &shared);
		size_t at = (ip + done) & (DEC_PAGE - 1);
		size_t n = DEC_PAGE - at < len - done ? DEC_PAGE - at : len - done;

		if (!place || !place->page->now)
			break;
		memcpy(bytes + done, place->page->now->bytes + at, n);
		done += n;
	}
	return done;
}
