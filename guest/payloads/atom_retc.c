// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Returns as outcomes (RTIT 4.2.3.2): figures 6 and 7 of the reference as code, and the conditions
 * under which a return is not an outcome.
 */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("RTIT's compressed returns");

#define PLAIN (ATOM_CTL(OS) | ATOM_CTL(USER))
#define CTL   (PLAIN | ATOM_CTL(CMPRS_RET))

/* Labels of the code below. Each piece runs from its base to its limit and leaves sequentially. */
extern const char one_back[], one_limit[];
extern const char two_outer[], two_inner[], two_limit[];
extern const char deep_limit[];
extern const char moved_to[], moved_limit[];
extern const char far_base[], far_next[], far_sub[], far_limit[];
extern const char outer_base[], outer_back[], outer_out_back[], outer_limit[];
extern const char ind_sub[], ind_limit[];
extern const char leave_base[], leave_back[], leave_limit[];
extern const char enter_base[], enter_limit[], enter_back[];

void run_one(void);
void run_two(void);
void run_deep(void);
void run_moved(void);
void run_far(void);
void run_outer(void);
void run_ind(void);
void run_leave(void);
void run_enter(void);

__asm__(".pushsection .text\n"
	".globl run_one, run_two, run_deep, run_moved, run_far, run_outer, run_ind, run_leave\n"
	".globl run_enter\n"
	/* Figure 6: calls that are not nested. */
	"run_one:\n"
	"	jmp one_base\n"
	"1:	inc %eax\n"
	"	ret\n"
	"one_base:\n"
	"	nop\n"
	"	call 1b\n"
	"one_back:\n"
	"	call 1b\n"
	"	nop\n"
	"one_limit:\n"
	"	ret\n"
	/* Figure 7: a call inside another. */
	"run_two:\n"
	"	jmp two_base\n"
	"2:	nop\n"
	"	call 3f\n"
	"two_inner:\n"
	"	inc %eax\n"
	"	ret\n"
	"3:	dec %eax\n"
	"	ret\n"
	"two_base:\n"
	"	nop\n"
	"	call 2b\n"
	"two_outer:\n"
	"	nop\n"
	"two_limit:\n"
	"	ret\n"
	/*
	 * Recursion: all returns except the first go to the same place, but not from the last call.
	 * NLIP is equal, so all of them match.
	 */
	"run_deep:\n"
	"	mov $4, %ecx\n"
	"	jmp deep_base\n"
	"4:	dec %ecx\n"
	"	jz 5f\n"
	"	call 4b\n"
	"deep_back:\n"
	"	nop\n"
	"5:	ret\n"
	"deep_base:\n"
	"	nop\n"
	"	call 4b\n"
	"	nop\n"
	"deep_limit:\n"
	"	ret\n"
	/* A return address that was changed. */
	"run_moved:\n"
	"	jmp moved_base\n"
	"6:	lea moved_to(%rip), %rax\n"
	"	mov %rax, (%rsp)\n"
	"	ret\n"
	"moved_base:\n"
	"	nop\n"
	"	call 6b\n"
	"	ud2\n"
	"moved_to:\n"
	"	nop\n"
	"moved_limit:\n"
	"	ret\n"
	/* A far call in between does not count, nor does its return. */
	"run_far:\n"
	"	jmp far_base\n"
	"7:	lea far_sub(%rip), %rax\n"
	"	sub $16, %rsp\n"
	"	mov %eax, (%rsp)\n"
	"	movl $8, 4(%rsp)\n"
	"	lcall *(%rsp)\n"
	"far_next:\n"
	"	add $16, %rsp\n"
	"	ret\n"
	"far_sub:\n"
	"	lretl\n"
	"far_base:\n"
	"	nop\n"
	"	call 7b\n"
	"far_back:\n"
	"	nop\n"
	"far_limit:\n"
	"	ret\n"
	/*
	 * A call from outside does not count either. Its NLIP is not stored, so the return still
	 * matches the traced call.
	 */
	"run_outer:\n"
	"	jmp outer_base\n"
	"	ud2\n"
	"outer_base:\n"
	"	nop\n"
	"	call outer_out\n"
	"outer_back:\n"
	"	nop\n"
	"	jmp 9f\n"
	"8:	ret\n"
	"9:	nop\n"
	"outer_limit:\n"
	"	ret\n"
	"outer_out:\n"
	"	call 8b\n"
	"outer_out_back:\n"
	"	ret\n"
	/* An indirect call is a call. */
	"run_ind:\n"
	"	jmp ind_base\n"
	"ind_sub:\n"
	"	ret\n"
	"ind_base:\n"
	"	lea ind_sub(%rip), %rax\n"
	"	call *%rax\n"
	"ind_back:\n"
	"	nop\n"
	"ind_limit:\n"
	"	ret\n"
	/* A call that leaves the range counts. The return from outside is not traced. */
	"run_leave:\n"
	"	jmp leave_base\n"
	"	ud2\n"
	"leave_base:\n"
	"	nop\n"
	"	call 1b\n"
	"leave_back:\n"
	"	nop\n"
	"leave_limit:\n"
	"	ret\n"
	/* A call that enters the range does not count: its return is a TIP. */
	"run_enter:\n"
	"	call enter_base\n"
	"enter_back:\n"
	"	ret\n"
	"enter_base:\n"
	"	nop\n"
	"enter_sub:\n"
	"	ret\n"
	"enter_limit:\n"
	"	ud2\n"
	".popsection\n");

