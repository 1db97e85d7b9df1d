// SPDX-License-Identifier: GPL-2.0-or-later
/* Values as DWARF encodes them by form. */
#include "debug/form.h"

/* DW_FORM_*, by how their values are encoded. */
enum form {
	ADDR = 0x01,
	BLOCK2 = 0x03,
	BLOCK4 = 0x04,
	DATA2 = 0x05,
	DATA4 = 0x06,
	DATA8 = 0x07,
	STRING = 0x08,
	BLOCK = 0x09,
	BLOCK1 = 0x0a,
	DATA1 = 0x0b,
	FLAG = 0x0c,
	SDATA = 0x0d,
	STRP = 0x0e,
	UDATA = 0x0f,
	REF_ADDR = 0x10,
	REF1 = 0x11,
	REF2 = 0x12,
	REF4 = 0x13,
	REF8 = 0x14,
	REF_UDATA = 0x15,
	INDIRECT = 0x16,
	SEC_OFFSET = 0x17,
	EXPRLOC = 0x18,
	FLAG_PRESENT = 0x19,
	STRX = 0x1a,
	ADDRX = 0x1b,
	REF_SUP4 = 0x1c,
	STRP_SUP = 0x1d,
	DATA16 = 0x1e,
	LINE_STRP = 0x1f,
	REF_SIG8 = 0x20,
	IMPLICIT_CONST = 0x21,
	LOCLISTX = 0x22,
	RNGLISTX = 0x23,
	REF_SUP8 = 0x24,
	STRX1 = 0x25,
	STRX2 = 0x26,
	STRX3 = 0x27,
	STRX4 = 0x28,
	ADDRX1 = 0x29,
	ADDRX2 = 0x2a,
	ADDRX3 = 0x2b,
	ADDRX4 = 0x2c,
	GNU_ADDR_INDEX = 0x1f01,
	GNU_STR_INDEX = 0x1f02,
	GNU_REF_ALT = 0x1f20,
	GNU_STRP_ALT = 0x1f21,
};

/* Cut the section after its last NUL: then each offset within it begins a string that ends. */
static void end_strings(struct vpt_debug_bytes *s)
{
	const uint8_t *last = s->len ? memrchr(s->at, 0, s->len) : NULL;

	s->len = last ? (size_t)(last - s->at) + 1 : 0;
}

int vpt_form_strings_load(struct vpt_form_strings *s, const struct vpt_object *o, uint64_t *budget)
{
	int err;

	memset(s, 0, sizeof(*s));
	err = vpt_debug_load(o, ".debug_str", budget, &s->str);
	if (!err)
		err = vpt_debug_load(o, ".debug_line_str", budget, &s->line_str);
	end_strings(&s->str);
	end_strings(&s->line_str);
	return err;
}

void vpt_form_strings_unload(struct vpt_form_strings *s)
{
	vpt_debug_unload(&s->str);
	vpt_debug_unload(&s->line_str);
}

static const char *string_at(const struct vpt_debug_bytes *s, uint64_t offset)
{
	return offset < s->len ? (const char *)s->at + offset : NULL;
}

/* How many bytes a value has that is as long as any other of its form; 0: it is not so. */
static unsigned int fixed_bytes(uint64_t form, const struct vpt_form_unit *unit)
{
	switch (form) {
	case DATA1:
	case FLAG:
	case REF1:
	case STRX1:
	case ADDRX1:
		return 1;
	case DATA2:
	case REF2:
	case STRX2:
	case ADDRX2:
		return 2;
	case STRX3:
	case ADDRX3:
		return 3;
	case DATA4:
	case REF4:
	case REF_SUP4:
	case STRX4:
	case ADDRX4:
		return 4;
	case DATA8:
	case REF8:
	case REF_SIG8:
	case REF_SUP8:
		return 8;
	case ADDR:
		return unit->address_bytes;
	case REF_ADDR:
		return unit->version == 2 ? unit->address_bytes : unit->offset_bytes;
	case STRP:
	case LINE_STRP:
	case SEC_OFFSET:
	case STRP_SUP:
	case GNU_REF_ALT:
	case GNU_STRP_ALT:
		return unit->offset_bytes;
	default:
		return 0;
	}
}

static void read_other(struct vpt_cursor *c, uint64_t form, struct vpt_form_value *value)
{
	switch (form) {
	case STRING:
		value->text = vpt_cursor_string(c);
		return;
	case BLOCK1:
		(void)vpt_cursor_skip(c, vpt_cursor_value(c, 1));
		return;
	case BLOCK2:
		(void)vpt_cursor_skip(c, vpt_cursor_value(c, 2));
		return;
	case BLOCK4:
		(void)vpt_cursor_skip(c, vpt_cursor_value(c, 4));
		return;
	case BLOCK:
	case EXPRLOC:
		(void)vpt_cursor_skip(c, vpt_cursor_uleb(c));
		return;
	case DATA16:
		(void)vpt_cursor_skip(c, 16);
		return;
	case SDATA:
		value->number = (uint64_t)vpt_cursor_sleb(c);
		return;
	case UDATA:
	case REF_UDATA:
	case STRX:
	case ADDRX:
	case LOCLISTX:
	case RNGLISTX:
	case GNU_ADDR_INDEX:
	case GNU_STR_INDEX:
		value->number = vpt_cursor_uleb(c);
		return;
	case FLAG_PRESENT:
	case IMPLICIT_CONST:
		return;
	default:
		c->bad = true;
	}
}

void vpt_form_read(struct vpt_cursor *c, uint64_t form, const struct vpt_form_unit *unit,
		   const struct vpt_form_strings *strings, struct vpt_form_value *value)
{
	unsigned int bytes;

	*value = (struct vpt_form_value){0};
	/* A form that says which form it is says so in at least a byte: this ends. */
	while (form == INDIRECT && !c->bad)
		form = vpt_cursor_uleb(c);
	bytes = fixed_bytes(form, unit);
	if (!bytes) {
		read_other(c, form, value);
		return;
	}
	value->number = vpt_cursor_value(c, bytes);
	if (form == STRP)
		value->text = string_at(&strings->str, value->number);
	else if (form == LINE_STRP)
		value->text = string_at(&strings->line_str, value->number);
}
