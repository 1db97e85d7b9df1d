/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What a VMM can use PT for (33.5.2), as data: from a usage and what the processor has
 * to controls, MSR areas and CPUID of a guest.
 *
 *   system  one trace over host and guest; the MSRs are left alone (33.5.2.1)
 *   host    the host only: entries clear TraceEn, exits set it
 *   guest   the guest only, for the host (33.5.2.2)
 *   owned   the guest has PT of its own, with guest-physical buffers
 *
 * A plan is made when the usage or a register changes, not per entry.
 */
#ifndef VPT_USAGE_H
#define VPT_USAGE_H

#include "vmx.h"
#include "vmx_list.h"

VPT_BEGIN_DECLS

enum vpt_usage {
	VPT_USAGE_OFF,
	VPT_USAGE_SYSTEM,
	VPT_USAGE_HOST,
	VPT_USAGE_GUEST,
	VPT_USAGE_OWNED,
	VPT_USAGE_COUNT
};

/* "system" and so on; NULL for what is no usage, VPT_USAGE_COUNT for what is no name. */
const char *vpt_usage_name(enum vpt_usage usage);
enum vpt_usage vpt_usage_parse(const char *name);

/* What an MSR area of the VMCS has to hold for PT, beside the VMM's own elements. It is
 * IA32_RTIT_CTL or nothing: whatever else has to move needs software, see `reload`. */
#define VPT_USAGE_LIST_MAX 1

struct vpt_usage_list {
	uint32_t count;
	struct vpt_msr_entry entry[VPT_USAGE_LIST_MAX];
};

/*
 * Bits of `reload`: the registers besides CTL that software has to move, at each entry
 * and exit. Both are set where root and non-root operation both trace, into traces of
 * their own; else neither is, and the registers are those of the side that traces, put
 * there once, when the plan is taken up.
 */
enum vpt_usage_reload {
	/* Before entry: clear CTL, save the host's, write the guest's. */
	VPT_RELOAD_GUEST = 1 << 0,
	/* After exit, which left TraceEn 0: save the guest's, write the host's, CTL last. */
	VPT_RELOAD_HOST = 1 << 1,
};

struct vpt_usage_plan {
	uint32_t controls;  /* set of enum vpt_vmx_control */
	uint64_t guest_ctl; /* for field 2814H, with ENTRY_LOAD_CTL */
	struct vpt_usage_list entry_load;
	struct vpt_usage_list exit_load;
	uint32_t reload; /* enum vpt_usage_reload */
	bool guest_pt;	 /* the guest's CPUID has PT */
	/* OWNED: OUTPUT_BASE and ToPA tables are the guest's own; false where software has to
	 * translate them, as without EXEC_USE_GPA. True needs "enable EPT" to be 1. Does not
	 * depend on what the registers hold. */
	bool guest_physical;
};

struct vpt_usage_want {
	enum vpt_usage usage;
	uint32_t conceal; /* subset of VPT_VMX_CONCEAL that is to be set; OWNED sets all */
	const struct vpt_rtit *host;  /* in root operation; may be NULL for OFF, SYSTEM */
	const struct vpt_rtit *guest; /* GUEST, OWNED: in non-root operation */
};

/*
 * VPT_OK and *plan, or with *plan untouched and *why (if not NULL) a few static words
 *   VPT_E_INVAL  no such usage or conceal bit, registers missing that the usage has, a CTL
 *		  that no WRMSR takes, or OFF while the host traces
 *   VPT_E_CAPS   the processor (`caps`, `allowed` as for vpt_vmx_check_controls()) cannot
 *
 * Where a control is missing its work is done by the MSR areas, but for the concealing
 * ones. Whichever way the entry goes, failures of all kinds included, CTL is what it was
 * once root operation goes on: what the host has, or with `reload` 0.
 */
enum vpt_status vpt_usage_make_plan(const struct vpt_usage_want *want, const struct vpt_caps *caps,
				    uint32_t allowed, struct vpt_usage_plan *plan,
				    const char **why) VPT_MUST_CHECK;

/*
 * What a guest may be told it has: `wish` cut down to what the processor can do for it
 * (ranges, encodings, output schemes). What is the processor's own, and no wish, is its
 * own: LIP and CPUID.15H (see vpt_tsc_caps() for scaling). MTC needs a ratio there. A map of
 * periods or thresholds that lacks encoding 0 takes its capability away. The trace transport is
 * never offered. VPT_E_CAPS, and *guest untouched, if nothing is left to offer.
 */
enum vpt_status vpt_usage_guest_caps(const struct vpt_caps *host, const struct vpt_caps *wish,
				     struct vpt_caps *guest) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_USAGE_H */
