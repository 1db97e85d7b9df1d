// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: resolves ranges by symbol. */
#include "cli/run.h"

#include <string.h>

#include "cli/cli.h"
#include "debug/debug.h"

/* Return the end of code without a size: the next symbol. */
static uint64_t guess_end(const struct debug *s, uint64_t start)
{
	uint64_t end = UINT64_MAX;
	size_t i;

	for (i = 0; i < s->nsymbols; i++) {
		const struct debug_elf_symbol *symbol = &s->symbols[i];

		if (symbol->defined && symbol->value > start && symbol->value <= end)
			end = symbol->value - 1;
	}
	return end == UINT64_MAX ? start : end;
}

static bool find(const struct debug *s, const char *wanted, size_t len, uint64_t *first,
		 uint64_t *last)
{
	size_t i;

	for (i = 0; i < s->nsymbols; i++) {
		const struct debug_elf_symbol *symbol = &s->symbols[i];

		if (!symbol->defined || strncmp(symbol->name, wanted, len) || symbol->name[len])
			continue;
		*first = symbol->value;
		if (symbol->size)
			*last = symbol->value + (symbol->size - 1);
		else
			*last = guess_end(s, symbol->value);
		return *last >= *first;
	}
	return false;
}

static const char *option_name(const struct cli_run_range *r)
{
	return r->stop ? "stop" : "filter";
}

static int addresses(struct cli_run_range *r)
{
	const char *dash = cli_read_number(r->text, &r->first);

	if (!dash || *dash != '-' || !cli_is_number(dash + 1, &r->last))
		return cli_fail(CLI_EXIT_USAGE, "run: --%s=%s: not FIRST-LAST", option_name(r),
				r->text);
	return CLI_EXIT_OK;
}

static int by_symbol(struct cli_run_range *r, const struct debug *s)
{
	const char *dots = strstr(r->text, "..");
	size_t len = dots ? (size_t)(dots - r->text) : strlen(r->text);
	uint64_t unused;

	if (!s->nsymbols)
		return cli_fail(CLI_EXIT_INPUT,
				"run: --%s=%s: the guest has no symbols: give addresses, or do not "
				"strip it",
				option_name(r), r->text);
	if (!find(s, r->text, len, &r->first, &r->last))
		return cli_fail(CLI_EXIT_USAGE, "run: --%s=%s: the guest has no symbol '%.*s'",
				option_name(r), r->text, (int)len, r->text);
	if (dots && !find(s, dots + 2, strlen(dots + 2), &unused, &r->last))
		return cli_fail(CLI_EXIT_USAGE, "run: --%s=%s: the guest has no symbol '%s'",
				option_name(r), r->text, dots + 2);
	return CLI_EXIT_OK;
}

int cli_run_resolve(struct cli_run_options *o, const void *elf, size_t len)
{
	unsigned int have = core_system_ranges(o->system, &o->caps);
	int status = CLI_EXIT_OK;
	const char *problem;
	struct debug s;
	size_t i;

	if (!o->ranges)
		return CLI_EXIT_OK;
	if (o->ranges > have)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --filter, --stop: %zu ranges, but model %s has %u", o->ranges,
				o->model, have);
	/* The loader of the file reports its errors. */
	if (debug_read(elf, len, DEBUG_SYMBOLS, &s, &problem))
		return cli_fail(CLI_EXIT_HOST, "run: %s: no memory to look for symbols", o->guest);
	for (i = 0; !status && i < o->ranges; i++) {
		struct cli_run_range *r = &o->range[i];

		if (r->text[0] >= '0' && r->text[0] <= '9')
			status = addresses(r);
		else
			status = by_symbol(r, &s);
		if (!status && r->last < r->first)
			status = cli_fail(CLI_EXIT_USAGE, "run: --%s=%s: ends before it begins",
					  option_name(r), r->text);
	}
	debug_free(&s);
	return status;
}
