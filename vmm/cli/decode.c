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
#include "cli/decode_follow.h"
#include "cli/decode_inside.h"
#include "cli/jobs.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/progress.h"

static int take_side(const struct cli_given *g)
{
	struct cli_decode_options *o = g->options;

	return cli_decode_side_take(&o->side, g->value) ? CLI_EXIT_OK
							: cli_option_no_word(g, g->value);
}

#define AT(member)    .field = offsetof(struct cli_decode_options, member)
#define GIVEN(member) .given = offsetof(struct cli_decode_options, member)

static const char *const sides[] = {"host", "guest", "all", NULL};

static const struct cli_option rows[] = {
	{'i', "insn", NULL, "every instruction, disassembled, and every event", cli_take_bits,
	 AT(modes), .bits = 1 << CLI_DECODE_INSN},
	{'b', "blocks", NULL, "consecutive instructions as one line: first, last, number",
	 cli_take_bits, AT(modes), .bits = 1 << CLI_DECODE_BLOCKS},
	{'t', "calls", NULL,
	 "a tree of calls: their number, and their instructions including callees", cli_take_bits,
	 AT(modes), .bits = 1 << CLI_DECODE_CALLS},
	{'f', "function", "=NAME", "with --calls: only calls of this function, and their callees",
	 cli_take_text, AT(function)},
	{'g', "coverage", NULL, "executed lines and functions, as an lcov tracefile", cli_take_bits,
	 AT(modes), .bits = 1 << CLI_DECODE_COVERAGE},
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
	{'J', "jobs", "=N",
	 "decode on N threads, 0: one for each core (default: " CLI_JOBS_DEFAULT ")",
	 cli_take_number, AT(jobs), .most = CLI_JOBS_MAX},
	{'F', "follow", NULL,
	 "decode FILE while it is written, until its END block: a .vpt file that grows, a named "
	 "pipe, or - for standard input",
	 cli_take_flag, AT(follow)},
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

/* Our engines count retired instructions as core clocks (adr/0010). */
static bool has_virtual_time(const struct trace_file_info *info)
{
	return !strncmp(info->engine, "soft", sizeof(info->engine)) ||
	       !strncmp(info->engine, "kvm", sizeof(info->engine)) ||
	       !strncmp(info->engine, "kvm,soft", sizeof(info->engine));
}

/* A listing on the same terminal, or in a pager there, already shows its progress. */
static bool shows_progress(const struct cli_decode_options *o)
{
	struct stat st;

	if (o->quiet || o->json)
		return false;
	if (o->mode != CLI_DECODE_INSN && o->mode != CLI_DECODE_BLOCKS)
		return true;
	return !fstat(STDOUT_FILENO, &st) && S_ISREG(st.st_mode);
}

int cli_decode_take_stop(struct cli_decode *d)
{
	if (!d->o->quiet)
		d->stop.pm = trace_reader_stop(d->reader);
	return cli_decode_stop_names(&d->stop, d->o->json) && debug_symbols_read_lines(d->symbols)
		       ? -ENOMEM
		       : 0;
}

int cli_decode_begin(struct cli_decode *d)
{
	d->disasm = decode_disasm_new(d->symbols);
	if (!d->disasm || cli_decode_take_stop(d))
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
	return 0;
}

static int decode_vcpus(struct cli_decode *d)
{
	struct cli_progress progress = {0};
	unsigned int vcpus = trace_reader_info(d->reader)->vcpus, i;
	int err = cli_decode_begin(d);

	if (err)
		return err;
	cli_progress_begin(&progress, d->reader, d->o->one_vcpu ? (int)d->o->vcpu : -1,
			   shows_progress(d->o));
	for (i = 0; i < vcpus && !err && cli_decode_wants_more(d); i++) {
		if (cli_decode_wants_vcpu(d->o, i))
			err = cli_decode_vcpu(d, i);
	}
	cli_progress_end(&progress);
	return err;
}

static int decode_all(struct cli_decode *d)
{
	const int err = d->followed ? 0 : decode_vcpus(d);

	return err || d->o->quiet ? err : cli_decode_print(d);
}

/* Check that the file has the data that the options need. Returns an exit status. */
static int check_options(const struct cli_decode_options *o, const struct trace_reader *reader,
			 size_t spaces)
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

static int decode(struct cli_decode *d)
{
	const struct cli_decode_options *o = d->o;
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

static int find_cut(struct cli_decode *d)
{
	const struct cli_decode_options *o = d->o;
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

int cli_decode_prepare(struct cli_decode *d)
{
	struct cli_decode_options *o = d->o;
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

void cli_decode_end(struct cli_decode *d)
{
	decode_listing_fini(&d->listing);
	decode_tally_free(&d->tally);
	decode_shares_free(&d->shares);
	cli_decode_calls_free(&d->calls);
	decode_disasm_free(d->disasm);
	decode_by_cr3_free(d->by_cr3);
	free(d->cuts);
	debug_symbols_close(d->symbols);
	trace_reader_close(d->reader);
	cli_memory_close(&d->o->memory);
}

static int run(struct cli_decode_options *o)
{
	struct cli_decode d = {.o = o};
	int status = cli_open("decode", o->path,
			      TRACE_READER_NO_ORACLE | TRACE_READER_CODE_IN_PLACE |
				      cli_open_window(o->path),
			      &d.reader);

	if (status)
		return status;
	status = cli_decode_prepare(&d);
	if (!status)
		status = decode(&d);
	cli_decode_end(&d);
	return status;
}

static int run_follow(struct cli_decode_options *o)
{
	struct cli_decode d = {.o = o};
	struct cli_decode_follow follow;
	int status = cli_decode_follow_open(&follow, o);

	if (!status)
		status = cli_confine_reader("decode");
	if (!status)
		status = cli_decode_follow(&follow, &d);
	if (!status)
		status = decode(&d);
	cli_decode_follow_close(&follow);
	cli_decode_end(&d);
	return status;
}

static int parse(struct cli_decode_options *o, int argc, char **argv)
{
	int status = cli_options_parse(&cli_verb_decode, argc, argv, o);

	if (status)
		return status;
	if (o->modes & (o->modes - 1))
		return cli_fail(CLI_EXIT_USAGE,
				"decode: --insn, --blocks, --calls, --coverage: only one of them");
	o->mode = o->modes ? (enum cli_decode_mode)__builtin_ctzll(o->modes) : CLI_DECODE_SUMMARY;
	if (o->mode == CLI_DECODE_COVERAGE && o->json)
		return cli_fail(CLI_EXIT_USAGE,
				"decode: --coverage: the format is lcov's, not JSON");
	if (o->mode == CLI_DECODE_COVERAGE && o->spaces)
		return cli_fail(
			CLI_EXIT_USAGE,
			"decode: --coverage: counts all address spaces, or one with --space");
	if (o->function && o->mode != CLI_DECODE_CALLS)
		return cli_fail(CLI_EXIT_USAGE, "decode: --function: requires --calls");
	if (o->min_duration && o->mode != CLI_DECODE_CALLS)
		return cli_fail(CLI_EXIT_USAGE, "decode: --min-duration: requires --calls");
	if (o->min_duration && (!cli_amount_read(o->min_duration, &o->min) || !o->min.n))
		return cli_fail(CLI_EXIT_USAGE,
				"decode: --min-duration=%s: give a number of instructions, or a "
				"time such as 10us",
				o->min_duration);
	o->time |= o->min.is_time;
	if (o->pti && !o->spaces && !o->side.space)
		return cli_fail(CLI_EXIT_USAGE, "decode: --pti: requires --spaces or --space");
	o->symbols.lines = o->lines || o->mode == CLI_DECODE_COVERAGE;
	return CLI_EXIT_OK;
}

int cli_cmd_decode(int argc, char **argv)
{
	struct cli_decode_options o = {.limit = UINT64_MAX, .jobs = CLI_JOBS_BY_TRACE};
	int status = parse(&o, argc, argv);

	if (status)
		return status;
	if (o.follow)
		return run_follow(&o);
	status = cli_confine_reader("decode");
	return status ? status : run(&o);
}
