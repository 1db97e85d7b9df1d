/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flow of Intel PT and of RTIT by libvptdecode, for its own files.
 *
 * The flow has two positions. The decoder gets a few bytes of the stream at a time, and queues the
 * runs and events that it reports. The flow returns items from that queue, one by one. So the
 * decoder is ahead. The state of a position (the address space, the session, the current code)
 * exists for both.
 */
#ifndef VMM_DECODE_PT_FLOW_H
#define VMM_DECODE_PT_FLOW_H

#include "decode/code.h"
#include "decode/flow_ops.h"
#include "decode/item.h"
#include "decode/pt_clock.h"
#include "libdecode/edges.h"
#include "libdecode/pt.h"
#include "libdecode/pt_time.h"
#include "libdecode/runs.h"
#include "libdecode/atom.h"
#include "decode/segment.h"
#include "decode/spaces.h"
#include "decode/cfe.h"
#include "trace/pairs.h"

enum decode_told_kind {
	DECODE_TOLD_RUN,   /* `count` instructions of `block`, from number `first` on */
	DECODE_TOLD_EVENT, /* an `event` */
	DECODE_TOLD_SPACE, /* `cr3` and `space` apply from here on */
	DECODE_TOLD_PARTS, /* `count` merged parts, from number `first` on */
};

struct decode_told {
	uint8_t kind;
	uint8_t class; /* RUN: the class of its last instruction */
	uint8_t mode;
	bool has_tsc;
	bool has_to;  /* RUN: `to` is known */
	uint8_t left; /* see decode_item */
	bool all_read;
	uint32_t session;
	uint32_t first, count;
	const struct dec_block *block;
	uint64_t ip;	 /* RUN: the IP of its first instruction */
	uint64_t code;	 /* the position of the code before the entry, see decode/code.h */
	uint64_t offset; /* the stream offset after the last packet that was read */
	uint64_t to;	 /* RUN: the next IP after the run */
	uint64_t tsc;	 /* EVENT */
	uint64_t cr3;	 /* SPACE */
	const struct trace_space *space;
	struct vptd_event event;
};

/* The decoder and its position. */
struct decode_pt_ahead {
	const struct decode_ahead_system *system;
	struct decode_code_store *store;
	struct dec_code *code;
	struct dec_flow flow;
	const uint64_t *offset; /* the stream offset after the read packets, of `pt` or `atom` */
	struct dec_pt pt;
	struct dec_atom atom;
	struct dec_timing timing;
	struct dec_pt_ops ops;
	const struct decode_segment *segment; /* NULL between two segments */
	uint64_t at;			      /* the stream offset of the next bytes */
	uint64_t code_at; /* the position up to which code has changed, if positions are offsets */
	uint64_t failed;  /* the offset of an error from which code_at can move; UINT64_MAX: none */
	bool refined;	  /* an error does not move code_at */
	uint64_t piece;	  /* the number of bytes to decode at once */
	size_t session;
	size_t next_cr3;
	size_t next_switch;
	size_t next_resumed; /* the CR3 block at which the search for the next overflow begins */
	uint64_t cr3;	     /* a space of decode_code_space() */
	const struct trace_space *space;
	bool pip;      /* PIPs report the address space */
	bool all_read; /* no packet is pending, because a session ends */
	bool no_memory;
};

/* Runs that are only counted, in any order (pt_counts.c). */
struct decode_pt_counts {
	bool wanted;
	uint64_t items_from; /* runs are items from this stream offset on */
	struct dec_tracelets *tracelets;
	struct dec_flow_ops ops;
	bool open;	      /* a block has begun and has not ended */
	uint64_t until;	      /* valid if the instruction counter still has this value */
	struct dec_runs runs; /* counts of whole blocks outside of tracelets */
	struct decode_tally parts;
	uint64_t blocks; /* the number of blocks outside of tracelets */
	/* Only used if branches are counted (pt_branches.c). */
	bool branches;
	struct dec_runs walked;	  /* counts of blocks in tracelets */
	struct dec_edges edges;	  /* the targets of RETs, indirect branches and far transfers */
	struct trace_pairs modes; /* (address of a part, 0) to its mode */
};

