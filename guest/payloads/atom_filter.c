// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IP filtering of Atom's RTIT (RTIT 2.4.3, 3.3.5). The payload enters and leaves a range in every
 * way, for all event IDs, and checks the exact flow.
 */
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "pt/ways.h"

PAYLOAD("RTIT's IP filter: ways into a range and out of it");

#define VEC_SOFT 0x40
#define CTL	 (ATOM_CTL(OS) | ATOM_CTL(USER))

/* Labels of the code below. */
extern const char walk_base[], walk_limit[];
extern const char ret_base[], ret_limit[], ret_after[];
extern const char icall_base[], icall_returned[], icall_limit[], icall_out[];
extern const char loop_base[], loop_head[], loop_limit[];
extern const char soft_base[], soft_next[], soft_limit[];
extern const char wrap_base[], wrap_limit[];
extern const char inside_base[], inside_active[], inside_in[], inside_limit[];

void run_walk(void);
void run_ret(void);
void run_icall(void);
void run_loop(void);
void run_soft(void);
void run_wrap(void);

/* WRMSRs of RTIT_CTL that set Trace_En and then TraceActive, both inside the range. */
void run_inside(uint32_t on, uint32_t active);

__asm__(".pushsection .text\n"
	".globl run_walk, run_ret, run_icall, run_loop, run_soft, run_wrap, run_inside\n"
	/* Enter and leave without a branch. */
	"run_walk:\n"
	"	nop\n"
	"walk_base:\n"
	"	nop\n"
	"	nop\n"
	"walk_limit:\n"
	"	nop\n"
	"	ret\n"
	/* Leave by a return. */
	"run_ret:\n"
	"	call ret_base\n"
	"ret_after:\n"
	"	ret\n"
	"ret_base:\n"
	"	nop\n"
	"	ret\n"
	"ret_limit:\n"
	"	ud2\n"
	/* Enter and leave by indirect calls. */
	"run_icall:\n"
	"	lea icall_base(%rip), %rax\n"
	"	call *%rax\n"
	"	ret\n"
	"icall_base:\n"
	"	lea icall_out(%rip), %rax\n"
	"	call *%rax\n"
	"icall_returned:\n"
	"	nop\n"
	"icall_limit:\n"
	"	ret\n"
	"icall_out:\n"
	"	ret\n"
	/* LOOP inside, entered above the base by sequential execution. */
	"run_loop:\n"
	"	mov $8, %ecx\n"
	"loop_base:\n"
	"	nop\n"
	"loop_head:\n"
	"	loop loop_head\n"
	"loop_limit:\n"
	"	nop\n"
	"	ret\n"
	/* Leave by INT n, return by IRET. */
	"run_soft:\n"
	"	jmp soft_base\n"
	"	ud2\n"
	"soft_base:\n"
	"	nop\n"
	"	int $0x40\n"
	"soft_next:\n"
	"	nop\n"
	"soft_limit:\n"
	"	ret\n"
	/* Execute sequentially from a range into another whose base is the limit of the first. */
	"run_wrap:\n"
	"	jmp wrap_base\n"
	"	ud2\n"
	"wrap_base:\n"
	"	nop\n"
	"	nop\n"
	"wrap_limit:\n"
	"	nop\n"
	"	ret\n"
	/* If execution is already inside, neither sequential execution nor earlier code counts. */
	"run_inside:\n"
	"	nop\n"
	"inside_base:\n"
	"	nop\n" ATOM_ASM_ENABLE "inside_active:\n"
	"	nop\n"
	"	jmp inside_in\n"
	"	ud2\n"
	"inside_in:\n"
	"	nop\n"
	"inside_limit:\n"
	"	ret\n"
	".popsection\n");

static unsigned int faults, soft;

static void on_ud(struct trap_frame *f)
{
	faults++;
	f->rip += 2;
}

static void on_soft(struct trap_frame *f)
{
	(void)f;
	soft++;
}

static struct trace t;

static struct guest_atom_bytes run(uint64_t ctl, void (*fn)(void))
{
	trace_rtit(&t, ctl, fn);
	return trace_rtit_bytes(&t);
}

