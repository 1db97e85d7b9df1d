/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow of Intel PT and of RTIT by libvptdecode, for its own files.
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
#include "libdecode/rtit.h"
#include "segment.h"
#include "spaces.h"
#include "cfe.h"

enum vpt_told_kind {
	VPT_TOLD_RUN,	/* `block` from `first` on, `count` instructions */
	VPT_TOLD_EVENT, /* `event` */
	VPT_TOLD_SPACE, /* `cr3` and `space` run from here on */
	VPT_TOLD_PARTS, /* `count` merged parts, from number `first` on */
};

struct vpt_told {
	uint8_t kind;
	uint8_t class; /* RUN: of its last instruction */
	uint8_t mode;
	bool has_tsc;
	bool has_to;  /* RUN: `to` is known */
	uint8_t left; /* see vpt_item */
	bool all_read;
	uint32_t session;
	uint32_t first, count;
	const struct dec_block *block;
	uint64_t ip;	 /* RUN: of its first instruction */
	uint64_t insns;	 /* the counter of format.h, before it */
	uint64_t offset; /* in the stream, behind the last packet that was read */
	uint64_t to;	 /* RUN: where execution went from there */
	uint64_t tsc;	 /* EVENT */
	uint64_t cr3;	 /* SPACE */
	const struct vpt_space *space;
	struct vptd_event event;
};

/* The decoder, and where it is. */
struct vpt_pt_ahead {
	const struct vpt_ahead_system *system;
	struct vpt_code_store *store;
	struct dec_code *code;
	struct dec_flow flow;
	const uint64_t *offset; /* in the stream, behind what was read: pt's or rtit's */
	struct dec_pt pt;
	struct dec_rtit rtit;
	struct dec_timing timing;
	struct dec_pt_ops ops;
	const struct vpt_segment *segment; /* NULL: between two */
	uint64_t at;			   /* in the stream */
	uint64_t piece;			   /* bytes that are decoded at once */
	size_t session;
	size_t next_cr3;
	size_t next_switch;
	size_t next_resumed; /* of the CR3 blocks, where the next overflow is looked for */
	uint64_t cr3;	     /* of vpt_code_space() */
	const struct vpt_space *space;
	bool pip;      /* PIPs tell the address space */
	bool all_read; /* no packet is at hand: a session ends */
	bool no_memory;
};

/* What ran, where nobody asks for it in order (pt_counts.c). */
struct vpt_pt_counts {
	bool wanted;
	struct dec_flow_ops ops;
	bool open;	/* a block has begun and is not over, */
	uint64_t until; /* if the counter of instructions is still this */
	struct {
		uint64_t *at;
		size_t n, room;
	} runs; /* of whole blocks outside of tracelets, by id */
	struct vpt_tally parts;
	uint64_t blocks; /* outside of tracelets */
};

/* An array of parts, of which the last one may be open: the next block may continue it. */
struct vpt_pt_parts {
	struct vpt_part *at;
	size_t n, room;
	uint64_t function; /* of the first block of the last part */
	bool open;
};

/* See vpt_flow_merge(). */
struct vpt_pt_merge {
	vpt_flow_function *function; /* NULL: nothing is merged */
	void *context;
	struct dec_flow_ops ops;
	struct {
		uint64_t *at;
		size_t room;
	} functions;		   /* of blocks, by id */
	struct vpt_pt_parts parts; /* since the last push, */
	size_t told;		   /* and how many of these are queued */
	struct dec_tracelets *tracelets;
	struct vpt_pt_parts walks; /* parts of walks, by their marks */
	uint16_t filling;	   /* of @walks, from 1 */
};

/* Who is offered runs; see vpt_flow_runs(). */
struct vpt_pt_offer {
	const struct vpt_flow_takers *takers; /* NULL: nobody */
	void *context;
	struct dec_flow_ops ops;
	struct dec_tracelets *tracelets; /* NULL: not made yet */
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
	/* The time of each; only if `timed`. */
	struct {
		struct dec_point *at;
		size_t n, room;
	} points;
	size_t head; /* of these, the next to be given out */

	struct vpt_pt_counts counts;
	struct vpt_pt_merge merge;
	struct vpt_pt_offer offer;

