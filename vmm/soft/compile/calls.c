// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile CALL, RET and indirect JMP of 64-bit mode. The code does what the functions of branch.c do.
 * Indirect branches look up their targets in the table of earlier ones.
 */
#include "soft/branch.h"
#include "soft/compile/compiler.h"

/* Leave for a function with the arguments u and R11. */
static void leave_to(struct soft_compiler *g, const struct soft_uop *u, const void *fn)
{
	e_const(&g->e, H_RSI, (uint64_t)(uintptr_t)u);
	e_rr(&g->e, SOFT_SIZE64, 0x89, H_R11, H_RDX);
	soft_emit_jump(g, fn);
}

/* Push a return address. Changes R10 and R11. */
static void push(struct soft_compiler *g, const struct soft_uop *u)
{
	struct soft_emit *e = &g->e;

	soft_stack_operand(g, u);
	e_const(e, H_RAX, u->ip + u->len);
	soft_emit_operand(g, SOFT_SIZE64, 0x89, H_RAX);
	soft_hold_move_rsp(g, -8);
}

static uint8_t *if_no_compression(struct soft_compiler *g)
{
	e_rm(&g->e, 0, 0x80, 7, H_RAX, SOFT_AT_PT(ret_compress)); /* cmp */
	e8(&g->e, 0);
	return e_jump(&g->e, SOFT_JE);
}

/* Push the return address to the stack of the unit in RAX: vpt_retstack_push(). */
static void remember(struct soft_compiler *g, uint64_t next)
{
	struct soft_emit *e = &g->e;
	uint8_t *full;

	e_rm(e, 2, 0x8b, H_R10, H_RAX, SOFT_AT_PT(retstack.top));
	e_rr(e, 2, 0x81, 4, H_R10);
	e32(e, VPT_RETSTACK_SIZE - 1);
	e_const(e, H_R11, next);
	e_sib(e, SOFT_SIZE64, 0x89, H_R11, H_RAX, H_R10, 3, SOFT_AT_PT(retstack.ip));
	e_rm(e, 2, 0xff, 0, H_RAX, SOFT_AT_PT(retstack.top)); /* inc */
	e_rm(e, 2, 0x81, 7, H_RAX, SOFT_AT_PT(retstack.depth));
	e32(e, VPT_RETSTACK_SIZE);
	full = e_jump(e, SOFT_JAE);
	e_rm(e, 2, 0xff, 0, H_RAX, SOFT_AT_PT(retstack.depth));
	e_aim(e, full);
}

/* A CALL of the next instruction is no call for PT, and C code reports it. */
static void record_call(struct soft_compiler *g, const struct soft_uop *u)
{
	struct soft_exit *slow = soft_exit_add(g, (const void *)(uintptr_t)soft_call_slow, u);
	const uint64_t next = u->ip + u->len;
	uint8_t *plain;

	g->live = false;
	if (u->imm == next) {
		slow->from[0] = e_jump(&g->e, SOFT_ALWAYS);
		return;
	}
	slow->from[0] = soft_emit_gate(g);
	plain = if_no_compression(g);
	remember(g, next);
	e_aim(&g->e, plain);
}

static void call(struct soft_compiler *g, const struct soft_uop *u)
{
	push(g, u);
	if (soft_needs_flags(g, u, 1))
		soft_flags_store(g);
	soft_hold_flush_rest(g);
	if (g->traced)
		record_call(g, u);
	soft_emit_follow(g, u, 1, u->imm);
}

/*
 * Count the branches to targets that the unit does not have, if the block can note one more of them. After
 * some, leave for the function of u, which notes it: note_target() in branch.c.
 */
static void count_stray(struct soft_compiler *g, const struct soft_uop *u)
{
	struct soft_block *b = (struct soft_block *)(uintptr_t)soft_unit_block(u);

	if (!soft_unit_leads_inside(b) || b->link[SOFT_LINKS - 1].first)
		return;
	b->strays = SOFT_STRAYS;
	e_const(&g->e, H_RAX, (uint64_t)(uintptr_t)&b->strays);
	e_rm(&g->e, 2, 0xff, 1, H_RAX, 0); /* dec */
	soft_leave_if(g, SOFT_JE, u);
	g->live = false;
}

/*
 * R10 := the entry of the target in R11 in the table of targets: soft_jump_link(). Leave for the
 * function of u if there is none. A target in the table is canonical.
 */
