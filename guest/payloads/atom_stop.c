// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TraceStop of Atom's RTIT (RTIT 3.3.5, 4.2.11). Execution enters a range sequentially, and by a
 * jump. The payload checks the state afterwards and how a trace resumes (appendix B 4.2.1).
 */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("RTIT's TraceStop: what ends a trace, and what it leaves");

#define CTL (ATOM_CTL(OS) | ATOM_CTL(USER))

/* Labels of the code below. */
extern const char walk_start[], walk_stop[], walk_end[];
extern const char jump_start[], jump_next[], jump_stop[], jump_end[];
extern const char inner_start[], inner_active[], inner_base[], inner_limit[];

void run_walk(void);
void run_jump(void);
/* WRMSRs of RTIT_CTL that set Trace_En and TraceActive inside the stop range. */
void run_inner(uint32_t on, uint32_t active);

__asm__(".pushsection .text\n"
	".globl run_walk, run_jump, run_inner\n"
	/* Three outcomes, then sequential entry to the stop range. */
	"run_walk:\n"
	"	lea walk_start(%rip), %rax\n"
	"	jmp *%rax\n"
	"walk_start:\n"
	"	cmp %eax, %eax\n"
	"	jz 1f\n"
	"	ud2\n"
	"1:	jnz 2f\n"
	"	jz 2f\n"
	"	ud2\n"
	"2:	nop\n"
	"walk_stop:\n"
	"	nop\n"
	"walk_end:\n"
	"	jz 3f\n"
	"	ud2\n"
	"3:	ret\n"
	/* Two outcomes, then a jump into the middle of it. */
	"run_jump:\n"
	"	lea jump_start(%rip), %rax\n"
	"	jmp *%rax\n"
	"	ud2\n"
	"jump_start:\n"
	"	cmp %eax, %eax\n"
	"	jz 4f\n"
	"	ud2\n"
	"4:	jnz 5f\n"
	"	jmp 5f\n"
	"jump_next:\n"
	"	ud2\n"
	"jump_stop:\n"
	"	nop\n"
	"5:	nop\n"
	"jump_end:\n"
	"	ret\n"
	/*
	 * Tracing is enabled in the range: only its base stops the trace, or a branch into the
	 * range.
	 */
	"run_inner:\n"
	"	jmp inner_start\n"
	"	ud2\n"
	"inner_base:\n"
	"	nop\n"
	"inner_start:\n" ATOM_ASM_ENABLE "inner_active:\n"
	"	cmp %eax, %eax\n"
	"	jnz inner_base\n"
	"	nop\n"
	"	jz 6f\n"
	"	ud2\n"
	"6:	nop\n"
	"inner_limit:\n"
	"	ret\n"
	".popsection\n");

static struct trace t;

static void stop_range(const void *base, const void *limit)
{
	guest_atom_drv_range(&t.atom, 1, base, limit);
}

/* Check the state that a TraceStop leaves, for every way to it. */
static void check_left(uint32_t tnt_buff, const char *what)
{
	const uint64_t on = ATOM_CTL(TRACE_EN);

	report_equal(t.atom.stopped & (on | ATOM_CTL(TRACE_ACTIVE)), on,
		     "TraceActive is clear, Trace_En is not");
	report_equal(t.atom.status & (ATOM_STATUS(TRIGGER_EN) | ATOM_STATUS(CONTEXT_EN)),
		     ATOM_STATUS(CONTEXT_EN), "TriggerEn is clear, ContextEn is not");
	report_equal(t.atom.tnt_buff, tnt_buff, what);
	report_equal(t.ascan.count[VPT_ATOM_PKT_TRACE_STOP], 1, "one TraceStop packet");
	report_equal(t.ascan.last, VPT_ATOM_PKT_TRACE_STOP, "it is the last one");
}

static void walks(void)
{
	struct guest_atom_bytes bytes;

	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_RANGE1);
	stop_range(walk_stop, walk_end);
	trace_rtit(&t, CTL, run_walk);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT_TAIL(&bytes, "walking onto the range", ATOM(TIP, walk_start),
			 ATOM(TRACE_STOP, 0));
	check_left(0xd, "the three outcomes are in TNT_BUFF");
}

static void jumps(void)
{
	struct guest_atom_bytes bytes;

	/* The stop range is inside the filter. */
	stop_range(jump_stop, jump_end);
	trace_rtit(&t, CTL, run_jump);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT_TAIL(&bytes, "jumping into the range", ATOM(TIP, jump_start),
			 ATOM(TRACE_STOP, 0));
	check_left(0x6, "the two outcomes are in TNT_BUFF");

	/* The stop range is outside the filter: the branch's own packets come first. */
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_RANGE1);
	guest_atom_drv_range(&t.atom, 0, jump_start, jump_stop);
	trace_rtit(&t, CTL, run_jump);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT(&bytes, "out of the filter and into the range", ATOM(PSB, 0),
		    ATOM(PGE, jump_start), ATOM(TNT, 1), ATOM(TNT, 0), ATOM(PGD, jump_next),
		    ATOM(TRACE_STOP, 0));
	check_left(1, "and FUP.PGD has taken the outcomes along");
	report(!(t.atom.status & ATOM_STATUS(FILTER_EN)), "FilterEn is clear");
}

