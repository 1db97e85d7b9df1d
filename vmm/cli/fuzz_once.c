// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt fuzz-server: runs files as inputs, and prints how each ends. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/fuzz.h"
#include "cli/open.h"
#include "text/text.h"
#include "trace/input.h"

static const char *const ends[] = {
	[CLI_FUZZ_DONE] = "done",     [CLI_FUZZ_CRASH] = "crash",   [CLI_FUZZ_HANG] = "hang",
	[CLI_FUZZ_KILLED] = "killed", [CLI_FUZZ_BROKEN] = "broken",
};

/* The edges that a fuzzer can tell apart, as afl-showmap counts them. */
static unsigned int edges_in(const uint8_t *map)
{
	unsigned int n = 0, i;

	for (i = 0; i < DECODE_EDGES_MAP; i++)
		n += map[i] != 0;
	return n;
}

static void print_json(const char *path, const struct cli_fuzz_result *r, unsigned int edges)
{
	fputs("{\"input\":", stdout);
	text_json_string(stdout, path);
	printf(",\"bytes\":%zu,\"end\":\"%s\",\"ip\":\"0x%" PRIx64 "\",\"insns\":%" PRIu64
	       ",\"traced\":%" PRIu64 ",\"edges\":%u,\"trace_bytes\":%" PRIu64
	       ",\"errors\":%" PRIu32 "}\n",
	       r->used, ends[r->end], r->ip, r->insns, r->sum.insns, edges, r->sum.bytes,
	       r->sum.errors);
}

static void print(const char *path, const struct cli_fuzz_result *r, unsigned int edges)
{
	printf("%s: %s at %#" PRIx64 ", %" PRIu64 " instructions, %u edges%s%s\n", path,
	       ends[r->end], r->ip, r->insns, edges, r->text[0] ? ": " : "", r->text);
}

/* Report an execution. Returns an exit status. */
static int report(const struct cli_fuzz *f, const char *path, const struct cli_fuzz_result *r,
		  unsigned int edges)
{
	if (r->end == CLI_FUZZ_BROKEN)
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: %s: %s", path, r->text);
	if (f->o.run.json)
		print_json(path, r, edges);
	else if (!f->o.run.quiet)
		print(path, r, edges);
	if (r->sum.errors)
		return cli_fail(
			CLI_EXIT_FAIL,
			"fuzz-server: %s: places of its trace that cannot be decoded: %" PRIu32
			"; the first is at %#" PRIx64 ": %s",
			path, r->sum.errors, r->sum.error_ip, r->sum.error);
	return r->end == CLI_FUZZ_DONE ? CLI_EXIT_OK : CLI_EXIT_FAIL;
}

/* Returns an exit status, and not the result of the input, which is reported. */
static int check(const struct cli_fuzz *f, const char *path)
{
	const char *part;

	if (!f->o.check)
		return CLI_EXIT_OK;
	if (core_rewind(f->rewind))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: cannot return to the start");
	part = core_rewind_differs(f->rewind);
	return part ? cli_fail(CLI_EXIT_FAIL,
			       "fuzz-server: --check: after %s the start differs in %s: please "
			       "report this",
			       path, part)
		    : CLI_EXIT_OK;
}

static int write_map(const struct cli_fuzz *f, const uint8_t *map)
{
	FILE *to = f->map;

	if (!to)
		return CLI_EXIT_OK;
	if (fwrite(map, DECODE_EDGES_MAP, 1, to) != 1 || fflush(to))
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: --map=%s: it cannot be written",
				f->o.map);
	return CLI_EXIT_OK;
}

static int worse(int a, int b)
{
	return a > b ? a : b;
}

int cli_fuzz_once(struct cli_fuzz *f)
{
	uint8_t *map = malloc(DECODE_EDGES_MAP);
	int status = map ? CLI_EXIT_OK : cli_fail(CLI_EXIT_HOST, "fuzz-server: no memory");
	struct cli_fuzz_result result = {.end = CLI_FUZZ_DONE};
	unsigned int i;

	for (i = 0; map && i < f->o.once.n && result.end != CLI_FUZZ_BROKEN; i++) {
		const struct trace_input *in = &f->file[i];

		memset(map, 0, DECODE_EDGES_MAP);
		cli_fuzz_run(f, in->bytes, in->size, map, &result);
		status = worse(status, report(f, f->o.once.at[i], &result, edges_in(map)));
		if (result.end == CLI_FUZZ_BROKEN)
			break;
		status = worse(status, check(f, f->o.once.at[i]));
		status = worse(status, write_map(f, map));
	}
	free(map);
	return status;
}

int cli_fuzz_once_open(struct cli_fuzz *f)
{
	unsigned int i;

	f->file = calloc(f->o.once.n + 1, sizeof(*f->file));
	if (!f->file)
		return cli_fail(CLI_EXIT_HOST, "fuzz-server: no memory");
	for (i = 0; i < f->o.once.n; i++) {
		const int error = trace_input_open(&f->file[i], f->o.once.at[i]);

		if (error)
			return cli_fail(cli_input_status(error), "fuzz-server: %s: %s",
					f->o.once.at[i], cli_reason(-error));
	}
	if (!f->o.map)
		return CLI_EXIT_OK;
	f->map = fopen(f->o.map, "we");
	return f->map ? CLI_EXIT_OK
		      : cli_fail(CLI_EXIT_HOST, "fuzz-server: --map=%s: %s", f->o.map,
				 strerror(errno));
}

void cli_fuzz_once_close(struct cli_fuzz *f)
{
	unsigned int i;

	for (i = 0; f->file && i < f->o.once.n; i++)
		trace_input_close(&f->file[i]);
	free(f->file);
	if (f->map)
		fclose(f->map);
}
