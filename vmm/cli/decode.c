// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt decode: prints the executed instructions, calls or coverage of a trace. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/cpu.h"
#include "cli/cut.h"
#include "cli/decode_calls.h"
#include "cli/decode_show.h"
#include "cli/decode_side.h"
#include "cli/decode_stop.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/symbols.h"
#include "decode/by_cr3.h"
#include "decode/flow.h"
#include "decode/listing.h"
#include "decode/pace.h"
#include "decode/shards.h"
#include "decode/summary.h"
#include "decode/tally.h"
#include "text/text.h"

enum mode { SUMMARY, INSN, BLOCKS, CALLS, COVERAGE };

struct options {
	const char *path;
	enum mode mode;
	uint64_t modes; /* bits of the requested modes */
	bool lines, time, json, quiet;
	bool spaces, pti;
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

static int take_side(const struct cli_given *g)
{
	struct options *o = g->options;

	return cli_decode_side_take(&o->side, g->value) ? CLI_EXIT_OK
							: cli_option_no_word(g, g->value);
}

#define AT(member)    .field = offsetof(struct options, member)
#define GIVEN(member) .given = offsetof(struct options, member)

static const char *const sides[] = {"host", "guest", "all", NULL};

static const struct cli_option rows[] = {
	{'i', "insn", NULL, "every instruction, disassembled, and every event", cli_take_bits,
	 AT(modes), .bits = 1 << INSN},
	{'b', "blocks", NULL, "consecutive instructions as one line: first, last, number",
	 cli_take_bits, AT(modes), .bits = 1 << BLOCKS},
	{'t', "calls", NULL,
	 "a tree of calls: their number, and their instructions including callees", cli_take_bits,
	 AT(modes), .bits = 1 << CALLS},
	{'f', "function", "=NAME", "with --calls: only calls of this function, and their callees",
	 cli_take_text, AT(function)},
	{'g', "coverage", NULL, "executed lines and functions, as an lcov tracefile", cli_take_bits,
	 AT(modes), .bits = 1 << COVERAGE},
	{'T', "time", NULL,
	 "times: the estimated TSC, and the time since the first known TSC; with --calls "
	 "durations; in the summary instructions per clock",
	 cli_take_flag, AT(time)},
	{'l', "lines", NULL, "with --insn and --blocks: source lines", cli_take_flag, AT(lines)},
	{'n', "limit", "=N", "stop after N lines", cli_take_number, AT(limit)},
	{'c', "vcpu", "=N", "only vCPU N (default: all, one after the other)", cli_take_number,
	 AT(vcpu), GIVEN(one_vcpu)},
	CLI_OPTION_FROM(0, AT(cut.from)),
	CLI_OPTION_UNTIL('u', AT(cut.until)),
	CLI_OPTION_LAST(0, AT(cut.last), GIVEN(cut.has_last)),
	{0, "min-duration", "=N|TIME",
	 "with --calls: only calls of at least N instructions, or of a time such as 10us, "
	 "including "
	 "callees",
	 cli_take_text, AT(min_duration)},
	{'s', "side", "=SIDE", "only code of the host or of guests, or all", .take = take_side,
	 .words = sides},
	{'m', "vm", "=N", "only code of VM N", cli_take_number, AT(side.vm), GIVEN(side.one_vm)},
	{'p', "space", "=NAME[,NAME...]",
	 "only these processes or other address spaces, by name, number or CR3 (0x...)",
	 cli_take_text, AT(side.space)},
	{0, "process", "=NAME[,NAME...]", "the same as --space", cli_take_text, AT(side.space)},
	{'a', "spaces", NULL,
	 "address spaces: a table in the summary, or with --calls a tree for each", cli_take_flag,
	 AT(spaces)},
	{0, "pti", NULL, "treat two CR3s that differ only in bit 12 as one space, for Linux' PTI",
	 cli_take_flag, AT(pti)},
	{'S', "symbols", "=FILE[@BIAS]",
	 "also take symbols from an ELF file, System.map or a copy of /proc/kallsyms, and add BIAS "
	 "to their addresses; can be repeated",
	 cli_symbols_take, AT(symbols)},
	CLI_OPTION_MEMORY(AT(memory)),
	CLI_OPTION_CPU(AT(signature)),
	{'J', "jobs", "=N", "decode on N threads (default: 1; 0: one for each core)",
	 cli_take_number, AT(jobs)},
	{'j', "json", NULL, "one JSON object per line", cli_take_flag, AT(json)},
	{'q', "quiet", NULL,
	 "show nothing; the exit status reports whether everything could be decoded", cli_take_flag,
	 AT(quiet)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_decode = {
	.name = "decode",
	.run = cli_cmd_decode,
	.summary = "show the instructions, calls or coverage of a trace",
	.usage = "[OPTION]... FILE",
	.about = "Reconstructs the execution from the packets of a .vpt trace and the code in the "
		 "file. FILE - is standard input. Without an option that selects the output, it "
		 "prints a summary with the functions that executed the most instructions.",
	.notes =
		"A trace of a host and its guests can be split if the file has their address "
		"spaces (see vpt info). The summary then has a table of them. In other files each "
		"CR3 is a space.\n\n"
		"Symbols and lines come from the ELF files that vpt run stores in the file, and "
		"from --symbols.\n\n"
		"The exit status is 1 if part of the trace could not be decoded, and 2 for a wrong "
		"command line. It is 3 if FILE cannot be read, is damaged, or has no debug "
		"information for --coverage. It is 4 if this machine lacks a requirement. A file "
		"that ends early, for example after kill -9, is decoded as far as possible. A line "
		"on standard error then reports this, and the status is 3.\n\n"
		"  vpt decode t.vpt                    how much is in it, and where\n"
		"  vpt decode -i -n 100 t.vpt          the first 100 instructions and events\n"
		"  vpt decode -t --from=symbol:study_formula t.vpt       calls, from a function "
		"on\n"
		"  vpt decode -g t.vpt >t.info         then: genhtml -o html t.info\n"
		"  vpt decode -t -a --pti --symbols=kallsyms boot.vpt    a Linux guest, by process",
	.options = rows,
	.column = 20,
	.operands = {{"FILE", AT(path)}},
};

struct decode {
	struct options *o;
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
};

static bool wanted(const struct options *o, unsigned int vcpu)
{
	return !o->one_vcpu || o->vcpu == vcpu;
}

/* Take an item that is not in the part. */
static int skip_item(struct decode *d, const struct decode_item *item)
{
	/* Without the instructions of an error before the part, its clock is not exact. */
	if (item->kind == DECODE_ITEM_ERROR)
		decode_summary_item(&d->sum, d->vcpu, item);
	if (d->o->quiet)
		return 0;
	if (d->o->mode == CALLS)
		return cli_decode_calls_item(&d->calls, item) ? 0 : -ENOMEM;
	if (d->o->mode == INSN || d->o->mode == BLOCKS)
		decode_listing_skip(&d->listing, item);
	return 0;
}

static int count_block(struct decode *d, const struct decode_item *item)
{
	/* A line of source cannot be divided, and belongs to the part in which its block begins. */
	if (item->kind != DECODE_ITEM_BLOCK || (d->o->mode == COVERAGE && item->rest))
		return 0;
	return decode_tally_add(&d->tally, item->ip, item->last, item->insns) ? 0 : -ENOMEM;
}

static void list_item(struct decode *d, const struct decode_item *item)
{
	if (!d->left || !decode_listing_shows(item))
		return;
	if (d->begins)
		decode_listing_begin(&d->listing, d->clock);
	d->begins = false;
	decode_listing_item(&d->listing, item);
	d->left--;
}

/* Take an item, or a piece of it that is completely in the part or out of it. */
static int take_piece(struct decode *d, const struct decode_item *item)
{
	if (d->has_spaces && !decode_shares_item(&d->shares, item))
		return -ENOMEM;
	if (d->o->time)
		decode_pace_item(&d->pace, item);
	if (!cli_decode_side_wants(&d->o->side, item))
		return 0;
	if (d->outside)
		return skip_item(d, item);
	decode_summary_item(&d->sum, d->vcpu, item);
	if (d->o->quiet)
		return 0;
	switch (d->o->mode) {
	case INSN:
	case BLOCKS:
		list_item(d, item);
		return 0;
	case CALLS:
		return cli_decode_calls_item(&d->calls, item) ? 0 : -ENOMEM;
	default:
		return count_block(d, item);
	}
}

/* The part begins or ends. */
static void cross(struct decode *d, bool outside)
{
	d->outside = outside;
	d->shares.paused = outside;
	d->pace.paused = outside;
	cli_decode_calls_count(&d->calls, outside ? DECODE_CALLS_NO_COUNT : DECODE_CALLS_COUNT);
	d->begins = !outside && d->clock;
}

static int take_cut(void *context, uint64_t clock, struct decode_item *piece)
{
	struct decode *d = context;
	const uint64_t insns = decode_cut_insns(piece);
	int err;

	d->clock = clock;
	if (piece->kind == DECODE_ITEM_END)
		return 0;
	if (d->outside == decode_cutter_has(&d->cutter, clock))
		cross(d, !d->outside);
	err = take_piece(d, piece);
	d->went_on |= insns && clock >= d->cutter.cut.until;
	d->clock += insns;
	return err;
}

/* Take an item of one address space. Returns 0 or -ENOMEM. */
static int take_whole(struct decode *d, struct decode_item *item)
{
	if (!d->cuts)
		return take_piece(d, item);
	/* A line cannot be divided, and belongs to the part in which its block begins. */
	if (d->o->mode == BLOCKS)
		return take_cut(d, d->clock, item);
	return decode_cutter_split(&d->cutter, d->clock, item, take_cut, d);
}

/* Take an item, in pieces if it is of several address spaces. Returns 0 or -ENOMEM. */
static int take_item(struct decode *d, struct decode_item *item)
{
	int err;

	if (d->by_cr3 && !decode_by_cr3_item(d->by_cr3, item))
		return -ENOMEM;
	cli_decode_stop_item(&d->stop, d->vcpu, item);
	if (d->cuts)
		decode_cutter_time(&d->cutter, d->clock, item);
	do
		err = take_whole(d, item);
	while (!err && decode_by_cr3_more(d->by_cr3, item));
	return err;
}

/* Returns true if further vCPUs can add to the output. */
static bool wants_more(const struct decode *d)
{
	return d->left || (d->o->mode != INSN && d->o->mode != BLOCKS);
}

/* Returns true if further items of the current vCPU can add to the output. */
static bool goes_on(const struct decode *d)
{
	/* The next block shows which calls ended with the part. */
	const bool past =
		d->cuts && d->clock >= d->cutter.cut.until && (d->went_on || d->o->mode != CALLS);

	return !past && wants_more(d);
}

/*
 * Counts are by far the fastest unit, but have neither times nor address spaces, and no order that
 * could be cut.
 */
static enum decode_flow_unit unit_of(const struct decode *d, unsigned int vcpu)
{
	if (d->o->quiet)
		return d->cuts ? DECODE_FLOW_BLOCKS : DECODE_FLOW_COUNTS;
	switch (d->o->mode) {
	case INSN:
		return DECODE_FLOW_INSNS;
	case SUMMARY:
	case COVERAGE:
		return d->o->time || d->has_spaces || d->cuts ||
				       cli_decode_side_told(&d->o->side) ||
				       cli_decode_stop_wants(&d->stop, vcpu)
			       ? DECODE_FLOW_BLOCKS
			       : DECODE_FLOW_COUNTS;
	default:
		return DECODE_FLOW_BLOCKS;
	}
}

static int take_counts(struct decode *d, struct decode_flow *flow)
{
	struct decode_flow_sum sum;
	int err = d->o->quiet ? 0 : decode_flow_counts(flow, &d->tally, &sum);

	if (err || d->o->quiet)
		return err;
	d->sum.insns += sum.insns;
	d->sum.blocks += sum.blocks;
	return 0;
}

static uint64_t function_at(void *context, uint64_t ip)
{
	const struct debug_symbol *symbol = debug_symbols_find(context, ip);

	return symbol ? symbol->start : DECODE_NO_FUNCTION;
}

/* Returns true if the flow must compute times. */
static bool is_timed(const struct decode *d)
{
	return d->o->time || (d->cuts && decode_window_is_timed(&d->cutter.cut));
}

/* A flow with times depends on all earlier packets, and has no shards. */
static int open_flow(struct decode *d, unsigned int vcpu, struct decode_flow **flow)
{
	const struct decode_shards_how how = {.jobs = is_timed(d) ? 1 : (unsigned int)d->o->jobs};

	return decode_shards_open(d->reader, vcpu, unit_of(d, vcpu), &how, flow);
}

/* Start a vCPU. */
static int begin_vcpu(struct decode *d, unsigned int vcpu)
{
	d->vcpu = vcpu;
	d->listing.vcpu = vcpu;
	d->clock = 0;
	d->went_on = false;
	decode_cutter_begin(&d->cutter, d->cuts ? &d->cuts[vcpu] : NULL);
	decode_pace_begin(&d->pace);
	decode_shares_begin(&d->shares);
	/* Calls that are active at the end of the trace do not count as divided. */
	if (!cli_decode_calls_forget(&d->calls))
		return -ENOMEM;
	if (d->cuts)
		cross(d, true);
	return 0;
}

/* End a vCPU, after the item @last. */
static void end_vcpu(struct decode *d, const struct decode_flow *flow,
		     const struct decode_item *last)
{
	struct decode_timeline_sum sum;

	if (!d->cuts) {
		decode_flow_time_sum(flow, &sum);
		d->pace.sum.cycles += sum.cycles;
		d->pace.sum.ticks += sum.ticks;
		return;
	}
	/* Keep where the part was. */
	d->cuts[d->vcpu].from = d->cutter.cut.from;
	d->cuts[d->vcpu].until = d->cutter.cut.until < d->clock ? d->cutter.cut.until : d->clock;
	/* The end of the guest is not in the part. */
	if (d->stop.pm && d->vcpu == d->stop.pm->vcpu &&
	    (d->outside || last->kind != DECODE_ITEM_END))
		d->stop.pm = NULL;
}

/* Returns true if only one tree of all calls is wanted, which threads can build in parts. */
static bool is_one_tree(const struct decode *d, unsigned int vcpu)
{
	return d->o->mode == CALLS && !d->o->quiet && !d->o->time && !d->cuts && !d->has_spaces &&
	       !d->calls.min && !cli_decode_side_part(&d->o->side) &&
	       !cli_decode_stop_wants(&d->stop, vcpu);
}

static int take_tree(struct decode *d, struct decode_flow *flow)
{
	struct decode_shard_calls to = {.tree = cli_decode_calls_tree(&d->calls)};
	int err = to.tree ? decode_shards_calls(flow, d->symbols, d->vcpu, &to) : -ENOMEM;

	decode_summary_add(&d->sum, &to.sum);
	return err;
}

static int take_items(struct decode *d, struct decode_flow *flow, struct decode_item *item)
{
	int err = 0;

	while (!err && item->kind != DECODE_ITEM_END && goes_on(d)) {
		err = decode_flow_next(flow, item);
		if (!err)
			err = take_item(d, item);
	}
	return err;
}

static int decode_vcpu(struct decode *d, unsigned int vcpu)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_flow *flow;
	int err = begin_vcpu(d, vcpu);

	if (!err)
		err = open_flow(d, vcpu, &flow);
	if (err)
		return err;
	if (d->by_cr3)
		decode_by_cr3_begin(d->by_cr3, vcpu);
	if (is_timed(d))
		decode_flow_keep_time(flow);
	if (d->o->mode == CALLS)
		err = decode_flow_merge(flow, function_at, d->symbols);
	if (!err)
		err = is_one_tree(d, vcpu) ? take_tree(d, flow) : take_items(d, flow, &item);
	if (!err)
		err = take_counts(d, flow);
	end_vcpu(d, flow, &item);
	decode_flow_close(flow);
	return err;
}

/* Collect what the summary and the coverage show. */
static struct cli_decode_show shown(struct decode *d)
{
	return (struct cli_decode_show){
		.reader = d->reader,
		.symbols = d->symbols,
		.names = &d->names,
		.vcpu = d->o->one_vcpu ? (int)d->o->vcpu : -1,
		.json = d->o->json,
		.limit = d->o->limit,
		.sum = &d->sum,
		.tally = &d->tally,
		.pace = d->o->time ? &d->pace : NULL,
		.shares = d->has_spaces ? &d->shares : NULL,
		.told = !d->by_cr3,
		.cuts = d->cuts,
		.stop = &d->stop,
	};
}

static int show(struct decode *d)
{
	const struct cli_decode_show what = shown(d);

	switch (d->o->mode) {
	case SUMMARY:
		cli_decode_show_summary(&what);
		return 0;
	case CALLS:
		if (!cli_decode_calls_forget(&d->calls))
			return -ENOMEM;
		if (!cli_decode_calls_print(&d->calls, d->o->json, d->o->limit))
			d->no_calls = d->o->function && d->o->limit;
		return 0;
	case COVERAGE:
		return cli_decode_show_coverage(&what, &d->no_lines);
	default:
		if (wants_more(d))
			cli_decode_stop_line(&d->stop, &d->names, d->o->json);
		return 0;
	}
}

/* Our engines count retired instructions as core clocks (adr/0010). */
static bool has_virtual_time(const struct trace_file_info *info)
{
	return !strncmp(info->engine, "soft", sizeof(info->engine)) ||
	       !strncmp(info->engine, "kvm", sizeof(info->engine)) ||
	       !strncmp(info->engine, "kvm,soft", sizeof(info->engine));
}

/* A listing on the same terminal, or in a pager there, already shows its progress. */
static bool shows_progress(const struct options *o)
{
	struct stat st;

	if (o->quiet || o->json)
		return false;
	if (o->mode != INSN && o->mode != BLOCKS)
		return true;
	return !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode);
}

static int decode_all(struct decode *d)
{
	struct cli_progress progress = {0};
	unsigned int vcpus = trace_reader_info(d->reader)->vcpus, i;
	int err = 0;

	d->disasm = decode_disasm_new(d->symbols);
	if (!d->disasm)
		return -ENOMEM;
	if (!d->o->quiet)
		d->stop.pm = trace_reader_stop(d->reader);
	if (cli_decode_stop_names(&d->stop, d->o->json) && debug_symbols_read_lines(d->symbols))
		return -ENOMEM;
	d->names = (struct cli_names){d->symbols, d->disasm};
	d->pace.hz = trace_reader_info(d->reader)->tsc_hz;
	d->calls.symbols = d->symbols;
	d->calls.apart = d->o->spaces;
	if (d->o->function)
		d->calls.only = debug_symbols_shown(d->symbols, d->o->function);
	d->calls.pace = d->o->time ? &d->pace : NULL;
	d->calls.unit = d->o->min.is_time ? DECODE_DURATION_TICKS : DECODE_DURATION_INSNS;
	d->calls.min = d->o->min.is_time ? cli_amount_ticks(&d->o->min, d->pace.hz) : d->o->min.n;
	d->pace.is_virtual = has_virtual_time(trace_reader_info(d->reader));
	d->left = d->o->limit;
	d->listing = (struct decode_listing){
		.out = stdout,
		.json = d->o->json,
		.lines = d->o->lines,
		.pace = d->o->time ? &d->pace : NULL,
		.symbols = d->symbols,
		.disasm = d->disasm,
	};
	cli_progress_begin(&progress, d->reader, d->o->one_vcpu ? (int)d->o->vcpu : -1,
			   shows_progress(d->o));
	for (i = 0; i < vcpus && !err && wants_more(d); i++) {
		if (wanted(d->o, i))
			err = decode_vcpu(d, i);
	}
	cli_progress_end(&progress);
	return err || d->o->quiet ? err : show(d);
}

/* Check that the file has the data that the options need. Returns an exit status. */
static int check_options(const struct options *o, const struct trace_reader *reader, size_t spaces)
{
	unsigned int vcpus = trace_reader_info(reader)->vcpus;

	if (o->one_vcpu && o->vcpu >= vcpus)
		return cli_fail(CLI_EXIT_USAGE, "decode: --vcpu=%" PRIu64 ": %s has vCPUs 0 to %u",
				o->vcpu, o->path, vcpus - 1);
	if (cli_decode_side_lacks(&o->side, reader))
		return cli_fail(CLI_EXIT_USAGE,
				"decode: %s: the file has no address spaces: omit --side and --vm, "
				"and give --space a CR3 (0x...)",
				o->path);
	if (o->min.is_time && !trace_reader_info(reader)->tsc_hz)
		return cli_fail(CLI_EXIT_USAGE,
				"decode: --min-duration=%s: %s has no TSC frequency: give "
				"instructions",
				o->min_duration, o->path);
	if (o->pti && spaces)
		return cli_fail(CLI_EXIT_USAGE,
				"decode: %s: the file has address spaces: omit --pti", o->path);
	return CLI_EXIT_OK;
}

static int decode(struct decode *d)
{
	const struct options *o = d->o;
	int err = decode_all(d);

	if (err)
		return cli_fail(CLI_EXIT_HOST, "decode: %s: %s", o->path, cli_reason(-err));
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "decode: cannot write: %s", cli_reason(errno));
	err = cli_whole("decode", o->path, d->reader);
	if (!err)
		err = cli_memory_whole(&o->memory, "decode", o->path);
	if (err)
		return err;
	if (d->sum.errors)
		return cli_fail(CLI_EXIT_FAIL,
				"decode: %s: places that cannot be decoded: %" PRIu64
				"; the first: %s",
				o->path, d->sum.errors, d->sum.first_error);
	err = d->symbols ? cli_symbols_whole("decode", o->path, d->symbols) : CLI_EXIT_OK;
	if (!err && d->no_lines)
		err = cli_fail(CLI_EXIT_INPUT,
			       "decode: %s: no debug information: build the guest with -g, or give "
			       "--symbols=FILE that has it",
			       o->path);
	if (!err && d->no_calls)
		err = cli_fail(CLI_EXIT_USAGE, "decode: --function=%s: the %s has no call of it",
			       o->function, d->cuts || d->calls.min ? "selected part" : "trace");
	return err;
}