static void find_target(struct soft_compiler *g, const struct soft_uop *u)
{
	VPT_STATIC_ASSERT(sizeof(struct soft_jump) == 32, "the shape of the table");
	struct soft_emit *e = &g->e;

	soft_flags_store(g);
	count_stray(g, u);
	e_rr(e, SOFT_SIZE64, 0x89, H_R11, H_RAX);
	e_rr(e, SOFT_SIZE64, 0xc1, 5, H_RAX); /* shr */
	e8(e, SOFT_JUMP_BITS);
	e_rr(e, 2, 0x31, H_R11, H_RAX);
	e_rr(e, 2, 0x81, 4, H_RAX);
	e32(e, SOFT_JUMP_SIZE - 1);
	e_rr(e, 2, 0xc1, 4, H_RAX); /* shl */
	e8(e, 5);
	e_sib(e, SOFT_SIZE64, 0x8d, H_R10, H_RDI, H_RAX, 0, SOFT_AT(jump));
	e_rm(e, SOFT_SIZE64, 0x3b, H_R11, H_R10, (int32_t)offsetof(struct soft_jump, ip));
	soft_leave_if(g, SOFT_JNE, u);
	g->live = false;
}

/* Go to the block of the entry in R10, with all registers stored. */
static void go(struct soft_compiler *g)
{
	struct soft_emit *e = &g->e;
	uint8_t *stale, *spent;

	e_rm(e, SOFT_SIZE64, 0x8b, H_RAX, H_RDI, SOFT_AT(gen));
	e_rm(e, SOFT_SIZE64, 0x3b, H_RAX, H_R10, (int32_t)offsetof(struct soft_jump, link.gen));
	stale = e_jump(e, SOFT_JNE);
	e_rm(e, SOFT_SIZE64, 0x63, H_RAX, H_R10, (int32_t)offsetof(struct soft_jump, link.insns));
	e_rm(e, SOFT_SIZE64, 0x3b, H_RAX, H_RDI, SOFT_AT(left));
	spent = e_jump(e, SOFT_JG);
	e_rm(e, SOFT_SIZE64, 0x29, H_RAX, H_RDI, SOFT_AT(left));
	e_rm(e, SOFT_SIZE64, 0x8b, H_RSI, H_R10, (int32_t)offsetof(struct soft_jump, link.first));
	e8(e, 0xff), e8(e, 0x26); /* jmp [rsi] */
	e_aim(e, stale);
	e_aim(e, spent);
	e_rm(e, SOFT_SIZE64, 0x8d, H_RSI, H_R10, (int32_t)offsetof(struct soft_jump, link));
	e_rr(e, SOFT_SIZE64, 0x89, H_R11, H_RDX);
	soft_emit_jump(g, (const void *)(uintptr_t)soft_miss);
}

static void aim_all(struct soft_compiler *g, const struct soft_slow *s)
{
	unsigned int i;

	for (i = 0; i < s->count; i++)
		e_aim(&g->e, s->from[i]);
}

/*
 * RET that is an outcome: vpt_pt_quick_ret(). Returns in `tip` the jumps of a RET that sends a TIP.
 * Changes RAX and `free`.
 */
static void record_outcome(struct soft_compiler *g, struct soft_slow *tip, unsigned int free)
{
	struct soft_emit *e = &g->e;

	soft_emit_open(g);
	tip->from[tip->count++] = if_no_compression(g);
	e_rm(e, 2, 0x81, 7, H_RAX, SOFT_AT_PT(retstack.depth));
	e32(e, 0);
	tip->from[tip->count++] = e_jump(e, SOFT_JE);
	e_rm(e, 2, 0x8b, free, H_RAX, SOFT_AT_PT(retstack.top));
	e_rr(e, 2, 0xff, 1, free); /* dec */
	e_rr(e, 2, 0x81, 4, free);
	e32(e, VPT_RETSTACK_SIZE - 1);
	e_sib(e, SOFT_SIZE64, 0x3b, H_R11, H_RAX, free, 3, SOFT_AT_PT(retstack.ip));
	tip->from[tip->count++] = e_jump(e, SOFT_JNE);
	soft_emit_outcome(g, true, NULL, free);
	e_rm(e, 2, 0xff, 1, H_RAX, SOFT_AT_PT(retstack.top));
	e_rm(e, 2, 0xff, 1, H_RAX, SOFT_AT_PT(retstack.depth));
}

