// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Buffer_Overflow of Atom's RTIT under software control (RTIT 4.2.5). Software sets it while a
 * trace runs, while it is out of context, or before it begins. The processor or software clears it.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/noise.h"
#include "pt/trace.h"

PAYLOAD("RTIT's buffer overflow, set and cleared by software");

#define CTL	 (ATOM_CTL(OS) | ATOM_CTL(USER))
#define OVERFLOW ATOM_STATUS(BUFFER_OVERFLOW)

/* Labels of the code below. */
extern const char set_base[], set_next[], set_in[], set_limit[];

void run_set(void);

__asm__(".pushsection .text\n"
	".globl run_set\n"
	/* An outcome, then the overflow, then a TIP. */
	"run_set:\n"
	"	jmp set_base\n"
	"	ud2\n"
	"set_base:\n"
	"	mov $0x769, %ecx\n"
	"	xor %edx, %edx\n"
	"	mov $9, %eax\n"
	"	cmp %ecx, %ecx\n"
	"	jz 1f\n"
	"	ud2\n"
	"1:	wrmsr\n"
	"set_next:\n"
	"	nop\n"
	"	nop\n"
	"	lea set_in(%rip), %rax\n"
	"	jmp *%rax\n"
	"	ud2\n"
	"set_in:\n"
	"	nop\n"
	"set_limit:\n"
	"	ret\n"
	".popsection\n");

static struct trace t;
static uint64_t space[2];

/* The overflow ends on its own when the buffer is empty, at most one instruction later. */
static void in_context(void)
{
	struct guest_flow got[8];
	struct guest_atom_bytes bytes;

	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_NEVER);
	guest_atom_drv_range(&t.atom, 0, set_base, set_limit);
	trace_rtit(&t, CTL, run_set);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT(&bytes, "set while the trace runs", ATOM(PSB, 0), ATOM(PGE, set_base),
		    ATOM(TNT, 1), ATOM(BUF_OVF, GUEST_FLOW_ANY), ATOM(TIP, set_in),
		    ATOM(PGD, set_limit));
	guest_atom_flow_read(&bytes, got, ARRAY_SIZE(got));
	report(got[3].value - (uintptr_t)set_next <= 1, "FUP.BuffOvf says what runs next");
	report(!(t.atom.status & OVERFLOW), "Buffer_Overflow is clear again");
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_NEVER);
}

static bool clear_again, early;
static uint64_t status_in, status_after_ctl, status_later;
static uint32_t offset_before, offset_in;

static inline void tip(void)
{
	__asm__ volatile("lea 1f(%%rip), %%rax\n jmp *%%rax\n 1:" : : : "rax", "memory");
}

/* Out of context it cannot end: enter space[1], and leave it. */
static void out_of_context(void)
{
	offset_before = guest_atom_drv_offset();
	wrmsr(VPT_ATOM_MSR_STATUS, OVERFLOW);
	noise(5);
	status_in = rdmsr(VPT_ATOM_MSR_STATUS);
	wrmsr(VPT_ATOM_MSR_CTL, rdmsr(VPT_ATOM_MSR_CTL));
	status_after_ctl = rdmsr(VPT_ATOM_MSR_STATUS);
	offset_in = guest_atom_drv_offset();
	if (clear_again)
		wrmsr(VPT_ATOM_MSR_STATUS, 0);
	write_cr3(space[1]);
	tip();
	status_later = rdmsr(VPT_ATOM_MSR_STATUS);
	write_cr3(space[0]);
}

/* In space[1] the flow begins with this kind of packet. */
static void traced_space(enum vpt_atom_pkt_kind first, const char *what)
{
	struct guest_flow got[4];
	struct guest_atom_bytes bytes;
	size_t count;

	guest_atom_drv_cr3(&t.atom, space[1]);
	trace_rtit(&t, CTL, out_of_context);
	guest_atom_drv_cr3(&t.atom, 0);
	bytes = trace_rtit_bytes(&t);
	count = guest_atom_flow_read(&bytes, got, ARRAY_SIZE(got));
	report(count == 4 && got[0].kind == VPT_ATOM_PKT_PSB && got[1].kind == first &&
		       got[2].kind == VPT_ATOM_PKT_TIP && got[3].kind == VPT_ATOM_PKT_PGD,
	       "%s: PSB, %s, TIP, FUP.PGD", what, vpt_atom_pkt_name(first));
	report(status_in & OVERFLOW, "out of context it stays");
	report(status_after_ctl & OVERFLOW, "a drain does not end it");
	report_equal(offset_in, offset_before, "nothing is sent meanwhile");
	report(!(status_later & OVERFLOW), "it is over in context");
}

static void by_context(void)
{
	clear_again = false;
	traced_space(VPT_ATOM_PKT_BUF_OVF, "ended by the processor");
	clear_again = true;
	traced_space(VPT_ATOM_PKT_PGE, "ended by software");
}

/* TriggerEn rises during an overflow: PSB, and no FUP.PGE (4.2.5). */
static void before_the_start(void)
{
	const uint64_t on = t.atom.ctl | CTL | ATOM_CTL(TRACE_EN);
	struct guest_atom_bytes bytes;
	struct guest_flow got[16];
	size_t count;

	guest_atom_drv_start(&t.atom, CTL);
	guest_atom_drv_stop(&t.atom);
	wrmsr(VPT_ATOM_MSR_OFFSET, 0);
	wrmsr(VPT_ATOM_MSR_TNT_BUFF, 1);
	wrmsr(VPT_ATOM_MSR_STATUS, OVERFLOW);
	early = rdmsr(VPT_ATOM_MSR_STATUS) & OVERFLOW;
	wrmsr(VPT_ATOM_MSR_CTL, on);
	wrmsr(VPT_ATOM_MSR_CTL, on | ATOM_CTL(TRACE_ACTIVE));
	tip();
	guest_atom_drv_stop(&t.atom);
	t.bytes = guest_atom_drv_bytes(&t.atom);
	bytes = trace_rtit_bytes(&t);
	guest_atom_scan(&t.ascan, &bytes);
	count = guest_atom_flow_read(&bytes, got, ARRAY_SIZE(got));
	report(early, "set with the trace off it stays");
	report(count >= 2 && got[0].kind == VPT_ATOM_PKT_PSB && got[1].kind == VPT_ATOM_PKT_BUF_OVF,
	       "set before the start: PSB, FUP.BuffOvf");
	report_equal(t.ascan.count[VPT_ATOM_PKT_PGE], 0, "and no FUP.PGE");
}

void payload(void)
{
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t))
		return;
	space[0] = paging_new_space();
	space[1] = paging_new_space();
	write_cr3(space[0]);
	in_context();
	by_context();
	before_the_start();
}
