// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt verify: is what the trace says what ran? */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/cpu.h"
#include "cli/memory.h"
#include "cli/open.h"
#include "cli/old_option.h"
#include "cli/progress.h"
#include "cli/symbols.h"
#include "cli/verify_perf.h"
#include "oracle/compare.h"
#include "oracle/report.h"
#include "oracle/targets.h"

static const char help[] =
	"usage: vpt verify [OPTION]... FILE\n"
	"\n"
	"Decodes a .vpt trace and compares it, instruction by instruction and event by event,\n"
	"with what the engine saw run (recorded by vpt run --oracle). What of that should be\n"
	"in the trace is worked out from the PT registers by a model of its own.\n"
	"FILE - is standard input.\n"
	"\n"
	"  -e, --allow-empty  it is all right if nothing should be in the trace\n"
	"  -j, --json         one JSON object\n"
	"  -q, --quiet        no differences, no progress, only the last line\n"
	"  -w, --with=DECODER  which decoder of Intel PT: libvptdecode (default) or libipt; or\n"
	"                     perf, of an export that is made and removed\n"
	"  -S, --symbols=FILE[@BIAS]  names of code, as for vpt decode\n" VPT_CLI_MEMORY_HELP
		VPT_CLI_CPU_HELP "  -h, --help         this text\n"
	"\n"
	"The last line is\n"
	"\n"
	"  verify: N retired, M decoded, K mismatches\n"
	"\n"
	"where N counts the instructions that should be in the trace. A trace that the output\n"
	"ended (ToPA STOP, an error) has the beginning of what ran; lines before the last say\n"
	"how much. So it is with a file that ends early, as after kill -9. K counts places: in\n"
	"each session at most the first.\n"
	"\n"
	"Where TNT packets were off (DisTNT) the trace does not say what conditional branches "
	"did,\n"
	"and cannot be verified. What it does say is looked for in what ran, and the last line is\n"
	"\n"
	"  verify: DisTNT: N retired, T targets, E events, K mismatches\n"
	"\n"
	"No packet tells how often a loop of direct branches runs, such as jmp to itself. Where a\n"
	"trace stays in one, that is said, and the iterations are not compared.\n"
	"\n"
	"The exit status is 0 if K is 0, 1 if not or if nothing should be in the trace, 2 if\n"
	"the command is wrong, 3 if FILE can't be read, has no oracle, or is damaged, whatever K\n"
	"is; 4 if\n"
	"something is lacking here, 5 if K is 0 and DisTNT was set, 6 if K is 0 and the trace "
	"stays\n"
	"in a loop of direct branches.\n"
	"\n"
	"  vpt run --oracle -o t.vpt demo.elf && vpt verify t.vpt\n";

enum { CPU = 256 }; /* an option without a letter */

struct options {
	const char *path;
	bool allow_empty, json, quiet, help;
	uint32_t signature; /* of --cpu, 0: it was not given */
	enum vpt_flow_by by;
	bool perf;
	struct vpt_perf_judge *judge; /* if `perf` */
	struct vpt_cli_symbols symbols;
	struct vpt_cli_memory memory;
};

static int can_verify(const struct options *o, const struct vpt_reader *reader)
{
	unsigned int v;
	size_t switches;

	if (!vpt_reader_info(reader)->oracle)
		return vpt_fail(VPT_EXIT_INPUT,
				"verify: %s: it does not say what ran: record with --oracle",
				o->path);
	for (v = 0; o->by == VPT_FLOW_BY_LIBIPT && v < vpt_reader_info(reader)->vcpus; v++) {
		vpt_reader_switches(reader, v, &switches);
		if (switches)
			return vpt_fail(VPT_EXIT_USAGE,
					"verify: %s: spaces change without packets, which libipt "
					"cannot follow: without --with=libipt",
					o->path);
	}
	return VPT_EXIT_OK;
}

/* The first difference, and the loops that the format says nothing of. */
static int show_places(struct vpt_symbols *symbols, const struct vpt_comparison *c)
{
	struct vpt_listing l = {.out = stdout, .symbols = symbols};
	int err = 0;

	l.disasm = vpt_disasm_new(l.symbols);
	if (!l.disasm)
		err = -ENOMEM;
	if (!err && c->mismatches)
		vpt_report_diff(&l, &c->diff);
	if (!err)
		vpt_report_loops(&l, c);
	vpt_listing_fini(&l);
	vpt_disasm_free(l.disasm);
	return err;
}

