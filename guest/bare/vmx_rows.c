// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables 33-52, 33-53 and 33-54, rows 9 to 12 of 33-56 and 13 to 16 of 33-59, on a processor. A
 * trace must show VM entries and exits as each usage demands, and must not show them where they are
 * concealed.
 */
#include "lib/guest.h"
#include "lib/msr.h"
#include "lib/paging.h"
#include "lib/printk.h"
#include "lib/report.h"
#include "vmx/bed.h"
#include "vmx/tracing.h"

PAYLOAD("packets of VM entries and exits, row by row");

/* Values that are known only at run time. */
enum what { AT_IP, GUEST_CR3, HOST_CR3, VMCS_PTR, EXACT };

struct want {
	uint8_t kind;
	uint8_t what;
	bool nr, psb;
	const uint8_t *ip;
	uint64_t value;
};

#define WANT_IP(kind, ip)                                    \
	{                                                    \
		VPT_PKT_##kind, AT_IP, false, false, (ip), 0 \
	}
#define WANT_OFF                                                       \
	{                                                              \
		VPT_PKT_TIP_PGD, EXACT, false, false, NULL, SEEN_NO_IP \
	}
#define WANT_PIP(what, nr, psb)                           \
	{                                                 \
		VPT_PKT_PIP, (what), (nr), (psb), NULL, 0 \
	}
#define WANT_VMCS(psb)                                        \
	{                                                     \
		VPT_PKT_VMCS, VMCS_PTR, false, (psb), NULL, 0 \
	}
#define WANT_CFE(type, ip)                                                    \
	{                                                                     \
		VPT_PKT_CFE, EXACT, false, false, NULL, SEEN_CFE(type, 0, ip) \
	}
#define WANT_EVD(value)                                         \
	{                                                       \
		VPT_PKT_EVD, EXACT, false, false, NULL, (value) \
	}

struct row {
	const char *text;
	uint8_t usage;
	bool lists, events;
	uint32_t controls;
	unsigned int least; /* least number of occurrences of the packets, 0: never */
	unsigned int count;
	struct want want[5];
};

#define OWN (VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL)

