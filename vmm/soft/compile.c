// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compile micro-operations to host code. During a run, guest registers are in host registers. Each
 * change is also stored, so the state in memory is right at every exit. RDI points to the
 * processor, and RSI to the run's first micro-operation. RAX, R10 and R11 are free between
 * micro-operations. The flags are free unless `live`.
 */
#include "soft/compile.h"

#include <stdlib.h>

#include "soft/branch.h"
#include "soft/emit.h"
#include "soft/kind.h"
#include "soft/region.h"

#define REGION	     (64u << 20)
#define REGION_OTHER (16u << 20) /* of vCPUs other than the first */
/*
 * An upper bound for the average size of a micro-operation's code, with its exits. Only the branch
 * at the end of a block is larger.
 */
#define UOP_MAX	      320u
#define BLOCK_MAX     (SOFT_BLOCK_MAX_UOPS * UOP_MAX)
#define AT(member)    ((int32_t)offsetof(struct soft, member))
#define GATE(member)  ((int32_t)offsetof(struct vpt_gate, member))
#define LOG(member)   ((int32_t)offsetof(struct engine_log, member))
#define OF_SLOT(slot) (AT(r) + 8 * (int32_t)(slot))

enum { SIZE64 = 3, ALWAYS = 16, JE = 4, JNE = 5, JB = 2, JAE = 3, JL = 12 };

/* Host registers that hold guest registers. */
static const uint8_t pool[] = {H_RCX, H_RDX, H_R8, H_R9, H_RBX, H_R12, H_R13, H_R14, H_R15};
#define POOL (sizeof(pool) / sizeof(pool[0]))

/* An exit of the run to the original function of u. */
struct exit {
	uint8_t *from;
	const struct soft_uop *u;
	soft_uop_fn fn;
};

struct soft_compiler {
	struct soft_region region;
	struct soft_emit e;
	const struct soft_uop *first;
	uint8_t slot[POOL]; /* the slot of the guest register, SOFT_R_SLOTS if none */
	uint32_t used[POOL], clock;
	bool live; /* the host's flags are the guest's */
	struct exit exit[SOFT_BLOCK_MAX_UOPS];
	unsigned int exits;
};

struct soft_compiler *soft_compiler_create(unsigned int index)
{
	struct soft_compiler *g = calloc(1, sizeof(*g));

	if (g && soft_region_create(&g->region, index ? REGION_OTHER : REGION)) {
		free(g);
		return NULL;
	}
	return g;
}

void soft_compiler_destroy(struct soft_compiler *g)
{
	if (!g)
		return;
	soft_region_destroy(&g->region);
	free(g);
}

int soft_compiler_own(struct soft_compiler *g)
{
	return soft_region_own(&g->region);
}

bool soft_compiler_has_room(const struct soft_compiler *g)
{
	return g->region.bytes - g->region.used >= BLOCK_MAX;
}

void soft_compiler_reset(struct soft_compiler *g)
{
	soft_region_reset(&g->region, 0);
}

bool soft_compiler_made(const struct soft_compiler *g, soft_uop_fn fn)
{
	return (uintptr_t)fn - (uintptr_t)g->region.executable < g->region.used;
}

/* Forget the registers and flags that the host holds. The clock restarts, so it never wraps. */
static void forget(struct soft_compiler *g)
{
	memset(g->slot, SOFT_R_SLOTS, sizeof(g->slot));
	memset(g->used, 0, sizeof(g->used));
	g->clock = 0;
	g->live = false;
}

/* Return the host register for a guest register, and load its value if `load`. */
static unsigned int hold(struct soft_compiler *g, unsigned int slot, bool load)
{
	unsigned int i, oldest = 0;

	for (i = 0; i < POOL; i++) {
		if (g->slot[i] == slot)
			break;
		if (g->used[i] < g->used[oldest])
			oldest = i;
	}
	if (i == POOL) {
		i = oldest;
		g->slot[i] = (uint8_t)slot;
		if (load)
			e_rm(&g->e, SIZE64, 0x8b, pool[i], H_RDI, OF_SLOT(slot));
	}
	g->used[i] = ++g->clock;
	return pool[i];
}

