// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC, through memory and, if there is x2APIC, through MSRs. It covers self-IPIs,
 * priorities, interrupts that TPR holds back, and the timer in all its modes. The timer interrupts
 * a computation and wakes HLT.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/msr.h"
#include "lib/paging.h"
#include "lib/report.h"
#include "pt/trace.h"
#include "tasks/work.h"

PAYLOAD("the local APIC: interrupts to oneself, priorities, its timer");

#define APIC_AT	       0xfee00000ull
#define APIC_ENABLED   (1ull << 11)
#define APIC_X2	       (1ull << 10)
#define APIC_ID	       0x020u
#define APIC_VERSION   0x030u
#define APIC_TPR       0x080u
#define APIC_EOI       0x0b0u
#define APIC_SVR       0x0f0u
#define APIC_ISR       0x100u
#define APIC_IRR       0x200u
#define APIC_ICR       0x300u
#define APIC_ICR_HIGH  0x310u
#define APIC_LVT_TIMER 0x320u
#define APIC_INITIAL   0x380u
#define APIC_CURRENT   0x390u
#define APIC_DIVIDE    0x3e0u
#define SVR_ENABLE     (1u << 8)
#define ICR_SELF       (1u << 18)
#define LVT_MASKED     (1u << 16)
#define LVT_PERIODIC   (1u << 17)
#define LVT_DEADLINE   (2u << 17)
#define DIVIDE_BY_1    0xbu
#define MSR_X2APIC     0x800u
#define MSR_DEADLINE   0x6e0u

/* Many times the expected duration. */
#define PATIENCE 3000u

#define VEC_TIMER    0x71u
#define VEC_LOW	     0x72u
#define VEC_HIGH     0x93u
#define VEC_SPURIOUS 0xffu

static bool x2;

static uint32_t get(uint32_t reg)
{
	if (x2)
		return (uint32_t)rdmsr(MSR_X2APIC + (reg >> 4));
	return *(volatile uint32_t *)(APIC_AT + reg);
}

static void set(uint32_t reg, uint32_t value)
{
	if (x2)
		wrmsr(MSR_X2APIC + (reg >> 4), value);
	else
		*(volatile uint32_t *)(APIC_AT + reg) = value;
}

static bool bit_of(uint32_t bank, uint32_t vector)
{
	return get(bank + (vector >> 5 << 4)) >> (vector & 31) & 1;
}

/*
 * Send an interrupt to this processor. ICR is one MSR in x2APIC mode, and two registers otherwise.
 */
static void interrupt_self(uint32_t vector)
{
	set(APIC_ICR, ICR_SELF | vector);
}

/* Allow pending interrupts to be delivered. */
static void let_in(void)
{
	sti();
	__asm__ volatile("nop; nop; nop; nop");
	cli();
}

static uint32_t order[8];
static volatile uint32_t count, ticks;
static bool in_service = true;

static void on_interrupt(struct trap_frame *f)
{
	if (count < ARRAY_SIZE(order))
		order[count] = (uint32_t)f->vector;
	count++;
	in_service &=
		bit_of(APIC_ISR, (uint32_t)f->vector) && !bit_of(APIC_IRR, (uint32_t)f->vector);
	set(APIC_EOI, 0);
}

static void on_timer(struct trap_frame *f)
{
	(void)f;
	ticks++;
	set(APIC_EOI, 0);
}

static struct {
	bool base, self, straight, priority, tpr, cr8, one_shot, periodic, deadline;
	uint64_t disturbed;
} ok[2];

static bool self_ok(void)
{
	bool pending;

	count = 0;
	interrupt_self(VEC_LOW);
	pending = bit_of(APIC_IRR, VEC_LOW) && !bit_of(APIC_ISR, VEC_LOW);
	let_in();
	return pending && count == 1 && order[0] == VEC_LOW && !bit_of(APIC_IRR, VEC_LOW);
}

#define STRAIGHT 100u /* instructions of 3 bytes */

