// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt snapshot: what a snapshot holds. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/open.h"
#include "cli/option.h"
#include "core/snapshot.h"
#include "text/text.h"

static const char help[] =
	"usage: vpt snapshot [OPTION]... FILE\n"
	"\n"
	"Shows what a snapshot holds that vpt run wrote: which guest, where it is, how much of\n"
	"its trace there is. FILE - is standard input.\n"
	"\n"
	"  -j, --json   one JSON object\n"
	"  -h, --help   this text\n"
	"\n"
	"The exit status is 0, 2 if the command is wrong, 3 if FILE can't be read or is no whole\n"
	"snapshot, 4 if this machine lacks something.\n";

/* Names that a file brings along, fit to be shown. */
struct names {
	char guest[65], model[17], engine[17];
};

static void take_names(const struct vpt_snap_info *info, struct names *n)
{
	vpt_text_copy(n->guest, sizeof(n->guest), info->guest, sizeof(info->guest));
	vpt_text_copy(n->model, sizeof(n->model), info->file.model, sizeof(info->file.model));
	vpt_text_copy(n->engine, sizeof(n->engine), info->file.engine, sizeof(info->file.engine));
}

static const char *owner_text(uint32_t owner)
{
	return owner == VPT_OWNER_GUEST ? "guest" : owner == VPT_OWNER_HOST ? "host" : "none";
}

static void show(const struct vpt_snapshot *s)
{
	const struct vpt_snap_info *info = vpt_snapshot_info(s);
	uint64_t ram, code;
	struct names n;

	take_names(info, &n);
	vpt_snapshot_count(s, VPT_SNAP_RAM, &ram);
	code = vpt_snapshot_count(s, VPT_SNAP_CODE, NULL);
	printf("guest          %s\nmodel          %s\nowner          %s\nengine         %s\n",
	       n.guest, n.model, owner_text(info->file.owner), n.engine);
	printf("seed           %" PRIu64 "\n", info->file.seed);
	printf("memory         %" PRIu64 " bytes, of which are not zero: %" PRIu64 "\n",
	       info->mem_bytes, ram - 8 * vpt_snapshot_count(s, VPT_SNAP_RAM, NULL));
	printf("instructions   %" PRIu64 ", traced: %" PRIu64 "\n", info->retired, info->insns);
	printf("trace          %" PRIu64 " bytes\n", info->trace_bytes);
	if (info->file_bytes)
		printf("trace file     %" PRIu64 " bytes, pages of code: %" PRIu64 ", oracle: %s\n",
		       info->file_bytes, code, info->file.oracle ? "yes" : "no");
	else
		puts("trace file     none");
}

static void show_json(const struct vpt_snapshot *s)
{
	const struct vpt_snap_info *info = vpt_snapshot_info(s);
	struct names n;
	uint64_t ram;

	take_names(info, &n);
	vpt_snapshot_count(s, VPT_SNAP_RAM, &ram);
	fputs("{\"guest\":", stdout);
	vpt_json_string(stdout, n.guest);
	fputs(",\"model\":", stdout);
	vpt_json_string(stdout, n.model);
	fputs(",\"engine\":", stdout);
	vpt_json_string(stdout, n.engine);
	printf(",\"owner\":\"%s\",\"seed\":%" PRIu64 ",\"memory\":%" PRIu64
	       ",\"memory_saved\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"traced\":%" PRIu64
	       ",\"trace_bytes\":%" PRIu64 ",\"file_bytes\":%" PRIu64
	       ",\"code_pages\":%zu,\"oracle\":%s}\n",
	       owner_text(info->file.owner), info->file.seed, info->mem_bytes,
	       ram - 8 * vpt_snapshot_count(s, VPT_SNAP_RAM, NULL), info->retired, info->insns,
	       info->trace_bytes, info->file_bytes, vpt_snapshot_count(s, VPT_SNAP_CODE, NULL),
	       info->file.oracle ? "true" : "false");
}

int vpt_cmd_snapshot(int argc, char **argv)
{
	static const struct option longs[] = {
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	static const struct vpt_cli_options options = {"snapshot", ":jh", longs, help};
	struct vpt_snapshot *s;
	bool json = false;
	char why[160];
	int option, status, error;

	optind = 0;
	while ((option = vpt_cli_option(&options, argc, argv)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			return VPT_EXIT_OK;
		}
		if (option != 'j')
			return VPT_EXIT_USAGE; /* The line was printed. */
		json = true;
	}
	if (optind + 1 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "snapshot: give one FILE: see vpt snapshot --help");
	status = vpt_confine_reader("snapshot");
	if (status)
		return status;
	error = vpt_snapshot_open(argv[optind], &s, why, sizeof(why));
	if (error)
		return vpt_fail(vpt_cli_input_status(error), "snapshot: %s: %s", argv[optind], why);
	(json ? show_json : show)(s);
	vpt_snapshot_close(s);
	if (fflush(stdout) || ferror(stdout))
		return vpt_fail(VPT_EXIT_HOST, "snapshot: cannot write: %s", vpt_cli_reason(errno));
	return VPT_EXIT_OK;
}
