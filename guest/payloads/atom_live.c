// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes registers of Atom's RTIT while a trace runs (RTIT 3.3.2), and checks the effect of each on
 * the flow from the next instruction on.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("RTIT's registers, written while the trace runs");

#define CTL (ATOM_CTL(OS) | ATOM_CTL(USER))

/* Labels of the code below. */
extern const char write_base[], write_first[], write_one[], write_back_one[];
extern const char write_second[], write_two[], write_back_two[], write_limit[];
extern const char nlip_back[], nlip_limit[];

/* Write one value, branch, call and return; then do the same with the other value. */
void run_write(uint32_t msr, uint64_t first, uint64_t second);
/* Save and clear LAST_CALL_NLIP in a call, and restore it or not. */
void run_nlip(bool restore);

__asm__(".pushsection .text\n"
	".globl run_write, run_nlip\n"
	"run_write:\n"
	"	mov %rdx, %r8\n"
	"	jmp write_base\n"
	"1:	ret\n"
	"write_base:\n"
	"	mov %edi, %ecx\n"
	"	mov %rsi, %rax\n"
	"	mov %rsi, %rdx\n"
	"	shr $32, %rdx\n"
	"	wrmsr\n"
	"write_first:\n"
	"	cmp %eax, %eax\n"
	"	jz write_one\n"
	"	ud2\n"
	"write_one:\n"
	"	call 1b\n"
	"write_back_one:\n"
	"	mov %r8, %rax\n"
	"	mov %r8, %rdx\n"
	"	shr $32, %rdx\n"
	"	wrmsr\n"
	"write_second:\n"
	"	cmp %eax, %eax\n"
	"	jz write_two\n"
	"	ud2\n"
	"write_two:\n"
	"	call 1b\n"
	"write_back_two:\n"
	"	nop\n"
	"write_limit:\n"
	"	ret\n"
	"run_nlip:\n"
	"	jmp 4f\n"
	"2:	mov $0x76f, %ecx\n"
	"	rdmsr\n"
	"	mov %eax, %r8d\n"
	"	mov %edx, %r9d\n"
	"	xor %eax, %eax\n"
	"	xor %edx, %edx\n"
	"	wrmsr\n"
	"	test %dil, %dil\n"
	"	jz 3f\n"
	"	mov %r8d, %eax\n"
	"	mov %r9d, %edx\n"
	"	wrmsr\n"
	"3:	ret\n"
	"4:	nop\n"
	"	call 2b\n"
	"nlip_back:\n"
	"	nop\n"
	"nlip_limit:\n"
	"	ret\n"
	".popsection\n");

static struct trace t;

/* The MSR of the next run_write(). */
static uint32_t msr;
static uint64_t first, second;

static void write_both(void)
{
	run_write(msr, first, second);
}

static struct guest_atom_bytes run(uint64_t ctl, uint32_t which, uint64_t a, uint64_t b)
{
	msr = which;
	first = a;
	second = b;
	trace_rtit(&t, ctl, write_both);
	return trace_rtit_bytes(&t);
}

/* Return RTIT_CTL of a run without some bits. */
static uint64_t without(uint64_t bits)
{
	return (t.atom.ctl | CTL | ATOM_CTL(TRACE_EN) | ATOM_CTL(TRACE_ACTIVE)) & ~bits;
}

#define BEGIN	    ATOM(PSB, 0), ATOM(PGE, run_write)
#define FIRST_PLAIN ATOM(TNT, 1), ATOM(TIP, write_back_one)
#define REST_PLAIN  ATOM(TNT, 1), ATOM(TIP, write_back_two), ATOM(PGD, write_limit)

