/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rewrite the packets of a segment that libipt 2.0.5 does not support.
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
 * right branch, because an earlier one would have had its own packet. The filter therefore adds an
 * IP, which is the target of no branch, except to the packets of MOV CR3. Packets that use this IP
 * as last IP get their full IP.
 *
 * The filter must recognise the packets of MOV CR3. After a PIP, a packet is of MOV CR3 if the CR3
 * is not traced, or if a TraceStop follows. A conditional branch into a TraceStop range looks the
 * same if no other branch came since a MOV CR3. Without a PIP the block decoder finds the
 * instruction itself. The instruction decoder needs a decision only if CR3 is filtered and the next
 * TIP.PGE comes with a PIP. Only a load of CR3 resumes such a trace. These packets are assumed to
 * be of MOV CR3. If that is wrong, the decoder fails at the branch. Decoding then starts over with
 * the correct decision.
 *
 * The block decoder ends the trace as soon as execution reaches the IP of a TIP.PGD, even by
 * falling through. But only a branch leaves the filter (33.2.5.3). If execution falls out of the
 * range and later branches back to that code, the decoder ends the trace too early. Decoding then
 * starts over, and the TIP.PGD gets another IP. The first instruction behind the range is left to
 * libipt, since a processor may end the trace there.
 *
 * Without IP filters there is one such case. It occurs if CPL 3 is not traced, and a kernel returns
 * to CPL 3 after MOV CR3 without another packet. Linux does so with page-table isolation. libipt
 * then assumes that the TIP.PGD is of the MOV CR3. If the CR3 is traced, the TIP.PGD is of the
 * return, and gets an IP.
 *
 * VMX operation, in files that have address spaces (spaces.h):
 *
 * The CR3 of a PIP is replaced by the space's id. A VM entry that clears TraceEn sends FUP with the
 * IP after VMLAUNCH or VMRESUME, and TIP.PGD (table 33-56, row 9). The packets look as if that
 * instruction had fallen through. The FUP is left out, and the TIP.PGD gets an IP as above.
 *
 * TSC packets of a guest have its TSC (33.8.3.3). They get the host's TSC if the file has VMCS
 * blocks, so that the whole trace has one time.
 *
 * Event trace (33.4.2.29):
 *
 * CFE and EVD are removed, and reported beside the items of libipt. The FUP of a CFE is removed
 * too, and so is the FUP of a MODE.Exec that only reports RFLAGS.IF. Packet blocks and the FUP of
 * their BEP are removed and reported in the same way. TRIG packets and their FUPs are removed and
 * not reported.
 */
#ifndef VMM_JUDGE_FILTER_H
#define VMM_JUDGE_FILTER_H

#include "decode/cfe.h"
#include "decode/code.h"
#include "decode/segment.h"
#include "decode/spaces.h"

/* A non-canonical address that no displacement from a canonical address reaches. */
#define JUDGE_FILTER_NO_IP UINT64_C(0x5a5a000000000000)

struct judge_filtered {
	uint8_t *bytes; /* NULL if the stream can be read without changes */
	size_t len;
	struct {
		struct judge_filter_shift {
			uint64_t at;   /* from this offset in `bytes` on */
			uint64_t back; /* offsets are too high by this number (mod 2^64) */
		} * at;
		size_t n, room;
	} shifts;
	struct {
		struct judge_filter_doubt {
			uint64_t at;	/* the stream offset of an unchanged TIP.PGD */
			uint64_t until; /* the limit of what a misled decoder has read */
			uint64_t ip;	/* the IP of the TIP.PGD, or JUDGE_FILTER_NO_IP */
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
 * The TIP.PGDs known to be sent by conditional branches. For the block decoder also those sent by a
 * branch after execution fell through to their IP.
 */
struct judge_filter_known {
	struct judge_filter_doubt *at;
	size_t n, room;
};

/* Returns true if a session of the segment uses address ranges. */
bool judge_filter_ranges(const struct decode_segment *segment, const struct trace_period *periods);

/* Returns true if @ip is inside a range of FilterEn. */
bool judge_filter_inside(const struct trace_session *s, uint64_t ip);

struct judge_filter_input {
	bool all; /* rewrite the segment regardless of the registers */
	const struct decode_segment *segment;
	const struct trace_period *periods;
	const uint8_t *stream;
	bool blocks; /* the stream is for the block decoder */
	const struct judge_filter_known *known;
	/*
	 * The spaces of the file, or NULL if a CR3 identifies the space. With spaces, `code` is the
	 * code at the beginning of the segment.
	 */
	struct decode_spaces *spaces;
	const struct decode_code_store *code;
	const struct trace_vmcs *vmcs; /* the VMCS blocks of the stream */
	size_t nvmcs;
};

/* Rewrite a segment if necessary. Returns 0 or -ENOMEM. */
int judge_filter_rewrite(struct judge_filtered *out, const struct judge_filter_input *input);
void judge_filter_free(struct judge_filtered *out);

/* Convert an offset in `bytes` to an offset in the segment, and back. */
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
 * Returns the original IP of the TIP.PGD before @offset if the decoder got another IP in its place.
 * Otherwise returns JUDGE_FILTER_NO_IP.
 */
uint64_t judge_filter_target(const struct judge_filter_known *known, uint64_t offset);

#endif /* VMM_JUDGE_FILTER_H */
