// SPDX-License-Identifier: GPL-2.0-or-later
/* The option --symbols, and the symbols of a trace. */
#include "cli/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/open.h"

int cli_symbols_take(const struct cli_given *g)
{
	struct cli_symbols *s = g->field;

	if (!*g->value)
		return cli_option_wrong(g, "a file's name");
	if (s->n == CLI_SYMBOLS_MAX)
		return cli_option_wrong(g, "no more than %u times", CLI_SYMBOLS_MAX);
	s->word[s->n++] = g->value;
	return CLI_EXIT_OK;
}

/* Split off the bias, which follows the last @. A file name may also contain an @. */
static int split(const char *verb, const char *word, char **path, uint64_t *bias)
{
	const char *at = strrchr(word, '@');

	*bias = 0;
	*path = strdup(word);
	if (!*path)
		return cli_fail(CLI_EXIT_HOST, "%s: %s", verb, strerror(ENOMEM));
	if (!at || strchr(at, '/'))
		return CLI_EXIT_OK;
	(*path)[at - word] = 0;
	return cli_number(verb, "symbols=FILE@BIAS", at + 1, bias);
}

static int add(struct debug_symbols *symbols, const char *verb, const char *word)
{
	char why[256], *path;
	uint64_t bias;
	int status = split(verb, word, &path, &bias), err = 0;

	if (!status)
		err = debug_symbols_add(symbols, path, bias, why, sizeof(why));
	if (err)
		status = cli_fail(cli_input_status(err), "%s: --symbols: %s: %s", verb, path, why);
	free(path);
	return status;
}

int cli_symbols_whole(const char *verb, const char *path, const struct debug_symbols *symbols)
{
	const char *problem = debug_symbols_problem(symbols);

	if (!problem)
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_INPUT, "%s: %s: names or lines are missing: %s", verb, path,
			problem);
}

int cli_symbols_open(const struct cli_symbols *s, const char *verb,
		     const struct trace_reader *reader, struct debug_symbols **symbols)
{
	int status = CLI_EXIT_OK;
	unsigned int i;

	if (s->lines ? debug_symbols_open_lines(reader, symbols)
		     : debug_symbols_open(reader, symbols)) {
		*symbols = NULL;
		return cli_fail(CLI_EXIT_HOST, "%s: %s", verb, strerror(ENOMEM));
	}
	for (i = 0; i < s->n && !status; i++)
		status = add(*symbols, verb, s->word[i]);
	return status;
}