static void control(void)
{
	struct guest_atom_bytes bytes;

	bytes = run(CTL, VPT_ATOM_MSR_CTL, without(ATOM_CTL(OS)), without(0));
	ATOM_EXPECT(&bytes, "OS off and on", BEGIN, ATOM(PGD, write_first), ATOM(PGE, write_second),
		    REST_PLAIN);
	bytes = run(CTL, VPT_ATOM_MSR_CTL, without(ATOM_CTL(USER)), without(0));
	ATOM_EXPECT(&bytes, "USER off and on: nothing at CPL 0", BEGIN, FIRST_PLAIN, REST_PLAIN);
	bytes = run(CTL, VPT_ATOM_MSR_CTL, without(0) | ATOM_CTL(CMPRS_RET), without(0));
	ATOM_EXPECT(&bytes, "CMPRS_RET on and off", BEGIN, ATOM(TNT, 1), ATOM(TNT, 1), REST_PLAIN);
	bytes = run(CTL | ATOM_CTL(CMPRS_RET), VPT_ATOM_MSR_CTL, without(0),
		    without(0) | ATOM_CTL(CMPRS_RET));
	ATOM_EXPECT(&bytes, "CMPRS_RET off and on", BEGIN, FIRST_PLAIN, ATOM(TNT, 1), ATOM(TNT, 1),
		    ATOM(PGD, write_limit));
	bytes = run(CTL, VPT_ATOM_MSR_CTL, without(ATOM_CTL(TRACE_ACTIVE)), without(0));
	ATOM_EXPECT(&bytes, "TraceActive off and on: no FUP.PGD, PSB", BEGIN, ATOM(PSB, 0),
		    ATOM(PGE, write_second), REST_PLAIN);
	bytes = run(CTL, VPT_ATOM_MSR_CTL, without(ATOM_CTL(TRACE_EN)), without(0));
	ATOM_EXPECT(&bytes, "Trace_En off and on: the same", BEGIN, ATOM(PSB, 0),
		    ATOM(PGE, write_second), REST_PLAIN);
	bytes = run(CTL, VPT_ATOM_MSR_CTL, without(0), without(0));
	ATOM_EXPECT(&bytes, "the same value: nothing", BEGIN, FIRST_PLAIN, REST_PLAIN);
}

static void filters(void)
{
	const uint64_t never = VPT_ATOM_ID_NEVER << VPT_ATOM_EVENTS_STOP_SHIFT;
	const uintptr_t limit = (uintptr_t)write_limit;
	struct guest_atom_bytes bytes;

	bytes = run(CTL, VPT_ATOM_MSR_EVENTS, never | VPT_ATOM_ID_NEVER,
		    never | VPT_ATOM_ID_RANGE0);
	ATOM_EXPECT(&bytes, "EVENTS: never, and the range again", BEGIN, ATOM(PGD, write_first),
		    ATOM(PGE, write_two), ATOM(TIP, write_back_two), ATOM(PGD, write_limit));
	bytes = run(CTL, VPT_ATOM_MSR_EVENTS, never | VPT_ATOM_ID_NEVER,
		    never | VPT_ATOM_ID_ALWAYS);
	report(t.ascan.count[VPT_ATOM_PKT_PGE] == 2 && t.ascan.count[VPT_ATOM_PKT_PGD] == 1,
	       "EVENTS: never, and then always");
	bytes = run(CTL, VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_RANGE0, never | VPT_ATOM_ID_RANGE0);
	ATOM_EXPECT(&bytes, "EVENTS: the range to stop at, from inside", BEGIN,
		    ATOM(TRACE_STOP, 0));
	bytes = run(CTL, VPT_ATOM_MSR_STATUS, 0, ATOM_STATUS(FILTER_EN));
	ATOM_EXPECT(&bytes, "STATUS: FilterEn cleared, until a branch", BEGIN,
		    ATOM(PGD, write_first), ATOM(PGE, write_one), ATOM(TIP, write_back_one),
		    REST_PLAIN);
	bytes = run(CTL, VPT_ATOM_MSR_LIP2, (uintptr_t)write_back_one, limit);
	ATOM_EXPECT(&bytes, "LIP2: a limit that a return goes to", BEGIN, FIRST_PLAIN,
		    ATOM(PGD, write_base), ATOM(PGE, write_two), ATOM(TIP, write_back_two),
		    ATOM(PGD, write_limit));
	guest_atom_drv_cr3(&t.atom, read_cr3());
	bytes = run(CTL, VPT_ATOM_MSR_CR3_MATCH, 0x12345000, read_cr3());
	ATOM_EXPECT(&bytes, "CR3_MATCH: another space, and this one", BEGIN, ATOM(PGD, write_first),
		    ATOM(PGE, write_second), REST_PLAIN);
	guest_atom_drv_cr3(&t.atom, 0);
}

