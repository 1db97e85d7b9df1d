// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints what vpt decode counted or collected. */
#include <errno.h>

#include "cli/decode_inside.h"
#include "cli/decode_show.h"

/* Collect what the summary and the coverage show. */
static struct cli_decode_show shown(struct cli_decode *d)
{
	return (struct cli_decode_show){
		.reader = d->reader,
		.symbols = d->symbols,
		.names = &d->names,
		.vcpu = d->o->one_vcpu ? (int)d->o->vcpu : -1,
		.json = d->o->json,
		.limit = d->o->limit,
		.sum = &d->sum,
		.tally = &d->tally,
		.pace = d->o->time ? &d->pace : NULL,
		.shares = d->has_spaces ? &d->shares : NULL,
		.told = !d->by_cr3,
		.cuts = d->cuts,
		.stop = &d->stop,
	};
}

int cli_decode_print(struct cli_decode *d)
{
	const struct cli_decode_show what = shown(d);

	switch (d->o->mode) {
	case CLI_DECODE_SUMMARY:
		cli_decode_show_summary(&what);
		return 0;
	case CLI_DECODE_CALLS:
		if (!cli_decode_calls_forget(&d->calls))
			return -ENOMEM;
		if (!cli_decode_calls_print(&d->calls, d->o->json, d->o->limit))
			d->no_calls = d->o->function && d->o->limit;
		return 0;
	case CLI_DECODE_COVERAGE:
		return cli_decode_show_coverage(&what, &d->no_lines);
	default:
		if (cli_decode_wants_more(d))
			cli_decode_stop_line(&d->stop, &d->names, d->o->json);
		return 0;
	}
}
