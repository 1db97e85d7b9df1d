// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses interrupts, addresses and modes for hostile guests. */
#include "hostile.h"

#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/paging.h"
#include "lib/ring3.h"
#include "modes.h"
#include "noise.h"
#include "vpt/msr.h"

#define APIC_AT	     0xfee00000ull
#define APIC_EOI     0x0b0u
#define APIC_SVR     0x0f0u
#define APIC_ICR     0x300u
#define APIC_LVTPC   0x340u
#define SVR_ENABLE   (1u << 8)
#define ICR_SELF     (1u << 18)
#define LVT_MASKED   (1u << 16)
#define LVT_NMI	     (4u << 8)
#define LVT_EXTINT   (7u << 8)
#define VEC_NMI	     2u
#define VEC_FIRST    0x20u
#define VEC_SPURIOUS 0xffu
#define PORT_SMI     0xb2
#define BIOS_COPY    0xf0000ull
#define BIOS	     0xfffc0000ull
#define SPACES	     4u

struct hostile_counts hostile_counts;

static uint64_t spaces[SPACES];
static void (*each_interrupt)(void);

static void apic_set(uint32_t reg, uint32_t value)
{
	*(volatile uint32_t *)(APIC_AT + reg) = value;
}

static void on_interrupt(struct trap_frame *f)
{
	if (f->vector == VEC_NMI) {
		hostile_counts.nmis++;
	} else {
		hostile_counts.interrupts++;
		apic_set(APIC_EOI, 0);
	}
	if (each_interrupt)
		each_interrupt();
}

static void on_breakpoint(struct trap_frame *f)
{
	(void)f;
}

/* Move the vectors away from exceptions, and mask all. */
static void init_8259s(void)
{
	static const struct {
		uint16_t port;
		uint8_t value;
	} words[] = {
		{0x20, 0x11}, {0x21, VEC_FIRST}, {0x21, 4}, {0x21, 1},	  {0xa0, 0x11},
		{0xa1, 0x28}, {0xa1, 2},	 {0xa1, 1}, {0x21, 0xff}, {0xa1, 0xff},
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		outb(words[i].port, words[i].value);
}

static uint64_t no_syscall(uint64_t a, uint64_t b)
{
	(void)b;
	return a;
}

static void map_apic(uint64_t cr3)
{
	paging_map(cr3, APIC_AT, (void *)APIC_AT, PTE_WRITE | PTE_UNCACHED | PTE_NX);
}

void hostile_init(void (*on_pmi)(void))
{
	unsigned int i;

	each_interrupt = on_pmi;
	init_8259s();
	idt_hook(VEC_NMI, on_interrupt);
	idt_hook(VEC_BP, on_breakpoint);
	for (i = VEC_FIRST; i < VEC_COUNT; i++)
		idt_hook((uint8_t)i, on_interrupt);
	idt_allow_user(0x80);
	ring3_init(no_syscall);
	spaces[0] = read_cr3();
	for (i = 1; i < SPACES; i++)
		spaces[i] = paging_new_space();
	for (i = 0; i < SPACES; i++)
		map_apic(spaces[i]);
	write_cr3(spaces[0]);
	apic_set(APIC_SVR, SVR_ENABLE | VEC_SPURIOUS);
}

uint64_t hostile_no_ram(struct rng *rng)
{
	static const uint64_t places[] = {
		0xa0000,	 /* the old frame buffer, and SMRAM */
		0xc0000000,	 /* a hole, or devices */
		0xfec00000,	 /* I/O APIC */
		0xfed00000,	 /* HPET */
		0xfee00000,	 /* APIC */
		0x7ff000000,	 /* beyond all memory */
		0xfd0000000000,	 /* beyond the addresses of many processors */
		0xffffffffff000, /* beyond the addresses of all processors */
		0x8000000000000,
	};
	uint64_t place = places[rng_below(rng, ARRAY_SIZE(places))];

	return rng_chance(rng, 70) ? place : place + (rng_next(rng) & 0xf000);
}

uint64_t hostile_read_only(struct rng *rng)
{
	uint64_t first = rng_chance(rng, 50) ? BIOS_COPY : BIOS;

	return first + (rng_next(rng) & 0xf000);
}

uint32_t hostile_lvtpc(struct rng *rng)
{
	uint32_t vector = VEC_FIRST + rng_below(rng, VEC_COUNT - VEC_FIRST);

	switch (rng_below(rng, 8)) {
	case 0:
		return LVT_MASKED | vector;
	case 1:
		return HOSTILE_LVT_SMI;
	case 2:
		return LVT_EXTINT;
	case 3:
	case 4:
		return vector;
	default:
		return LVT_NMI | vector;
	}
}

void hostile_set_lvtpc(uint32_t value)
{
	apic_set(APIC_LVTPC, value);
}

uint64_t hostile_ctl(struct rng *rng)
{
	uint64_t ctl = rng_next(rng);

	if (rng_chance(rng, 80))
		ctl &= VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(CR3_FILTER) |
		       VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(DIS_RETC) | VPT_CTL_MASK(ADDR0_CFG);
	if (rng_chance(rng, 60))
		ctl &= ~(VPT_CTL_MASK(CR3_FILTER) | VPT_CTL_MASK(ADDR0_CFG));
	if (rng_chance(rng, 80))
		ctl |= VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(BRANCH_EN);
	return ctl | VPT_CTL_MASK(TOPA);
}

void hostile_flow(struct rng *rng)
{
	switch (rng_below(rng, 8)) {
	case 0:
		ring3_call(modes_ring3, rng_below(rng, 50));
		break;
	case 1:
		write_cr3(spaces[rng_below(rng, SPACES)] | (rng_next(rng) & 0x18));
		ring3_call(modes_ring3, 1);
		break;
	case 2:
		__asm__ volatile("int3\n int $0x80" : : : "memory");
		break;
	case 3:
		apic_set(APIC_ICR, ICR_SELF | (VEC_FIRST + rng_below(rng, 200)));
		break;
	case 4:
		outb(PORT_SMI, 0);
		break;
	case 5:
		cli();
		noise(rng_below(rng, 100));
		break;
	default:
		noise(rng_below(rng, 400));
		break;
	}
	sti();
	noise(rng_below(rng, 20));
}
