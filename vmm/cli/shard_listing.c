// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt shard merge: print the listings of all shards as one. */
#include <errno.h>

#include "cli/cli.h"
#include "cli/decode_stop.h"
#include "cli/shard_show.h"
#include "decode/listing_join.h"

/* Read a result again, and print its listing. Texts are too long to be kept. */
static int print_result(const struct cli_shard_options *o, const struct cli_plan *plan,
			const struct cli_shard_range *range, struct decode_listing_join *join)
{
	struct decode_partial p;
	char why[CLI_SHARD_WHY], path[PATH_MAX] = "";
	int status = cli_shard_read(o, plan, range, &p, why, sizeof(why)), err;

	if (status) {
		status = cli_fail(status, "shard: %s", why);
	} else {
		err = decode_text_read(&p.text, decode_listing_join, join);
		if (!err && !decode_listing_join_whole(join))
			err = -EINVAL;
		(void)cli_shard_file(o, range, path, sizeof(path));
		if (err == -EINVAL)
			status =
				cli_fail(CLI_EXIT_INPUT, "shard: %s: damaged: not a listing", path);
		else if (err)
			status = cli_fail(CLI_EXIT_HOST, "shard: %s: %s", path, cli_reason(-err));
	}
	decode_partial_free(&p);
	return status;
}

/* Print the last line, if the guest did not end itself. */
static int print_stop(const struct cli_plan *plan, const struct cli_shard_result *r)
{
	const struct cli_decode_stop stop = {.pm = trace_reader_stop(r->reader)};
	struct cli_names names = {.symbols = r->symbols};

	if (!stop.pm)
		return 0;
	if (cli_decode_stop_names(&stop, plan->listing.json) &&
	    debug_symbols_read_lines(r->symbols))
		return -ENOMEM;
	names.disasm = decode_disasm_new(r->symbols);
	if (!names.disasm)
		return -ENOMEM;
	cli_decode_stop_line(&stop, &names, plan->listing.json);
	decode_disasm_free(names.disasm);
	return 0;
}

int cli_shard_listing(const struct cli_shard_options *o, const struct cli_plan *plan,
		      struct cli_shard_result *r)
{
	struct decode_listing_join join = {.out = stdout, .left = o->limit};
	int status = CLI_EXIT_OK;
	size_t i;

	for (i = 0; !status && i < r->ranges.n && join.left; i++)
		status = print_result(o, plan, &r->ranges.at[i], &join);
	/* Errors behind the limit are not reported, as in vpt decode. */
	r->sum.errors = join.errors;
	if (!status && join.left && print_stop(plan, r))
		status = cli_fail(CLI_EXIT_HOST, "shard: %s", cli_reason(ENOMEM));
	return status;
}