static void write_through(struct soft_compiler *g, unsigned int reg, unsigned int slot)
{
	e_rm(&g->e, SIZE64, 0x89, reg, H_RDI, OF_SLOT(slot));
}

/* Store the host's flags where C code reads them. */
static void save_flags(struct soft_compiler *g)
{
	e8(&g->e, 0x9f);		  /* lahf */
	e8(&g->e, 0x0f), e8(&g->e, 0x90); /* seto al */
	e8(&g->e, 0xc0);
	e_rm(&g->e, 1, 0x89, H_RAX, H_RDI, AT(fl));
	g->live = true;
}

static void load_flags(struct soft_compiler *g)
{
	if (g->live)
		return;
	e_rm(&g->e, 2, 0x0fb7, H_RAX, H_RDI, AT(fl));
	e8(&g->e, 0x04), e8(&g->e, 0x7f); /* add al, 127: overflows if it is 1 */
	e8(&g->e, 0x9e);		  /* sahf */
	g->live = true;
}

static void load_carry(struct soft_compiler *g)
{
	e_rm(&g->e, 1, 0x0fba, 4, H_RDI, AT(fl)); /* bt word, 8 */
	e8(&g->e, 8);
	g->live = false;
}

static void leave_if(struct soft_compiler *g, unsigned int cc, const struct soft_uop *u)
{
	g->exit[g->exits++] = (struct exit){e_jump(&g->e, cc), u, u->fn};
}

/* RSI := u. */
static void point_at(struct soft_compiler *g, const struct soft_uop *u)
{
	if (u != g->first)
		e_rm(&g->e, SIZE64, 0x8d, H_RSI, H_RSI,
		     (int32_t)((const uint8_t *)u - (const uint8_t *)g->first));
}

static unsigned int base_of(struct soft_compiler *g, uint8_t offset)
{
	return offset == SOFT_R_ZERO * 8 ? H_NONE : hold(g, offset / 8, true);
}

/* reg := the address of the memory operand; `opcode` LEA, 1 << size bytes. */
static void address(struct soft_compiler *g, unsigned int reg, unsigned int size,
		    const struct soft_uop *u)
{
	unsigned int base = base_of(g, u->base), index = base_of(g, u->index);

	if (base == H_NONE && index == H_NONE)
		e_const(&g->e, reg, size == 2 ? (uint32_t)u->disp : (uint64_t)u->disp);
	else
		e_sib(&g->e, size, 0x8d, reg, base, index, u->scale, (int32_t)u->disp);
}

/* Translate the address in R11 from linear to host. Leave the run if the TLB has no entry. */
static void to_host(struct soft_compiler *g, const struct soft_uop *u, unsigned int size,
		    bool write)
{
	VPT_STATIC_ASSERT(sizeof(struct soft_tlb) == 32 && SOFT_TLB_BITS == 8, "the TLB's shape");
	struct soft_emit *e = &g->e;

	e_rr(e, 2, 0x89, H_R11, H_RAX); /* eax := entry: bits 12 to 19, times 32 */
	e_rr(e, 2, 0xc1, 5, H_RAX);
	e8(e, 7);
	e_rr(e, 2, 0x81, 4, H_RAX);
	e32(e, (SOFT_TLB_SIZE - 1) << 5);
	e_rm(e, SIZE64, 0x03, H_RAX, H_RDI, AT(tlb));
	e_rm(e, SIZE64, 0x8d, H_R10, H_R11, (1 << size) - 1);
	e_rr(e, SIZE64, 0x81, 4, H_R10);
	e32(e, ~0xfffull);
	e_rm(e, SIZE64, 0x3b, H_R10, H_RAX,
	     write ? (int32_t)offsetof(struct soft_tlb, write)
		   : (int32_t)offsetof(struct soft_tlb, read));
	leave_if(g, JNE, u);
	e_rm(e, SIZE64, 0x03, H_R11, H_RAX, (int32_t)offsetof(struct soft_tlb, host));
	g->live = false;
}

