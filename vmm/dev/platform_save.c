// SPDX-License-Identifier: GPL-2.0-or-later
/* Save and load a snapshot: a head, followed by the state in its memory layout. */
#include "dev/platform.h"

#include <string.h>

#define MAGIC	0x4c50545056ull /* "VPTPL" */
#define VERSION 3u
/* The maximum distance from 1970 in seconds, which keeps dates within range. */
#define MAX_EPOCH (1ll << 40)

struct head {
	uint64_t magic;
	uint32_t version, bytes;
};

/* The local APICs of processors that do not exist, and the callbacks, are not saved. */
static size_t state_bytes(const struct dev_platform *p)
{
	return offsetof(struct dev_platform, lapic) + p->cpus * sizeof(p->lapic[0]);
}

size_t dev_platform_saved_bytes(const struct dev_platform *p)
{
	return sizeof(struct head) + state_bytes(p);
}

bool dev_platform_save(const struct dev_platform *p, void *to, size_t room)
{
	const struct head head = {
		.magic = MAGIC,
		.version = VERSION,
		.bytes = (uint32_t)state_bytes(p),
	};

	if (room < dev_platform_saved_bytes(p))
		return false;
	memcpy(to, &head, sizeof(head));
	memcpy((char *)to + sizeof(head), p, state_bytes(p));
	return true;
}

/*
 * Returns true if the state is usable. The devices accept any state, except for an epoch outside
 * the calendar.
 */
static bool makes_sense(const struct dev_platform *p)
{
	return p->rtc.epoch > -MAX_EPOCH && p->rtc.epoch < MAX_EPOCH;
}

bool dev_platform_load(struct dev_platform *p, const void *from, size_t bytes)
{
	struct dev_platform loaded;
	struct head head;

	if (bytes != dev_platform_saved_bytes(p))
		return false;
	memcpy(&head, from, sizeof(head));
	if (head.magic != MAGIC || head.version != VERSION || head.bytes != state_bytes(p))
		return false;
	memcpy(&loaded, (const char *)from + sizeof(head), state_bytes(p));
	if (loaded.cpus != p->cpus || !makes_sense(&loaded))
		return false;
	memcpy(p, &loaded, state_bytes(p));
	return true;
}
