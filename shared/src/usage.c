/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Usages of PT under a VMM. A usage is three values of IA32_RTIT_CTL: when the entry begins, inside
 * the guest, and after the exit. It also says what changes one value to the next.
 */
#include "vpt/usage.h"

static const char *const vpti_usage_names[VPT_USAGE_COUNT] = {
	"off", "system", "host", "guest", "owned",
};

const char *vpt_usage_name(enum vpt_usage usage)
{
	return (unsigned int)usage < VPT_USAGE_COUNT ? vpti_usage_names[usage] : NULL;
}

static bool vpti_same_word(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

enum vpt_usage vpt_usage_parse(const char *name)
{
	unsigned int i;

	for (i = 0; i < VPT_USAGE_COUNT; i++) {
		if (vpti_same_word(vpti_usage_names[i], name))
			break;
	}
	return (enum vpt_usage)i;
}

static bool vpti_traces(uint64_t ctl)
{
	return ctl & VPT_CTL_MASK(TRACE_EN);
}

/* Does the guest have registers of its own? */
static bool vpti_two_sided(enum vpt_usage usage)
{
	return usage == VPT_USAGE_GUEST || usage == VPT_USAGE_OWNED;
}

/* These return what is wrong, or NULL. */
static const char *vpti_want_wrong(const struct vpt_usage_want *want)
{
	if ((unsigned int)want->usage >= VPT_USAGE_COUNT)
		return "no such usage";
	if (want->conceal & ~(uint32_t)VPT_VMX_CONCEAL)
		return "not a control that conceals";
	if (!want->host && want->usage != VPT_USAGE_OFF && want->usage != VPT_USAGE_SYSTEM)
		return "the host's registers are missing";
	if (!want->guest && vpti_two_sided(want->usage))
		return "the guest's registers are missing";
	if (want->host && want->usage == VPT_USAGE_OFF && vpti_traces(want->host->ctl))
		return "the host traces";
	return NULL;
}

static const char *vpti_ctl_wrong(const struct vpt_usage_want *want, const struct vpt_caps *caps)
{
	if (want->usage == VPT_USAGE_OFF)
		return NULL;
	if (want->host && !vpt_rtit_ctl_ok(caps, want->host->ctl))
		return "the host's IA32_RTIT_CTL has reserved bits set";
	if (vpti_two_sided(want->usage) && !vpt_rtit_ctl_ok(caps, want->guest->ctl))
		return "the guest's IA32_RTIT_CTL has reserved bits set";
	return NULL;
}

/* The concealing controls to set. */
static uint32_t vpti_conceal(const struct vpt_usage_want *want)
{
	/* [VMX-USAGE-OWNED] a guest's own trace must not tell of the host */
	return want->usage == VPT_USAGE_OWNED ? (uint32_t)VPT_VMX_CONCEAL : want->conceal;
}

static const char *vpti_want_beyond(const struct vpt_usage_want *want, const struct vpt_caps *caps,
				    uint32_t allowed)
{
	if (want->usage != VPT_USAGE_OFF) {
		if (!vpt_rtit_exists(caps, VPT_MSR_CTL))
			return "the processor has no PT";
		if (!caps->vmx_pt)
			return "no tracing in VMX operation";
	}
	/* No area can do the work of these. */
	if (vpti_conceal(want) & ~allowed)
		return "VMX cannot be concealed";
	return NULL;
}

static void vpti_list_ctl(struct vpt_usage_list *list, uint64_t ctl)
{
	list->count = 1;
	list->entry[0].index = VPT_MSR_CTL;
	list->entry[0].reserved = 0;
	list->entry[0].value = ctl;
}

/* [VMX-USAGE-HOST] An entry with TraceEn set must not load the field: the areas do it. */
static void vpti_plan_host(struct vpt_usage_plan *plan, uint64_t host)
{
	if (!vpti_traces(host))
		return;
	vpti_list_ctl(&plan->entry_load, 0);
	vpti_list_ctl(&plan->exit_load, host);
}

#define VPT_VMX_GPA_SET (VPT_VMX_EXEC_USE_GPA | VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL)

/* The controls that may carry `inside`; none where the entry finds TraceEn set. */
static uint32_t vpti_carriers(const struct vpt_usage_plan *plan, uint32_t allowed, uint64_t outside)
{
	if (vpti_traces(outside))
		return 0;
	if (plan->guest_physical)
		return VPT_VMX_GPA_SET;
	return allowed & (VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL);
}

/* [VMX-USAGE-GUEST] CTL is `inside` in non-root operation and `outside` around it. */
static void vpti_plan_guest(struct vpt_usage_plan *plan, uint32_t allowed, uint64_t inside,
			    uint64_t host)
{
	uint64_t outside = host, left;

	/* [VMX-USAGE-RELOAD] */
	if (vpti_traces(inside) && vpti_traces(host)) {
		plan->reload = VPT_RELOAD_GUEST | VPT_RELOAD_HOST;
		outside = 0;
	}
	plan->controls |= vpti_carriers(plan, allowed, outside);

	if (plan->controls & VPT_VMX_ENTRY_LOAD_CTL)
		plan->guest_ctl = inside;
	else if (inside != outside)
		vpti_list_ctl(&plan->entry_load, inside);

	left = plan->controls & VPT_VMX_EXIT_CLEAR_CTL ? 0 : inside;
	if (left != outside)
		vpti_list_ctl(&plan->exit_load, outside);
}

static void vpti_plan_fill(const struct vpt_usage_want *want, uint32_t allowed,
			   struct vpt_usage_plan *plan)
{
	const bool owned = want->usage == VPT_USAGE_OWNED;

	vpt_memset(plan, 0, sizeof(*plan));
	plan->controls = vpti_conceal(want);
	/* [VMX-USAGE-CPUID] */
	plan->guest_pt = owned;
	plan->guest_physical = owned && (allowed & VPT_VMX_GPA_SET) == VPT_VMX_GPA_SET;

	switch (want->usage) {
	case VPT_USAGE_HOST:
		vpti_plan_host(plan, want->host->ctl);
		break;
	case VPT_USAGE_GUEST:
	case VPT_USAGE_OWNED:
		vpti_plan_guest(plan, allowed, want->guest->ctl, want->host->ctl);
		break;
	case VPT_USAGE_OFF:
	case VPT_USAGE_SYSTEM:
	case VPT_USAGE_COUNT:
		/* [VMX-USAGE-SYSTEM] the MSRs are left alone */
		break;
	}
}

static enum vpt_status vpti_because(enum vpt_status status, const char *wrong, const char **why)
{
	if (why)
		*why = wrong;
	return status;
}

enum vpt_status vpt_usage_make_plan(const struct vpt_usage_want *want, const struct vpt_caps *caps,
				    uint32_t allowed, struct vpt_usage_plan *plan, const char **why)
{
	const uint32_t can = vpt_vmx_allowed(caps, allowed);
	const char *wrong = vpti_want_wrong(want);

	if (wrong)
		return vpti_because(VPT_E_INVAL, wrong, why);
	wrong = vpti_want_beyond(want, caps, can);
	if (wrong)
		return vpti_because(VPT_E_CAPS, wrong, why);
	wrong = vpti_ctl_wrong(want, caps);
	if (wrong)
		return vpti_because(VPT_E_INVAL, wrong, why);
	vpti_plan_fill(want, can, plan);
	return VPT_OK;
}
