// SPDX-License-Identifier: GPL-2.0-or-later
/* The opcodes of a line program. */
#include "debug/program.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/vec.h"

/* DW_LNS_* and DW_LNE_*. */
enum standard {
	COPY = 1,
	ADVANCE_PC,
	ADVANCE_LINE,
	SET_FILE,
	SET_COLUMN,
	NEGATE_STMT,
	SET_BASIC_BLOCK,
	CONST_ADD_PC,
	FIXED_ADVANCE_PC,
	SET_PROLOGUE_END,
	SET_EPILOGUE_BEGIN,
	SET_ISA,
	STANDARD_END
};
enum extended { END_SEQUENCE = 1, SET_ADDRESS, DEFINE_FILE };

/* How many operands they have, by DWARF; a header may say otherwise. */
static const uint8_t operands[STANDARD_END] = {0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};

static void reset(struct vpt_line_program *p)
{
	p->addr = 0;
	p->op = 0;
	p->file = 1;
	p->line = 1;
}

static void advance(struct vpt_line_program *p, uint64_t ops)
{
	uint64_t sum;

	if (p->max_ops == 1) {
		p->addr += p->min_insn * ops;
		return;
	}
	sum = p->op + ops;
	p->addr += p->min_insn * (sum / p->max_ops);
	p->op = (unsigned int)(sum % p->max_ops);
}

static int add_row(struct vpt_line_program *p, bool ends)
{
	struct vpt_lines *lines = p->lines;
	bool named = !ends && p->line > 0 && p->line <= INT32_MAX;
	const char *path = NULL;
	int err = named ? vpt_line_program_path(p, p->file, &path) : 0;

	if (err)
		return err;
	if (lines->n >= lines->rows_max)
		return -EFBIG;
	if (!vpt_vec_room(lines))
		return -ENOMEM;
	lines->at[lines->n] = (struct vpt_line){
		.addr = p->addr + p->bias,
		.file = path,
		.line = named ? (uint32_t)p->line : 0,
		.order = (uint32_t)lines->n,
	};
	lines->n++;
	return 0;
}

/* End a sequence. Rows of it that begin where it ends are of no code. */
static int end_sequence(struct vpt_line_program *p)
{
	struct vpt_lines *lines = p->lines;
	int err;

	while (lines->n > p->sequence && lines->at[lines->n - 1].addr == p->addr + p->bias)
		lines->n--;
	err = add_row(p, true);
	p->sequence = lines->n;
	reset(p);
	return err;
}

static int extended(struct vpt_line_program *p, struct vpt_cursor *c)
{
	uint64_t len = vpt_cursor_uleb(c);
	struct vpt_cursor args = *c;
	bool end;

	if (!len || !vpt_cursor_skip(c, len)) {
		c->bad = true;
		return 0;
	}
	args.end = c->at;
	switch (vpt_cursor_u8(&args)) {
	case END_SEQUENCE:
		return end_sequence(p);
	case SET_ADDRESS:
		if (len > 1 && len <= 9)
			p->addr = vpt_cursor_value(&args, len - 1);
		else
			c->bad = true;
		p->op = 0;
		return 0;
	case DEFINE_FILE:
		return vpt_line_program_file(p, &args, &end);
	default:
		return 0;
	}
}

/* An opcode whose operands are not those of DWARF: they are passed over. */
static void skip_operands(struct vpt_cursor *c, unsigned int n)
{
	while (n--)
		(void)vpt_cursor_uleb(c);
}

static int standard(struct vpt_line_program *p, struct vpt_cursor *c, uint8_t opcode)
{
	if (opcode >= STANDARD_END || p->operands[opcode] != operands[opcode]) {
		skip_operands(c, p->operands[opcode]);
		return 0;
	}
	switch (opcode) {
	case COPY:
		return add_row(p, false);
	case ADVANCE_PC:
		advance(p, vpt_cursor_uleb(c));
		return 0;
	case ADVANCE_LINE:
		p->line = (uint32_t)(p->line + (uint64_t)vpt_cursor_sleb(c));
		return 0;
	case SET_FILE:
		p->file = vpt_cursor_uleb(c);
		return 0;
	case SET_COLUMN:
	case SET_ISA:
		(void)vpt_cursor_uleb(c);
		return 0;
	case CONST_ADD_PC:
		advance(p, (255u - p->opcode_base) / p->line_range);
		return 0;
	case FIXED_ADVANCE_PC:
		p->addr += vpt_cursor_value(c, 2);
		p->op = 0;
		return 0;
	default:
		return 0;
	}
}

static int special(struct vpt_line_program *p, uint8_t opcode)
{
	unsigned int n = (unsigned int)opcode - p->opcode_base;

	advance(p, n / p->line_range);
	p->line =
		(uint32_t)(p->line + (uint64_t)(int64_t)(p->line_base + (int)(n % p->line_range)));
	return add_row(p, false);
}

int vpt_line_program_run(struct vpt_line_program *p, struct vpt_cursor c, uint64_t offset)
{
	int err = vpt_line_program_head(p, &c, offset);

	reset(p);
	p->sequence = p->lines->n;
	while (!err && vpt_cursor_left(&c) && !c.bad) {
		uint8_t opcode = vpt_cursor_u8(&c);

		if (!opcode)
			err = extended(p, &c);
		else if (opcode >= p->opcode_base)
			err = special(p, opcode);
		else
			err = standard(p, &c, opcode);
	}
	return err || !c.bad ? err : -EINVAL;
}

void vpt_line_program_free(struct vpt_line_program *p)
{
	free(p->dirs.at);
	free(p->files.at);
}
