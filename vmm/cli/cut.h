/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options --from, --until and --last of the verbs that decode a part of a trace. */
#ifndef VMM_CLI_CUT_H
#define VMM_CLI_CUT_H

#include "cli/decode_side.h"
#include "cli/option.h"
#include "debug/symbol.h"
#include "decode/cut.h"
#include "trace/reader.h"

struct cli_cut {
	const char *from, *until; /* places as given; NULL if absent */
	bool has_last;
	uint64_t last;
};

/* Rows of a verb's table. @letter is 0 if there is none, and the others set the rest of the row. */
#define CLI_OPTION_FROM(letter, ...)                                                             \
	{                                                                                        \
		letter, "from", "=PLACE",                                                        \
			"begin at a place of each vCPU: instruction N, a time since its first "  \
			"known time (10us, 2ms), a mark (mark:TEXT), or the first execution of " \
			"an address (symbol:NAME, symbol:0x...)",                                \
			cli_take_text, __VA_ARGS__                                               \
	}
#define CLI_OPTION_UNTIL(letter, ...)                                                       \
	{                                                                                   \
		letter, "until", "=PLACE", "end before a place", cli_take_text, __VA_ARGS__ \
	}
#define CLI_OPTION_LAST(letter, ...)                                               \
	{                                                                          \
		letter, "last", "=N", "only the last N instructions of each vCPU", \
			cli_take_number, __VA_ARGS__                               \
	}

/* The trace and the selections to which a cut applies. */
struct cli_cut_of {
	const char *verb; /* for messages */
	const char *path;
	struct trace_reader *reader;
	int vcpu;			     /* only this vCPU; negative for all */
	const struct cli_decode_side *side;  /* the spaces in which an address is looked for */
	bool pti;			     /* of --pti */
	const struct debug_symbols *symbols; /* may be NULL if cli_cut_names() is false */
};

static inline bool cli_cut_given(const struct cli_cut *cut)
{
	return cut->from || cut->until || cut->has_last;
}

/* Returns true if a place is a symbol. */
bool cli_cut_names(const struct cli_cut *cut);

/*
 * Find the cut of each vCPU. The array *cuts is by vCPU, or NULL if there is no cut. The caller
 * frees it. Returns an exit status, after one line.
 */
int cli_cut_find(const struct cli_cut *cut, const struct cli_cut_of *of,
		 struct decode_window **cuts);

/* An amount of instructions, or of time. */
struct cli_amount {
	uint64_t n; /* instructions or nanoseconds */
	bool is_time;
};

/* Read a number, or a time in ns, us, ms or s. Returns false if @text is neither. */
bool cli_amount_read(const char *text, struct cli_amount *amount);
/* Convert a time to TSC ticks. */
uint64_t cli_amount_ticks(const struct cli_amount *amount, uint64_t tsc_hz);

#endif /* VMM_CLI_CUT_H */
