// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers of Atom's RTIT (RTIT 3.3). They are locked until RTIT_CTL is read. The payload
 * checks their reset values, and writes each bit of each, which must be stored, ignored or refused.
 */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/page_alloc.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("registers of Atom's RTIT, bit by bit");

/* The bits in the tables of 3.3; the rest of the 64 bits is reserved. */
struct reg {
	uint32_t msr;
	uint64_t reset;
	uint64_t base;	  /* a valid value, in which one bit at a time is changed */
	uint64_t bits;	  /* writable bits */
	uint64_t ignored; /* bits that a write does not change, without a fault */
};

static const struct reg regs[] = {
	{0x760, 0, 0, VPT_MASK64(46, 0), VPT_MASK64(63, 48)},
	{0x761, 0, 0, VPT_MASK64(46, 0), VPT_MASK64(63, 48)},
	{0x762, 0, 0, VPT_MASK64(46, 0), VPT_MASK64(63, 48)},
	{0x763, 0, 0, VPT_MASK64(46, 0), VPT_MASK64(63, 48)},
	{0x768, 0, 0, 0xff9f, 0},
	{0x769, 0, 0, 0x9, 0x6},
	{0x76b, 0, 0, VPT_MASK64(21, 0), 0},
	{0x76c, 0, 0, 0x3f, 0},
	{0x76e, 0, 0, VPT_MASK64(32, 0), 0},
	{0x76f, 0, 0, VPT_MASK64(48, 0), 0},
	{0x770, 0xfdc00000, 0, VPT_MASK64(35, 6), 0},
	{0x771, 0x7f, 0x3f, VPT_MASK64(21, 6), 0},
	{0x772, 0, 0, VPT_MASK64(21, 0), 0},
	{0x777, 0, 0, VPT_MASK64(35, 5), 0},
	/* With the longest period, no bit of the count is the bit at which a PSB is due. */
	{0x77c, 0x20000, 0x30000, 0x33fff, 0},
	{0x77d, 1, 1, VPT_MASK64(6, 1), 0},
};

static const struct reg *find(uint32_t msr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(regs); i++)
		if (regs[i].msr == msr)
			return &regs[i];
	return NULL;
}

static unsigned int checks, wrong;

static void reads_as(uint32_t msr, uint64_t want)
{
	uint64_t got = 0;
	bool ok = rdmsr_safe(msr, &got);

	checks++;
	if (ok && got == want)
		return;
	wrong++;
	printk("  MSR %#x: %s%#lx, want %#lx\n", msr, ok ? "" : "#GP, ", got, want);
}

static void write(uint32_t msr, uint64_t value, bool ok)
{
	checks++;
	if (wrmsr_safe(msr, value) == ok)
		return;
	wrong++;
	printk("  MSR %#x: writing %#lx %s\n", msr, value, ok ? "raised #GP" : "did not raise #GP");
}

/* Print one report line for the checks since the last one. */
static void group(const char *what)
{
	report(checks && !wrong, "%s", what);
	checks = 0;
	wrong = 0;
}

/* Before RTIT_CTL was read, only that read is permitted (3.3.1). */
static void locked(void)
{
	uint64_t value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		write(regs[i].msr, regs[i].reset, false);
		checks++;
		wrong += regs[i].msr != VPT_ATOM_MSR_CTL && rdmsr_safe(regs[i].msr, &value);
	}
	/* A refused access does not unlock the registers. */
	checks++;
	wrong += rdmsr_safe(VPT_ATOM_MSR_STATUS, &value);
}

static void resets(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(regs); i++)
		reads_as(regs[i].msr, regs[i].reset);
	group("reset values");
}

static void unlisted(void)
{
	uint64_t value;
	uint32_t msr;

	for (msr = VPT_ATOM_MSR_FIRST; msr <= VPT_ATOM_MSR_LAST; msr++) {
		if (find(msr))
			continue;
		write(msr, 0, false);
		checks++;
		wrong += rdmsr_safe(msr, &value);
	}
	group("numbers in between that are none");
}

static void each_bit(const struct reg *reg)
{
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		uint64_t one = VPT_BIT64(bit);

		/* The sign bit of a LIP changes other bits: lip_sign(). */
		if (bit == 47 && reg->ignored >> 48)
			continue;
		write(reg->msr, reg->base, true);
		write(reg->msr, reg->base ^ one, !!((reg->bits | reg->ignored) & one));
		reads_as(reg->msr, reg->bits & one ? reg->base ^ one : reg->base);
	}
	/* Change all bits at once. */
	write(reg->msr, reg->base | reg->bits, true);
	reads_as(reg->msr, reg->base | reg->bits);
	write(reg->msr, ~(uint64_t)0, false);
	reads_as(reg->msr, reg->base | reg->bits);
	write(reg->msr, reg->base, true);
}

static void all_bits(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		/* TriggerEn would change others: at_work(). LIPs accept every value. */
		if (regs[i].msr == VPT_ATOM_MSR_CTL || regs[i].ignored >> 48)
			continue;
		each_bit(&regs[i]);
	}
	group("each bit of the registers but RTIT_CTL");
}

