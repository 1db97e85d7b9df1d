// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the scripts with which shells complete command lines of vpt, from the tables of options.
 */
#include <stdio.h>
#include <string.h>

#include "cli/option.h"

/* Call @each for the options of @verb, and for --sandbox, which every verb has. */
static void for_options(const struct cli_verb *verb,
			void (*each)(const struct cli_verb *verb, const struct cli_option *row))
{
	const struct cli_option *row;

	for (row = verb->options; row->text; row++)
		if (row->name)
			each(verb, row);
	each(verb, cli_option_sandbox);
}

/* Print the words of a value, separated by blanks. Returns the number of words. */
static unsigned int print_words(const struct cli_option *row)
{
	const char *word;
	unsigned int i;

	for (i = 0; (word = cli_option_word(row, i)); i++)
		printf("%s%s", i ? " " : "", word);
	return i;
}

static bool is_file(const struct cli_option *row)
{
	return strstr(row->value, "FILE") || strstr(row->value, "OUT") ||
	       strstr(row->value, "DUMP");
}

static bool is_optional(const struct cli_option *row)
{
	return row->value[0] == '[';
}

static bool is_list(const struct cli_option *row)
{
	return strchr(row->value, ',') || strstr(row->value, "LIST");
}

static void bash_option(const struct cli_verb *verb, const struct cli_option *row)
{
	(void)verb;
	if (!row->value || is_optional(row))
		printf(" --%s", row->name);
	if (row->value)
		printf(" --%s=", row->name);
}

static void bash_value(const struct cli_verb *verb, const struct cli_option *row)
{
	if (!row->value)
		return;
	printf("\t%s,--%s=", verb->name, row->name);
	if (!is_optional(row))
		printf(" | %s,--%s", verb->name, row->name);
	if (row->letter)
		printf(" | %s,-%c", verb->name, row->letter);
	printf(") echo '");
	if (!print_words(row))
		printf("%s", strstr(row->value, "DIR") ? "DIR" : is_file(row) ? "FILE" : "NONE");
	puts("' ;;");
}

static const char bash_main[] =
	"\tesac\n"
	"}\n"
	"\n"
	"_vpt() {\n"
	"\tlocal at=$COMP_CWORD verb=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} values\n"
	"\tlocal option=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tCOMPREPLY=()\n"
	"\tif [ \"$at\" -eq 1 ] || { [ \"$at\" -eq 2 ] && [ \"$verb\" = help ]; }; then\n"
	"\t\tvalues=$(_vpt_verbs)\n"
	"\t\t[ \"$at\" -eq 2 ] || values+=' help --help --version'\n"
	"\t\tCOMPREPLY=($(compgen -W \"$values\" -- \"$word\"))\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t# To readline \"=\" is a word.\n"
	"\tif [ \"$word\" = = ]; then\n"
	"\t\toption+== word=\n"
	"\telif [ \"$option\" = = ]; then\n"
	"\t\toption=${COMP_WORDS[at - 2]}=\n"
	"\tfi\n"
	"\tvalues=$(_vpt_values \"$verb\" \"$option\")\n"
	"\tcase $values in\n"
	"\tFILE) ;;\n"
	"\tDIR) compopt +o default -o dirnames ;;\n"
	"\tNONE) compopt +o default ;;\n"
	"\t?*)\n"
	"\t\t# In a list, what follows the last comma.\n"
	"\t\tCOMPREPLY=($(compgen -P \"${word%\"${word##*,}\"}\" -W \"$values\" -- "
	"\"${word##*,}\"))\n"
	"\t\t;;\n"
	"\t*)\n"
	"\t\t[[ $word == -* ]] || return 0\n"
	"\t\tCOMPREPLY=($(compgen -W \"$(_vpt_options \"$verb\")\" -- \"$word\"))\n"
	"\t\t[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n"
	"\t\t;;\n"
	"\tesac\n"
	"}\n"
	"complete -o default -F _vpt vpt";

