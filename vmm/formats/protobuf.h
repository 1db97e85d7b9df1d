/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of protocol buffers in a buffer of fixed size. Exports only write varints and strings.
 * This is less code than the description of the messages for protobuf-c, and needs no generator at
 * build time. The test reads the result with protoc.
 */
#ifndef VMM_FORMATS_PROTOBUF_H
#define VMM_FORMATS_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_PB_MAX 8192

/* All zero is empty. */
struct format_pb {
	size_t n;
	bool full; /* a field was omitted, because there was no room */
	uint8_t bytes[FORMAT_PB_MAX];
};

void format_pb_number(struct format_pb *pb, unsigned int field, uint64_t value);
void format_pb_fixed64(struct format_pb *pb, unsigned int field, uint64_t value);
/* @text is made ASCII, because a string must be UTF-8. */
void format_pb_string(struct format_pb *pb, unsigned int field, const char *text);
void format_pb_message(struct format_pb *pb, unsigned int field, const struct format_pb *message);

#endif /* VMM_FORMATS_PROTOBUF_H */
