// SPDX-License-Identifier: GPL-2.0-or-later
/* The folder of each compilation unit, from .debug_info. */
#include "debug/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/vec.h"

#define DW_AT_STMT_LIST	 0x10
#define DW_AT_COMP_DIR	 0x1b
#define DW_FORM_IMPLICIT 0x21

/*
 * How many bytes of its table of abbreviations are looked at for each unit. The unit's own
 * entry is described at the beginning of it.
 */
#define ABBREV_BYTES 1024

struct reading {
	struct vpt_unit_dirs *dirs;
	const struct vpt_form_strings *strings;
	struct vpt_debug_bytes abbrev;
};

/* Pass the attributes of an abbreviation; 0 and 0 end them. */
static void skip_attributes(struct vpt_cursor *c)
{
	uint64_t name, form;

	do {
		name = vpt_cursor_uleb(c);
		form = vpt_cursor_uleb(c);
		if (form == DW_FORM_IMPLICIT)
			(void)vpt_cursor_sleb(c);
	} while ((name || form) && !c->bad);
}

/* Go to the attributes of an abbreviation. */
static bool find_abbrev(struct vpt_cursor *c, uint64_t code)
{
	while (!c->bad) {
		uint64_t is = vpt_cursor_uleb(c);

		(void)vpt_cursor_uleb(c); /* the tag */
		(void)vpt_cursor_u8(c);	  /* whether it has children */
		if (is == code)
			return !c->bad;
		skip_attributes(c);
	}
	return false;
}

/* Read the attributes of a unit's entry. Returns 0 or -ENOMEM. */
static int read_entry(struct reading *r, struct vpt_cursor *c, struct vpt_cursor *abbrev,
		      const struct vpt_form_unit *unit)
{
	struct vpt_unit_dir is = {0};
	bool has_program = false;

	for (;;) {
		uint64_t name = vpt_cursor_uleb(abbrev), form = vpt_cursor_uleb(abbrev);
		struct vpt_form_value value;

		if (form == DW_FORM_IMPLICIT)
			(void)vpt_cursor_sleb(abbrev);
		if ((!name && !form) || abbrev->bad)
			break;
		vpt_form_read(c, form, unit, r->strings, &value);
		if (c->bad)
			break;
		if (name == DW_AT_STMT_LIST) {
			is.program = value.number;
			has_program = true;
		} else if (name == DW_AT_COMP_DIR) {
			is.dir = value.text;
		}
	}
	if (!has_program || !is.dir)
		return 0;
	if (!vpt_vec_room(r->dirs))
		return -ENOMEM;
	r->dirs->at[r->dirs->n++] = is;
	return 0;
}

/* Line tables of version 5 have their folder themselves. */
static int read_unit(struct reading *r, struct vpt_cursor *c, unsigned int offset_bytes)
{
	struct vpt_form_unit unit = {.offset_bytes = offset_bytes};
	struct vpt_cursor abbrev;
	uint64_t offset, left, code;

	unit.version = (unsigned int)vpt_cursor_value(c, 2);
	offset = vpt_cursor_value(c, offset_bytes);
	unit.address_bytes = vpt_cursor_u8(c);
	if (c->bad || unit.version < 2 || unit.version > 4 || offset >= r->abbrev.len ||
	    unit.address_bytes > 8)
		return 0;
	code = vpt_cursor_uleb(c);
	left = r->abbrev.len - offset;
	abbrev.at = r->abbrev.at + offset;
	abbrev.end = abbrev.at + (left < ABBREV_BYTES ? left : ABBREV_BYTES);
	abbrev.bad = false;
	if (!code || !find_abbrev(&abbrev, code))
		return 0;
	return read_entry(r, c, &abbrev, &unit);
}

static int by_program(const void *a, const void *b)
{
	const struct vpt_unit_dir *x = a, *y = b;

	if (x->program != y->program)
		return x->program < y->program ? -1 : 1;
	return (x->dir > y->dir) - (x->dir < y->dir);
}

int vpt_unit_dirs_read(struct vpt_unit_dirs *dirs, const struct vpt_object *o,
		       const struct vpt_form_strings *strings, uint64_t *budget)
{
	struct reading r = {.dirs = dirs, .strings = strings};
	struct vpt_cursor c;
	int err = vpt_debug_load(o, ".debug_info", budget, &dirs->info);

	if (!err)
		err = vpt_debug_load(o, ".debug_abbrev", budget, &r.abbrev);
	if (!err && dirs->info.len) {
		c = (struct vpt_cursor){dirs->info.at, dirs->info.at + dirs->info.len, false};
		while (!err && vpt_cursor_left(&c) && !c.bad) {
			unsigned int offset_bytes;
			struct vpt_cursor unit = vpt_cursor_unit(&c, &offset_bytes);

			err = read_unit(&r, &unit, offset_bytes);
		}
	}
	if (dirs->n)
		qsort(dirs->at, dirs->n, sizeof(*dirs->at), by_program);
	vpt_debug_unload(&r.abbrev);
	return err;
}

const char *vpt_unit_dir(const struct vpt_unit_dirs *dirs, uint64_t program)
{
	size_t lo = 0, hi = dirs->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (dirs->at[mid].program < program)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < dirs->n && dirs->at[lo].program == program ? dirs->at[lo].dir : NULL;
}

void vpt_unit_dirs_free(struct vpt_unit_dirs *dirs)
{
	free(dirs->at);
	vpt_debug_unload(&dirs->info);
	memset(dirs, 0, sizeof(*dirs));
}