static struct trace t;

static struct guest_atom_bytes run(const void *base, const void *limit, uint64_t ctl,
				   void (*fn)(void))
{
	guest_atom_drv_range(&t.atom, 0, base, limit);
	trace_rtit(&t, ctl, fn);
	return trace_rtit_bytes(&t);
}

#define ONE(ctl, name, from, what, ...)                                                  \
	do {                                                                             \
		struct guest_atom_bytes seen = run(from, name##_limit, ctl, run_##name); \
                                                                                         \
		ATOM_EXPECT(&seen, what, ATOM(PSB, 0), __VA_ARGS__);                     \
	} while (0)

static void figures(void)
{
	ONE(CTL, one, run_one, "figure 6", ATOM(PGE, run_one), ATOM(TNT, 1), ATOM(TNT, 1),
	    ATOM(PGD, one_limit));
	ONE(PLAIN, one, run_one, "figure 6 without CMPRS_RET", ATOM(PGE, run_one),
	    ATOM(TIP, one_back), ATOM(TIP, GUEST_FLOW_ANY), ATOM(PGD, one_limit));
	ONE(CTL, two, run_two, "figure 7", ATOM(PGE, run_two), ATOM(TNT, 1), ATOM(TIP, two_outer),
	    ATOM(PGD, two_limit));
	ONE(PLAIN, two, run_two, "figure 7 without CMPRS_RET", ATOM(PGE, run_two),
	    ATOM(TIP, two_inner), ATOM(TIP, two_outer), ATOM(PGD, two_limit));
}

static void pairs(void)
{
	ONE(CTL, ind, run_ind, "an indirect call", ATOM(PGE, run_ind), ATOM(TIP, ind_sub),
	    ATOM(TNT, 1), ATOM(PGD, ind_limit));
	ONE(CTL, deep, run_deep, "recursion", ATOM(PGE, run_deep), ATOM(TNT, 0), ATOM(TNT, 0),
	    ATOM(TNT, 0), ATOM(TNT, 1), ATOM(TNT, 1), ATOM(TNT, 1), ATOM(TNT, 1),
	    ATOM(TIP, GUEST_FLOW_ANY), ATOM(PGD, deep_limit));
	ONE(CTL, far, run_far, "a far call in between", ATOM(PGE, run_far), ATOM(FAR, far_next),
	    ATOM(TIP, far_sub), ATOM(FAR, far_base), ATOM(TIP, far_next), ATOM(TNT, 1),
	    ATOM(PGD, far_limit));
}

static void no_pairs(void)
{
	ONE(CTL, moved, run_moved, "another return address", ATOM(PGE, run_moved),
	    ATOM(TIP, moved_to), ATOM(PGD, moved_limit));
	ONE(CTL, enter, enter_base, "a call from outside", ATOM(PGE, enter_base),
	    ATOM(TIP, enter_back), ATOM(PGD, enter_limit));
	ONE(CTL, leave, leave_base, "a call that leaves", ATOM(PGE, leave_base),
	    ATOM(PGD, leave_back), ATOM(PGE, leave_back), ATOM(PGD, leave_limit));
	ONE(CTL, outer, outer_base, "a call from outside in a traced one", ATOM(PGE, outer_base),
	    ATOM(PGD, outer_back), ATOM(PGE, GUEST_FLOW_ANY), ATOM(TIP, outer_out_back),
	    ATOM(PGD, GUEST_FLOW_ANY), ATOM(PGE, outer_back), ATOM(PGD, outer_limit));
}

/* Check the register after the return, and an unchanged LAST_LIP. */
static void registers(void)
{
	uint64_t value;

	run(run_one, one_limit, CTL, run_one);
	value = rdmsr(VPT_ATOM_MSR_LAST_CALL_NLIP);
	report(value & VPT_ATOM_MASK(LAST_CALL_NLIP, VALID), "LAST_CALL_NLIP is valid");
	report_equal(VPT_ATOM_GET(LAST_CALL_NLIP, NLIP, value), (uintptr_t)one_limit - 1,
		     "and is the last call's");
	value = rdmsr(VPT_ATOM_MSR_LAST_LIP);
	report_equal(value, VPT_ATOM_MASK(LAST_LIP, VALID) | (uintptr_t)one_limit >> 16,
		     "LAST_LIP is that of FUP.PGD");
	run(run_one, one_limit, PLAIN, run_one);
	report_equal(rdmsr(VPT_ATOM_MSR_LAST_CALL_NLIP), 0,
		     "without CMPRS_RET LAST_CALL_NLIP stays as it was");
}

void payload(void)
{
	trace_init(&t, TRACE_BUFFER);
	if (!trace_need_rtit(&t))
		return;
	guest_atom_drv_events(&t.atom, VPT_ATOM_ID_RANGE0, VPT_ATOM_ID_NEVER);
	figures();
	pairs();
	no_pairs();
	registers();
}
