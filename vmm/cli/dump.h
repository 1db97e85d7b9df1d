/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vpt dump in parts: dump.c finds the bytes and walks them, dump_print.c shows, and what
 * differs between trace systems is in dump_pt.c and dump_atom.c.
 */
#ifndef VMM_CLI_DUMP_H
#define VMM_CLI_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/reader.h"
#include "vpt/atom_packet.h"
#include "vpt/packet.h"

#define VPT_DUMP_RAW   (-1)
#define VPT_DUMP_KINDS VPT_PKT_COUNT /* at least as many as any system has */

/* A packet, and what is shown beside its payload. */
struct vpt_dump_item {
	union {
		struct vpt_packet pt;
		struct vpt_atom_packet atom;
	};
	unsigned int kind, size;
	bool has_ip, ip_known; /* its IP, expanded, is `ip` if that can be known */
	uint64_t ip;
	const char *note; /* or this; NULL: nothing */
};

/* What is known of a stream up to where it has been read. */
struct vpt_dump_stream {
	const uint8_t *bytes;
	uint64_t last_ip;
	bool last_ip_known;
	/* PT */
	struct vpt_parser parser;
	uint8_t block; /* BBP.Type of the last block, which names what its BIPs are */
	/* RTIT */
	bool cycle_acc;
};

struct vpt_dump_system {
	unsigned int kinds;
	int columns; /* that a packet takes before its IP */
	/* Of a kind; no two of a system have the same. */
	const char *(*name)(unsigned int kind);
	/* The packet at `buf`, as the system's own reader; keeps track of IPs. */
	enum vpt_status (*read)(struct vpt_dump_stream *s, const uint8_t *buf, size_t len,
				struct vpt_dump_item *item);
	size_t (*find_psb)(const uint8_t *buf, size_t len);
	/* What comes next has nothing to do with what was before: a session begins, or with
	 * NULL bytes that are of none; or bytes were in no packet. */
	void (*begin)(struct vpt_dump_stream *s, const struct vpt_session *start);
	void (*lost)(struct vpt_dump_stream *s);
	size_t (*text)(char *text, size_t size, const struct vpt_dump_item *item);
	/* Kind and fields as members of an object, each behind a comma. */
	void (*json)(FILE *out, const struct vpt_dump_item *item);
	/* Optional: registers beside RTIT_CTL, those of the start or the end of a period. */
	void (*registers)(FILE *out, const struct vpt_period *period, bool at_end);
	void (*json_registers)(FILE *out, const struct vpt_period *period);
};

extern const struct vpt_dump_system vpt_dump_pt, vpt_dump_atom;

struct vpt_dump {
	FILE *out;
	const struct vpt_dump_system *system;
	bool json;
	bool summary;	 /* count packets instead of showing them */
	uint64_t offset; /* of the first packet to show */
	uint64_t limit;	 /* how many more to show */
	int vcpu;	 /* whose stream this is, or VPT_DUMP_RAW */

	uint64_t packets[VPT_DUMP_KINDS];
	uint64_t bytes[VPT_DUMP_KINDS];
	uint64_t lost; /* bytes that are in no packet */
	uint64_t bad;  /* places where they are, without a good reason */
};

/* How the bytes of a place come to be in no packet. */
enum vpt_dump_loss {
	VPT_DUMP_BAD,	 /* no packet begins like this */
	VPT_DUMP_CUT,	 /* they end inside a packet, */
	VPT_DUMP_CUT_OK, /* as they may where the trace ended like this one */
};

void vpt_dump_packet(struct vpt_dump *d, uint64_t offset, const struct vpt_dump_item *item);
void vpt_dump_lost(struct vpt_dump *d, uint64_t offset, enum vpt_dump_loss loss,
		   const uint8_t *bytes, uint64_t len);
void vpt_dump_session(struct vpt_dump *d, size_t number, const struct vpt_period *period);
/* Behind its packets. */
void vpt_dump_session_end(struct vpt_dump *d, size_t number, const struct vpt_period *period);
/* Outcomes as a member of an object, for system->json. */
void vpt_dump_json_outcomes(FILE *out, uint64_t outcomes, unsigned int count);
void vpt_dump_summary(const struct vpt_dump *d);

#endif /* VMM_CLI_DUMP_H */
