// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses command lines with the tables of options, and reports wrong ones. */
#include "cli/option.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 160 /* bytes for a list of names */
#define TEXT_MAX  400 /* bytes for the text of a row */
#define ROWS_MAX  96
#define FIRST_ROW 256 /* the value of getopt_long() for row 0; smaller values are letters */

/* The arguments of getopt_long(), built from a table. */
struct getopt_tables {
	struct option longs[ROWS_MAX + 1];
	char shorts[2 + 2 * ROWS_MAX + 1];
};

bool cli_is_near(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (!*a || !*b)
		return strlen(a) + strlen(b) <= 1;
	return !strcmp(a + 1, b) || !strcmp(a, b + 1) || !strcmp(a + 1, b + 1) ||
	       (a[0] == b[1] && a[1] == b[0] && !strcmp(a + 2, b + 2));
}

const char *cli_option_word(const struct cli_option *option, unsigned int i)
{
	if (option->word_at)
		return option->word_at(i);
	return option->words ? option->words[i] : NULL;
}

static int has_value(const struct cli_option *row)
{
	if (!row->value)
		return no_argument;
	return row->value[0] == '[' ? optional_argument : required_argument;
}

static void make_tables(const struct cli_verb *verb, struct getopt_tables *t)
{
	const struct cli_option *row;
	struct option *l = t->longs;
	char *s = t->shorts;

	/* With "+", options behind the first operand belong to the command to run. */
	if (verb->command)
		*s++ = '+';
	*s++ = ':';
	for (row = verb->options; row->text && l < t->longs + ROWS_MAX; row++) {
		if (!row->name)
			continue;
		*l++ = (struct option){row->name, has_value(row), NULL,
				       FIRST_ROW + (int)(row - verb->options)};
		if (row->letter)
			*s++ = row->letter;
		if (row->letter && row->value)
			*s++ = ':';
	}
	*l = (struct option){0};
	*s = 0;
}

/* Returns the row for a result of getopt_long(), or NULL. */
static const struct cli_option *find(const struct cli_verb *verb, int value)
{
	const struct cli_option *row;

	if (value >= FIRST_ROW)
		return &verb->options[value - FIRST_ROW];
	for (row = verb->options; row->text; row++)
		if (value && row->letter == value)
			return row;
	return NULL;
}

/* Append the options that begin with the @len letters at @word to @names. Returns their number. */
static unsigned int find_longer(const struct cli_verb *verb, const char *word, size_t len,
				char names[NAMES_MAX])
{
	const struct cli_option *row;
	unsigned int n = 0;
	size_t used = 0;

	for (row = verb->options; row->text; row++) {
		if (!row->name || strncmp(row->name, word, len))
			continue;
		if (used < NAMES_MAX)
			used += (size_t)snprintf(names + used, NAMES_MAX - used, "%s--%s",
						 n ? ", " : "", row->name);
		n++;
	}
	return n;
}

/* Report an unknown long option. @word is the option without its value. */
static int unknown_long(const struct cli_verb *verb, const char *word, size_t len)
{
	char names[NAMES_MAX], name[64];
	const struct cli_option *row;

	if (len > 2 && find_longer(verb, word + 2, len - 2, names) > 1)
		return cli_fail(CLI_EXIT_USAGE, "%s: %.*s: which one: %s?", verb->name, (int)len,
				word, names);
	snprintf(name, sizeof(name), "%.*s", (int)(len - 2), word + 2);
	for (row = verb->options; row->text; row++)
		if (row->name && cli_is_near(name, row->name))
			return cli_fail(CLI_EXIT_USAGE,
					"%s: %.*s: no such option: did you mean --%s?", verb->name,
					(int)len, word, row->name);
	return cli_fail(CLI_EXIT_USAGE, "%s: %.*s: no such option: see vpt %s --help", verb->name,
			(int)len, word, verb->name);
}

/* Print a message such as "--psb needs a value: --psb=N: a PSB every 2K << N bytes". */
static int no_value(const struct cli_verb *verb, const struct cli_option *row)
{
	char text[TEXT_MAX], *end;

	snprintf(text, sizeof(text), "%s", row->text);
	for (end = text; (end = strchr(end, '\n'));)
		*end = ' ';
	return cli_fail(CLI_EXIT_USAGE, "%s: --%s needs a value: --%s%s: %s", verb->name, row->name,
			row->name, row->value, text);
}