/* An array of parts. The last part may be open, so that the next block can continue it. */
struct decode_pt_parts {
	struct decode_part *at;
	size_t n, room;
	uint64_t function; /* the function of the first block of the last part */
	bool open;
};

/* The state of decode_flow_merge(). */
struct decode_pt_merge {
	decode_flow_function *function; /* NULL if blocks are not merged */
	void *context;
	struct dec_flow_ops ops;
	struct {
		uint64_t *at;
		size_t room;
	} functions;		      /* the functions of blocks, by id */
	struct decode_pt_parts parts; /* the parts since the last push */
	size_t told;		      /* the number of these parts that are queued */
	struct dec_tracelets *tracelets;
	struct decode_pt_parts walks; /* the parts of walks, by their marks */
	uint16_t filling;	      /* the generation of @walks, from 1 */
	/* Only used in a flow with times: the time and the offset of the last run. */
	struct dec_point time;
	uint64_t offset;
};

/* The takers to which runs are offered, see decode_flow_runs(). */
struct decode_pt_offer {
	const struct decode_flow_takers *takers; /* NULL if there are none */
	void *context;
	struct dec_flow_ops ops;
	struct dec_tracelets *tracelets; /* NULL until created */
};

/* A stream that grows (pt_live.c). All zero if it does not. */
struct decode_pt_live {
	bool on;
	uint64_t limit;	  /* the stream offset up to which may be decoded now */
	uint64_t scanned; /* no PSB begins in the next segment before this offset */
	bool asked_cr3;	  /* the CR3 blocks up to the counter `cr3_at` were used */
	uint64_t cr3_at;
	bool looped;	      /* code without an end was found, which a change of code would end */
	bool has_begun_block; /* `begun_block` waits for its end */
	struct decode_item begun_block;
};

struct decode_pt_flow {
	struct decode_flow base;
	struct trace_reader *reader;
	unsigned int vcpu;
	bool blocks; /* the caller wants BLOCKs, else INSNs */
	const struct vpt_caps *caps;
	const struct trace_period *periods;
	size_t nperiods;
	const struct trace_cr3_switch *cr3s;
	size_t ncr3s;
	const struct trace_switch *switches;
	size_t nswitches;
	struct decode_spaces *spaces;
	const uint8_t *stream;
	size_t len;
	struct decode_segment *segments;
	size_t nsegments, next;
	const uint8_t *bytes; /* the bytes of the segment */
	uint8_t *own_bytes;   /* a copy with the host's TSCs, or NULL if the segment needs none */

	struct decode_pt_ahead ahead;
	struct {
		struct decode_told *at;
		size_t n, room;
	} told;
	/* The times of the entries of `told`. Only used if `base.timed` is set. */
	struct {
		struct dec_point *at;
		size_t n, room;
	} points;
	size_t head; /* the next entry of `told` to process */

	struct decode_pt_counts counts;
	struct decode_pt_merge merge;
	struct decode_pt_offer offer;

	/* The state at the returned items. */
	struct decode_code_store
		*store; /* the code at this position; the decoder's store if code does not change */
	uint64_t change;  /* the position of the next code change */
	uint64_t changed; /* that of the last one, if positions are offsets */
	uint64_t cr3;
	const struct trace_space *space;
	uint64_t page_at;	   /* the address of the page of the last instruction */
	const uint8_t *page;	   /* the bytes of that page */
	struct decode_told *run;   /* the run with remaining instructions, or NULL */
	uint64_t read;		   /* the number of bytes of the segment that were read */
	struct decode_item behind; /* the item after a returned block, if has_behind */
	bool has_behind;
	struct decode_cfe cfe;	 /* EVDs that wait for their CFE */
	struct decode_cfe given; /* the last returned CFE or block */
	struct {
		struct decode_block_item *at;
		size_t n, room;
	} cfe_items;	  /* the items of a block */
	bool items_given; /* these items were returned, and the next one is of another block */
	bool told_bare;

