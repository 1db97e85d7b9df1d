/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The option --memory=FILE of the verbs that decode. */
#ifndef VMM_CLI_MEMORY_H
#define VMM_CLI_MEMORY_H

#include "cli/option.h"
#include "image/set.h"
#include "trace/reader.h"

struct vpt_cli_memory {
	const char *word[IMG_SET_MAX];
	unsigned int n;
	struct img_set *set; /* NULL: nothing was given, or it is not open */
	struct vpt_code_source source;
	bool alone; /* the trace has no code of its own */
};

/* Note what was given in a struct vpt_cli_memory. */
vpt_option_take vpt_cli_memory_take;

#define VPT_OPTION_MEMORY(...)                                                                   \
	{                                                                                        \
		'M', "memory", "=FILE[@BASE][,WORD]...",                                         \
			"code that the trace lacks, from an image of memory: see MEMORY IMAGES " \
			"in vpt-decode(1); any number of them",                                  \
			vpt_cli_memory_take, __VA_ARGS__                                         \
	}

/*
 * Open the images, and make them the source of code of @reader. @m outlives the reader's use of
 * it. VPT_EXIT_OK, or a status after the one line was printed; vpt_cli_memory_close() follows
 * always.
 */
int vpt_cli_memory_open(struct vpt_cli_memory *m, const char *verb, struct vpt_reader *reader);
void vpt_cli_memory_close(struct vpt_cli_memory *m);

/*
 * Decode the trace once, and give @reader the code of the images that it led through, in place of
 * the source: for what lists the code of a file. The file tells of no spaces. Call it after
 * vpt_cli_memory_open(). VPT_EXIT_OK, or VPT_EXIT_HOST after the one line was printed.
 */
int vpt_cli_memory_fill(struct vpt_cli_memory *m, const char *verb, struct vpt_reader *reader);

/*
 * VPT_EXIT_OK if nothing was left out of the images. After the one line was printed VPT_EXIT_INPUT
 * if a page of them could not be read, VPT_EXIT_FAIL if there was no other code and they had none.
 */
int vpt_cli_memory_whole(const struct vpt_cli_memory *m, const char *verb, const char *path);

#endif /* VMM_CLI_MEMORY_H */
