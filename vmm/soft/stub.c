// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write the stub that executes one guest instruction on the host. RDI points to the processor, RSI
 * to the micro-operation, and RDX to the memory operand. The code around the instruction uses RAX,
 * R10 and R11 as scratch registers. A stub ends like a micro-operation.
 */
#include "soft/native.h"

#define AT(member) ((uint32_t)offsetof(struct soft, member))

enum { RAX = 0, RDX = 2, RDI = 7, R10 = 10, R11 = 11 };

struct code {
	uint8_t *at;
	size_t len;
	const struct soft_native_host *host;
	/* Offsets of the displacements of forward jumps, which jump_in() fills in. */
	size_t trap, tiny, other[2];
};

static void byte(struct code *o, unsigned int value)
{
	o->at[o->len++] = (uint8_t)value;
}

static void bytes(struct code *o, const void *from, size_t len)
{
	memcpy(o->at + o->len, from, len);
	o->len += len;
}

#define PUT(o, ...) bytes(o, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Emit ModRM and displacement for [rdi + disp]. */
static void rdi_disp(struct code *o, unsigned int reg, uint32_t disp)
{
	byte(o, 0x80 | (reg & 7) << 3 | RDI);
	bytes(o, &disp, sizeof(disp));
}

static void gpr_move(struct code *o, unsigned int opcode, unsigned int reg, uint32_t disp)
{
	PUT(o, 0x48 | (reg >> 3) << 2, opcode);
	rdi_disp(o, reg, disp);
}

static void load_gpr(struct code *o, unsigned int reg, unsigned int offset)
{
	uint32_t disp = AT(r) + offset;

	if (!(offset & 7)) {
		gpr_move(o, 0x8b, reg, disp);
		return;
	}
	PUT(o, 0x48 | (reg >> 3) << 2, 0x0f, 0xb6);
	rdi_disp(o, reg, disp);
}

/* Emit MOVUPS or VMOVUPS as a store or a load, with the encoding of the guest's instruction. */
static void vector_move(struct code *o, unsigned int reg, unsigned int size, uint32_t how,
			bool store)
{
	unsigned int opcode = store ? 0x11 : 0x10;

	if (how & SOFT_HOW_EVEX || size == 64) {
		PUT(o, 0x62, (~reg >> 3 & 1) << 7 | 3 << 5 | (~reg >> 4 & 1) << 4 | 1, 0x7c,
		    (size / 32) << 5 | 8, opcode);
	} else if (how & SOFT_HOW_VEX) {
		PUT(o, 0xc5, (~reg >> 3 & 1) << 7 | 0x78 | (size == 32) << 2, opcode);
	} else {
		if (reg >= 8)
			byte(o, 0x44);
		PUT(o, 0x0f, opcode);
	}
	rdi_disp(o, reg, AT(fpu.zmm) + reg * 64);
}

/* Emit KMOVQ, or KMOVW on a host whose masks have only 16 bits. */
static void mask_move(struct code *o, unsigned int reg, bool store)
{
	if (o->host->avx512bw)
		PUT(o, 0xc4, 0xe1, 0xf8);
	else
		PUT(o, 0xc5, 0xf8);
	byte(o, store ? 0x91 : 0x90);
	rdi_disp(o, reg, AT(fpu.k) + reg * 8);
}

static void mmx_move(struct code *o, unsigned int reg, bool store)
{
	PUT(o, 0x0f, store ? 0x7f : 0x6f);
	rdi_disp(o, reg, AT(fpu.x87) + 32 + reg * 16);
}

/*
 * Skip the slow load of MXCSR if possible. The guest's value mostly has the host's controls, with
 * all exceptions masked. Then no load is needed if the host has no flag that the guest lacks.
 */
static void try_host_mxcsr(struct code *o)
{
	PUT(o, 0x0f, 0xae, 0x5c, 0x24, 0xf8); /* stmxcsr [rsp - 8] */
	PUT(o, 0x44, 0x8b);		      /* mov r11d, [mxcsr] */
	rdi_disp(o, R11, AT(fpu.mxcsr));
	PUT(o, 0x41, 0xf7, 0xc3, 0x40, 0xe0, 0, 0); /* test r11d, FZ | RC | DAZ */
	PUT(o, 0x0f, 0x85, 0, 0, 0, 0);		    /* jnz */
	o->other[0] = o->len - 4;
	PUT(o, 0x41, 0xf7, 0xd3);	      /* not r11d */
	PUT(o, 0x44, 0x85, 0x5c, 0x24, 0xf8); /* test [rsp - 8], r11d */
	PUT(o, 0x0f, 0x85, 0, 0, 0, 0);	      /* jnz */
	o->other[1] = o->len - 4;
}

