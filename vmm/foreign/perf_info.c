// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads perf's description of Intel PT: the clock, the crystal, and the registers from the event's
 * config.
 */
#include <errno.h>
#include <stdio.h>

#include "foreign/perf_file.h"
#include "vpt/msr.h"

/* The bits of config that the driver copies to IA32_RTIT_CTL (pt.c, PT_CONFIG_MASK). */
#define CONFIG_PASSED                                                                 \
	(VPT_CTL_MASK(CYC_EN) | VPT_CTL_MASK(PWR_EVT_EN) | VPT_CTL_MASK(FUP_ON_PTW) | \
	 VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(DIS_RETC) |       \
	 VPT_CTL_MASK(PTW_EN) | VPT_CTL_MASK(EVENT_EN) | VPT_CTL_MASK(DIS_TNT) |      \
	 VPT_CTL_MASK(MTC_FREQ) | VPT_CTL_MASK(CYC_THRESH) | VPT_CTL_MASK(PSB_FREQ))
/* perf: BranchEn follows config if this bit is set, and is 1 otherwise. */
#define CONFIG_PT 1ull

#define GIGA 1000000000ull

static int wrong(struct perf_file *f, const char *what)
{
	snprintf(f->why, f->size, "%s", what);
	return -EINVAL;
}

int perf_info(struct perf_file *f, struct span body)
{
	uint32_t type = span_u32(&body);
	unsigned int i;

	(void)span_u32(&body);
	if (body.bad || type != AUXTRACE_INTEL_PT)
		return wrong(f, "its trace is not of Intel PT");
	if (body.left < PRIV_LEAST * sizeof(uint64_t))
		return wrong(f, "what it says of Intel PT is cut off");
	for (i = 0; i < PRIV_COUNT && body.left >= sizeof(uint64_t); i++)
		f->priv[i] = span_u64(&body);
	f->has_info = true;
	return 0;
}

static uint64_t ctl_of(const struct perf_attr *a)
{
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(TOPA) | (a->config & CONFIG_PASSED);

	if (!(a->config & CONFIG_PT) || a->config & VPT_CTL_MASK(BRANCH_EN))
		ctl |= VPT_CTL_MASK(BRANCH_EN);
	if (!(a->flags & ATTR_EXCLUDE_KERNEL))
		ctl |= VPT_CTL_MASK(OS);
	if (!(a->flags & ATTR_EXCLUDE_USER))
		ctl |= VPT_CTL_MASK(USER);
	return ctl;
}

static void set_clock(struct perf_file *f)
{
	struct foreign_clock *c = &f->trace->clock;
	const uint64_t shift = f->priv[PRIV_TIME_SHIFT], mult = f->priv[PRIV_TIME_MULT];

	if (shift > 32 || !mult || mult >> 32)
		return;
	c->shift = (unsigned int)shift;
	c->mult = mult;
	c->zero = f->priv[PRIV_TIME_ZERO];
	c->known = f->trace->timed && f->priv[PRIV_CAP_USER_TIME_ZERO] &&
		   f->trace->ctl & VPT_CTL_MASK(TSC_EN);
	f->trace->tsc_hz = (GIGA << (shift < 32 ? shift : 32)) / mult;
}

int perf_finish(struct perf_file *f)
{
	struct foreign_trace *t = f->trace;
	const struct perf_attr *pt = NULL;
	size_t i, k;

	if (!f->has_info || !t->streams.n)
		return wrong(f, "it has no trace of Intel PT");
	t->timed = f->attrs.n > 0;
	for (i = 0; i < f->attrs.n; i++) {
		t->timed &= (f->attrs.at[i].sample_type & SAMPLE_TIME) != 0;
		if (!pt && f->attrs.at[i].type == f->priv[PRIV_PMU_TYPE])
			pt = &f->attrs.at[i];
	}
	if (!pt)
		return wrong(f, "it has no event of Intel PT");
	t->ctl = ctl_of(pt);
	t->caps.l15_ebx = (uint32_t)f->priv[PRIV_TSC_CTC_N];
	t->caps.l15_eax = (uint32_t)f->priv[PRIV_TSC_CTC_D];
	t->caps.max_nonturbo = (uint8_t)f->priv[PRIV_MAX_NONTURBO];
	set_clock(f);
	t->snapshots = f->priv[PRIV_SNAPSHOT_MODE];
	for (i = 0; t->snapshots && i < t->streams.n; i++) {
		for (k = 0; k < t->streams.at[i].pieces.n; k++)
			t->streams.at[i].pieces.at[k].fresh = true;
	}
	return 0;
}
