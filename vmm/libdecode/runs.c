// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* An array of counts that doubles. */
#include "libdecode/runs.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 4096u

bool dec_runs_grow(struct dec_runs *runs, uint32_t id)
{
	size_t room = runs->room ? 2 * runs->room : FIRST_ROOM;
	uint64_t *at;

	while (room <= id)
		room *= 2;
	at = realloc(runs->at, room * sizeof(*at));
	if (!at) {
		runs->lost = true;
		return false;
	}
	memset(at + runs->room, 0, (room - runs->room) * sizeof(*at));
	runs->at = at;
	runs->room = room;
	return true;
}

void dec_runs_free(struct dec_runs *runs)
{
	free(runs->at);
}
