// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: PT's part of a VMCS, MSR areas, usages and TSC pairs with arbitrary values. Fields
 * must read back as written. Areas must stop at the first refused element. A plan must pass the
 * checks of VM entry and load IA32_RTIT_CTL correctly, without #GP.
 */
#include <string.h>

#include "fuzz/bytes.h"
#include "vpt/tsc.h"
#include "vpt/usage.h"

#define BIT(n)	 (1ull << (n))
#define TRACE_EN BIT(0)

/* A model, or leaves of any content. */
static struct vpt_caps take_caps(struct input *in)
{
	uint8_t which = (uint8_t)take(in, 1);
	struct vpt_caps caps = *vpt_caps_model(vpt_caps_model_name(which & 3));

	if (which & 4)
		caps.vmx_pt = which >> 3 & 1;
	if (which & 16) {
		caps.l14_0_eax = (uint32_t)take(in, 1);
		caps.l14_0_ebx = (uint32_t)take(in, 4);
		caps.l14_0_ecx = (uint32_t)take(in, 4);
		caps.l14_1_eax = (uint32_t)take(in, 4);
		caps.l14_1_ebx = (uint32_t)take(in, 4);
		caps.max_phy_addr = (uint8_t)take(in, 1);
		caps.lin_addr = 48;
	}
	if (which & 32) {
		caps.l15_eax = (uint32_t)take(in, 4);
		caps.l15_ebx = (uint32_t)take(in, 4);
		caps.max_nonturbo = (uint8_t)take(in, 1);
	}
	return caps;
}

static void fuzz_fields(struct input *in)
{
	const struct vpt_vmx_fields fields = {(uint32_t)take(in, 4), (uint32_t)take(in, 4),
					      (uint32_t)take(in, 4)};
	struct vpt_vmx_fields again = fields;
	uint32_t controls = vpt_vmx_from_fields(&fields);

	REQUIRE(!(controls & ~(uint32_t)VPT_VMX_CONTROLS));
	vpt_vmx_to_fields(~controls, &again);
	REQUIRE(vpt_vmx_from_fields(&again) == (~controls & VPT_VMX_CONTROLS));
	vpt_vmx_to_fields(controls, &again);
	REQUIRE(!memcmp(&fields, &again, sizeof(fields)));
}

static void fuzz_checks(struct input *in)
{
	const struct vpt_caps caps = take_caps(in);
	const uint32_t allowed = (uint32_t)take(in, 4);
	const struct vpt_vmx vmx = {(uint32_t)take(in, 1), take(in, 1) & 1, take(in, 8)};
	enum vpt_vmx_check controls = vpt_vmx_check_controls(&vmx, &caps, allowed, take(in, 8));
	enum vpt_vmx_check guest = vpt_vmx_check_guest(&vmx, &caps);

	REQUIRE(controls < VPT_VMX_GUEST_CTL);
	REQUIRE(guest == VPT_VMX_OK || guest == VPT_VMX_GUEST_CTL);
	REQUIRE(*vpt_vmx_check_text(controls));
	if (controls == VPT_VMX_OK)
		REQUIRE(!(vmx.controls & ~allowed) && (!vmx.controls || caps.vmx_pt));
}

/* An MSR area with the elements of the input, and the registers that it loads. */
struct area {
	struct input *in;
	struct vpt_caps caps;
	struct vpt_rtit rtit;
	enum vpt_msr_area kind;
	uint32_t processed; /* elements that took effect */
	struct vpt_msr_entry entry;
};

static bool area_fetch(void *opaque, uint32_t i, struct vpt_msr_entry *entry)
{
	static const uint32_t msrs[] = {0x560, 0x561, 0x570, 0x571, 0x572, 0x580, 0x587, 0x570};
	struct area *a = opaque;
	uint8_t how = (uint8_t)take(a->in, 1);

	REQUIRE(i == a->processed);
	if (!a->in->left)
		return false;
	a->entry.index = how & 8 ? (uint32_t)take(a->in, 4) : msrs[how & 7];
	a->entry.reserved = how & 16 ? (uint32_t)take(a->in, 4) : 0;
	a->entry.value = how & 32 ? take(a->in, 8) : take(a->in, 2);
	*entry = a->entry;
	return true;
}

