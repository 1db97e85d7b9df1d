// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the code of a hostile guest, act by act. */
#include "lib/hostile_acts.h"

#include <string.h>

#include "engine/random.h"
#include "x86/msr.h"

#define ACT_BYTES 160u /* more than an act needs */
#define ACTS_MOST 60u

#define COUNT(list)	((uint32_t)(sizeof(list) / sizeof((list)[0])))
#define ONE_OF(b, list) ((list)[below(b, COUNT(list))])

extern const uint8_t __executable_start[], etext[];

const char *const hostile_act_name[HOSTILE_ACTS] = {
	"bytes", "program text", "page tables", "tables",	 "control registers",
	"MSRs",	 "XCR0",	 "debug",	"strings",	 "changed code",
	"ports", "devices",	 "events",	"triple faults",
};

/* Registers by their numbers. */
enum { AX, CX, DX, BX, SP, BP, SI, DI };

struct build {
	struct hostile_acts *a;
	uint64_t random;
	unsigned int bits; /* 64, 32 or 16 */
	uint32_t start;	   /* the address of the code */
};

static uint64_t next(struct build *b)
{
	return engine_random_mix(b->random += 0x9e3779b97f4a7c15ull);
}

static uint32_t below(struct build *b, uint32_t n)
{
	return (uint32_t)(next(b) >> 32) % n;
}

static void put(struct build *b, const void *bytes, size_t count)
{
	if (count > sizeof(b->a->code) - b->a->len)
		return;
	memcpy(b->a->code + b->a->len, bytes, count);
	b->a->len += count;
}

#define PUT(b, ...) put(b, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* An instruction with operands and addresses of 32 bits follows. */
static void wide(struct build *b)
{
	if (b->bits == 16)
		PUT(b, 0x66, 0x67);
}

/* mov $value, %reg */
static void load(struct build *b, unsigned int reg, uint64_t value)
{
	const uint32_t low = (uint32_t)value;

	if (b->bits == 16)
		PUT(b, 0x66);
	if (b->bits == 64)
		PUT(b, 0x48);
	PUT(b, (uint8_t)(0xb8 + reg));
	put(b, b->bits == 64 ? (const void *)&value : &low, b->bits == 64 ? 8 : 4);
}

/* movl $value, (at) */
static void store(struct build *b, uint32_t at, uint32_t value)
{
	load(b, BX, at);
	wide(b);
	PUT(b, 0xc7, 0x03);
	put(b, &value, sizeof(value));
}

/* A number at a border: of pages, RAM, canonical addresses, devices. */
static uint64_t border(struct build *b)
{
	static const uint64_t at[] = {
		0,
		0x1000,
		0x2000,
		HOSTILE_CODE,
		HOSTILE_CODE + 0x1000,
		0x8000,
		HOSTILE_DATA,
		HOSTILE_RAM,
		HOSTILE_RAM * 4,
		0xfec00000,
		0xfee00000,
		0xfee01000,
		0x100000000,
		0x800000000000,
		0xffff800000000000,
		0x7fffffff,
		0xa0000,
		HOSTILE_DATA + 0x1000,
	};

	return ONE_OF(b, at) + below(b, 3) * (uint64_t)(below(b, 32) - 16);
}

static uint64_t number(struct build *b)
{
	const uint64_t any = next(b);

	switch (below(b, 4)) {
	case 0:
		return border(b);
	case 1:
		return 1ull << below(b, 64);
	case 2:
		return any >> below(b, 64);
	default:
		return any;
	}
}

static void act_bytes(struct build *b)
{
	const uint64_t any[5] = {next(b), next(b), next(b), next(b), next(b)};

	put(b, any, 1 + below(b, 40));
}

static void act_text(struct build *b)
{
	const uint64_t room = (uint64_t)(etext - __executable_start) - 64;

	put(b, __executable_start + next(b) % room, 16 + below(b, 24));
}

/* Entries of tables that lead to tables. The tables are those of lib/hostile.c. */
static void act_pages(struct build *b)
{
	static const uint32_t tables[] = {0x1000, 0x2000, 0x3000, 0x4000, 0x5000, 0x6000, 0x7000};
	static const uint32_t entries[] = {0, 1, 2, 3, 16, 48, 256, 509, 510, 511};
	const uint32_t at = ONE_OF(b, tables) + 8 * ONE_OF(b, entries);
	const uint32_t rights = below(b, 4) ? 7 : below(b, 0x1000);

	store(b, at, below(b, 4) ? ONE_OF(b, tables) | rights : (uint32_t)number(b));
	if (below(b, 2)) {
		load(b, BX, border(b));
		wide(b);
		PUT(b, 0x0f, 0x01, 0x3b); /* invlpg (%rbx) */
	}
	if (below(b, 2)) {
		if (below(b, 8))
			PUT(b, 0x0f, 0x20, 0xd8); /* mov %cr3, %rax */
		else
			load(b, AX, ONE_OF(b, tables) | below(b, 32));
		PUT(b, 0x0f, 0x22, 0xd8);
	}
}