static const struct row rows[] = {
	/* table 33-53 */
	{"33-53 VM entry: PIP(guest CR3, NR=1), TIP(guest IP)",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 0,
	 1,
	 2,
	 {WANT_PIP(GUEST_CR3, true, false), WANT_IP(TIP, vm_entry_ip)}},
	{"33-53 VM exit: FUP(guest IP), PIP(host CR3, NR=0), TIP(host IP)",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 0,
	 1,
	 3,
	 {WANT_IP(FUP, vm_cpuid_ip), WANT_PIP(HOST_CR3, false, false), WANT_IP(TIP, vmx_host_ip)}},
	{"33-53 VM entry by VMRESUME",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 0,
	 1,
	 2,
	 {WANT_PIP(GUEST_CR3, true, false), WANT_IP(TIP, vm_cpuid_next)}},
	{"33-53 VM exit by VMCALL",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 0,
	 1,
	 3,
	 {WANT_IP(FUP, vm_call_ip), WANT_PIP(HOST_CR3, false, false), WANT_IP(TIP, vmx_host_ip)}},
	{"33.4.2.15 VMPTRLD: VMCS packet",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 0,
	 1,
	 1,
	 {WANT_VMCS(false)}},
	/* table 33-52, execution control */
	{"33-52 execution 0: MOV CR3 sends NR=1",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 0,
	 3,
	 1,
	 {WANT_PIP(GUEST_CR3, true, false)}},
	{"33-52 execution 0: PSB+ has NR=1",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 0,
	 1,
	 1,
	 {WANT_PIP(GUEST_CR3, true, true)}},
	{"33-52 execution 0: PSB+ has VMCS",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 0,
	 1,
	 1,
	 {WANT_VMCS(true)}},
	{"33-52 execution 1: MOV CR3 sends NR=0",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 VPT_VMX_EXEC_CONCEAL,
	 1,
	 1,
	 {WANT_PIP(GUEST_CR3, false, false)}},
	{"33-52 execution 1: entries still send NR=1",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 VPT_VMX_EXEC_CONCEAL,
	 1,
	 2,
	 {WANT_PIP(GUEST_CR3, true, false), WANT_IP(TIP, vm_entry_ip)}},
	{"33-52 execution 1: no NR in PSB+",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 VPT_VMX_EXEC_CONCEAL,
	 0,
	 1,
	 {WANT_PIP(GUEST_CR3, true, true)}},
	{"33-52 execution 1: guest-only PSB+ has no VMCS",
	 VPT_USAGE_GUEST,
	 false,
	 false,
	 OWN | VPT_VMX_EXEC_CONCEAL,
	 0,
	 1,
	 {WANT_VMCS(true)}},
	{"33-52 execution 0: guest-only PSB+ has VMCS",
	 VPT_USAGE_GUEST,
	 false,
	 false,
	 OWN,
	 1,
	 1,
	 {WANT_VMCS(true)}},
	/* table 33-52, exit control */
	{"33-52 exit 1: FUP, TIP and no PIP",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 VPT_VMX_EXIT_CONCEAL,
	 1,
	 2,
	 {WANT_IP(FUP, vm_cpuid_ip), WANT_IP(TIP, vmx_host_ip)}},
	{"33-52 exit 1: no PIP of the host",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 VPT_VMX_EXIT_CONCEAL,
	 0,
	 1,
	 {WANT_PIP(HOST_CR3, false, false)}},
	/* table 33-52, entry control */
	{"33-52 entry 1: TIP and no PIP",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 VPT_VMX_ENTRY_CONCEAL,
	 0,
	 2,
	 {WANT_PIP(GUEST_CR3, true, false), WANT_IP(TIP, vm_entry_ip)}},
	{"33-52 entry 1: the TIP is there",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 VPT_VMX_ENTRY_CONCEAL,
	 1,
	 1,
	 {WANT_IP(TIP, vm_entry_ip)}},
	{"33-52 all 1: nothing of VMX",
	 VPT_USAGE_SYSTEM,
	 false,
	 false,
	 VPT_VMX_CONCEAL,
	 0,
	 1,
	 {WANT_PIP(GUEST_CR3, true, false)}},
	/* table 33-56 */
	{"33-56 row 9: entry clears TraceEn: FUP(next IP), TIP.PGD()",
	 VPT_USAGE_HOST,
	 true,
	 false,
	 0,
	 1,
	 2,
	 {WANT_IP(FUP, vmx_launch_next), WANT_OFF}},
	{"33-56 row 10: exit sets TraceEn: TIP.PGE(host IP)",
	 VPT_USAGE_HOST,
	 true,
	 false,
	 0,
	 2,
	 1,
	 {WANT_IP(TIP_PGE, vmx_host_ip)}},
	{"33-56 row 11: guest-only exit: FUP(guest IP), TIP.PGD()",
	 VPT_USAGE_GUEST,
	 false,
	 false,
	 OWN,
	 1,
	 2,
	 {WANT_IP(FUP, vm_cpuid_ip), WANT_OFF}},
	{"33-56 row 12: guest-only entry: TIP.PGE(guest IP)",
	 VPT_USAGE_GUEST,
	 false,
	 false,
	 OWN,
	 1,
	 1,
	 {WANT_IP(TIP_PGE, vm_cpuid_next)}},
	{"33-56 row 11 by the MSR areas",
	 VPT_USAGE_GUEST,
	 true,
	 false,
	 0,
	 1,
	 2,
	 {WANT_IP(FUP, vm_cpuid_ip), WANT_OFF}},
	{"33-56 row 12 by the MSR areas",
	 VPT_USAGE_GUEST,
	 true,
	 false,
	 0,
	 1,
	 1,
	 {WANT_IP(TIP_PGE, vm_cpuid_next)}},
	{"33.5.2.2 guest-only, concealed: no NR at all",
	 VPT_USAGE_GUEST,
	 false,
	 false,
	 OWN | VPT_VMX_CONCEAL,
	 0,
	 1,
	 {WANT_PIP(GUEST_CR3, true, true)}},
	/* table 33-59, with event trace */
	{"33-59 row 16: CFE.VMENTRY(IP=1), FUP(VMLAUNCH)",
	 VPT_USAGE_SYSTEM,
	 false,
	 true,
	 0,
	 1,
	 2,
	 {WANT_CFE(CFE_VMENTRY, 1), WANT_IP(FUP, vmx_launch_ip)}},
	{"33-59 row 14: EVD, EVD, CFE.VMEXIT, FUP(guest IP)",
	 VPT_USAGE_SYSTEM,
	 false,
	 true,
	 0,
	 1,
	 4,
	 {WANT_EVD(SEEN_ANY), WANT_EVD(SEEN_ANY), WANT_CFE(CFE_VMEXIT, 0),
	  WANT_IP(FUP, vm_cpuid_ip)}},
	{"33-52 exit 1: no CFE",
	 VPT_USAGE_SYSTEM,
	 false,
	 true,
	 VPT_VMX_EXIT_CONCEAL,
	 0,
	 1,
	 {WANT_CFE(CFE_VMEXIT, 0)}},
	{"33-52 entry 1: no CFE",
	 VPT_USAGE_SYSTEM,
	 false,
	 true,
	 VPT_VMX_ENTRY_CONCEAL,
	 0,
	 1,
	 {WANT_CFE(CFE_VMENTRY, 1)}},
};

