// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile outcomes. In a unit with a loop they gather in SOFT_TNT, and code out of line sends them when they
 * are a whole packet. All other cases leave for C code before the code changes anything.
 */
#include "soft/compile/compiler.h"
#include "vpt/encode.h"

#define PT(member) ((int32_t)offsetof(struct vpt_pt, member))

/* The bytes of a long TNT, and the two that it begins with. */
#define LONG	  8u
#define LONG_OPEN 0xa302u

enum { SIZE8 = 0, SIZE32 = 2, CC_BE = 6 };

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

/* Leave unless the unit takes a whole packet, which VPT_GATE_TIP says, and it has room. */
static void check_room(struct soft_emit *e, struct soft_slow *slow, unsigned int temp)
{
	e_rm(e, SIZE8, 0xf6, 0, H_RAX, SOFT_AT_GATE(state) + 1); /* test */
	e8(e, VPT_GATE_TIP >> 8);
	slow->from[slow->count++] = e_jump(e, SOFT_JE);
	e_rm(e, SOFT_SIZE64, 0x8b, temp, H_RAX, PT(out.end));
	e_rm(e, SOFT_SIZE64, 0x2b, temp, H_RAX, PT(out.cur));
	e_rr(e, SOFT_SIZE64, 0x83, 7, temp); /* cmp */
	e8(e, LONG);
	slow->from[slow->count++] = e_jump(e, CC_BE);
	e_rm(e, SIZE32, 0x8b, temp, H_RAX, PT(psb_bytes));
	e_rr(e, SIZE32, 0x83, 0, temp); /* add */
	e8(e, LONG);
	e_rm(e, SIZE32, 0x3b, temp, H_RAX, PT(psb_period));
	slow->from[slow->count++] = e_jump(e, SOFT_JAE);
	e_rm(e, SIZE32, 0x89, temp, H_RAX, PT(psb_bytes));
}

/* The outcomes in `by` lack one. With it, their leading 1 becomes the stop bit of the packet. */
static void put(struct soft_emit *e, unsigned int by, bool taken, unsigned int temp)
{
	VPT_STATIC_ASSERT(VPT_TNT_GATHER == 47, "the payload of a long TNT");
	e_sib(e, SOFT_SIZE64, 0x8d, by, by, by, 0, taken);
	e_rr(e, SOFT_SIZE64, 0xc1, 4, by); /* shl */
	e8(e, 16);
	e_rr(e, SOFT_SIZE64, 0x81, 1, by); /* or */
	e32(e, LONG_OPEN);
	e_rm(e, SOFT_SIZE64, 0x8b, temp, H_RAX, PT(out.cur));
	e_rm(e, SOFT_SIZE64, 0x89, by, temp, 0);
	e_rm(e, SOFT_SIZE64, 0x83, 0, H_RAX, PT(out.cur)); /* add */
	e8(e, LONG);
	e_const(e, by, 1);
}

static void emit_full(struct soft_compiler *g, const struct soft_full *full)
{
	const unsigned int by = full->by, temp = by == SOFT_TNT ? H_R10
						 : by == H_R10	? H_R11
								: H_RDX;
	struct soft_slow slow = {.count = 0};
	unsigned int i;

	e_aim(&g->e, full->from);
	soft_emit_open(g);
	check_room(&g->e, &slow, by == SOFT_TNT ? temp : by);
	if (by != SOFT_TNT)
		e_rm(&g->e, SOFT_SIZE64, 0x8b, by, H_RAX, SOFT_AT_GATE(tnt));
	put(&g->e, by, full->taken, temp);
	e_aim_at(full->back, e_jump(&g->e, SOFT_ALWAYS));
	for (i = 0; i < slow.count; i++) {
		if (full->exit)
			full->exit->from[i] = slow.from[i];
		else
			e_aim_at(full->other, slow.from[i]);
	}
}

void soft_outcomes_emit(struct soft_compiler *g)
{
	unsigned int i;

	for (i = 0; i < g->fulls; i++)
		emit_full(g, &g->full[i]);
}
