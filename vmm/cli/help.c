// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the help of a verb. */
#include <stdio.h>
#include <string.h>

#include "cli/option.h"

#define WIDTH 88

/* Returns how many of the @len bytes of a line fit into @room, without the trailing blank. */
static size_t fit(const char *line, size_t len, size_t room)
{
	size_t at = room;

	/* A line that begins with a blank has its layout already. */
	if (len <= room || line[0] == ' ')
		return len;
	while (at && line[at] != ' ')
		at--;
	return at ? at : len;
}

/* Print the lines of @text. Wrap long lines, and indent every line but the first. */
static void print_text(const char *text, unsigned int indent)
{
	for (;;) {
		size_t n = fit(text, strcspn(text, "\n"), WIDTH - indent);

		printf("%.*s\n", (int)n, text);
		text += n;
		if (!*text)
			return;
		text++;
		if (*text && *text != '\n')
			printf("%*s", (int)indent, "");
	}
}

static void print_option(const struct cli_option *row, unsigned int column)
{
	char head[80];
	int used;

	if (row->letter)
		used = snprintf(head, sizeof(head), "  -%c, ", row->letter);
	else
		used = snprintf(head, sizeof(head), "      ");
	snprintf(head + used, sizeof(head) - (size_t)used, "--%s%s", row->name,
		 row->value ? row->value : "");
	if (strlen(head) < column)
		printf("%-*s", (int)column, head);
	else
		printf("%s\n%*s", head, (int)column, "");
	print_text(row->text, column);
}

void cli_verb_help(const struct cli_verb *verb)
{
	const struct cli_option *row;
	const char *usage = verb->usage;
	const char *word = "usage:";
	size_t len;

	for (;; usage += len + 1, word = "") {
		len = strcspn(usage, "\n");
		printf("%-6s vpt %s %.*s\n", word, verb->name, (int)len, usage);
		if (!usage[len])
			break;
	}
	putchar('\n');
	print_text(verb->about, 0);
	putchar('\n');
	for (row = verb->options; row->text; row++) {
		if (row->name) {
			print_option(row, verb->column);
		} else {
			putchar('\n');
			print_text(row->text, 0);
			putchar('\n');
		}
	}
	putchar('\n');
	print_text(verb->notes, 0);
}
