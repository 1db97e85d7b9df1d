// SPDX-License-Identifier: GPL-2.0-or-later
/* DWARF line tables of hostile files, within limits. */
#include "debug/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "debug/program.h"

/*
 * A compressed file may become 8 times as large, and a small one 64 MiB. A row takes at least
 * a byte of a line table, so these limits are met only by files that are made to meet them.
 */
#define INFLATE_RATIO 8
#define INFLATE_BASE  (64ull << 20)
#define ROWS_BASE     (1ull << 20)
#define PATHS_BASE    (16ull << 20)

static void raise_limits(struct vpt_lines *lines, const struct vpt_object *o)
{
	if (!lines->rows_max) {
		lines->inflate_left = INFLATE_BASE;
		lines->rows_max = ROWS_BASE;
		lines->path_max = PATHS_BASE;
	}
	lines->inflate_left += INFLATE_RATIO * (uint64_t)o->len;
	lines->rows_max += o->len;
	lines->path_max += o->len;
	/* struct vpt_line numbers them. */
	if (lines->rows_max > UINT32_MAX)
		lines->rows_max = UINT32_MAX;
}

static bool has_old_tables(const struct vpt_debug_bytes *line)
{
	struct vpt_cursor c = {line->at, line->at + line->len, false};
	unsigned int offset_bytes;

	while (vpt_cursor_left(&c) && !c.bad) {
		struct vpt_cursor unit = vpt_cursor_unit(&c, &offset_bytes);

		if (vpt_cursor_value(&unit, 2) < 5 && !unit.bad)
			return true;
	}
	return false;
}

static int run_all(struct vpt_line_program *p, const struct vpt_debug_bytes *line)
{
	struct vpt_cursor c = {line->at, line->at + line->len, false};
	int err = 0;

	while (vpt_cursor_left(&c) && !c.bad) {
		uint64_t offset = (uint64_t)(c.at - line->at);
		struct vpt_cursor unit = vpt_cursor_unit(&c, &p->unit.offset_bytes);
		int is = unit.bad ? -EINVAL : vpt_line_program_run(p, unit, offset);

		if (is && is != -EINVAL)
			return is;
		err = is ? is : err;
	}
	return err;
}

int vpt_lines_read(struct vpt_lines *lines, const struct vpt_object *o, uint64_t bias)
{
	struct vpt_form_strings strings = {0};
	struct vpt_unit_dirs dirs = {0};
	struct vpt_line_program p = {
		.lines = lines, .strings = &strings, .units = &dirs, .bias = bias};
	struct vpt_debug_bytes line;
	int err;

	raise_limits(lines, o);
	err = vpt_debug_load(o, ".debug_line", &lines->inflate_left, &line);
	if (!err && line.len)
		err = vpt_form_strings_load(&strings, o, &lines->inflate_left);
	if (!err && line.len && has_old_tables(&line))
		err = vpt_unit_dirs_read(&dirs, o, &strings, &lines->inflate_left);
	if (!err && line.len)
		err = run_all(&p, &line);
	vpt_line_program_free(&p);
	vpt_unit_dirs_free(&dirs);
	vpt_form_strings_unload(&strings);
	vpt_debug_unload(&line);
	return err;
}

static int by_addr(const void *a, const void *b)
{
	const struct vpt_line *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (!x->file != !y->file)
		return x->file ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

void vpt_lines_sort(struct vpt_lines *lines)
{
	if (lines->n)
		qsort(lines->at, lines->n, sizeof(*lines->at), by_addr);
}

const struct vpt_line *vpt_lines_find(const struct vpt_lines *lines, uint64_t addr)
{
	size_t lo = 0, hi = lines->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (lines->at[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && lines->at[lo - 1].file ? &lines->at[lo - 1] : NULL;
}

void vpt_lines_free(struct vpt_lines *lines)
{
	free(lines->at);
	vpt_paths_free(&lines->paths);
	memset(lines, 0, sizeof(*lines));
}
