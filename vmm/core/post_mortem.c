// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of a vCPU at the end: registers, the instruction at RIP, callers on the stack. */
#include "core/access.h"
#include "core/post_mortem.h"
#include "core/vcpu.h"

#include <stdio.h>
#include <string.h>

/* The number of words of the stack that are searched. */
#define STACK_WORDS 512u
/* Near CALLs have 2 bytes (FF /2 with a register) to 9 (prefix, REX, SIB, disp32). */
#define CALL_MIN 2u
#define CALL_MAX 9u

/* Read memory with the privilege of the guest's kernel, without SMAP and SMEP. */
static bool inspect(struct core_vcpu *v, uint64_t gva, void *to, size_t len, unsigned int access,
		    uint64_t *gpa)
{
	struct x86_paging paging = v->paging;
	uint8_t *at = to;
	uint32_t error;

	paging.cpl = 0;
	paging.cr4 &= ~(X86_CR4_SMAP | X86_CR4_SMEP);
	while (len) {
		size_t room = (size_t)(X86_PAGE_SIZE - gva % X86_PAGE_SIZE);
		const void *from;

		if (room > len)
			room = len;
		if (core_vcpu_long_mode(v) && !core_canonical(v, gva))
			return false;
		if (!x86_walk(&v->vm->mem, &paging, gva, access, gpa, &error))
			return false;
		from = x86_mem_at(&v->vm->mem, *gpa, room);
		if (!from)
			return false;
		memcpy(at, from, room);
		at += room;
		gva += room;
		len -= room;
	}
	return true;
}

static uint64_t linear(const struct core_vcpu *v, const struct x86_segment *segment,
		       uint64_t offset)
{
	return v->bits == 64 ? offset : (uint32_t)(offset + segment->base);
}

/* Returns true if the @len bytes before @ip are a near CALL. */
static bool is_call(struct core_vcpu *v, uint64_t ip, unsigned int len)
{
	struct core_insn_bytes bytes = {.count = (uint8_t)len};
	uint64_t gva = linear(v, &v->s.cs, ip - len), gpa;
	const struct core_insn *insn;
	uint8_t code[16] = {0};
	bool truncated;

	if (!inspect(v, gva, code, len, X86_WALK_FETCH, &gpa))
		return false;
	memcpy(&bytes.low, code, 8);
	memcpy(&bytes.high, code + 8, 8);
	insn = core_insn_find(v->insns, gpa, v->bits, &bytes, &truncated);
	return insn && insn->len == len &&
	       (insn->cls == CORE_INSN_CALL || insn->cls == CORE_INSN_CALL_INDIRECT);
}

/*
 * Returns true if a near CALL ends at @ip. A word of the stack is then taken for a return address.
 */
static bool returns(struct core_vcpu *v, uint64_t ip)
{
	unsigned int len;

	if (ip < CALL_MAX || (v->bits == 64 && !core_canonical(v, ip)))
		return false;
	for (len = CALL_MIN; len <= CALL_MAX; len++)
		if (is_call(v, ip, len))
			return true;
	return false;
}

static void find_calls(struct core_vcpu *v, struct trace_post_mortem *pm)
{
	const unsigned int bytes = v->bits / 8;
	uint64_t sp = v->regs->rsp, gpa;
	unsigned int i;

	if (v->bits == 16)
		sp &= 0xffff;
	for (i = 0; i < STACK_WORDS && pm->stop.calls < TRACE_STOP_CALLS; i++) {
		uint64_t word = 0;

		if (!inspect(v, linear(v, &v->s.ss, sp + (uint64_t)i * bytes), &word, bytes,
			     X86_WALK_READ, &gpa))
			return;
		if (returns(v, word))
			pm->call[pm->stop.calls++] = word;
	}
}

static void take_registers(const struct core_vcpu *v, struct trace_guest_stop *s)
{
	const struct x86_regs *r = v->regs;
	const uint64_t gpr[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
				  r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};

	memcpy(s->gpr, gpr, sizeof(s->gpr));
	s->rip = r->rip;
	s->rflags = r->rflags;
	s->cs_base = v->bits == 64 ? 0 : v->s.cs.base;
	s->cr0 = v->s.cr0;
	s->cr2 = v->s.cr2;
	s->cr3 = v->s.cr3;
	s->cr4 = v->s.cr4;
	s->idt_base = v->s.idt.base;
	s->idt_limit = v->s.idt.limit;
	s->mode = v->bits;
	s->cpl = v->cpl;
}

/* The bytes at RIP, up to the end of the page if the next one cannot be read. */
static void take_insn(struct core_vcpu *v, struct trace_guest_stop *s)
{
	uint64_t gva = linear(v, &v->s.cs, s->rip), gpa;
	size_t room = (size_t)(X86_PAGE_SIZE - gva % X86_PAGE_SIZE);

	if (room > CORE_INSN_MAX)
		room = CORE_INSN_MAX;
	if (inspect(v, gva, s->insn, CORE_INSN_MAX, X86_WALK_FETCH, &gpa)) {
		s->insn_len = CORE_INSN_MAX;
		return;
	}
	memset(s->insn, 0, sizeof(s->insn));
	if (inspect(v, gva, s->insn, room, X86_WALK_FETCH, &gpa))
		s->insn_len = (uint8_t)room;
}

static void take_faults(const struct core_vcpu *v, struct trace_post_mortem *pm)
{
	unsigned int i;

	for (i = 0; i < v->faults; i++) {
		pm->fault[i] = v->fault[i];
		/* A processor loads CR2 when it raises #PF, delivered or not. */
		if (v->fault[i].vector == X86_VEC_PF)
			pm->stop.cr2 = v->fault[i].cr2;
	}
	pm->stop.faults = (uint16_t)v->faults;
}

void core_vcpu_post_mortem(struct core_vcpu *v, struct trace_post_mortem *pm)
{
	const struct core_stop *stop = &v->vm->stop;
	struct trace_guest_stop *s = &pm->stop;

	memset(pm, 0, sizeof(*pm));
	pm->vcpu = v->index;
	s->kind = stop->kind;
	s->exit_status = stop->kind == TRACE_STOP_EXIT ? stop->exit_status : 0;
	s->insns = v->tracer.recorder.insns;
	snprintf(s->text, sizeof(s->text), "%.*s", (int)sizeof(s->text) - 1, stop->text);
	take_registers(v, s);
	take_insn(v, s);
	if (stop->kind == TRACE_STOP_TRIPLE_FAULT)
		take_faults(v, pm);
	if (stop->kind != TRACE_STOP_EXIT && stop->kind != TRACE_STOP_SNAPSHOT)
		find_calls(v, pm);
}
