// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PTWRITE (33.2.2): registers and memory, 32 and 64 bits, from ring 0 and ring 3, inside and
 * outside the traced code. A processor without PTWRITE raises #UD for each.
 */
#include "lib/cpu.h"
#include "lib/fixup.h"
#include "lib/guest.h"
#include "lib/idt.h"
#include "lib/report.h"
#include "lib/ring3.h"
#include "pt/trace.h"

PAYLOAD("PTWRITE: values from registers and memory, in order");

static const uint64_t values[] = {
	0,
	1,
	0x7fffffff,
	0x80000000,
	0xffffffff,
	0x100000000,
	0x7fffffffffffffff,
	0x8000000000000000,
	0xffffffffffffffff,
	0x123456789abcdef0,
};

#define VALUES	   ARRAY_SIZE(values)
#define USER_TURNS 7
#define TOTAL	   (4 * VALUES + 2 * USER_TURNS)

static volatile unsigned int faults;

/* The second byte determines the length of the instructions here: with REX.W or without. */
static void on_ud(struct trap_frame *f)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)f->rip;

	faults++;
	f->rip += code[0] == 0x66 || code[1] == 0x48 ? 5 : 4;
}

static noinline void write_all(void)
{
	size_t i;

	for (i = 0; i < VALUES; i++) {
		uint64_t value = values[i];

		__asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0xe0" : : "a"(value));
		__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xe0" : : "a"(value));
		__asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0x27" : : "D"(&value), "m"(value));
		__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0x27" : : "D"(&value), "m"(value));
	}
}

/* The values that write_all() puts into the trace. */
static uint64_t expected(size_t i)
{
	uint64_t value = values[i / 4];

	return i % 2 ? value : (uint32_t)value;
}

USER_TEXT static uint64_t user_writes(uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++) {
		__asm__ volatile(".byte 0xf3, 0x0f, 0xae, 0xe0" : : "a"(i + 0x1000));
		__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0xae, 0xe0" : : "a"(i << 40));
	}
	return n;
}

static uint64_t expected_user(size_t i)
{
	return i % 2 ? (uint64_t)(i / 2) << 40 : i / 2 + 0x1000;
}

static uint64_t no_syscall(uint64_t a, uint64_t b)
{
	return a + b;
}

static void user_all(void)
{
	if (boot->flags & VPT_BOOT_RING3)
		ring3_call(user_writes, USER_TURNS);
}

static void work(void)
{
	write_all();
	user_all();
}

/* Compare the PTW packets of a run with the expected ones. */
static void check_values(const struct trace *t, uint64_t (*want)(size_t i), size_t count,
			 const char *what)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = 0, n = 0, wrong = 0;

	while (at < t->bytes &&
	       vpt_packet_read(&parser, t->buf + at, t->bytes - at, &packet) == VPT_OK) {
		at += packet.size;
		if (packet.kind != VPT_PKT_PTW)
			continue;
		wrong += n >= count || packet.value != want(n) || packet.bits != (n % 2 ? 64 : 32);
		n++;
	}
	report(at == t->bytes && n == count && !wrong, "%s: %u values of %u, %u of them wrong",
	       what, (unsigned int)n, (unsigned int)count, (unsigned int)wrong);
}

/* Each PTWRITE has one FUP; other runs here have FUPs only in PSB+ and at the end. */
static void check_fups(const struct trace *t, size_t count, const char *what)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at = 0, bits = 0, fups = 0;
	bool due = false;

	while (at < t->bytes &&
	       vpt_packet_read(&parser, t->buf + at, t->bytes - at, &packet) == VPT_OK) {
		at += packet.size;
		if (due && packet.kind == VPT_PKT_FUP)
			fups++;
		due = packet.kind == VPT_PKT_PTW && packet.flag;
		bits += due;
	}
	report(bits == count && fups == count, "%s: PTW with IP and FUP %u times", what,
	       (unsigned int)fups);
}

