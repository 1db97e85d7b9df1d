// SPDX-License-Identifier: GPL-2.0-or-later
/* Parsers of options that several verbs share, by the type of the field. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option.h"
#include "trace/format.h"

int cli_take_flag(const struct cli_given *g)
{
	*(bool *)g->field = true;
	return CLI_EXIT_OK;
}

int cli_take_bits(const struct cli_given *g)
{
	*(uint64_t *)g->field |= g->option->bits;
	return CLI_EXIT_OK;
}

int cli_take_text(const struct cli_given *g)
{
	*(const char **)g->field = g->value;
	return CLI_EXIT_OK;
}

int cli_take_help(const struct cli_given *g)
{
	cli_verb_help(g->verb);
	return CLI_EXIT_DONE;
}

const char *cli_read_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return text[0] >= '0' && text[0] <= '9' && !errno ? end : NULL;
}

bool cli_is_number(const char *text, uint64_t *value)
{
	const char *end = cli_read_number(text, value);

	return end && !*end;
}

int cli_number(const char *verb, const char *option, const char *text, uint64_t *value)
{
	if (cli_is_number(text, value))
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_USAGE, "%s: --%s=%s: not a number", verb, option, text);
}

int cli_take_number(const struct cli_given *g)
{
	const struct cli_option *row = g->option;
	uint64_t *value = g->field;

	if (!cli_is_number(g->value, value))
		return cli_option_wrong(g, "not a number");
	if (row->most && (*value < row->least || *value > row->most))
		return cli_option_wrong(g, "use %" PRIu64 " to %" PRIu64, row->least, row->most);
	return CLI_EXIT_OK;
}

int cli_take_arg(const struct cli_given *g)
{
	struct cli_args *args = g->field;

	if (args->n == sizeof(args->value) / sizeof(args->value[0]))
		return cli_option_wrong(g, "at most four");
	if (!cli_is_number(g->value, &args->value[args->n++]))
		return cli_option_wrong(g, "not a number");
	return CLI_EXIT_OK;
}

int cli_take_size(const struct cli_given *g)
{
	static const char units[] = "KMG";
	uint64_t *value = g->field;
	const char *end = cli_read_number(g->value, value);
	/* memchr() would find a NUL in the place of a blank. */
	const char *unit = end ? memchr(units, *end & ~0x20, strlen(units)) : NULL;

	if (end && !*end)
		return CLI_EXIT_OK;
	if (!unit || end[1] ||
	    __builtin_mul_overflow(*value, 1ull << (10 * (unit - units + 1)), value))
		return cli_option_wrong(g, "not a size such as 64M");
	return CLI_EXIT_OK;
}

/* Find the index of the value among the words. Returns false after one line. */
static bool find_word(const struct cli_given *g, unsigned int *i)
{
	const char *word;

	for (*i = 0; (word = cli_option_word(g->option, *i)); ++*i)
		if (!strcmp(word, g->value))
			return true;
	(void)cli_option_no_word(g, g->value);
	return false;
}

int cli_take_word(const struct cli_given *g)
{
	unsigned int i;

	if (!find_word(g, &i))
		return CLI_EXIT_USAGE;
	*(unsigned int *)g->field = i;
	return CLI_EXIT_OK;
}

int cli_take_name(const struct cli_given *g)
{
	unsigned int i;

	return find_word(g, &i) ? cli_take_text(g) : CLI_EXIT_USAGE;
}

int cli_take_owner(const struct cli_given *g)
{
	enum trace_owner *owner = g->field;
	unsigned int i;

	if (!find_word(g, &i))
		return CLI_EXIT_USAGE;
	*owner = !strcmp(g->value, "guest")  ? TRACE_OWNER_GUEST
		 : !strcmp(g->value, "host") ? TRACE_OWNER_HOST
					     : TRACE_OWNER_NONE;
	return CLI_EXIT_OK;
}
