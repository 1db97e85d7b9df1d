// SPDX-License-Identifier: GPL-2.0-or-later
/* Outputs of the command line, opened after they were compared with all inputs. */
#include "cli/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* The most that a command has. */
#define FILES_MAX 16

struct found {
	const struct vpt_cli_file *file;
	struct vpt_place place;
	struct vpt_place part; /* only of a trace */
	bool has_part;
};

static int refuse(const char *verb, const struct vpt_cli_file *file, const char *how,
		  const struct vpt_cli_file *other)
{
	return vpt_fail(VPT_EXIT_USAGE, "%s: %s: %s: %s %s: give another name", verb, file->name,
			file->path, how, other->name);
}

static int compare(const char *verb, const struct found *a, const struct found *b)
{
	const struct found *output = a->file->role == VPT_CLI_INPUT ? b : a;
	const struct found *other = output == a ? b : a;

	if (output->file->role == VPT_CLI_INPUT)
		return VPT_EXIT_OK;
	if (vpt_place_same(&a->place, &b->place))
		return refuse(verb, output->file, "the same file as", other->file);
	if (a->has_part && vpt_place_same(&a->part, &b->place))
		return refuse(verb, a->file, "its part file is", b->file);
	if (b->has_part && vpt_place_same(&b->part, &a->place))
		return refuse(verb, b->file, "its part file is", a->file);
	return VPT_EXIT_OK;
}

/* Returns false if the path leads nowhere, so that opening it will report the error. */
static bool find(struct found *f, const struct vpt_cli_file *file)
{
	char *part;

	*f = (struct found){.file = file};
	if (!file->path || vpt_place_find(file->path, &f->place))
		return false;
	part = file->role == VPT_CLI_TRACE ? vpt_outfile_part(&f->place) : NULL;
	f->has_part = part && !vpt_place_find(part, &f->part);
	free(part);
	return true;
}

int vpt_cli_files_check(const char *verb, const struct vpt_cli_file *files, size_t count)
{
	struct found found[FILES_MAX];
	int status = VPT_EXIT_OK;
	size_t n = 0, i, k;

	for (i = 0; i < count && n < FILES_MAX; i++) {
		if (files[i].role != VPT_CLI_INPUT && files[i].path && !strcmp(files[i].path, "-"))
			status = vpt_fail(VPT_EXIT_USAGE,
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
		vpt_place_free(&found[i].place);
		vpt_place_free(&found[i].part);
	}
	return status;
}

int vpt_cli_output(const char *verb, const char *path, enum vpt_outfile_kind kind,
		   struct vpt_outfile *o)
{
	char why[512];

	if (vpt_outfile_open(o, path, kind, why, sizeof(why)))
		return vpt_fail(VPT_EXIT_HOST, "%s: %s: %s", verb, path, why);
	if (o->earlier)
		fprintf(stderr, "vpt %s: %s, which an earlier run left, is now %s\n", verb, o->part,
			o->earlier);
	return VPT_EXIT_OK;
}

/* Was it opened, and not yet ended? */
static bool is_open(const struct vpt_outfile *o)
{
	return o->place.path;
}

int vpt_cli_commit(const char *verb, struct vpt_outfile *o)
{
	int status = VPT_EXIT_OK, err;

	if (!is_open(o))
		return VPT_EXIT_OK;
	err = vpt_outfile_commit(o);
	if (err && o->part)
		status = vpt_fail(VPT_EXIT_HOST, "%s: %s: %s: the trace is in %s", verb,
				  o->place.path, vpt_cli_reason(-err), o->part);
	else if (err)
		status = vpt_fail(VPT_EXIT_HOST, "%s: %s: %s", verb, o->place.path,
				  vpt_cli_reason(-err));
	vpt_outfile_free(o);
	return status;
}

void vpt_cli_keep(struct vpt_outfile *o)
{
	if (!is_open(o))
		return;
	vpt_outfile_keep(o);
	vpt_outfile_free(o);
}

void vpt_cli_drop(struct vpt_outfile *o)
{
	if (!is_open(o))
		return;
	vpt_outfile_drop(o);
	vpt_outfile_free(o);
}
