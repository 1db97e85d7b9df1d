// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Allocate the arrays of addresses and paths of walks. */
#include "libdecode/paths.h"

#include <stdlib.h>

/* Double an array that has no room for @more entries. Returns false if there is no memory. */
static bool grow(void **array, uint32_t *room, uint32_t used, uint32_t more, size_t size,
		 uint32_t first)
{
	uint32_t want = *room ? 2 * *room : first;
	void *grown;

	if (*room - used >= more)
		return true;
	grown = realloc(*array, want * size);
	if (!grown)
		return false;
	*array = grown;
	*room = want;
	return true;
}

bool dec_paths_make_room(struct dec_paths *p, uint32_t addresses, uint32_t entries, uint32_t first)
{
	void *at = p->addresses, *path = p->path;
	bool ok = grow(&at, &p->room, p->naddresses, addresses, sizeof(*p->addresses), first) &&
		  (!p->kept ||
		   grow(&path, &p->path_room, p->npath, entries, sizeof(*p->path), first));

	p->addresses = at;
	p->path = path;
	return ok;
}

void dec_paths_free(struct dec_paths *p)
{
	free(p->addresses);
	free(p->path);
}
