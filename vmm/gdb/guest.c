// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers and the memory of a guest, as gdb knows them. */
#include "gdb/guest.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/access.h"
#include "core/vcpu.h"
#include "engine/state.h"

/* The places that have the values of registers. */
enum source {
	GENERAL,   /* struct x86_regs */
	SELECTOR,  /* a segment of struct x86_sregs */
	BASE,	   /* the base of a segment */
	SYSTEM,	   /* a 64-bit member of struct x86_sregs */
	X87,	   /* ST(n) */
	X87_STATE, /* a word of the x87 environment */
	XMM,
	MXCSR,
	CR8,
	KERNEL_GS,
};

struct reg {
	const char *name, *type, *feature;
	enum source source;
	unsigned int at; /* an offset, or a number */
	unsigned int bytes;
};

#define G(name)	  offsetof(struct x86_regs, name)
#define S(name)	  offsetof(struct x86_sregs, name)
#define CORE	  "org.gnu.gdb.i386.core"
#define SSE	  "org.gnu.gdb.i386.sse"
#define BASES	  "org.gnu.gdb.i386.segments"
#define OF_SYSTEM "org.vpt.system"
#define GPR(name)                                         \
	{                                                 \
#name, "int64", CORE, GENERAL, G(name), 8 \
	}
#define POINTER(name)                                        \
	{                                                    \
#name, "data_ptr", CORE, GENERAL, G(name), 8 \
	}
#define SEGMENT(name)                                      \
	{                                                  \
#name, "int32", CORE, SELECTOR, S(name), 4 \
	}
#define ST(n)                                         \
	{                                             \
		"st" #n, "i387_ext", CORE, X87, n, 10 \
	}
#define ENV(name, n)                                \
	{                                           \
#name, "int", CORE, X87_STATE, n, 4 \
	}
#define VECTOR(n)                                   \
	{                                           \
		"xmm" #n, "vec128", SSE, XMM, n, 16 \
	}
#define CR(name)                                              \
	{                                                     \
#name, "int64", OF_SYSTEM, SYSTEM, S(name), 8 \
	}

/* The order of the numbers of gdb's own features is fixed. */
static const struct reg regs[GDB_REGS] = {
	GPR(rax),
	GPR(rbx),
	GPR(rcx),
	GPR(rdx),
	GPR(rsi),
	GPR(rdi),
	POINTER(rbp),
	POINTER(rsp),
	GPR(r8),
	GPR(r9),
	GPR(r10),
	GPR(r11),
	GPR(r12),
	GPR(r13),
	GPR(r14),
	GPR(r15),
	{"rip", "code_ptr", CORE, GENERAL, G(rip), 8},
	{"eflags", "int32", CORE, GENERAL, G(rflags), 4},
	SEGMENT(cs),
	SEGMENT(ss),
	SEGMENT(ds),
	SEGMENT(es),
	SEGMENT(fs),
	SEGMENT(gs),
	ST(0),
	ST(1),
	ST(2),
	ST(3),
	ST(4),
	ST(5),
	ST(6),
	ST(7),
	ENV(fctrl, 0),
	ENV(fstat, 1),
	ENV(ftag, 2),
	ENV(fiseg, 3),
	ENV(fioff, 4),
	ENV(foseg, 5),
	ENV(fooff, 6),
	ENV(fop, 7),
	VECTOR(0),
	VECTOR(1),
	VECTOR(2),
	VECTOR(3),
	VECTOR(4),
	VECTOR(5),
	VECTOR(6),
	VECTOR(7),
	VECTOR(8),
	VECTOR(9),
	VECTOR(10),
	VECTOR(11),
	VECTOR(12),
	VECTOR(13),
	VECTOR(14),
	VECTOR(15),
	{"mxcsr", "int32", SSE, MXCSR, 0, 4},
	{"fs_base", "int64", BASES, BASE, S(fs), 8},
	{"gs_base", "int64", BASES, BASE, S(gs), 8},
	{"k_gs_base", "int64", OF_SYSTEM, KERNEL_GS, 0, 8},
	CR(cr0),
	CR(cr2),
	CR(cr3),
	CR(cr4),
	CR(efer),
	{"cr8", "int64", OF_SYSTEM, CR8, 0, 8},
};

/* A text that grows up to its room. */
struct text {
	char *to;
	size_t room, len;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->to + t->len, t->room - t->len, fmt, args);
	va_end(args);
	t->len = (size_t)n < t->room - t->len ? t->len + (size_t)n : t->room - 1;
}

size_t gdb_guest_describe(char *to, size_t room)
{
	struct text t = {.to = to, .room = room};
	const char *feature = NULL;
	unsigned int i;

	add(&t, "<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
		"<architecture>i386:x86-64</architecture>");
	for (i = 0; i < GDB_REGS; i++) {
		if (feature != regs[i].feature) {
			add(&t, "%s<feature name=\"%s\">", feature ? "</feature>" : "",
			    regs[i].feature);
			if (!strcmp(regs[i].feature, SSE))
				add(&t, "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/>"
					"<vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"
					"<union id=\"vec128\">"
					"<field name=\"v4_float\" type=\"v4f\"/>"
					"<field name=\"v2_int64\" type=\"v2i64\"/>"
					"<field name=\"uint128\" type=\"uint128\"/></union>");
		}
		feature = regs[i].feature;
		add(&t, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"/>", regs[i].name,
		    8 * regs[i].bytes, regs[i].type);
	}
	add(&t, "</feature></target>");
	return t.len;
}

size_t gdb_guest_reg_bytes(unsigned int number)
{
	return number < GDB_REGS ? regs[number].bytes : 0;
}

