/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal to the verb decode: shared by decode*.c only. */
#ifndef VMM_CLI_DECODE_INSIDE_H
#define VMM_CLI_DECODE_INSIDE_H

#include "cli/cpu.h"
#include "cli/cut.h"
#include "cli/decode_calls.h"
#include "cli/decode_side.h"
#include "cli/decode_stop.h"
#include "cli/memory.h"
#include "cli/symbols.h"
#include "decode/by_cr3.h"
#include "decode/flow.h"
#include "decode/listing.h"
#include "decode/pace.h"
#include "decode/share.h"
#include "decode/summary.h"
#include "decode/tally.h"

enum cli_decode_mode {
	CLI_DECODE_SUMMARY,
	CLI_DECODE_INSN,
	CLI_DECODE_BLOCKS,
	CLI_DECODE_CALLS,
	CLI_DECODE_COVERAGE,
};

struct cli_decode_options {
	const char *path;
	enum cli_decode_mode mode;
	uint64_t modes; /* bits of the requested modes */
	bool lines, time, json, quiet;
	bool spaces, pti, follow;
	uint32_t signature; /* value of --cpu; 0 if absent */
	bool one_vcpu;
	uint64_t vcpu;
	uint64_t limit;
	uint64_t jobs;
	const char *function;
	struct cli_cut cut;
	const char *min_duration;
	struct cli_amount min; /* the value of --min-duration; 0 if absent */
	struct cli_decode_side side;
	struct cli_symbols symbols;
	struct cli_memory memory;
};

struct cli_decode {
	struct cli_decode_options *o;
	struct trace_reader *reader;
	struct debug_symbols *symbols;
	struct decode_disasm *disasm;
	struct decode_listing listing;
	struct decode_tally tally;
	struct cli_decode_calls calls;
	struct decode_summary sum;
	struct decode_pace pace;
	bool has_spaces; /* items have an address space */
	struct decode_by_cr3 *by_cr3;
	struct decode_shares shares;
	uint64_t left;		    /* lines */
	struct decode_window *cuts; /* by vCPU; NULL without a cut */
	struct decode_cutter cutter;
	unsigned int vcpu; /* the current vCPU */
	uint64_t clock;	   /* of the current vCPU (cut.h) */
	bool outside;	   /* the clock is not in the cut */
	bool went_on;	   /* an item with instructions came after the cut */
	bool begins;	   /* the next line of a listing is the first of the cut */
	struct cli_decode_stop stop;
	struct cli_names names; /* borrowed from the two members above */
	bool no_lines;		/* there was nothing to compute coverage of */
	bool no_calls;		/* the function of --function was not called */
	bool followed;		/* the items were taken while the file grew */
};

static inline bool cli_decode_wants_vcpu(const struct cli_decode_options *o, unsigned int vcpu)
{
	return !o->one_vcpu || o->vcpu == vcpu;
}

/*
 * decode.c: open everything that decoding d->reader needs, and release it. Returns an exit status,
 * after one line.
 */
int cli_decode_prepare(struct cli_decode *d);
void cli_decode_end(struct cli_decode *d);
/* Set up the outputs before the first item. Returns 0 or -ENOMEM. */
int cli_decode_begin(struct cli_decode *d);
/* Take how the guest stopped from the reader. Returns 0 or -ENOMEM. */
int cli_decode_take_stop(struct cli_decode *d);

/* decode_items.c: all functions return 0 or -errno. */

/* Returns true if further vCPUs can add to the output. */
bool cli_decode_wants_more(const struct cli_decode *d);
/* Start a vCPU. @grows: its flow follows a file that grows, or -ENOTSUP. */
int cli_decode_open_vcpu(struct cli_decode *d, unsigned int vcpu, bool grows,
			 struct decode_flow **flow);
/*
 * Take the items of a flow. Sets *done if no further item can add to the output. *item is the last
 * one. -EAGAIN: see decode_flow_grow().
 */
int cli_decode_items(struct cli_decode *d, struct decode_flow *flow, struct decode_item *item,
		     bool *done);
/* End a vCPU after its last item, and close the flow. @err is the error so far, which is returned. */
int cli_decode_close_vcpu(struct cli_decode *d, struct decode_flow *flow,
			  const struct decode_item *item, int err);
int cli_decode_vcpu(struct cli_decode *d, unsigned int vcpu);

/* decode_print.c: print the results of all items. Returns 0 or -ENOMEM. */
int cli_decode_print(struct cli_decode *d);

#endif /* VMM_CLI_DECODE_INSIDE_H */
