// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every #GP rule of the IA32_RTIT_* MSRs (tables 33-6 to 33-12), for the CPUID of this processor.
 * Each bit and each encoding is written, and must be stored or refused. Without PT every access
 * must be refused.
 */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "pt/trace.h"

PAYLOAD("#GP rules of the RTIT MSRs, bit by bit");

/* Stand-ins for a capability in the rows below. */
#define ALWAYS (VPT_CAP_COUNT + 0)
#define NEVER  (VPT_CAP_COUNT + 1)

/* A row: these bits of an MSR may be set only with this capability. */
struct bits {
	uint8_t hi, lo;
	int cap;
};

/* Fields of CTL, table 33-6. Those with encodings are tried one by one further down. */
static const struct ctl_field {
	uint8_t lo, width;
	const char *need; /* as in rtit_ctl.tbl */
} ctl_fields[] = {
#define CTL_BIT(bit, need, tag)		{bit, 1, need},
#define CTL_FIELD(lo, width, need, map) {lo, width, need},
#include "lib/rtit_ctl.tbl"
};

/* Table 33-7, without bits 2:0, because writes to them are ignored. */
static const struct bits status_bits[] = {
	{3, 3, NEVER},
	{5, 4, ALWAYS},
	{7, 6, VPT_CAP_PSB_PMI},
	{31, 8, NEVER},
	{48, 32, VPT_CAP_PSB_CYC},
	{63, 49, NEVER},
};

static struct trace t;
static unsigned int writes, wrong;

static bool allowed(int cap)
{
	if (cap == ALWAYS)
		return true;
	return cap != NEVER && vpt_caps_has(&t.drv.caps, (enum vpt_cap)cap);
}

/* Write a value, and check the result of a read. */
static void expect(uint32_t msr, uint64_t value, bool ok)
{
	uint64_t got = 0;

	writes++;
	if (wrmsr_safe(msr, value) != ok) {
		wrong++;
		printk("  MSR %#x: writing %#lx %s\n", msr, value,
		       ok ? "raised #GP" : "did not raise #GP");
	} else if (ok && (!rdmsr_safe(msr, &got) || got != value)) {
		wrong++;
		printk("  MSR %#x: wrote %#lx, read %#lx\n", msr, value, got);
	}
}

static void expect_refused(uint32_t msr)
{
	uint64_t value;

	writes++;
	if (rdmsr_safe(msr, &value) || wrmsr_safe(msr, 0)) {
		wrong++;
		printk("  MSR %#x: no #GP\n", msr);
	}
}

/* A register that reads 0 and drops what is written. */
static void expect_dropped(uint32_t msr)
{
	uint64_t value;

	writes++;
	if (!wrmsr_safe(msr, 1) || !rdmsr_safe(msr, &value) || value) {
		wrong++;
		printk("  MSR %#x: not 0 after a write of 1\n", msr);
	}
}

static void group(const char *what)
{
	report(!wrong, "%s: %u accesses", what, writes);
	writes = wrong = 0;
}

static void each_bit(uint32_t msr, const struct bits *bits, unsigned int count)
{
	unsigned int i, bit;

	for (i = 0; i < count; i++)
		for (bit = bits[i].lo; bit <= bits[i].hi; bit++) {
			expect(msr, VPT_BIT64(bit), allowed(bits[i].cap));
			wrmsr_safe(msr, 0);
		}
}

/* Returns true if CPUID has the bit that a field of one bit needs. */
static bool need_met(const char *need)
{
	const struct vpt_caps *caps = &t.drv.caps;

	if (!*need)
		return true;
	return (*need == 'b' ? caps->l14_0_ebx : caps->l14_0_ecx) >> (need[1] - '0') & 1;
}

static const struct ctl_field *field_of(unsigned int bit)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ctl_fields); i++)
		if (bit >= ctl_fields[i].lo && bit < ctl_fields[i].lo + ctl_fields[i].width)
			return &ctl_fields[i];
	return NULL;
}

/* Every bit of CTL by itself, but TraceEn. A bit in no field is reserved. */
static void ctl_single_bits(void)
{
	unsigned int bit;

	for (bit = 1; bit < 64; bit++) {
		const struct ctl_field *field = field_of(bit);

		if (field && field->width > 1)
			continue;
		expect(VPT_MSR_CTL, VPT_BIT64(bit), field && need_met(field->need));
		wrmsr_safe(VPT_MSR_CTL, 0);
	}
}

/* Bits of CTL that must not be set together. */
static void ctl_combinations(void)
{
#define BIT(n)		     VPT_BIT64(n)
#define CTL_NEVER(bits, tag) expect(VPT_MSR_CTL, bits, false);
#include "lib/rtit_ctl.tbl"
	wrmsr_safe(VPT_MSR_CTL, 0);
}