/*
 * RET to the address in R11. All registers are stored, so that those of soft_emit_tip() are free. R10
 * and R11 are kept.
 */
static void record_ret(struct soft_compiler *g, const struct soft_uop *u)
{
	struct soft_slow slow = {.count = 0}, tip = {.count = 0};
	struct soft_emit *e = &g->e;
	const unsigned int full = g->fulls;
	uint8_t *done[3];

	record_outcome(g, &tip, H_RCX);
	done[0] = e_jump(e, SOFT_ALWAYS);
	aim_all(g, &tip);
	soft_emit_tip(g, &slow);
	done[1] = if_no_compression(g);
	e_rm(e, 2, 0xc7, 0, H_RAX, SOFT_AT_PT(retstack.depth));
	e32(e, 0);
	done[2] = e_jump(e, SOFT_ALWAYS);
	aim_all(g, &slow);
	soft_outcomes_aim(g, full);
	leave_to(g, u, (const void *)(uintptr_t)soft_ret_to);
	e_aim(e, done[0]);
	e_aim(e, done[1]);
	e_aim(e, done[2]);
}

/* Returns true if this link of an indirect branch leads to a block of the unit, at `to`. */
static bool is_inside(const struct soft_compiler *g, const struct soft_uop *u, unsigned int link,
		      uint64_t *to)
{
	unsigned int block = soft_unit_next(g, u, link);

	if (block == g->blocks)
		return false;
	*to = g->block[block]->ip;
	return true;
}

/* Returns the jump that is taken if the target in R11 is another. Changes R10. */
static uint8_t *if_not(struct soft_compiler *g, uint64_t to)
{
	struct soft_emit *e = &g->e;

	if ((uint64_t)(int64_t)(int32_t)to == to) {
		e_rr(e, SOFT_SIZE64, 0x81, 7, H_R11); /* cmp */
		e32(e, to);
	} else {
		e_const(e, H_R10, to);
		e_rr(e, SOFT_SIZE64, 0x39, H_R10, H_R11);
	}
	g->live = false;
	return e_jump(e, SOFT_JNE);
}

/* Send a TIP to `to`, and go on with the registers where they were. RAX := the gate. */
static void record_tip_inside(struct soft_compiler *g, const struct soft_uop *u, uint64_t to,
			      const void *fn)
{
	struct soft_slow slow = {.count = 0};
	struct soft_exit *exit;

	soft_hold_lend_tnt(g);
	exit = soft_exit_add(g, fn, u);
	exit->rdx = to;
	g->live = false;
	soft_emit_open(g);
	soft_emit_tip_to(g, &slow, to);
	soft_hold_return_tnt(g);
	memcpy(exit->from, slow.from, sizeof(exit->from));
}

/* The ways of the three indirect branches to a block of the unit. The target in R11 is this block. */
static void ret_inside(struct soft_compiler *g, const struct soft_uop *u, unsigned int link,
		       uint64_t to, struct soft_slow *other)
{
	if (soft_needs_flags(g, u, link))
		soft_flags_store(g);
	if (g->traced)
		record_outcome(g, other, H_R10);
	g->live = false;
	soft_hold_move_rsp(g, (int32_t)(8 + u->imm));
	soft_hold_flush_rest(g);
	soft_emit_follow(g, u, link, to);
}

static void jump_inside(struct soft_compiler *g, const struct soft_uop *u, unsigned int link,
			uint64_t to, struct soft_slow *other)
{
	(void)other;
	if (soft_needs_flags(g, u, link))
		soft_flags_store(g);
	soft_hold_flush_rest(g);
	if (g->traced)
		record_tip_inside(g, u, to, (const void *)(uintptr_t)soft_jump_to);
	soft_emit_follow(g, u, link, to);
}

static void call_inside(struct soft_compiler *g, const struct soft_uop *u, unsigned int link,
			uint64_t to, struct soft_slow *other)
{
	uint8_t *plain;

	(void)other;
	push(g, u);
	if (soft_needs_flags(g, u, link))
		soft_flags_store(g);
	soft_hold_flush_rest(g);
	if (g->traced) {
		record_tip_inside(g, u, to, (const void *)(uintptr_t)soft_call_to);
		plain = if_no_compression(g);
		remember(g, u->ip + u->len);
		e_aim(&g->e, plain);
	}
	soft_emit_follow(g, u, link, to);
}

