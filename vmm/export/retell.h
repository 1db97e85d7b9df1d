/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Generate Intel PT packets from the flow of one vCPU. The items of another trace system's decoder
 * drive the library's generator, whose packets go to a file.
 *
 * Each session of the trace becomes a session of PT, with its own PSB+. Where the trace leaves the
 * traced region, the new trace leaves it at the next instruction (FUP, TIP.PGD). If that
 * instruction is not known, the new trace leaves with the branch itself (TIP.PGD without an IP).
 * Lost packets and code that cannot be decoded become an overflow.
 */
#ifndef VMM_EXPORT_RETELL_H
#define VMM_EXPORT_RETELL_H

#include "decode/disasm.h"
#include "decode/flow.h"
#include "trace/writer.h"
#include "vpt/pt.h"

/* The state of one vCPU. The writer keeps its errors. */
struct export_retell {
	/* The caller sets the fields up to `cbr`. The rest is zero. */
	const struct vpt_caps *caps; /* the capabilities of the new PT */
	const struct trace_period *periods;
	size_t nperiods;
	struct trace_writer *writer;
	unsigned int vcpu;
	struct decode_disasm *disasm;
	bool timed;   /* items have times, and `tsc` is the first of them */
	uint64_t tsc; /* the current time */
	uint8_t cbr;

	struct vpt_pt pt;
	uint8_t stage[4096];
	struct vpt_context ctx;
	bool on;	/* a session is active */
	size_t session; /* the index of the active session, or of the next session */
	uint64_t insns; /* the instruction counter of trace/format.h */
	bool ip_known;	/* Valid while PacketEn is set: the next instruction is at `ip` */
	uint64_t ip;
	uint64_t cr3; /* the CR3 of the last packet, or at the start of the session */
	uint8_t mode; /* the code size of the last packet, or at the start of the session */
	bool gap;     /* packets are missing here */
	int error;    /* -errno of the writer, the first error */
	struct {      /* items that wait for the place of the next instruction */
		struct decode_item *at;
		size_t n, room;
	} items;
};

void export_retell_init(struct export_retell *r);
void export_retell_free(struct export_retell *r);

/*
 * Process the next item: INSN, EVENT, SEGMENT, ERROR or END. END ends all sessions. Returns 0 or
 * -errno.
 */
int export_retell_item(struct export_retell *r, const struct decode_item *item);

#endif /* VMM_EXPORT_RETELL_H */
