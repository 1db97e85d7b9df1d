/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow of Intel PT by libvptdecode, for its own files.
 *
 * Two places count. The decoder is pushed a few bytes of the stream at a time, and reports what
 * ran and what happened into a queue. From there items are given out, one by one. So the decoder
 * is ahead, and what depends on the place (the address space, the session, the code as it is) is
 * kept for both.
 */
#ifndef VMM_DECODE_PT_FLOW_H
#define VMM_DECODE_PT_FLOW_H

#include "code.h"
#include "flow_ops.h"
#include "item.h"
#include "libdecode/pt.h"
#include "libdecode/pt_time.h"
#include "segment.h"
#include "spaces.h"
#include "cfe.h"

enum vpt_told_kind {
	VPT_TOLD_RUN,	/* `block` from `first` on, `count` instructions */
	VPT_TOLD_EVENT, /* `event` */
	VPT_TOLD_SPACE, /* `cr3` and `space` run from here on */
};

struct vpt_told {
	uint8_t kind;
	uint8_t class; /* RUN: of its last instruction */
	uint8_t mode;
	bool has_tsc;
	uint32_t session;
	uint32_t first, count;
	const struct dec_block *block;
	uint64_t ip;	 /* RUN: of its first instruction */
	uint64_t insns;	 /* RUN: the counter of format.h, before it */
	uint64_t offset; /* in the stream, behind the last packet that was read */
	uint64_t tsc;	 /* EVENT */
	uint64_t cr3;	 /* SPACE */
	const struct vpt_space *space;
	struct vptd_event event;
};

/* The decoder, and where it is. */
struct vpt_pt_ahead {
	struct vpt_code_store *store;
	struct dec_code *code;
	struct dec_flow flow;
	struct dec_pt pt;
	struct dec_timing timing;
	struct dec_pt_ops ops;
	const struct vpt_segment *segment; /* NULL: between two */
	uint64_t at;			   /* in the stream */
	size_t session;
	size_t next_cr3;
	size_t next_switch;
	uint64_t cr3; /* of vpt_code_space() */
	const struct vpt_space *space;
	bool pip; /* PIPs tell the address space */
	bool no_memory;
};

struct vpt_pt_flow {
	struct vpt_flow base;
	struct vpt_reader *reader;
	unsigned int vcpu;
	bool blocks; /* BLOCKs are wanted, else INSNs */
	const struct vpt_caps *caps;
	const struct vpt_period *periods;
	size_t nperiods;
	const struct vpt_cr3_switch *cr3s;
	size_t ncr3s;
	const struct vpt_switch *switches;
	size_t nswitches;
	struct vpt_spaces *spaces;
	const uint8_t *stream;
	size_t len;
	struct vpt_segment *segments;
	size_t nsegments, next;
	const uint8_t *bytes; /* of the segment, */
	uint8_t *own_bytes;   /* or with the host's TSCs; NULL: it has no other ones */

	struct vpt_pt_ahead ahead;
	struct {
		struct vpt_told *at;
		size_t n, room;
	} told;
	size_t head; /* of these, the next to be given out */

	/* What is given out. */
	struct vpt_code_store *store; /* the code as it is there; the decoder's if none changes */
	uint64_t change;	      /* the counter at which code next does */
	uint64_t cr3;
	const struct vpt_space *space;
	struct vpt_told *run;	/* of which instructions are left; NULL: none */
	uint64_t read;		/* of the segment */
	struct vpt_item behind; /* a block that was given out, if has_behind */
	bool has_behind;
	struct vpt_cfe cfe;   /* EVDs that wait for their CFE */
	struct vpt_cfe given; /* the CFE or block that was given out last */
	struct {
		struct vpt_block_item *at;
		size_t n, room;
	} cfe_items;	  /* of a block, */
	bool items_given; /* and the next item is of another one */
	bool told_bare;

	struct vpt_timeline *line;
	struct vpt_timeline_session *line_sessions;
	struct vpt_timeline_sum sum;
	bool timed;
};

/* pt_ahead.c: the decoder. */

/* Returns 0 or -errno. */
int vpt_pt_ahead_open(struct vpt_pt_flow *f);
void vpt_pt_ahead_close(struct vpt_pt_flow *f);
void vpt_pt_ahead_begin(struct vpt_pt_flow *f, const struct vpt_segment *segment);
/* Decode some of the segment. Returns 1, 0 if there is no more of it, or -ENOMEM. */
int vpt_pt_ahead_push(struct vpt_pt_flow *f);

/* pt_item.c: what the decoder told, as items. */

/* Make an item of an event. Returns 1, 0 if there is nothing to be given out, or -ENOMEM. */
int vpt_pt_item(struct vpt_pt_flow *f, const struct vpt_told *told, struct vpt_item *item);

#endif /* VMM_DECODE_PT_FLOW_H */
