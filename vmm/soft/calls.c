// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile CALL, RET and indirect JMP of 64-bit mode. The code does what the functions of branch.c do.
 * RET looks up its target in the table of earlier targets.
 */
#include "soft/branch.h"
#include "soft/compiler.h"

#define PT(member) ((int32_t)offsetof(struct vpt_pt, member))

/* Leave for a function with the arguments u and R11. */
static void leave_to(struct soft_compiler *g, const struct soft_uop *u, const void *fn)
{
	e_const(&g->e, H_RSI, (uint64_t)(uintptr_t)u);
	e_rr(&g->e, SIZE64, 0x89, H_R11, H_RDX);
	soft_emit_jump(g, fn);
}

/* Leave for the function of u unless the address in R11 is canonical. It decides for 57 bits. */
static void check_canonical(struct soft_compiler *g, const struct soft_uop *u)
{
	struct soft_emit *e = &g->e;

	e_rr(e, SIZE64, 0x89, H_R11, H_RAX);
	e_rr(e, SIZE64, 0xc1, 4, H_RAX); /* shl 16 */
	e8(e, 16);
	e_rr(e, SIZE64, 0xc1, 7, H_RAX); /* sar 16 */
	e8(e, 16);
	e_rr(e, SIZE64, 0x39, H_R11, H_RAX);
	soft_leave_if(g, JNE, u);
	g->live = false;
}

/* Push a return address. */
static void push(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int rsp = soft_hold(g, SOFT_R_RSP, true);
	struct soft_emit *e = &g->e;

	e_rm(e, SIZE64, 0x8d, H_R11, rsp, -8);
	soft_to_host(g, u, SIZE64, true);
	e_const(e, H_RAX, u->ip + u->len);
	e_rm(e, SIZE64, 0x89, H_RAX, H_R11, 0);
	e_rm(e, SIZE64, 0x8d, rsp, rsp, -8);
	soft_hold_changed(g, rsp, SOFT_R_RSP);
	soft_hold_flush(g);
}

/* RAX := the gate. Returns the jump that is taken if there is none. */
static uint8_t *load_gate(struct soft_compiler *g)
{
	e_rm(&g->e, SIZE64, 0x8b, H_RAX, H_RDI, AT(gate));
	e_rr(&g->e, SIZE64, 0x85, H_RAX, H_RAX);
	return e_jump(&g->e, JE);
}

/* Jump if the gate in RAX is closed. */
static uint8_t *if_closed(struct soft_compiler *g)
{
	e_rm(&g->e, 0, 0xf6, 0, H_RAX, GATE(state));
	e8(&g->e, VPT_GATE_OPEN);
	return e_jump(&g->e, JE);
}

static uint8_t *if_no_compression(struct soft_compiler *g)
{
	e_rm(&g->e, 0, 0x80, 7, H_RAX, PT(ret_compress)); /* cmp */
	e8(&g->e, 0);
	return e_jump(&g->e, JE);
}

/* Push the return address to the stack of the unit in RAX: vpt_retstack_push(). */
static void remember(struct soft_compiler *g, uint64_t next)
{
	struct soft_emit *e = &g->e;
	uint8_t *full;

	e_rm(e, 2, 0x8b, H_R10, H_RAX, PT(retstack.top));
	e_rr(e, 2, 0x81, 4, H_R10);
	e32(e, VPT_RETSTACK_SIZE - 1);
	e_const(e, H_R11, next);
	e_sib(e, SIZE64, 0x89, H_R11, H_RAX, H_R10, 3, PT(retstack.ip));
	e_rm(e, 2, 0xff, 0, H_RAX, PT(retstack.top)); /* inc */
	e_rm(e, 2, 0x81, 7, H_RAX, PT(retstack.depth));
	e32(e, VPT_RETSTACK_SIZE);
	full = e_jump(e, JAE);
	e_rm(e, 2, 0xff, 0, H_RAX, PT(retstack.depth));
	e_aim(e, full);
}

/* A CALL of the next instruction is no call for PT, and C code reports it. */
static void call(struct soft_compiler *g, const struct soft_uop *u)
{
	const uint64_t next = u->ip + u->len;
	uint8_t *untraced, *closed = NULL, *plain;

	push(g, u);
	untraced = load_gate(g);
	if (u->imm != next) {
		closed = if_closed(g);
		plain = if_no_compression(g);
		remember(g, next);
		e_aim(&g->e, plain);
		plain = e_jump(&g->e, ALWAYS);
		e_aim(&g->e, closed);
	} else {
		plain = untraced;
	}
	e_const(&g->e, H_RSI, (uint64_t)(uintptr_t)u);
	soft_emit_jump(g, (const void *)(uintptr_t)soft_call_slow);
	e_aim(&g->e, plain);
	e_aim(&g->e, untraced);
	soft_emit_follow(g, u, 1, u->imm);
}

