/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of options of the verbs. A row of a table is an option. Parsing, --help, error
 * messages and the shells' completion all use the rows.
 */
#ifndef VMM_CLI_OPTION_H
#define VMM_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

struct cli_verb;
struct cli_option;

/* An option on a command line. */
struct cli_given {
	const struct cli_verb *verb;
	const struct cli_option *option;
	char *value;   /* NULL if there is none */
	void *options; /* the verb's struct of options, into which the row's offsets point */
	void *field;   /* the row's @field in @options */
};

/*
 * Parse an option. Returns CLI_EXIT_OK, CLI_EXIT_DONE if the command ends here, or an exit status
 * after one line.
 */
typedef int cli_option_take(const struct cli_given *g);

/* A row without name and text ends a table. A row without a name is text for the help only. */
struct cli_option {
	char letter;	  /* 0 if there is none */
	const char *name; /* name without -- */
	/*
	 * The value as the help shows it: "=FILE", or "[=N]" if it is optional. NULL if the option
	 * has no value. For completion, a value with FILE, OUT or DUMP is a file, and one with DIR
	 * a folder. A value with LIST or a comma is a list of words.
	 */
	const char *value;
	const char *text; /* text for the help, which wraps lines; lines except the last end with */
	cli_option_take *take;
	size_t field;		  /* offset of the field that @take sets */
	size_t given;		  /* offset of a bool to set; 0 if there is none */
	size_t group;		  /* offset of a const char * that receives the option's name if
	             		   * it is NULL; 0 if there is none */
	const char *const *words; /* the words of the value, for completion and cli_take_word();
	                           * ends with NULL */
	const char *(*word_at)(unsigned int i); /* used instead of @words: returns value i, or
	                                         * NULL */
	uint64_t bits;				/* for cli_take_bits() */
	uint64_t least, most;			/* bounds for cli_take_number(); both 0: no
	                     			 * bounds */
};

struct cli_operand {
	const char *name;
	size_t field; /* offset of a const char * */
	bool optional;
};

#define CLI_OPERANDS 3

/* A verb of the command. Offsets point into one struct of the verb. */
struct cli_verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary; /* one line for vpt --help */
	const char *usage;   /* the operands after the name; a line for each form */
	const char *about;   /* paragraphs before and after the options */
	const char *notes;
	const struct cli_option *options;
	unsigned int column;			       /* column where the texts of options begin */
	struct cli_operand operands[CLI_OPERANDS + 1]; /* ends with an entry without a name */
	void (*seen)(const struct cli_given *g); /* called for each accepted option; may be NULL */
	size_t command; /* offset of a char ** if the operands are a command to run; otherwise 0 */
};

/* All verbs; ends with NULL. */
extern const struct cli_verb *const cli_verbs[];
/* The names of verbs that this build lacks because the host has no VMM; ends with NULL. */
extern const char *const cli_verbs_absent[];
extern const struct cli_verb cli_verb_run, cli_verb_record, cli_verb_replay, cli_verb_restore,
	cli_verb_snapshot, cli_verb_caps, cli_verb_dump, cli_verb_decode, cli_verb_verify,
	cli_verb_info, cli_verb_import, cli_verb_export, cli_verb_report, cli_verb_pack,
	cli_verb_refine, cli_verb_lockstep, cli_verb_monitor, cli_verb_gdb, cli_verb_diff,
	cli_verb_shard, cli_verb_top, cli_verb_fuzz_server;
/* The option --sandbox of every verb (cli/confine.h). The second row ends the table. */
extern const struct cli_option cli_option_sandbox[];

/*
 * Parse the command line of @verb into @options: options in any order, then at most as many
 * operands as the verb has. Returns CLI_EXIT_OK, CLI_EXIT_DONE after --help, or an exit status
 * after one line about the error.
 */
int cli_options_parse(const struct cli_verb *verb, int argc, char **argv, void *options);

/* Print the help of @verb on standard output. */
void cli_verb_help(const struct cli_verb *verb);

/* Print the completion of @shell, "bash" or "zsh". Returns false for any other shell. */
bool cli_complete(const char *shell);

/* Return word @i of the values that an option can have, or NULL behind the last word. */
const char *cli_option_word(const struct cli_option *option, unsigned int i);

/* Returns true if the words are equal, or one letter is wrong, missing, extra or swapped. */
bool cli_is_near(const char *a, const char *b);

/* Print "VERB: --NAME=VALUE: WHY". Returns CLI_EXIT_USAGE. */
int cli_option_wrong(const struct cli_given *g, const char *why, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Print one line about a value that is none of the option's words. The line names a word that is
 * near @value, or all words. Returns CLI_EXIT_USAGE.
 */
int cli_option_no_word(const struct cli_given *g, const char *value);

/* Numbers to pass to the guest. */
struct cli_args {
	uint64_t value[4];
	unsigned int n;
};

/* Parsers, by the type of the field. */
cli_option_take cli_take_flag;	 /* bool: becomes true */
cli_option_take cli_take_bits;	 /* uint64_t: @bits become set */
cli_option_take cli_take_text;	 /* const char *: the unchanged value */
cli_option_take cli_take_number; /* uint64_t: decimal or hex after 0x, from @least to @most */
cli_option_take cli_take_size;	 /* uint64_t: a number of bytes, or of K, M or G */
cli_option_take cli_take_word;	 /* unsigned int: the index of the word */
cli_option_take cli_take_name;	 /* const char *: the value, which must be one of the words */
cli_option_take cli_take_owner;	 /* enum trace_owner, by the words guest, host and off */
cli_option_take cli_take_arg;	 /* struct cli_args: appends a number */
cli_option_take cli_take_help;	 /* no field */

/*
 * Read one number, decimal or hex after 0x. Returns the text behind the number, or NULL if there is
 * none.
 */
const char *cli_read_number(const char *text, uint64_t *value);
/* Returns true if all of @text is one number. */
bool cli_is_number(const char *text, uint64_t *value);
/*
 * Parse a number like cli_is_number(). Returns CLI_EXIT_OK, or CLI_EXIT_USAGE after a line about a
 * part of an option's value.
 */
int cli_number(const char *verb, const char *option, const char *text, uint64_t *value);

/* The row of --help, and the row that ends a table. */
#define CLI_OPTION_HELP                                                     \
	{                                                                   \
		'h', "help", NULL, "print this help", .take = cli_take_help \
	}
#define CLI_OPTION_END       \
	{                    \
		.text = NULL \
	}

#endif /* VMM_CLI_OPTION_H */