static void act_tables(struct build *b)
{
	static const uint8_t segments[] = {0x8e, 0xc0, 0x8e, 0xd0, 0x8e,
					   0xd8, 0x8e, 0xe0, 0x8e, 0xe8};
	const uint32_t at = HOSTILE_DATA + below(b, 0x1000);
	const uint8_t which = (uint8_t)(0x03 | below(b, 4) << 3);
	const uint32_t n = 2 * below(b, 5);

	switch (below(b, 4)) {
	case 0: /* sgdt, sidt, lgdt, lidt; the last two mostly with a usable limit */
		store(b, at,
		      (uint32_t)(border(b) << 16) | (below(b, 4) ? 0xffff : below(b, 0x200)));
		store(b, at + 4, (uint32_t)number(b));
		load(b, BX, at);
		wide(b);
		PUT(b, 0x0f, 0x01, which);
		break;
	case 1: /* the tables where they are, with another limit */
		store(b, at, 0x80000000 | (0x40 + below(b, 0x100)));
		store(b, at + 4, 0);
		load(b, BX, at);
		wide(b);
		PUT(b, 0x0f, 0x01, 0x13);
		break;
	case 2: /* a descriptor, and a segment, LDT or task from it */
		store(b, 0x8000 + 0x28 + 8 * below(b, 8), (uint32_t)next(b));
		store(b, 0x8000 + 0x2c + 8 * below(b, 8), (uint32_t)next(b) | 0x8000);
		load(b, AX, 0x28 + below(b, 0x40));
		PUT(b, 0x0f, 0x00, (uint8_t)(0xd0 | below(b, 2) << 3)); /* lldt, ltr */
		break;
	default:
		load(b, AX, below(b, 0x60));
		PUT(b, segments[n], segments[n + 1]);
		break;
	}
}

static void act_control(struct build *b)
{
	static const uint8_t from[] = {0xc0, 0xd0, 0xe0}, to[] = {0, 2, 4};
	const uint32_t n = below(b, 3);
	const uint32_t bit = 1u << below(b, 32);

	if (!below(b, 6)) {
		load(b, AX, number(b));
		PUT(b, 0x0f, 0x01, 0xf0); /* lmsw */
		return;
	}
	if (!below(b, 6)) {
		PUT(b, 0x0f, 0x06); /* clts */
		return;
	}
	if (b->bits == 64 && !below(b, 6)) {
		load(b, AX, below(b, 20));
		PUT(b, 0x44, 0x0f, 0x22, 0xc0); /* mov %rax, %cr8 */
		return;
	}
	/* Mostly one changed bit, or the guest ends here. */
	PUT(b, 0x0f, 0x20, from[n]);
	if (below(b, 8)) {
		if (b->bits == 16)
			PUT(b, 0x66);
		PUT(b, 0x35); /* xor $bit, %eax */
		put(b, &bit, sizeof(bit));
	} else {
		load(b, AX, number(b));
	}
	PUT(b, 0x0f, 0x22, (uint8_t)(0xc0 | to[n] << 3));
}

static void act_msr(struct build *b)
{
	static const uint32_t msrs[] = {
		X86_MSR_TSC,
		X86_MSR_APIC_BASE,
		X86_MSR_TSC_ADJUST,
		X86_MSR_SPEC_CTRL,
		X86_MSR_PMC0,
		X86_MSR_SYSENTER_CS,
		X86_MSR_SYSENTER_ESP,
		X86_MSR_SYSENTER_EIP,
		X86_MSR_PERFEVTSEL0,
		X86_MSR_MISC_ENABLE,
		X86_MSR_DEBUGCTL,
		X86_MSR_MTRR_PHYSBASE0,
		X86_MSR_PAT,
		X86_MSR_MTRR_DEF_TYPE,
		X86_MSR_PERF_CTRL,
		X86_MSR_TSC_DEADLINE,
		X86_MSR_X2APIC_FIRST,
		X86_MSR_XSS,
		X86_MSR_EFER,
		X86_MSR_STAR,
		X86_MSR_LSTAR,
		X86_MSR_CSTAR,
		X86_MSR_FMASK,
		X86_MSR_FS_BASE,
		X86_MSR_GS_BASE,
		X86_MSR_KERNEL_GS_BASE,
		X86_MSR_TSC_AUX,
		X86_MSR_UMWAIT_CONTROL,
		0x570,
		0x560,
		0x580,
	};

	load(b, CX, below(b, 16) ? ONE_OF(b, msrs) + below(b, 2) * below(b, 16) : next(b));
	load(b, AX, number(b));
	load(b, DX, below(b, 2) ? 0 : number(b));
	PUT(b, 0x0f, below(b, 4) ? 0x30 : 0x32); /* wrmsr, rdmsr */
}

