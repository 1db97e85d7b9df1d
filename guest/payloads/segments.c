// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * 32-bit code in segments with nonzero bases. Near RETs cross them: one to the RIP of its CALL in
 * another segment, one to the LIP of its CALL by another RIP. CPUID.14H.0:ECX[31] determines which
 * of the two is compressed (33.3.1.1, 33.4.2.2).
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("32-bit code in segments with different bases, near RETs across them");

#define ROUNDS	  40 /* --arg: another number */
#define VEC_TIMER 0x63u

/* Descriptors and selectors. Segment C begins 16 bytes into segment A. */
#define SEL_A  0x18
#define SEL_B  0x20
#define SEL_C  0x28
#define CODE32 0x00cf9b000000ffffull /* CPL 0, limit 4 GiB */

/* Each part of a round adds one of these to the sum. */
#define LEAF  1u
#define AFTER 1000u
#define BACK  30000u
#define WRONG 0x40000000u

extern const uint8_t segment_a[], segment_b[], segment_c[];

/* Run `rounds` rounds and return the sum. */
uint64_t segments_run(uint64_t rounds);

#define TEXT(x)	 #x
#define VALUE(x) TEXT(x)

__asm__(".pushsection .text\n"
	".globl segments_run, segment_a, segment_b, segment_c\n"
	"segments_run:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n"
	"	push %r13\n	push %r14\n	push %r15\n"
	/* 32-bit code needs data segments. */
	"	mov $0x10, %eax\n"
	"	mov %eax, %ss\n	mov %eax, %ds\n	mov %eax, %es\n"
	"	mov %edi, %ecx\n"
	"	xor %ebx, %ebx\n"
	"	ljmp *1f(%rip)\n"
	"1:	.long a_main - segment_a\n"
	"	.word " VALUE(
		SEL_A) "\n"
		       "segments_out:\n"
		       "	mov %ebx, %eax\n"
		       "	pop %r15\n	pop %r14\n	pop %r13\n"
		       "	pop %r12\n	pop %rbp\n	pop %rbx\n"
		       "	ret\n"

		       ".code32\n"
		       "	.balign 64\n"
		       "segment_a:\n"
		       "a_leaf:\n"
		       "	testb $1, %cl\n"
		       "	jz 2f\n"
		       "	add $" VALUE(
			       LEAF) ", %ebx\n"
				     "2:	ret\n"
				     /* Code from here on has other offsets in segment C. */
				     "	.org segment_a + 0x10\n"
				     "segment_c:\n"
				     "a_main:\n"
				     "	call a_leaf\n"
				     "	mov $(a_leaf - segment_a), %eax\n"
				     "	call *%eax\n"
				     "	jmp a_call\n"
				     "	.org segment_a + 0x40\n"
				     "a_call:\n"
				     "	call a_cross\n"
				     "	add $" VALUE(
					     WRONG) ", %ebx\n"
						    "a_same:\n"
						    "	call a_move\n"
						    /* In segment C. */
						    "	add $" VALUE(
							    BACK) ", %ebx\n"
								  "	ljmp $" VALUE(
									  SEL_A) ", $(a_next - "
										 "segment_a)\n"
										 "a_next:\n"
										 "	dec %ecx\n"
										 "	jnz "
										 "a_main\n"
										 "	ljmp $8, "
										 "$segments_out\n"
										 /* The RIP of the CALL, in segment B. */
										 "a_cross:\n"
										 "	ljmp "
										 "$" VALUE(
											 SEL_B) ", "
												"$("
												"b_"
												"re"
												"t "
												"- "
												"se"
												"gm"
												"en"
												"t_"
												"b)"
												"\n"
												/* The LIP of the CALL, in segment C. */
												"a_"
												"mo"
												"ve"
												":"
												"\n"
												"	subl $(segment_c - segment_a), (%esp)\n"
												"	ljmp $" VALUE(
													SEL_C) ", $(c_ret - segment_c)\n"
													       "c_ret:\n"
													       "	ret\n"

													       "	.balign 64\n"
													       "segment_b:\n"
													       "b_ret:\n"
													       "	call b_leaf\n"
													       "	ret\n"
													       "b_leaf:\n"
													       "	ret\n"
													       /* The RIP that the CALL at a_call returns to. */
													       "	.org segment_b + 0x45\n"
													       "	add $" VALUE(
														       AFTER) ", %ebx\n"
															      "	ljmp $" VALUE(
																      SEL_A) ", $(a_same - segment_a)\n"
																	     ".code64\n"
																	     ".popsection\n");

static uint64_t gdt[6] = {
	0, 0x00af9b000000ffff, /* 08: 64-bit code */
	0x00cf93000000ffff,    /* 10: data */
};

struct gdt_pointer {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

static uint64_t code32_at(const uint8_t *start)
{
	uint64_t base = (uintptr_t)start;

	return CODE32 | (base & 0xffffff) << 16 | (base >> 24 & 0xff) << 56;
}

static void load_gdt(void)
{
	struct gdt_pointer pointer = {sizeof(gdt) - 1, (uintptr_t)gdt};

	gdt[SEL_A / 8] = code32_at(segment_a);
	gdt[SEL_B / 8] = code32_at(segment_b);
	gdt[SEL_C / 8] = code32_at(segment_c);
	__asm__ volatile("lgdt %0" : : "m"(pointer));
}

static uint64_t rounds, sum, ticks, elsewhere;

static void arm(void)
{
	outl(VPT_PORT_TIMER, VEC_TIMER << 24 | (uint32_t)(13 + ticks % 40));
}

/* Interrupts occur in all three segments and in 64-bit code. */
static void on_timer(struct trap_frame *f)
{
	if (f->cs == SEL_A || f->cs == SEL_B || f->cs == SEL_C)
		elsewhere++;
	ticks++;
	arm();
}

static void work(void)
{
	arm();
	sti();
	sum = segments_run(rounds);
	cli();
	outl(VPT_PORT_TIMER, 0);
}

void payload(void)
{
	struct trace t;

	rounds = boot->arg[0] ? boot->arg[0] : ROUNDS;
	load_gdt();
	idt_hook(VEC_TIMER, on_timer);
	trace_simple(&t, work);
	report_equal(sum, rounds * (AFTER + BACK) + 2 * ((rounds + 1) / 2) * LEAF,
		     "sum of all rounds");
	report(elsewhere > rounds / 4, "interrupts in segments with a base: %lu of %lu", elsewhere,
	       ticks);
}