	struct decode_pt_clock clock;
	/*
	 * Items have the decoder's time alone, and the bytes that were read in place of `cycles`.
	 */
	bool time_by_reads;

	/* The end of the shard that the flow decodes (pt_shard.h). */
	struct {
		size_t segment; /* SIZE_MAX: the flow decodes the whole stream */
		bool begins;	/* the flow stops before the segment, otherwise at `at` in it */
		uint64_t at;
	} stop;
	/* The part of the stream that is readable, if the flow reads it in windows itself. */
	struct {
		bool on, held; /* held: by trace_reader_window_begin() */
		uint64_t loaded;
	} window;
	bool quiet; /* do not report the progress */
	/* Follow the items of the PSB+ at the begin of a shard, which are not returned. Or NULL. */
	struct decode_shares *dropped;
	struct decode_pt_live live;
};

/* The operations of a trace system. */
struct decode_ahead_system {
	const struct dec_flow_ops *flow;
	decode_psb_test *is_psb;
	size_t (*find_psb)(const uint8_t *bytes, size_t len);
	void (*begin)(struct decode_pt_flow *f, const struct decode_segment *segment);
	/* Decode a piece of the segment. Returns 1, 0 at its end, or -ENOMEM. */
	int (*push)(struct decode_pt_flow *f);
};

/*
 * pt_window.c: read the stream in windows. All return 0 or -errno.
 *
 * The function ..._open() begins windows, before the stream is used, and ..._whole() ends them. The
 * function ..._segment() reads all that a segment without windows needs. The function ..._read()
 * reads from the place of the decoder to @to. The last function finds the number of bytes of a
 * segment before its first PSB.
 */
int decode_pt_window_open(struct decode_pt_flow *f);
void decode_pt_window_close(struct decode_pt_flow *f);
int decode_pt_window_whole(struct decode_pt_flow *f);
int decode_pt_window_segment(struct decode_pt_flow *f);
int decode_pt_window_read(struct decode_pt_flow *f, uint64_t to);
int decode_pt_window_psb(struct decode_pt_flow *f, const struct decode_segment *s, uint64_t *psb);

/* pt_ahead.c and atom_ahead.c: the decoders. */
extern const struct decode_ahead_system decode_ahead_pt, decode_ahead_atom;

/* Open the decoder. Returns 0 or -errno. */
int decode_pt_ahead_open(struct decode_pt_flow *f, const struct decode_ahead_system *system);
void decode_pt_ahead_close(struct decode_pt_flow *f);
/* Forget all code that was fetched, before a shard of BLOCKS starts. Returns 0 or -ENOMEM. */
int decode_pt_renew_code(struct decode_pt_flow *f);
static inline bool decode_pt_is_atom(const struct decode_pt_flow *f)
{
	return f->ahead.system == &decode_ahead_atom;
}

/* pt_ahead.c: begin to decode a segment of Intel PT at a PSB in it, in session @session. */
void decode_pt_ahead_begin_at(struct decode_pt_flow *f, const struct decode_segment *segment,
			      uint64_t at, size_t session);

/* Returns true if the decoder is in the segment in which the shard ends. */
static inline bool decode_pt_stops_inside(const struct decode_pt_flow *f)
{
	return f->ahead.segment && !f->stop.begins && f->next == f->stop.segment + 1;
}
/* Returns true if the decoder has reached the end of the shard. */
static inline bool decode_pt_at_stop(const struct decode_pt_flow *f)
{
	if (f->ahead.segment)
		return decode_pt_stops_inside(f) && f->ahead.at == f->stop.at;
	return f->stop.begins && f->next == f->stop.segment;
}
/* pt_live.c: see decode_flow_grow() and decode_flow_more(). */
int decode_pt_grow(struct decode_flow *flow);
int decode_pt_more(struct decode_flow *flow, bool whole);
/* Note that the flow uses the CR3 blocks up to the decoder's instruction counter. */
void decode_pt_live_asks(struct decode_pt_flow *f);
/* Returns true if the decoder must wait for more of the stream. */
bool decode_pt_live_waits(struct decode_pt_flow *f);

