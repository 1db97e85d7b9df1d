// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads options, and helps with wrong ones: "did you mean", "needs a value". */
#include "cli/old_option.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define NAMES_MAX  160 /* bytes of a list of options */
#define ROW_MAX	   400 /* bytes of a row of the help */
#define ROW_INDENT 12  /* least indent of a line that continues a row */

/* Find the long option whose letter or number is @value. */
static const struct option *find(const struct vpt_cli_options *o, int value)
{
	const struct option *l;

	for (l = o->longs; l->name; l++)
		if (l->val == value)
			return l;
	return NULL;
}

/* Put the options that begin with the @len letters at @word into @names. Returns how many. */
static unsigned int find_longer(const struct vpt_cli_options *o, const char *word, size_t len,
				char names[NAMES_MAX])
{
	const struct option *l;
	unsigned int n = 0;
	size_t used = 0;

	for (l = o->longs; l->name; l++) {
		if (strncmp(l->name, word, len))
			continue;
		if (used < NAMES_MAX)
			used += (size_t)snprintf(names + used, NAMES_MAX - used, "%s--%s",
						 n ? ", " : "", l->name);
		n++;
	}
	return n;
}

/* @word: a long option without its value. */
static int unknown_long(const struct vpt_cli_options *o, const char *word, size_t len)
{
	char names[NAMES_MAX], name[64];
	const struct option *l;

	if (len > 2 && find_longer(o, word + 2, len - 2, names) > 1)
		return vpt_fail(VPT_EXIT_USAGE, "%s: %.*s: which one: %s?", o->verb, (int)len, word,
				names);
	snprintf(name, sizeof(name), "%.*s", (int)(len - 2), word + 2);
	for (l = o->longs; l->name; l++)
		if (vpt_cli_is_near(name, l->name))
			return vpt_fail(VPT_EXIT_USAGE,
					"%s: %.*s: no such option: did you mean --%s?", o->verb,
					(int)len, word, l->name);
	return vpt_fail(VPT_EXIT_USAGE, "%s: %.*s: no such option: see vpt %s --help", o->verb,
			(int)len, word, o->verb);
}

/* Returns the help's line about --@name=VALUE from its "--" on. NULL: there is none. */
static const char *find_line(const struct vpt_cli_options *o, const char *name)
{
	const size_t len = strlen(name);
	const char *line = o->help, *at;

	for (; *line; line += strcspn(line, "\n") + 1) {
		at = line + strspn(line, " ");
		if (at != line && at[0] == '-' && at[1] != '-')
			at += strlen("-x, ");
		if (!strncmp(at, "--", 2) && !strncmp(at + 2, name, len) && at[2 + len] == '=')
			return at;
	}
	return NULL;
}

/* Copy a row of the help, with the lines that continue it, as one line with single spaces. */
static void copy_row(const char *row, char *text, size_t size)
{
	const char *at = row;
	size_t used = 0;

	while (*at && used + 1 < size) {
		size_t blanks = strspn(at, " \n");

		/* The next line is another row, or no row. */
		if (memchr(at, '\n', blanks) && (blanks < ROW_INDENT || at[blanks] == '-'))
			break;
		if (blanks)
			text[used++] = ' ';
		else
			text[used++] = *at;
		at += blanks ? blanks : 1;
	}
	text[used] = 0;
}

/* "--psb needs a value: --psb=N: a PSB every 2K << N bytes" */
static int no_value(const struct vpt_cli_options *o, int value)
{
	const struct option *l = find(o, value);
	const char *line = find_line(o, l->name);
	char text[ROW_MAX], *rest;

	if (!line)
		return vpt_fail(VPT_EXIT_USAGE, "%s: --%s needs a value: see vpt %s --help",
				o->verb, l->name, o->verb);
	copy_row(line, text, sizeof(text));
	rest = strchr(text, ' ');
	if (rest)
		*rest++ = 0;
	return vpt_fail(VPT_EXIT_USAGE, "%s: --%s needs a value: %s: %s", o->verb, l->name, text,
			rest ? rest : "see --help");
}

static int wrong(const struct vpt_cli_options *o, const char *word)
{
	const struct option *l = optopt ? find(o, optopt) : NULL;

	if (!strncmp(word, "--", 2) && l)
		return vpt_fail(VPT_EXIT_USAGE, "%s: %s: --%s takes no value", o->verb, word,
				l->name);
	if (!optopt)
		return unknown_long(o, word, strcspn(word, "="));
	return vpt_fail(VPT_EXIT_USAGE, "%s: -%c: no such option: see vpt %s --help", o->verb,
			optopt, o->verb);
}

int vpt_cli_no_word(const char *verb, const char *option, const char *value,
		    const char *const *words)
{
	char list[NAMES_MAX] = "";
	size_t i, used = 0;

	for (i = 0; words[i]; i++) {
		if (vpt_cli_is_near(value, words[i]))
			return vpt_fail(VPT_EXIT_USAGE, "%s: --%s=%s: unknown: did you mean %s?",
					verb, option, value, words[i]);
		if (used < sizeof(list))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
						 !i		? ""
						 : words[i + 1] ? ", "
								: " or ",
						 words[i]);
	}
	return vpt_fail(VPT_EXIT_USAGE, "%s: --%s=%s: not %s", verb, option, value, list);
}

int vpt_cli_option(const struct vpt_cli_options *o, int argc, char **argv)
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, o->shorts, o->longs, NULL);
	if (option == ':')
		no_value(o, optopt);
	else if (option == '?')
		wrong(o, argv[optind - 1]);
	return option == ':' ? '?' : option;
}
