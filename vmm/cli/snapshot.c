// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt snapshot: shows the contents of a snapshot. */
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

struct options {
	const char *path;
	bool json;
};

#define AT(member) .field = offsetof(struct options, member)

static const struct cli_option rows[] = {
	{'j', "json", NULL, "one JSON object", cli_take_flag, AT(json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_snapshot = {
	.name = "snapshot",
	.run = cli_cmd_snapshot,
	.summary = "show the contents of a snapshot",
	.usage = "[OPTION]... FILE",
	.about = "Shows the contents of a snapshot that vpt run wrote: the guest, its position, "
		 "and the size of its trace so far. FILE - is standard input.",
	.notes = "The exit status is 0, or 2 for a wrong command line. It is 3 if FILE cannot be "
		 "read or is not a complete snapshot, and 4 if this machine lacks a requirement.",
	.options = rows,
	.column = 15,
	.operands = {{"FILE", AT(path)}},
};

/* Names from a file, escaped for display. */
struct names {
	char guest[65], model[17], engine[17];
};

static void take_names(const struct core_snap_info *info, struct names *n)
{
	text_copy(n->guest, sizeof(n->guest), info->guest, sizeof(info->guest));
	text_copy(n->model, sizeof(n->model), info->file.model, sizeof(info->file.model));
	text_copy(n->engine, sizeof(n->engine), info->file.engine, sizeof(info->file.engine));
}

static const char *owner_text(uint32_t owner)
{
	return owner == TRACE_OWNER_GUEST ? "guest" : owner == TRACE_OWNER_HOST ? "host" : "none";
}

static void show(const struct core_snapshot *s)
{
	const struct core_snap_info *info = core_snapshot_info(s);
	uint64_t ram, code;
	struct names n;

	take_names(info, &n);
	core_snapshot_count(s, CORE_SNAP_RAM, &ram);
	code = core_snapshot_count(s, CORE_SNAP_CODE, NULL);
	printf("guest          %s\nmodel          %s\nowner          %s\nengine         %s\n",
	       n.guest, n.model, owner_text(info->file.owner), n.engine);
	printf("seed           %" PRIu64 "\n", info->file.seed);
	printf("memory         %" PRIu64 " bytes, of which are not zero: %" PRIu64 "\n",
	       info->mem_bytes, ram - 8 * core_snapshot_count(s, CORE_SNAP_RAM, NULL));
	printf("instructions   %" PRIu64 ", traced: %" PRIu64 "\n", info->retired, info->insns);
	printf("trace          %" PRIu64 " bytes\n", info->trace_bytes);
	if (info->file_bytes)
		printf("trace file     %" PRIu64 " bytes, pages of code: %" PRIu64 ", oracle: %s\n",
		       info->file_bytes, code, info->file.oracle ? "yes" : "no");
	else
		puts("trace file     none");
}

static void show_json(const struct core_snapshot *s)
{
	const struct core_snap_info *info = core_snapshot_info(s);
	struct names n;
	uint64_t ram;

	take_names(info, &n);
	core_snapshot_count(s, CORE_SNAP_RAM, &ram);
	fputs("{\"guest\":", stdout);
	text_json_string(stdout, n.guest);
	fputs(",\"model\":", stdout);
	text_json_string(stdout, n.model);
	fputs(",\"engine\":", stdout);
	text_json_string(stdout, n.engine);
	printf(",\"owner\":\"%s\",\"seed\":%" PRIu64 ",\"memory\":%" PRIu64
	       ",\"memory_saved\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"traced\":%" PRIu64
	       ",\"trace_bytes\":%" PRIu64 ",\"file_bytes\":%" PRIu64
	       ",\"code_pages\":%zu,\"oracle\":%s}\n",
	       owner_text(info->file.owner), info->file.seed, info->mem_bytes,
	       ram - 8 * core_snapshot_count(s, CORE_SNAP_RAM, NULL), info->retired, info->insns,
	       info->trace_bytes, info->file_bytes, core_snapshot_count(s, CORE_SNAP_CODE, NULL),
	       info->file.oracle ? "true" : "false");
}

int cli_cmd_snapshot(int argc, char **argv)
{
	struct options o = {0};
	struct core_snapshot *s;
	char why[160];
	int status = cli_options_parse(&cli_verb_snapshot, argc, argv, &o), error;

	if (status)
		return status;
	status = cli_confine_reader("snapshot");
	if (status)
		return status;
	error = core_snapshot_open(o.path, &s, why, sizeof(why));
	if (error)
		return cli_fail(cli_input_status(error), "snapshot: %s: %s", o.path, why);
	(o.json ? show_json : show)(s);
	core_snapshot_close(s);
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "snapshot: cannot write: %s", cli_reason(errno));
	return CLI_EXIT_OK;
}
