/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of a segment, rewritten for what libipt 2.0.5 does not support.
 *
 * IP filters:
 *
 * A conditional branch out of a filter or into a TraceStop range sends TIP.PGD without an IP
 * (33.4.2.5). A far transfer and MOV CR3 out of context send one too, and so does MOV CR3 into a
 * TraceStop range. The instruction decoder of libipt looks for a transfer or a MOV CR3, and reports
 * an error at the branch. The block decoder also takes the branch, but binds the packet to a MOV
 * CR3 whose PIP it follows.
 *
 * With any IP, both decoders end the trace at the next branch that needs a packet. That is the
 * right branch, because an earlier one would have had its own packet. Packets that are not of MOV
 * CR3 therefore get an IP that is the target of no branch. Packets that use it as last IP get their
 * full IP.
 *
 * Which packets are of MOV CR3? After a PIP, those whose CR3 is not traced, and those that a
 * TraceStop follows. A conditional branch into a TraceStop range looks the same if no other branch
 * came since a MOV CR3. Without a PIP the block decoder finds out by itself. For the instruction
 * decoder the question exists only if CR3 is filtered, or if the next TIP.PGE comes without a PIP.
 * Only a load of CR3 leads back. All other packets are taken to be of MOV CR3. If that is
 * wrong the decoder fails at the branch. Decoding then starts over with the knowledge of it.
 *
 * The block decoder ends the trace as soon as execution reaches the IP of a TIP.PGD, even by
 * falling through. But only a branch leaves the filter (33.2.5.3). If execution falls out of the
 * range and later branches back to that code, the decoder ends the trace too early. Decoding then
 * starts over, and the TIP.PGD gets another IP. The first instruction behind the range is left to
 * libipt, since a processor may notice there.
 *
 * Without IP filters there is one such case. It occurs if CPL 3 is not traced, and a kernel returns
 * to CPL 3 after MOV CR3 without another packet. Linux does so with page-table isolation. The
 * TIP.PGD looks to libipt as if it were of the MOV CR3. If the CR3 is traced, it is not, and gets
 * an IP.
 *
 * VMX operation, in files that have address spaces (spaces.h):
 *
 * The CR3 of a PIP is replaced by the space's id. A VM entry that clears TraceEn sends FUP with the
 * IP after VMLAUNCH or VMRESUME, and TIP.PGD (table 33-56, row 9). The packets look as if that
 * instruction had fallen through. The FUP is left out, and the TIP.PGD gets an IP as above.
 *
 * TSC packets of a guest have its TSC (33.8.3.3). They get the host's TSC if the file has VMCS
 * blocks, so that there is one time from end to end.
 *
 * Event trace (33.4.2.29):
 *
 * CFE and EVD are taken out, and reported beside the items of libipt. The FUP of a CFE is taken out
 * too, and that of a MODE.Exec which only reports RFLAGS.IF. So are packet blocks, and the FUP of
 * their BEP. TRIG packets and their FUPs are taken out and not reported.
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
 * TIP.PGDs that are known to be sent by conditional branches. For the block decoder also those that
 * are sent by a branch after execution fell through to their IP.
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
 * Call this function when a decoder that has read up to @offset fails at a conditional branch. Call
 * it also when the block decoder ends the trace without a branch. Returns 1 if a TIP.PGD was bound
 * wrongly, and adds it to @known. Returns 0 if none was, or -ENOMEM.
 */
int judge_filter_learn(const struct judge_filtered *out, uint64_t offset,
		       struct judge_filter_known *known);

/*
 * Returns the original IP of the TIP.PGD before @offset if the decoder got another one in its
 * place; else JUDGE_FILTER_NO_IP.
 */
uint64_t judge_filter_target(const struct judge_filter_known *known, uint64_t offset);

#endif /* VMM_JUDGE_FILTER_H */
