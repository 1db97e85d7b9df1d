/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a flow, for its own files. */
#ifndef VMM_JUDGE_IPT_FLOW_H
#define VMM_JUDGE_IPT_FLOW_H

#include "bare.h"
#include "decode/code.h"
#include "decode/disasm.h"
#include "ipt.h"
#include "filter.h"
#include "decode/flow_ops.h"
#include "decode/spaces.h"
#include "units.h"

struct vpt_ipt_flow {
	struct vpt_flow base;
	struct vpt_reader *reader;
	unsigned int vcpu;
	const struct vpt_caps *caps;
	const struct vpt_period *periods;
	size_t nperiods;
	const struct vpt_cr3_switch *cr3s;
	size_t ncr3s, next_cr3;
	struct vpt_code_store *code;
	const uint8_t *stream;
	size_t len;

	struct vpt_segment *segments;
	size_t nsegments;
	size_t next; /* segment */

	struct vpt_decoder *decoder; /* NULL between segments */
	struct vpt_bare bare;	     /* of a segment without TNT, in its place */
	bool is_bare, told_bare;
	bool rewrite_all; /* there are packets that libipt cannot read */
	struct vpt_filtered filtered;
	struct vpt_filter_known known; /* what has been learned, see filter.h */
	struct {
		uint64_t given; /* so far, */
		uint64_t again; /* of which so many are not to be given again */
	} items, cfe_items; /* what is decoded; CFEs and blocks, whose place among it may move */
	bool blocks;	    /* BLOCKs are wanted, else INSNs */
	bool changes;	    /* some page has more than one version */
	uint64_t change;    /* the counter at which one next does */
	bool by_blocks;	    /* libipt's block decoder is in use */
	bool give_up;	    /* on the rest of this segment */

	uint64_t insns; /* the counter of format.h */
	uint64_t cr3;	/* an address space of vpt_code_space() */
	struct vpt_spaces *spaces;
	const struct vpt_vmcs *vmcs;
	size_t nvmcs;
	const struct vpt_space *space; /* the one that runs, NULL: nothing is known */
	bool counted;		       /* the last event hid an instruction, and it counts */
	size_t next_cfe;
	uint64_t read;		/* by libipt, of what it was given, */
	uint64_t read_before;	/* and when the item before came */
	struct vpt_cfe cfe;	/* the one that was told last */
	struct vpt_item behind; /* that comes after it */
	bool has_behind;
	struct vpt_item ahead; /* read behind a block, see walks_out() */
	bool has_ahead;
	/* Two, for offsets must not fall and what libipt is not given comes when it comes. */
	struct vpt_timeline *line, *own_line;
	struct vpt_timeline_session *line_sessions;
	struct vpt_timeline_sum sum;
	bool timed;
	size_t session; /* that the decoder is in */
	bool pip;	/* PIPs tell the address space */
	char text[160];

	struct vpt_units units;
	struct vpt_disasm *disasm;
};

/* flow_space.c: the address space that runs, and the session. */

/* Code is that of this space from now on. */
void vpt_flow_use_space(struct vpt_ipt_flow *f, uint64_t cr3);

/* Let an event have its effect on all of that. */
void vpt_flow_note_event(struct vpt_ipt_flow *f, struct vpt_item *item);

/* There was no code. Is there some in a space that it can be? Then the decoder goes on. */
bool vpt_flow_elsewhere(struct vpt_ipt_flow *f, const struct vpt_item *error);

/* flow_cfe.c: CFEs and packet blocks, which are told beside what a decoder makes. */

/* Is the next one to be told before what was decoded? */
bool vpt_flow_cfe_first(const struct vpt_ipt_flow *f, const struct vpt_item *item);
void vpt_flow_tell_cfe(struct vpt_ipt_flow *f, struct vpt_item *item);

int vpt_ipt_flow_open(struct vpt_reader *reader, unsigned int vcpu, enum vpt_flow_unit unit,
		      struct vpt_flow **flow);

#endif /* VMM_JUDGE_IPT_FLOW_H */