static void ctl_encodings(void)
{
	const struct vpt_caps *caps = &t.drv.caps;
	unsigned int enc;

	for (enc = 0; enc < 16; enc++) {
		uint64_t e = enc;
		/* Tables 33-11 and 33-12: the feature, and its bitmap. */
		bool mtc = vpt_caps_has(caps, VPT_CAP_MTC) && caps->l14_1_eax >> (16 + enc) & 1;
		bool cyc = vpt_caps_has(caps, VPT_CAP_PSB_CYC) && caps->l14_1_ebx >> enc & 1;
		bool psb = vpt_caps_has(caps, VPT_CAP_PSB_CYC) && caps->l14_1_ebx >> (16 + enc) & 1;

		expect(VPT_MSR_CTL, e << VPT_CTL_MTC_FREQ_SHIFT, !enc || mtc);
		expect(VPT_MSR_CTL, e << VPT_CTL_CYC_THRESH_SHIFT, !enc || cyc);
		expect(VPT_MSR_CTL, e << VPT_CTL_PSB_FREQ_SHIFT, !enc || psb);
	}
	wrmsr_safe(VPT_MSR_CTL, 0);
}

static void ctl_ranges(void)
{
	unsigned int ranges = vpt_caps_ranges(&t.drv.caps), n, cfg;

	for (n = 0; n < VPT_MAX_RANGES; n++)
		for (cfg = 1; cfg < 16; cfg++)
			expect(VPT_MSR_CTL, (uint64_t)cfg << (VPT_CTL_ADDR0_CFG_SHIFT + 4 * n),
			       n < ranges && cfg <= VPT_ADDR_STOP);
	wrmsr_safe(VPT_MSR_CTL, 0);
}

static void status(void)
{
	each_bit(VPT_MSR_STATUS, status_bits, ARRAY_SIZE(status_bits));
	/* Writes to the processor's own bits are ignored. */
	wrmsr_safe(VPT_MSR_STATUS, 0);
	report(wrmsr_safe(VPT_MSR_STATUS, 7) && !(rdmsr(VPT_MSR_STATUS) & 7),
	       "STATUS[2:0] ignores writes");
	wrmsr_safe(VPT_MSR_STATUS, 0);
}

static void addresses(void)
{
	unsigned int ranges = vpt_caps_ranges(&t.drv.caps), i;
	uint64_t top = VPT_BIT64((unsigned int)t.drv.caps.lin_addr - 1);

	for (i = 0; i < 2 * VPT_MAX_RANGES; i++) {
		uint32_t msr = VPT_MSR_ADDR0_A + i;

		if (i >= 2 * ranges) {
			expect_refused(msr);
			continue;
		}
		expect(msr, 0x1234567, true);
		expect(msr, top - 1, true);
		expect(msr, top, false);
		expect(msr, ~(top - 1), true);
		expect(msr, ~(top - 1) - 1, false);
		expect(msr, VPT_BIT64(63), false);
		expect(msr, 0, true);
	}
}

static void cr3_match(void)
{
	unsigned int bit;

	if (!vpt_caps_has(&t.drv.caps, VPT_CAP_CR3_FILTER)) {
		expect_refused(VPT_MSR_CR3_MATCH);
		return;
	}
	for (bit = 0; bit < 5; bit++)
		expect(VPT_MSR_CR3_MATCH, VPT_BIT64(bit), false);
	for (bit = 5; bit < 32; bit++)
		expect(VPT_MSR_CR3_MATCH, VPT_BIT64(bit), true);
	expect(VPT_MSR_CR3_MATCH, 0, true);
}

static void output(void)
{
	unsigned int phy = t.drv.caps.max_phy_addr, bit;

	for (bit = 0; bit < 64; bit++)
		expect(VPT_MSR_OUTPUT_BASE, VPT_BIT64(bit), bit >= 7 && bit < phy);
	expect(VPT_MSR_OUTPUT_BASE, 0, true);

	/* No bit is reserved, and the low seven always read as ones. */
	for (bit = 0; bit < 64; bit++)
		expect(VPT_MSR_OUTPUT_MASK_PTRS, VPT_BIT64(bit) | VPT_MASK_PTRS_LOW, true);
	report(wrmsr_safe(VPT_MSR_OUTPUT_MASK_PTRS, 0) &&
		       rdmsr(VPT_MSR_OUTPUT_MASK_PTRS) == VPT_MASK_PTRS_LOW,
	       "OUTPUT_MASK_PTRS[6:0] reads as ones");
}

static bool is_known(uint32_t msr)
{
	return (msr >= VPT_MSR_OUTPUT_BASE && msr <= VPT_MSR_OUTPUT_MASK_PTRS) ||
	       (msr >= VPT_MSR_CTL && msr <= VPT_MSR_CR3_MATCH) ||
	       (msr >= VPT_MSR_ADDR0_A && msr <= VPT_MSR_ADDR3_B);
}

