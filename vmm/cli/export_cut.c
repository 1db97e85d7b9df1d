// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt export: finds the part of a trace that --from, --until and --last select. */
#include "cli/export_cut.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "decode/flow.h"

#define MARK "mark:"

/* A place: one of the three is not NOWHERE. */
struct place {
	uint64_t clock;
	uint64_t ns;
	const char *mark;
};
#define NOWHERE UINT64_MAX

static bool read_place(const char *text, struct place *place)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	const char *end;
	uint64_t n;
	size_t i;

	*place = (struct place){NOWHERE, NOWHERE, NULL};
	if (!strncmp(text, MARK, strlen(MARK))) {
		place->mark = text + strlen(MARK);
		return *place->mark;
	}
	end = cli_read_number(text, &n);
	if (!end)
		return false;
	if (!*end) {
		place->clock = n;
		return true;
	}
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(end, units[i].name)) {
			place->ns = n * units[i].ns;
			return n < NOWHERE / units[i].ns;
		}
	}
	return false;
}

/* Return the clock of the first mark of a vCPU with a text, or NOWHERE. */
static uint64_t find_mark(const struct trace_reader *reader, unsigned int vcpu, const char *text)
{
	const struct trace_reader_mark *mark;
	size_t n, i;

	mark = trace_reader_marks(reader, vcpu, &n);
	for (i = 0; i < n; i++) {
		if (mark[i].mark.len == strlen(text) &&
		    !memcmp(mark[i].text, text, mark[i].mark.len))
			return mark[i].mark.insns;
	}
	return NOWHERE;
}

__extension__ typedef unsigned __int128 u128;

/* Find the place of --from or --until in each vCPU. Returns an exit status. */
static int resolve(const char *option, const char *text, const char *path,
		   const struct trace_reader *reader, int vcpu, struct format_cut *cuts)
{
	const struct trace_file_info *info = trace_reader_info(reader);
	const bool from = !strcmp(option, "from");
	struct place place;
	bool found = false;
	unsigned int i;

	if (!read_place(text, &place))
		return cli_fail(CLI_EXIT_USAGE,
				"export: --%s=%s: give a number of instructions, a time such as "
				"10us, or mark:TEXT",
				option, text);
	if (place.ns != NOWHERE && !info->tsc_hz)
		return cli_fail(CLI_EXIT_USAGE,
				"export: --%s=%s: %s has no TSC frequency: give instructions",
				option, text, path);
	for (i = 0; i < info->vcpus; i++) {
		uint64_t clock = place.clock;
		uint64_t ticks = from ? 0 : NOWHERE;

		if (place.mark)
			clock = find_mark(reader, i, place.mark);
		else if (place.ns != NOWHERE)
			ticks = (uint64_t)((u128)place.ns * info->tsc_hz / 1000000000);
		found |= !place.mark || (clock != NOWHERE && (vcpu < 0 || (int)i == vcpu));
		if (from) {
			cuts[i].from = place.ns != NOWHERE && !ticks ? 0 : clock;
			cuts[i].from_ticks = ticks;
		} else {
			cuts[i].until = clock;
			cuts[i].until_ticks = ticks;
		}
	}
	return found ? CLI_EXIT_OK
		     : cli_fail(CLI_EXIT_USAGE, "export: --%s=%s: %s has no such mark", option,
				text, path);
}

/* Count the instructions of a vCPU. Returns 0 or -errno. */
static int count(struct trace_reader *reader, unsigned int vcpu, uint64_t *insns)
{
	struct decode_item item = {.kind = DECODE_ITEM_SEGMENT};
	struct decode_tally tally = {0};
	struct decode_flow_sum sum;
	struct decode_flow *flow;
	int err = decode_flow_open(reader, vcpu, DECODE_FLOW_COUNTS, &flow);

	*insns = 0;
	if (err)
		return err;
	while (!err && item.kind != DECODE_ITEM_END) {
		err = decode_flow_next(flow, &item);
		if (!err && item.kind == DECODE_ITEM_BLOCK)
			*insns += item.insns;
	}
	if (!err)
		err = decode_flow_counts(flow, &tally, &sum);
	if (!err)
		*insns += sum.insns;
	decode_tally_free(&tally);
	decode_flow_close(flow);
	return err;
}

static int keep_last(uint64_t last, const char *path, struct trace_reader *reader, int vcpu,
		     struct format_cut *cuts)
{
	unsigned int i;

	for (i = 0; i < trace_reader_info(reader)->vcpus; i++) {
		uint64_t insns;
		int err = vcpu < 0 || (int)i == vcpu ? count(reader, i, &insns) : 0;

		if (err)
			return cli_fail(CLI_EXIT_HOST, "export: %s: %s", path, cli_reason(-err));
		if (vcpu < 0 || (int)i == vcpu)
			cuts[i].from = insns > last ? insns - last : 0;
	}
	return CLI_EXIT_OK;
}

int cli_export_cut(const struct cli_export_cut *cut, const char *path, struct trace_reader *reader,
		   int vcpu, struct format_cut **cuts)
{
	const unsigned int vcpus = trace_reader_info(reader)->vcpus;
	int status = CLI_EXIT_OK;
	unsigned int i;

	*cuts = NULL;
	if (!cut->from && !cut->until && !cut->has_last)
		return CLI_EXIT_OK;
	if (cut->has_last && (cut->from || cut->until))
		return cli_fail(CLI_EXIT_USAGE, "export: --last: not with --from and --until");
	*cuts = calloc(vcpus, sizeof(**cuts));
	if (!*cuts)
		return cli_fail(CLI_EXIT_HOST, "export: %s", strerror(ENOMEM));
	for (i = 0; i < vcpus; i++)
		(*cuts)[i] = (struct format_cut){0, UINT64_MAX, 0, UINT64_MAX};
	if (cut->from)
		status = resolve("from", cut->from, path, reader, vcpu, *cuts);
	if (!status && cut->until)
		status = resolve("until", cut->until, path, reader, vcpu, *cuts);
	if (!status && cut->has_last)
		status = keep_last(cut->last, path, reader, vcpu, *cuts);
	return status;
}
