/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line program of DWARF: its header (DWARF 5, 6.2.4) and its opcodes (6.2.5). */
#ifndef VMM_DEBUG_PROGRAM_H
#define VMM_DEBUG_PROGRAM_H

#include "debug/line.h"
#include "debug/unit.h"

/* All zero but the first four to begin with; serves any number of programs. */
struct vpt_line_program {
	struct vpt_lines *lines;
	const struct vpt_form_strings *strings;
	const struct vpt_unit_dirs *units;
	uint64_t bias;

	/* The program that runs. */
	struct vpt_form_unit unit;
	uint8_t min_insn, max_ops, line_range, opcode_base;
	int8_t line_base;
	uint8_t operands[256]; /* of standard opcodes */
	struct {
		const char **at; /* an entry may be NULL: not known */
		size_t n, room;
	} dirs;
	struct {
		struct vpt_line_file {
			const char *name, *path; /* `path`: NULL until a row needs it */
			uint64_t dir;
		} * at;
		size_t n, room;
	} files;

	/* The registers. */
	uint64_t addr, file, line;
	unsigned int op;
	size_t sequence; /* the first row of the sequence */
};

/*
 * Run the program of a unit that begins at an offset of .debug_line, and add its rows. @unit
 * is what follows unit_length; its size of offsets is in p->unit. Returns 0 or as
 * vpt_lines_read().
 */
int vpt_line_program_run(struct vpt_line_program *p, struct vpt_cursor unit, uint64_t offset);
void vpt_line_program_free(struct vpt_line_program *p);

/* program_head.c: read what comes before the opcodes. @c is then where they begin. */
int vpt_line_program_head(struct vpt_line_program *p, struct vpt_cursor *c, uint64_t offset);
/* The path of a file by its number. 0 and *path, which may be NULL, or as above. */
int vpt_line_program_path(struct vpt_line_program *p, uint64_t file, const char **path);
/* Read an entry of a table before DWARF 5. Returns 0, -ENOMEM or -EFBIG; *end: it ends there. */
int vpt_line_program_file(struct vpt_line_program *p, struct vpt_cursor *c, bool *end);

#endif /* VMM_DEBUG_PROGRAM_H */
