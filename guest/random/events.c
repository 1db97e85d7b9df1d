// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Items of random programs: events that interrupt the program. Handlers of faults continue at R12.
 */
#include "gen.h"

#include "lib/paging.h"
#include "vpt/abi/boot.h"

#define UD2	      0x0b0f
#define NON_CANONICAL 0x8000000000000000ull
/* An MSR in PT's block that no processor has: #GP, with and without PT. */
#define NO_SUCH_MSR 0x59f

void gen_soft_int(struct gen *g)
{
	if (rng_chance(&g->rng, 30)) {
		emit1(&g->c, 0xcc);
		return;
	}
	emit1(&g->c, 0xcd);
	emit1(&g->c, (uint8_t)(PROGRAM_VEC_SOFT + rng_below(&g->rng, 4)));
}

/* Access memory at an unmapped address. */
static void bad_access(struct gen *g, uint64_t address)
{
	emit_mov_imm64(&g->c, RSI, address);
	emit_rex(&g->c, RAX, RSI);
	emit1(&g->c, rng_chance(&g->rng, 50) ? 0x8b : 0x89);
	emit_modrm(&g->c, 0, RAX, RSI);
}

void gen_fault(struct gen *g)
{
	hole resume = emit_lea_rip(&g->c, R12);

	emit_push(&g->c, RCX);
	switch (rng_below(&g->rng, 5)) {
	case 0:
		emit_bytes(&g->c, UD2, 2);
		break;
	case 1:
		emit_alu(&g->c, ALU_XOR, RCX, RCX);
		emit_unary(&g->c, 6, RCX); /* DIV by 0 */
		break;
	case 2:
		bad_access(g, PROGRAM_BAD_ADDRESS);
		break;
	case 3:
		bad_access(g, NON_CANONICAL);
		break;
	default:
		emit_mov_imm32(&g->c, RCX, NO_SUCH_MSR);
		emit_bytes(&g->c, rng_chance(&g->rng, 50) ? 0x300f : 0x320f, 2);
		break;
	}
	emit_bytes(&g->c, UD2, 2);
	fill_here(resume, &g->c);
	emit_pop(&g->c, RCX);
}

/* A jump that succeeds, to an address without code. */
void gen_bad_jump(struct gen *g)
{
	hole resume = emit_lea_rip(&g->c, R12);

	emit_mov_imm64(&g->c, RSI, PROGRAM_BAD_ADDRESS + rng_below(&g->rng, 4096));
	emit_branch_reg(&g->c, 4, RSI);
	fill_here(resume, &g->c);
}

void gen_cr3(struct gen *g)
{
	emit_data(&g->c, 0x8b, R12, DATA_CR3 + 8 * rng_below(&g->rng, 2));
	emit_bytes(&g->c, 0xdc220f41, 4); /* MOV CR3, R12 */
}

/* Call the function that differs in each address space. */
void gen_twin(struct gen *g)
{
	emit_mov_imm32(&g->c, RDI, rng_below(&g->rng, 10));
	emit_mov_imm64(&g->c, R12, PAGING_FREE_VADDR);
	emit_branch_reg(&g->c, 2, R12);
}

void gen_timer(struct gen *g)
{
	emit_mov_imm32(&g->c, RAX, PROGRAM_VEC_TIMER << 24 | (1 + rng_below(&g->rng, 60)));
	emit1(&g->c, 0xe7); /* OUT imm8, EAX */
	emit1(&g->c, VPT_PORT_TIMER);
}

void gen_flags(struct gen *g)
{
	switch (rng_below(&g->rng, 3)) {
	case 0:
		emit_bytes(&g->c, 0x9d9c, 2); /* PUSHFQ, POPFQ */
		break;
	case 1:
		emit1(&g->c, 0xfa); /* CLI */
		gen_arithmetic(g);
		emit1(&g->c, 0xfb); /* STI */
		break;
	default:
		emit_bytes(&g->c, 0x5e9c, 2); /* PUSHFQ, POP RSI */
		break;
	}
}