static int find_cut(struct decode *d)
{
	const struct options *o = d->o;
	const struct cli_cut_of of = {
		.verb = "decode",
		.path = o->path,
		.reader = d->reader,
		.vcpu = o->one_vcpu ? (int)o->vcpu : -1,
		.side = &o->side,
		.pti = o->pti,
		.symbols = d->symbols,
	};

	return cli_cut_find(&o->cut, &of, &d->cuts);
}

/* Open everything that decoding needs. Returns CLI_EXIT_OK or another exit status. */
static int prepare(struct decode *d)
{
	struct options *o = d->o;
	size_t spaces;
	int status;

	cli_cpu_use(d->reader, o->signature);
	trace_reader_spaces(d->reader, &spaces);
	status = check_options(o, d->reader, spaces);
	if (status)
		return status;
	status = cli_memory_open(&o->memory, "decode", d->reader);
	if (status)
		return status;
	if (!spaces && (o->spaces || o->side.space)) {
		d->by_cr3 = decode_by_cr3_new(o->pti);
		if (!d->by_cr3 || decode_by_cr3_tasks(d->by_cr3, d->reader))
			return cli_fail(CLI_EXIT_HOST, "decode: %s", strerror(ENOMEM));
	}
	d->has_spaces = spaces || d->by_cr3;
	/* Reading names and lines takes as long as decoding a small trace. */
	if (o->quiet && !o->lines && !o->symbols.n && !cli_cut_names(&o->cut))
		return find_cut(d);
	status = cli_symbols_open(&o->symbols, "decode", d->reader, &d->symbols);
	if (!status && o->lines && debug_symbols_read_lines(d->symbols))
		status = cli_fail(CLI_EXIT_HOST, "decode: %s: %s", o->path, strerror(ENOMEM));
	return status ? status : find_cut(d);
}

