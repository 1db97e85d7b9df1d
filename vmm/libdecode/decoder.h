/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Define struct vptd_decoder, for decoder*.c, report.c and counts.c. */
#ifndef VMM_LIBDECODE_DECODER_H
#define VMM_LIBDECODE_DECODER_H

#include "libdecode/edges.h"
#include "libdecode/pt_time.h"
#include "libdecode/atom.h"
#include "libdecode/tracelet.h"
#include "libdecode/vptdecode.h"

struct vptd_decoder {
	struct dec_code *code;
	struct dec_flow flow;
	struct dec_pt pt;
	struct dec_atom atom;
	const uint64_t *offset;	  /* the stream offset after the last packet read: pt's or atom's */
	struct dec_timing timing; /* valid only if pt.timing is set */
	struct dec_edges edges;
	struct vptd_ops ops;
	void *context;	   /* the context of ops */
	uint64_t own_keys; /* the number of keys that the library has assigned */
	uint64_t events[VPTD_EVENT_COUNT];
	bool is_atom; /* packets go to `atom`, and not to `pt` */
	bool counts_edges;
	bool asks;	/* a call of ops.space() or ops.fetch() is in progress */
	bool no_memory; /* an allocation failed since the last call of dec_decoder_done() */
};

/* The first key of the pages whose keys the library assigns. */
#define DEC_OWN_KEYS (1ull << 63)

/* report.c */
extern const struct dec_flow_ops dec_report_runs, dec_report_timed_runs;
extern const struct dec_pt_ops dec_report_pt;
extern const struct dec_atom_ops dec_report_rtit;
/* Ask ops.fetch() for a page, see dec_code_on_miss(). */
bool dec_report_miss(void *context, uint64_t space, uint64_t address);
/* Returns VPTD_E_MEMORY if an allocation has failed since the last call, else VPTD_OK. */
enum vptd_status dec_decoder_done(struct vptd_decoder *d);

/* decoder_atom.c */
void dec_decoder_start_atom(struct vptd_decoder *d, const struct vptd_config *config);

#endif /* VMM_LIBDECODE_DECODER_H */
