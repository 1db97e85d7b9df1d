// SPDX-License-Identifier: GPL-2.0-or-later
/* Flow through all modes of the processor. */
#include "modes.h"

#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/mem.h"

#define PAGE	    0x8000u
#define TOLD_AT	    0xe00u
#define IVT_VECTORS 256u
#define APIC_ICR    ((volatile uint32_t *)0xfee00300)
#define ICR_INIT    0xc4500u /* all but this one, edge */
#define ICR_STARTUP 0xc4600u

extern const uint8_t modes_other_code[], modes_other_end[], modes_other_gp[], modes_other_iret[];

static const uint64_t flat[3] = {0, 0x00cf9b000000ffff, 0x00cf93000000ffff};

VPT_STATIC_ASSERT(sizeof(struct modes_other) <= 0x200, "fits behind the stack");
VPT_STATIC_ASSERT(offsetof(struct modes_other, bases) == 0x20, "modes.S has the offsets");

static uint32_t real_address(const uint8_t *label)
{
	return PAGE / 16 << 16 | (uint32_t)(label - modes_other_code);
}

static void pause_cycles(uint64_t cycles)
{
	uint64_t start = rdtsc();

	while (rdtsc() - start < cycles)
		;
}

struct modes_other *modes_start_other(uint32_t seed)
{
	struct modes_other *other = (struct modes_other *)(uintptr_t)(PAGE + TOLD_AT);
	uint32_t ivt[IVT_VECTORS];
	const uint32_t *from = ivt;
	uint64_t count = IVT_VECTORS;
	unsigned int i;

	for (i = 0; i < IVT_VECTORS; i++)
		ivt[i] = real_address(i == 13 ? modes_other_gp : modes_other_iret);
	/* Address 0 is valid only for the processor, not for the compiler. */
	__asm__ volatile("xorl %%edi, %%edi\n rep movsl"
			 : "+S"(from), "+c"(count)
			 :
			 : "rdi", "memory");
	memcpy((void *)(uintptr_t)PAGE, modes_other_code,
	       (size_t)(modes_other_end - modes_other_code));
	memset(other, 0, sizeof(*other));
	other->seed = seed | 1;
	other->lvtpc = 1u << 16;
	other->gdt_limit = sizeof(flat) - 1;
	other->gdt_base = (uint32_t)(uintptr_t)flat;
	*APIC_ICR = ICR_INIT;
	pause_cycles(10000000);
	*APIC_ICR = ICR_STARTUP | PAGE >> 12;
	pause_cycles(1000000);
	*APIC_ICR = ICR_STARTUP | PAGE >> 12;
	return other;
}
