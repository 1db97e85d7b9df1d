/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads little-endian values of a hostile file one after the other. A read beyond the end
 * gives 0 and sets `bad`, which stays set, so that a caller can check once after several.
 */
#ifndef VMM_DEBUG_CURSOR_H
#define VMM_DEBUG_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct vpt_cursor {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t vpt_cursor_left(const struct vpt_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline bool vpt_cursor_skip(struct vpt_cursor *c, uint64_t bytes)
{
	if (vpt_cursor_left(c) < bytes) {
		c->bad = true;
		c->at = c->end;
		return false;
	}
	c->at += bytes;
	return true;
}

/* A value of 1 to 8 bytes. */
static inline uint64_t vpt_cursor_value(struct vpt_cursor *c, size_t bytes)
{
	const uint8_t *at = c->at;
	uint64_t value = 0;

	if (vpt_cursor_skip(c, bytes))
		memcpy(&value, at, bytes);
	return value;
}

static inline uint8_t vpt_cursor_u8(struct vpt_cursor *c)
{
	return (uint8_t)vpt_cursor_value(c, 1);
}

/* LEB128, of which bits beyond 64 are dropped. */
static inline uint64_t vpt_cursor_uleb(struct vpt_cursor *c)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = vpt_cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	return value;
}

static inline int64_t vpt_cursor_sleb(struct vpt_cursor *c)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = vpt_cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= UINT64_MAX << shift;
	return (int64_t)value;
}

/* A string with its NUL; NULL, and `bad`, if it does not end. */
static inline const char *vpt_cursor_string(struct vpt_cursor *c)
{
	const uint8_t *begin = c->at;
	const uint8_t *nul = c->at < c->end ? memchr(begin, 0, vpt_cursor_left(c)) : NULL;

	if (!nul) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at = nul + 1;
	return (const char *)begin;
}

/* DWARF's unit_length: what follows becomes a cursor of its own, `c` goes on after it. */
static inline struct vpt_cursor vpt_cursor_unit(struct vpt_cursor *c, unsigned int *offset_bytes)
{
	uint64_t len = vpt_cursor_value(c, 4);
	struct vpt_cursor unit;

	*offset_bytes = 4;
	if (len == 0xffffffff) {
		*offset_bytes = 8;
		len = vpt_cursor_value(c, 8);
	} else if (len >= 0xfffffff0) {
		c->bad = true;
	}
	unit = (struct vpt_cursor){c->at, c->at, c->bad};
	if (!c->bad && vpt_cursor_skip(c, len))
		unit.end = c->at;
	unit.bad = c->bad;
	return unit;
}

#endif /* VMM_DEBUG_CURSOR_H */