static void operand(struct soft_compiler *g, const struct soft_uop *u, unsigned int size,
		    bool write)
{
	address(g, H_R11, SIZE64, u);
	to_host(g, u, size, write);
}

/* Emit an immediate of the operand's size, sign-extended from 32 bits for 64-bit operands. */
static void immediate(struct soft_compiler *g, unsigned int size, uint64_t imm)
{
	if (size == 0)
		e8(&g->e, (unsigned int)imm & 0xff);
	else if (size == 1)
		e8(&g->e, (unsigned int)imm & 0xff), e8(&g->e, (unsigned int)(imm >> 8) & 0xff);
	else
		e32(&g->e, imm);
}

static unsigned int width(unsigned int opcode, unsigned int size)
{
	return opcode | (size != 0);
}

/* Returns true if a later micro-operation of the run can read the flags of `u`. */
static bool flags_matter(const struct soft_uop *u, const struct soft_uop *end)
{
	for (u++; u < end; u++) {
		unsigned int op = SOFT_KIND_OP(u->kind), form = SOFT_KIND_FORM(u->kind);

		/*
		 * These preserve some flags. Continue: a later reader decides whether they matter.
		 */
		if (form < SOFT_K_RM && (op == SOFT_K_INC || op == SOFT_K_DEC ||
					 op == SOFT_K_IMUL || op == SOFT_K_IMUL3))
			continue;
		/* Memory accesses can leave the run. */
		if (form >= SOFT_K_RM || op >= SOFT_K_CMOV || op == SOFT_K_ADC ||
		    op == SOFT_K_SBB || op == SOFT_K_NONE)
			return true;
		if (op <= SOFT_K_NEG || (op >= SOFT_K_SHL && op <= SOFT_K_SAR))
			return false;
	}
	return true;
}

static void flags_out(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	g->live = false;
	if (flags_matter(u, end))
		save_flags(g);
}

static void binary(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind), dst = 0, src = 0;
	unsigned int form = SOFT_KIND_FORM(u->kind);
	bool test = op == SOFT_K_TEST, keeps = test || op == SOFT_K_CMP;
	unsigned int digit = op - SOFT_K_ADD, opcode = width(test ? 0x84 : digit << 3, size);

	if (form == SOFT_K_RR || form == SOFT_K_RI || form == SOFT_K_RM)
		dst = hold(g, u->dst / 8, true);
	if (form == SOFT_K_RR || form == SOFT_K_MR)
		src = hold(g, u->src / 8, true);
	if (form >= SOFT_K_RM)
		operand(g, u, size, form != SOFT_K_RM && !keeps);
	if (op == SOFT_K_ADC || op == SOFT_K_SBB)
		load_carry(g);
	switch (form) {
	case SOFT_K_RR:
		e_rr(&g->e, size, opcode, src, dst);
		break;
	case SOFT_K_RM:
		e_rm(&g->e, size, test ? opcode : opcode | 2, dst, H_R11, 0);
		break;
	case SOFT_K_MR:
		e_rm(&g->e, size, opcode, src, H_R11, 0);
		break;
	case SOFT_K_RI:
		e_rr(&g->e, size, width(test ? 0xf6 : 0x80, size), test ? 0 : digit, dst);
		immediate(g, size, u->imm);
		break;
	default:
		e_rm(&g->e, size, width(test ? 0xf6 : 0x80, size), test ? 0 : digit, H_R11, 0);
		immediate(g, size, u->imm);
		break;
	}
	flags_out(g, u, end);
	if (!keeps && form <= SOFT_K_RM)
		write_through(g, dst, u->dst / 8);
}

static void unary(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind);
	unsigned int dst = hold(g, u->dst / 8, true);

	if (op == SOFT_K_INC || op == SOFT_K_DEC) {
		if (flags_matter(u, end))
			load_carry(g);
		e_rr(&g->e, size, width(0xfe, size), op == SOFT_K_DEC, dst);
	} else {
		e_rr(&g->e, size, width(0xf6, size), op == SOFT_K_NEG ? 3 : 2, dst);
	}
	if (op != SOFT_K_NOT)
		flags_out(g, u, end);
	write_through(g, dst, u->dst / 8);
}

