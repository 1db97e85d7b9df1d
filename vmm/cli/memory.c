// SPDX-License-Identifier: GPL-2.0-or-later
/* The option --memory=FILE[@BASE][,WORD]..., which selects the image of memory for each CR3. */
#include "cli/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/open.h"
#include "image/nested.h"

/* The parts of one --memory option. */
struct given {
	char *path;
	uint64_t base;
	struct image_use use;
};

int cli_memory_take(const struct cli_given *g)
{
	struct cli_memory *m = g->field;

	if (!*g->value || *g->value == ',')
		return cli_option_wrong(g, "a file's name");
	if (m->n == IMAGE_SET_MAX)
		return cli_option_wrong(g, "no more than %u times", IMAGE_SET_MAX);
	m->word[m->n++] = g->value;
	return CLI_EXIT_OK;
}

static int take_paging(const char *verb, const char *text, enum image_paging *paging)
{
	static const char *const names[] = {"none", "32", "pae", "4", "5", NULL};
	unsigned int i;

	for (i = 0; names[i]; i++) {
		if (!strcmp(text, names[i])) {
			*paging = (enum image_paging)i;
			return CLI_EXIT_OK;
		}
	}
	return cli_fail(CLI_EXIT_USAGE, "%s: --memory: paging=%s: not none, 32, pae, 4 or 5", verb,
			text);
}

static int take_word(const char *verb, char *word, struct image_use *use)
{
	char *value = strchr(word, '=');
	int status;

	if (!strcmp(word, "host") || !strcmp(word, "guest")) {
		if (use->side != IMAGE_ALL)
			return cli_fail(CLI_EXIT_USAGE, "%s: --memory: %s: the side is given twice",
					verb, word);
		use->side = *word == 'h' ? IMAGE_HOST : IMAGE_GUEST;
		return CLI_EXIT_OK;
	}
	if (value)
		*value++ = 0;
	if (value && !strcmp(word, "paging"))
		return take_paging(verb, value, &use->paging);
	if (value && !strcmp(word, "vmcs"))
		status = cli_number(verb, "memory: vmcs", value, &use->vmcs);
	else if (value && !strcmp(word, "ept"))
		status = cli_number(verb, "memory: ept", value, &use->eptp);
	else if (value && !strcmp(word, "cr3"))
		status = cli_number(verb, "memory: cr3", value, &use->cr3);
	else
		status =
			cli_fail(CLI_EXIT_USAGE,
				 "%s: --memory: %s: there is host, guest, vmcs=, paging=, ept= and "
				 "cr3=; a file's name has no comma",
				 verb, word);
	return status;
}

/* The base follows the last @. A file name may also contain an @. */
static int take_base(const char *verb, struct given *g)
{
	char *at = strrchr(g->path, '@');

	if (!at || strchr(at, '/'))
		return CLI_EXIT_OK;
	*at = 0;
	return cli_number(verb, "memory=FILE@BASE", at + 1, &g->base);
}

static int take_apart(const char *verb, const char *text, struct given *g)
{
	char *rest, *word;
	int status;

	*g = (struct given){
		.path = strdup(text),
		.use = {.vmcs = TRACE_SPACE_ANY_VMCS,
			.paging = IMAGE_PAGINGS,
			.cr3 = TRACE_SOURCE_NONE},
	};
	if (!g->path)
		return cli_fail(CLI_EXIT_HOST, "%s: %s", verb, strerror(ENOMEM));
	rest = g->path;
	word = strsep(&rest, ",");
	status = take_base(verb, g);
	while (!status && (word = strsep(&rest, ",")))
		status = take_word(verb, word, &g->use);
	/* A VMCS belongs to a guest, and so does the EPT that maps its memory. */
	if (!status && (g->use.vmcs != TRACE_SPACE_ANY_VMCS || g->use.eptp)) {
		if (g->use.side == IMAGE_HOST)
			return cli_fail(CLI_EXIT_USAGE,
					"%s: --memory: vmcs= and ept= are for a guest: omit host",
					verb);
		g->use.side = IMAGE_GUEST;
	}
	return status;
}

static int add(struct cli_memory *m, const char *verb, const char *word)
{
	struct image_image *image;
	struct given g;
	char why[256];
	int status = take_apart(verb, word, &g), err = 0;

	if (!status) {
		err = image_open(g.path, g.base, &image, why, sizeof(why));
		if (err)
			status = cli_fail(cli_input_status(err), "%s: --memory: %s: %s", verb,
					  g.path, why);
	}
	if (!status && g.use.eptp && !image_is_eptp(image, g.use.eptp)) {
		status = cli_fail(CLI_EXIT_USAGE,
				  "%s: --memory: ept=0x%" PRIx64 ": not an EPTP in %s", verb,
				  g.use.eptp, g.path);
		image_close(image);
	}
	if (!status)
		image_set_add(m->set, image, &g.use);
	free(g.path);
	return status;
}

int cli_memory_open(struct cli_memory *m, const char *verb, struct trace_reader *reader)
{
	int status = CLI_EXIT_OK;
	unsigned int i;
	size_t pages;

	if (!m->n)
		return status;
	m->alone = true;
	for (i = 0; i < trace_reader_info(reader)->vcpus; i++) {
		trace_reader_code(reader, i, &pages);
		m->alone &= !pages;
	}
	m->set = image_set_new();
	if (!m->set)
		return cli_fail(CLI_EXIT_HOST, "%s: %s", verb, strerror(ENOMEM));
	for (i = 0; i < m->n && !status; i++)
		status = add(m, verb, m->word[i]);
	m->source = image_set_source(m->set);
	trace_reader_set_source(reader, &m->source);
	return status;
}

void cli_memory_close(struct cli_memory *m)
{
	image_set_free(m->set);
	m->set = NULL;
}

int cli_memory_whole(const struct cli_memory *m, const char *verb, const char *path)
{
	const char *damage = m->set ? image_set_damage(m->set) : NULL;

	if (m->set && m->alone && !image_set_pages(m->set) && !damage)
		return cli_fail(CLI_EXIT_FAIL,
				"%s: %s: --memory: the images have no code of the trace", verb,
				path);
	if (!damage)
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_INPUT, "%s: %s: code is missing: --memory: %s", verb, path,
			damage);
}