static int run(struct options *o)
{
	struct decode d = {.o = o};
	int status = cli_open("decode", o->path,
			      TRACE_READER_NO_ORACLE | TRACE_READER_CODE_IN_PLACE, &d.reader);

	if (status)
		return status;
	status = prepare(&d);
	if (!status)
		status = decode(&d);
	decode_listing_fini(&d.listing);
	decode_tally_free(&d.tally);
	decode_shares_free(&d.shares);
	cli_decode_calls_free(&d.calls);
	decode_disasm_free(d.disasm);
	decode_by_cr3_free(d.by_cr3);
	free(d.cuts);
	debug_symbols_close(d.symbols);
	trace_reader_close(d.reader);
	cli_memory_close(&o->memory);
	return status;
}

static int parse(struct options *o, int argc, char **argv)
{
	int status = cli_options_parse(&cli_verb_decode, argc, argv, o);

	if (status)
		return status;
	if (o->modes & (o->modes - 1))
		return cli_fail(CLI_EXIT_USAGE,
				"decode: --insn, --blocks, --calls, --coverage: only one of them");
	o->mode = o->modes ? (enum mode)__builtin_ctzll(o->modes) : SUMMARY;
	if (o->mode == COVERAGE && o->json)
		return cli_fail(CLI_EXIT_USAGE,
				"decode: --coverage: the format is lcov's, not JSON");
	if (o->mode == COVERAGE && o->spaces)
		return cli_fail(
			CLI_EXIT_USAGE,
			"decode: --coverage: counts all address spaces, or one with --space");
	if (o->function && o->mode != CALLS)
		return cli_fail(CLI_EXIT_USAGE, "decode: --function: requires --calls");
	if (o->min_duration && o->mode != CALLS)
		return cli_fail(CLI_EXIT_USAGE, "decode: --min-duration: requires --calls");
	if (o->min_duration && (!cli_amount_read(o->min_duration, &o->min) || !o->min.n))
		return cli_fail(CLI_EXIT_USAGE,
				"decode: --min-duration=%s: give a number of instructions, or a "
				"time such as 10us",
				o->min_duration);
	o->time |= o->min.is_time;
	if (o->pti && !o->spaces && !o->side.space)
		return cli_fail(CLI_EXIT_USAGE, "decode: --pti: requires --spaces or --space");
	o->symbols.lines = o->lines || o->mode == COVERAGE;
	return cli_jobs("decode", &o->jobs);
}

int cli_cmd_decode(int argc, char **argv)
{
	struct options o = {.limit = UINT64_MAX, .jobs = 1};
	int status = parse(&o, argc, argv);

	if (status)
		return status;
	status = cli_confine_reader("decode");
	return status ? status : run(&o);
}