static void mov(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), form = SOFT_KIND_FORM(u->kind), dst = 0,
		     src = 0;
	bool part = size < 2;

	if (form == SOFT_K_RR || form == SOFT_K_MR)
		src = hold(g, u->src / 8, true);
	if (part && form <= SOFT_K_RM)
		dst = hold(g, u->dst / 8, true);
	if (form >= SOFT_K_RM)
		operand(g, u, size, form != SOFT_K_RM);
	if (!part && form <= SOFT_K_RM)
		dst = hold(g, u->dst / 8, false);
	switch (form) {
	case SOFT_K_RR:
		e_rr(&g->e, size, width(0x88, size), src, dst);
		break;
	case SOFT_K_RI:
		if (part) {
			e_rr(&g->e, size, width(0xc6, size), 0, dst);
			immediate(g, size, u->imm);
		} else {
			e_const(&g->e, dst, size == 2 ? (uint32_t)u->imm : u->imm);
		}
		break;
	case SOFT_K_RM:
		e_rm(&g->e, size, width(0x8a, size), dst, H_R11, 0);
		break;
	case SOFT_K_MR:
		e_rm(&g->e, size, width(0x88, size), src, H_R11, 0);
		return;
	default:
		e_rm(&g->e, size, width(0xc6, size), 0, H_R11, 0);
		immediate(g, size, u->imm);
		return;
	}
	write_through(g, dst, u->dst / 8);
}

static void extend(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), from = SOFT_KIND_FROM(u->kind), dst, src = 0;
	unsigned int opcode = from == 2				      ? 0x63
			      : SOFT_KIND_OP(u->kind) == SOFT_K_MOVZX ? 0x0fb6 | from
								      : 0x0fbe | from;

	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RM)
		operand(g, u, from, false);
	else
		src = hold(g, u->src / 8, true);
	dst = hold(g, u->dst / 8, false);
	if (SOFT_KIND_FORM(u->kind) == SOFT_K_RM)
		e_rm(&g->e, size, opcode, dst, H_R11, 0);
	else
		e_rr(&g->e, size, opcode, dst, src);
	write_through(g, dst, u->dst / 8);
}

static void lea(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), dst;

	address(g, H_R11, size, u);
	dst = hold(g, u->dst / 8, false);
	e_rr(&g->e, SIZE64, 0x89, H_R11, dst);
	write_through(g, dst, u->dst / 8);
}

static void shift(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	unsigned int op = SOFT_KIND_OP(u->kind), size = SOFT_KIND_SIZE(u->kind);
	unsigned int dst = hold(g, u->dst / 8, true);

	e_rr(&g->e, size, width(0xc0, size), op == SOFT_K_SHL ? 4 : op == SOFT_K_SHR ? 5 : 7, dst);
	e8(&g->e, (unsigned int)u->imm & 0xff);
	flags_out(g, u, end);
	write_through(g, dst, u->dst / 8);
}

/* IMUL. Some of its flags keep their values on some processors. */
static void imul(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	bool three = SOFT_KIND_OP(u->kind) == SOFT_K_IMUL3,
	     memory = SOFT_KIND_FORM(u->kind) == SOFT_K_RM;
	unsigned int size = SOFT_KIND_SIZE(u->kind), dst, src = 0;
	unsigned int opcode = three ? 0x69 : 0x0faf;

	if (memory)
		operand(g, u, size, false);
	else
		src = hold(g, u->src / 8, true);
	dst = hold(g, u->dst / 8, !three);
	if (flags_matter(u, end))
		load_flags(g);
	if (memory)
		e_rm(&g->e, size, opcode, dst, H_R11, 0);
	else
		e_rr(&g->e, size, opcode, dst, src);
	if (three)
		immediate(g, size, u->imm);
	flags_out(g, u, end);
	write_through(g, dst, u->dst / 8);
}

