/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a flow, for its own files. */
#ifndef VMM_JUDGE_IPT_FLOW_H
#define VMM_JUDGE_IPT_FLOW_H

#include "judge/bare.h"
#include "decode/code.h"
#include "decode/disasm.h"
#include "judge/ipt.h"
#include "judge/filter.h"
#include "decode/flow_ops.h"
#include "decode/spaces.h"
#include "judge/units.h"

struct judge_ipt_flow {
	struct decode_flow base;
	struct trace_reader *reader;
	unsigned int vcpu;
	const struct vpt_caps *caps;
	const struct trace_period *periods;
	size_t nperiods;
	const struct trace_cr3_switch *cr3s;
	size_t ncr3s, next_cr3;
	struct decode_code_store *code;
	const uint8_t *stream;
	size_t len;

	struct decode_segment *segments;
	size_t nsegments;
	size_t next; /* segment */

	struct judge_decoder *decoder; /* NULL between segments */
	struct judge_bare bare;	       /* of a segment without TNT, in its place */
	bool is_bare, told_bare;
	bool rewrite_all; /* there are packets that libipt cannot read */
	struct judge_filtered filtered;
	struct judge_filter_known known; /* what has been learned, see filter.h */
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
	uint64_t cr3;	/* an address space of decode_code_space() */
	struct decode_spaces *spaces;
	const struct trace_vmcs *vmcs;
	size_t nvmcs;
	const struct trace_space *space; /* the one that runs, NULL: nothing is known */
	bool counted;			 /* the last event hid an instruction, and it counts */
	size_t next_cfe;
	uint64_t read;		   /* by libipt, of what it was given, */
	uint64_t read_before;	   /* and when the item before came */
	struct decode_cfe cfe;	   /* the one that was told last */
	struct decode_item behind; /* that comes after it */
	bool has_behind;
	struct decode_item ahead; /* read behind a block, see walks_out() */
	bool has_ahead;
	/* Two timelines: each requires ascending offsets, and withheld packets come at other times. */
	struct decode_timeline *line, *own_line;
	struct decode_timeline_session *line_sessions;
	size_t session; /* that the decoder is in */
	bool pip;	/* PIPs tell the address space */
	char text[160];

	struct judge_units units;
	struct decode_disasm *disasm;
};

/* flow_space.c: the address space that runs, and the session. */

/* Code is that of this space from now on. */
void judge_flow_use_space(struct judge_ipt_flow *f, uint64_t cr3);

/* Let an event have its effect on all of that. */
void judge_flow_note_event(struct judge_ipt_flow *f, struct decode_item *item);

/* There was no code. Is there some in a space that it can be? Then the decoder goes on. */
bool judge_flow_elsewhere(struct judge_ipt_flow *f, const struct decode_item *error);

/* flow_cfe.c: CFEs and packet blocks, which are told beside what a decoder makes. */

/* Is the next one to be told before what was decoded? */
bool judge_flow_cfe_first(const struct judge_ipt_flow *f, const struct decode_item *item);
void judge_flow_report_cfe(struct judge_ipt_flow *f, struct decode_item *item);

int judge_ipt_flow_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
			struct decode_flow **flow);

#endif /* VMM_JUDGE_IPT_FLOW_H */