/*
 * pt_flow.c: compute times like decode_flow_keep_time(), but for those between packets
 * (shards_clock.c).
 */
void decode_pt_time_by_reads(struct decode_pt_flow *f);

/* pt_flow.c: the functions of flow.h for a flow of this kind. */
void decode_pt_flow_close(struct decode_flow *flow);
int decode_pt_flow_counts(struct decode_flow *flow, struct decode_tally *tally,
			  struct decode_flow_sum *sum);
int decode_pt_flow_next(struct decode_flow *flow, struct decode_item *item);
int decode_pt_flow_runs(struct decode_flow *flow, const struct decode_flow_takers *takers,
			void *context);
const struct decode_segment *decode_pt_flow_segment(const struct decode_flow *flow);
/* pt_flow.c: process and drop the queue. `dropped` follows it. Returns 0 or -ENOMEM. */
int decode_pt_drop_told(struct decode_pt_flow *f);
/*
 * pt_flow.c: set f->bytes to the packets of a segment, from @from on, where a PSB is unless the
 * segment begins there. Returns 0 or -ENOMEM.
 */
int decode_pt_start_bytes(struct decode_pt_flow *f, const struct decode_segment *s, uint64_t from);

/* The number of stream bytes to decode before their items are returned, counted or merged. */
#define DECODE_AHEAD_PIECE   256u
#define DECODE_AHEAD_COUNTED 16384u
#define DECODE_AHEAD_MERGED  1024u
/* The same if runs are offered. Runs after an event are queued up to the end of the piece. */
#define DECODE_AHEAD_OFFERED 32u

/*
 * The size in bytes of each of the three arrays of tracelets in libvptdecode. With four times as
 * much a boot of Linux that was repeated 20 times needed 260 MB more with two threads, and was not
 * faster.
 */
#define DECODE_PT_CACHE ((size_t)32 << 20)

/* pt_told.c: the queue. Functions return NULL if there is no memory. */

/* Append an entry with the decoder's position and instruction counter. */
struct decode_told *decode_pt_queue(struct decode_pt_flow *f, enum decode_told_kind kind);
/* Append a run that has just ended. */
struct decode_told *decode_pt_queue_run(struct decode_pt_flow *f, const struct dec_block *block,
					unsigned int first, unsigned int count);
enum decode_insn_class decode_pt_class(const struct dec_block *block);

/* pt_report.c: callbacks of the decoder of Intel PT, and functions of both decoders. */
extern const struct dec_flow_ops decode_pt_flow_reports;
extern const struct dec_pt_ops decode_pt_reports;

/* See dec_code_on_miss(). */
bool decode_pt_fetch(void *context, uint64_t space, uint64_t vaddr);
/* Append an event. Returns NULL if there is no memory. */
struct decode_told *decode_pt_queue_event(struct decode_pt_flow *f, const struct vptd_event *event);
/* Give the decoder the code for its instruction counter. */
void decode_pt_follow_code(struct decode_pt_flow *f);
/* Return the position of the code: of the next instruction, or of the bytes. */
static inline uint64_t decode_pt_code_position(const struct decode_pt_ahead *a)
{
	return decode_code_by_offset(a->store) ? a->code_at : a->flow.insns;
}
/* Returns the argument of dec_code_select() for a space of decode_code_space(). */
uint64_t decode_pt_space_key(uint64_t cr3);
/*
 * Use the code of this space of decode_code_space(). decode_pt_use_space() also queues the change.
 */
void decode_pt_select_space(struct decode_pt_flow *f, uint64_t cr3);
void decode_pt_use_space(struct decode_pt_flow *f, uint64_t cr3);
/*
 * Handle a concealed VM entry or exit, which sends no PIP. If the selected space has no code at @ip
 * and only one other space has, use that space. Returns false if the space is not known.
 */
