/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --memory=FILE of the verbs that decode. */
#ifndef VMM_CLI_MEMORY_H
#define VMM_CLI_MEMORY_H

#include "cli/option.h"
#include "image/set.h"
#include "trace/reader.h"

struct cli_memory {
	const char *word[IMAGE_SET_MAX];
	unsigned int n;
	struct image_set *set; /* NULL: nothing was given, or it is not open */
	struct trace_code_source source;
	bool alone; /* the trace has no code of its own */
};

/* Note what was given in a struct cli_memory. */
cli_option_take cli_memory_take;

#define CLI_OPTION_MEMORY(...)                                                                   \
	{                                                                                        \
		'M', "memory", "=FILE[@BASE][,WORD]...",                                         \
			"code that the trace lacks, from an image of memory: see MEMORY IMAGES " \
			"in vpt-decode(1); any number of them",                                  \
			cli_memory_take, __VA_ARGS__                                             \
	}

/*
 * Open the images, and make them the source of code of @reader. @m outlives the reader's use of
 * it. CLI_EXIT_OK, or a status after the one line was printed; cli_memory_close() follows
 * always.
 */
int cli_memory_open(struct cli_memory *m, const char *verb, struct trace_reader *reader);
void cli_memory_close(struct cli_memory *m);

/*
 * Decode the trace once, and give @reader the code of the images that it led through, in place of
 * the source: for what lists the code of a file. The file tells of no spaces. Call it after
 * cli_memory_open(). CLI_EXIT_OK, or CLI_EXIT_HOST after the one line was printed.
 */
int cli_memory_fill(struct cli_memory *m, const char *verb, struct trace_reader *reader);

/*
 * CLI_EXIT_OK if nothing was left out of the images. After the one line was printed CLI_EXIT_INPUT
 * if a page of them could not be read, CLI_EXIT_FAIL if there was no other code and they had none.
 */
int cli_memory_whole(const struct cli_memory *m, const char *verb, const char *path);

#endif /* VMM_CLI_MEMORY_H */