static void act_xcr(struct build *b)
{
	load(b, CX, below(b, 8) ? 0 : below(b, 4));
	load(b, AX, below(b, 2) ? 1 | below(b, 8) : number(b));
	load(b, DX, 0);
	switch (below(b, 4)) {
	case 0:
		PUT(b, 0x0f, 0x01, 0xd0); /* xgetbv */
		break;
	case 1:
		load(b, BX, (HOSTILE_DATA + below(b, 0x1000)) & ~63u);
		wide(b);
		PUT(b, 0x0f, 0xae, (uint8_t)(0x0b | below(b, 5) << 3)); /* fxrstor to xrstor */
		break;
	default:
		PUT(b, 0x0f, 0x01, 0xd1); /* xsetbv */
		break;
	}
}

static void act_debug(struct build *b)
{
	const uint32_t n = below(b, 8);

	if (n < 4)
		load(b, AX, below(b, 2) ? b->start + b->a->len + below(b, 32) : border(b));
	else if (n & 1)
		load(b, AX, 0x400 | below(b, 0x400) | (below(b, 2) ? next(b) & 0xffff2000 : 0));
	else
		load(b, AX, number(b));
	PUT(b, 0x0f, below(b, 4) ? 0x23 : 0x21, (uint8_t)(0xc0 | n << 3));
}

static void act_string(struct build *b)
{
	static const uint8_t ops[] = {0xa4, 0xa5, 0xaa, 0xab, 0xac, 0xad, 0xae,
				      0xaf, 0xa6, 0xa7, 0x6c, 0x6d, 0x6e, 0x6f};

	load(b, SI, border(b));
	load(b, DI, border(b));
	load(b, CX, below(b, 16) ? below(b, 300) : next(b));
	load(b, DX, 0x3f8 + below(b, 8));
	PUT(b, below(b, 6) ? 0xfc : 0xfd); /* cld, std */
	wide(b);
	PUT(b, below(b, 2) ? 0xf3 : 0xf2);
	if (b->bits == 64 && below(b, 2))
		PUT(b, 0x48);
	PUT(b, ONE_OF(b, ops));
}

static void act_patch(struct build *b)
{
	static const uint8_t ops[] = {0x90, 0xcc, 0xf4, 0x0f, 0xc3, 0xf3, 0xeb, 0x48};

	load(b, BX, b->start + b->a->len + below(b, 48));
	wide(b);
	PUT(b, 0xc6, 0x03, ONE_OF(b, ops)); /* movb $op, (%rbx) */
	if (below(b, 2))
		PUT(b, 0xeb, 0x00);
}

static void act_port(struct build *b)
{
	static const uint16_t ports[] = {0x20,	0x21,  0xa0,  0xa1,  0x40,  0x41,  0x42,  0x43,
					 0x61,	0x70,  0x71,  0x60,  0x64,  0x80,  0xcf8, 0xcfc,
					 0x3f8, 0x3f9, 0x3fa, 0x3fb, 0x3fc, 0x3fd, 0x4d0, 0x510};
	static const uint8_t ops[] = {0xee, 0xee, 0xef, 0xec, 0xec, 0xed};

	load(b, DX, below(b, 32) ? ONE_OF(b, ports) : (uint16_t)next(b));
	load(b, AX, number(b));
	if (b->bits != 16 && !below(b, 3))
		PUT(b, 0x66);
	PUT(b, ONE_OF(b, ops)); /* out and in */
}

static void act_device(struct build *b)
{
	static const uint32_t bases[] = {0xfee00000, 0xfee00000, 0xfee00000,	  0xfec00000,
					 0xa0000,    0xd0000000, HOSTILE_RAM * 16};
	static const uint8_t ops[][3] = {{0x8b, 0x03},	     {0x89, 0x03},	 {0x87, 0x03},
					 {0x00, 0x03},	     {0xff, 0x03},	 {0x8a, 0x03},
					 {0x0f, 0x11, 0x03}, {0x0f, 0x10, 0x03}, {0x0f, 0xc7, 0x0b},
					 {0x0f, 0xae, 0x03}, {0xdf, 0x2b},	 {0xdf, 0x3b}};
	const uint32_t n = below(b, COUNT(ops));
	const uint32_t at = ONE_OF(b, bases) + (below(b, 8) ? 16 * below(b, 64) : below(b, 0x1000));

	/* A timer of the local APIC, or its register 300H, or any. */
	if (!below(b, 3)) {
		store(b, 0xfee000f0, 0x1ff);
		store(b, 0xfee00320, below(b, 2) << 17 | below(b, 256));
		store(b, 0xfee00380, below(b, 100000));
		return;
	}
	load(b, AX, number(b));
	load(b, BX, at);
	wide(b);
	put(b, ops[n], ops[n][2] ? 3 : 2);
}