bool decode_pt_find_concealed(struct decode_pt_flow *f, uint64_t ip);
/*
 * Resume after an overflow. Take the counter from the CR3 block with a mark for the overflow, and
 * set *at to the index of that block. Returns false if the file has no such block.
 */
bool decode_pt_find_resumed(struct decode_pt_flow *f, size_t *at);

/* atom_report.c: callbacks of the decoder of RTIT. */
extern const struct dec_flow_ops decode_atom_flow_reports;
extern const struct dec_atom_ops decode_atom_reports;

/*
 * Set the next IP of the last run in the queue. Far transfers are excluded, because their TIP
 * follows.
 */
void decode_atom_end_run(struct decode_pt_flow *f);
/*
 * Use the address space and the code size that the file has for the counter. If packets were lost,
 * the counter lags. A PIP then overrides the file unless @always is set.
 */
void decode_atom_follow_space(struct decode_pt_flow *f, bool always);

/* Returns true if an instruction of this class ends a BLOCK. */
static inline bool decode_pt_ends_block(unsigned int class)
{
	return class != DECODE_INSN_OTHER && class != DECODE_INSN_PTWRITE;
}

/* pt_counts.c: runs that are counted instead of reported. */

/* Make the initialised flow of the decoder count. Returns 0 or -ENOMEM. */
int decode_pt_counts_open(struct decode_pt_flow *f);
void decode_pt_counts_close(struct decode_pt_flow *f);
bool decode_pt_items_from(struct decode_flow *flow, uint64_t at);
/*
 * Let runs be items if they are from the decoder's place on. Returns the stream offset before @end
 * up to which they are counted or reported alike.
 */
uint64_t decode_pt_counts_until(struct decode_pt_flow *f, uint64_t end);
/* Returns true if a block has begun and can go on. */
bool decode_pt_counts_is_open(const struct decode_pt_flow *f);
/* End the open block, because another item follows. */
void decode_pt_counts_break(struct decode_pt_flow *f);
int decode_pt_counts_sum(struct decode_pt_flow *f, struct decode_tally *tally,
			 struct decode_flow_sum *sum);

/* pt_branches.c: the outcomes and targets of branches, too. See flow.h. */
bool decode_pt_count_branches(struct decode_flow *flow);
int decode_pt_visit_counts(struct decode_flow *flow, const struct decode_flow_visitor *visitor);

/* pt_merge.c: blocks that are reported together. */
int decode_pt_merge(struct decode_flow *flow, decode_flow_function *function, void *context);
/* Close the open part and queue the parts, before another entry is queued. */
void decode_pt_merge_flush(struct decode_pt_flow *f);
/* Queue the parts, except for an open one. */
void decode_pt_merge_queue(struct decode_pt_flow *f);
/* Drop the parts that were queued, before a push. */
void decode_pt_merge_next(struct decode_pt_flow *f);
void decode_pt_merge_close(struct decode_pt_flow *f);

/* pt_runs.c: runs that are offered. */

/* Offer a run that has just ended. Returns the number of accepted instructions. */
uint32_t decode_pt_offer(struct decode_pt_flow *f, const struct dec_block *block,
			 unsigned int first, unsigned int count);
/* Create the tracelets that @takers needs. Returns 0 or -ENOMEM. */
int decode_pt_offer_open(struct decode_pt_flow *f, const struct decode_flow_takers *takers);
/* Offer the queued runs. Returns false if a part of the queue is left. */
bool decode_pt_offer_queued(struct decode_pt_flow *f);
void decode_pt_runs_close(struct decode_pt_flow *f);

/* pt_item.c: conversion of the decoder's events to items. */

/* Returns true if an event of this kind is an item of its own. */
bool decode_pt_is_item(enum vptd_event_kind kind);

/* Make an item of an event. Returns 1, 0 if there is no item, or -ENOMEM. */
int decode_pt_item(struct decode_pt_flow *f, const struct decode_told *told,
		   struct decode_item *item);

#endif /* VMM_DECODE_PT_FLOW_H */