static void range(unsigned int n, const void *base, const void *limit)
{
	guest_atom_drv_range(&t.atom, n, base, limit);
}

#define ONE_TO(name, limit, what, ...)                                      \
	do {                                                                \
		struct guest_atom_bytes seen;                               \
                                                                            \
		range(0, name##_base, limit);                               \
		seen = run(CTL, run_##name);                                \
		ATOM_EXPECT(&seen, what, ATOM(PSB, 0), ##__VA_ARGS__);      \
		report_equal(t.atom.tnt_buff, 1, what ": no outcome left"); \
	} while (0)
#define ONE(name, what, ...) ONE_TO(name, name##_limit, what, ##__VA_ARGS__)

static void near_ways(void)
{
	ONE(walk, "walking", ATOM(PGE, walk_base), ATOM(PGD, walk_limit));
	ONE(shape, "direct jumps", ATOM(PGE, shape_base), ATOM(TNT, 0), ATOM(PGD, shape_limit));
	ONE(cond, "conditional jumps", ATOM(PGE, cond_base), ATOM(TNT, 0), ATOM(TNT, 1),
	    ATOM(PGD, cond_left), ATOM(PGE, cond_back), ATOM(PGD, cond_limit));
	ONE(call, "direct calls and returns", ATOM(PGE, call_base), ATOM(PGD, call_returned),
	    ATOM(PGE, call_returned), ATOM(PGD, call_limit));
	ONE(ret, "out by a return", ATOM(PGE, ret_base), ATOM(TIP, ret_after),
	    ATOM(PGD, ret_limit));
	ONE(jump, "walking up to an indirect jump", ATOM(PGE, jump_base), ATOM(PGD, jump_limit));
	ONE_TO(jump, jump_out, "indirect jumps", ATOM(PGE, jump_base), ATOM(TIP, jump_out),
	       ATOM(PGD, jump_out));
	ONE(icall, "indirect calls", ATOM(PGE, icall_base), ATOM(TIP, icall_out),
	    ATOM(PGD, icall_returned), ATOM(PGE, icall_returned), ATOM(PGD, icall_limit));
	/* The last outcome is LOOP's own; sequential execution then reaches the limit. */
	ONE(loop, "a loop", ATOM(PGE, loop_base), ATOM(TNT, 1), ATOM(TNT, 1), ATOM(TNT, 1),
	    ATOM(TNT, 1), ATOM(TNT, 1), ATOM(TNT, 1), ATOM(TNT, 1), ATOM(TNT, 0),
	    ATOM(PGD, loop_limit));
}

static void far_ways(void)
{
	ONE(fault, "an exception", ATOM(PGE, fault_base), ATOM(PGD, fault_at),
	    ATOM(TIP, trap_stubs[VEC_UD]), ATOM(PGE, fault_resume), ATOM(PGD, fault_limit));
	ONE(soft, "INT n", ATOM(PGE, soft_base), ATOM(PGD, soft_next),
	    ATOM(TIP, trap_stubs[VEC_SOFT]), ATOM(PGE, soft_next), ATOM(PGD, soft_limit));
	report(faults == 1 && soft == 1, "every way was taken");
}

/* Two ranges: the way from one to the other has only the branch's own packet. */
static void two_ranges(void)
{
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_EITHER, VPT_ATOM_ID_NEVER);
	range(1, two_inner, two_inner_limit);
	ONE(two, "from range to range", ATOM(PGE, two_base), ATOM(TNT, 1),
	    ATOM(PGD, two_inner_limit));
	range(1, wrap_limit, wrap_limit + 1);
	ONE(wrap, "walking from range to range", ATOM(PGE, wrap_base), ATOM(PGD, wrap_limit + 1));
	/* An exception whose handler is in the other range stays inside. */
	range(1, trap_stubs[VEC_UD], trap_stubs[VEC_UD + 1]);
	ONE(fault, "an exception into the other range", ATOM(PGE, fault_base), ATOM(FAR, fault_at),
	    ATOM(TIP, trap_stubs[VEC_UD]), ATOM(PGD, GUEST_FLOW_ANY), ATOM(PGE, fault_resume),
	    ATOM(PGD, fault_limit));
}

static void ids(void)
{
	struct guest_atom_bytes bytes;
	unsigned int id;

	range(1, jump_base, jump_out);
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE1, VPT_ATOM_ID_NEVER);
	ONE(shape, "RANGE1 alone: code of RANGE0");
	range(0, shape_base, shape_limit);
	bytes = run(CTL, run_jump);
	ATOM_EXPECT(&bytes, "RANGE1 alone: its code", ATOM(PSB, 0), ATOM(PGE, jump_base),
		    ATOM(TIP, jump_out), ATOM(PGD, jump_out));
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_NEVER);
	bytes = run(CTL, run_jump);
	ATOM_EXPECT(&bytes, "RANGE0 alone: code of RANGE1", ATOM(PSB, 0));
	for (id = 3; id <= VPT_ATOM_ID_NEVER; id++) {
		guest_atom_drv_events(&t.atom, (enum vpt_atom_event_id)id, VPT_ATOM_ID_NEVER);
		bytes = run(CTL, run_jump);
		ATOM_EXPECT(&bytes, id == VPT_ATOM_ID_NEVER ? "never" : "a reserved ID",
			    ATOM(PSB, 0));
	}
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_ALWAYS, VPT_ATOM_ID_NEVER);
	bytes = run(CTL, run_jump);
	ATOM_EXPECT_TAIL(&bytes, "always", ATOM(TIP, jump_base), ATOM(TIP, jump_out),
			 ATOM(TIP, GUEST_FLOW_ANY));
	report(t.ascan.count[VPT_ATOM_PKT_PGE] == 1 && !t.ascan.count[VPT_ATOM_PKT_PGD],
	       "always: entered once and not left");
}

