/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The definition of struct vptd_decoder, for decoder.c and counts.c. */
#ifndef VMM_LIBDECODE_DECODER_H
#define VMM_LIBDECODE_DECODER_H

#include "libdecode/edges.h"
#include "libdecode/pt_time.h"
#include "libdecode/tracelet.h"
#include "libdecode/vptdecode.h"

struct vptd_decoder {
	struct dec_code *code;
	struct dec_flow flow;
	struct dec_pt pt;
	struct dec_timing timing; /* if pt.timing is set */
	struct dec_edges edges;
	struct vptd_ops ops;
	void *context;	   /* of ops */
	uint64_t own_keys; /* number of keys that the library has chosen */
	uint64_t events[VPTD_EVENT_COUNT];
	bool counts_edges;
	bool asks;	/* ops.space() or ops.fetch() is being called */
	bool no_memory; /* an allocation failed since the last call of done() */
};

#endif /* VMM_LIBDECODE_DECODER_H */