static bool area_store(void *opaque, uint32_t i, uint64_t value)
{
	struct area *a = opaque;

	(void)value;
	REQUIRE(a->kind == VPT_AREA_EXIT_STORE && i == a->processed);
	a->processed++;
	return true;
}

/* Check that the area had no reason to refuse this element without asking. */
static void check_asked(const struct area *a, uint32_t msr)
{
	REQUIRE(msr == a->entry.index && !a->entry.reserved);
	REQUIRE(vpt_msr_listable(a->kind, msr) && msr >> 8 != 8);
}

static enum vpt_fault area_rdmsr(void *opaque, uint32_t msr, uint64_t *value)
{
	struct area *a = opaque;

	check_asked(a, msr);
	return vpt_rtit_read(&a->rtit, &a->caps, msr, value);
}

static enum vpt_fault area_wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	struct area *a = opaque;
	enum vpt_fault fault;

	check_asked(a, msr);
	REQUIRE(a->kind != VPT_AREA_EXIT_STORE && value == a->entry.value);
	fault = vpt_rtit_write(&a->rtit, &a->caps, msr, value, VPT_ACCESS_GUEST);
	a->processed += fault == VPT_FAULT_NONE;
	return fault;
}

static void fuzz_area(struct input *in)
{
	static const struct vpt_msr_ops ops = {area_fetch, area_store, area_rdmsr, area_wrmsr};
	struct area a = {
		.in = in, .caps = take_caps(in), .kind = (enum vpt_msr_area)(take(in, 1) % 3)};
	uint64_t address = take(in, 8);
	uint32_t count = (uint32_t)take(in, 4), failed;

	if (count && vpt_msr_area_ok(&a.caps, address, count))
		REQUIRE(!(address & 15) && address + count * 16ull - 1 > address);
	vpt_rtit_reset(&a.rtit);
	failed = vpt_msr_area_run(a.kind, count, &ops, &a);
	REQUIRE(failed <= count);
	REQUIRE(a.processed == (failed ? failed - 1 : count));
}

static uint64_t through(const struct vpt_caps *caps, const struct vpt_usage_list *list,
			uint64_t ctl)
{
	struct vpt_rtit rtit;
	uint32_t i;

	vpt_rtit_reset(&rtit);
	rtit.ctl = ctl;
	REQUIRE(list->count <= VPT_USAGE_LIST_MAX);
	for (i = 0; i < list->count; i++)
		REQUIRE(vpt_rtit_write(&rtit, caps, list->entry[i].index, list->entry[i].value,
				       VPT_ACCESS_GUEST) == VPT_FAULT_NONE);
	return rtit.ctl;
}

/* Check CTL through a VM entry and a VM exit. */
static void check_plan(const struct vpt_usage_want *want, const struct vpt_caps *caps,
		       uint32_t allowed, const struct vpt_usage_plan *plan)
{
	const bool two = want->usage >= VPT_USAGE_GUEST;
	const uint64_t around = plan->reload ? 0 : want->host->ctl;
	const struct vpt_vmx vmx = {plan->controls, true, plan->guest_ctl};
	uint64_t ctl = around;

	REQUIRE(vpt_vmx_check_controls(&vmx, caps, allowed, ctl) == VPT_VMX_OK);
	REQUIRE(vpt_vmx_check_guest(&vmx, caps) == VPT_VMX_OK);
	if (plan->controls & VPT_VMX_ENTRY_LOAD_CTL)
		ctl = plan->guest_ctl;
	ctl = through(caps, &plan->entry_load, ctl);
	if (two)
		REQUIRE(ctl == want->guest->ctl);
	else if (want->usage == VPT_USAGE_HOST)
		REQUIRE(!(ctl & TRACE_EN));
	else
		REQUIRE(ctl == want->host->ctl);
	if (plan->controls & VPT_VMX_EXIT_CLEAR_CTL)
		ctl = 0;
	REQUIRE(through(caps, &plan->exit_load, ctl) == around);
	REQUIRE(!plan->reload == !(two && (want->host->ctl & want->guest->ctl & TRACE_EN)));
}

