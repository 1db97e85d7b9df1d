/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a line table before DWARF 5 does not have itself: the folder in which each compilation
 * unit was compiled, by the offset of the unit's line program.
 */
#ifndef VMM_DEBUG_UNIT_H
#define VMM_DEBUG_UNIT_H

#include "debug/form.h"

/* All zero is empty. */
struct vpt_unit_dirs {
	struct vpt_unit_dir {
		uint64_t program; /* offset in .debug_line */
		const char *dir;
	} * at; /* sorted by program */
	size_t n, room;
	struct vpt_debug_bytes info; /* that `dir` may point into */
};

/*
 * Read the units of a file. `dir` points into its sections and into @strings. 0 or as
 * vpt_debug_load(); a unit that is damaged has no folder. vpt_unit_dirs_free() also after an
 * error.
 */
int vpt_unit_dirs_read(struct vpt_unit_dirs *dirs, const struct vpt_object *o,
		       const struct vpt_form_strings *strings, uint64_t *budget);
/* NULL: not known. */
const char *vpt_unit_dir(const struct vpt_unit_dirs *dirs, uint64_t program);
void vpt_unit_dirs_free(struct vpt_unit_dirs *dirs);

#endif /* VMM_DEBUG_UNIT_H */
