/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow of one vCPU as packets of Intel PT. The items of another trace system's decoder drive
 * the library's generator, whose packets go to a file.
 *
 * Each session of the trace becomes one of PT, with a PSB+ of its own. Where the trace leaves the
 * traced region, this one leaves it at the next instruction (FUP, TIP.PGD). If that instruction is
 * not known, it leaves by the branch itself (TIP.PGD without an IP). Lost packets and code that
 * cannot be decoded become an overflow.
 */
#ifndef VMM_EXPORT_RETELL_H
#define VMM_EXPORT_RETELL_H

#include "decode/disasm.h"
#include "decode/flow.h"
#include "trace/writer.h"
#include "vpt/pt.h"

/* Errors of the writer are to be had from it. */
struct export_retell {
	/* Set these, all else zero. */
	const struct vpt_caps *caps; /* of the PT */
	const struct trace_period *periods;
	size_t nperiods;
	struct trace_writer *writer;
	unsigned int vcpu;
	struct decode_disasm *disasm;
	bool timed;   /* items have times, and `tsc` is the first of them */
	uint64_t tsc; /* the time now */
	uint8_t cbr;

	struct vpt_pt pt;
	uint8_t stage[4096];
	struct vpt_context ctx;
	bool on;	/* a session is */
	size_t session; /* this one, else the next */
	uint64_t insns; /* the counter of trace/format.h */
	bool ip_known;	/* while PacketEn: what runs next is at `ip` */
	uint64_t ip;
	uint64_t cr3; /* that packets have told, or that the session began with */
	uint8_t mode; /* the same */
	bool gap;     /* something is missing here */
	int error;    /* -errno of the writer, the first one */
	struct {      /* what waits for the place that it leads to */
		struct decode_item *at;
		size_t n, room;
	} items;
};

void export_retell_init(struct export_retell *r);
void export_retell_free(struct export_retell *r);

/* The next item: INSN, EVENT, SEGMENT, ERROR or END, which ends all sessions. 0 or -errno. */
int export_retell_item(struct export_retell *r, const struct decode_item *item);

#endif /* VMM_EXPORT_RETELL_H */
