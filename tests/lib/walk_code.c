// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generate the code of walks: blocks of filler instructions, each ended by a branch or another
 * instruction of interest.
 */
#include "lib/walk_inside.h"

#include <string.h>

uint32_t walk_rnd(struct walker *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)((w->random >> 16) % below);
}

static void emit(struct walker *w, uint32_t *at, enum insn_kind kind, const char *bytes,
		 unsigned int size)
{
	w->insns[*at].kind = (uint8_t)kind;
	w->insns[*at].size = (uint8_t)size;
	memcpy(w->out->code + *at, bytes, size);
	w->starts[w->start_count++] = *at;
	*at += size;
}

static void emit_filler(struct walker *w, uint32_t *at)
{
	switch (walk_rnd(w, 4)) {
	case 0:
		emit(w, at, I_FILL, "\x90", 1);
		break;
	case 1:
		emit(w, at, I_FILL, "\x48\x89\xc0", 3);
		break;
	case 2:
		emit(w, at, I_FILL, "\x0f\x1f\x40\x00", 4);
		break;
	default:
		emit(w, at, I_FILL, "\xf3\x48\xa5", 3);
		break;
	}
}

/*
 * Emit a RET after each MOV CR3. If the packet after a PIP is a TIP.PGD without an IP, the trace
 * does not say whether the MOV CR3 or a later branch sent it. See vmm/decode/filter.h.
 */
static void emit_mov_cr3(struct walker *w, uint32_t *at)
{
	emit(w, at, I_MOV_CR3, "\x0f\x22\xd8", 3);
	emit(w, at, I_RET, "\xc3", 1);
}

static void emit_vmx(struct walker *w, uint32_t *at)
{
	switch (walk_rnd(w, 6)) {
	case 0:
		emit(w, at, I_VMENTER, "\x0f\x01\xc2", 3);
		break;
	case 1:
		emit(w, at, I_VMENTER, "\x0f\x01\xc3", 3);
		break;
	case 2:
		emit(w, at, I_VMPTRLD, "\x0f\xc7\x30", 3);
		break;
	case 3:
		emit(w, at, I_VMCALL, "\x0f\x01\xc1", 3);
		break;
	default:
		emit(w, at, I_CPUID, "\x0f\xa2", 2);
		break;
	}
}

/* Emit TSX instructions. The target of XBEGIN is its fallback address. */
static void emit_tsx(struct walker *w, uint32_t *at)
{
	switch (walk_rnd(w, 4)) {
	case 0 ... 1:
		emit(w, at, I_XBEGIN, "\xc7\xf8\0\0\0\0", 6);
		break;
	case 2:
		emit(w, at, I_XEND, "\x0f\x01\xd5", 3);
		break;
	default:
		emit(w, at, I_XABORT, "\xc6\xf8\x01", 3);
		break;
	}
}

/*
 * Emit an instruction that is not a branch but can cause packets. Return false if none was emitted.
 */
static bool emit_extra(struct walker *w, uint32_t *at)
{
	switch (1u << walk_rnd(w, 6) & w->config->extras) {
	case WALK_PTWRITE:
		emit(w, at, I_PTWRITE, "\xf3\x48\x0f\xae\xe0", 5);
		return true;
	case WALK_SLEEP:
		if (walk_rnd(w, 2))
			emit(w, at, I_SLEEP, "\xf4", 1);
		else
			emit(w, at, I_SLEEP, "\x0f\x01\xc9", 3);
		return true;
	case WALK_FLAGS:
		emit(w, at, I_FLAG, walk_rnd(w, 2) ? "\xfa" : "\xfb", 1);
		return true;
	case WALK_TSX:
		emit_tsx(w, at);
		return true;
	case WALK_ENCLAVE:
		emit(w, at, I_ENCLU, "\x0f\x01\xd7", 3);
		return true;
	default:
		return false;
	}
}

static void emit_end(struct walker *w, uint32_t *at)
{
	if (w->config->extras && !walk_rnd(w, 4) && emit_extra(w, at))
		return;
	if (w->config->vmx && !walk_rnd(w, 5)) {
		emit_vmx(w, at);
		return;
	}
	switch (walk_rnd(w, 26)) {
	case 0 ... 7:
		emit(w, at, I_JCC, "\x0f\x84\0\0\0\0", 6);
		break;
	case 8 ... 9:
		emit(w, at, I_JCC, "\xe2\0", 2);
		break;
	case 10:
		emit(w, at, I_JMP, "\xe9\0\0\0\0", 5);
		break;
	case 11 ... 13:
		emit(w, at, I_CALL, "\xe8\0\0\0\0", 5);
		break;
	case 14:
		emit(w, at, I_CALL_NEXT, "\xe8\0\0\0\0", 5);
		break;
	case 15:
		emit(w, at, I_JMP_IND, "\xff\xe0", 2);
		break;
	case 16:
		emit(w, at, I_CALL_IND, "\xff\xd0", 2);
		break;
	case 17 ... 20:
		emit(w, at, I_RET, "\xc3", 1);
		break;
	case 21:
		emit(w, at, I_SYSCALL, "\x0f\x05", 2);
		break;
	case 22:
		emit(w, at, I_SYSRET, "\x48\x0f\x07", 3);
		break;
	case 23:
		emit(w, at, I_IRET, "\x48\xcf", 2);
		break;
	case 24:
		if (walk_rnd(w, 2))
			emit(w, at, I_INT, "\xcd\x80", 2);
		else
			emit_mov_cr3(w, at);
		break;
	default:
		emit(w, at, I_WRMSR, "\x0f\x30", 2);
		break;
	}
}

static void emit_block(struct walker *w, uint32_t *at)
{
	unsigned int fillers = walk_rnd(w, 6);

	while (fillers--)
		emit_filler(w, at);
	emit_end(w, at);
}

uint32_t walk_start(struct walker *w)
{
	return w->starts[walk_rnd(w, w->start_count)];
}

static uint32_t near_start(struct walker *w, uint32_t from)
{
	uint32_t to;

	do {
		to = walk_start(w);
	} while ((int32_t)(to - from) > 120 || (int32_t)(to - from) < -120);
	return to;
}

/*
 * Direct JMPs and CALLs go forward only. A loop of only such branches sends no packets. If an
 * interrupt ended the loop, no decoder could tell the number of iterations.
 */
static uint32_t forward_start(struct walker *w, uint32_t from)
{
	uint32_t to;

	do {
		to = walk_start(w);
	} while (to < from);
	return to;
}

static void link_code(struct walker *w)
{
	uint32_t i;

	for (i = 0; i < w->start_count; i++) {
		uint32_t at = w->starts[i];
		struct insn *insn = &w->insns[at];
		int32_t displacement;

		if (insn->kind == I_CALL_NEXT) {
			insn->target = at + insn->size;
			continue;
		}
		if (insn->kind != I_JCC && insn->kind != I_JMP && insn->kind != I_CALL &&
		    insn->kind != I_XBEGIN)
			continue;
		if (insn->kind != I_JCC)
			insn->target = forward_start(w, at + insn->size);
		else
			insn->target = insn->size == 2 ? near_start(w, at + 2) : walk_start(w);
		displacement = (int32_t)(insn->target - (at + insn->size));
		memcpy(w->out->code + at + insn->size - (insn->size == 2 ? 1 : 4), &displacement,
		       insn->size == 2 ? 1 : 4);
	}
}

void walk_make_code(struct walker *w)
{
	uint32_t at = 0;

	while (at < WALK_CODE_SIZE - 64)
		emit_block(w, &at);
	emit(w, &at, I_RET, "\xc3", 1);
	link_code(w);
}
