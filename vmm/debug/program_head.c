// SPDX-License-Identifier: GPL-2.0-or-later
/* The header of a line program: sizes, folders, files. */
#include <errno.h>
#include <stdlib.h>

#include "debug/program.h"
#include "trace/vec.h"

#define DW_LNCT_PATH 1
#define DW_LNCT_DIR  2

/* Of one program; an entry takes as little as a byte. */
#define TABLE_MAX (1u << 20)

static int add_dir(struct vpt_line_program *p, const char *dir)
{
	if (p->dirs.n == TABLE_MAX)
		return -EFBIG;
	if (!vpt_vec_room(&p->dirs))
		return -ENOMEM;
	p->dirs.at[p->dirs.n++] = dir;
	return 0;
}

static int add_file(struct vpt_line_program *p, const char *name, uint64_t dir)
{
	if (p->files.n == TABLE_MAX)
		return -EFBIG;
	if (!vpt_vec_room(&p->files))
		return -ENOMEM;
	p->files.at[p->files.n++] = (struct vpt_line_file){.name = name, .dir = dir};
	return 0;
}

int vpt_line_program_file(struct vpt_line_program *p, struct vpt_cursor *c, bool *end)
{
	const char *name = vpt_cursor_string(c);
	uint64_t dir;

	*end = !name || !*name;
	if (*end)
		return 0;
	dir = vpt_cursor_uleb(c);
	(void)vpt_cursor_uleb(c); /* time */
	(void)vpt_cursor_uleb(c); /* length */
	return add_file(p, name, dir);
}

/* Versions 2 to 4. Folder 0 is the unit's, and file 0 is none. */
static int old_tables(struct vpt_line_program *p, struct vpt_cursor *c, uint64_t offset)
{
	int err = add_dir(p, vpt_unit_dir(p->units, offset));
	bool end = false;

	while (!err) {
		const char *dir = vpt_cursor_string(c);

		if (!dir || !*dir)
			break;
		err = add_dir(p, dir);
	}
	if (!err)
		err = add_file(p, NULL, 0);
	while (!err && !end)
		err = vpt_line_program_file(p, c, &end);
	return err;
}

struct entry_format {
	uint64_t type, form;
};

/* An entry of a table of version 5. */
static int new_entry(struct vpt_line_program *p, struct vpt_cursor *c,
		     const struct entry_format *formats, unsigned int n, bool is_file)
{
	const uint8_t *begin = c->at;
	struct vpt_form_value value;
	const char *path = NULL;
	uint64_t dir = 0;
	unsigned int i;

	for (i = 0; i < n && !c->bad; i++) {
		vpt_form_read(c, formats[i].form, &p->unit, p->strings, &value);
		if (formats[i].type == DW_LNCT_PATH)
			path = value.text;
		else if (formats[i].type == DW_LNCT_DIR)
			dir = value.number;
	}
	/* What takes no bytes could be repeated for ever. */
	if (c->at == begin)
		c->bad = true;
	if (c->bad)
		return 0;
	return is_file ? add_file(p, path, dir) : add_dir(p, path);
}

static int new_table(struct vpt_line_program *p, struct vpt_cursor *c, bool is_file)
{
	struct entry_format formats[255];
	unsigned int n = vpt_cursor_u8(c), i;
	uint64_t count;
	int err = 0;

	for (i = 0; i < n; i++) {
		formats[i].type = vpt_cursor_uleb(c);
		formats[i].form = vpt_cursor_uleb(c);
	}
	for (count = vpt_cursor_uleb(c); count && !c->bad && !err; count--)
		err = new_entry(p, c, formats, n, is_file);
	return err;
}

static int read_tables(struct vpt_line_program *p, struct vpt_cursor *c, uint64_t offset)
{
	int err;

	p->dirs.n = 0;
	p->files.n = 0;
	if (p->unit.version < 5)
		return old_tables(p, c, offset);
	err = new_table(p, c, false);
	return err ? err : new_table(p, c, true);
}

int vpt_line_program_head(struct vpt_line_program *p, struct vpt_cursor *c, uint64_t offset)
{
	struct vpt_cursor head;
	unsigned int i;
	int err;

	p->unit.version = (unsigned int)vpt_cursor_value(c, 2);
	if (c->bad || p->unit.version < 2 || p->unit.version > 5)
		return -EINVAL;
	p->unit.address_bytes = 8;
	if (p->unit.version == 5) {
		p->unit.address_bytes = vpt_cursor_u8(c);
		(void)vpt_cursor_u8(c); /* size of segment selectors */
	}
	head = *c;
	if (p->unit.address_bytes > 8 ||
	    !vpt_cursor_skip(c, vpt_cursor_value(&head, p->unit.offset_bytes)) ||
	    !vpt_cursor_skip(c, p->unit.offset_bytes))
		return -EINVAL;
	head.end = c->at;
	p->min_insn = vpt_cursor_u8(&head);
	p->max_ops = p->unit.version >= 4 ? vpt_cursor_u8(&head) : 1;
	(void)vpt_cursor_u8(&head); /* default of is_stmt */
	p->line_base = (int8_t)vpt_cursor_u8(&head);
	p->line_range = vpt_cursor_u8(&head);
	p->opcode_base = vpt_cursor_u8(&head);
	if (head.bad || !p->line_range || !p->opcode_base || !p->max_ops)
		return -EINVAL;
	for (i = 1; i < p->opcode_base; i++)
		p->operands[i] = vpt_cursor_u8(&head);
	err = read_tables(p, &head, offset);
	return err || !head.bad ? err : -EINVAL;
}

int vpt_line_program_path(struct vpt_line_program *p, uint64_t number, const char **path)
{
	struct vpt_line_file *file;
	const char *dir;

	*path = NULL;
	if (number >= p->files.n)
		return 0;
	file = &p->files.at[number];
	if (!file->name)
		return 0;
	if (!file->path) {
		if (p->lines->paths.bytes >= p->lines->path_max)
			return -EFBIG;
		dir = file->dir < p->dirs.n ? p->dirs.at[file->dir] : NULL;
		file->path = vpt_paths_add(&p->lines->paths, dir, file->name);
		if (!file->path)
			return -ENOMEM;
	}
	*path = file->path;
	return 0;
}
