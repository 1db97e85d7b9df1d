// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: resolves ranges by symbol. */
#include "cli/run_range.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"

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

/* Find a symbol of the guest. Returns 0, 1, or 2 if more than one place has the name. */
static unsigned int find_in_guest(const struct debug *s, const char *wanted, size_t len,
				  uint64_t *first, uint64_t *last)
{
	const struct debug_elf_symbol *found = NULL;
	size_t i;

	for (i = 0; i < s->nsymbols; i++) {
		const struct debug_elf_symbol *symbol = &s->symbols[i];

		if (!symbol->defined || strncmp(symbol->name, wanted, len) || symbol->name[len])
			continue;
		if (found && symbol->value != found->value)
			return 2;
		if (!found)
			found = symbol;
	}
	if (!found)
		return 0;
	*first = found->value;
	*last = found->size ? found->value + (found->size - 1) : guess_end(s, found->value);
	return *last >= *first;
}

/* Likewise in the files of --symbols. */
static unsigned int find_in_files(const struct debug_symbols *s, const char *wanted, size_t len,
				  uint64_t *first, uint64_t *last)
{
	const struct debug_symbol *symbol;
	unsigned int places = debug_symbols_named(s, wanted, len, &symbol);

	if (places) {
		*first = symbol->start;
		*last = symbol->end - 1;
	}
	return places;
}

static const char *option_name(const struct cli_run_range *r)
{
	if (r->option)
		return r->option;
	return r->stop ? "stop" : "filter";
}

static int addresses(struct cli_run_range *r, const char *verb)
{
	const char *dash = cli_read_number(r->text, &r->first);

	if (!dash || *dash != '-' || !cli_is_number(dash + 1, &r->last))
		return cli_fail(CLI_EXIT_USAGE, "%s: --%s=%s: not FIRST-LAST", verb, option_name(r),
				r->text);
	return CLI_EXIT_OK;
}

static int find_name(const struct cli_run_range *r, const struct cli_run_names *s,
		     const char *wanted, size_t len, uint64_t *first, uint64_t *last)
{
	unsigned int places = find_in_guest(&s->guest, wanted, len, first, last);

	if (!places && s->files)
		places = find_in_files(s->files, wanted, len, first, last);
	if (!places)
		return cli_fail(CLI_EXIT_USAGE, "%s: --%s=%s: there is no symbol '%.*s'", s->verb,
				option_name(r), r->text, (int)len, wanted);
	if (places > 1)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --%s=%s: several places are named '%.*s': give addresses",
				s->verb, option_name(r), r->text, (int)len, wanted);
	return CLI_EXIT_OK;
}

static int by_symbol(struct cli_run_range *r, const struct cli_run_names *s)
{
	const char *dots = strstr(r->text, "..");
	size_t len = dots ? (size_t)(dots - r->text) : strlen(r->text);
	uint64_t unused;
	int status;

	if (!s->guest.nsymbols && !s->files)
		return cli_fail(CLI_EXIT_INPUT,
				"%s: --%s=%s: the guest has no symbols: give addresses or "
				"--symbols=FILE",
				s->verb, option_name(r), r->text);
	status = find_name(r, s, r->text, len, &r->first, &r->last);
	if (!status && dots)
		status = find_name(r, s, dots + 2, strlen(dots + 2), &unused, &r->last);
	return status;
}

static int resolve(struct cli_run_options *o, const struct cli_run_names *s)
{
	int status = CLI_EXIT_OK;
	size_t i;

	for (i = 0; !status && i < o->ranges; i++) {
		struct cli_run_range *r = &o->range[i];

		if (r->text[0] >= '0' && r->text[0] <= '9')
			status = addresses(r, s->verb);
		else
			status = by_symbol(r, s);
		if (!status && r->last < r->first)
			status = cli_fail(CLI_EXIT_USAGE, "%s: --%s=%s: ends before it begins",
					  s->verb, option_name(r), r->text);
	}
	return status;
}

int cli_run_find_place(const struct cli_run_names *s, const char *option, const char *text,
		       size_t len, uint64_t *address)
{
	char number[24];
	const struct cli_run_range r = {.text = text, .option = option};
	uint64_t last;

	snprintf(number, sizeof(number), "%.*s", (int)len, text);
	if (len < sizeof(number) && cli_is_number(number, address))
		return CLI_EXIT_OK;
	return find_name(&r, s, text, len, address, &last);
}

int cli_run_names_open(struct cli_run_names *s, const struct cli_run_options *o, const void *elf,
		       size_t len)
{
	const char *problem;
	int status = CLI_EXIT_OK;

	*s = (struct cli_run_names){.verb = o->verb};
	/* The loader of the file reports its errors. */
	if (debug_read(elf, len, DEBUG_SYMBOLS, &s->guest, &problem))
		return cli_fail(CLI_EXIT_HOST, "%s: %s: no memory to look for symbols", o->verb,
				o->guest);
	if (o->symbols.n)
		status = cli_symbols_open(&o->symbols, o->verb, NULL, &s->files);
	if (!status && s->files)
		status = cli_symbols_whole(o->verb, o->guest, s->files);
	return status;
}

void cli_run_names_close(struct cli_run_names *s)
{
	debug_symbols_close(s->files);
	debug_free(&s->guest);
}

/* Replace the symbol of a trigger by its address. */
static int resolve_trigger(struct cli_run_trigger *t, const char *option,
			   const struct cli_run_names *s)
{
	struct cli_run_range r = {.text = t->text, .option = option};
	int status;

	if (t->kind != CLI_RUN_TRIGGER_SYMBOL)
		return CLI_EXIT_OK;
	status = by_symbol(&r, s);
	t->kind = CLI_RUN_TRIGGER_ADDRESS;
	t->value = r.first;
	return status;
}

static bool has_symbols(const struct cli_run_options *o)
{
	return o->ranges || o->window.from.kind == CLI_RUN_TRIGGER_SYMBOL ||
	       o->window.until.kind == CLI_RUN_TRIGGER_SYMBOL;
}

int cli_run_resolve(struct cli_run_options *o, const void *elf, size_t len)
{
	unsigned int have = core_system_ranges(o->system, &o->caps);
	struct cli_run_names s;
	int status;

	if (o->symbols.n && !has_symbols(o) && !o->monitor && !o->trace_later &&
	    !o->symbols_elsewhere)
		return cli_fail(
			CLI_EXIT_USAGE,
			"run: --symbols: requires --filter, --stop, --trace-from or --monitor");
	if (!has_symbols(o))
		return CLI_EXIT_OK;
	if (o->ranges > have)
		return cli_fail(CLI_EXIT_USAGE,
				"%s: --filter, --stop: %zu ranges, but model %s has %u", o->verb,
				o->ranges, o->model, have);
	status = cli_run_names_open(&s, o, elf, len);
	if (!status)
		status = resolve(o, &s);
	if (!status)
		status = resolve_trigger(&o->window.from, "trace-from", &s);
	if (!status)
		status = resolve_trigger(&o->window.until, "trace-until", &s);
	cli_run_names_close(&s);
	return status;
}