static void fuzz_plan(struct input *in)
{
	const struct vpt_caps caps = take_caps(in);
	const uint32_t allowed = (uint32_t)take(in, 4);
	struct vpt_rtit host, guest;
	struct vpt_usage_want want = {(enum vpt_usage)take(in, 1), (uint32_t)take(in, 1), &host,
				      &guest};
	struct vpt_usage_plan plan;
	const char *why = NULL;

	vpt_rtit_reset(&host);
	vpt_rtit_reset(&guest);
	host.ctl = take(in, take(in, 1) & 1 ? 8 : 2);
	guest.ctl = take(in, take(in, 1) & 1 ? 8 : 2);
	if (vpt_usage_make_plan(&want, &caps, allowed, &plan, &why) == VPT_OK &&
	    want.usage != VPT_USAGE_OFF)
		check_plan(&want, &caps, allowed, &plan);
	else
		REQUIRE(why || want.usage == VPT_USAGE_OFF);
}

static void fuzz_caps(struct input *in)
{
	const struct vpt_caps host = take_caps(in), wish = take_caps(in);
	const struct vpt_tsc tsc = {take(in, 8), take(in, 8)};
	struct vpt_caps guest;

	if (vpt_usage_guest_caps(&host, &wish, &guest) == VPT_OK) {
		REQUIRE(vpt_caps_check(&guest, NULL) == VPT_OK);
		REQUIRE(!(vpt_rtit_ctl_mask(&guest) & ~vpt_rtit_ctl_mask(&host)));
		REQUIRE(!(vpt_rtit_ctl_mask(&guest) & ~vpt_rtit_ctl_mask(&wish)));
	}
	if (vpt_caps_check(&host, NULL) == VPT_OK && vpt_tsc_caps(&host, &tsc, &guest) == VPT_OK)
		REQUIRE(vpt_caps_check(&guest, NULL) == VPT_OK);
}

static void fuzz_tsc(struct input *in)
{
	const struct vpt_tsc tsc = {take(in, 8), take(in, 8)};
	const uint64_t host = take(in, 8), about = take(in, 8), guest = vpt_tsc_guest(&tsc, host);
	uint64_t first, last;

	if (vpt_tsc_host(&tsc, guest, &first, &last) == VPT_OK) {
		REQUIRE(first <= last && first <= host);
		REQUIRE(vpt_tsc_guest(&tsc, first) == guest && vpt_tsc_guest(&tsc, last) == guest);
		REQUIRE(!first || vpt_tsc_guest(&tsc, first - 1) != guest);
		REQUIRE(last + 1 == 0 || vpt_tsc_guest(&tsc, last + 1) != guest);
	}
	if (vpt_tsc_host_packet(&tsc, guest << 8 >> 8, about, &first, &last) == VPT_OK) {
		REQUIRE(first <= last);
		REQUIRE(!((vpt_tsc_guest(&tsc, first) ^ guest) << 8));
		REQUIRE(!((vpt_tsc_guest(&tsc, last) ^ guest) << 8));
	}
	/* Looked for from where it is, it is found. */
	if (tsc.multiplier) {
		REQUIRE(vpt_tsc_host_packet(&tsc, guest << 8 >> 8, host, &first, &last) == VPT_OK);
		REQUIRE(first <= host && host <= last);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};

	switch (take(&in, 1) % 6) {
	case 0:
		fuzz_fields(&in);
		break;
	case 1:
		fuzz_checks(&in);
		break;
	case 2:
		fuzz_area(&in);
		break;
	case 3:
		fuzz_plan(&in);
		break;
	case 4:
		fuzz_caps(&in);
		break;
	default:
		fuzz_tsc(&in);
		break;
	}
	return 0;
}
