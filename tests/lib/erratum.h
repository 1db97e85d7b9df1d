/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Applies errata of Intel PT to a correct stream, to make the stream of an affected processor. */
#ifndef TESTS_LIB_ERRATUM_H
#define TESTS_LIB_ERRATUM_H

#include "lib/walk.h"
#include "libdecode/errata.h"
#include "vpt/packet.h"

struct erratum_packet {
	struct vpt_packet p;
	uint64_t ip;	 /* of TIP, TIP.PGE, TIP.PGD and FUP, unless it is suppressed */
	size_t at, end;	 /* its bytes in the correct stream; equal if the packet was inserted */
	bool in_psb;	 /* in a PSB+, after PSB and before PSBEND */
	bool wrong;	 /* `raw` in place of the packet */
	uint8_t raw[16]; /* and how many bytes: p.size */
};

/* A stream as packets. */
struct erratum_stream {
	struct erratum_packet *packet;
	size_t count, room;
	uint64_t random;
	/* The bytes of the stream and the end offset of each packet; set by erratum_write(). */
	uint8_t *bytes;
	size_t len, *written;
};

/* Take the walk's trace apart. */
void erratum_read(struct erratum_stream *s, const struct walk_result *walk, uint64_t seed);
void erratum_free(struct erratum_stream *s);

/*
 * Apply the erratum wherever its condition arises and a decoder can detect it. Returns the number
 * of places. Errata that lose or insert packets at random, such as SKD010, skip some places.
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
 * Decode the written stream for this processor. @way selects runs or counts, and the whole stream
 * or single bytes. Returns the number of instructions. With runs, `why` describes the first
 * difference from the executed instructions; it is empty if there is none.
 */
uint64_t erratum_decode(const struct walk_config *config, const struct walk_result *walk,
			const struct erratum_stream *s, const struct erratum_cpu *cpu, int way,
			char *why, size_t size);

/* Return the item of the last instruction or event before a packet at @at, or NULL. */
const struct walk_item *erratum_item_before(const struct walk_result *walk, size_t at);

#endif /* TESTS_LIB_ERRATUM_H */