/* Names are seldom needed, and take as long to read as a small trace. */
static int show(const struct options *o, const struct vpt_reader *reader,
		struct vpt_symbols **symbols, const struct vpt_comparison *c)
{
	if (o->json) {
		vpt_report_json(stdout, c);
		return 0;
	}
	if ((c->mismatches || c->loops) && !o->quiet) {
		int err = *symbols ? 0 : vpt_symbols_open(reader, symbols);

		if (!err)
			err = show_places(*symbols, c);
		if (err)
			return err;
	}
	if (!o->quiet)
		vpt_report_shortfalls(stdout, c);
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

static int compare_all(const struct options *o, struct vpt_reader *reader, struct vpt_comparison *c)
{
	struct vpt_cli_progress progress = {.mismatches = &c->mismatches};
	unsigned int vcpus = vpt_reader_info(reader)->vcpus, v;
	int err = 0;

	vpt_cli_progress_begin(&progress, reader, -1, !o->quiet && !o->json);
	for (v = 0; v < vcpus && !err; v++)
		err = vpt_compare(reader, v, c);
	vpt_cli_progress_end(&progress);
	return err;
}

static void show_targets(const struct options *o, const struct vpt_targets *t)
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

/* With DisTNT the trace does not tell where conditional branches go (33.3.9). */
static int verify_targets(const struct options *o, struct vpt_reader *reader)
{
	unsigned int vcpus = vpt_reader_info(reader)->vcpus, v;
	struct vpt_targets t = {0};
	struct vpt_cli_progress progress = {.mismatches = &t.mismatches};
	int err = 0, status;

	vpt_cli_progress_begin(&progress, reader, -1, !o->quiet && !o->json);
	for (v = 0; v < vcpus && !err; v++)
		err = vpt_targets(reader, v, &t);
	vpt_cli_progress_end(&progress);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "verify: %s: %s", o->path, vpt_cli_reason(-err));
	show_targets(o, &t);
	if (fflush(stdout) || ferror(stdout))
		return vpt_fail(VPT_EXIT_HOST, "verify: cannot write: %s", vpt_cli_reason(errno));
	status = vpt_cli_whole("verify", o->path, reader);
	if (status)
		return status;
	return t.mismatches || (!t.retired && !o->allow_empty) ? VPT_EXIT_FAIL : VPT_EXIT_PARTIAL;
}

static int verify(const struct options *o, struct vpt_reader *reader, struct vpt_symbols **symbols,
		  struct vpt_comparison *c)
{
	int status, err = compare_all(o, reader, c);

	if (!err)
		err = show(o, reader, symbols, c);
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "verify: %s: %s", o->path, vpt_cli_reason(-err));
	if (fflush(stdout) || ferror(stdout))
		return vpt_fail(VPT_EXIT_HOST, "verify: cannot write: %s", vpt_cli_reason(errno));
	status = vpt_cli_whole("verify", o->path, reader);
	if (status)
		return status;
	if (c->mismatches || (!c->retired && !o->allow_empty))
		return VPT_EXIT_FAIL;
	return c->loops ? VPT_EXIT_FORMAT : VPT_EXIT_OK;
}

static void show_perf(const struct options *o, const struct vpt_by_perf *sum)
{
	if (o->json) {
		printf("{\"with\":\"perf\",\"retired\":%" PRIu64 ",\"decoded\":%" PRIu64
		       ",\"mismatches\":%" PRIu64 "}\n",
		       sum->retired, sum->found, sum->mismatches);
		return;
	}
	if (!o->quiet && sum->mismatches)
		printf("%s\n", sum->first);
	if (!o->quiet && sum->list == VPT_PERF_PIECES)
		printf("packets were lost: perf has %" PRIu64 " pieces of what ran\n", sum->pieces);
	if (!o->quiet && sum->list == VPT_PERF_DECODER)
		puts("the output was full: perf has what libvptdecode has, which agrees with what "
		     "ran");
	printf("verify: %" PRIu64 " retired, %" PRIu64 " decoded, %" PRIu64 " mismatches\n",
	       sum->retired, sum->found, sum->mismatches);
}

