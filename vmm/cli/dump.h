/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of vpt dump. dump.c finds and walks the bytes, and dump_print.c prints them. dump_pt.c
 * and dump_atom.c have the differences between trace systems.
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
#define CLI_DUMP_KINDS VPT_PKT_COUNT /* at least the number of kinds of every system */

/* A packet, and the data that is shown beside its payload. */
struct cli_dump_item {
	union {
		struct vpt_packet pt;
		struct vpt_atom_packet atom;
	};
	unsigned int kind, size;
	bool has_ip, ip_known; /* the packet has an IP; @ip is its expanded value if @ip_known */
	uint64_t ip;
	const char *note; /* or a note; NULL if there is none */
};

/* The state of a stream up to the current position. */
struct cli_dump_stream {
	const uint8_t *bytes;
	uint64_t last_ip;
	bool last_ip_known;
	/* PT */
	struct vpt_parser parser;
	uint8_t block; /* BBP.Type of the last block, which selects the names of its BIPs */
	/* RTIT */
	bool cycle_acc;
};

struct cli_dump_system {
	unsigned int kinds;
	int columns; /* width of a packet before its IP */
	/* Return the name of a kind. Names are unique within a system. */
	const char *(*name)(unsigned int kind);
	/* Read the packet at @buf with the system's reader, and keep track of IPs. */
	enum vpt_status (*read)(struct cli_dump_stream *s, const uint8_t *buf, size_t len,
				struct cli_dump_item *item);
	size_t (*find_psb)(const uint8_t *buf, size_t len);
	/*
	 * Reset the state of the stream. A session begins, or with NULL bytes outside sessions
	 * begin. Also called after bytes that are not a packet.
	 */
	void (*begin)(struct cli_dump_stream *s, const struct trace_session *start);
	void (*lost)(struct cli_dump_stream *s);
	size_t (*text)(char *text, size_t size, const struct cli_dump_item *item);
	/* Print kind and fields as members of an object, each after a comma. */
	void (*json)(FILE *out, const struct cli_dump_item *item);
	/* Optional. Print the registers other than RTIT_CTL at the start or the end of a period. */
	void (*registers)(FILE *out, const struct trace_period *period, bool at_end);
	void (*json_registers)(FILE *out, const struct trace_period *period);
};

extern const struct cli_dump_system cli_dump_pt, cli_dump_atom;

struct cli_dump {
	FILE *out;
	const struct cli_dump_system *system;
	bool json;
	bool summary;	 /* count packets instead of showing them */
	uint64_t offset; /* offset of the first packet to show */
	uint64_t limit;	 /* number of packets still to show */
	int vcpu;	 /* the vCPU of this stream, or CLI_DUMP_RAW */

	uint64_t packets[CLI_DUMP_KINDS];
	uint64_t bytes[CLI_DUMP_KINDS];
	uint64_t lost; /* bytes outside packets */
	uint64_t bad;  /* number of places with such bytes and no valid reason */
};

/* The reason why bytes are outside packets. */
enum cli_dump_loss {
	CLI_DUMP_BAD,	 /* no packet begins with these bytes */
	CLI_DUMP_CUT,	 /* the stream ends inside a packet, */
	CLI_DUMP_CUT_OK, /* which is permitted at the end of this trace */
};

void cli_dump_packet(struct cli_dump *d, uint64_t offset, const struct cli_dump_item *item);
void cli_dump_lost(struct cli_dump *d, uint64_t offset, enum cli_dump_loss loss,
		   const uint8_t *bytes, uint64_t len);
void cli_dump_session(struct cli_dump *d, size_t number, const struct trace_period *period);
/* Print the end of a session, after its packets. */
void cli_dump_session_end(struct cli_dump *d, size_t number, const struct trace_period *period);
/* Print TNT outcomes as a member of an object, for system->json. */
void cli_dump_json_outcomes(FILE *out, uint64_t outcomes, unsigned int count);
void cli_dump_summary(const struct cli_dump *d);

#endif /* VMM_CLI_DUMP_H */
