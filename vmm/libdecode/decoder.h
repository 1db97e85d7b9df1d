/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The definition of struct vptd_decoder, for decoder*.c and counts.c. */
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
	const uint64_t *offset;	  /* in the stream, behind what was read: pt's or atom's */
	struct dec_timing timing; /* if pt.timing is set */
	struct dec_edges edges;
	struct vptd_ops ops;
	void *context;	   /* of ops */
	uint64_t own_keys; /* number of keys that the library has chosen */
	uint64_t events[VPTD_EVENT_COUNT];
	bool is_atom; /* the packets are for `atom`, and not for `pt` */
	bool counts_edges;
	bool asks;	/* ops.space() or ops.fetch() is being called */
	bool no_memory; /* an allocation failed since the last call of dec_decoder_done() */
};

/* decoder.c */
void dec_decoder_event(void *context, const struct vptd_event *event);
uint64_t dec_decoder_space(void *context, uint64_t cr3, bool nr, uint64_t vmcs);
/* Return whether memory was lacking since the last call. */
enum vptd_status dec_decoder_done(struct vptd_decoder *d);

/* decoder_atom.c */
void dec_decoder_start_atom(struct vptd_decoder *d, const struct vptd_config *config);

#endif /* VMM_LIBDECODE_DECODER_H */
