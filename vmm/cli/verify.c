// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt verify: compares a trace with the oracle's log of execution. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/cpu.h"
#include "cli/jobs.h"
#include "cli/memory.h"
#include "cli/open.h"
#include "cli/option.h"
#include "cli/progress.h"
#include "cli/symbols.h"
#include "cli/verify.h"
#include "cli/verify_perf.h"
#include "oracle/compare_all.h"
#include "oracle/report.h"
#include "oracle/targets.h"

struct options {
	const char *path;
	bool allow_empty, json, quiet;
	uint64_t jobs;
	uint32_t signature; /* value of --cpu; 0 if absent */
	const char *with;   /* text of the option */
	enum judge_flow_by by;
	bool perf;
	struct cli_perf_judge *judge; /* valid only if `perf` */
	struct cli_symbols symbols;
	struct cli_memory memory;
};

static int take_decoder(const struct cli_given *g)
{
	struct options *o = g->options;
	int status = cli_take_name(g);

	o->perf = !strcmp(g->value, "perf");
	o->by = strcmp(g->value, "libipt") ? DECODE_FLOW_BY_LIBVPTDECODE : DECODE_FLOW_BY_LIBIPT;
	if (!status && o->by == DECODE_FLOW_BY_LIBIPT && !judge_has_libipt())
		return cli_option_wrong(g, "this vpt was built without libipt (make LIBIPT=no)");
	return status;
}

#define AT(member) .field = offsetof(struct options, member)

static const char *const decoders[] = {"libvptdecode", "libipt", "perf", NULL};

