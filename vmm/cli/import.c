// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt import: a trace that another program recorded, as a .vpt file. */
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
	struct vpt_import_raw raw;
	const char *raws; /* an option that is of --raw; NULL: none was given */
	bool quiet;
};

#define AT(member) .field = offsetof(struct options, member)
#define OF_RAW	   .group = offsetof(struct options, raws)

static const struct vpt_option rows[] = {
	{'o', "output", "=OUT", "the .vpt file", vpt_take_text, AT(output)},
	{'r', "root", "=DIR", "look for the files that were traced under DIR", vpt_take_text,
	 AT(root)},
	{'k', "kcore", "=FILE",
	 "the kernel's code: a copy of /proc/kcore, as perf record --kcore makes one in a "
	 "directory",
	 vpt_take_text, AT(kcore)},
	{'q', "quiet", NULL, "no summary", vpt_take_flag, AT(quiet)},
	VPT_OPTION_HELP,
	{.text = "Of packets alone:"},
	{0, "raw", NULL, "FILE is packets", vpt_take_flag, AT(raw.raw)},
	VPT_OPTION_CPU(AT(raw.is.signature), OF_RAW),
	{0, "ctl", "=VALUE", "IA32_RTIT_CTL; 0x200d if it is not said", vpt_import_take_ctl,
	 AT(raw), OF_RAW},
	{0, "range", "=FIRST-LAST[:stop]", "an address range that was traced, or stopped it",
	 vpt_import_take_range, AT(raw), OF_RAW},
	{0, "elf", "=FILE[@BIAS]", "code: what an ELF file loads to be executed",
	 vpt_import_take_elf, AT(raw), OF_RAW},
	{0, "code", "=FILE@ADDRESS", "code: bytes", vpt_import_take_code, AT(raw), OF_RAW},
	{0, "pages", "=DUMP,ADDRESSES",
	 "code: pages, and a list of their addresses, as kAFL and Nyx write them "
	 "(page_cache.dump, page_cache.addr)",
	 vpt_import_take_pages, AT(raw), OF_RAW},
	{0, "cr3", "=CR3", "the code that is named next is of this address space only",
	 vpt_import_take_cr3, AT(raw), OF_RAW},
	VPT_OPTION_END,
};

const struct vpt_verb vpt_verb_import = {
	.name = "import",
	.run = vpt_cmd_import,
	.summary = "a trace of perf's, or packets alone, as a .vpt file",
	.usage = "[OPTION]... FILE -o OUT\n--raw [OPTION]... FILE -o OUT",
	.about = "Makes a .vpt file of a trace that another program recorded, for all verbs that "
		 "read one. FILE is what perf record wrote of intel_pt: a perf.data file or "
		 "directory, or - for what perf wrote to a pipe; or a trace bundle of LLDB, a "
		 "folder with trace.json. With --raw it is packets of Intel PT, of one "
		 "processor.\n\n"
		 "  vpt import perf.data -o ls.vpt",
	.notes = "The code is read from the files that FILE names, if they have the build-ids that "
		 "it names, else from ~/.debug. See vpt-import(1).\n\n"
		 "The exit status is 0 if OUT has all of the trace, 2 if the command is wrong, 3 "
		 "if FILE or code can't be read or is not whole (OUT then has what comes before "
		 "the damage), 4 if OUT cannot be written.",
	.options = rows,
	.column = 22,
	.operands = {{"FILE", AT(path)}},
};

static int parse(struct options *o, int argc, char **argv)
{
	int status = vpt_options_parse(&vpt_verb_import, argc, argv, o);

	if (status)
		return status;
	if (!o->output)
		return vpt_fail(VPT_EXIT_USAGE, "import: --output: it has to be said");
	if (o->raws && !o->raw.raw)
		return vpt_fail(VPT_EXIT_USAGE, "import: --%s: it is for --raw", o->raws);
	if (o->raw.raw && (o->root || o->kcore))
		return vpt_fail(VPT_EXIT_USAGE, "import: --raw: --root and --kcore are for perf");
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
