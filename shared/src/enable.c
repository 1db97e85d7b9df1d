/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The enables of 33.2.6, from the registers and the context alone. */
#include "vpt/enable.h"

/* Bits of CR3 that take part in the match (33.2.5.2). */
#define VPTI_CR3_PAGE VPT_MASK64(63, 12)
#define VPTI_CR3_PAE  VPT_MASK64(63, 5)

bool vpt_trigger_en(const struct vpt_rtit *rtit)
{
	const uint64_t ended = VPT_STATUS_MASK(ERROR) | VPT_STATUS_MASK(STOPPED);

	/* [EN-TRIGGER] */
	return (rtit->ctl & VPT_CTL_MASK(TRACE_EN)) && !(rtit->status & ended);
}

bool vpt_cr3_matches(const struct vpt_rtit *rtit, const struct vpt_context *ctx)
{
	/* [EN-CR3-WIDTH] */
	const uint64_t compared = ctx->pae ? VPTI_CR3_PAE : VPTI_CR3_PAGE;

	return !((rtit->cr3_match ^ ctx->cr3) & compared);
}

/* [EN-CPL] */
static bool vpti_cpl_traced(uint64_t ctl, unsigned int cpl)
{
	return ctl & (cpl == 0 ? VPT_CTL_MASK(OS) : VPT_CTL_MASK(USER));
}

bool vpt_context_en(const struct vpt_rtit *rtit, const struct vpt_context *ctx)
{
	/* [EN-ENCLAVE SYS-INIT-WAIT] */
	if (ctx->production_enclave || ctx->wait_for_sipi || !vpti_cpl_traced(rtit->ctl, ctx->cpl))
		return false;
	/* [EN-CR3] */
	return !(rtit->ctl & VPT_CTL_MASK(CR3_FILTER)) || vpt_cr3_matches(rtit, ctx);
}

/* ADDRn_CFG; the fields are next to one another (table 33-6). */
static unsigned int vpti_range_cfg(uint64_t ctl, unsigned int n)
{
	return (unsigned int)VPT_CTL_GET(ctl >> n * VPT_CTL_ADDR0_CFG_WIDTH, ADDR0_CFG);
}

/* [EN-RANGE-INCLUSIVE] */
static bool vpti_in_range(const struct vpt_rtit *rtit, unsigned int n, uint64_t ip)
{
	return ip >= rtit->addr[2 * n] && ip <= rtit->addr[2 * n + 1];
}

bool vpt_range_configured(const struct vpt_rtit *rtit, enum vpt_addr_cfg cfg)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if (vpti_range_cfg(rtit->ctl, n) == (unsigned int)cfg)
			return true;
	}
	return false;
}

bool vpt_range_hit(const struct vpt_rtit *rtit, enum vpt_addr_cfg cfg, uint64_t ip)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++) {
		if (vpti_range_cfg(rtit->ctl, n) == (unsigned int)cfg && vpti_in_range(rtit, n, ip))
			return true;
	}
	return false;
}

bool vpt_filter_en(const struct vpt_rtit *rtit, uint64_t ip)
{
	/* [EN-FILTER] */
	return !vpt_range_configured(rtit, VPT_ADDR_FILTER) ||
	       vpt_range_hit(rtit, VPT_ADDR_FILTER, ip);
}
