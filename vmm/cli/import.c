// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt import: a trace that another program recorded, as a .vpt file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/files.h"
#include "cli/foreign.h"
#include "cli/import_raw.h"
#include "cli/open.h"
#include "cli/old_option.h"
#include "foreign/lldb.h"
#include "foreign/output.h"
#include "foreign/perf.h"

static const char help[] =
	"usage: vpt import [OPTION]... FILE -o OUT\n"
	"       vpt import --raw [OPTION]... FILE -o OUT\n"
	"\n"
	"Makes a .vpt file of a trace that another program recorded, for all verbs that read one.\n"
	"FILE is what perf record wrote of intel_pt: a perf.data file or directory, or - for what\n"
	"perf wrote to a pipe; or a trace bundle of LLDB, a folder with trace.json. With --raw it\n"
	"is packets of Intel PT, of one processor.\n"
	"\n"
	"  vpt import perf.data -o ls.vpt\n"
	"\n"
	"  -o, --output=OUT    the .vpt file\n"
	"  -r, --root=DIR      look for the files that were traced under DIR\n"
	"  -k, --kcore=FILE    the kernel's code: a copy of /proc/kcore, as perf record --kcore\n"
	"                      makes one in a directory\n"
	"  -q, --quiet         no summary\n"
	"  -h, --help          this text\n"
	"\n"
	"Of packets alone:\n"
	"      --raw           FILE is packets\n"
	"      --cpu=FAMILY/MODEL[/STEPPING]  the processor, for its errata; decimal\n"
	"      --ctl=VALUE     IA32_RTIT_CTL; 0x200d if it is not said\n"
	"      --range=FIRST-LAST[:stop]      an address range that was traced, or stopped it\n"
	"      --elf=FILE[@BIAS]              code: what an ELF file loads to be executed\n"
	"      --code=FILE@ADDRESS            code: bytes\n"
	"      --pages=DUMP,ADDRESSES         code: pages, and a list of their addresses, as kAFL\n"
	"                      and Nyx write them (page_cache.dump, page_cache.addr)\n"
	"      --cr3=CR3       the code that is named next is of this address space only\n"
	"\n"
	"The code is read from the files that FILE names, if they have the build-ids that it "
	"names,\n"
	"else from ~/.debug. See vpt-import(1).\n"
	"\n"
	"The exit status is 0 if OUT has all of the trace, 2 if the command is wrong, 3 if FILE "
	"or\n"
	"code can't be read or is not whole (OUT then has what comes before the damage), 4 if OUT\n"
	"cannot be written.\n";

struct options {
	const char *path, *output;
	const char *root, *kcore;
	struct vpt_import_raw raw;
	bool quiet;
	bool help;
};

static int take_option(struct options *o, int option)
{
	switch (option) {
	case 'o':
		o->output = optarg;
		return VPT_EXIT_OK;
	case 'r':
		o->root = optarg;
		return VPT_EXIT_OK;
	case 'k':
		o->kcore = optarg;
		return VPT_EXIT_OK;
	case 'q':
		o->quiet = true;
		return VPT_EXIT_OK;
	case 'h':
		o->help = true;
		return VPT_EXIT_OK;
	case '?':
	case ':':
		return VPT_EXIT_USAGE; /* The line was printed. */
	default:
		return vpt_import_raw_take(&o->raw, option, optarg);
	}
}

static int parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{"output", required_argument, NULL, 'o'},
		{"root", required_argument, NULL, 'r'},
		{"kcore", required_argument, NULL, 'k'},
		{"quiet", no_argument, NULL, 'q'},
		{"help", no_argument, NULL, 'h'},
		{"raw", no_argument, NULL, VPT_RAW},
		{"cpu", required_argument, NULL, VPT_RAW_CPU},
		{"ctl", required_argument, NULL, VPT_RAW_CTL},
		{"range", required_argument, NULL, VPT_RAW_RANGE},
		{"cr3", required_argument, NULL, VPT_RAW_CR3},
		{"elf", required_argument, NULL, VPT_RAW_ELF},
		{"code", required_argument, NULL, VPT_RAW_CODE},
		{"pages", required_argument, NULL, VPT_RAW_PAGES},
		{NULL, 0, NULL, 0},
	};
	static const struct vpt_cli_options options = {"import", ":o:r:k:qh", longs, help};
	int option, status = VPT_EXIT_OK;

	optind = 0;
	while (!status && (option = vpt_cli_option(&options, argc, argv)) != -1)
		status = take_option(o, option);
	if (status || o->help)
		return status;
	if (optind + 1 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "import: one FILE: see vpt import --help");
	if (!o->output)
		return vpt_fail(VPT_EXIT_USAGE, "import: --output: it has to be said");
	if (o->raw.others && !o->raw.raw)
		return vpt_fail(VPT_EXIT_USAGE, "import: registers and code are for --raw");
	if (o->raw.raw && (o->root || o->kcore))
		return vpt_fail(VPT_EXIT_USAGE, "import: --raw: --root and --kcore are for perf");
	o->path = argv[optind];
	return VPT_EXIT_OK;
}

