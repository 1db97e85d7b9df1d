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
	struct image_set *set; /* NULL if no image was given, or before the images are open */
	struct trace_code_source source;
	bool alone; /* the trace itself has no code */
};

/* Note the value of an option in a struct cli_memory. */
cli_option_take cli_memory_take;

#define CLI_OPTION_MEMORY(...)                                                                   \
	{                                                                                        \
		'M', "memory", "=FILE[@BASE][,WORD]...",                                         \
			"code that the trace lacks, from an image of memory: see MEMORY IMAGES " \
			"in vpt-decode(1); can be repeated",                                     \
			cli_memory_take, __VA_ARGS__                                             \
	}

/*
 * Open the images, and make them a source of code for @reader. @m outlives the reader's use of it.
 * Returns CLI_EXIT_OK, or an exit status after one line. The caller must call cli_memory_close() in
 * both cases.
 */
int cli_memory_open(struct cli_memory *m, const char *verb, struct trace_reader *reader);
void cli_memory_close(struct cli_memory *m);

/*
 * Decode the trace once, and add the executed code of the images to @reader in place of the source.
 * Verbs that list the code of a file need this. The file must have no SPACE blocks. Call this after
 * cli_memory_open(). Returns CLI_EXIT_OK, or CLI_EXIT_HOST after one line.
 */
int cli_memory_fill(struct cli_memory *m, const char *verb, struct trace_reader *reader);

/*
 * Returns CLI_EXIT_OK if the images were read completely. Otherwise prints one line. Returns
 * CLI_EXIT_INPUT if a page could not be read, or CLI_EXIT_FAIL if neither the images nor the trace
 * had code.
 */
int cli_memory_whole(const struct cli_memory *m, const char *verb, const char *path);

#endif /* VMM_CLI_MEMORY_H */
