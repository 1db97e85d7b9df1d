/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The rows VPT_PKT_EXT of packets.def, for the reader and the writer. */
#ifndef VPTI_PACKET_ROWS_H
#define VPTI_PACKET_ROWS_H

#include "vpt/packet.h"

VPT_BEGIN_DECLS

/* A field in the packet's bytes, as in packets.def. `bits` is 0 if the packet has no such field. */
struct vpti_packet_field {
	uint8_t at, bits, shift;
};

struct vpti_packet_row {
	enum vpt_pkt_kind kind;
	uint8_t size;
	uint8_t opcode;
	uint8_t opcode_mask; /* without the flag, if that is in the opcode's byte */
	struct vpti_packet_field value, aux, flag;
};

/* The columns of a field, which is one argument of a row. */
#define VPTI_FIELD(at, bits, shift, label, name) \
	{                                        \
		(at), (bits), (shift)            \
	}
#define VPTI_FIELD_AT(at, bits, shift, label, name)  (at)
#define VPTI_FIELD_OK(at, bits, shift, label, name)  ((at) % 8 + (bits) <= 64)
#define VPTI_FIELD_END(at, bits, shift, label, name) ((at) + (bits))

#define VPT_PKT(kind, text, size, tag, section, meaning)
#define VPT_PKT_EXT(kind, text, size, opcode, value, aux, flag, tag, section, meaning)        \
	VPT_STATIC_ASSERT((size) <= VPT_PKT_MAX && VPTI_FIELD_END value <= 8 * (size) &&      \
				  VPTI_FIELD_END aux <= 8 * (size) &&                         \
				  VPTI_FIELD_END flag <= 8 * (size) && VPTI_FIELD_OK value && \
				  VPTI_FIELD_OK aux && VPTI_FIELD_OK flag,                    \
			  "a field of " text " leaves the packet");
#include "../spec/packets.def"
#undef VPT_PKT
#undef VPT_PKT_EXT

/* A row as an initializer of struct vpti_packet_row. */
#define VPTI_PACKET_ROW(kind, size, opcode, value, aux, flag)                             \
	{                                                                                 \
		VPT_PKT_##kind, (size), (opcode), VPTI_FIELD_AT flag == 15 ? 0x7f : 0xff, \
			VPTI_FIELD value, VPTI_FIELD aux, VPTI_FIELD flag                 \
	}

/* Returns the rows, and their number in `count`. */
static inline const struct vpti_packet_row *vpti_packet_rows(unsigned int *count)
{
	static const struct vpti_packet_row rows[] = {
#define VPT_PKT(kind, text, size, tag, section, meaning)
#define VPT_PKT_EXT(kind, text, size, opcode, value, aux, flag, tag, section, meaning) \
	VPTI_PACKET_ROW(kind, size, opcode, value, aux, flag),
#include "../spec/packets.def"
#undef VPT_PKT
#undef VPT_PKT_EXT
	};

	*count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}

VPT_END_DECLS

#endif /* VPTI_PACKET_ROWS_H */