static void cmov(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int size = SOFT_KIND_SIZE(u->kind), opcode = 0x0f40 | SOFT_KIND_FROM(u->kind);
	unsigned int dst = hold(g, u->dst / 8, true), src = 0;
	bool memory = SOFT_KIND_FORM(u->kind) == SOFT_K_RM;

	if (memory)
		operand(g, u, size, false);
	else
		src = hold(g, u->src / 8, true);
	load_flags(g);
	if (memory)
		e_rm(&g->e, size, opcode, dst, H_R11, 0);
	else
		e_rr(&g->e, size, opcode, dst, src);
	write_through(g, dst, u->dst / 8);
}

static void set(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int dst = hold(g, u->dst / 8, true);

	load_flags(g);
	e_rr(&g->e, 0, 0x0f90 | SOFT_KIND_FROM(u->kind), 0, dst);
	write_through(g, dst, u->dst / 8);
}

static void push(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int src = hold(g, u->src / 8, true), rsp = hold(g, SOFT_R_RSP, true);

	e_rm(&g->e, SIZE64, 0x8d, H_R11, rsp, -8);
	to_host(g, u, SIZE64, true);
	e_rm(&g->e, SIZE64, 0x89, src, H_R11, 0);
	e_rm(&g->e, SIZE64, 0x8d, rsp, rsp, -8);
	write_through(g, rsp, SOFT_R_RSP);
}

static void pop(struct soft_compiler *g, const struct soft_uop *u)
{
	unsigned int rsp = hold(g, SOFT_R_RSP, true), dst;

	e_rr(&g->e, SIZE64, 0x89, rsp, H_R11);
	to_host(g, u, SIZE64, false);
	dst = hold(g, u->dst / 8, false);
	e_rm(&g->e, SIZE64, 0x8b, dst, H_R11, 0);
	e_rm(&g->e, SIZE64, 0x8d, rsp, rsp, 8);
	write_through(g, dst, u->dst / 8);
	write_through(g, rsp, SOFT_R_RSP);
}

static void jump_to(struct soft_compiler *g, const void *fn)
{
	e_opcode(&g->e, SIZE64, 0xb8, 0, 0, H_RAX);
	e64(&g->e, (uint64_t)(uintptr_t)fn);
	e8(&g->e, 0xff), e8(&g->e, 0xe0);
}

/* Emit the code of soft_follow(). */
static void follow(struct soft_compiler *g, const struct soft_link *l, uint64_t to)
{
	struct soft_emit *e = &g->e;
	uint8_t *stale, *spent;

	e_const(e, H_R10, (uint64_t)(uintptr_t)l);
	e_rm(e, SIZE64, 0x8b, H_RAX, H_RDI, AT(gen));
	e_rm(e, SIZE64, 0x3b, H_RAX, H_R10, (int32_t)offsetof(struct soft_link, gen));
	stale = e_jump(e, JNE);
	e_rm(e, SIZE64, 0x8b, H_RAX, H_RDI, AT(left));
	e_rm(e, SIZE64, 0x2b, H_RAX, H_R10, (int32_t)offsetof(struct soft_link, insns));
	spent = e_jump(e, JL);
	e_rm(e, SIZE64, 0x89, H_RAX, H_RDI, AT(left));
	e_rm(e, SIZE64, 0x8b, H_RSI, H_R10, (int32_t)offsetof(struct soft_link, first));
	e8(e, 0xff), e8(e, 0x26); /* jmp [rsi] */
	e_aim(e, stale);
	e_aim(e, spent);
	e_rr(e, SIZE64, 0x89, H_R10, H_RSI);
	e_const(e, H_RDX, to);
	jump_to(g, (const void *)(uintptr_t)soft_miss);
}