static void traced(struct trace *t)
{
	const uint64_t ptw = VPT_CTL_MASK(PTW_EN), fup = VPT_CTL_MASK(FUP_ON_PTW);
	const uint64_t kernel = VPT_CTL_MASK(OS), user = VPT_CTL_MASK(USER);
	size_t of_user = boot->flags & VPT_BOOT_RING3 ? 2 * USER_TURNS : 0;

	trace_run(t, TRACE_ALL | ptw, write_all);
	trace_report(t);
	check_values(t, expected, 4 * VALUES, "ring 0");
	check_fups(t, 0, "without FUPonPTW");
	trace_run(t, TRACE_ALL | ptw | fup, write_all);
	check_values(t, expected, 4 * VALUES, "ring 0 with FUPs");
	check_fups(t, 4 * VALUES, "with FUPonPTW");
	trace_run(t, kernel | user | ptw | fup, write_all);
	check_values(t, expected, 4 * VALUES, "without BranchEn");
	check_fups(t, 4 * VALUES, "without BranchEn");
	trace_run(t, TRACE_ALL | fup, write_all);
	check_values(t, expected, 0, "without PTWEn");

	trace_run(t, user | VPT_CTL_MASK(BRANCH_EN) | ptw | fup, work);
	check_values(t, expected_user, of_user, "ring 3 only");
	check_fups(t, of_user, "ring 3 only");
	trace_run(t, kernel | VPT_CTL_MASK(BRANCH_EN) | ptw, work);
	check_values(t, expected, 4 * VALUES, "ring 0 only");
}

static void filtered(struct trace *t)
{
	const void *in = (const void *)(uintptr_t)write_all;
	const void *out = (const void *)(uintptr_t)check_values;

	if (!vpt_caps_ranges(&t->drv.caps))
		return;
	guest_drv_range(&t->drv, 0, VPT_ADDR_FILTER, in, (const char *)in + 64);
	trace_run(t, TRACE_ALL | VPT_CTL_MASK(PTW_EN), work);
	check_values(t, expected, 4 * VALUES, "in a filter range");
	guest_drv_range(&t->drv, 0, VPT_ADDR_FILTER, out, out);
	trace_run(t, TRACE_ALL | VPT_CTL_MASK(PTW_EN), work);
	check_values(t, expected, 0, "out of it");
	guest_drv_range(&t->drv, 0, VPT_ADDR_UNUSED, NULL, NULL);
}

static bool read_faults(const void *at)
{
	uint64_t faulted = 1;

	__asm__ volatile("1: .byte 0xf3, 0x48, 0x0f, 0xae, 0x27\n\tmov $0, %0\n2:\n" FIXUP(1b, 2b)
			 : "+r"(faulted)
			 : "D"(at)
			 : "memory");
	return faulted;
}

#define NOT_CANONICAL ((const void *)0x8000000000000000u)
#define NOT_MAPPED    ((const void *)0x7f0000000000u)

/* A PTWRITE that faults sends no packet. */
static void faulting(void)
{
	report(read_faults(NOT_CANONICAL), "#GP: an address that is not canonical");
	report(read_faults(NOT_MAPPED), "#PF: a page that is not there");
	report(!read_faults(values), "and none of a page that is");
}

/* With a prefix of 66 it is not a valid instruction. */
static void prefixed(void)
{
	unsigned int before = faults;

	__asm__ volatile(".byte 0x66, 0xf3, 0x0f, 0xae, 0xe0" : : "a"(5) : "memory");
	report_equal(faults - before, 1, "#UD with an operand-size prefix");
}

void payload(void)
{
	size_t count = 4 * VALUES + (boot->flags & VPT_BOOT_RING3 ? 2 * USER_TURNS : 0);
	struct trace t;
	bool has;

	idt_hook(VEC_UD, on_ud);
	if (boot->flags & VPT_BOOT_RING3)
		ring3_init(no_syscall);
	prefixed();
	trace_init(&t, TRACE_BUFFER);
	has = t.on && vpt_caps_has(&t.drv.caps, VPT_CAP_PTWRITE);
	faults = 0;
	write_all();
	if (t.on)
		report_equal(faults, has ? 0 : 4 * VALUES, "#UD untraced, as CPUID says");
	faults = 0;
	trace_run(&t, TRACE_ALL, work);
	/* Where PT is hidden, CPUID does not enumerate PTWRITE. */
	if (t.on)
		report_equal(faults, has ? 0 : count, "#UD, as CPUID says");
	else
		report(!faults || faults == count, "all of them raise #UD, or none does");
	if (!has)
		return;
	traced(&t);
	filtered(&t);
	trace_run(&t, TRACE_ALL | VPT_CTL_MASK(PTW_EN), faulting);
	report_equal(t.scan.count[VPT_PKT_PTW], 1, "PTW packets of those");
	report_equal(faults, 0, "no #UD since");
}
