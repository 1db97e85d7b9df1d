// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CR3 in Atom's RTIT (RTIT 2.4.2, 4.2.10). There are PIP and STS for each MOV to CR3, and PIP when
 * paging is turned off and on. One address space is traced alone.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "lib/twin.h"
#include "pt/trace.h"

PAYLOAD("RTIT and CR3: PIP, STS_on_CR3, one address space alone");

#define CTL    (ATOM_CTL(OS) | ATOM_CTL(USER))
#define STS    (ATOM_CTL(STS_EN) | ATOM_CTL(STS_ON_CR3))
#define ROUNDS 20
/* Bits of CR3 that PIP has and CR3_MATCH does not: PWT and PCD. */
#define CR3_LOW 0x18ull

/* Labels of the code below. */
extern const char switch_in[], switch_out[];

/* Load CR3 with `in`, branch, and load CR3 with `out`. */
void run_switch(uint64_t in, uint64_t out);
/* Clear CR0.PG and set it again, in 32-bit code. */
void run_unpaged(void);

__asm__(".pushsection .text\n"
	".globl run_switch, run_unpaged\n"
	"run_switch:\n"
	"	mov %rdi, %cr3\n"
	"switch_in:\n"
	"	cmp %eax, %eax\n"
	"	jz 1f\n"
	"	ud2\n"
	"1:	mov %rsi, %cr3\n"
	"switch_out:\n"
	"	ret\n"
	/* All addresses here are the same without paging. */
	"run_unpaged:\n"
	"	lgdt unpaged_pointer(%rip)\n"
	"	mov $0x10, %eax\n"
	"	mov %eax, %ds\n"
	"	mov %eax, %ss\n"
	"	push $0x18\n"
	"	lea 2f(%rip), %rax\n"
	"	push %rax\n"
	"	lretq\n"
	".code32\n"
	"2:	mov %cr0, %eax\n"
	"	and $0x7fffffff, %eax\n"
	"	mov %eax, %cr0\n"
	"	cmp %ecx, %ecx\n"
	"	jz 3f\n"
	"	ud2\n"
	"3:	or $0x80000000, %eax\n"
	"	mov %eax, %cr0\n"
	"	ljmp $8, $4f\n"
	".code64\n"
	"4:	ret\n"
	".popsection\n"
	".pushsection .data\n"
	".balign 8\n"
	"unpaged_gdt:\n"
	"	.quad 0, 0x00af9b000000ffff, 0x00cf93000000ffff, 0x00cf9b000000ffff\n"
	"unpaged_pointer:\n"
	"	.word 31\n"
	"	.quad unpaged_gdt\n"
	".popsection\n");

static struct trace t;
static struct twin twin;
static unsigned int wrong;

static void there_and_back(void)
{
	run_switch(twin.cr3[1], twin.cr3[0]);
}

static void low_bits(void)
{
	run_switch(twin.cr3[1] | CR3_LOW, twin.cr3[0]);
}

/* Execute a MOV to CR0 that does not change PG. */
static void write_protect(void)
{
	uint64_t cr0 = read_cr0();

	write_cr0(cr0 ^ CR0_WP);
	write_cr0(cr0);
}

static struct guest_atom_bytes run(uint64_t ctl, void (*fn)(void))
{
	trace_rtit(&t, ctl, fn);
	return trace_rtit_bytes(&t);
}

/* Without a filter the flow has only PIPs. */
static void pips(void)
{
	struct guest_atom_bytes bytes;

	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_NEVER, VPT_ATOM_ID_NEVER);
	bytes = run(CTL, there_and_back);
	ATOM_EXPECT(&bytes, "a PIP for each", ATOM(PSB, 0), ATOM_PIP(twin.cr3[1]),
		    ATOM_PIP(twin.cr3[0]));
	bytes = run(CTL, low_bits);
	ATOM_EXPECT(&bytes, "with all of CR3's low bits", ATOM(PSB, 0),
		    ATOM_PIP(twin.cr3[1] | CR3_LOW), ATOM_PIP(twin.cr3[0]));
	bytes = run(CTL, write_protect);
	ATOM_EXPECT(&bytes, "none for CR0 without a change of PG", ATOM(PSB, 0));
	bytes = run(ATOM_CTL(USER), there_and_back);
	ATOM_EXPECT(&bytes, "none out of context", ATOM(PSB, 0));
	bytes = run(CTL, run_unpaged);
	ATOM_EXPECT(&bytes, "paging goes off and on", ATOM(PSB, 0), ATOM(PIP, twin.cr3[0]),
		    ATOM_PIP(twin.cr3[0]));
}