/* Save the state, for registers that no other function returns. Returns NULL if that fails. */
static struct engine_state *saved(struct core_vcpu *v)
{
	const size_t bytes = v->engine->save ? v->engine->save(v->ev, NULL, 0) : 0;
	struct engine_state *s = bytes >= sizeof(*s) ? malloc(bytes) : NULL;

	if (s && v->engine->save(v->ev, s, bytes) == bytes)
		return s;
	free(s);
	return NULL;
}

/* A word of the x87 environment in the layout of FNSAVE, from that of FXSAVE. */
static uint32_t environment(const struct engine_state *s, unsigned int n)
{
	uint16_t control, status, opcode, tag = 0;
	uint64_t ip, operand;
	unsigned int i;

	memcpy(&control, s->x87, 2);
	memcpy(&status, s->x87 + 2, 2);
	memcpy(&opcode, s->x87 + 6, 2);
	memcpy(&ip, s->x87 + 8, 8);
	memcpy(&operand, s->x87 + 16, 8);
	/* The abridged tag word says only whether a register is empty. */
	for (i = 0; i < 8; i++)
		tag |= (uint16_t)((s->x87[4] >> i & 1 ? 0u : 3u) << 2 * i);
	switch (n) {
	case 0:
		return control;
	case 1:
		return status;
	case 2:
		return tag;
	case 3:
		return (uint32_t)(ip >> 32);
	case 4:
		return (uint32_t)ip;
	case 5:
		return (uint32_t)(operand >> 32);
	case 6:
		return (uint32_t)operand;
	default:
		return opcode;
	}
}

static bool from_saved(const struct engine_state *s, const struct reg *r, uint8_t *to)
{
	uint32_t word;

	if (!s)
		return false;
	switch (r->source) {
	case X87:
		memcpy(to, s->x87 + ENGINE_STATE_X87_ST + 16 * r->at, 10);
		return true;
	case X87_STATE:
		word = environment(s, r->at);
		memcpy(to, &word, 4);
		return true;
	case XMM:
		memcpy(to, s->zmm[r->at], 16);
		return true;
	default:
		memcpy(to, &s->mxcsr, 4);
		return true;
	}
}

static bool value_of(struct core_vcpu *v, const struct engine_state *s, const struct reg *r,
		     uint8_t *to)
{
	const char *system = (const char *)&v->s + r->at;
	uint64_t value = 0;

	switch (r->source) {
	case GENERAL:
		memcpy(to, (const char *)v->regs + r->at, r->bytes);
		return true;
	case SELECTOR:
		value = ((const struct x86_segment *)(const void *)system)->selector;
		break;
	case BASE:
		value = ((const struct x86_segment *)(const void *)system)->base;
		break;
	case SYSTEM:
		memcpy(&value, system, 8);
		break;
	case CR8:
		value = dev_platform_cr8(&v->vm->platform, v->index);
		break;
	case KERNEL_GS:
		if (v->engine->get_msr(v->ev, X86_MSR_KERNEL_GS_BASE, &value))
			return false;
		break;
	default:
		return from_saved(s, r, to);
	}
	memcpy(to, &value, r->bytes);
	return true;
}

size_t gdb_guest_regs(struct core_vcpu *v, uint8_t to[GDB_REGS_ROOM], bool known[GDB_REGS])
{
	struct engine_state *s;
	size_t len = 0;
	unsigned int i;

	core_vcpu_load(v);
	s = saved(v);
	for (i = 0; i < GDB_REGS; len += regs[i++].bytes) {
		memset(to + len, 0, regs[i].bytes);
		known[i] = value_of(v, s, &regs[i], to + len);
	}
	free(s);
	return len;
}

bool gdb_guest_set_reg(struct core_vcpu *v, unsigned int number, const void *value)
{
	if (number >= GDB_REGS || regs[number].source != GENERAL)
		return false;
	memcpy((char *)v->regs + regs[number].at, value, regs[number].bytes);
	v->ev->state |= ENGINE_REGS_DIRTY;
	return true;
}

/* Find the bytes at a linear address, up to the end of its page. Returns NULL if there is no RAM. */
static uint8_t *find(struct core_vcpu *v, uint64_t lin, size_t *len, uint64_t *gpa)
{
	struct x86_paging paging = v->paging;
	const size_t room = (size_t)(X86_PAGE_SIZE - lin % X86_PAGE_SIZE);
	uint32_t error;

	paging.cpl = 0;
	paging.cr4 &= ~(uint64_t)(X86_CR4_SMAP | X86_CR4_SMEP);
	if (*len > room)
		*len = room;
	if ((core_vcpu_long_mode(v) && !core_canonical(v, lin)) ||
	    !x86_walk(&v->vm->mem, &paging, lin, X86_WALK_READ | X86_WALK_PEEK, gpa, &error))
		return NULL;
	return x86_mem_at(&v->vm->mem, *gpa, *len);
}

size_t gdb_guest_read(struct core_vcpu *v, uint64_t lin, void *to, size_t len)
{
	uint8_t *bytes = to;
	size_t done = 0, part;
	uint64_t gpa;

	while (done < len) {
		const uint8_t *from;

		part = len - done;
		from = find(v, lin + done, &part, &gpa);
		if (!from)
			break;
		memcpy(bytes + done, from, part);
		done += part;
	}
	return done;
}

size_t gdb_guest_write(struct core_vcpu *v, uint64_t lin, const void *from, size_t len)
{
	const uint8_t *bytes = from;
	size_t done = 0, part;
	uint64_t gpa;

	while (done < len) {
		uint8_t *to;

		part = len - done;
		to = find(v, lin + done, &part, &gpa);
		if (!to)
			break;
		memcpy(to, bytes + done, part);
		if (v->engine->vm_wrote)
			v->engine->vm_wrote(v->vm->machine, gpa, part);
		done += part;
	}
	return done;
}