/* FilterEn changes with TraceActive clear; STATUS shows it (2.4.3). */
static void call_inside(void)
{
	uint32_t on = (uint32_t)t.atom.ctl | (uint32_t)CTL | (uint32_t)ATOM_CTL(TRACE_EN);

	run_inside(on, on | (uint32_t)ATOM_CTL(TRACE_ACTIVE));
}

/* Begin a trace inside its range. `filter_en`: the earlier value in STATUS. */
static void begin_inside(uint64_t status, bool walk, const char *what)
{
	struct guest_atom_bytes bytes;

	/* Write all registers, and leave Trace_En clear or set. */
	guest_atom_drv_start(&t.atom, CTL);
	guest_atom_drv_stop(&t.atom);
	wrmsr(VPT_ATOM_MSR_OFFSET, 0);
	wrmsr(VPT_ATOM_MSR_STATUS, status);
	if (walk)
		wrmsr(VPT_ATOM_MSR_CTL, t.atom.ctl | CTL | ATOM_CTL(TRACE_EN));
	call_inside();
	guest_atom_drv_stop(&t.atom);
	t.bytes = guest_atom_drv_bytes(&t.atom);
	bytes = trace_rtit_bytes(&t);
	if (walk || status)
		ATOM_EXPECT(&bytes, what, ATOM(PSB, 0), ATOM(PGE, inside_active),
			    ATOM(PGD, inside_limit));
	else
		ATOM_EXPECT(&bytes, what, ATOM(PSB, 0), ATOM(PGE, inside_in),
			    ATOM(PGD, inside_limit));
}

static void enabled_inside(void)
{
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_NEVER);
	range(0, inside_base, inside_limit);
	begin_inside(0, false, "enabled inside: a branch is needed");
	begin_inside(0, true, "Trace_En before that: FilterEn was set on the way");
	begin_inside(ATOM_STATUS(FILTER_EN), false, "FilterEn that software set counts");
}

void payload(void)
{
	idt_hook(VEC_UD, on_ud);
	idt_hook(VEC_SOFT, on_soft);
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t))
		return;
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_NEVER);
	near_ways();
	far_ways();
	two_ranges();
	ids();
	enabled_inside();
}