static int verify_perf(const struct options *o, struct vpt_reader *reader)
{
	unsigned int vcpus = vpt_reader_info(reader)->vcpus, v;
	struct vpt_by_perf sum = {0}, of;
	int status = VPT_EXIT_OK;

	for (v = 0; v < vcpus && !status; v++) {
		status = vpt_perf_judge_vcpu(o->judge, reader, v, &of);
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
		return vpt_fail(VPT_EXIT_HOST, "verify: cannot write: %s", vpt_cli_reason(errno));
	status = vpt_cli_whole("verify", o->path, reader);
	if (status)
		return status;
	return sum.mismatches || (!sum.retired && !o->allow_empty) ? VPT_EXIT_FAIL : VPT_EXIT_OK;
}

static int run(struct options *o)
{
	struct vpt_comparison c = {.by = o->by};
	struct vpt_symbols *symbols = NULL;
	struct vpt_reader *reader;
	int status = vpt_cli_open("verify", o->path, VPT_READER_PREFIX | VPT_READER_CODE_IN_PLACE,
				  &reader);

	if (status)
		return status;
	vpt_cli_cpu_use(reader, o->signature);
	status = can_verify(o, reader);
	if (!status)
		status = vpt_cli_memory_open(&o->memory, "verify", reader);
	/* Errors in these files are reported before the long work. */
	if (!status && o->symbols.n)
		status = vpt_cli_symbols_open(&o->symbols, "verify", reader, &symbols);
	if (!status && o->perf)
		status = verify_perf(o, reader);
	else if (!status)
		status = vpt_targets_needed(reader) ? verify_targets(o, reader)
						    : verify(o, reader, &symbols, &c);
	if (!status)
		status = vpt_cli_memory_whole(&o->memory, "verify", o->path);
	vpt_symbols_close(symbols);
	vpt_comparison_free(&c);
	vpt_reader_close(reader);
	vpt_cli_memory_close(&o->memory);
	return status;
}

static int take_decoder(struct options *o, const char *name)
{
	o->perf = !strcmp(name, "perf");
	if (!strcmp(name, "libipt"))
		o->by = VPT_FLOW_BY_LIBIPT;
	else if (o->perf || !strcmp(name, "libvptdecode"))
		o->by = VPT_FLOW_BY_LIBVPTDECODE;
	else
		return vpt_fail(VPT_EXIT_USAGE,
				"verify: --with=%s: there is libvptdecode, libipt and perf", name);
	if (o->by == VPT_FLOW_BY_LIBIPT && !vpt_judge_has_libipt())
		return vpt_fail(VPT_EXIT_USAGE, "verify: --with=libipt: this vpt was built without "
						"libipt (make LIBIPT=no)");
	return VPT_EXIT_OK;
}

static int take_option(struct options *o, int option)
{
	switch (option) {
	case 'e':
		o->allow_empty = true;
		return VPT_EXIT_OK;
	case 'j':
		o->json = true;
		return VPT_EXIT_OK;
	case 'q':
		o->quiet = true;
		return VPT_EXIT_OK;
	case 'w':
		return take_decoder(o, optarg);
	case 'S':
		return vpt_cli_symbols_take(&o->symbols, "verify", optarg);
	case CPU:
		return vpt_cli_cpu_take("verify", optarg, &o->signature);
	case 'M':
		return vpt_cli_memory_take(&o->memory, "verify", optarg);
	case 'h':
		o->help = true;
		return VPT_EXIT_OK;
	default:
		return VPT_EXIT_USAGE; /* The line was printed. */
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"allow-empty", no_argument, NULL, 'e'},
		{"json", no_argument, NULL, 'j'},
		{"memory", required_argument, NULL, 'M'},
		{"cpu", required_argument, NULL, CPU},
		{"quiet", no_argument, NULL, 'q'},
		{"symbols", required_argument, NULL, 'S'},
		{"with", required_argument, NULL, 'w'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static const struct vpt_cli_options options = {"verify", ":ejqS:M:w:h", longs, help};
	int option, status = VPT_EXIT_OK;

	optind = 0;
	while (!status && (option = vpt_cli_option(&options, argc, argv)) != -1)
		status = take_option(o, option);
	if (status || o->help)
		return status;
	if (optind + 1 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "verify: %s: see vpt verify --help",
				optind == argc ? "FILE is missing" : "only one FILE");
	o->path = argv[optind];
	/* What libipt reads is made of the file alone. */
	if (o->memory.n && (o->by == VPT_FLOW_BY_LIBIPT || o->perf))
		return vpt_fail(VPT_EXIT_USAGE,
				"verify: --memory: it does not go with --with=libipt or perf");
	if (o->perf && !strcmp(o->path, "-"))
		return vpt_fail(VPT_EXIT_USAGE, "verify: --with=perf: FILE must have a name");
	return VPT_EXIT_OK;
}

int vpt_cmd_verify(int argc, char **argv)
{
	struct options o = {0};
	int status = parse(&o, argc, argv);

	if (status)
		return status;
	if (o.help) {
		fputs(help, stdout);
		return VPT_EXIT_OK;
	}
	if (o.perf)
		o.judge = vpt_perf_judge_start(o.path, &status);
	if (!status)
		status = vpt_confine_reader("verify");
	if (!status)
		status = run(&o);
	vpt_perf_judge_end(o.judge);
	return status;
}