static void unknown_msrs(bool all)
{
	uint32_t msr;

	for (msr = VPT_MSR_FIRST; msr <= VPT_MSR_LAST; msr++)
		if (all || !is_known(msr))
			expect_refused(msr);
}

static void all_msrs(void)
{
	unknown_msrs(true);
}

/*
 * The machine has no last-branch records. Their MSRs read 0 and drop writes, as they do on a
 * processor where TraceEn suspends them (33.3.1.2). This checks LBR_SELECT, TOS, and the first and
 * last MSRs of the stack. LER has no MSRs at all.
 */
static void lbr_msrs(void)
{
	static const uint32_t msrs[] = {0x1c8, 0x1c9, 0x680, 0x69f, 0x6c0, 0x6df, 0xdc0, 0xddf};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(msrs); i++)
		expect_dropped(msrs[i]);
	expect_refused(0x1dd);
	expect_refused(0x1de);
}

/* With ToPA and FabricEn clear the output is a single range. */
static void scheme(void)
{
	bool single = vpt_caps_has(&t.drv.caps, VPT_CAP_SINGLE_RANGE);

	guest_drv_output_single(&t.drv, t.buf, 4096);
	report(guest_drv_start(&t.drv, TRACE_ALL) == single, "TraceEn without ToPA is %s",
	       single ? "single range" : "#GP");
	if (single)
		guest_drv_stop(&t.drv);
}

/* The registers that TraceEn locks (33.2.8.1, 33.2.8.2). */
static void while_tracing(const struct guest_drv *topa)
{
	struct guest_drv drv = *topa;
	uint64_t ctl, value;
	unsigned int i;

	if (!report(guest_drv_start(&drv, TRACE_ALL), "tracing"))
		return;
	ctl = rdmsr(VPT_MSR_CTL);
	expect(VPT_MSR_CTL, ctl, true);
	expect(VPT_MSR_CTL, ctl | VPT_CTL_MASK(TSC_EN), false);
	expect(VPT_MSR_CTL, ctl | VPT_CTL_MASK(DIS_RETC), false);
	expect(VPT_MSR_CTL, ctl & ~VPT_CTL_MASK(OS), false);
	expect(VPT_MSR_CTL, ctl & ~VPT_CTL_MASK(BRANCH_EN), false);
	expect(VPT_MSR_STATUS, 0, false);
	expect(VPT_MSR_OUTPUT_BASE, drv.output_base, false);
	expect(VPT_MSR_OUTPUT_MASK_PTRS, VPT_MASK_PTRS_LOW, false);
	if (vpt_caps_has(&drv.caps, VPT_CAP_CR3_FILTER))
		expect(VPT_MSR_CR3_MATCH, 0, false);
	for (i = 0; i < 2 * vpt_caps_ranges(&drv.caps); i++)
		expect(VPT_MSR_ADDR0_A + i, 0, false);
	wrong += !rdmsr_safe(VPT_MSR_STATUS, &value) || !(value & VPT_STATUS_MASK(TRIGGER_EN));
	wrong += !rdmsr_safe(VPT_MSR_OUTPUT_BASE, &value);
	wrong += !rdmsr_safe(VPT_MSR_OUTPUT_MASK_PTRS, &value);
	group("while TraceEn is set");
	lbr_msrs();
	group("MSRs of LBRs read 0 while TraceEn is set");

	/* A write that clears TraceEn may change the rest as well. */
	expect(VPT_MSR_CTL, VPT_CTL_MASK(USER) | VPT_CTL_MASK(TSC_EN), true);
	expect(VPT_MSR_CTL, VPT_BIT64(18), false);
	expect(VPT_MSR_CTL, 0, true);
	group("clearing TraceEn");
}

void payload(void)
{
	struct guest_drv topa;

	trace_init(&t, TRACE_BUFFER);
	if (!t.on) {
		trace_run(&t, TRACE_ALL, all_msrs);
		trace_report(&t);
		group("PT is hidden, every MSR of the block is refused");
		return;
	}
	topa = t.drv;
	report(!rdmsr(VPT_MSR_CTL) && !rdmsr(VPT_MSR_STATUS), "CTL and STATUS are 0 at reset");
	ctl_single_bits();
	ctl_combinations();
	group("CTL, bits");
	ctl_encodings();
	group("CTL, encodings");
	ctl_ranges();
	group("CTL, ADDRn_CFG");
	status();
	group("STATUS");
	addresses();
	group("ADDRn_A and ADDRn_B");
	cr3_match();
	group("CR3_MATCH");
	output();
	group("OUTPUT_BASE and OUTPUT_MASK_PTRS");
	unknown_msrs(false);
	group("MSRs that do not exist");
	lbr_msrs();
	group("MSRs of LBRs read 0");
	scheme();
	while_tracing(&topa);
}
