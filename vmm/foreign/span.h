/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cursor over bytes of a foreign file. A read beyond the end returns 0 and sets @bad, which the
 * caller checks once. No read leaves the span.
 */
#ifndef VMM_FOREIGN_SPAN_H
#define VMM_FOREIGN_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const uint8_t *at;
	size_t left;
	bool bad;
};

/* Return the next @len bytes, or NULL and @bad. */
static inline const uint8_t *span_bytes(struct span *s, size_t len)
{
	const uint8_t *at = s->at;

	if (s->bad || len > s->left) {
		s->bad = true;
		return NULL;
	}
	s->at += len;
	s->left -= len;
	return at;
}

static inline void span_copy(struct span *s, void *to, size_t len)
{
	const uint8_t *at = span_bytes(s, len);

	if (at)
		memcpy(to, at, len);
	else
		memset(to, 0, len);
}

static inline uint8_t span_u8(struct span *s)
{
	uint8_t value;

	span_copy(s, &value, sizeof(value));
	return value;
}

static inline uint32_t span_u32(struct span *s)
{
	uint32_t value;

	span_copy(s, &value, sizeof(value));
	return value;
}

static inline uint64_t span_u64(struct span *s)
{
	uint64_t value;

	span_copy(s, &value, sizeof(value));
	return value;
}

/* Return a string that ends with NUL within the span, or NULL and @bad. */
static inline const char *span_text(struct span *s)
{
	const uint8_t *end = s->bad || !s->left ? NULL : memchr(s->at, 0, s->left);

	if (!end) {
		s->bad = true;
		return NULL;
	}
	return (const char *)span_bytes(s, (size_t)(end - s->at) + 1);
}

#endif /* VMM_FOREIGN_SPAN_H */
