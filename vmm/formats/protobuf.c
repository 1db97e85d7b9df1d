// SPDX-License-Identifier: GPL-2.0-or-later
/* Write messages of protocol buffers. */
#include "formats/protobuf.h"

#include <string.h>

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

#define VARINT_MAX 10

static void put_varint(struct format_pb *pb, uint64_t value)
{
	do {
		pb->bytes[pb->n++] = (uint8_t)(value > 0x7f ? value | 0x80 : value);
		value >>= 7;
	} while (value);
}

/* Begin a field with @bytes of content. Returns false if there is no room. */
static bool begin(struct format_pb *pb, unsigned int field, unsigned int wire, size_t bytes)
{
	if (bytes > sizeof(pb->bytes) || sizeof(pb->bytes) - bytes < pb->n + 2 * VARINT_MAX) {
		pb->full = true;
		return false;
	}
	put_varint(pb, (uint64_t)field << 3 | wire);
	return true;
}

void format_pb_number(struct format_pb *pb, unsigned int field, uint64_t value)
{
	if (begin(pb, field, WIRE_VARINT, VARINT_MAX))
		put_varint(pb, value);
}

void format_pb_fixed64(struct format_pb *pb, unsigned int field, uint64_t value)
{
	size_t i;

	if (!begin(pb, field, WIRE_FIXED64, sizeof(value)))
		return;
	for (i = 0; i < sizeof(value); i++)
		pb->bytes[pb->n++] = (uint8_t)(value >> 8 * i);
}

static uint8_t *put_bytes(struct format_pb *pb, unsigned int field, const void *bytes, size_t n)
{
	uint8_t *at;

	if (!begin(pb, field, WIRE_BYTES, n))
		return NULL;
	put_varint(pb, n);
	at = &pb->bytes[pb->n];
	memcpy(at, bytes, n);
	pb->n += n;
	return at;
}

void format_pb_string(struct format_pb *pb, unsigned int field, const char *text)
{
	const size_t n = strlen(text);
	uint8_t *at = put_bytes(pb, field, text, n);
	size_t i;

	for (i = 0; at && i < n; i++) {
		if (at[i] >= 0x7f)
			at[i] = '?';
	}
}

void format_pb_message(struct format_pb *pb, unsigned int field, const struct format_pb *message)
{
	put_bytes(pb, field, message->bytes, message->n);
	pb->full |= message->full;
}
