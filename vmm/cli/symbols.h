/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --symbols=FILE[@BIAS] of the verbs that name addresses. */
#ifndef VMM_CLI_SYMBOLS_H
#define VMM_CLI_SYMBOLS_H

#include "cli/option.h"
#include "debug/symbol.h"

#define VPT_CLI_SYMBOLS_MAX 64

struct vpt_cli_symbols {
	const char *word[VPT_CLI_SYMBOLS_MAX];
	unsigned int n;
	bool lines; /* line tables are wanted, too */
};

/* Note what was given in a struct vpt_cli_symbols. */
vpt_option_take vpt_cli_symbols_take;

/* Open the trace's and add these. VPT_EXIT_OK, or a status after the one line was printed. */
int vpt_cli_symbols_open(const struct vpt_cli_symbols *s, const char *verb,
			 const struct vpt_reader *reader, struct vpt_symbols **symbols);

/*
 * VPT_EXIT_OK if no names or lines were left out. VPT_EXIT_INPUT, after the one line was
 * printed, if an ELF file is damaged or would take too much memory.
 */
int vpt_cli_symbols_whole(const char *verb, const char *path, const struct vpt_symbols *symbols);

#endif /* VMM_CLI_SYMBOLS_H */
