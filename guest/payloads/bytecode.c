// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bytecode interpreter with two dispatchers, a switch and computed goto: indirect jumps from one
 * place and from many. The program is a sieve. --arg: number of rounds of 60,000 instructions.
 */
#include "lib/guest.h"
#include "lib/mem.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("a bytecode interpreter, dispatch by switch and by computed goto");

#define LIMIT 200 /* the sieve's; there are 46 primes below it */

enum op {
	OP_SET,	  /* r[a] = imm */
	OP_MOVE,  /* r[a] = r[b] */
	OP_ADD,	  /* r[a] += r[b] */
	OP_INC,	  /* r[a]++ */
	OP_LOAD,  /* r[a] = mem[r[b]] */
	OP_STORE, /* mem[r[a]] = r[b] */
	OP_JNZ,	  /* if (r[a]) goto imm */
	OP_JGE,	  /* if (r[a] >= r[b]) goto imm */
	OP_JUMP,  /* goto imm */
	OP_HALT,  /* result r[a] */
};

struct insn {
	uint8_t op, a, b;
	int16_t imm;
};

/* r0 limit, r1 candidate, r2 multiple, r3 flag, r4 count, r5 one */
static const struct insn program[] = {
	{OP_SET, 0, 0, LIMIT},
	{OP_SET, 1, 0, 2},
	{OP_SET, 4, 0, 0},
	{OP_SET, 5, 0, 1},
	/* 4: next candidate */
	{OP_JGE, 1, 0, 15},
	{OP_LOAD, 3, 1, 0},
	{OP_JNZ, 3, 0, 13},
	{OP_INC, 4, 0, 0},
	{OP_MOVE, 2, 1, 0},
	/* 9: strike out the multiples */
	{OP_JGE, 2, 0, 13},
	{OP_STORE, 2, 5, 0},
	{OP_ADD, 2, 1, 0},
	{OP_JUMP, 0, 0, 9},
	/* 13 */
	{OP_INC, 1, 0, 0},
	{OP_JUMP, 0, 0, 4},
	/* 15 */
	{OP_HALT, 4, 0, 0},
};

struct machine {
	uint32_t r[8];
	uint8_t mem[LIMIT];
	uint32_t steps;
};

static noinline uint32_t run_switch(struct machine *m)
{
	const struct insn *pc = program;

	for (;;) {
		const struct insn *i = pc++;

		m->steps++;
		switch (i->op) {
		case OP_SET:
			m->r[i->a] = (uint32_t)i->imm;
			break;
		case OP_MOVE:
			m->r[i->a] = m->r[i->b];
			break;
		case OP_ADD:
			m->r[i->a] += m->r[i->b];
			break;
		case OP_INC:
			m->r[i->a]++;
			break;
		case OP_LOAD:
			m->r[i->a] = m->mem[m->r[i->b]];
			break;
		case OP_STORE:
			m->mem[m->r[i->a]] = (uint8_t)m->r[i->b];
			break;
		case OP_JNZ:
			if (m->r[i->a])
				pc = program + i->imm;
			break;
		case OP_JGE:
			if (m->r[i->a] >= m->r[i->b])
				pc = program + i->imm;
			break;
		case OP_JUMP:
			pc = program + i->imm;
			break;
		default:
			return m->r[i->a];
		}
	}
}

static noinline uint32_t run_goto(struct machine *m)
{
	static const void *const labels[] = {
		&&set, &&move, &&add, &&inc, &&load, &&store, &&jnz, &&jge, &&jump, &&halt,
	};
	const struct insn *pc = program, *i;

#define NEXT()                       \
	do {                         \
		i = pc++;            \
		m->steps++;          \
		goto *labels[i->op]; \
	} while (0)

	NEXT();
set:
	m->r[i->a] = (uint32_t)i->imm;
	NEXT();
move:
	m->r[i->a] = m->r[i->b];
	NEXT();
add:
	m->r[i->a] += m->r[i->b];
	NEXT();
inc:
	m->r[i->a]++;
	NEXT();
load:
	m->r[i->a] = m->mem[m->r[i->b]];
	NEXT();
store:
	m->mem[m->r[i->a]] = (uint8_t)m->r[i->b];
	NEXT();
jnz:
	if (m->r[i->a])
		pc = program + i->imm;
	NEXT();
jge:
	if (m->r[i->a] >= m->r[i->b])
		pc = program + i->imm;
	NEXT();
jump:
	pc = program + i->imm;
	NEXT();
halt:
	return m->r[i->a];
#undef NEXT
}

static struct machine by_switch, by_goto;
static uint32_t primes_switch, primes_goto;

static void work(void)
{
	primes_switch = run_switch(&by_switch);
	primes_goto = run_goto(&by_goto);
}

static uint64_t wrong;

static void many_rounds(void)
{
	uint64_t i;

	for (i = 0; i < boot->arg[0]; i++) {
		memset(&by_switch, 0, sizeof(by_switch));
		memset(&by_goto, 0, sizeof(by_goto));
		work();
		wrong += primes_switch != 46 || primes_goto != 46;
	}
}

void payload(void)
{
	struct trace t;

	if (boot->arg[0]) {
		trace_long(&t, many_rounds);
		report_equal(wrong, 0, "primes below 200, each time");
		return;
	}
	trace_simple(&t, work);
	report_equal(primes_switch, 46, "primes below 200, switch");
	report_equal(primes_goto, 46, "primes below 200, computed goto");
	report(!memcmp(&by_switch, &by_goto, sizeof(by_switch)), "both left the same state");
	if (t.on)
		report(t.scan.count[VPT_PKT_TIP] >= by_goto.steps, "a TIP for each dispatch");
}
