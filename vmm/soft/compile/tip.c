// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile a TIP packet. The code does what vpt_pt_quick_jmp_indirect() does with up to six outcomes.
 * All other cases leave for C code before the code changes anything.
 */
#include "soft/compile/compiler.h"
#include "vpt/encode.h"

/* A short TNT and a TIP with IPBytes 2. */
VPT_STATIC_ASSERT(SOFT_PUT >= 6, "the most bytes");

enum { SIZE8 = 0, SIZE16 = 1, SIZE32 = 2 };
enum { CC_A = 7 };

static void half(struct soft_emit *e, uint64_t value)
{
	e8(e, (uint32_t)value & 0xff);
	e8(e, (uint32_t)(value >> 8) & 0xff);
}

static void slow_if(struct soft_compiler *g, struct soft_slow *s, unsigned int cc)
{
	s->from[s->count++] = e_jump(&g->e, cc);
}

/* Check that the unit takes the bytes. `at` := the place of the next one. */
static void check_room(struct soft_compiler *g, struct soft_slow *s, unsigned int at)
{
	struct soft_emit *e = &g->e;

	e_rm(e, SOFT_SIZE64, 0x8b, at, H_RAX, SOFT_AT_PT(out.cur));
	e_rm(e, SOFT_SIZE64, 0x3b, at, H_RDI, SOFT_AT(put_limit));
	slow_if(g, s, SOFT_JAE);
}

/*
 * Check that there are at most six outcomes, and that only the low 32 bits of the IP differ from the
 * last IP. R9 := the outcomes, RSI := the difference, RDX := 0.
 */
static void check_form(struct soft_compiler *g, struct soft_slow *s)
{
	struct soft_emit *e = &g->e;

	e_rm(e, SOFT_SIZE64, 0x8b, H_R9, H_RAX, SOFT_AT_GATE(tnt));
	e_rr(e, SOFT_SIZE64, 0x81, 7, H_R9); /* cmp */
	e32(e, VPT_BIT64(VPT_TNT8_MAX + 1));
	slow_if(g, s, SOFT_JAE);
	e_rm(e, SOFT_SIZE64, 0x8b, H_RSI, H_RAX, SOFT_AT_PT(last_ip));
	e_rr(e, SOFT_SIZE64, 0x31, H_R11, H_RSI); /* xor */
	e_rr(e, SOFT_SIZE64, 0x89, H_RSI, H_RDX);
	e_rr(e, SOFT_SIZE64, 0xc1, 5, H_RDX); /* shr */
	e8(e, 32);
	slow_if(g, s, SOFT_JNE);
}

/* Put the TNT packet. Without outcomes its byte is not counted, and the TIP overwrites it. */
static void put_tnt(struct soft_compiler *g, unsigned int tnt, unsigned int at)
{
	struct soft_emit *e = &g->e;

	e_rr(e, SIZE32, 0x01, tnt, tnt); /* add: vpt_tnt8() */
	e_rm(e, SIZE8, 0x88, tnt, at, 0);
	e_rr(e, SIZE32, 0x83, 7, tnt); /* cmp: carry if there is no outcome */
	e8(e, 4);
	e_rr(e, SOFT_SIZE64, 0x83, 3, at); /* sbb at, -1 */
	e8(e, 0xff);
}

/*
 * Put the TIP with IPBytes 1 or 2. Which one is hard to predict, so it is computed: RDX := 0 or 1. The
 * second half of the payload is stored where the first one is, or behind it.
 */
static void put_ip(struct soft_compiler *g)
{
	struct soft_emit *e = &g->e;

	e_rr(e, SIZE32, 0x89, H_R11, H_R8);
	e_rr(e, SIZE32, 0xc1, 5, H_R8); /* shr */
	e8(e, 16);
	e_rr(e, SIZE32, 0x81, 7, H_RSI); /* cmp */
	e32(e, 0xffff);
	e_rr(e, SIZE32, 0x0f46, H_R8, H_R11); /* cmovbe */
	e_rr(e, SIZE8, 0x0f97, 0, H_RDX);     /* seta */
	e_rm(e, SIZE16, 0x89, H_R11, H_RCX, 1);
	e_sib(e, SIZE16, 0x89, H_R8, H_RCX, H_RDX, 1, 1);
	e_rr(e, SIZE32, 0x89, H_RDX, H_RSI);
	e_rr(e, SIZE32, 0xc1, 4, H_RSI); /* shl */
	e8(e, 5);
	e_rr(e, SIZE32, 0x83, 0, H_RSI); /* add */
	e8(e, VPT_IP_UPDATE_16 << 5 | VPT_OP_TIP);
	e_rm(e, SIZE8, 0x88, H_RSI, H_RCX, 0);
	e_sib(e, SOFT_SIZE64, 0x8d, H_RCX, H_RCX, H_RDX, 1, 3);
}