	/* What is given out. */
	struct vpt_code_store *store; /* the code as it is there; the decoder's if none changes */
	uint64_t change;	      /* the counter at which code next does */
	uint64_t cr3;
	const struct vpt_space *space;
	uint64_t page_at;	/* the page of the last instruction, */
	const uint8_t *page;	/* and its bytes */
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

/* A trace system. */
struct vpt_ahead_system {
	const struct dec_flow_ops *flow;
	vpt_psb_test *is_psb;
	size_t (*find_psb)(const uint8_t *bytes, size_t len);
	void (*begin)(struct vpt_pt_flow *f, const struct vpt_segment *segment);
	/* Decode some of the segment. Returns 1, 0 if there is no more of it, or -ENOMEM. */
	int (*push)(struct vpt_pt_flow *f);
};

/* pt_ahead.c and rtit_ahead.c: the decoders. */
extern const struct vpt_ahead_system vpt_ahead_pt, vpt_ahead_rtit;

/* Returns 0 or -errno. */
int vpt_pt_ahead_open(struct vpt_pt_flow *f, const struct vpt_ahead_system *system);
void vpt_pt_ahead_close(struct vpt_pt_flow *f);
static inline bool vpt_pt_is_rtit(const struct vpt_pt_flow *f)
{
	return f->ahead.system == &vpt_ahead_rtit;
}

/* pt_ahead.c, for both. */

/* Bytes of the stream that are decoded at once: before what they led to is given out, or counted. */
#define VPT_AHEAD_PIECE	  256u
#define VPT_AHEAD_COUNTED 16384u
#define VPT_AHEAD_MERGED  1024u
/* The same where runs are offered: those behind an event are queued up to the end of the piece. */
#define VPT_AHEAD_OFFERED 32u

/* Bytes of each of the three arrays of tracelets, as libvptdecode has it. */
#define VPT_PT_CACHE ((size_t)128 << 20)

/* Queue a run that has just ended, or an event. NULL: memory. */
/* Room for one more, with what all have. NULL: memory. */
struct vpt_told *vpt_pt_tell(struct vpt_pt_flow *f, enum vpt_told_kind kind);
struct vpt_told *vpt_pt_tell_run(struct vpt_pt_flow *f, const struct dec_block *block,
				 unsigned int first, unsigned int count);
struct vpt_told *vpt_pt_tell_event(struct vpt_pt_flow *f, const struct vptd_event *event);
/* Give the decoder code as it is at the counter. */
void vpt_pt_follow_code(struct vpt_pt_flow *f);
/* What dec_code_select() is to be given for a space of vpt_code_space(). */
uint64_t vpt_pt_space_key(uint64_t cr3);
/* Code is of this space of vpt_code_space() from here on; the second one queues that. */
void vpt_pt_select_space(struct vpt_pt_flow *f, uint64_t cr3);
void vpt_pt_use_space(struct vpt_pt_flow *f, uint64_t cr3);
/*
 * A VM entry or exit that is concealed sends no PIP, and execution is in a space where
 * the one before has no code: it can only be the one that has. False: it is not known.
 */
bool vpt_pt_find_concealed(struct vpt_pt_flow *f, uint64_t ip);

/*
 * An overflow is over. Takes the counter from the CR3 block that has a mark for it, which is
 * number *at. False: the file has none.
 */
bool vpt_pt_find_resumed(struct vpt_pt_flow *f, size_t *at);

enum vpt_insn_class vpt_pt_class(const struct dec_block *block);
/* Does an instruction of this class end a BLOCK? */
static inline bool vpt_pt_ends_block(unsigned int class)
{
	return class != VPT_INSN_OTHER && class != VPT_INSN_PTWRITE;
}

/* pt_counts.c: runs that are counted instead of told. */

/* Have the flow of the decoder, which is set up, count. Returns 0 or -ENOMEM. */
int vpt_pt_counts_open(struct vpt_pt_flow *f);
void vpt_pt_counts_close(struct vpt_pt_flow *f);
/* An item comes next, which a block does not go on behind. */
void vpt_pt_counts_break(struct vpt_pt_flow *f);
int vpt_pt_counts_sum(struct vpt_pt_flow *f, struct vpt_tally *tally, struct vpt_flow_sum *sum);

/* pt_merge.c: blocks that are told together. */
int vpt_pt_merge(struct vpt_flow *flow, vpt_flow_function *function, void *context);
/* Close the open part and queue the parts: something else is queued next. */
void vpt_pt_merge_flush(struct vpt_pt_flow *f);
/* Queue the parts, except for an open one. */
void vpt_pt_merge_tell(struct vpt_pt_flow *f);
/* Drop the parts that were queued, before a push. */
void vpt_pt_merge_next(struct vpt_pt_flow *f);
void vpt_pt_merge_close(struct vpt_pt_flow *f);

/* pt_runs.c: runs that are offered. */

/* Returns how many instructions were taken of a run that has just ended. */
uint32_t vpt_pt_offer(struct vpt_pt_flow *f, const struct dec_block *block, unsigned int first,
		      unsigned int count);
int vpt_pt_runs(struct vpt_flow *flow, const struct vpt_flow_takers *takers, void *context);
void vpt_pt_runs_close(struct vpt_pt_flow *f);

/* pt_flow.c: decode some more, when nothing is queued. Returns 1, 0: the segment is over, or -errno. */
int vpt_pt_push(struct vpt_pt_flow *f);

/* pt_item.c: what the decoder told, as items. */

/* Is an event of this kind an item of its own? */
bool vpt_pt_is_item(enum vptd_event_kind kind);

/* Make an item of an event. Returns 1, 0 if there is nothing to be given out, or -ENOMEM. */
int vpt_pt_item(struct vpt_pt_flow *f, const struct vpt_told *told, struct vpt_item *item);

#endif /* VMM_DECODE_PT_FLOW_H */
