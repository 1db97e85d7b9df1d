/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a flow, shared by the files of the flow. */
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
	size_t next; /* the index of the next segment */

	struct judge_decoder *decoder; /* NULL between segments */
	struct judge_bare bare; /* the reader of a segment without TNT, in place of the decoder */
	bool is_bare, told_bare;
	bool rewrite_all; /* the stream has packets that libipt cannot read */
	struct judge_filtered filtered;
	struct judge_filter_known known; /* the decisions learned so far, see filter.h */
	struct {
		uint64_t given; /* items returned so far */
		uint64_t again; /* items that must not be returned again after a restart */
	} items, cfe_items; /* decoded items; CFEs and packet blocks, which may move among them */
	bool blocks;	    /* the caller wants BLOCKs, else INSNs */
	bool changes;	    /* a page has more than one version */
	uint64_t change;    /* the instruction counter of the next change */
	bool by_blocks;	    /* libipt's block decoder is in use */
	bool give_up;	    /* skip the rest of this segment */

	uint64_t insns; /* the instruction counter of format.h */
	uint64_t cr3;	/* an address space of decode_code_space() */
	struct decode_spaces *spaces;
	const struct trace_vmcs *vmcs;
	size_t nvmcs;
	const struct trace_space *space; /* the current space, or NULL if unknown */
	bool counted; /* the last event hid an instruction, which `insns` includes */
	size_t next_cfe;
	uint64_t read;		   /* the offset that libipt has read in its input */
	uint64_t at;		   /* the offset of the last item in the stream */
	uint64_t read_before;	   /* the value of `read` at the previous item */
	struct decode_cfe cfe;	   /* the last reported CFE */
	struct decode_item behind; /* the item after that CFE */
	bool has_behind;
	struct decode_item ahead; /* an item read ahead behind a block, see walks_out() */
	bool has_ahead;
	/*
	 * Two timelines, because each requires ascending offsets and packets withheld from libipt
	 * are reported at other times.
	 */
	struct decode_timeline *line, *own_line;
	struct decode_timeline_session *line_sessions;
	size_t session; /* the session of the decoder */
	bool pip;	/* PIPs report the address space */
	char text[160];

	struct judge_units units;
	struct decode_disasm *disasm;
};

/* flow_space.c: the current address space and session. */

/* Use the code of this space from now on. */
void judge_flow_use_space(struct judge_ipt_flow *f, uint64_t cr3);

/* Update the space and the session for an event. */
void judge_flow_note_event(struct judge_ipt_flow *f, struct decode_item *item);

/*
 * Handle missing code. If another possible space has code there, resume the decoder in that space
 * and return true.
 */
bool judge_flow_elsewhere(struct judge_ipt_flow *f, const struct decode_item *error);

/* flow_cfe.c: CFEs and packet blocks, which are reported beside the decoder's items. */

/* Returns true if the next CFE must be reported before the decoded item. */
bool judge_flow_cfe_first(const struct judge_ipt_flow *f, const struct decode_item *item);
void judge_flow_report_cfe(struct judge_ipt_flow *f, struct decode_item *item);

int judge_ipt_flow_open(struct trace_reader *reader, unsigned int vcpu, enum decode_flow_unit unit,
			struct decode_flow **flow);

#endif /* VMM_JUDGE_IPT_FLOW_H */
