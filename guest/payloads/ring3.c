// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ring 3: IRETQ to it, SYSCALL and SYSRETQ in both directions, INT n and exceptions from it.
 * Filtering by CPL (33.2.5.1) must not show any address of the other side.
 */
#include "lib/cpu.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"

PAYLOAD("ring 3: SYSCALL, INT n, exceptions, tracing by CPL");

#define VEC_USER 0x90
#define ROUNDS	 30

extern const char user_start[], user_end[];

static unsigned int syscalls, ints, faults;
static bool wrong_cpl;

static uint64_t on_syscall(uint64_t a, uint64_t b)
{
	syscalls++;
	return a * 2 + b;
}

static void on_int(struct trap_frame *f)
{
	ints++;
	wrong_cpl |= (f->cs & 3) != 3;
	f->rax += 1;
}

/* CLI at CPL 3. */
static void on_gp(struct trap_frame *f)
{
	faults++;
	wrong_cpl |= (f->cs & 3) != 3;
	f->rip += 1;
}

/* Branch without data except registers. */
USER_TEXT static uint64_t user_work(uint64_t n)
{
	uint64_t i, sum = 0;

	for (i = 0; i < n; i++) {
		if (i % 3 == 0)
			sum += user_syscall(i, 1);
		else if (i % 3 == 1)
			__asm__ volatile("int $0x90" : "+a"(sum) : : "memory");
		else
			__asm__ volatile("cli" : : : "memory");
		sum ^= i;
	}
	return sum;
}

static uint64_t expected(uint64_t n)
{
	uint64_t i, sum = 0;

	for (i = 0; i < n; i++) {
		if (i % 3 == 0)
			sum += 2 * i + 1;
		else if (i % 3 == 1)
			sum += 1;
		sum ^= i;
	}
	return sum;
}

static uint64_t result;

static void work(void)
{
	result = ring3_call(user_work, ROUNDS);
}

static bool is_user(uint64_t ip)
{
	return ip >= (uintptr_t)user_start && ip < (uintptr_t)user_end;
}

/* Returns true if each IP in the trace belongs to this side. */
static bool only(const struct trace *t, bool user)
{
	static struct guest_flow flow[4096];
	size_t i, n = guest_flow_read(t->buf, t->bytes, flow, ARRAY_SIZE(flow));

	if (n > ARRAY_SIZE(flow))
		return false;
	for (i = 0; i < n; i++) {
		if (flow[i].kind == VPT_PKT_TNT_8 || flow[i].kind == VPT_PKT_PIP ||
		    flow[i].value == GUEST_FLOW_NO_IP)
			continue;
		if (is_user(flow[i].value) != user)
			return false;
	}
	return true;
}

static void by_cpl(struct trace *t)
{
	trace_run(t, VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN), work);
	report(only(t, true), "User only: no address of ring 0");
	report_equal(t->scan.count[VPT_PKT_TIP_PGE], 1 + ROUNDS,
		     "User only: ring 3 is entered by IRETQ and after each event");
	report(!t->scan.count[VPT_PKT_PIP], "User only: no PIP");

	trace_run(t, VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN), work);
	report(only(t, false), "OS only: no address of ring 3");
	report_equal(t->scan.count[VPT_PKT_TIP_PGE], 2 + ROUNDS,
		     "OS only: ring 0 is entered by each event and at the end");

	trace_run(t, VPT_CTL_MASK(BRANCH_EN), work);
	report(!t->scan.count[VPT_PKT_TIP_PGE] && !t->scan.tnt_bits, "neither: no flow");
}

void payload(void)
{
	struct trace t;

	if (!(boot->flags & VPT_BOOT_RING3)) {
		report_skip("this engine cannot trace ring 3");
		return;
	}
	ring3_init(on_syscall);
	idt_hook(VEC_USER, on_int);
	idt_allow_user(VEC_USER);
	idt_hook(VEC_GP, on_gp);
	trace_simple(&t, work);
	report_equal(result, expected(ROUNDS), "the result of ring 3");
	report_equal(syscalls, ROUNDS / 3, "SYSCALLs");
	report_equal(ints, ROUNDS / 3, "INT n from ring 3");
	report_equal(faults, ROUNDS / 3, "#GP from ring 3");
	report(!wrong_cpl, "they came from CPL 3");
	if (t.on)
		by_cpl(&t);
}