/* One outcome of a Jcc: do what vpt_gate_cond() does, then follow the link. */
static void outcome(struct soft_compiler *g, const struct soft_uop *u, bool taken)
{
	struct soft_emit *e = &g->e;
	uint8_t *untraced, *slow[2];

	e_rm(e, SIZE64, 0x8b, H_RAX, H_RDI, AT(gate));
	e_rr(e, SIZE64, 0x85, H_RAX, H_RAX);
	untraced = e_jump(e, JE);
	e_rm(e, 0, 0xf6, 0, H_RAX, GATE(state));
	e8(e, VPT_GATE_OPEN);
	slow[0] = e_jump(e, JE);
	e_rm(e, SIZE64, 0x8b, H_R10, H_RAX, GATE(tnt));
	e_sib(e, SIZE64, 0x8d, H_R10, H_R10, H_R10, 0, taken);
	e_rm(e, SIZE64, 0x3b, H_R10, H_RAX, GATE(tnt_full));
	slow[1] = e_jump(e, JAE);
	e_rm(e, SIZE64, 0x89, H_R10, H_RAX, GATE(tnt));
	e_aim(e, untraced);
	follow(g, (const struct soft_link *)u->ptr + taken, soft_cond_target(u, taken));
	e_aim(e, slow[0]);
	e_aim(e, slow[1]);
	point_at(g, u);
	e_const(e, H_RDX, taken);
	jump_to(g, (const void *)(uintptr_t)soft_cond_slow);
}

/* Emit the code of the micro-operation that writes a word to the log. */
static void write_log(struct soft_compiler *g, const struct soft_uop *u)
{
	struct soft_emit *e = &g->e;
	uint8_t *none;

	e_rm(e, SIZE64, 0x8b, H_RAX, H_RDI, AT(log));
	e_rr(e, SIZE64, 0x85, H_RAX, H_RAX);
	none = e_jump(e, JE);
	e_rm(e, SIZE64, 0x8b, H_R10, H_RAX, LOG(at));
	e_rm(e, SIZE64, 0x3b, H_R10, H_RAX, LOG(end));
	leave_if(g, JE, u);
	e_rm(e, 2, 0xc7, 0, H_R10, 0); /* mov dword [r10], aux */
	e32(e, u->aux);
	e_rm(e, SIZE64, 0x8d, H_R10, H_R10, sizeof(uint32_t));
	e_rm(e, SIZE64, 0x89, H_R10, H_RAX, LOG(at));
	e_rm(e, SIZE64, 0x89, H_RSI, H_RDI, AT(logged));
	e_aim(e, none);
	g->live = false;
}

static void count(struct soft_compiler *g)
{
	e_rm(&g->e, SIZE64, 0xff, 0, H_RDI, AT(base.branches)); /* inc */
	g->live = false;
}

static void jcc(struct soft_compiler *g, const struct soft_uop *u)
{
	uint8_t *taken;

	load_flags(g);
	taken = e_jump(&g->e, SOFT_KIND_FROM(u->kind));
	outcome(g, u, false);
	e_aim(&g->e, taken);
	outcome(g, u, true);
}

static void jmp(struct soft_compiler *g, const struct soft_uop *u)
{
	uint8_t *untraced;

	e_rm(&g->e, SIZE64, 0x8b, H_RAX, H_RDI, AT(gate));
	e_rr(&g->e, SIZE64, 0x85, H_RAX, H_RAX);
	untraced = e_jump(&g->e, JE);
	e_rm(&g->e, 0, 0xf6, 0, H_RAX, GATE(state));
	e8(&g->e, VPT_GATE_OPEN);
	leave_if(g, JE, u);
	e_aim(&g->e, untraced);
	follow(g, (const struct soft_link *)u->ptr + 1, u->imm);
}

/* Returns true if the micro-operation can be part of a run. */
static bool is_plain(const struct soft_uop *u)
{
	unsigned int op = SOFT_KIND_OP(u->kind), form = SOFT_KIND_FORM(u->kind);
	unsigned int size = SOFT_KIND_SIZE(u->kind);
	bool memory = form >= SOFT_K_RM || op == SOFT_K_LEA;

	if (op == SOFT_K_NONE || ((u->dst | u->src) & 7))
		return false;
	if (op == SOFT_K_LOG || op == SOFT_K_COUNT)
		return true;
	if (memory && (int64_t)(int32_t)u->disp != u->disp)
		return false;
	if (op >= SOFT_K_JCC)
		return true;
	/* Only MOV has immediates of 64 bits. Results of 16 bits are rare. */
	if ((form == SOFT_K_RI || form == SOFT_K_MI) && size == 3 &&
	    (op != SOFT_K_MOV || form == SOFT_K_MI) && (int64_t)(int32_t)u->imm != (int64_t)u->imm)
		return false;
	if (op == SOFT_K_IMUL3 && (int64_t)(int32_t)u->imm != (int64_t)u->imm && size == 3)
		return false;
	return size >= 2 || op <= SOFT_K_TEST || op == SOFT_K_MOV || op == SOFT_K_SET;
}

