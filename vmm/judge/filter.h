/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libipt 2.0.5 does not know, made up for: the packets of a segment, rewritten.
 *
 * IP filters:
 *
 * A conditional branch out of a filter or into a TraceStop range sends TIP.PGD
 * without an IP (33.4.2.5); so do a far transfer and MOV CR3 out of context, and
 * MOV CR3 into a TraceStop range. libipt's instruction decoder looks for one of the
 * latter and reports an error at the branch. Its block decoder takes the branch as
 * well, but binds the packet to a MOV CR3 whose PIP it follows.
 *
 * With an IP, any IP, both end the trace at the next branch of those that need a
 * packet, which is the right one: had there been one before, it would have had its
 * own. So packets that are not of MOV CR3 get an IP that is the target of no branch,
 * and packets that lean on it as last IP get all of theirs.
 *
 * Which are of MOV CR3? After a PIP: one whose CR3 is not traced, or if a TraceStop
 * follows (a conditional branch into a TraceStop range, with no other since a MOV
 * CR3, looks the same). Without a PIP the block decoder sees for itself. For the
 * other there is no question unless CR3 is filtered, or if the next TIP.PGE comes
 * without a PIP: it takes a load of CR3 to come back. What is left is taken to be
 * of MOV CR3; if it is not, the decoder fails at the very branch, and all is done
 * again with what has been learned.
 *
 * The block decoder ends the trace as soon as execution reaches the IP of a TIP.PGD, even by
 * falling through. But only a branch leaves the filter (33.2.5.3). If execution falls out of the
 * range and later branches back to that code, the decoder ends the trace too early. Decoding
 * then starts over, and the TIP.PGD gets another IP. The first instruction behind the range is
 * left to libipt, since a processor may notice there.
 *
 * Without IP filters there is one such case: where CPL 3 is not traced and a kernel goes
 * back to it after MOV CR3 without another packet, as Linux does with page-table
 * isolation. libipt takes the TIP.PGD to be of the MOV CR3. If its CR3 is traced it is
 * not, and gets an IP.
 *
 * VMX operation, in files that tell of address spaces (spaces.h): the CR3 of a PIP is
 * made the space's id. A VM entry that clears TraceEn sends FUP with the IP after
 * VMLAUNCH or VMRESUME and TIP.PGD (table 33-56, row 9), as if that instruction had run
 * and fallen through: the FUP is left out, and the TIP.PGD gets an IP as above.
 *
 * TSC packets of a guest have its TSC (33.8.3.3). They get the host's, so that there is
 * one time from end to end, where the file tells how to (VMCS blocks).
 *
 * Event trace (33.4.2.29): CFE and EVD are taken out, to be handed out beside what
 * libipt makes of the rest; and so is the FUP that a CFE, or a MODE.Exec for a new
 * RFLAGS.IF alone, has for itself. So are packet blocks, and the FUP of their BEP. TRIG
 * packets and their FUPs are taken out and not reported.
 */
#ifndef VMM_JUDGE_FILTER_H
#define VMM_JUDGE_FILTER_H

#include "decode/cfe.h"
#include "decode/code.h"
#include "decode/segment.h"
#include "decode/spaces.h"

/* Not canonical, and out of reach of a displacement from any address that is. */
#define JUDGE_FILTER_NO_IP UINT64_C(0x5a5a000000000000)

struct judge_filtered {
	uint8_t *bytes; /* NULL: the stream can be read as it is */
	size_t len;
	struct {
		struct judge_filter_shift {
			uint64_t at;   /* from here on in `bytes`, */
			uint64_t back; /* offsets are this much too high (mod 2^64) */
		} * at;
		size_t n, room;
	} shifts;
	struct {
		struct judge_filter_doubt {
			uint64_t at;	/* stream offset of a TIP.PGD that was left as it is */
			uint64_t until; /* a decoder that was misled has read no further */
			uint64_t ip;	/* IP of the TIP.PGD, or JUDGE_FILTER_NO_IP */
		} * at;
		size_t n, room;
	} doubts;
	struct {
		struct decode_cfe *at;
		size_t n, room;
	} cfes;
	struct {
		struct decode_block_item *at;
		size_t n, room;
	} items;
};

/*
 * TIP.PGDs that are known to belong to conditional branches or, for the block decoder, to a branch
 * that comes after execution fell through to their IP.
 */
struct judge_filter_known {
	struct judge_filter_doubt *at;
	size_t n, room;
};

/* Does a session of the segment use address ranges? */
bool judge_filter_ranges(const struct decode_segment *segment, const struct trace_period *periods);

/* Returns true if @ip is inside a range of FilterEn. */
bool judge_filter_inside(const struct trace_session *s, uint64_t ip);

struct judge_filter_input {
	bool all; /* rewrite it whatever the registers say, since there are blocks in it */
	const struct decode_segment *segment;
	const struct trace_period *periods;
	const uint8_t *stream;
	bool blocks; /* the stream is for the block decoder */
	const struct judge_filter_known *known;
	/* NULL: a CR3 is what it says; else with the code as the segment begins. */
	struct decode_spaces *spaces;
	const struct decode_code_store *code;
	const struct trace_vmcs *vmcs; /* of the stream */
	size_t nvmcs;
};

/* Rewrite a segment, if it needs that. 0 or -ENOMEM. */
int judge_filter_rewrite(struct judge_filtered *out, const struct judge_filter_input *input);
void judge_filter_free(struct judge_filtered *out);

/* Where in the segment an offset in `bytes` belongs, and the other way round. */
uint64_t judge_filter_offset(const struct judge_filtered *out, uint64_t offset);
uint64_t judge_filter_place(const struct judge_filtered *out, uint64_t offset);

/*
 * Call it when a decoder that has read up to @offset of the stream fails at a conditional
 * branch, or when the block decoder ends the trace without a branch. Returns 1 if a TIP.PGD was
 * bound wrongly, and adds it to @known; 0 if none was; or -ENOMEM.
 */
int judge_filter_learn(const struct judge_filtered *out, uint64_t offset,
		       struct judge_filter_known *known);

/*
 * Returns the original IP of the TIP.PGD before @offset if the decoder got another one in its
 * place; else JUDGE_FILTER_NO_IP.
 */
uint64_t judge_filter_target(const struct judge_filter_known *known, uint64_t offset);

#endif /* VMM_JUDGE_FILTER_H */
