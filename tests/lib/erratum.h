/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errata of Intel PT, applied to a correct stream: what a processor that has one would have sent.
 */
#ifndef TESTS_LIB_ERRATUM_H
#define TESTS_LIB_ERRATUM_H

#include "lib/walk.h"
#include "libdecode/errata.h"
#include "vpt/packet.h"

struct erratum_packet {
	struct vpt_packet p;
	uint64_t ip;	 /* of TIP, TIP.PGE, TIP.PGD and FUP, unless it is suppressed */
	size_t at, end;	 /* its bytes in the correct stream; both the same if it is not there */
	bool in_psb;	 /* in a PSB+, after PSB and before PSBEND */
	bool wrong;	 /* `raw` in place of the packet */
	uint8_t raw[16]; /* and how many bytes: p.size */
};

/* A stream as packets. */
struct erratum_stream {
	struct erratum_packet *packet;
	size_t count, room;
	uint64_t random;
	/* Bytes of the stream, and where each packet ends in them; erratum_write() makes them. */
	uint8_t *bytes;
	size_t len, *written;
};

/* Take the walk's trace apart. */
void erratum_read(struct erratum_stream *s, const struct walk_result *walk, uint64_t seed);
void erratum_free(struct erratum_stream *s);

/*
 * Apply the erratum wherever its condition arises and a decoder can tell. Returns at how many
 * places. Of SKD010 and the others that lose or insert packets at random some places are left.
 */
unsigned int erratum_apply(struct erratum_stream *s, enum dec_erratum_bit erratum,
			   const struct walk_config *config, const struct walk_result *walk);

/* Write the packets, with addresses compressed in random ways. */
void erratum_write(struct erratum_stream *s);

/* The packet that ends at @offset of the written bytes, or the next one. */
size_t erratum_packet_at(const struct erratum_stream *s, size_t offset);

/* A processor by display family and model. */
struct erratum_cpu {
	unsigned int family, model;
};

enum erratum_way {
	ERRATUM_RUNS = 1,   /* report runs, and compare them */
	ERRATUM_PIECES = 2, /* push the stream byte by byte */
	ERRATUM_SKIPS = 4,  /* tracing may resume late behind an overflow */
	ERRATUM_TIME = 8,   /* each run must have bounds between which it was executed */
};

/*
 * Decode the written stream for this processor: with runs, or with counts alone, and as a whole
 * or byte by byte. Returns the number of instructions. With runs `why` says where they differ
 * from those that were executed; it is empty if they do not.
 */
uint64_t erratum_decode(const struct walk_config *config, const struct walk_result *walk,
			const struct erratum_stream *s, const struct erratum_cpu *cpu, int way,
			char *why, size_t size);

/* The item of the last instruction or event before a packet at @at; NULL: there is none. */
const struct walk_item *erratum_item_before(const struct walk_result *walk, size_t at);

#endif /* TESTS_LIB_ERRATUM_H */
