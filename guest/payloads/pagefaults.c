// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The error code of each kind of page fault (SDM vol. 3, 4.7), and accesses that do not fault.
 * Kinds are present, write, user, reserved bits and NX, at the last level and above it, under
 * CR0.WP, SMEP and SMAP.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/mem.h"
#include "lib/page_alloc.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"

PAYLOAD("page faults: error codes of all kinds of access");

#define PAGE_AT	 (PAGING_FREE_VADDR + 0x5000)
#define NONE	 (~0ull) /* instead of an error code: no fault */
#define P	 PTE_PRESENT
#define W	 PTE_WRITE
#define U	 PTE_USER
#define NX	 PTE_NX
#define RESERVED (1ull << 51)

/*
 * uint64_t f(uint64_t address): functions that make one access each, in the code of ring 0 and of
 * ring 3. A fault continues at RCX, and the code at the address jumps there, too.
 */
uint64_t kernel_read(uint64_t), kernel_write(uint64_t), kernel_exec(uint64_t);
uint64_t user_read(uint64_t), user_write(uint64_t), user_exec(uint64_t);

#define ACCESS(name, insn)             \
	".globl " name "\n" name ":\n" \
	"	lea 1f(%rip), %rcx\n"        \
	"	" insn "\n"            \
	"1:	ret\n"

#define ACCESSES(section, ring)                                                       \
	".pushsection " section ", \"ax\"\n" ACCESS(ring "_read", "mov (%rdi), %rax") \
		ACCESS(ring "_write", "mov %rdi, (%rdi)")                             \
			ACCESS(ring "_exec", "jmp *%rdi") ".popsection\n"

__asm__(ACCESSES(".text", "kernel") ACCESSES(".user.text", "user"));

enum who { KERNEL, USER };
enum how { READ, WRITE, EXEC };
enum under { UNDER_WP = 1, UNDER_SMEP = 2, UNDER_SMAP = 4, UNDER_AC = 8 };

static uint64_t (*const access[2][3])(uint64_t) = {
	{kernel_read, kernel_write, kernel_exec},
	{user_read, user_write, user_exec},
};

static const struct fault_case {
	uint64_t page;	/* flags of the page's entry */
	uint64_t above; /* bits that the level above lacks (NX: has) */
	enum who who;
	enum how how;
	unsigned int under; /* enum under */
	uint64_t want;
} cases[] = {
	{0, 0, KERNEL, READ, UNDER_WP, 0x00},
	{0, 0, KERNEL, WRITE, UNDER_WP, 0x02},
	{0, 0, KERNEL, EXEC, UNDER_WP, 0x10},
	{0, 0, USER, READ, UNDER_WP, 0x04},
	{0, 0, USER, WRITE, UNDER_WP, 0x06},
	{0, 0, USER, EXEC, UNDER_WP, 0x14},
	{P, 0, KERNEL, READ, UNDER_WP, NONE},
	{P, 0, KERNEL, WRITE, UNDER_WP, 0x03},
	{P, 0, KERNEL, WRITE, 0, NONE},
	{P, 0, KERNEL, EXEC, UNDER_WP, NONE},
	{P | W, 0, KERNEL, WRITE, UNDER_WP, NONE},
	{P | W, 0, USER, READ, UNDER_WP, 0x05},
	{P | W, 0, USER, WRITE, UNDER_WP, 0x07},
	{P | W, 0, USER, EXEC, UNDER_WP, 0x15},
	{P | U, 0, USER, READ, UNDER_WP, NONE},
	{P | U, 0, USER, WRITE, UNDER_WP, 0x07},
	{P | U, 0, USER, WRITE, 0, 0x07},
	{P | U, 0, USER, EXEC, UNDER_WP, NONE},
	{P | U, 0, KERNEL, WRITE, UNDER_WP, 0x03},
	{P | U | W, 0, USER, WRITE, UNDER_WP, NONE},
	{P | U | W, 0, KERNEL, EXEC, UNDER_WP, NONE},
	{P | W | NX, 0, KERNEL, READ, UNDER_WP, NONE},
	{P | W | NX, 0, KERNEL, EXEC, UNDER_WP, 0x11},
	{P | U | NX, 0, USER, READ, UNDER_WP, NONE},
	{P | U | NX, 0, USER, EXEC, UNDER_WP, 0x15},
	/* The level above restricts access. */
	{P | U | W, P, KERNEL, READ, UNDER_WP, 0x00},
	{P | U | W, P, USER, WRITE, UNDER_WP, 0x06},
	{P | U | W, U, USER, READ, UNDER_WP, 0x05},
	{P | U | W, W, USER, WRITE, UNDER_WP, 0x07},
	{P | U | W, W, KERNEL, WRITE, UNDER_WP, 0x03},
	{P | U | W, NX, USER, EXEC, UNDER_WP, 0x15},
	{P | U | W, NX, KERNEL, EXEC, UNDER_WP, 0x11},
	/* SMEP: ring 0 does not execute pages of ring 3; SMAP: it does not access them. */
	{P | U | W, 0, KERNEL, EXEC, UNDER_WP | UNDER_SMEP, 0x11},
	{P | U | W, U, KERNEL, EXEC, UNDER_WP | UNDER_SMEP, NONE},
	{P | U | W, 0, USER, EXEC, UNDER_WP | UNDER_SMEP, NONE},
	{P | U | W, 0, KERNEL, READ, UNDER_WP | UNDER_SMAP, 0x01},
	{P | U | W, 0, KERNEL, WRITE, UNDER_WP | UNDER_SMAP, 0x03},
	{P | U | W, 0, KERNEL, READ, UNDER_WP | UNDER_SMAP | UNDER_AC, NONE},
	{P | U | W, 0, KERNEL, WRITE, UNDER_WP | UNDER_SMAP | UNDER_AC, NONE},
	{P | U, 0, KERNEL, WRITE, UNDER_WP | UNDER_SMAP | UNDER_AC, 0x03},
	{P | U | W, 0, USER, WRITE, UNDER_WP | UNDER_SMAP, NONE},
	{P | W, 0, KERNEL, WRITE, UNDER_WP | UNDER_SMAP, NONE},
	/* Reserved bits, if there are any. */
	{P | W | RESERVED, 0, KERNEL, READ, UNDER_WP, 0x09},
	{P | W | RESERVED, 0, KERNEL, WRITE, UNDER_WP, 0x0b},
	{P | U | RESERVED, 0, USER, READ, UNDER_WP, 0x0d},
	{P | U | RESERVED, 0, USER, WRITE, UNDER_WP, 0x0f},
	{P | W | RESERVED, 0, KERNEL, EXEC, UNDER_WP, 0x19},
	/* An entry that is not present has no reserved bits. */
	{W | U | RESERVED, 0, USER, READ, UNDER_WP, 0x04},
};