/* Check what check_form() does. R11 := the upper part of the difference. */
static void check_to(struct soft_compiler *g, struct soft_slow *s, uint64_t to)
{
	struct soft_emit *e = &g->e;

	e_rr(e, SOFT_SIZE64, 0x81, 7, SOFT_TNT); /* cmp */
	e32(e, VPT_BIT64(VPT_TNT8_MAX + 1));
	slow_if(g, s, SOFT_JAE);
	e_const(e, H_R11, to);
	e_rm(e, SOFT_SIZE64, 0x33, H_R11, H_RAX, SOFT_AT_PT(last_ip)); /* xor */
	e_rr(e, SOFT_SIZE64, 0xc1, 5, H_R11);			       /* shr */
	e8(e, 16);
	e_rr(e, SOFT_SIZE64, 0x81, 7, H_R11); /* cmp */
	e32(e, 0xffff);
	slow_if(g, s, CC_A);
}

/*
 * Put the payload to R10, with IPBytes 1 or 2, and the byte before it. R11 := 0 or -1, the second if the
 * upper half is not sent. Then it is stored where the lower one overwrites it. Changes SOFT_TNT.
 */
static void put_to(struct soft_compiler *g, uint64_t to)
{
	struct soft_emit *e = &g->e;

	e_rr(e, SOFT_SIZE64, 0x83, 7, H_R11); /* cmp: carry if it is 0 */
	e8(e, 1);
	e_rr(e, SOFT_SIZE64, 0x19, H_R11, H_R11); /* sbb */
	e_sib(e, SIZE16, 0xc7, 0, H_R10, H_R11, 1, 3);
	half(e, to >> 16);
	e_rm(e, SIZE16, 0xc7, 0, H_R10, 1);
	half(e, to);
	e_rr(e, SIZE32, 0x89, H_R11, SOFT_TNT);
	e_rr(e, SIZE32, 0xc1, 4, SOFT_TNT); /* shl */
	e8(e, 5);
	e_rr(e, SIZE32, 0x83, 0, SOFT_TNT); /* add */
	e8(e, VPT_IP_UPDATE_32 << 5 | VPT_OP_TIP);
	e_rm(e, SIZE8, 0x88, SOFT_TNT, H_R10, 0);
	e_sib(e, SOFT_SIZE64, 0x8d, H_R10, H_R10, H_R11, 1, 5);
}

/* Count the bytes up to `at`, which the PSB needs. Changes `temp`. */
static void count_bytes(struct soft_emit *e, unsigned int at, unsigned int temp)
{
	e_rr(e, SOFT_SIZE64, 0x89, at, temp);
	e_rm(e, SOFT_SIZE64, 0x2b, temp, H_RAX, SOFT_AT_PT(out.cur));
	e_rm(e, SIZE32, 0x01, temp, H_RAX, SOFT_AT_PT(psb_bytes));
}

void soft_emit_tip_to(struct soft_compiler *g, struct soft_slow *slow, uint64_t to)
{
	struct soft_emit *e = &g->e;

	check_room(g, slow, H_R10);
	check_to(g, slow, to);
	put_tnt(g, SOFT_TNT, H_R10);
	put_to(g, to);
	if (!g->held.tnt)
		count_bytes(e, H_R10, H_R11);
	e_rm(e, SOFT_SIZE64, 0x89, H_R10, H_RAX, SOFT_AT_PT(out.cur));
	e_const(e, H_R11, to);
	e_rm(e, SOFT_SIZE64, 0x89, H_R11, H_RAX, SOFT_AT_PT(last_ip));
	e_const(e, SOFT_TNT, 1);
}

void soft_emit_tip(struct soft_compiler *g, struct soft_slow *slow)
{
	struct soft_emit *e = &g->e;

	check_room(g, slow, H_RCX);
	check_form(g, slow);
	put_tnt(g, H_R9, H_RCX);
	put_ip(g);
	count_bytes(e, H_RCX, H_RDX);
	e_rm(e, SOFT_SIZE64, 0x89, H_RCX, H_RAX, SOFT_AT_PT(out.cur));
	e_rm(e, SOFT_SIZE64, 0x89, H_R11, H_RAX, SOFT_AT_PT(last_ip));
	e_rm(e, SOFT_SIZE64, 0xc7, 0, H_RAX, SOFT_AT_GATE(tnt));
	e32(e, 1);
}