static void collect_flags(struct code *o)
{
	PUT(o, 0x0f, 0xae, 0x5c, 0x24, 0xf8);			    /* stmxcsr [rsp - 8] */
	PUT(o, 0x44, 0x8b, 0x54, 0x24, 0xf8, 0x41, 0x83, 0xe2, 63); /* r10d: flags */
	PUT(o, 0x44, 0x09);					    /* or [mxcsr], r10d */
	rdi_disp(o, R10, AT(fpu.mxcsr));
}

/*
 * Load the guest's MXCSR, but with all exceptions masked and all flags clear. Jump if the guest has
 * not masked underflow, unless the instruction suppresses exceptions.
 */
static void enter_mxcsr(struct code *o, uint32_t how)
{
	PUT(o, 0x44, 0x8b); /* mov r11d, [mxcsr] */
	rdi_disp(o, R11, AT(fpu.mxcsr));
	if (!(how & SOFT_HOW_SAE)) {
		PUT(o, 0x41, 0xf7, 0xc3, 0, 8, 0, 0); /* test r11d, UM */
		PUT(o, 0x0f, 0x84, 0, 0, 0, 0);	      /* jz */
		o->tiny = o->len - 4;
	}
	PUT(o, 0x41, 0x81, 0xcb, 0x80, 0x1f, 0, 0); /* or r11d, 0x1f80 */
	PUT(o, 0x41, 0x81, 0xe3, 0xc0, 0xff, 0, 0); /* and r11d, 0xffc0 */
	PUT(o, 0x44, 0x89, 0x5c, 0x24, 0xf8);	    /* mov [rsp - 8], r11d */
	PUT(o, 0x0f, 0xae, 0x54, 0x24, 0xf8);	    /* ldmxcsr [rsp - 8] */
}

/* Jump if the guest has not masked a raised exception. Else add the raised flags to its MXCSR. */
static void leave_mxcsr(struct code *o)
{
	PUT(o, 0x0f, 0xae, 0x5c, 0x24, 0xf8);			    /* stmxcsr [rsp - 8] */
	PUT(o, 0xc7, 0x44, 0x24, 0xf0, 0x80, 0x1f, 0, 0);	    /* mov [rsp - 16], 0x1f80 */
	PUT(o, 0x0f, 0xae, 0x54, 0x24, 0xf0);			    /* ldmxcsr [rsp - 16] */
	PUT(o, 0x44, 0x8b, 0x54, 0x24, 0xf8, 0x41, 0x83, 0xe2, 63); /* r10d: flags */
	PUT(o, 0x44, 0x8b);					    /* mov r11d, [mxcsr] */
	rdi_disp(o, R11, AT(fpu.mxcsr));
	PUT(o, 0x41, 0xf7, 0xd3, 0x41, 0xc1, 0xeb, 7); /* not r11d; shr r11d, 7 */
	PUT(o, 0x45, 0x85, 0xda);		       /* test r10d, r11d */
	PUT(o, 0x0f, 0x85, 0, 0, 0, 0);		       /* jnz */
	o->trap = o->len - 4;
	PUT(o, 0x44, 0x09); /* or [mxcsr], r10d */
	rdi_disp(o, R10, AT(fpu.mxcsr));
}

static void load_all(struct code *o, const struct soft_recoded *r)
{
	unsigned int i;

	if (r->pointer != RDX)
		PUT(o, 0x49, 0x89, 0xd0); /* mov r8, rdx */
	for (i = 0; i < 32; i++)
		if (r->vector[i])
			vector_move(o, i, r->vector[i], r->how, false);
	for (i = 0; i < 8; i++) {
		if (r->k_used & 1u << i)
			mask_move(o, i, false);
		if (r->mm_used & 1u << i)
			mmx_move(o, i, false);
	}
	for (i = 0; i < r->gprs; i++)
		if (r->gpr[i].access & SOFT_GPR_READ)
			load_gpr(o, r->gpr[i].host, r->gpr[i].offset);
	if (r->how & SOFT_HOW_FLAGS_IN) {
		PUT(o, 0x0f, 0xb7); /* movzx eax, [fl] */
		rdi_disp(o, RAX, AT(fl));
		PUT(o, 0x04, 0x7f, 0x9e); /* add al, 0x7f; sahf */
	}
}

/* Store MMX registers. Each MMX instruction also sets TOP to 0 and marks all registers valid. */
static void store_mmx(struct code *o, const struct soft_recoded *r)
{
	unsigned int i;

	for (i = 0; i < 8; i++) {
		if (!(r->mm_written & 1u << i))
			continue;
		mmx_move(o, i, true);
		PUT(o, 0x66, 0xc7); /* mov word [st + 8], 0xffff */
		rdi_disp(o, 0, AT(fpu.x87) + 32 + i * 16 + 8);
		PUT(o, 0xff, 0xff);
	}
	PUT(o, 0x66, 0x81); /* and word [fsw], ~TOP */
	rdi_disp(o, 4, AT(fpu.x87) + 2);
	PUT(o, 0xff, 0xc7);
	byte(o, 0xc6); /* mov byte [ftw], 0xff */
	rdi_disp(o, 0, AT(fpu.x87) + 4);
	byte(o, 0xff);
	PUT(o, 0x0f, 0x77); /* emms */
}