static const struct cli_option rows[] = {
	{'e', "allow-empty", NULL, "accept a trace that should contain nothing", cli_take_flag,
	 AT(allow_empty)},
	{'j', "json", NULL, "one JSON object", cli_take_flag, AT(json)},
	{'q', "quiet", NULL, "print only the last line, without differences and progress",
	 cli_take_flag, AT(quiet)},
	{'w', "with", "=DECODER",
	 "the decoder of Intel PT: libvptdecode (default), libipt, or perf, which decodes a "
	 "temporary export",
	 take_decoder, AT(with), .words = decoders},
	{'S', "symbols", "=FILE[@BIAS]", "symbols of code, as for vpt decode", cli_symbols_take,
	 AT(symbols)},
	{'J', "jobs", "=N",
	 "use N threads, at most two for each vCPU, 0: one for each core "
	 "(default: " CLI_JOBS_DEFAULT ")",
	 cli_take_number, AT(jobs), .most = CLI_JOBS_MAX},
	CLI_OPTION_MEMORY(AT(memory)),
	CLI_OPTION_CPU(AT(signature)),
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_verify = {
	.name = "verify",
	.run = cli_cmd_verify,
	.summary = "compare a trace with the instructions that ran",
	.usage = "[OPTION]... FILE",
	.about =
		"Decodes a .vpt trace, and compares each instruction and event with the engine's "
		"log of the run (vpt run --oracle). A separate model derives the expected contents "
		"of the trace from the log and the PT registers. FILE - is standard input.",
	.notes = "The last line is\n\n"
		 "  verify: N retired, M decoded, K mismatches\n\n"
		 "N is the number of instructions that should be in the trace. If the output ended "
		 "the trace (ToPA STOP, an error), only the beginning of the run is compared, and "
		 "lines before the last report how much. The same is true for a file that ends "
		 "early, for example after kill -9. K counts at most the first mismatch of each "
		 "session.\n\n"
		 "Without TNT packets (DisTNT), a trace does not contain the outcomes of "
		 "conditional branches, and cannot be verified. Its other contents are searched "
		 "for in the log, and the last line is\n\n"
		 "  verify: DisTNT: N retired, T targets, E events, K mismatches\n\n"
		 "No packet reports the iterations of a loop of direct branches, such as a jmp to "
		 "itself. If a trace stays in such a loop, a line reports this, and the iterations "
		 "are not compared.\n\n"
		 "The exit status is 0 if K is 0, and 1 if K is not 0 or if the trace should "
		 "contain nothing. It is 2 for a wrong command line. It is 3 if FILE cannot be "
		 "read, has no oracle, or is damaged, regardless of K. It is 4 if this machine "
		 "lacks a requirement. It is 5 if K is 0 and DisTNT was set, and 6 if K is 0 and "
		 "the trace stays in a loop of direct branches.\n\n"
		 "  vpt run --oracle -o t.vpt demo.elf && vpt verify t.vpt",
	.options = rows,
	.column = 22,
	.operands = {{"FILE", AT(path)}},
};

static int can_verify(const struct options *o, const struct trace_reader *reader)
{
	unsigned int v;
	size_t switches;

	if (!trace_reader_info(reader)->oracle)
		return cli_fail(CLI_EXIT_INPUT,
				"verify: %s: it has no oracle: record with --oracle", o->path);
	for (v = 0; o->by == DECODE_FLOW_BY_LIBIPT && v < trace_reader_info(reader)->vcpus; v++) {
		trace_reader_switches(reader, v, &switches);
		if (switches)
			return cli_fail(CLI_EXIT_USAGE,
					"verify: %s: spaces change without packets, which libipt "
					"cannot follow: without --with=libipt",
					o->path);
	}
	return CLI_EXIT_OK;
}

int cli_verify_show_places(FILE *out, const struct trace_reader *reader,
			   struct debug_symbols **symbols, const struct oracle_comparison *c)
{
	int err = *symbols ? 0 : debug_symbols_open(reader, symbols);
	struct decode_listing l = {.out = out, .symbols = *symbols};

	if (err)
		return err;

	l.disasm = decode_disasm_new(l.symbols);
	if (!l.disasm)
		err = -ENOMEM;
	if (!err && c->mismatches)
		oracle_report_diff(&l, &c->diff);
	if (!err)
		oracle_report_loops(&l, c);
	decode_listing_fini(&l);
	decode_disasm_free(l.disasm);
	return err;
}

/* Reading names takes as long as decoding a small trace, and names are seldom needed. */
static int show(const struct options *o, const struct trace_reader *reader,
		struct debug_symbols **symbols, const struct oracle_comparison *c)
{
	if (o->json) {
		oracle_report_json(stdout, c);
		return 0;
	}
	if ((c->mismatches || c->loops) && !o->quiet) {
		int err = cli_verify_show_places(stdout, reader, symbols, c);

		if (err)
			return err;
	}
	if (!o->quiet)
		oracle_report_shortfalls(stdout, c);
	if (c->untold && !o->quiet)
		printf("%" PRIu64 " instructions look as if they had run: INT n that raised an "
		       "exception, or that left by a VM exit\n",
		       c->untold);
	if (!c->retired)
		puts("no instruction that ran should be in the trace");
	printf("verify: %" PRIu64 " retired, %" PRIu64 " decoded, %" PRIu64 " mismatches\n",
	       c->retired, c->decoded, c->mismatches);
	return 0;
}

static int compare_all(const struct options *o, struct trace_reader *reader,
		       struct oracle_comparison *c)
{
	struct cli_progress progress = {.mismatches = &c->mismatches};
	int err;

	cli_progress_begin(&progress, reader, -1, !o->quiet && !o->json);
	err = oracle_compare_all(reader, cli_jobs(o->jobs, reader), c);
	cli_progress_end(&progress);
	return err;
}

static void show_targets(const struct options *o, const struct oracle_targets *t)
{
	if (o->json) {
		printf("{\"dis_tnt\":true,\"retired\":%" PRIu64 ",\"targets\":%" PRIu64
		       ",\"events\":%" PRIu64 ",\"overflow\":%s,\"mismatches\":%" PRIu64 "}\n",
		       t->retired, t->targets, t->events, t->overflow ? "true" : "false",
		       t->mismatches);
		return;
	}
	if (!o->quiet && t->mismatches)
		puts(t->first);
	if (!o->quiet && t->overflow)
		puts("looked at up to an overflow");
	printf("verify: DisTNT: %" PRIu64 " retired, %" PRIu64 " targets, %" PRIu64
	       " events, %" PRIu64 " mismatches\n",
	       t->retired, t->targets, t->events, t->mismatches);
}

/* With DisTNT the trace has no directions of conditional branches (33.3.9). */
static int verify_targets(const struct options *o, struct trace_reader *reader)
{
	unsigned int vcpus = trace_reader_info(reader)->vcpus, v;
	struct oracle_targets t = {0};
	struct cli_progress progress = {.mismatches = &t.mismatches};
	int err = 0, status;

	cli_progress_begin(&progress, reader, -1, !o->quiet && !o->json);
	for (v = 0; v < vcpus && !err; v++)
		err = oracle_targets(reader, v, &t);
	cli_progress_end(&progress);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "verify: %s: %s", o->path, cli_reason(-err));
	show_targets(o, &t);
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "verify: cannot write: %s", cli_reason(errno));
	status = cli_whole("verify", o->path, reader);
	if (status)
		return status;
	return t.mismatches || (!t.retired && !o->allow_empty) ? CLI_EXIT_FAIL : CLI_EXIT_PARTIAL;
}

static int verify(const struct options *o, struct trace_reader *reader,
		  struct debug_symbols **symbols, struct oracle_comparison *c)
{
	int status, err = compare_all(o, reader, c);

