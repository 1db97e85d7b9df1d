/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command lines of the verbs, by tables. A row of a table is an option. Parsing, --help, what
 * is said about wrong options and the shells' completion are all made of the rows.
 */
#ifndef VMM_CLI_OPTION_H
#define VMM_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

struct cli_verb;
struct cli_option;

/* An option as a command line has it. */
struct cli_given {
	const struct cli_verb *verb;
	const struct cli_option *option;
	char *value;   /* NULL: there is none */
	void *options; /* of the verb, in which the row's offsets are */
	void *field;   /* where the row's @field is in @options */
};

/*
 * Take an option. Returns CLI_EXIT_OK, CLI_EXIT_DONE if the command ends here, or an exit status
 * after the one line was printed.
 */
typedef int cli_option_take(const struct cli_given *g);

/* A row with neither name nor text ends a table; one without a name is text of the help alone. */
struct cli_option {
	char letter;	  /* 0: none */
	const char *name; /* without -- */
	/*
	 * As the help has it: "=FILE", or "[=N]" if it may be absent. NULL: the option has none.
	 * For completion a value with FILE, OUT or DUMP in it is a file, with DIR a folder, and
	 * with LIST or a comma a list of words.
	 */
	const char *value;
	const char *text; /* for the help, which wraps its lines; they end with \n, not the last */
	cli_option_take *take;
	size_t field;		  /* offset of what @take sets */
	size_t given;		  /* offset of a bool to set; 0: none */
	size_t group;		  /* offset of a const char * for the name, if NULL; 0: none */
	const char *const *words; /* the values, for completion and cli_take_word(); NULL ends */
	const char *(*word_at)(unsigned int i); /* instead of @words: the value i, or NULL */
	uint64_t bits;				/* for cli_take_bits() */
	uint64_t least, most;			/* for cli_take_number(); both 0: any */
};

struct cli_operand {
	const char *name;
	size_t field; /* offset of a const char * */
};

#define CLI_OPERANDS 2

/* A verb of the command. Offsets are into one struct of the verb's own. */
struct cli_verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary; /* for vpt --help */
	const char *usage;   /* what follows the name; a line for each form */
	const char *about;   /* paragraphs before the options, and behind them */
	const char *notes;
	const struct cli_option *options;
	unsigned int column;			       /* where their texts begin */
	struct cli_operand operands[CLI_OPERANDS + 1]; /* ended by one without a name */
	size_t command; /* offset of a char **: the operands are a command to run; 0: not so */
};

/* All verbs, ended by NULL. */
extern const struct cli_verb *const cli_verbs[];
extern const struct cli_verb cli_verb_run, cli_verb_record, cli_verb_restore, cli_verb_snapshot,
	cli_verb_caps, cli_verb_dump, cli_verb_decode, cli_verb_verify, cli_verb_info,
	cli_verb_import, cli_verb_export, cli_verb_pack, cli_verb_lockstep;
/* --sandbox, which is an option of each of them: see cli/confine.h. Another row ends it. */
extern const struct cli_option cli_option_sandbox[];

/*
 * Read the command line of @verb into @options: options in any order, then as many operands as the
 * verb has. Returns CLI_EXIT_OK, CLI_EXIT_DONE after --help, or an exit status after the one line
 * about what is unknown, ambiguous, missing or too much.
 */
int cli_options_parse(const struct cli_verb *verb, int argc, char **argv, void *options);

/* Print the help of @verb on standard output. */
void cli_verb_help(const struct cli_verb *verb);

/* Print the completion of @shell, "bash" or "zsh". False: there is none. */
bool cli_complete(const char *shell);

/* Returns word @i of the values that an option can have, or NULL behind the last word. */
const char *cli_option_word(const struct cli_option *option, unsigned int i);

/* Returns true if the words are equal, or one letter is wrong, missing, extra or swapped. */
bool cli_is_near(const char *a, const char *b);

/* Print "VERB: --NAME=VALUE: WHY". Returns CLI_EXIT_USAGE. */
int cli_option_wrong(const struct cli_given *g, const char *why, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Print one line about a value that is none of the option's words. The line names the word that is
 * near @value, or else all of them. Returns CLI_EXIT_USAGE.
 */
int cli_option_no_word(const struct cli_given *g, const char *value);

/* Numbers for the guest. */
struct cli_args {
	uint64_t value[4];
	unsigned int n;
};

/* Parsers, by the type of the field. */
cli_option_take cli_take_flag;	 /* bool: becomes true */
cli_option_take cli_take_bits;	 /* uint64_t: @bits become set */
cli_option_take cli_take_text;	 /* const char *: the value as it is */
cli_option_take cli_take_number; /* uint64_t: decimal or hex after 0x, from @least to @most */
cli_option_take cli_take_size;	 /* uint64_t: a number of bytes, or of K, M or G */
cli_option_take cli_take_word;	 /* unsigned int: which of the words */
cli_option_take cli_take_name;	 /* const char *: the value, which is one of the words */
cli_option_take cli_take_owner;	 /* enum trace_owner, by words of guest, host and off */
cli_option_take cli_take_arg;	 /* struct cli_args: the next one */
cli_option_take cli_take_help;	 /* no field */

/* Read one number, decimal or hex after 0x. Returns what follows it, or NULL if there is none. */
const char *cli_read_number(const char *text, uint64_t *value);
/* Returns true if all of @text is one number. */
bool cli_is_number(const char *text, uint64_t *value);
/* The same with CLI_EXIT_OK, or CLI_EXIT_USAGE after a line about a part of an option's value. */
int cli_number(const char *verb, const char *option, const char *text, uint64_t *value);

/* The row of --help, and the one that ends a table. */
#define CLI_OPTION_HELP                                               \
	{                                                             \
		'h', "help", NULL, "this text", .take = cli_take_help \
	}
#define CLI_OPTION_END       \
	{                    \
		.text = NULL \
	}

#endif /* VMM_CLI_OPTION_H */
