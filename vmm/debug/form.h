/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values as DWARF encodes them by form (DWARF 5, 7.5.6). */
#ifndef VMM_DEBUG_FORM_H
#define VMM_DEBUG_FORM_H

#include "debug/cursor.h"
#include "debug/inflate.h"

/* What the size of a value depends on. */
struct vpt_form_unit {
	unsigned int version;
	unsigned int address_bytes;
	unsigned int offset_bytes; /* 4, or 8 in 64-bit DWARF */
};

/* The sections that strings can be in. */
struct vpt_form_strings {
	struct vpt_debug_bytes str, line_str;
};

struct vpt_form_value {
	uint64_t number;
	const char *text; /* NULL: the value is no string that is known */
};

/* Load the strings of a file. 0 or as vpt_debug_load(). */
int vpt_form_strings_load(struct vpt_form_strings *s, const struct vpt_object *o, uint64_t *budget);
void vpt_form_strings_unload(struct vpt_form_strings *s);

/* Read a value. Sets `bad` of the cursor at its end, and for a form that is not known. */
void vpt_form_read(struct vpt_cursor *c, uint64_t form, const struct vpt_form_unit *unit,
		   const struct vpt_form_strings *strings, struct vpt_form_value *value);

#endif /* VMM_DEBUG_FORM_H */
