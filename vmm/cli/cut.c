// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the part of a trace that --from, --until and --last select. */
#include "cli/cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "decode/cut_find.h"

#define MARK   "mark:"
#define SYMBOL "symbol:"

bool cli_amount_read(const char *text, struct cli_amount *amount)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	const char *end = cli_read_number(text, &amount->n);
	size_t i;

	amount->is_time = end && *end;
	if (!amount->is_time)
		return end;
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(end, units[i].name))
			return !__builtin_mul_overflow(amount->n, units[i].ns, &amount->n);
	}
	return false;
}

__extension__ typedef unsigned __int128 u128;

uint64_t cli_amount_ticks(const struct cli_amount *amount, uint64_t tsc_hz)
{
	const u128 ticks = (u128)amount->n * tsc_hz / 1000000000;

	/* A time of less than a tick is a tick, unless it is 0. */
	if (!ticks)
		return amount->n && tsc_hz;
	return ticks < UINT64_MAX ? (uint64_t)ticks : UINT64_MAX - 1;
}

/* Returns the text behind @prefix, or NULL. */
static const char *behind(const char *text, const char *prefix)
{
	return text && !strncmp(text, prefix, strlen(prefix)) ? text + strlen(prefix) : NULL;
}

bool cli_cut_names(const struct cli_cut *cut)
{
	return behind(cut->from, SYMBOL) || behind(cut->until, SYMBOL);
}

/* Find the address of a name, or read an address. Returns an exit status. */
static int read_symbol(const struct cli_cut_of *of, const char *option, const char *name,
		       struct decode_place *place)
{
	const struct debug_symbol *symbol;
	unsigned int places;

	place->kind = DECODE_PLACE_ADDRESS;
	if (cli_is_number(name, &place->n))
		return CLI_EXIT_OK;
	places = debug_symbols_named(of->symbols, name, strlen(name), &symbol);
	if (!places)
		return cli_fail(CLI_EXIT_USAGE, "%s: --%s=" SYMBOL "%s: there is no symbol '%s'",
				of->verb, option, name, name);
	if (places > 1)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --%s=" SYMBOL "%s: several places are named '%s': give an "
				"address (" SYMBOL "0x...)",
				of->verb, option, name, name);
	place->n = symbol->start;
	return CLI_EXIT_OK;
}

/* Read the place of --from or --until. Returns an exit status. */
static int read_place(const struct cli_cut_of *of, const char *option, const char *text,
		      struct decode_place *place)
{
	const uint64_t tsc_hz = trace_reader_info(of->reader)->tsc_hz;
	const char *mark = behind(text, MARK), *name = behind(text, SYMBOL);
	struct cli_amount amount;

	*place = (struct decode_place){.kind = DECODE_PLACE_NONE};
	if (!text)
		return CLI_EXIT_OK;
	if (name && *name)
		return read_symbol(of, option, name, place);
	if (mark && *mark) {
		*place = (struct decode_place){.kind = DECODE_PLACE_MARK, .mark = mark};
		return CLI_EXIT_OK;
	}
	if (!cli_amount_read(text, &amount))
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --%s=%s: give a number of instructions, " SYMBOL
				"NAME, a time such as 10us, or mark:TEXT",
				of->verb, option, text);
	if (amount.is_time && !tsc_hz)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --%s=%s: %s has no TSC frequency: give instructions", of->verb,
				option, text, of->path);
	place->kind = amount.is_time ? DECODE_PLACE_TIME : DECODE_PLACE_CLOCK;
	place->n = amount.is_time ? cli_amount_ticks(&amount, tsc_hz) : amount.n;
	return CLI_EXIT_OK;
}

static bool wants(void *context, const struct decode_item *item)
{
	return cli_decode_side_wants(context, item);
}

static int missing(const struct cli_cut_of *of, const char *option, const char *text)
{
	return cli_fail(CLI_EXIT_USAGE, "%s: --%s=%s: %s %s", of->verb, option, text, of->path,
			behind(text, MARK) ? "has no such mark" : "does not execute it");
}

int cli_cut_find(const struct cli_cut *cut, const struct cli_cut_of *of,
		 struct decode_window **cuts)
{
	struct decode_cut_find find = {
		.reader = of->reader,
		.vcpu = of->vcpu,
		.only_last = cut->has_last,
		.last = cut->last,
		.pti = of->pti,
		.wants = wants,
		.context = (void *)(uintptr_t)of->side,
	};
	int status, err;

	*cuts = NULL;
	if (!cli_cut_given(cut))
		return CLI_EXIT_OK;
	if (cut->has_last && (cut->from || cut->until))
		return cli_fail(CLI_EXIT_USAGE, "%s: --last: not with --from and --until",
				of->verb);
	status = read_place(of, "from", cut->from, &find.from);
	if (!status)
		status = read_place(of, "until", cut->until, &find.until);
	if (status)
		return status;
	*cuts = calloc(trace_reader_info(of->reader)->vcpus, sizeof(**cuts));
	if (!*cuts)
		return cli_fail(CLI_EXIT_HOST, "%s: %s", of->verb, strerror(ENOMEM));
	err = decode_cut_find(&find, *cuts);
	if (err == -ENOENT)
		return missing(of, "from", cut->from);
	if (err == -ESRCH)
		return missing(of, "until", cut->until);
	if (err)
		return cli_fail(CLI_EXIT_HOST, "%s: %s: %s", of->verb, of->path, cli_reason(-err));
	return CLI_EXIT_OK;
}