/* Go to the address in R11 by the table of targets: soft_jump_link(). */
static void look_up(struct soft_compiler *g, const struct soft_uop *u)
{
	VPT_STATIC_ASSERT(sizeof(struct soft_jump) == 32, "the shape of the table");
	struct soft_emit *e = &g->e;
	uint8_t *other, *stale, *spent;

	e_rr(e, SIZE64, 0x89, H_R11, H_RAX);
	e_rr(e, SIZE64, 0xc1, 5, H_RAX); /* shr */
	e8(e, SOFT_JUMP_BITS);
	e_rr(e, 2, 0x31, H_R11, H_RAX);
	e_rr(e, 2, 0x81, 4, H_RAX);
	e32(e, SOFT_JUMP_SIZE - 1);
	e_rr(e, 2, 0xc1, 4, H_RAX); /* shl */
	e8(e, 5);
	e_sib(e, SIZE64, 0x8d, H_R10, H_RDI, H_RAX, 0, AT(jump));
	e_rm(e, SIZE64, 0x3b, H_R11, H_R10, (int32_t)offsetof(struct soft_jump, ip));
	other = e_jump(e, JNE);
	e_rm(e, SIZE64, 0x8b, H_RAX, H_RDI, AT(gen));
	e_rm(e, SIZE64, 0x3b, H_RAX, H_R10, (int32_t)offsetof(struct soft_jump, link.gen));
	stale = e_jump(e, JNE);
	e_rm(e, SIZE64, 0x63, H_RAX, H_R10, (int32_t)offsetof(struct soft_jump, link.insns));
	e_rm(e, SIZE64, 0x3b, H_RAX, H_RDI, AT(left));
	spent = e_jump(e, JG);
	e_rm(e, SIZE64, 0x29, H_RAX, H_RDI, AT(left));
	e_rm(e, SIZE64, 0x8b, H_RSI, H_R10, (int32_t)offsetof(struct soft_jump, link.first));
	e8(e, 0xff), e8(e, 0x26); /* jmp [rsi] */
	e_aim(e, other);
	e_aim(e, stale);
	e_aim(e, spent);
	leave_to(g, u, (const void *)(uintptr_t)soft_go_to);
}

/* RET to the address in R11, traced by the gate in RAX: vpt_pt_quick_ret(). */
static void compress(struct soft_compiler *g, uint8_t *slow[5])
{
	struct soft_emit *e = &g->e;

	slow[0] = if_closed(g);
	slow[1] = if_no_compression(g);
	e_rm(e, 2, 0x81, 7, H_RAX, PT(retstack.depth));
	e32(e, 0);
	slow[2] = e_jump(e, JE);
	e_rm(e, 2, 0x8b, H_R10, H_RAX, PT(retstack.top));
	e_rr(e, 2, 0xff, 1, H_R10); /* dec */
	e_rr(e, 2, 0x81, 4, H_R10);
	e32(e, VPT_RETSTACK_SIZE - 1);
	e_sib(e, SIZE64, 0x3b, H_R11, H_RAX, H_R10, 3, PT(retstack.ip));
	slow[3] = e_jump(e, JNE);
	e_rm(e, SIZE64, 0x8b, H_R10, H_RAX, GATE(tnt));
	e_sib(e, SIZE64, 0x8d, H_R10, H_R10, H_R10, 0, 1);
	e_rm(e, SIZE64, 0x3b, H_R10, H_RAX, GATE(tnt_full));
	slow[4] = e_jump(e, JAE);
	e_rm(e, SIZE64, 0x89, H_R10, H_RAX, GATE(tnt));
	e_rm(e, 2, 0xff, 1, H_RAX, PT(retstack.top));
	e_rm(e, 2, 0xff, 1, H_RAX, PT(retstack.depth));
}

static void ret(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int rsp = soft_hold(g, SOFT_R_RSP, true), i;
	uint8_t *untraced, *slow[5], *done;
	struct soft_emit *e = &g->e;

	e_rr(e, SIZE64, 0x89, rsp, H_R11);
	soft_to_host(g, u, SIZE64, false);
	e_rm(e, SIZE64, 0x8b, H_R11, H_R11, 0);
	check_canonical(g, u);
	e_rm(e, SIZE64, 0x8d, rsp, rsp, (int32_t)(8 + u->imm));
	soft_hold_changed(g, rsp, SOFT_R_RSP);
	soft_hold_flush(g);
	untraced = load_gate(g);
	compress(g, slow);
	done = e_jump(e, ALWAYS);
	for (i = 0; i < 5; i++)
		e_aim(e, slow[i]);
	leave_to(g, u, (const void *)(uintptr_t)soft_ret_to);
	e_aim(e, untraced);
	e_aim(e, done);
	look_up(g, u);
}

/* R11 := the target of an indirect branch. */
static void target(struct soft_compiler *g, const struct soft_uop *u)
{
	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RM) {
		soft_operand(g, u, SIZE64, false);
		e_rm(&g->e, SIZE64, 0x8b, H_R11, H_R11, 0);
	} else {
		e_rr(&g->e, SIZE64, 0x89, soft_hold(g, u->src / 8, true), H_R11);
	}
	check_canonical(g, u);
}

static void jump_to(struct soft_compiler *g, const struct soft_uop *u)
{
	uint8_t *untraced;

	target(g, u);
	soft_hold_flush(g);
	untraced = load_gate(g);
	leave_to(g, u, (const void *)(uintptr_t)soft_jump_to);
	e_aim(&g->e, untraced);
	look_up(g, u);
}

static void call_to(struct soft_compiler *g, const struct soft_uop *u)
{
	uint8_t *untraced;

	target(g, u);
	e_rm(&g->e, SIZE64, 0x89, H_R11, H_RDI, OF_SLOT(SOFT_R_T0));
	push(g, u);
	e_rm(&g->e, SIZE64, 0x8b, H_R11, H_RDI, OF_SLOT(SOFT_R_T0));
	untraced = load_gate(g);
	leave_to(g, u, (const void *)(uintptr_t)soft_call_to);
	e_aim(&g->e, untraced);
	look_up(g, u);
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