static struct tracing t;

static uint64_t value_of(const struct want *want)
{
	switch (want->what) {
	case AT_IP:
		return (uintptr_t)want->ip;
	case GUEST_CR3:
		return t.vm.cr3 | want->nr;
	case HOST_CR3:
		return read_cr3() | want->nr;
	case VMCS_PTR:
		return (uintptr_t)t.vm.vmcs;
	default:
		return want->value;
	}
}

static void check(const struct row *row)
{
	struct seen want[ARRAY_SIZE(row->want)];
	unsigned int i, found;

	for (i = 0; i < row->count; i++) {
		want[i].kind = row->want[i].kind;
		want[i].psb = row->want[i].psb;
		want[i].value = value_of(&row->want[i]);
	}
	found = seen_count(&t.seen, want, row->count);
	if (!report(t.seen.whole && (row->least ? found >= row->least : !found), "%s", row->text)) {
		printk("  found %u times; the last entry ended with %u, %#lx\n", found, t.result,
		       t.reason);
		seen_print(&t.seen);
	}
}

static void run_row(const struct row *row)
{
	uint64_t ctl = t.ctl;

	if (row->events && !vpt_caps_has(&t.drv.caps, VPT_CAP_EVENT)) {
		report_note("%s: no event trace here", row->text);
		return;
	}
	if (row->events)
		t.ctl |= VPT_CTL_MASK(EVENT_EN);
	if (row->controls & ~t.vm.allowed_pt) {
		report_note("%s: a control is missing here", row->text);
	} else {
		bed_mark(row->text);
		tracing_turn(&t, (enum vpt_usage)row->usage, row->controls, row->lists, 1500);
		check(row);
	}
	t.ctl = ctl;
}

/* Field 2814H holds the guest's CTL; "clear" leaves 0. */
static void check_saved(void)
{
	uint64_t on = t.ctl | VPT_CTL_MASK(TRACE_EN);

	if (~t.vm.allowed_pt & OWN)
		return;
	tracing_turn(&t, VPT_USAGE_GUEST, OWN, false, 0);
	report_equal(t.saved, on, "33.5: field 2814H after an exit");
	report_equal(t.end_ctl, 0, "33.5: IA32_RTIT_CTL is clear after an exit");
	tracing_turn(&t, VPT_USAGE_SYSTEM, 0, false, 0);
	report_equal(t.end_ctl, on, "33.5.2.1: system-wide tracing goes on after an exit");
}

/* Check table 33-54 with a control that is not allowed, and with a reserved bit of guest state. */
static void check_failed_entries(void)
{
	const struct seen next = {VPT_PKT_TIP, false, (uintptr_t)vmx_launch_next};
	const struct seen late[2] = {{VPT_PKT_PIP, false, read_cr3()},
				     {VPT_PKT_TIP, false, (uintptr_t)vmx_host_ip}};
	uint64_t rflags = vmread(VMCS_GUEST_RFLAGS);
	uint64_t cpu = vmread(VMCS_EXEC_CPU);

	bed_mark("33-54");
	vmwrite(VMCS_EXEC_CPU, 0);
	tracing_turn(&t, VPT_USAGE_SYSTEM, 0, false, 0);
	report(seen_count(&t.seen, &next, 1) == 1, "33-54 system-wide, early: TIP(next IP)");
	tracing_turn(&t, VPT_USAGE_HOST, 0, true, 0);
	report(seen_count(&t.seen, &next, 1) == 1, "33-54 VMM only, early: TIP(next IP)");
	if (!(~t.vm.allowed_pt & OWN)) {
		tracing_turn(&t, VPT_USAGE_GUEST, OWN, false, 0);
		report(t.bytes == 0, "33-54 VM only, early: nothing");
	}
	vmwrite(VMCS_EXEC_CPU, cpu);

	vmwrite(VMCS_GUEST_RFLAGS, 0);
	tracing_turn(&t, VPT_USAGE_SYSTEM, 0, false, 0);
	if (!report(seen_count(&t.seen, late, 2) == 1,
		    "33-54 system-wide, late: PIP(host CR3, NR=0), TIP(host IP)"))
		seen_print(&t.seen);
	if (!(~t.vm.allowed_pt & OWN)) {
		tracing_turn(&t, VPT_USAGE_GUEST, OWN, false, 0);
		report(t.bytes == 0, "33-54 VM only, late: nothing");
	}
	vmwrite(VMCS_GUEST_RFLAGS, rflags);
}

void payload(void)
{
	unsigned int i;

	if (!tracing_init(&t))
		return;
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		run_row(&rows[i]);
	check_saved();
	check_failed_entries();
}