	if (!err)
		err = show(o, reader, symbols, c);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "verify: %s: %s", o->path, cli_reason(-err));
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "verify: cannot write: %s", cli_reason(errno));
	status = cli_whole("verify", o->path, reader);
	if (status)
		return status;
	if (c->mismatches || (!c->retired && !o->allow_empty))
		return CLI_EXIT_FAIL;
	return c->loops ? CLI_EXIT_FORMAT : CLI_EXIT_OK;
}

static void show_perf(const struct options *o, const struct oracle_by_perf *sum)
{
	if (o->json) {
		printf("{\"with\":\"perf\",\"retired\":%" PRIu64 ",\"decoded\":%" PRIu64
		       ",\"mismatches\":%" PRIu64 "}\n",
		       sum->retired, sum->found, sum->mismatches);
		return;
	}
	if (!o->quiet && sum->mismatches)
		printf("%s\n", sum->first);
	if (!o->quiet && sum->list == ORACLE_PERF_PIECES)
		printf("packets were lost: perf has %" PRIu64 " pieces of what ran\n", sum->pieces);
	if (!o->quiet && sum->list == ORACLE_PERF_DECODER)
		puts("the output was full: perf has what libvptdecode has, which agrees with what "
		     "ran");
	printf("verify: %" PRIu64 " retired, %" PRIu64 " decoded, %" PRIu64 " mismatches\n",
	       sum->retired, sum->found, sum->mismatches);
}

static int verify_perf(const struct options *o, struct trace_reader *reader)
{
	unsigned int vcpus = trace_reader_info(reader)->vcpus, v;
	struct oracle_by_perf sum = {0}, of;
	int status = CLI_EXIT_OK;

	for (v = 0; v < vcpus && !status; v++) {
		status = cli_perf_judge_vcpu(o->judge, reader, v, &of);
		if (status)
			return status;
		of.retired += sum.retired;
		of.found += sum.found;
		of.pieces += sum.pieces;
		of.mismatches += sum.mismatches;
		if (of.list < sum.list)
			of.list = sum.list;
		if (sum.mismatches)
			memcpy(of.first, sum.first, sizeof(of.first));
		sum = of;
	}
	show_perf(o, &sum);
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "verify: cannot write: %s", cli_reason(errno));
	status = cli_whole("verify", o->path, reader);
	if (status)
		return status;
	return sum.mismatches || (!sum.retired && !o->allow_empty) ? CLI_EXIT_FAIL : CLI_EXIT_OK;
}

static int run(struct options *o)
{
	struct oracle_comparison c = {.by = o->by};
	struct debug_symbols *symbols = NULL;
	struct trace_reader *reader;
	int status = cli_open("verify", o->path, TRACE_READER_PREFIX | TRACE_READER_CODE_IN_PLACE,
			      &reader);

	if (status)
		return status;
	cli_cpu_use(reader, o->signature);
	status = can_verify(o, reader);
	if (!status)
		status = cli_memory_open(&o->memory, "verify", reader);
	/* Report errors in these files before the long decode. */
	if (!status && o->symbols.n)
		status = cli_symbols_open(&o->symbols, "verify", reader, &symbols);
	if (!status && o->perf)
		status = verify_perf(o, reader);
	else if (!status)
		status = oracle_targets_needed(reader) ? verify_targets(o, reader)
						       : verify(o, reader, &symbols, &c);
	if (!status)
		status = cli_memory_whole(&o->memory, "verify", o->path);
	debug_symbols_close(symbols);
	oracle_comparison_free(&c);
	trace_reader_close(reader);
	cli_memory_close(&o->memory);
	return status;
}

static int parse(struct options *o, int argc, char **argv)
{
	int status = cli_options_parse(&cli_verb_verify, argc, argv, o);

	if (status)
		return status;
	/* libipt's input comes only from the file. */
	if (o->memory.n && (o->by == DECODE_FLOW_BY_LIBIPT || o->perf))
		return cli_fail(CLI_EXIT_USAGE,
				"verify: --memory excludes --with=libipt and --with=perf");
	if (o->perf && !strcmp(o->path, "-"))
		return cli_fail(CLI_EXIT_USAGE, "verify: --with=perf: FILE must have a name");
	return CLI_EXIT_OK;
}

int cli_cmd_verify(int argc, char **argv)
{
	struct options o = {.jobs = CLI_JOBS_BY_TRACE};
	int status = parse(&o, argc, argv);

	if (status)
		return status;
	if (o.perf)
		o.judge = cli_perf_judge_start(o.path, &status);
	if (!status)
		status = cli_confine_reader("verify");
	if (!status)
		status = run(&o);
	cli_perf_judge_end(o.judge);
	return status;
}
