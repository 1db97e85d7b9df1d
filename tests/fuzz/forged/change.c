// SPDX-License-Identifier: GPL-2.0-or-later
/* Random numbers and changes of single fields, for all kinds of files. */
#include "fuzz/forged/change.h"

#include <string.h>

void change_begin(struct change *c, uint64_t seed)
{
	seed = (seed + 1) * 0x9e3779b97f4a7c15ull;
	seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9ull;
	seed = (seed ^ seed >> 27) * 0x94d049bb133111ebull;
	c->random = seed ^ seed >> 31;
	c->random += !c->random;
}

uint64_t change_next(struct change *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random * 0x2545f4914f6cdd1dull;
}

size_t change_below(struct change *c, size_t n)
{
	return n ? (size_t)((change_next(c) >> 11) % n) : 0;
}

bool change_resize(struct change *c, size_t at, size_t old, size_t size)
{
	if (c->len - old + size > c->room)
		return false;
	memmove(c->bytes + at + size, c->bytes + at + old, c->len - at - old);
	c->len += size - old;
	return true;
}

void change_value(struct change *c, size_t at, size_t bytes)
{
	static const uint64_t values[] = {
		0,	     1,		 2,	     7,		 8,	     0x7f,
		0x80,	     0xff,	 0x100,	     0xfff,	 0x1000,     0x7fff,
		0x8000,	     0xffff,	 0x10000,    0x7fffffff, 0x80000000, 0xffffffff,
		0x100000000, 1ull << 47, 1ull << 52, 1ull << 62, 1ull << 63, UINT64_MAX};
	uint64_t value = 0;

	memcpy(&value, c->bytes + at, bytes);
	switch (change_below(c, 5)) {
	case 0:
		value += 1 + change_below(c, 8);
		break;
	case 1:
		value -= 1 + change_below(c, 8);
		break;
	case 2:
		value ^= 1ull << change_below(c, 8 * bytes);
		break;
	case 3:
		/* The size of the file, and what is near, are boundaries too. */
		value = c->len + change_below(c, 33) - 16;
		break;
	default:
		value = values[change_below(c, sizeof(values) / sizeof(values[0]))];
	}
	memcpy(c->bytes + at, &value, bytes);
}

void change_field(struct change *c, size_t begin, size_t end)
{
	size_t bytes = (size_t)1 << change_below(c, 4);

	if (end < begin || end - begin < bytes)
		return;
	change_value(c, begin + change_below(c, (end - begin) / bytes) * bytes, bytes);
}
