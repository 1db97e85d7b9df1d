// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens outputs of the command line, after a comparison with all inputs. */
#include "cli/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* The maximum number of files of a command. */
#define FILES_MAX 16

struct found {
	const struct cli_file *file;
	struct trace_place place;
	struct trace_place part; /* valid only for a trace */
	bool has_part;
};

static int refuse(const char *verb, const struct cli_file *file, const char *how,
		  const struct cli_file *other)
{
	return cli_fail(CLI_EXIT_USAGE, "%s: %s: %s: %s %s: give another name", verb, file->name,
			file->path, how, other->name);
}

static int compare(const char *verb, const struct found *a, const struct found *b)
{
	const struct found *output = a->file->role == CLI_INPUT ? b : a;
	const struct found *other = output == a ? b : a;

	if (output->file->role == CLI_INPUT)
		return CLI_EXIT_OK;
	if (trace_place_same(&a->place, &b->place))
		return refuse(verb, output->file, "the same file as", other->file);
	if (a->has_part && trace_place_same(&a->part, &b->place))
		return refuse(verb, a->file, "its part file is", b->file);
	if (b->has_part && trace_place_same(&b->part, &a->place))
		return refuse(verb, b->file, "its part file is", a->file);
	return CLI_EXIT_OK;
}

/* Returns false if the path cannot be resolved. Opening it will then report the error. */
static bool find(struct found *f, const struct cli_file *file)
{
	char *part;

	*f = (struct found){.file = file};
	if (!file->path || trace_place_find(file->path, &f->place))
		return false;
	part = file->role == CLI_TRACE ? trace_outfile_part(&f->place) : NULL;
	f->has_part = part && !trace_place_find(part, &f->part);
	free(part);
	return true;
}

int cli_files_check(const char *verb, const struct cli_file *files, size_t count)
{
	struct found found[FILES_MAX];
	int status = CLI_EXIT_OK;
	size_t n = 0, i, k;

	for (i = 0; i < count && n < FILES_MAX; i++) {
		if (files[i].role != CLI_INPUT && files[i].path && !strcmp(files[i].path, "-"))
			status = cli_fail(CLI_EXIT_USAGE,
					  "%s: %s: -: write ./- for a file of that name, or "
					  "/dev/stdout",
					  verb, files[i].name);
		if (!status && find(&found[n], &files[i]))
			n++;
	}
	for (i = 0; i < n; i++)
		for (k = 0; k < i && !status; k++)
			status = compare(verb, &found[i], &found[k]);
	for (i = 0; i < n; i++) {
		trace_place_free(&found[i].place);
		trace_place_free(&found[i].part);
	}
	return status;
}

int cli_output(const char *verb, const char *path, enum trace_outfile_kind kind,
	       struct trace_outfile *o)
{
	char why[512];

	if (trace_outfile_open(o, path, kind, why, sizeof(why)))
		return cli_fail(CLI_EXIT_HOST, "%s: %s: %s", verb, path, why);
	if (o->earlier)
		fprintf(stderr, "vpt %s: %s, which an earlier run left, is now %s\n", verb, o->part,
			o->earlier);
	return CLI_EXIT_OK;
}

/* Returns true if the output was opened and has not ended. */
static bool is_open(const struct trace_outfile *o)
{
	return o->place.path;
}

int cli_commit(const char *verb, struct trace_outfile *o)
{
	int status = CLI_EXIT_OK, err;

	if (!is_open(o))
		return CLI_EXIT_OK;
	err = trace_outfile_commit(o);
	if (err && o->part)
		status = cli_fail(CLI_EXIT_HOST, "%s: %s: %s: the trace is in %s", verb,
				  o->place.path, cli_reason(-err), o->part);
	else if (err)
		status = cli_fail(CLI_EXIT_HOST, "%s: %s: %s", verb, o->place.path,
				  cli_reason(-err));
	trace_outfile_free(o);
	return status;
}

void cli_keep(struct trace_outfile *o)
{
	if (!is_open(o))
		return;
	trace_outfile_keep(o);
	trace_outfile_free(o);
}

void cli_drop(struct trace_outfile *o)
{
	if (!is_open(o))
		return;
	trace_outfile_drop(o);
	trace_outfile_free(o);
}
