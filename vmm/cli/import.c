// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt import: converts a recording of another program to a .vpt file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/cpu.h"
#include "cli/files.h"
#include "cli/foreign.h"
#include "cli/import_raw.h"
#include "cli/open.h"
#include "cli/option.h"
#include "foreign/lldb.h"
#include "foreign/output.h"
#include "foreign/perf.h"

struct options {
	const char *path, *output;
	const char *root, *kcore;
	struct cli_import_raw raw;
	const char *raws; /* name of an option that requires --raw; NULL if none was given */
	bool quiet;
};

#define AT(member) .field = offsetof(struct options, member)
#define OF_RAW	   .group = offsetof(struct options, raws)

static const struct cli_option rows[] = {
	{'o', "output", "=OUT", "the .vpt file to write", cli_take_text, AT(output)},
	{'r', "root", "=DIR", "look for the traced files under DIR", cli_take_text, AT(root)},
	{'k', "kcore", "=FILE",
	 "the kernel's code: a copy of /proc/kcore, for example from perf record --kcore",
	 cli_take_text, AT(kcore)},
	{'q', "quiet", NULL, "no summary", cli_take_flag, AT(quiet)},
	CLI_OPTION_HELP,
	{.text = "Options for packets alone:"},
	{0, "raw", NULL, "FILE has only packets", cli_take_flag, AT(raw.raw)},
	CLI_OPTION_CPU(AT(raw.is.signature), OF_RAW),
	{0, "ctl", "=VALUE", "IA32_RTIT_CTL (default 0x200d)", cli_import_take_ctl, AT(raw),
	 OF_RAW},
	{0, "range", "=FIRST-LAST[:stop]", "an address range that was traced, or stopped it",
	 cli_import_take_range, AT(raw), OF_RAW},
	{0, "elf", "=FILE[@BIAS]", "code: the executable segments of an ELF file",
	 cli_import_take_elf, AT(raw), OF_RAW},
	{0, "code", "=FILE@ADDRESS", "code: the bytes of a file", cli_import_take_code, AT(raw),
	 OF_RAW},
	{0, "pages", "=DUMP,ADDRESSES",
	 "code: pages and a list of their addresses, in the format of kAFL and Nyx "
	 "(page_cache.dump, page_cache.addr)",
	 cli_import_take_pages, AT(raw), OF_RAW},
	{0, "cr3", "=CR3", "the code options after this one are only for this address space",
	 cli_import_take_cr3, AT(raw), OF_RAW},
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_import = {
	.name = "import",
	.run = cli_cmd_import,
	.summary = "convert a trace of perf or LLDB, or packets alone, to a .vpt file",
	.usage = "[OPTION]... FILE -o OUT\n--raw [OPTION]... FILE -o OUT",
	.about = "Converts a trace that another program recorded to a .vpt file, for all verbs "
		 "that read one. FILE is a perf.data file or directory from perf record with "
		 "intel_pt, or - for perf's output to a pipe. FILE can also be a trace bundle of "
		 "LLDB, which is a folder with trace.json. With --raw, FILE has packets of Intel "
		 "PT from one processor.\n\n"
		 "  vpt import perf.data -o ls.vpt",
	.notes = "The code is read from the files that FILE names, if their build-ids match, and "
		 "otherwise from ~/.debug. See vpt-import(1).\n\n"
		 "The exit status is 0 if OUT has the whole trace, and 2 for a wrong command line. "
		 "It is 3 if FILE or code cannot be read or is incomplete; OUT then has everything "
		 "before the damage. It is 4 if OUT cannot be written.",
	.options = rows,
	.column = 22,
	.operands = {{"FILE", AT(path)}},
};

static int parse(struct options *o, int argc, char **argv)
{
	int status = cli_options_parse(&cli_verb_import, argc, argv, o);

	if (status)
		return status;
	if (!o->output)
		return cli_fail(CLI_EXIT_USAGE, "import: --output is required");
	if (o->raws && !o->raw.raw)
		return cli_fail(CLI_EXIT_USAGE, "import: --%s: it is for --raw", o->raws);
	if (o->raw.raw && (o->root || o->kcore))
		return cli_fail(CLI_EXIT_USAGE, "import: --raw: --root and --kcore are for perf");
	return CLI_EXIT_OK;
}

static int check_files(const struct options *o)
{
	size_t i;
	int status = CLI_EXIT_OK;
	const struct cli_file files[] = {
		{CLI_INPUT, "FILE", strcmp(o->path, "-") ? o->path : NULL},
		{CLI_INPUT, "--kcore", o->kcore},
		{CLI_OUTPUT, "--output", o->output},
	};

	for (i = 0; i < o->raw.is.ncode && !status; i++) {
		const struct cli_file code[] = {
			{CLI_INPUT, "code", o->raw.is.code[i].path},
			{CLI_INPUT, "--pages", o->raw.is.code[i].addresses},
			{CLI_OUTPUT, "--output", o->output},
		};

		status = cli_files_check("import", code, sizeof(code) / sizeof(code[0]));
	}
	return status ? status : cli_files_check("import", files, sizeof(files) / sizeof(files[0]));
}

/*
 * Print a line for each kind of missing data. Decoding will report errors where it needs the data.
 */
static void report(const struct options *o, const struct foreign_report *r)
{
	if (!o->quiet)
		printf("%s: bytes of trace: %" PRIu64 ", streams: %" PRIu64
		       ", address spaces: %" PRIu64 ", pages of code: %" PRIu64
		       ", switches: %" PRIu64 "\n",
		       o->output, r->bytes, r->streams, r->spaces, r->pages, r->switches);
	cli_foreign_warn("import", r);
}

static int write_file(const struct options *o, struct foreign_trace *t,
		      const struct foreign_raw_pages *pages, struct trace_outfile *out)
{
	struct trace_file_info info;
	struct trace_writer *writer;
	int err, late;

	foreign_info(t, &info);
	err = trace_writer_start(out->fd, &info, &writer);
	if (!err) {
		err = o->raw.raw ? foreign_raw_write(t, &o->raw.is, pages, o->path, writer)
				 : foreign_write(t, o->path, writer);
		late = trace_writer_close(writer, 0);
		err = err ? err : late;
	}
	if (err)
		return cli_fail(CLI_EXIT_HOST, "import: %s: %s", o->output, cli_reason(-err));
	return cli_commit("import", out);
}

static int write_out(const struct options *o, struct foreign_trace *t,
		     const struct foreign_raw_pages *pages)
{
	struct trace_outfile out = {0};
	int status = cli_output("import", o->output, TRACE_OUTFILE_WHOLE, &out);

	if (!status)
		status = write_file(o, t, pages, &out);
	cli_drop(&out);
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
		return cli_fail(cli_input_status(err), "import: %s: %s", o->path, why);
	status = write_out(o, t, NULL);
	if (!status && damage)
		return cli_fail(CLI_EXIT_INPUT,
				"import: %s: byte %" PRIu64 ": %s: the part before is in %s",
				o->path, where, damage, o->output);
	return status;
}

static int run_lldb(const struct options *o, struct foreign_trace *t)
{
	char why[256];
	int err = foreign_lldb_read(o->path, t, why, sizeof(why));

	if (err)
		return cli_fail(cli_input_status(err), "import: %s: %s", o->path, why);
	return write_out(o, t, NULL);
}

static int run_raw(const struct options *o, struct foreign_trace *t)
{
	struct foreign_raw_pages pages = {0};
	char why[256] = "";
	size_t i;
	int err = foreign_raw_read(o->path, &o->raw.is, t, why, sizeof(why)), status;

	if (err)
		return cli_fail(cli_input_status(err), "import: %s: %s", o->path, why);
	for (i = 0; i < o->raw.is.ncode && !err; i++)
		err = foreign_raw_load(&pages, &o->raw.is.code[i], why, sizeof(why));
	if (err)
		status = cli_fail(cli_input_status(err), "import: %s", why);
	else
		status = write_out(o, t, &pages);
	foreign_raw_pages_free(&pages);
	return status;
}

int cli_cmd_import(int argc, char **argv)
{
	struct foreign_trace trace = {0};
	struct options o = {0};
	int status;

	cli_import_raw_init(&o.raw);
	status = parse(&o, argc, argv);
	if (status)
		return status;
	status = check_files(&o);
	if (!status)
		status = cli_confine("import", &(struct sandbox_want){.output = {o.output}});
	if (status)
		return status;
	trace.root = o.root;
	trace.kcore = o.kcore ? strdup(o.kcore) : NULL;
	if (o.kcore && !trace.kcore)
		status = cli_fail(CLI_EXIT_HOST, "import: %s", strerror(ENOMEM));
	else
		status = o.raw.raw		   ? run_raw(&o, &trace)
			 : foreign_lldb_is(o.path) ? run_lldb(&o, &trace)
						   : run_perf(&o, &trace);
	foreign_free(&trace);
	return status;
}