static void store_all(struct code *o, const struct soft_recoded *r)
{
	bool wide = false;
	unsigned int i;

	if (r->how & SOFT_HOW_FLAGS_OUT) {
		PUT(o, 0x66, 0x89); /* mov [fl], ax */
		rdi_disp(o, RAX, AT(fl));
	}
	for (i = 0; i < r->gprs; i++)
		if (r->gpr[i].access & SOFT_GPR_WRITTEN)
			gpr_move(o, 0x89, r->gpr[i].host, AT(r) + r->gpr[i].offset);
	for (i = 0; i < 32; i++) {
		wide |= r->vector[i] > 16;
		if (!(r->vector_written & 1u << i))
			continue;
		if (!(r->how & (SOFT_HOW_VEX | SOFT_HOW_EVEX)))
			vector_move(o, i, 16, r->how, true);
		else
			vector_move(o, i, o->host->avx512 ? 64 : 32, r->how, true);
	}
	for (i = 0; i < 8; i++)
		if (r->k_written & 1u << i)
			mask_move(o, i, true);
	if (r->how & SOFT_HOW_MMX)
		store_mmx(o, r);
	if (wide)
		PUT(o, 0xc5, 0xf8, 0x77); /* vzeroupper */
}

static void next(struct code *o)
{
	_Static_assert(sizeof(struct soft_uop) < 128 && offsetof(struct soft_uop, fn) == 0,
		       "stubs step over micro-operations");
#ifdef SOFT_THREADED
	PUT(o, 0x48, 0x83, 0xc6, sizeof(struct soft_uop)); /* add rsi, size */
	PUT(o, 0xff, 0x26);				   /* jmp [rsi] */
#else
	PUT(o, 0x48, 0x8d, 0x46, sizeof(struct soft_uop), 0xc3); /* lea rax, [rsi + size]; ret */
#endif
}

/* Make the jump whose displacement is at `from` lead here. */
static void jump_in(struct code *o, size_t from)
{
	uint32_t disp = (uint32_t)(o->len - from - 4);

	memcpy(o->at + from, &disp, sizeof(disp));
}

static void jump_to(struct code *o, soft_native_fn fn)
{
	uint64_t address = (uint64_t)(uintptr_t)fn;

	PUT(o, 0x48, 0xb8); /* mov rax, fn */
	bytes(o, &address, sizeof(address));
	PUT(o, 0xff, 0xe0); /* jmp rax */
}

/* Emit loads, the instruction, and stores. `after` handles MXCSR; NULL if MXCSR is not used. */
static void body(struct code *o, const struct soft_recoded *r, void (*after)(struct code *o))
{
	if (r->how & SOFT_HOW_X87) {
		PUT(o, 0x48, 0x0f, 0xae); /* fxrstor64 */
		rdi_disp(o, 1, AT(fpu.x87));
	}
	load_all(o, r);
	bytes(o, r->bytes, r->len);
	if (r->how & SOFT_HOW_FLAGS_OUT)
		PUT(o, 0x9f, 0x0f, 0x90, 0xc0); /* lahf; seto al */
	if (r->how & SOFT_HOW_X87) {
		PUT(o, 0x48, 0x0f, 0xae); /* fxsave64 */
		rdi_disp(o, 0, AT(fpu.x87));
		PUT(o, 0xdb, 0xe3); /* fninit */
	}
	if (after)
		after(o);
	store_all(o, r);
	next(o);
}

static void exits(struct code *o, const struct soft_recoded *r)
{
	jump_in(o, o->trap);
	if (r->how & SOFT_HOW_MMX)
		PUT(o, 0x0f, 0x77); /* emms */
	if (r->how & (SOFT_HOW_VEX | SOFT_HOW_EVEX))
		PUT(o, 0xc5, 0xf8, 0x77); /* vzeroupper */
	PUT(o, 0x44, 0x89, 0xd2);	  /* mov edx, r10d */
	jump_to(o, soft_native_trap);
	if (o->tiny) {
		jump_in(o, o->tiny);
		jump_to(o, soft_native_tiny);
	}
}

size_t soft_stub_write(uint8_t *at, const struct soft_native_host *host,
		       const struct soft_recoded *r)
{
	struct code o = {.at = at, .host = host};

	if (!(r->how & SOFT_HOW_MXCSR)) {
		body(&o, r, NULL);
		return o.len;
	}
	try_host_mxcsr(&o);
	body(&o, r, collect_flags);
	jump_in(&o, o.other[0]);
	jump_in(&o, o.other[1]);
	enter_mxcsr(&o, r->how);
	body(&o, r, leave_mxcsr);
	exits(&o, r);
	return o.len;
}