/* Compare the target in R11 with the blocks of the unit that the branch led to. */
static void try_inside(struct soft_compiler *g, const struct soft_uop *u,
		       void (*way)(struct soft_compiler *g, const struct soft_uop *u,
				   unsigned int link, uint64_t to, struct soft_slow *other))
{
	unsigned int link;
	uint64_t to;

	for (link = 0; link < SOFT_LINKS; link++) {
		const struct soft_held held = g->held;
		const struct soft_reach reach = g->reach;
		const unsigned int full = g->fulls;
		struct soft_slow other = {.count = 1};

		if (!is_inside(g, u, link, &to))
			continue;
		other.from[0] = if_not(g, to);
		way(g, u, link, to, &other);
		aim_all(g, &other);
		soft_outcomes_aim(g, full);
		g->held = held;
		g->reach = reach;
		g->live = false;
	}
}

static void ret(struct soft_compiler *g, const struct soft_uop *u)
{
	soft_stack_operand(g, u);
	soft_emit_operand(g, SOFT_SIZE64, 0x8b, H_R11);
	try_inside(g, u, ret_inside);
	find_target(g, u);
	soft_hold_move_rsp(g, (int32_t)(8 + u->imm));
	soft_hold_flush(g);
	if (g->traced)
		record_ret(g, u);
	go(g);
}

/* R11 := the target of an indirect branch. */
static void target(struct soft_compiler *g, const struct soft_uop *u)
{
	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RM) {
		soft_operand(g, u, SOFT_SIZE64, false);
		soft_emit_operand(g, SOFT_SIZE64, 0x8b, H_R11);
	} else {
		e_rr(&g->e, SOFT_SIZE64, 0x89, soft_hold(g, u->src / 8, true), H_R11);
	}
}

/* Send a TIP to the address in R11, or leave for `fn`, which does so. RAX := the gate. */
static void record_tip(struct soft_compiler *g, const struct soft_uop *u, const void *fn)
{
	struct soft_slow slow = {.count = 0};
	uint8_t *done;

	e_rm(&g->e, SOFT_SIZE64, 0x8b, H_RAX, H_RDI, SOFT_AT(open));
	soft_emit_tip(g, &slow);
	done = e_jump(&g->e, SOFT_ALWAYS);
	aim_all(g, &slow);
	leave_to(g, u, fn);
	e_aim(&g->e, done);
}

static void jump_to(struct soft_compiler *g, const struct soft_uop *u)
{
	target(g, u);
	try_inside(g, u, jump_inside);
	find_target(g, u);
	soft_hold_flush(g);
	if (g->traced)
		record_tip(g, u, (const void *)(uintptr_t)soft_jump_to);
	go(g);
}

static void call_to(struct soft_compiler *g, const struct soft_uop *u)
{
	struct soft_emit *e = &g->e;
	uint8_t *plain;

	target(g, u);
	try_inside(g, u, call_inside);
	find_target(g, u);
	e_rm(e, SOFT_SIZE64, 0x89, H_R11, H_RDI, SOFT_AT_SLOT(SOFT_R_T0));
	e_rm(e, SOFT_SIZE64, 0x89, H_R10, H_RDI, SOFT_AT_SLOT(SOFT_R_T0 + 1));
	push(g, u);
	soft_hold_flush(g);
	e_rm(e, SOFT_SIZE64, 0x8b, H_R11, H_RDI, SOFT_AT_SLOT(SOFT_R_T0));
	if (g->traced) {
		record_tip(g, u, (const void *)(uintptr_t)soft_call_to);
		plain = if_no_compression(g);
		remember(g, u->ip + u->len);
		e_aim(e, plain);
		e_rm(e, SOFT_SIZE64, 0x8b, H_R11, H_RDI, SOFT_AT_SLOT(SOFT_R_T0));
	}
	e_rm(e, SOFT_SIZE64, 0x8b, H_R10, H_RDI, SOFT_AT_SLOT(SOFT_R_T0 + 1));
	go(g);
}

void soft_emit_far_end(struct soft_compiler *g, const struct soft_uop *u)
{
	switch (SOFT_KIND_OP(u->kind)) {
	case SOFT_K_CALL:
		call(g, u);
		break;
	case SOFT_K_RET:
		ret(g, u);
		break;
	case SOFT_K_JUMP_TO:
		jump_to(g, u);
		break;
	default:
		call_to(g, u);
		break;
	}
}