static uint64_t straight_ip;

static void on_straight(struct trap_frame *f)
{
	straight_ip = f->rip;
	on_interrupt(f);
}

/* The store to the ICR is in the middle of code without branches. The interrupt comes there, too. */
static noinline void run_straight(void)
{
	uint64_t n = 0;

	__asm__ volatile(
		"sti; nop\n\t"
		"movl %[icr], (%[at])\n\t"
		".rept %c[insns]; incq %[n]; .endr\n\t"
		"cli"
		: [n] "+r"(n)
		: [icr] "r"(ICR_SELF | VEC_LOW), [at] "r"(APIC_AT + APIC_ICR), [insns] "i"(STRAIGHT)
		: "memory");
}

static bool straight_ok(void)
{
	if (x2)
		return true;
	count = 0;
	idt_hook(VEC_LOW, on_straight);
	run_straight();
	idt_hook(VEC_LOW, on_interrupt);
	return count == 1 && straight_ip - (uint64_t)(uintptr_t)run_straight < 4 * STRAIGHT;
}

static bool priority_ok(void)
{
	count = 0;
	interrupt_self(VEC_LOW);
	interrupt_self(VEC_HIGH);
	interrupt_self(VEC_LOW); /* the same one */
	let_in();
	return count == 2 && order[0] == VEC_HIGH && order[1] == VEC_LOW;
}

static bool tpr_ok(void)
{
	bool held;

	count = 0;
	set(APIC_TPR, 0x80);
	interrupt_self(VEC_LOW);
	interrupt_self(VEC_HIGH);
	let_in();
	held = count == 1 && order[0] == VEC_HIGH;
	set(APIC_TPR, 0);
	let_in();
	return held && count == 2 && order[1] == VEC_LOW;
}

static bool cr8_ok(void)
{
	bool same;

	count = 0;
	write_cr8(9);
	same = get(APIC_TPR) == 0x90 && read_cr8() == 9;
	interrupt_self(VEC_HIGH);
	let_in();
	same &= !count;
	write_cr8(0);
	let_in();
	return same && count == 1 && get(APIC_TPR) == 0;
}

static bool one_shot_ok(void)
{
	bool stopped;

	ticks = 0;
	set(APIC_DIVIDE, DIVIDE_BY_1);
	set(APIC_LVT_TIMER, VEC_TIMER);
	set(APIC_INITIAL, 20000);
	while (!ticks) {
		sti_hlt();
		cli();
	}
	stopped = get(APIC_CURRENT) == 0;
	let_in();
	return stopped && ticks == 1;
}

static uint64_t want;

/* Return a number of ticks that leaves time to compute on a processor of any speed. */
static uint32_t tick_length(uint64_t *disturbed)
{
	uint32_t clocks;

	set(APIC_LVT_TIMER, LVT_MASKED);
	set(APIC_INITIAL, ~0u);
	clocks = get(APIC_CURRENT);
	*disturbed += digest(7) != want;
	clocks -= get(APIC_CURRENT);
	return 8 * clocks < 256 ? 256 : 8 * clocks;
}

/* The timer interrupts a computation; then it wakes an idle loop. */
static bool periodic_ok(uint64_t *disturbed)
{
	uint32_t length = tick_length(disturbed), before, halts = 0, i;
	bool counting;

	ticks = 0;
	set(APIC_LVT_TIMER, VEC_TIMER | LVT_PERIODIC);
	set(APIC_INITIAL, length);
	counting = get(APIC_CURRENT) <= length;
	sti();
	for (i = 0; i < PATIENCE && ticks < 5; i++)
		*disturbed += digest(7) != want;
	cli();
	counting &= ticks >= 5;
	while (ticks < 15) {
		sti_hlt();
		cli();
		halts++;
	}
	set(APIC_LVT_TIMER, LVT_MASKED);
	set(APIC_INITIAL, 0);
	let_in();
	before = ticks;
	let_in();
	return counting && halts && ticks == before;
}