static int check_files(const struct options *o)
{
	size_t i;
	int status = VPT_EXIT_OK;
	const struct vpt_cli_file files[] = {
		{VPT_CLI_INPUT, "FILE", strcmp(o->path, "-") ? o->path : NULL},
		{VPT_CLI_INPUT, "--kcore", o->kcore},
		{VPT_CLI_OUTPUT, "--output", o->output},
	};

	for (i = 0; i < o->raw.is.ncode && !status; i++) {
		const struct vpt_cli_file code[] = {
			{VPT_CLI_INPUT, "code", o->raw.is.code[i].path},
			{VPT_CLI_INPUT, "--pages", o->raw.is.code[i].addresses},
			{VPT_CLI_OUTPUT, "--output", o->output},
		};

		status = vpt_cli_files_check("import", code, sizeof(code) / sizeof(code[0]));
	}
	return status ? status
		      : vpt_cli_files_check("import", files, sizeof(files) / sizeof(files[0]));
}

/* What is missing, a line each: where it was needed, decoding will report errors. */
static void report(const struct options *o, const struct foreign_report *r)
{
	if (!o->quiet)
		printf("%s: bytes of trace: %" PRIu64 ", streams: %" PRIu64
		       ", address spaces: %" PRIu64 ", pages of code: %" PRIu64
		       ", switches: %" PRIu64 "\n",
		       o->output, r->bytes, r->streams, r->spaces, r->pages, r->switches);
	vpt_cli_foreign_warn("import", r);
}

static int write_file(const struct options *o, struct foreign_trace *t,
		      const struct foreign_raw_pages *pages, struct vpt_outfile *out)
{
	struct vpt_file_info info;
	struct vpt_writer *writer;
	int err, late;

	foreign_info(t, &info);
	err = vpt_writer_start(out->fd, &info, &writer);
	if (!err) {
		err = o->raw.raw ? foreign_raw_write(t, &o->raw.is, pages, o->path, writer)
				 : foreign_write(t, o->path, writer);
		late = vpt_writer_close(writer, 0);
		err = err ? err : late;
	}
	if (err)
		return vpt_fail(VPT_EXIT_HOST, "import: %s: %s", o->output, vpt_cli_reason(-err));
	return vpt_cli_commit("import", out);
}

static int write_out(const struct options *o, struct foreign_trace *t,
		     const struct foreign_raw_pages *pages)
{
	struct vpt_outfile out = {0};
	int status = vpt_cli_output("import", o->output, VPT_OUTFILE_WHOLE, &out);

	if (!status)
		status = write_file(o, t, pages, &out);
	vpt_cli_drop(&out);
	if (!status)
		report(o, &t->report);
	return status;
}

static int run_perf(const struct options *o, struct foreign_trace *t)
{
	const char *damage;
	char why[256];
	uint64_t where;
	int err = foreign_perf_read(o->path, t, &damage, &where, why, sizeof(why)), status;

	if (err)
		return vpt_fail(vpt_cli_input_status(err), "import: %s: %s", o->path, why);
	status = write_out(o, t, NULL);
	if (!status && damage)
		return vpt_fail(VPT_EXIT_INPUT,
				"import: %s: byte %" PRIu64 ": %s: what comes before is in %s",
				o->path, where, damage, o->output);
	return status;
}

static int run_lldb(const struct options *o, struct foreign_trace *t)
{
	char why[256];
	int err = foreign_lldb_read(o->path, t, why, sizeof(why));

	if (err)
		return vpt_fail(vpt_cli_input_status(err), "import: %s: %s", o->path, why);
	return write_out(o, t, NULL);
}

static int run_raw(const struct options *o, struct foreign_trace *t)
{
	struct foreign_raw_pages pages = {0};
	char why[256] = "";
	size_t i;
	int err = foreign_raw_read(o->path, &o->raw.is, t, why, sizeof(why)), status;

	if (err)
		return vpt_fail(vpt_cli_input_status(err), "import: %s: %s", o->path, why);
	for (i = 0; i < o->raw.is.ncode && !err; i++)
		err = foreign_raw_load(&pages, &o->raw.is.code[i], why, sizeof(why));
	if (err)
		status = vpt_fail(vpt_cli_input_status(err), "import: %s", why);
	else
		status = write_out(o, t, &pages);
	foreign_raw_pages_free(&pages);
	return status;
}

int vpt_cmd_import(int argc, char **argv)
{
	struct foreign_trace trace = {0};
	struct options o = {0};
	int status;

	vpt_import_raw_init(&o.raw);
	status = parse(&o, argc, argv);
	if (status)
		return status;
	if (o.help) {
		fputs(help, stdout);
		return VPT_EXIT_OK;
	}
	status = check_files(&o);
	if (!status)
		status = vpt_confine("import", &(struct vpt_sandbox_want){.output = {o.output}});
	if (status)
		return status;
	trace.root = o.root;
	trace.kcore = o.kcore ? strdup(o.kcore) : NULL;
	if (o.kcore && !trace.kcore)
		status = vpt_fail(VPT_EXIT_HOST, "import: %s", strerror(ENOMEM));
	else
		status = o.raw.raw		   ? run_raw(&o, &trace)
			 : foreign_lldb_is(o.path) ? run_lldb(&o, &trace)
						   : run_perf(&o, &trace);
	foreign_free(&trace);
	return status;
}