static void act_event(struct build *b)
{
	switch (below(b, 9)) {
	case 0:
		PUT(b, 0xcd, (uint8_t)next(b)); /* int n */
		break;
	case 1:
		PUT(b, 0x0f, 0x0b); /* ud2 */
		break;
	case 2:
		PUT(b, 0xfb, 0xf4); /* sti, hlt */
		break;
	case 3: /* an NMI, or any other message, to itself */
		store(b, 0xfee00300, below(b, 2) ? 0x40400 : 0x40000 | below(b, 0x800));
		break;
	case 4: /* popf, with TF, NT, AC and IOPL */
		PUT(b, 0x68);
		put(b, &(uint32_t){(uint32_t)next(b)}, b->bits == 16 ? 2 : 4);
		PUT(b, 0x9d);
		break;
	case 5:
		PUT(b, 0x0f, below(b, 2) ? 0x05 : 0x34); /* syscall, sysenter */
		break;
	case 6:
		PUT(b, below(b, 2) ? 0xcf : 0xcb); /* iret, lret */
		break;
	case 7:
		PUT(b, below(b, 2) ? 0xcc : 0xf1); /* int3, int1 */
		break;
	default: /* mov %ss, and an event in its shadow */
		PUT(b, 0x8c, 0xd0, 0x8e, 0xd0, below(b, 2) ? 0xcc : 0x90);
		break;
	}
}

/* Zeroes below the tables are the descriptor of an empty IDT. */
static void act_triple(struct build *b)
{
	store(b, HOSTILE_DATA, 0);
	store(b, HOSTILE_DATA + 4, 0);
	load(b, BX, HOSTILE_DATA);
	wide(b);
	PUT(b, 0x0f, 0x01, 0x1b, 0x0f, 0x0b);
}

typedef void make_act(struct build *b);

static make_act *const makers[HOSTILE_ACTS] = {
	act_bytes, act_text,   act_pages, act_tables, act_control, act_msr,   act_xcr,
	act_debug, act_string, act_patch, act_port,   act_device,  act_event, act_triple,
};

static enum hostile_act choose(struct build *b)
{
	/* Few triple faults, or most guests end soon. */
	if (!below(b, 60))
		return HOSTILE_ACT_TRIPLE;
	/* The first two kinds mostly end in a fault. */
	if (below(b, 5))
		return HOSTILE_ACT_PAGES + below(b, HOSTILE_ACT_TRIPLE - HOSTILE_ACT_PAGES);
	return below(b, 2) ? HOSTILE_ACT_BYTES : HOSTILE_ACT_TEXT;
}

static unsigned int bits_of(enum hostile_mode mode)
{
	if (mode == HOSTILE_LONG)
		return 64;
	return mode == HOSTILE_COMPAT16 || mode == HOSTILE_PROTECTED16 || mode == HOSTILE_REAL ? 16
											       : 32;
}

void hostile_acts_make(struct hostile_acts *a, uint64_t seed, enum hostile_mode mode)
{
	struct build b = {.a = a, .random = seed, .bits = bits_of(mode), .start = HOSTILE_CODE};
	const uint32_t acts = 8 + below(&b, ACTS_MOST);
	uint32_t n;

	memset(a, 0, sizeof(*a));
	for (n = 0; n < acts && a->len + ACT_BYTES < sizeof(a->code); n++) {
		const enum hostile_act act = choose(&b);
		const size_t from = a->len;

		makers[act](&b);
		memset(a->kind + from, act, a->len - from);
	}
	/* Again from the beginning: jmp -len */
	if (b.bits != 16) {
		const int32_t back = -(int32_t)(a->len + 5);

		PUT(&b, 0xe9);
		put(&b, &back, sizeof(back));
	} else {
		const int16_t back = (int16_t) - (int)(a->len + 3);

		PUT(&b, 0xe9);
		put(&b, &back, sizeof(back));
	}
	memset(a->kind + a->len, HOSTILE_ACTS, sizeof(a->kind) - a->len);
}
