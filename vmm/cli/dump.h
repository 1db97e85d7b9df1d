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

#define CLI_DUMP_RAW   (-1)
#define CLI_DUMP_KINDS VPT_PKT_COUNT /* at least as many as any system has */

/* A packet, and what is shown beside its payload. */
struct cli_dump_item {
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
struct cli_dump_stream {
	const uint8_t *bytes;
	uint64_t last_ip;
	bool last_ip_known;
	/* PT */
	struct vpt_parser parser;
	uint8_t block; /* BBP.Type of the last block, which names what its BIPs are */
	/* RTIT */
	bool cycle_acc;
};

struct cli_dump_system {
	unsigned int kinds;
	int columns; /* that a packet takes before its IP */
	/* Of a kind; no two of a system have the same. */
	const char *(*name)(unsigned int kind);
	/* The packet at `buf`, as the system's own reader; keeps track of IPs. */
	enum vpt_status (*read)(struct cli_dump_stream *s, const uint8_t *buf, size_t len,
				struct cli_dump_item *item);
	size_t (*find_psb)(const uint8_t *buf, size_t len);
	/* What comes next has nothing to do with what was before: a session begins, or with
	 * NULL bytes that are of none; or bytes were in no packet. */
	void (*begin)(struct cli_dump_stream *s, const struct trace_session *start);
	void (*lost)(struct cli_dump_stream *s);
	size_t (*text)(char *text, size_t size, const struct cli_dump_item *item);
	/* Kind and fields as members of an object, each behind a comma. */
	void (*json)(FILE *out, const struct cli_dump_item *item);
	/* Optional: registers beside RTIT_CTL, those of the start or the end of a period. */
	void (*registers)(FILE *out, const struct trace_period *period, bool at_end);
	void (*json_registers)(FILE *out, const struct trace_period *period);
};

extern const struct cli_dump_system cli_dump_pt, cli_dump_atom;

struct cli_dump {
	FILE *out;
	const struct cli_dump_system *system;
	bool json;
	bool summary;	 /* count packets instead of showing them */
	uint64_t offset; /* of the first packet to show */
	uint64_t limit;	 /* how many more to show */
	int vcpu;	 /* whose stream this is, or CLI_DUMP_RAW */

	uint64_t packets[CLI_DUMP_KINDS];
	uint64_t bytes[CLI_DUMP_KINDS];
	uint64_t lost; /* bytes that are in no packet */
	uint64_t bad;  /* places where they are, without a good reason */
};

/* How the bytes of a place come to be in no packet. */
enum cli_dump_loss {
	CLI_DUMP_BAD,	 /* no packet begins like this */
	CLI_DUMP_CUT,	 /* they end inside a packet, */
	CLI_DUMP_CUT_OK, /* as they may where the trace ended like this one */
};

void cli_dump_packet(struct cli_dump *d, uint64_t offset, const struct cli_dump_item *item);
void cli_dump_lost(struct cli_dump *d, uint64_t offset, enum cli_dump_loss loss,
		   const uint8_t *bytes, uint64_t len);
void cli_dump_session(struct cli_dump *d, size_t number, const struct trace_period *period);
/* Behind its packets. */
void cli_dump_session_end(struct cli_dump *d, size_t number, const struct trace_period *period);
/* Outcomes as a member of an object, for system->json. */
void cli_dump_json_outcomes(FILE *out, uint64_t outcomes, unsigned int count);
void cli_dump_summary(const struct cli_dump *d);

#endif /* VMM_CLI_DUMP_H */
