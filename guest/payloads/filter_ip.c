// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IP filtering (33.2.5.3): every way into a range and out of it, each with the
 * exact flow that it must leave in the trace. The first is table 33-2.
 */
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("IP filter: ways into a range and out of it");

/* Labels of the code below. */
extern const char shape_base[], shape_limit[], shape_out[];
extern const char cond_base[], cond_limit[], cond_back[];
extern const char call_base[], call_limit[], call_returned[], call_out[], call_after[];
extern const char jump_base[], jump_limit[], jump_out[];
extern const char fall_base[], fall_limit[], fall_after[];
extern const char into_base[], into_head[], into_limit[];
extern const char fault_base[], fault_at[], fault_resume[], fault_limit[];
extern const char two_base[], two_limit[], two_inner[], two_inner_limit[];
extern const char trap_stubs[][16];

void run_shape(void);
void run_cond(void);
void run_call(void);
void run_jump(void);
void run_fall(void);
void run_into(void);
void run_fault(void);
void run_two(void);

__asm__(".pushsection .text\n"
	".globl run_shape, run_cond, run_call, run_jump, run_fall, run_into, run_fault, run_two\n"
	/* Table 33-2; ZF is set. */
	"run_shape:\n"
	"	cmp %eax, %eax\n"
	"	jmp shape_base\n"
	"shape_base:\n"
	"	jnz 1f\n"
	"	add $1, %eax\n"
	"1:	jmp shape_out\n"
	"shape_limit:\n"
	"	nop\n"
	"shape_out:\n"
	"	ret\n"
	/* In and out by taken conditional branches. */
	"run_cond:\n"
	"	cmp %eax, %eax\n"
	"	jz cond_base\n"
	"	ud2\n"
	"cond_base:\n"
	"	nop\n"
	"	jnz 2f\n"
	"	jz 2f\n"
	"	ud2\n"
	"cond_back:\n"
	"	nop\n"
	"cond_limit:\n"
	"	jz 3f\n"
	"	ud2\n"
	"2:	jz cond_back\n"
	"	ud2\n"
	"3:	ret\n"
	/* In and out by direct calls and by their returns. */
	"run_call:\n"
	"	call call_base\n"
	"call_after:\n"
	"	ret\n"
	"call_base:\n"
	"	nop\n"
	"	call call_out\n"
	"call_returned:\n"
	"	nop\n"
	"call_limit:\n"
	"	ret\n"
	"call_out:\n"
	"	nop\n"
	"	ret\n"
	/* In and out by indirect jumps. */
	"run_jump:\n"
	"	lea jump_base(%rip), %rax\n"
	"	jmp *%rax\n"
	"jump_base:\n"
	"	lea jump_out(%rip), %rax\n"
	"jump_limit:\n"
	"	jmp *%rax\n"
	"jump_out:\n"
	"	ret\n"
	/* Falling through the end shows at the next taken branch only. */
	"run_fall:\n"
	"	call fall_base\n"
	"fall_after:\n"
	"	ret\n"
	"fall_base:\n"
	"	nop\n"
	"fall_limit:\n"
	"	nop\n"
	"	nop\n"
	"	ret\n"
	/* Falling into the range likewise. */
	"run_into:\n"
	"	mov $3, %ecx\n"
	"into_base:\n"
	"	nop\n"
	"into_head:\n"
	"	dec %ecx\n"
	"into_limit:\n"
	"	jnz into_head\n"
	"	ret\n"
	/* Out by an exception, back by IRET. */
	"run_fault:\n"
	"	jmp fault_base\n"
	"	ud2\n"
	"fault_base:\n"
	"	nop\n"
	"fault_at:\n"
	"	ud2\n"
	"fault_resume:\n"
	"	nop\n"
	"fault_limit:\n"
	"	ret\n"
	/* From one range straight into another. */
	"run_two:\n"
	"	cmp %eax, %eax\n"
	"	jmp two_base\n"
	"	ud2\n"
	"two_base:\n"
	"	jz two_inner\n"
	"two_limit:\n"
	"	ud2\n"
	"	nop\n"
	"two_inner:\n"
	"	lea 4f(%rip), %rax\n"
	"two_inner_limit:\n"
	"	jmp *%rax\n"
	"4:	ret\n"
	".popsection\n");