/* Trace_En and TraceActive are never set together here. */
static void ctl_bits(void)
{
	const struct reg *reg = find(VPT_ATOM_MSR_CTL);
	unsigned int bit;

	for (bit = 0; bit < 64; bit++) {
		uint64_t one = VPT_BIT64(bit);

		write(reg->msr, one, !!(reg->bits & one));
		reads_as(reg->msr, reg->bits & one);
		write(reg->msr, 0, true);
	}
	write(reg->msr, reg->bits & ~ATOM_CTL(TRACE_EN), true);
	reads_as(reg->msr, reg->bits & ~ATOM_CTL(TRACE_EN));
	write(reg->msr, 0, true);
	group("each bit of RTIT_CTL");
}

/* Bits 63:48 accept any value and read as bit 47 (table 8). */
static void lip_sign(void)
{
	const uint64_t low = 0x7fff12345678, high = 0x800012345678;
	uint32_t msr;
	unsigned int bit;

	for (msr = VPT_ATOM_MSR_LIP0; msr <= VPT_ATOM_MSR_LIP3; msr++) {
		for (bit = 0; bit < 48; bit++) {
			write(msr, VPT_BIT64(bit), true);
			reads_as(msr, bit == 47 ? VPT_MASK64(63, 47) : VPT_BIT64(bit));
		}
		write(msr, low | VPT_MASK64(63, 48), true);
		reads_as(msr, low);
		write(msr, high, true);
		reads_as(msr, high | VPT_MASK64(63, 48));
		write(msr, high | VPT_BIT64(60), true);
		reads_as(msr, high | VPT_MASK64(63, 48));
		write(msr, 0, true);
	}
	group("LIP0 to LIP3: bits 63:48 are those of the sign");
}

static void special(void)
{
	write(VPT_ATOM_MSR_LIMIT_MASK, 0, false);
	write(VPT_ATOM_MSR_LIMIT_MASK, 0x1fc0, false);
	write(VPT_ATOM_MSR_LIMIT_MASK, 0x1fff, true);
	reads_as(VPT_ATOM_MSR_LIMIT_MASK, 0x1fff);
	write(VPT_ATOM_MSR_LIMIT_MASK, 0x3f, true);
	group("LIMIT_MASK: six ones that stay");
	write(VPT_ATOM_MSR_TNT_BUFF, 0x2a, true);
	write(VPT_ATOM_MSR_TNT_BUFF, 0, false);
	reads_as(VPT_ATOM_MSR_TNT_BUFF, 0x2a);
	write(VPT_ATOM_MSR_TNT_BUFF, 1, true);
	group("TNT_BUFF: never zero");
}

/* Set Trace_En alone, then TraceActive, and check STATUS and the effect of writes to STATUS. */
static void at_work(const struct trace *t)
{
	const uint64_t on = ATOM_CTL(TRACE_EN) | ATOM_CTL(OS) | ATOM_CTL(DEST);
	const uint64_t context = ATOM_STATUS(CONTEXT_EN), filter = ATOM_STATUS(FILTER_EN);
	const uint64_t trigger = ATOM_STATUS(TRIGGER_EN);

	write(VPT_ATOM_MSR_BASE_ADDR, t->atom.base, true);
	write(VPT_ATOM_MSR_LIMIT_MASK, t->atom.mask, true);
	write(VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_NEVER | VPT_ATOM_ID_NEVER << 3, true);
	write(VPT_ATOM_MSR_CTL, on, true);
	reads_as(VPT_ATOM_MSR_STATUS, context);
	write(VPT_ATOM_MSR_CTL, on | ATOM_CTL(TRACE_ACTIVE), true);
	reads_as(VPT_ATOM_MSR_STATUS, context | trigger);
	write(VPT_ATOM_MSR_STATUS, 0, true);
	reads_as(VPT_ATOM_MSR_STATUS, context | trigger);
	write(VPT_ATOM_MSR_STATUS, 0x10, false);
	write(VPT_ATOM_MSR_EVENTS, VPT_ATOM_ID_ALWAYS | VPT_ATOM_ID_NEVER << 3, true);
	reads_as(VPT_ATOM_MSR_STATUS, context | trigger | filter);
	write(VPT_ATOM_MSR_CTL, on | ATOM_CTL(TRACE_ACTIVE) | VPT_BIT64(5), false);
	write(VPT_ATOM_MSR_CTL, on, true);
	write(VPT_ATOM_MSR_CTL, 0, true);
	group("STATUS tells of the enables and cannot change them");
}

void payload(void)
{
	struct trace t;

	locked();
	trace_init(&t, PAGE_SIZE);
	if (!trace_need_rtit(&t))
		return;
	group("all is locked until RTIT_CTL has been read");
	resets();
	unlisted();
	all_bits();
	ctl_bits();
	lip_sign();
	special();
	at_work(&t);
}