static bool deadline_ok(void)
{
	uint64_t when;
	bool armed;

	if (!cpu_has(CPU_TSC_DEADLINE))
		return true;
	ticks = 0;
	set(APIC_LVT_TIMER, VEC_TIMER | LVT_DEADLINE);
	when = rdtsc() + 100000;
	__asm__ volatile("mfence" : : : "memory");
	wrmsr(MSR_DEADLINE, when);
	armed = rdmsr(MSR_DEADLINE) == when;
	while (!ticks) {
		sti_hlt();
		cli();
	}
	armed &= rdtsc() >= when && rdmsr(MSR_DEADLINE) == 0;
	/* A write of 0 cancels the timer. */
	wrmsr(MSR_DEADLINE, rdtsc() + 1000000);
	wrmsr(MSR_DEADLINE, 0);
	let_in();
	set(APIC_LVT_TIMER, LVT_MASKED);
	return armed && ticks == 1;
}

static void check(unsigned int i)
{
	uint64_t base = rdmsr(MSR_APIC_BASE);

	set(APIC_SVR, SVR_ENABLE | VEC_SPURIOUS);
	set(APIC_TPR, 0);
	ok[i].base = base & APIC_ENABLED && (base & VPT_MASK64(51, 12)) == APIC_AT &&
		     (get(APIC_VERSION) & 0xff) >= 0x10 &&
		     (x2 ? get(APIC_ID) : get(APIC_ID) >> 24) == cpuid(1, 0).ebx >> 24;
	ok[i].self = self_ok();
	ok[i].straight = straight_ok();
	ok[i].priority = priority_ok();
	ok[i].tpr = tpr_ok();
	ok[i].cr8 = cr8_ok();
	ok[i].one_shot = one_shot_ok();
	ok[i].periodic = periodic_ok(&ok[i].disturbed);
	ok[i].deadline = deadline_ok();
}

static bool has_x2;

static void work(void)
{
	check(0);
	if (!has_x2)
		return;
	wrmsr(MSR_APIC_BASE, rdmsr(MSR_APIC_BASE) | APIC_X2);
	x2 = true;
	check(1);
}

static void report_step(unsigned int i, const char *mode)
{
	report(ok[i].base, "%s: base, version and ID", mode);
	report(ok[i].self, "%s: an interrupt to itself, IRR until it comes", mode);
	if (!i)
		report(ok[i].straight, "%s: an interrupt to itself in code without branches", mode);
	report(ok[i].priority, "%s: the higher vector first", mode);
	report(ok[i].tpr, "%s: TPR holds back what is not above it", mode);
	report(ok[i].cr8, "%s: so does CR8, which is the same", mode);
	report(ok[i].one_shot, "%s: the timer, once", mode);
	report(ok[i].periodic, "%s: the timer, again and again, until it is masked", mode);
	report(!ok[i].disturbed, "%s: a computation is not disturbed", mode);
	report(ok[i].deadline, "%s: the timer at a TSC deadline, if there is that", mode);
}

void payload(void)
{
	struct trace t;
	uint64_t cr3;

	if (!cpu_has(CPU_APIC)) {
		report_skip("no APIC in this guest's CPUID");
		return;
	}
	has_x2 = cpu_has(CPU_X2APIC);
	cr3 = paging_new_space();
	paging_map(cr3, APIC_AT, (void *)APIC_AT, PTE_WRITE | PTE_UNCACHED | PTE_NX);
	write_cr3(cr3);
	want = digest(7);
	idt_hook(VEC_TIMER, on_timer);
	idt_hook(VEC_LOW, on_interrupt);
	idt_hook(VEC_HIGH, on_interrupt);
	idt_hook(VEC_SPURIOUS, on_interrupt);
	trace_long(&t, work);
	report_step(0, "xAPIC");
	if (has_x2)
		report_step(1, "x2APIC");
	report(in_service, "ISR has what is being handled, and IRR no longer");
}
