// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes the fields of 9P messages, which are little-endian. */
#include "p9/wire.h"

#include <string.h>

uint64_t p9_get(struct p9_in *in, unsigned int bytes)
{
	uint64_t value = 0;
	unsigned int i;

	if (in->left < bytes) {
		in->bad = true;
		in->left = 0;
		return 0;
	}
	for (i = 0; i < bytes; i++)
		value |= (uint64_t)in->at[i] << (8 * i);
	in->at += bytes;
	in->left -= bytes;
	return value;
}

struct p9_text p9_get_text(struct p9_in *in)
{
	struct p9_text text = {"", (size_t)p9_get(in, 2)};

	if (in->left < text.len) {
		in->bad = true;
		in->left = 0;
		text.len = 0;
		return text;
	}
	text.at = (const char *)in->at;
	in->at += text.len;
	in->left -= text.len;
	return text;
}

void p9_put(struct p9_out *out, uint64_t value, unsigned int bytes)
{
	unsigned int i;

	if (out->room - out->used < bytes) {
		out->full = true;
		return;
	}
	for (i = 0; i < bytes; i++)
		out->bytes[out->used++] = (uint8_t)(value >> (8 * i));
}

void p9_put_text(struct p9_out *out, const char *text, size_t len)
{
	p9_put(out, len, 2);
	if (out->full || out->room - out->used < len) {
		out->full = true;
		return;
	}
	memcpy(out->bytes + out->used, text, len);
	out->used += len;
}

/* FNV-1a of 64 bits. */
static uint64_t hash(const char *path)
{
	uint64_t value = 0xcbf29ce484222325;

	for (; *path; path++)
		value = (value ^ (uint8_t)*path) * 0x100000001b3;
	return value;
}

void p9_put_qid(struct p9_out *out, enum p9_qid_type type, const char *path)
{
	p9_put(out, type, 1);
	p9_put(out, 0, 4);
	p9_put(out, hash(path), 8);
}

bool p9_is_text(const struct p9_text *text, const char *is)
{
	return text->len == strlen(is) && !memcmp(text->at, is, text->len);
}
