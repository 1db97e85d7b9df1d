/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --symbols=FILE[@BIAS] of the verbs that name addresses. */
#ifndef VMM_CLI_SYMBOLS_H
#define VMM_CLI_SYMBOLS_H

#include "cli/option.h"
#include "debug/symbol.h"

#define CLI_SYMBOLS_MAX 64

struct cli_symbols {
	const char *word[CLI_SYMBOLS_MAX];
	unsigned int n;
	bool lines; /* line tables are requested, too */
};

/* Note the value of an option in a struct cli_symbols. */
cli_option_take cli_symbols_take;

/*
 * Open the trace's symbols, or none if @reader is NULL, and add those of the options. Returns CLI_EXIT_OK, or an exit status
 * after one line.
 */
int cli_symbols_open(const struct cli_symbols *s, const char *verb,
		     const struct trace_reader *reader, struct debug_symbols **symbols);

/*
 * Returns CLI_EXIT_OK if no names or lines were omitted. Returns CLI_EXIT_INPUT, after one line, if
 * an ELF file is damaged or would need too much memory.
 */
int cli_symbols_whole(const char *verb, const char *path, const struct debug_symbols *symbols);

#endif /* VMM_CLI_SYMBOLS_H */