static void time_stamps(void)
{
	struct guest_atom_bytes bytes;

	bytes = run(CTL | STS, there_and_back);
	ATOM_EXPECT(&bytes, "STS_on_CR3: STS after PIP", ATOM(PSB, 0), ATOM_PIP(twin.cr3[1]),
		    ATOM(STS, 0), ATOM_PIP(twin.cr3[0]), ATOM(STS, 0));
	bytes = run(CTL | ATOM_CTL(STS_ON_CR3), there_and_back);
	ATOM_EXPECT(&bytes, "not without STS_En", ATOM(PSB, 0), ATOM_PIP(twin.cr3[1]),
		    ATOM_PIP(twin.cr3[0]));
	bytes = run(CTL | STS | ATOM_CTL(LESS_PKTS), there_and_back);
	ATOM_EXPECT(&bytes, "LESS_PKTS: not out of the filter", ATOM(PSB, 0), ATOM_PIP(twin.cr3[1]),
		    ATOM_PIP(twin.cr3[0]));
	bytes = run(ATOM_CTL(USER) | STS, there_and_back);
	ATOM_EXPECT(&bytes, "out of context: STS alone", ATOM(PSB, 0), ATOM(STS, 0), ATOM(STS, 0));
	guest_atom_drv_cr3(&t.atom, twin.cr3[1]);
	bytes = run(CTL | STS, there_and_back);
	ATOM_EXPECT(&bytes, "CR3En: no PIP, but STS", ATOM(PSB, 0), ATOM(STS, 0), ATOM(STS, 0));
	guest_atom_drv_cr3(&t.atom, 0);
}

static noinline void visit(unsigned int space, uint64_t n)
{
	write_cr3(twin.cr3[space]);
	wrong += TWIN_FUNCTION(n) != twin_result(space, n);
}

static void visits(void)
{
	uint64_t i;

	for (i = 0; i < ROUNDS; i++) {
		visit(1, i);
		visit(0, i % 9);
	}
}

static void one_space(void)
{
	struct guest_atom_bytes bytes;

	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_NEVER);
	guest_atom_drv_cr3(&t.atom, twin.cr3[1]);
	bytes = run(CTL, there_and_back);
	ATOM_EXPECT(&bytes, "the other space alone", ATOM(PSB, 0), ATOM(PGE, switch_in),
		    ATOM(TNT, 1), ATOM(PGD, switch_out));
	bytes = run(CTL, low_bits);
	ATOM_EXPECT(&bytes, "bits 4:3 of CR3 do not count", ATOM(PSB, 0), ATOM(PGE, switch_in),
		    ATOM(TNT, 1), ATOM(PGD, switch_out));
	bytes = run(CTL | STS | ATOM_CTL(LESS_PKTS), there_and_back);
	ATOM_EXPECT(&bytes, "the order of its packets", ATOM(PSB, 0), ATOM(STS, 0),
		    ATOM(PGE, switch_in), ATOM(TNT, 1), ATOM(PGD, switch_out));
	/* FilterEn is frozen in the other space: a jump into the range has no effect. */
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_NEVER);
	guest_atom_drv_range(&t.atom, 0, (const void *)(uintptr_t)run_switch, switch_out);
	bytes = run(CTL, there_and_back);
	ATOM_EXPECT(&bytes, "FilterEn is frozen out of context", ATOM(PSB, 0),
		    ATOM(PGE, GUEST_FLOW_ANY), ATOM(PGD, switch_out));
	/*
	 * The MOV to CR3 itself enters the range at its base, in the context after the instruction.
	 */
	guest_atom_drv_range(&t.atom, 0, switch_in, switch_out);
	bytes = run(CTL, there_and_back);
	ATOM_EXPECT(&bytes, "and moves with what MOV to CR3 leads to", ATOM(PSB, 0),
		    ATOM(PGE, switch_in), ATOM(TNT, 1), ATOM(PGD, switch_out));
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_NEVER);
}

static void many(void)
{
	guest_atom_drv_cr3(&t.atom, twin.cr3[1]);
	run(CTL, visits);
	trace_report(&t);
	report_equal(t.ascan.count[VPT_ATOM_PKT_PGE], ROUNDS, "the other space, many times");
	guest_atom_drv_cr3(&t.atom, twin.cr3[1] | 0x20);
	run(CTL, visits);
	report_equal(t.ascan.count[VPT_ATOM_PKT_PGE], 0, "bit 5 of CR3 counts");
	guest_atom_drv_cr3(&t.atom, twin.cr3[0]);
	run(CTL, visits);
	trace_report(&t);
	report_equal(t.ascan.count[VPT_ATOM_PKT_PGE], ROUNDS + 1, "the space that it begins in");
	guest_atom_drv_cr3(&t.atom, 0);
	run(CTL | STS, visits);
	trace_report(&t);
	report_equal(t.ascan.count[VPT_ATOM_PKT_PIP], 2 * ROUNDS, "without CR3En: PIPs");
	report_equal(t.ascan.count[VPT_ATOM_PKT_STS], 2 * ROUNDS, "and STS");
	report_equal(wrong, 0, "each space ran its own code");
}

void payload(void)
{
	twin_init(&twin);
	write_cr3(twin.cr3[0]);
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t)) {
		visits();
		return;
	}
	pips();
	time_stamps();
	one_space();
	many();
}
