// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A compiler for a small stack language. All programs use one buffer. Each program overwrites the
 * previous one, from a moving offset.
 */
#include "work.h"

#include "lib/guest.h"
#include "lib/mem.h"

#define STEPS_MAX 24u
#define ROOM	  1024u

enum step_op {
	STEP_ADD,
	STEP_XOR,
	STEP_MUL,
	STEP_ROTATE,
	STEP_NEGATE,
	STEP_IF_ODD,
	STEP_LOOP,
	STEP_CALL,
	STEP_OPS
};

struct step {
	enum step_op op;
	uint32_t value;
};

/* Both buffers are near .text and writable. RAM is executable in all spaces. */
static uint8_t buffer[ROOM + 256] __attribute__((aligned(64)));

static uint64_t interpret(const struct step *steps, unsigned int count, uint64_t v)
{
	unsigned int i, k;

	for (i = 0; i < count; i++) {
		uint32_t value = steps[i].value;

		switch (steps[i].op) {
		case STEP_ADD:
			v += value;
			break;
		case STEP_XOR:
			v ^= value;
			break;
		case STEP_MUL:
			v *= value;
			break;
		case STEP_ROTATE:
			v = v << (1 + value % 63) | v >> (63 - value % 63);
			break;
		case STEP_NEGATE:
			v = 0 - v;
			break;
		case STEP_IF_ODD:
			v += v & 1 ? value : 0;
			break;
		case STEP_LOOP:
			for (k = 0; k <= value % 7; k++)
				v = 3 * v + 1;
			break;
		default:
			v = ~v;
			break;
		}
	}
	return v;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static uint8_t *put4(uint8_t *at, uint32_t value)
{
	return put(at, &value, sizeof(value));
}

#define PUT(...) \
	at = put(at, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* RAX is the value, ECX is free. `helper`: NOT RAX; RET. */
static uint8_t *compile_step(uint8_t *at, const struct step *step, const uint8_t *helper)
{
	switch (step->op) {
	case STEP_ADD:
		PUT(0xb9); /* mov ecx, imm32 */
		at = put4(at, step->value);
		PUT(0x48, 0x01, 0xc8); /* add rax, rcx */
		break;
	case STEP_XOR:
		PUT(0xb9);
		at = put4(at, step->value);
		PUT(0x48, 0x31, 0xc8); /* xor rax, rcx */
		break;
	case STEP_MUL:
		PUT(0xb9);
		at = put4(at, step->value);
		PUT(0x48, 0x0f, 0xaf, 0xc1); /* imul rax, rcx */
		break;
	case STEP_ROTATE:
		PUT(0x48, 0xc1, 0xc0, (uint8_t)(1 + step->value % 63)); /* rol rax, imm8 */
		break;
	case STEP_NEGATE:
		PUT(0x48, 0xf7, 0xd8); /* neg rax */
		break;
	case STEP_IF_ODD:
		PUT(0xa8, 0x01, 0x74, 0x08, 0xb9); /* test al, 1; jz +8; mov ecx, imm32 */
		at = put4(at, step->value);
		PUT(0x48, 0x01, 0xc8);
		break;
	case STEP_LOOP:
		PUT(0xb9);
		at = put4(at, 1 + step->value % 7);
		/* 1: lea rax, [rax + 2 * rax + 1]; loop 1b */
		PUT(0x48, 0x8d, 0x44, 0x40, 0x01, 0xe2, 0xf9);
		break;
	default:
		PUT(0xe8);
		at = put4(at, (uint32_t)(helper - (at + 4)));
		break;
	}
	return at;
}

static void compile(uint8_t *at, const struct step *steps, unsigned int count)
{
	uint8_t *helper = at;
	unsigned int i;

	PUT(0x48, 0xf7, 0xd0, 0xc3); /* not rax; ret */
	for (i = 0; i < count; i++)
		at = compile_step(at, &steps[i], helper);
	PUT(0xc3);
}

/* The code begins after the helper. */
static uint64_t run(const uint8_t *code, uint64_t v)
{
	const uint8_t *entry = code + 4;

	__asm__ volatile("call *%1" : "+a"(v) : "r"(entry) : "rcx", "memory", "cc");
	return v;
}

bool work_jit(struct rng *rng)
{
	struct step steps[STEPS_MAX];
	unsigned int count = 1 + rng_below(rng, STEPS_MAX), turns = 1 + rng_below(rng, 4), i;
	uint8_t *code = buffer + rng_below(rng, 256);
	bool ok = true;

	for (; turns; turns--) {
		uint64_t v = rng_next(rng);

		for (i = 0; i < count; i++) {
			steps[i].op = (enum step_op)rng_below(rng, STEP_OPS);
			steps[i].value = (uint32_t)rng_next(rng) >> 1;
		}
		compile(code, steps, count);
		ok &= run(code, v) == interpret(steps, count, v);
		ok &= run(code, ~v) == interpret(steps, count, ~v);
	}
	return ok;
}
