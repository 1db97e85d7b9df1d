// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile outcomes. In a unit with a loop they gather in SOFT_TNT, and code out of line sends them when they
 * are a whole packet. All other cases leave for C code before the code changes anything.
 */
#include "soft/compile/compiler.h"
#include "vpt/encode.h"

/* The bytes of a long TNT, and the two that it begins with. */
#define LONG	  8u
#define LONG_OPEN 0xa302u

VPT_STATIC_ASSERT(SOFT_PUT >= LONG, "the most bytes");

enum { SIZE32 = 2 };

void soft_emit_outcome(struct soft_compiler *g, bool taken, struct soft_exit *exit, unsigned int by)
{
	struct soft_emit *e = &g->e;
	struct soft_full *full = &g->full[g->fulls++];

	if (g->held.tnt) {
		by = SOFT_TNT;
	} else {
		soft_emit_open(g);
		e_rm(e, SOFT_SIZE64, 0x8b, by, H_RAX, SOFT_AT_GATE(tnt));
	}
	e_rm(e, SOFT_SIZE64, 0x3b, by, H_RDI, SOFT_AT(tnt_limit));
	*full = (struct soft_full){e_jump(e, SOFT_JAE), NULL, NULL, exit, (uint8_t)by, taken};
	e_sib(e, SOFT_SIZE64, 0x8d, by, by, by, 0, taken);
	full->back = e->at;
	if (!g->held.tnt)
		e_rm(e, SOFT_SIZE64, 0x89, by, H_RAX, SOFT_AT_GATE(tnt));
	g->live = false;
}

void soft_outcomes_aim(struct soft_compiler *g, unsigned int first)
{
	for (; first < g->fulls; first++)
		g->full[first].other = g->e.at;
}

/* The outcomes in `by` lack one. With it, their leading 1 becomes the stop bit of the packet. */
static void put(struct soft_emit *e, unsigned int by, bool taken)
{
	VPT_STATIC_ASSERT(VPT_TNT_GATHER == 47, "the payload of a long TNT");
	e_sib(e, SOFT_SIZE64, 0x8d, by, by, by, 0, taken);
	e_rr(e, SOFT_SIZE64, 0xc1, 4, by); /* shl */
	e8(e, 16);
	e_rr(e, SOFT_SIZE64, 0x81, 1, by); /* or */
	e32(e, LONG_OPEN);
}

/* Return a register that is free where the outcomes are in `by`: see soft_emit_outcome(). */
static unsigned int free_beside(unsigned int by)
{
	if (by == SOFT_TNT)
		return H_R10;
	return by == H_R10 ? H_R11 : H_RDX;
}

static void emit_full(struct soft_compiler *g, const struct soft_full *full)
{
	const unsigned int by = full->by, temp = free_beside(by);
	const unsigned int at = by == SOFT_TNT ? temp : by;
	struct soft_emit *e = &g->e;
	uint8_t *slow;

	e_aim(e, full->from);
	soft_emit_open(g);
	e_rm(e, SOFT_SIZE64, 0x8b, at, H_RAX, SOFT_AT_PT(out.cur));
	e_rm(e, SOFT_SIZE64, 0x3b, at, H_RDI, SOFT_AT(put_limit));
	slow = e_jump(e, SOFT_JAE);
	if (by != SOFT_TNT) {
		e_rr(e, SOFT_SIZE64, 0x89, at, temp);
		e_rm(e, SOFT_SIZE64, 0x8b, by, H_RAX, SOFT_AT_GATE(tnt));
	}
	put(e, by, full->taken);
	e_rm(e, SOFT_SIZE64, 0x89, by, temp, 0);
	e_rm(e, SOFT_SIZE64, 0x83, 0, H_RAX, SOFT_AT_PT(out.cur)); /* add */
	e8(e, LONG);
	if (by != SOFT_TNT) {
		e_rm(e, SIZE32, 0x83, 0, H_RAX, SOFT_AT_PT(psb_bytes)); /* add */
		e8(e, LONG);
	}
	e_const(e, by, 1);
	soft_aim_at(full->back, e_jump(e, SOFT_ALWAYS));
	if (full->exit)
		full->exit->from[0] = slow;
	else
		soft_aim_at(full->other, slow);
}

void soft_outcomes_emit(struct soft_compiler *g)
{
	unsigned int i;

	for (i = 0; i < g->fulls; i++)
		emit_full(g, &g->full[i]);
}