static void one(struct soft_compiler *g, const struct soft_uop *u, const struct soft_uop *end)
{
	switch (SOFT_KIND_OP(u->kind)) {
	case SOFT_K_INC:
	case SOFT_K_DEC:
	case SOFT_K_NEG:
	case SOFT_K_NOT:
		unary(g, u, end);
		break;
	case SOFT_K_MOV:
		mov(g, u);
		break;
	case SOFT_K_MOVZX:
	case SOFT_K_MOVSX:
		extend(g, u);
		break;
	case SOFT_K_LEA:
		lea(g, u);
		break;
	case SOFT_K_SHL:
	case SOFT_K_SHR:
	case SOFT_K_SAR:
		shift(g, u, end);
		break;
	case SOFT_K_IMUL:
	case SOFT_K_IMUL3:
		imul(g, u, end);
		break;
	case SOFT_K_CMOV:
		cmov(g, u);
		break;
	case SOFT_K_SET:
		set(g, u);
		break;
	case SOFT_K_PUSH:
		push(g, u);
		break;
	case SOFT_K_POP:
		pop(g, u);
		break;
	case SOFT_K_LOG:
		write_log(g, u);
		break;
	case SOFT_K_COUNT:
		count(g);
		break;
	case SOFT_K_JCC:
		jcc(g, u);
		break;
	case SOFT_K_JMP:
		jmp(g, u);
		break;
	case SOFT_K_NEXT:
		follow(g, u->ptr, u->ip);
		break;
	default:
		binary(g, u, end);
		break;
	}
}

static void compile_run(struct soft_compiler *g, struct soft_uop *u, const struct soft_uop *end)
{
	const struct soft_uop *at;
	unsigned int i;
	void *run;

	g->e.at = soft_region_at(&g->region, &run);
	g->first = u;
	g->exits = 0;
	forget(g);
	for (at = u; at < end; at++)
		one(g, at, end);
	if (SOFT_KIND_OP(end[-1].kind) < SOFT_K_JCC) {
		point_at(g, end);
		e8(&g->e, 0xff), e8(&g->e, 0x26); /* jmp [rsi] */
	}
	for (i = 0; i < g->exits; i++) {
		e_aim(&g->e, g->exit[i].from);
		point_at(g, g->exit[i].u);
		jump_to(g, (const void *)(uintptr_t)g->exit[i].fn);
	}
	soft_region_take(&g->region, g->e.at);
	u->fn = (soft_uop_fn)(uintptr_t)run;
}

void soft_compile(struct soft *c, struct soft_block *b)
{
	struct soft_compiler *g = c->compiler;
	unsigned int from, to;

	b->compiled = true;
	if (!soft_compiler_has_room(g))
		return;
	for (from = 0; from < b->uops; from = to + 1) {
		for (to = from; to < b->uops && is_plain(&b->uop[to]); to++)
			;
		if (to - from >= 2)
			compile_run(g, &b->uop[from], &b->uop[to]);
	}
}

/*
 * Enter host code. The asm aligns the stack, because the compiler does not know of this call. It
 * also skips the red zone.
 */
void soft_enter(struct soft *c, const struct soft_uop *u)
{
	soft_uop_fn fn = u->fn;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "push %%rbp\n\t"
			 "mov %%rsp, %%rbp\n\t"
			 "and $-16, %%rsp\n\t"
			 "call *%[fn]\n\t"
			 "mov %%rbp, %%rsp\n\t"
			 "pop %%rbp\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : [fn] "+a"(fn), "+D"(c), "+S"(u)
			 :
			 : "rcx", "rdx", "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
			   "r15", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
			   "xmm14", "xmm15");
}
