/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vpt dump in three parts: dump.c finds the bytes, walks them, dump_print.c shows. */
#ifndef VMM_CLI_DUMP_H
#define VMM_CLI_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/reader.h"
#include "vpt/packet.h"

#define VPT_DUMP_RAW (-1)

struct vpt_dump {
	FILE *out;
	bool json;
	bool summary;	 /* count packets instead of showing them */
	uint64_t offset; /* of the first packet to show */
	uint64_t limit;	 /* how many more to show */
	uint8_t block;	 /* BBP.Type of the last block, which names what its BIPs are */
	int vcpu;	 /* whose stream this is, or VPT_DUMP_RAW */

	uint64_t packets[VPT_PKT_COUNT];
	uint64_t bytes[VPT_PKT_COUNT];
	uint64_t lost; /* bytes that are in no packet */
	uint64_t bad;  /* places where they are, without a good reason */
};

/* How the bytes of a place come to be in no packet. */
enum vpt_dump_loss {
	VPT_DUMP_BAD,	 /* no packet begins like this */
	VPT_DUMP_CUT,	 /* they end inside a packet, */
	VPT_DUMP_CUT_OK, /* as they may where the trace ended like this one */
};

/* `ip`: the packet's IP, expanded; NULL if there is none or it is not known. */
void vpt_dump_packet(struct vpt_dump *d, uint64_t offset, const struct vpt_packet *packet,
		     const uint64_t *ip);
void vpt_dump_lost(struct vpt_dump *d, uint64_t offset, enum vpt_dump_loss loss,
		   const uint8_t *bytes, uint64_t len);
void vpt_dump_session(struct vpt_dump *d, size_t number, const struct vpt_period *period);
void vpt_dump_summary(const struct vpt_dump *d);

#endif /* VMM_CLI_DUMP_H */