static uint64_t cr3, seen_error, seen_cr2, seen_rip;
static unsigned int faults;
static uint8_t *page;

static void on_pf(struct trap_frame *f)
{
	faults++;
	seen_error = f->error;
	seen_cr2 = read_cr2();
	seen_rip = f->rip;
	f->rip = f->rcx;
}

static uint64_t on_syscall(uint64_t a, uint64_t b)
{
	return a + b;
}

static bool applies(const struct fault_case *c)
{
	if (c->under & UNDER_SMEP && !cpu_has(CPU_SMEP))
		return false;
	if (c->under & UNDER_SMAP && !cpu_has(CPU_SMAP))
		return false;
	return !(c->page & RESERVED) || (cpuid(0x80000008, 0).eax & 0xff) < 52;
}

static void set_under(unsigned int under)
{
	uint64_t cr4 = read_cr4() & ~(CR4_SMEP | CR4_SMAP);

	write_cr0(under & UNDER_WP ? read_cr0() | CR0_WP : read_cr0() & ~CR0_WP);
	if (under & UNDER_SMEP)
		cr4 |= CR4_SMEP;
	if (under & UNDER_SMAP)
		cr4 |= CR4_SMAP;
	if (cr4 != read_cr4())
		write_cr4(cr4);
	if (under & UNDER_AC)
		__asm__ volatile("stac" : : : "memory", "cc");
}

static void map(const struct fault_case *c)
{
	const uint64_t above = PTE_PRESENT | PTE_WRITE | PTE_USER;
	uint64_t *entry = paging_entry(cr3, PAGE_AT, 1);

	*entry = (uintptr_t)page | c->page;
	entry = paging_entry(cr3, PAGE_AT, 2);
	*entry = ((*entry | above) & ~NX) ^ c->above;
	invlpg(PAGE_AT);
}

static uint8_t outcome[ARRAY_SIZE(cases)]; /* 0: correct, 1: wrong, 2: skipped */
static uint64_t got[ARRAY_SIZE(cases)];
static bool wrong_address;

static void try(unsigned int i)
{
	const struct fault_case *c = &cases[i];
	uint64_t (*fn)(uint64_t) = access[c->who][c->how];

	memcpy(page, "\xff\xe1", 2); /* JMP RCX */
	map(c);
	faults = 0;
	set_under(c->under);
	if (c->who == USER)
		ring3_call(fn, PAGE_AT);
	else
		fn(PAGE_AT);
	if (c->under & UNDER_AC)
		__asm__ volatile("clac" : : : "memory", "cc");
	set_under(UNDER_WP);
	got[i] = faults ? seen_error : NONE;
	outcome[i] = got[i] != c->want || faults > 1;
	if (!faults)
		return;
	/* The faulting instruction is the second one, behind a LEA of 7 bytes. */
	wrong_address |=
		seen_cr2 != PAGE_AT || seen_rip != (c->how == EXEC ? PAGE_AT : (uintptr_t)fn + 7);
}

static void work(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (applies(&cases[i]) && (boot->flags & VPT_BOOT_RING3 || cases[i].who == KERNEL))
			try(i);
		else
			outcome[i] = 2;
	}
}

static const char *const who_text[] = {"ring 0", "ring 3"};
static const char *const how_text[] = {"read", "write", "fetch"};

void payload(void)
{
	unsigned int i, left_out = 0;
	struct trace t;

	ring3_init(on_syscall);
	cr3 = read_cr3();
	page = page_alloc(PAGE_SIZE);
	idt_hook(VEC_PF, on_pf);
	trace_simple(&t, work);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct fault_case *c = &cases[i];

		left_out += outcome[i] == 2;
		if (outcome[i] == 1)
			report(false, "%s, %s, entry %#lx, above ^%#lx, under %#x: %lx, not %lx",
			       who_text[c->who], how_text[c->how], c->page, c->above, c->under,
			       got[i], c->want);
	}
	report(left_out < ARRAY_SIZE(cases) / 2, "all kinds of access");
	report(!wrong_address, "CR2 and RIP");
	if (left_out)
		report_note("%u of them need what this processor does not have", left_out);
}
