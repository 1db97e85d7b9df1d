/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The uses of PT by a VMM (33.5.2), as data. From a use and the capabilities of the processor
 * follow controls, MSR areas and the CPUID of a guest.
 *
 *   SYSTEM  One trace over host and guest. The MSRs are left alone (33.5.2.1).
 *   HOST    The host only: entries clear TraceEn, exits set it.
 *   GUEST   The guest only, for the host (33.5.2.2).
 *   OWNED   The guest has PT of its own, with guest-physical buffers.
 *
 * A plan is made when the use or a register changes, not for each entry.
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

/*
 * Return the name of a use, or NULL for an invalid one, and the use of a name, or VPT_USAGE_COUNT
 * for an unknown one.
 */
const char *vpt_usage_name(enum vpt_usage usage);
enum vpt_usage vpt_usage_parse(const char *name);

/*
 * The elements of PT in an MSR area of the VMCS, beside those of the VMM. The only one is
 * IA32_RTIT_CTL. Software moves the other registers, see `reload`.
 */
#define VPT_USAGE_LIST_MAX 1

struct vpt_usage_list {
	uint32_t count;
	struct vpt_msr_entry entry[VPT_USAGE_LIST_MAX];
};

/*
 * Bits of `reload`: software moves the registers besides CTL at each entry and exit. Both are set
 * if root and non-root operation trace into different traces. Else neither is set. The registers
 * are then those of the side that traces, and are written once, when the plan takes effect.
 */
enum vpt_usage_reload {
	/* Before entry: clear CTL, save the registers of the host, write those of the guest. */
	VPT_RELOAD_GUEST = 1 << 0,
	/*
	 * After exit, which left TraceEn 0: save the registers of the guest, write those of the
	 * host, CTL last.
	 */
	VPT_RELOAD_HOST = 1 << 1,
};

struct vpt_usage_plan {
	uint32_t controls;  /* set of enum vpt_vmx_control */
	uint64_t guest_ctl; /* for field 2814H, with ENTRY_LOAD_CTL */
	struct vpt_usage_list entry_load;
	struct vpt_usage_list exit_load;
	uint32_t reload; /* enum vpt_usage_reload */
	bool guest_pt;	 /* the guest's CPUID has PT */
	/*
	 * OWNED: OUTPUT_BASE and ToPA tables are the guest's own. If false, as without
	 * EXEC_USE_GPA, software translates them. True needs "enable EPT" to be 1. Does not depend
	 * on the registers' values.
	 */
	bool guest_physical;
};

struct vpt_usage_want {
	enum vpt_usage usage;
	uint32_t conceal; /* subset of VPT_VMX_CONCEAL that is to be set; OWNED sets all */
	const struct vpt_rtit *host;  /* in root operation; may be NULL for OFF, SYSTEM */
	const struct vpt_rtit *guest; /* GUEST, OWNED: in non-root operation */
};

/*
 * Make a plan. Returns VPT_OK and *plan. On an error *plan is untouched, and *why (if not NULL) is
 * a few static words.
 *
 *   VPT_E_INVAL  An invalid use or conceal bit, registers of the use are missing, a CTL that no
 *		  WRMSR accepts, or OFF while the host traces.
 *   VPT_E_CAPS   The processor lacks a capability (`caps`, `allowed` as for
 *		  vpt_vmx_check_controls()).
 *
 * The MSR areas replace a missing control, except a concealing one. After any exit or failed entry,
 * CTL has the value of the host, or 0 with `reload`, when root operation resumes.
 */
enum vpt_status vpt_usage_make_plan(const struct vpt_usage_want *want, const struct vpt_caps *caps,
				    uint32_t allowed, struct vpt_usage_plan *plan,
				    const char **why) VPT_MUST_CHECK;

/*
 * Compute the capabilities of a guest: `wish`, reduced to those that the processor can provide
 * (ranges, encodings, output schemes). LIP and CPUID.15H are those of the processor (see
 * vpt_tsc_caps() for scaling). MTC needs a ratio there. If a map of periods or thresholds lacks
 * encoding 0, its capability is removed. The trace transport is never offered.
 *
 * Returns VPT_E_CAPS with *guest untouched if no capability is left.
 */
enum vpt_status vpt_usage_guest_caps(const struct vpt_caps *host, const struct vpt_caps *wish,
				     struct vpt_caps *guest) VPT_MUST_CHECK;

VPT_END_DECLS

#endif /* VPT_USAGE_H */
