// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares the line tables of ELF files as vpt reads them with what libdw says of them:
 * lines FILE... Prints the number of rows of each; the exit status is 1 if any row differs.
 *
 * Rows at an address where a sequence ends are not compared. libdw makes the last row of a
 * unit one that ends, and keeps rows that begin where their sequence ends; vpt does neither.
 */
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug/line.h"
#include "trace/input.h"
#include "trace/vec.h"

struct rows {
	struct vpt_line *at;
	size_t n, room;
};

static void add_unit(struct rows *rows, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n, i;

	if (dwarf_getsrclines(unit, &lines, &n))
		return;
	for (i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		struct vpt_line is = {0};
		Dwarf_Addr addr = 0;
		bool end = false;
		int line = 0;

		dwarf_lineaddr(row, &addr);
		dwarf_lineendsequence(row, &end);
		dwarf_lineno(row, &line);
		is.addr = addr;
		if (!end && line > 0) {
			is.file = dwarf_linesrc(row, NULL, NULL);
			is.line = (uint32_t)line;
		}
		if (!vpt_vec_room(rows))
			abort();
		rows->at[rows->n++] = is;
	}
}

static void judge(const char *path, struct rows *rows)
{
	int fd = open(path, O_RDONLY);
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_Off at = 0, next;
	Dwarf_Die unit;
	size_t head;

	while (dwarf && !dwarf_nextcu(dwarf, at, &next, &head, NULL, NULL, NULL)) {
		if (dwarf_offdie(dwarf, at + head, &unit))
			add_unit(rows, &unit);
		at = next;
	}
	/* The names of files stay in use. */
	close(fd);
}

/* By all that a row says: the order of rows at one address is not compared. */
static int by_all(const void *a, const void *b)
{
	const struct vpt_line *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->file ? x->file : "", y->file ? y->file : "");
}

static int show(const char *path, const char *whose, const struct vpt_line *row)
{
	printf("%s: only %s: 0x%llx %s:%u\n", path, whose, (unsigned long long)row->addr,
	       row->file ? row->file : "-", row->line);
	return 1;
}

static bool ends(const struct vpt_line *row)
{
	return !row->file && !row->line;
}

/* Leave out the rows at addresses where libdw ends a sequence. Both are sorted. */
static size_t leave_out(struct vpt_line *at, size_t n, const struct rows *judge)
{
	size_t i, k = 0, kept = 0;

	for (i = 0; i < n; i++) {
		while (k < judge->n && (judge->at[k].addr < at[i].addr ||
					(judge->at[k].addr == at[i].addr && !ends(&judge->at[k]))))
			k++;
		if (k == judge->n || judge->at[k].addr != at[i].addr)
			at[kept++] = at[i];
	}
	return kept;
}

static int compare(const char *path, struct vpt_lines *lines, struct rows *rows)
{
	struct rows all;
	size_t i;

	if (lines->n)
		qsort(lines->at, lines->n, sizeof(*lines->at), by_all);
	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), by_all);
	all = *rows;
	all.at = malloc((rows->n + 1) * sizeof(*all.at));
	if (!all.at)
		abort();
	if (rows->n)
		memcpy(all.at, rows->at, rows->n * sizeof(*all.at));
	lines->n = leave_out(lines->at, lines->n, &all);
	rows->n = leave_out(rows->at, rows->n, &all);
	free(all.at);
	for (i = 0; i < lines->n && i < rows->n; i++) {
		int d = by_all(&lines->at[i], &rows->at[i]);

		if (d)
			return d < 0 ? show(path, "vpt", &lines->at[i])
				     : show(path, "libdw", &rows->at[i]);
	}
	if (i < lines->n)
		return show(path, "vpt", &lines->at[i]);
	if (i < rows->n)
		return show(path, "libdw", &rows->at[i]);
	printf("%s: %zu rows\n", path, lines->n);
	return 0;
}

static int look_at(const char *path)
{
	struct vpt_lines lines = {0};
	struct vpt_object object;
	struct vpt_input in = {0};
	struct rows rows = {0};
	int status, err;

	if (vpt_input_open(&in, path) || vpt_object_open(&object, in.bytes, in.size)) {
		printf("%s: cannot be read\n", path);
		return 1;
	}
	err = vpt_lines_read(&lines, &object, 0);
	if (err)
		printf("%s: %s\n", path, strerror(-err));
	judge(path, &rows);
	status = compare(path, &lines, &rows);
	vpt_lines_free(&lines);
	free(rows.at);
	vpt_input_close(&in);
	return status || err;
}

int main(int argc, char **argv)
{
	int status = 0, i;

	for (i = 1; i < argc; i++)
		status |= look_at(argv[i]);
	return status;
}