/* Sizes of the first TIP and of the second. */
static uint8_t tip_bytes[2];
static unsigned int tips;

static void note_tip(void *opaque, const struct vpt_atom_packet *packet)
{
	(void)opaque;
	if (packet->kind == VPT_ATOM_PKT_TIP && tips < 2)
		tip_bytes[tips++] = packet->size;
}

/* Write two values of LAST_LIP, and check the size of the TIP behind each. */
static void last_lip(uint64_t a, uint64_t b, uint8_t size_a, uint8_t size_b)
{
	struct guest_atom_bytes bytes = run(CTL, VPT_ATOM_MSR_LAST_LIP, a, b);
	enum vpt_status end;

	ATOM_EXPECT(&bytes, "LAST_LIP: the flow is the same", BEGIN, FIRST_PLAIN, REST_PLAIN);
	tips = 0;
	guest_atom_walk(&bytes, note_tip, NULL, &end);
	report(tips == 2 && tip_bytes[0] == size_a && tip_bytes[1] == size_b,
	       "LAST_LIP: TIPs of %u and %u bytes", size_a, size_b);
}

static void compression(void)
{
	const uint64_t here = VPT_ATOM_MASK(LAST_LIP, VALID) | (uintptr_t)write_base >> 16;
	struct guest_atom_bytes bytes;

	last_lip(0, here, 5, 3);
	last_lip(here, 0, 3, 5);
	last_lip(here | 0xabcd0000, here, 5, 3);
	bytes = run(CTL, VPT_ATOM_MSR_PKT_CNT, 0x800, 0x20000);
	ATOM_EXPECT(&bytes, "PKT_CNT with the bit set that is due: PSB", BEGIN, ATOM(PSB, 0),
		    FIRST_PLAIN, REST_PLAIN);
}

static bool restore;

static void switch_task(void)
{
	run_nlip(restore);
}

/* A system that switches tasks saves and loads LAST_CALL_NLIP. */
static void last_call(void)
{
	struct guest_atom_bytes bytes;

	guest_atom_drv_range(&t.atom, 0, (const void *)(uintptr_t)run_nlip, nlip_limit);
	restore = true;
	trace_rtit(&t, CTL | ATOM_CTL(CMPRS_RET), switch_task);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT(&bytes, "LAST_CALL_NLIP put back: the return matches", ATOM(PSB, 0),
		    ATOM(PGE, run_nlip), ATOM(TNT, 0), ATOM(TNT, 1), ATOM(PGD, nlip_limit));
	restore = false;
	trace_rtit(&t, CTL | ATOM_CTL(CMPRS_RET), switch_task);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT(&bytes, "LAST_CALL_NLIP lost: it does not", ATOM(PSB, 0), ATOM(PGE, run_nlip),
		    ATOM(TNT, 1), ATOM(TIP, nlip_back), ATOM(PGD, nlip_limit));
}

void payload(void)
{
	write_cr3(paging_new_space());
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t))
		return;
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_NEVER);
	guest_atom_drv_range(&t.atom, 0, (const void *)(uintptr_t)run_write, write_limit);
	control();
	filters();
	compression();
	last_call();
}