static unsigned int faults;

static void on_ud(struct trap_frame *f)
{
	faults++;
	f->rip += 2;
}

static struct trace t;

static void one(void (*fn)(void), const void *first, const void *last, const struct vpt_flow *want,
		size_t count, const char *what)
{
	vpt_drv_range(&t.drv, 0, VPT_ADDR_FILTER, first, last);
	trace_run(&t, TRACE_ALL, fn);
	vpt_flow_report(t.buf, t.bytes, want, count, what);
}

#define ONE(name, what, ...)                                                              \
	do {                                                                              \
		const struct vpt_flow want[] = {__VA_ARGS__};                             \
		one(run_##name, name##_base, name##_limit, want, ARRAY_SIZE(want), what); \
	} while (0)

static void filtered(void)
{
	ONE(shape, "table 33-2", FLOW_PGE(shape_base), FLOW_TNT(0), FLOW_PGD(shape_out));
	/* A conditional branch leaves no IP (33.4.2.5). */
	ONE(cond, "conditional branches", FLOW_PGE(cond_base), FLOW_TNT(0),
	    FLOW_PGD(VPT_FLOW_NO_IP), FLOW_PGE(cond_back), FLOW_PGD(VPT_FLOW_NO_IP));
	ONE(call, "calls and returns", FLOW_PGE(call_base), FLOW_PGD(call_out),
	    FLOW_PGE(call_returned), FLOW_PGD(call_after));
	ONE(jump, "indirect jumps", FLOW_PGE(jump_base), FLOW_PGD(jump_out));
	ONE(fall, "falling through the end", FLOW_PGE(fall_base), FLOW_PGD(fall_after));
	ONE(into, "falling into the range", FLOW_PGE(into_head), FLOW_TNT(1), FLOW_TNT(0),
	    FLOW_PGD(VPT_FLOW_ANY));
	ONE(fault, "an exception", FLOW_PGE(fault_base), FLOW_FUP(fault_at),
	    FLOW_PGD(trap_stubs[VEC_UD]), FLOW_PGE(fault_resume), FLOW_PGD(VPT_FLOW_ANY));
}

/* Two ranges: no packets on the way from one to the other but the branch's own. */
static void two_ranges(void)
{
	if (!vpt_drv_range(&t.drv, 1, VPT_ADDR_FILTER, two_inner, two_inner_limit)) {
		report_skip("this processor has one address range");
		return;
	}
	ONE(two, "two ranges", FLOW_PGE(two_base), FLOW_TNT(1), FLOW_PGD(VPT_FLOW_ANY));
	vpt_drv_range(&t.drv, 1, VPT_ADDR_UNUSED, NULL, NULL);
}

static void work(void)
{
	run_shape();
	run_cond();
	run_call();
	run_jump();
	run_fall();
	run_into();
	run_fault();
	run_two();
}

#define TURNS 40

static void many(void)
{
	unsigned int i;

	for (i = 0; i < TURNS; i++)
		work();
}

static void untraced(void)
{
	many();
	/* A wrong turn would have met another UD2. */
	report_equal(faults, TURNS, "every way was taken");
}

void payload(void)
{
	idt_hook(VEC_UD, on_ud);
	trace_init(&t, TRACE_BUFFER);
	if (!t.on || !vpt_caps_ranges(&t.drv.caps)) {
		untraced();
		if (t.on)
			report_skip("this processor has no IP filter");
		return;
	}
	filtered();
	two_ranges();

	vpt_drv_range(&t.drv, 0, VPT_ADDR_FILTER, shape_base, shape_limit);
	trace_run(&t, TRACE_ALL, many);
	report_equal(t.scan.count[VPT_PKT_TIP_PGE], TURNS, "table 33-2, many times");
	report_equal(t.scan.count[VPT_PKT_TIP_PGD], TURNS, "and left as often");

	/* The whole guest: no filter in effect. */
	vpt_drv_range(&t.drv, 0, VPT_ADDR_FILTER, NULL, (const void *)0x3fffffff);
	trace_run(&t, TRACE_ALL, many);
	trace_report(&t);
	report_equal(t.scan.count[VPT_PKT_TIP_PGE], 1, "a range around everything");
}