/* Report the error in @word, which getopt_long() has refused. */
static int wrong(const struct cli_verb *verb, const char *word)
{
	const struct cli_option *row = find(verb, optopt);

	if (!strncmp(word, "--", 2) && row)
		return cli_fail(CLI_EXIT_USAGE, "%s: %s: --%s takes no value", verb->name, word,
				row->name);
	if (!optopt)
		return unknown_long(verb, word, strcspn(word, "="));
	return cli_fail(CLI_EXIT_USAGE, "%s: -%c: no such option: see vpt %s --help", verb->name,
			optopt, verb->name);
}

int cli_option_wrong(const struct cli_given *g, const char *why, ...)
{
	char text[TEXT_MAX];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	return cli_fail(CLI_EXIT_USAGE, "%s: --%s=%s: %s", g->verb->name, g->option->name, g->value,
			text);
}

int cli_option_no_word(const struct cli_given *g, const char *value)
{
	char list[NAMES_MAX] = "";
	const char *word;
	unsigned int i;
	size_t used = 0;

	for (i = 0; (word = cli_option_word(g->option, i)); i++) {
		if (cli_is_near(value, word))
			return cli_fail(CLI_EXIT_USAGE, "%s: --%s=%s: unknown: did you mean %s?",
					g->verb->name, g->option->name, value, word);
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 !i				     ? ""
						 : cli_option_word(g->option, i + 1) ? ", "
										     : " or ",
						 word);
	}
	return cli_fail(CLI_EXIT_USAGE, "%s: --%s=%s: not %s", g->verb->name, g->option->name,
			value, list);
}

static int take(const struct cli_verb *verb, const struct cli_option *row, void *options)
{
	struct cli_given g = {verb, row, optarg, options, (char *)options + row->field};
	const char **group = (const char **)(void *)((char *)options + row->group);
	int status;

	if (row->given)
		*((bool *)options + row->given) = true;
	if (row->group && !*group)
		*group = row->name;
	status = row->take(&g);
	if (!status && verb->seen)
		verb->seen(&g);
	return status;
}

static int take_operands(const struct cli_verb *verb, int argc, char **argv, void *options)
{
	const struct cli_operand *o = verb->operands;
	const char *extra;

	for (; o->name; o++) {
		if (optind >= argc && o->optional)
			return CLI_EXIT_OK;
		if (optind >= argc)
			return cli_fail(CLI_EXIT_USAGE, "%s: %s is missing: see vpt %s --help",
					verb->name, o->name, verb->name);
		*(const char **)(void *)((char *)options + o->field) = argv[optind++];
	}
	extra = argv[optind];
	if (optind >= argc)
		return CLI_EXIT_OK;
	if (o == verb->operands)
		return cli_fail(CLI_EXIT_USAGE, "%s: %s: not wanted", verb->name, extra);
	if (o == verb->operands + 1)
		return cli_fail(CLI_EXIT_USAGE, "%s: %s: only one %s", verb->name, extra,
				verb->operands[0].name);
	return cli_fail(CLI_EXIT_USAGE, "%s: %s: only %s and %s", verb->name, extra,
			verb->operands[0].name, verb->operands[1].name);
}

int cli_options_parse(const struct cli_verb *verb, int argc, char **argv, void *options)
{
	int status = CLI_EXIT_OK, option;
	struct getopt_tables t;

	make_tables(verb, &t);
	opterr = 0;
	optind = 0;
	while (!status && (option = getopt_long(argc, argv, t.shorts, t.longs, NULL)) != -1) {
		if (option == ':')
			status = no_value(verb, find(verb, optopt));
		else if (option == '?')
			status = wrong(verb, argv[optind - 1]);
		else
			status = take(verb, find(verb, option), options);
	}
	if (status || !verb->command)
		return status ? status : take_operands(verb, argc, argv, options);
	if (optind < argc)
		*(char ***)(void *)((char *)options + verb->command) = argv + optind;
	return CLI_EXIT_OK;
}