/* Resume with the same configuration, with and without the old TNT_BUFF. */
static void again(void)
{
	struct guest_atom_bytes bytes;
	uint32_t stopped_at;

	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_RANGE1);
	stop_range(walk_stop, walk_end);
	trace_rtit(&t, CTL, run_walk);
	stopped_at = t.atom.end_offset;
	report(guest_atom_drv_restart(&t.atom), "once more with the same configuration");
	run_jump();
	guest_atom_drv_stop(&t.atom);
	report(t.atom.status & ATOM_STATUS(TRIGGER_EN), "the trace goes on");
	bytes = trace_rtit_bytes(&t);
	bytes.buf += stopped_at;
	bytes.len = t.atom.end_offset - stopped_at;
	guest_atom_scan(&t.ascan, &bytes);
	report(t.ascan.end == VPT_OK && t.ascan.first == VPT_ATOM_PKT_PSB &&
		       t.ascan.count[VPT_ATOM_PKT_PGE] == 1,
	       "with PSB and FUP.PGE behind the TraceStop");
}

/* Old outcomes in TNT_BUFF are sent before the next FUP.PGE (4.2.8). */
static void stale(void)
{
	const uint64_t on = t.atom.ctl | CTL | ATOM_CTL(TRACE_EN);
	struct guest_flow got[8];
	struct guest_atom_bytes bytes;
	size_t i;

	trace_rtit(&t, CTL, run_walk);
	wrmsr(VPT_ATOM_MSR_OFFSET, 0);
	wrmsr(VPT_ATOM_MSR_CTL, on);
	wrmsr(VPT_ATOM_MSR_CTL, on | ATOM_CTL(TRACE_ACTIVE));
	guest_atom_drv_stop(&t.atom);
	t.bytes = guest_atom_drv_bytes(&t.atom);
	bytes = trace_rtit_bytes(&t);
	guest_atom_flow_read(&bytes, got, ARRAY_SIZE(got));
	report(got[0].kind == VPT_ATOM_PKT_PSB, "without a reset of TNT_BUFF: PSB");
	for (i = 1; i < 4; i++)
		report(got[i].kind == VPT_ATOM_PKT_TNT && got[i].value == (i != 2),
		       "an outcome of the trace before");
	report(got[4].kind == VPT_ATOM_PKT_PGE, "FUP.PGE");
}

static void ids(void)
{
	struct guest_atom_bytes bytes;

	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_ALWAYS);
	trace_rtit(&t, CTL, run_walk);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT(&bytes, "always: at once", ATOM(PSB, 0), ATOM(TRACE_STOP, 0));
	check_left(1, "before anything ran");
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, (enum vpt_atom_event_id)4);
	trace_rtit(&t, CTL, run_walk);
	report(!t.ascan.count[VPT_ATOM_PKT_TRACE_STOP], "a reserved ID stops nothing");
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_RANGE1);
	guest_atom_drv_range(&t.atom, 0, walk_stop, walk_end);
	stop_range(jump_stop, jump_end);
	trace_rtit(&t, CTL, run_walk);
	report(!t.ascan.count[VPT_ATOM_PKT_TRACE_STOP], "RANGE0 does not stop for RANGE1's ID");
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_EITHER);
	trace_rtit(&t, CTL, run_walk);
	check_left(0xd, "either range stops");
}

/* There is no TraceStop out of context (4.2.11). */
static void out_of_context(void)
{
	struct guest_atom_bytes bytes;

	trace_rtit(&t, ATOM_CTL(USER), run_walk);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT(&bytes, "no stop while ContextEn is clear", ATOM(PSB, 0));
	report(t.atom.status & ATOM_STATUS(TRIGGER_EN), "TriggerEn stays");
}

static void enabled_inside(void)
{
	const uint32_t on = (uint32_t)(t.atom.ctl | CTL | ATOM_CTL(TRACE_EN));
	struct guest_atom_bytes bytes;

	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_RANGE1);
	stop_range(inner_base, inner_limit);
	guest_atom_drv_start(&t.atom, CTL);
	guest_atom_drv_stop(&t.atom);
	wrmsr(VPT_ATOM_MSR_OFFSET, 0);
	wrmsr(VPT_ATOM_MSR_TNT_BUFF, 1);
	run_inner(on, on | (uint32_t)ATOM_CTL(TRACE_ACTIVE));
	guest_atom_drv_stop(&t.atom);
	t.bytes = guest_atom_drv_bytes(&t.atom);
	bytes = trace_rtit_bytes(&t);
	ATOM_EXPECT(&bytes, "enabled inside: a branch into it stops", ATOM(PSB, 0),
		    ATOM(PGE, inner_active), ATOM(TRACE_STOP, 0));
	report_equal(t.atom.tnt_buff, 0x5, "after the branch that does not lead there");
}

/* Dest clear: TraceStop is written where the address ends in C0H (3.3.2). */
static void to_c0(void)
{
	t.buf[0xc0] = 0xff;
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_RANGE1);
	guest_atom_drv_range(&t.atom, 0, jump_start, jump_stop);
	stop_range(jump_stop, jump_end);
	t.atom.ctl &= ~ATOM_CTL(DEST);
	trace_rtit(&t, CTL, run_jump);
	report_equal(t.buf[0xc0], 0xc1, "Dest clear: TraceStop is at C0H");
	t.atom.ctl |= ATOM_CTL(DEST);
}

void payload(void)
{
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t))
		return;
	walks();
	jumps();
	again();
	stale();
	ids();
	out_of_context();
	enabled_inside();
	to_c0();
}