static void print_bash(void)
{
	const struct cli_verb *const *verb;

	printf("# bash completion of vpt(1), made by vpt --completion=bash\n"
	       "\n"
	       "_vpt_verbs() {\n"
	       "\techo '");
	for (verb = cli_verbs; *verb; verb++)
		printf(" %s", (*verb)->name);
	puts("'\n"
	     "}\n"
	     "\n"
	     "# _vpt_options VERB: print its options.\n"
	     "_vpt_options() {\n"
	     "\tcase $1 in");
	for (verb = cli_verbs; *verb; verb++) {
		printf("\t%s) echo '", (*verb)->name);
		for_options(*verb, bash_option);
		puts("' ;;");
	}
	puts("\tesac\n"
	     "}\n"
	     "\n"
	     "# _vpt_values VERB OPTION: print the words that the value can be, FILE, DIR, or NONE "
	     "if\n"
	     "# it cannot be guessed. Print nothing if no value follows.\n"
	     "_vpt_values() {\n"
	     "\tcase $1,$2 in");
	for (verb = cli_verbs; *verb; verb++)
		for_options(*verb, bash_value);
	puts(bash_main);
}

/* Print @text for use between single quotes, where _arguments interprets ':' and brackets. */
static void zsh_text(const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'') {
			printf("'\\''");
			continue;
		}
		if (strchr(special, *text))
			putchar('\\');
		putchar(*text);
	}
}

/* Print the part after the description of an option: its value and the completion of the value. */
static void zsh_value(const struct cli_option *row)
{
	const char *name = row->value + strspn(row->value, "[=");
	char text[64];

	snprintf(text, sizeof(text), "%s", name);
	if (is_optional(row))
		text[strcspn(text, "]")] = 0;
	printf(is_optional(row) ? "::" : ":");
	zsh_text(text, "\\:");
	putchar(':');
	if (cli_option_word(row, 0)) {
		printf(is_list(row) ? "_values -s , word " : "(");
		print_words(row);
		printf(is_list(row) ? "" : ")");
	} else {
		printf("%s", strstr(row->value, "DIR") ? "_files -/"
			     : is_file(row)	       ? "_files"
						       : " ");
	}
}

static void zsh_option(const struct cli_verb *verb, const struct cli_option *row)
{
	const char *sign = !row->value ? "" : is_optional(row) ? "=-" : "=";

	(void)verb;
	if (row->letter)
		printf("\t\t\t'*'{-%c%s,--%s%s}'[", row->letter, row->value ? "+" : "", row->name,
		       sign);
	else
		printf("\t\t\t'*--%s%s[", row->name, sign);
	zsh_text(row->text, "\\[]:");
	putchar(']');
	if (row->value)
		zsh_value(row);
	puts("' \\");
}

static void zsh_verb(const struct cli_verb *verb)
{
	const struct cli_operand *o;

	printf("\t%s)\n\t\t_arguments -s -S : \\\n", verb->name);
	for_options(verb, zsh_option);
	for (o = verb->operands; o->name; o++)
		printf("\t\t\t':%s:_files' \\\n", o->name);
	if (verb->command)
		puts("\t\t\t'(-):COMMAND:_command_names -e' '*::ARGUMENT:_normal' \\");
	puts("\t\t\t;;");
}

static void print_zsh(void)
{
	const struct cli_verb *const *verb;

	puts("#compdef vpt\n"
	     "# zsh completion of vpt(1), made by vpt --completion=zsh\n"
	     "\n"
	     "_vpt() {\n"
	     "\tlocal verb=$words[2]\n"
	     "\tlocal -a verbs=(");
	for (verb = cli_verbs; *verb; verb++) {
		printf("\t\t'%s:", (*verb)->name);
		zsh_text((*verb)->summary, "\\");
		puts("'");
	}
	puts("\t)\n"
	     "\tif ((CURRENT == 2)); then\n"
	     "\t\t_describe verb verbs\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\tshift words\n"
	     "\t((CURRENT--))\n"
	     "\tcase $verb in\n"
	     "\thelp) _describe verb verbs ;;");
	for (verb = cli_verbs; *verb; verb++)
		zsh_verb(*verb);
	puts("\tesac\n"
	     "}\n"
	     "\n"
	     "_vpt \"$@\"");
}

bool cli_complete(const char *shell)
{
	if (!strcmp(shell, "bash"))
		print_bash();
	else if (!strcmp(shell, "zsh"))
		print_zsh();
	else
		return false;
	return true;
}
