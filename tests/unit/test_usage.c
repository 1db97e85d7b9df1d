// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usages, on a small processor: its MSRs are vpt_rtit's, written as a guest writes them,
 * and it does VM entries and exits with what a plan gives it, failing ones too. The VMM
 * on it does what a plan's `reload` says and no more. Any #GP fails the test, and wherever
 * something traces, all registers have to be those of the side that should.
 */
#include <string.h>

#include "lib/packets.h"
#include "lib/suite.h"
#include "vpt/usage.h"

#define BIT(n)	     (1ull << (n))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TRACE_EN     BIT(0)
#define LOAD	     (1u << 5)
#define CLEAR	     (1u << 3)
#define GPA	     (1u << 1)
#define CONCEAL	     0x15u

enum side { ROOT, NON_ROOT };

/* Where an entry fails, if it does. */
enum failure {
	NO_FAILURE,
	EARLY,
	GUEST_STATE, /* before anything is loaded */
	BEFORE_LIST, /* the VMM's own element before PT's */
	AFTER_LIST,  /* and after it */
	FAILURES
};

struct machine {
	struct vpt_caps caps;
	uint32_t allowed;
	struct vpt_rtit msrs;
	/* The VMM's. */
	enum vpt_usage usage;
	struct vpt_usage_plan plan;
	enum side resident; /* whose registers the MSRs are, in root operation */
	struct vpt_rtit memory[2];
	/* What the registers of each side should be by now. */
	struct vpt_rtit truth[2];
	unsigned long traced[2];
};

static const uint32_t numbers[] = {0x571, 0x560, 0x561, 0x572, 0x580, 0x581, 0x582,
				   0x583, 0x584, 0x585, 0x586, 0x587, 0x570};

static uint64_t *place(struct vpt_rtit *rtit, uint32_t msr)
{
	switch (msr) {
	case 0x570:
		return &rtit->ctl;
	case 0x571:
		return &rtit->status;
	case 0x560:
		return &rtit->output_base;
	case 0x561:
		return &rtit->output_mask_ptrs;
	case 0x572:
		return &rtit->cr3_match;
	default:
		return &rtit->addr[msr - 0x580];
	}
}

static void wrmsr(struct machine *m, uint32_t msr, uint64_t value)
{
	enum vpt_fault fault = vpt_rtit_write(&m->msrs, &m->caps, msr, value, VPT_ACCESS_GUEST);

	ck_assert_msg(fault == VPT_FAULT_NONE, "WRMSR %x, %lx raises #GP while CTL is %lx", msr,
		      (unsigned long)value, (unsigned long)m->msrs.ctl);
}

/* OFF is for processors without PT as well. */
static void set_ctl(struct machine *m, uint64_t ctl)
{
	if (vpt_rtit_exists(&m->caps, 0x570))
		wrmsr(m, 0x570, ctl);
}

/* Everything but CTL. */
static void save(struct machine *m, enum side side)
{
	size_t i;

	for (i = 0; i + 1 < COUNT(numbers); i++) {
		if (vpt_rtit_exists(&m->caps, numbers[i]))
			ck_assert_int_eq(vpt_rtit_read(&m->msrs, &m->caps, numbers[i],
						       place(&m->memory[side], numbers[i])),
					 VPT_FAULT_NONE);
	}
}

static void load(struct machine *m, enum side side)
{
	size_t i;

	for (i = 0; i + 1 < COUNT(numbers); i++) {
		if (vpt_rtit_exists(&m->caps, numbers[i]))
			wrmsr(m, numbers[i], *place(&m->memory[side], numbers[i]));
	}
}

/* Does the usage let this side trace, and with whose registers? */
static bool should_trace(const struct machine *m, enum side where, enum side *whose)
{
	*whose = where;
	switch (m->usage) {
	case VPT_USAGE_SYSTEM:
		*whose = ROOT;
		break;
	case VPT_USAGE_HOST:
		if (where == NON_ROOT)
			return false;
		break;
	case VPT_USAGE_GUEST:
	case VPT_USAGE_OWNED:
		break;
	default:
		return false;
	}
	return m->truth[*whose].ctl & TRACE_EN;
}

/* A while in one side: if it traces, output moves on. */
static void run(struct machine *m, enum side where)
{
	enum side whose;
	bool should = should_trace(m, where, &whose);

	ck_assert_msg(should == !!(m->msrs.ctl & TRACE_EN), "%s, %s: CTL is %lx",
		      vpt_usage_name(m->usage), where == ROOT ? "root" : "non-root",
		      (unsigned long)m->msrs.ctl);
	if (!should)
		return;
	ck_assert_msg(!memcmp(&m->msrs, &m->truth[whose], sizeof(m->msrs)),
		      "%s traces with registers of something else", vpt_usage_name(m->usage));
	m->msrs.output_mask_ptrs += BIT(32);
	m->truth[whose].output_mask_ptrs += BIT(32);
	if (m->caps.l14_0_ebx & 2) {
		m->msrs.status ^= BIT(33);
		m->truth[whose].status ^= BIT(33);
	}
	m->traced[where]++;
}

/* The VMM: a plan made for the registers of now, and taken up. */
static enum vpt_status take_up(struct machine *m, enum vpt_usage usage, uint32_t conceal)
{
	const struct vpt_usage_want want = {usage, conceal, &m->memory[ROOT], &m->memory[NON_ROOT]};
	bool guest_only;
	enum vpt_status status;

	memset(&m->plan, 0xee, sizeof(m->plan));
	status = vpt_usage_make_plan(&want, &m->caps, m->allowed, &m->plan, NULL);
	if (status != VPT_OK)
		return status;
	m->usage = usage;
	guest_only = (usage == VPT_USAGE_GUEST || usage == VPT_USAGE_OWNED) && !m->plan.reload &&
		     (m->memory[NON_ROOT].ctl & TRACE_EN);
	m->resident = guest_only ? NON_ROOT : ROOT;
	load(m, m->resident);
	set_ctl(m, m->memory[ROOT].ctl);
	return VPT_OK;
}

/* The VMM before that: nothing traces, and all registers are in memory. */
static void put_down(struct machine *m)
{
	set_ctl(m, 0);
	save(m, m->resident);
	ck_assert(!memcmp(&m->memory[ROOT], &m->truth[ROOT], sizeof(m->truth[ROOT])));
	ck_assert(!memcmp(&m->memory[NON_ROOT], &m->truth[NON_ROOT], sizeof(m->truth[NON_ROOT])));
}

/* A list with an element of the VMM's on either side. */
struct list {
	struct machine *m;
	const struct vpt_usage_list *pt;
	bool fail_first, fail_last;
};

static bool fetch(void *opaque, uint32_t i, struct vpt_msr_entry *entry)
{
	struct list *list = opaque;

	if (i > 0 && i <= list->pt->count) {
		*entry = list->pt->entry[i - 1];
		return true;
	}
	memset(entry, 0, sizeof(*entry));
	entry->index = 0x10;
	entry->reserved = i ? list->fail_last : list->fail_first;
	return true;
}

static enum vpt_fault list_wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	struct list *list = opaque;

	if (msr != 0x10)
		wrmsr(list->m, msr, value);
	return VPT_FAULT_NONE;
}

static const struct vpt_msr_ops list_ops = {fetch, NULL, NULL, list_wrmsr};

static uint32_t run_list(struct machine *m, const struct vpt_usage_list *pt, enum vpt_msr_area area,
			 enum failure failure)
{
	struct list list = {m, pt, failure == BEFORE_LIST, failure == AFTER_LIST};

	ck_assert_uint_le(pt->count, VPT_USAGE_LIST_MAX);
	return vpt_msr_area_run(area, pt->count + 2, &list_ops, &list);
}

static void exit_guest(struct machine *m)
{
	if (m->plan.controls & CLEAR)
		m->msrs.ctl = 0;
	ck_assert_uint_eq(run_list(m, &m->plan.exit_load, VPT_AREA_EXIT_LOAD, NO_FAILURE), 0);
}

/* VM entry, the guest for a while, and VM exit; or as much of it as there is. */
static void processor(struct machine *m, enum failure failure)
{
	const struct vpt_vmx vmx = {m->plan.controls, true, m->plan.guest_ctl};

	if (failure == EARLY)
		return;
	ck_assert_int_eq(vpt_vmx_check_controls(&vmx, &m->caps, m->allowed, m->msrs.ctl),
			 VPT_VMX_OK);
	ck_assert_int_eq(vpt_vmx_check_guest(&vmx, &m->caps), VPT_VMX_OK);
	if (failure == GUEST_STATE) {
		exit_guest(m);
		return;
	}
	if (m->plan.controls & LOAD)
		m->msrs.ctl = m->plan.guest_ctl;
	if (run_list(m, &m->plan.entry_load, VPT_AREA_ENTRY_LOAD, failure) == 0)
		run(m, NON_ROOT);
	exit_guest(m);
}

static void transition(struct machine *m, enum failure failure)
{
	run(m, ROOT);
	if (m->plan.reload & VPT_RELOAD_GUEST) {
		wrmsr(m, 0x570, 0);
		save(m, ROOT);
		load(m, NON_ROOT);
	}
	processor(m, failure);
	if (m->plan.reload & VPT_RELOAD_HOST) {
		ck_assert_uint_eq(m->msrs.ctl & TRACE_EN, 0);
		save(m, NON_ROOT);
		load(m, ROOT);
		wrmsr(m, 0x570, m->memory[ROOT].ctl);
	}
	ck_assert_uint_eq(m->msrs.ctl, m->truth[ROOT].ctl);
	run(m, ROOT);
}

/* Processors */

static struct vpt_caps processor_caps(unsigned int i)
{
	struct vpt_caps caps = *vpt_caps_model("skl");

	switch (i) {
	case 0:
		break;
	case 1:
		caps = *vpt_caps_model("icx");
		break;
	case 2:
		caps = *vpt_caps_model("spr");
		break;
	case 3: /* ToPA and nothing else */
		caps = *vpt_caps_model("bdw");
		caps.vmx_pt = 1;
		break;
	case 4: /* PT, but none in VMX operation */
		caps = *vpt_caps_model("bdw");
		break;
	default: /* no PT */
		caps.l14_0_eax = caps.l14_0_ebx = caps.l14_0_ecx = 0;
		caps.l14_1_eax = caps.l14_1_ebx = 0;
		caps.vmx_pt = 0;
		break;
	}
	return caps;
}

#define PROCESSORS 6

/* Registers of one side; no two sides have one in common. */
static struct vpt_rtit registers(const struct vpt_caps *caps, enum side side, unsigned int kind)
{
	static const uint64_t config[2] = {BIT(2) | BIT(8) | BIT(13), BIT(3) | BIT(8) | BIT(10)};
	struct vpt_rtit rtit;
	unsigned int n;

	vpt_rtit_reset(&rtit);
	rtit.output_base = 0x100000 + 0x10000 * side;
	rtit.output_mask_ptrs = 0x7f | (uint64_t)side << 40;
	rtit.status = side == NON_ROOT ? BIT(5) : 0;
	rtit.cr3_match = caps->l14_0_ebx & 1 ? 0x3000 + 0x1000 * side : 0;
	for (n = 0; n < 2 * vpt_caps_ranges(caps); n++)
		rtit.addr[n] = 0x400000 + 0x1000 * n + 0x100000 * side;
	rtit.ctl = kind ? config[side] | (kind > 1) : 0;
	return rtit;
}

static struct machine boot(unsigned int processor, uint32_t allowed, unsigned int host,
			   unsigned int guest)
{
	struct machine m = {.caps = processor_caps(processor), .allowed = allowed};

	vpt_rtit_reset(&m.msrs);
	m.truth[ROOT] = registers(&m.caps, ROOT, host);
	m.truth[NON_ROOT] = registers(&m.caps, NON_ROOT, guest);
	memcpy(m.memory, m.truth, sizeof(m.memory));
	return m;
}

/* What a plan has to be, case by case */

static enum vpt_status expected_status(const struct machine *m, enum vpt_usage usage,
				       uint32_t conceal)
{
	uint32_t can = m->caps.vmx_pt ? m->allowed : 0;

	if (usage == VPT_USAGE_OFF && (m->memory[ROOT].ctl & TRACE_EN))
		return VPT_E_INVAL;
	if (usage != VPT_USAGE_OFF && !m->caps.vmx_pt)
		return VPT_E_CAPS;
	if (usage == VPT_USAGE_OWNED)
		conceal = CONCEAL;
	return conceal & ~can ? VPT_E_CAPS : VPT_OK;
}

/* What holds of any plan, apart from that it works. */
static void check_plan(const struct machine *m, uint32_t conceal)
{
	const struct vpt_usage_plan *plan = &m->plan;
	bool owned = m->usage == VPT_USAGE_OWNED, two = owned || m->usage == VPT_USAGE_GUEST;
	bool host = m->truth[ROOT].ctl & TRACE_EN,
	     guest = two && (m->truth[NON_ROOT].ctl & TRACE_EN);
	uint32_t all = LOAD | CLEAR | GPA;

	ck_assert_uint_eq(plan->controls & CONCEAL, owned ? CONCEAL : conceal);
	ck_assert_uint_eq(plan->controls & ~m->allowed, 0);
	ck_assert_int_eq(plan->guest_pt, owned);
	ck_assert_int_eq(plan->guest_physical, owned && (m->allowed & all) == all);
	ck_assert_uint_eq(plan->reload, host && guest ? 3 : 0);
	/* Guest-physical addresses wherever a guest's own trace runs and they can be. */
	ck_assert_int_eq(!!(plan->controls & GPA), plan->guest_physical && (!host || guest));
	/* The controls where there are any, and then no list. */
	if (!host || guest)
		ck_assert_uint_eq(plan->controls & (LOAD | CLEAR),
				  two ? m->allowed & (LOAD | CLEAR) : 0);
	if (plan->controls & LOAD)
		ck_assert_uint_eq(plan->entry_load.count, 0);
	if ((plan->controls & CLEAR) && (plan->reload || !m->truth[ROOT].ctl))
		ck_assert_uint_eq(plan->exit_load.count, 0);
	if (m->usage == VPT_USAGE_SYSTEM || m->usage == VPT_USAGE_OFF) {
		ck_assert_uint_eq(plan->controls & all, 0);
		ck_assert_uint_eq(plan->entry_load.count + plan->exit_load.count, 0);
	}
	if (m->usage == VPT_USAGE_HOST)
		ck_assert_uint_eq(plan->entry_load.count, host);
}

static const uint32_t conceals[] = {0, 1, 4, 5, 0x10, 0x11, 0x14, 0x15};

/* Runs a usage from the start, through entries that fail in every way and some that do not. */
static unsigned int one_case(unsigned int processor, uint32_t allowed, enum vpt_usage usage,
			     unsigned int kinds, uint32_t conceal)
{
	struct machine m = boot(processor, allowed, kinds % 3, kinds / 3);
	enum vpt_status status = take_up(&m, usage, conceal);
	unsigned int turn;

	ck_assert_msg(status == expected_status(&m, usage, conceal), "%s of %x, concealing %x: %d",
		      vpt_usage_name(usage), allowed, conceal, status);
	if (status != VPT_OK)
		return 0;
	check_plan(&m, conceal);
	for (turn = 0; turn < 2 * FAILURES; turn++)
		transition(&m, (enum failure)(turn % FAILURES));
	if (usage == VPT_USAGE_GUEST && kinds == 8)
		ck_assert(m.traced[ROOT] && m.traced[NON_ROOT]);
	put_down(&m);
	return 1;
}

START_TEST(every_case)
{
	const unsigned int processor = (unsigned int)_i / VPT_USAGE_COUNT;
	const enum vpt_usage usage = (enum vpt_usage)(_i % VPT_USAGE_COUNT);
	unsigned int allowed, kinds, plans = 0;
	size_t i;

	for (allowed = 0; allowed < 64; allowed++) {
		/* No PT: no registers that are anything but 0. */
		for (kinds = 0; kinds < (processor == 5 ? 1 : 9); kinds++) {
			/* What is concealed does not depend on who traces. */
			for (i = 0; i < (kinds ? 1 : COUNT(conceals)); i++)
				plans += one_case(processor, allowed, usage, kinds, conceals[i]);
		}
	}
	ck_assert(plans || (processor >= 4 && usage != VPT_USAGE_OFF));
	TEST_PROVES("VMX-USAGE-SYSTEM VMX-USAGE-HOST VMX-USAGE-GUEST VMX-USAGE-OWNED");
	TEST_PROVES("VMX-USAGE-RELOAD VMX-USAGE-CPUID");
}
END_TEST

/* Usages and registers that change at run time */

static void change(struct machine *m, uint64_t random)
{
	enum side side = random & 1 ? ROOT : NON_ROOT;
	struct vpt_rtit fresh = registers(&m->caps, side, (unsigned int)(random >> 8) % 3);

	if (random & 2)
		m->truth[side] = fresh;
	else
		m->truth[side].ctl = fresh.ctl;
	m->memory[side] = m->truth[side];
}

START_TEST(run_time)
{
	uint64_t seed = (uint64_t)_i;
	struct machine m = boot((unsigned int)_i % 4, (uint32_t)_i, 0, 0);
	unsigned int turn, plans = 0;

	ck_assert_int_eq(take_up(&m, VPT_USAGE_OFF, 0), VPT_OK);
	for (turn = 0; turn < 2000; turn++) {
		uint64_t random = test_random(&seed);

		if (random % 4 == 0) {
			put_down(&m);
			change(&m, test_random(&seed));
			while (take_up(&m, (enum vpt_usage)(random >> 8 & 7) % VPT_USAGE_COUNT,
				       conceals[random >> 16 & 7]) != VPT_OK)
				random = test_random(&seed);
			plans++;
			continue;
		}
		transition(&m, random >> 32 & 7 ? NO_FAILURE
						: (enum failure)((random >> 40) % FAILURES));
	}
	ck_assert_uint_gt(plans, 100);
	ck_assert(m.traced[ROOT] && m.traced[NON_ROOT]);
	TEST_PROVES("VMX-USAGE-SYSTEM VMX-USAGE-HOST VMX-USAGE-GUEST VMX-USAGE-RELOAD");
}
END_TEST

/* Plans in full, as a reader of the manual would write them */

static const struct {
	enum vpt_usage usage;
	uint32_t allowed;
	unsigned int host, guest; /* 0: CTL is 0, 1: set up, 2: traces */
	uint32_t controls;
	int entry, exit; /* CTL of 0: nothing, 1: 0, 2: the host, 3: the guest */
	uint32_t reload;
	bool physical;
} plans[] = {
	{VPT_USAGE_SYSTEM, 0x3f, 2, 0, 0, 0, 0, 0, false},
	{VPT_USAGE_HOST, 0x3f, 2, 2, 0, 1, 2, 0, false},
	{VPT_USAGE_HOST, 0x00, 2, 2, 0, 1, 2, 0, false},
	{VPT_USAGE_HOST, 0x3f, 1, 2, 0, 0, 0, 0, false},
	{VPT_USAGE_GUEST, 0x3f, 0, 2, LOAD | CLEAR, 0, 0, 0, false},
	{VPT_USAGE_GUEST, 0x3f, 1, 2, LOAD | CLEAR, 0, 2, 0, false},
	{VPT_USAGE_GUEST, 0x00, 0, 2, 0, 3, 1, 0, false},
	{VPT_USAGE_GUEST, LOAD, 0, 2, LOAD, 0, 1, 0, false},
	{VPT_USAGE_GUEST, CLEAR, 0, 2, CLEAR, 3, 0, 0, false},
	{VPT_USAGE_GUEST, 0x3f, 2, 2, LOAD | CLEAR, 0, 0, 3, false},
	{VPT_USAGE_GUEST, 0x00, 2, 2, 0, 3, 1, 3, false},
	{VPT_USAGE_GUEST, 0x3f, 2, 0, 0, 1, 2, 0, false},
	{VPT_USAGE_OWNED, 0x3f, 0, 2, 0x3f, 0, 0, 0, true},
	{VPT_USAGE_OWNED, 0x3f, 0, 0, 0x3f, 0, 0, 0, true},
	{VPT_USAGE_OWNED, 0x3f, 2, 2, 0x3f, 0, 0, 3, true},
	{VPT_USAGE_OWNED, 0x3f, 2, 1, CONCEAL, 3, 2, 0, true},
	{VPT_USAGE_OWNED, CONCEAL, 0, 2, CONCEAL, 3, 1, 0, false},
	{VPT_USAGE_OWNED, CONCEAL | GPA | LOAD, 0, 2, CONCEAL | LOAD, 0, 1, 0, false},
};

static void check_list(const struct machine *m, const struct vpt_usage_list *list, int what)
{
	const uint64_t values[] = {0, 0, m->truth[ROOT].ctl, m->truth[NON_ROOT].ctl};

	ck_assert_uint_eq(list->count, what != 0);
	if (!what)
		return;
	ck_assert_uint_eq(list->entry[0].index, 0x570);
	ck_assert_uint_eq(list->entry[0].reserved, 0);
	ck_assert_uint_eq(list->entry[0].value, values[what]);
}

START_TEST(whole_plan)
{
	struct machine m = boot(1, plans[_i].allowed, plans[_i].host, plans[_i].guest);

	ck_assert_int_eq(take_up(&m, plans[_i].usage, 0), VPT_OK);
	ck_assert_uint_eq(m.plan.controls, plans[_i].controls);
	if (m.plan.controls & LOAD)
		ck_assert_uint_eq(m.plan.guest_ctl, m.truth[NON_ROOT].ctl);
	check_list(&m, &m.plan.entry_load, plans[_i].entry);
	check_list(&m, &m.plan.exit_load, plans[_i].exit);
	ck_assert_uint_eq(m.plan.reload, plans[_i].reload);
	ck_assert_int_eq(m.plan.guest_physical, plans[_i].physical);
	TEST_PROVES("VMX-USAGE-HOST VMX-USAGE-GUEST VMX-USAGE-OWNED VMX-USAGE-RELOAD");
}
END_TEST

/* Refusals */

#define NONE ((struct vpt_rtit *)0)

static void refuse(const struct vpt_usage_want *want, enum vpt_status status, const char *words)
{
	struct vpt_caps caps = *vpt_caps_model("icx");
	struct vpt_usage_plan plan, before;
	const char *why = NULL;

	memset(&plan, 0x5a, sizeof(plan));
	before = plan;
	ck_assert_int_eq(vpt_usage_make_plan(want, &caps, 0x3e, &plan, &why), status);
	ck_assert_msg(why && strstr(why, words), "%s", why ? why : "(no words)");
	ck_assert(!memcmp(&plan, &before, sizeof(plan)));
	ck_assert_int_eq(vpt_usage_make_plan(want, &caps, 0x3e, &plan, NULL), status);
}

START_TEST(refusals)
{
	struct vpt_caps caps = *vpt_caps_model("icx");
	struct vpt_rtit on = registers(&caps, ROOT, 2), bad = on;
	struct vpt_usage_want want = {(enum vpt_usage)5, 0, &on, &on};

	refuse(&want, VPT_E_INVAL, "no such usage");
	want.usage = (enum vpt_usage) - 1;
	refuse(&want, VPT_E_INVAL, "no such usage");
	want.usage = VPT_USAGE_SYSTEM;
	want.conceal = LOAD;
	refuse(&want, VPT_E_INVAL, "conceals");
	want.conceal = 0x40;
	refuse(&want, VPT_E_INVAL, "conceals");
	want.conceal = 1; /* not in 3EH */
	refuse(&want, VPT_E_CAPS, "concealed");
	want = (struct vpt_usage_want){VPT_USAGE_OWNED, 0, &on, &on};
	refuse(&want, VPT_E_CAPS, "concealed");
	want = (struct vpt_usage_want){VPT_USAGE_HOST, 0, NONE, &on};
	refuse(&want, VPT_E_INVAL, "host's registers");
	want = (struct vpt_usage_want){VPT_USAGE_GUEST, 0, &on, NONE};
	refuse(&want, VPT_E_INVAL, "guest's registers");
	want = (struct vpt_usage_want){VPT_USAGE_OFF, 0, &on, NONE};
	refuse(&want, VPT_E_INVAL, "host traces");
	bad.ctl |= BIT(63);
	want = (struct vpt_usage_want){VPT_USAGE_HOST, 0, &bad, NONE};
	refuse(&want, VPT_E_INVAL, "host's IA32_RTIT_CTL");
	want = (struct vpt_usage_want){VPT_USAGE_GUEST, 0, &on, &bad};
	refuse(&want, VPT_E_INVAL, "guest's IA32_RTIT_CTL");
}
END_TEST

START_TEST(words_of_processors)
{
	struct vpt_caps caps = processor_caps((unsigned int)_i);
	struct vpt_usage_want want = {VPT_USAGE_SYSTEM, 0, NONE, NONE};
	struct vpt_usage_plan plan;
	const char *why = NULL;

	ck_assert_int_eq(vpt_usage_make_plan(&want, &caps, 0x3f, &plan, &why), VPT_E_CAPS);
	ck_assert_str_eq(why, _i == 4 ? "no tracing in VMX operation" : "the processor has no PT");
	want.usage = VPT_USAGE_OFF;
	ck_assert_int_eq(vpt_usage_make_plan(&want, &caps, 0x3f, &plan, &why), VPT_OK);
}
END_TEST

START_TEST(names)
{
	static const char *const name[] = {"off", "system", "host", "guest", "owned"};
	int i;

	for (i = 0; i < VPT_USAGE_COUNT; i++) {
		ck_assert_str_eq(vpt_usage_name((enum vpt_usage)i), name[i]);
		ck_assert_int_eq(vpt_usage_parse(name[i]), i);
	}
	ck_assert_ptr_null(vpt_usage_name(VPT_USAGE_COUNT));
	ck_assert_ptr_null(vpt_usage_name((enum vpt_usage) - 1));
	ck_assert_int_eq(vpt_usage_parse(""), VPT_USAGE_COUNT);
	ck_assert_int_eq(vpt_usage_parse("of"), VPT_USAGE_COUNT);
	ck_assert_int_eq(vpt_usage_parse("offf"), VPT_USAGE_COUNT);
	ck_assert_int_eq(vpt_usage_parse("HOST"), VPT_USAGE_COUNT);
}
END_TEST

/* What a guest is told */

static struct vpt_caps any_caps(uint64_t *seed)
{
	uint64_t r = test_random(seed), maps = test_random(seed);
	struct vpt_caps caps = *vpt_caps_model(vpt_caps_model_name(r & 3));

	if (r & 4)
		return caps;
	caps.l14_0_ebx = r >> 8 & 0x1ff;
	caps.l14_0_ecx = (r >> 20 & 15) | (uint32_t)(r >> 24 & 1) << 31;
	caps.l14_0_eax = 1;
	caps.l14_1_eax = caps.l14_1_ebx = 0;
	if (caps.l14_0_ebx & 4)
		caps.l14_1_eax |= 1 + (r >> 32 & 3);
	if (caps.l14_0_ebx & 8)
		caps.l14_1_eax |= (maps << 16 & 0xe0000) | 0x10000;
	if (caps.l14_0_ebx & 8 && !caps.l15_eax) {
		caps.l15_eax = 2;
		caps.l15_ebx = 284;
	}
	if (caps.l14_0_ebx & 2)
		caps.l14_1_ebx = (maps >> 32 & 0xe000e) | 0x10001;
	if (!(caps.l14_0_ecx & 13))
		caps.l14_0_ecx |= 1;
	if (!(caps.l14_0_ecx & 1))
		caps.l14_0_ecx &= ~2u;
	caps.max_phy_addr = 36 + (r >> 40 & 15);
	caps.lin_addr = r >> 50 & 1 ? 57 : 48;
	caps.vmx_pt = r >> 51 & 1;
	return caps;
}

/* Whatever the guest may write by what it was told, the processor takes. */
static void check_writes(const struct vpt_caps *host, const struct vpt_caps *guest, uint64_t *seed)
{
	struct vpt_rtit a, b;
	unsigned int n;

	for (n = 0; n < 200; n++) {
		uint64_t r = test_random(seed);
		uint32_t msr = numbers[r % COUNT(numbers)];
		uint64_t value = test_random(seed) & test_random(seed);

		if (r >> 32 & 1)
			value = BIT(r >> 40 & 63);
		vpt_rtit_reset(&a);
		vpt_rtit_reset(&b);
		if (vpt_rtit_write(&a, guest, msr, value, VPT_ACCESS_GUEST) == VPT_FAULT_NONE)
			ck_assert_int_eq(vpt_rtit_write(&b, host, msr, value, VPT_ACCESS_GUEST),
					 VPT_FAULT_NONE);
	}
	ck_assert_uint_eq(vpt_rtit_ctl_mask(guest) & ~vpt_rtit_ctl_mask(host), 0);
	ck_assert_uint_eq(vpt_rtit_status_mask(guest) & ~vpt_rtit_status_mask(host), 0);
}

START_TEST(guest_caps)
{
	uint64_t seed = (uint64_t)_i;
	unsigned int turn, offered = 0;

	for (turn = 0; turn < 200; turn++) {
		struct vpt_caps host = any_caps(&seed), wish = any_caps(&seed), guest, before;
		bool can = host.l14_0_ecx & wish.l14_0_ecx & 5;
		const char *why = "";

		ck_assert_msg(vpt_caps_check(&host, &why) == VPT_OK, "%s", why);
		ck_assert_msg(vpt_caps_check(&wish, &why) == VPT_OK, "%s", why);
		memset(&guest, 0x77, sizeof(guest));
		before = guest;
		if (vpt_usage_guest_caps(&host, &wish, &guest) != VPT_OK) {
			ck_assert(!can && !memcmp(&guest, &before, sizeof(guest)));
			continue;
		}
		ck_assert(can);
		offered++;
		ck_assert_msg(vpt_caps_check(&guest, &why) == VPT_OK, "%s", why);
		ck_assert_uint_eq(guest.l14_0_ebx & ~(host.l14_0_ebx & wish.l14_0_ebx), 0);
		ck_assert_uint_eq(guest.l14_0_ecx & 5, host.l14_0_ecx & wish.l14_0_ecx & 5);
		ck_assert_uint_eq(guest.l14_0_ecx & 8, 0);
		ck_assert_uint_eq(guest.l14_0_ecx >> 31, host.l14_0_ecx >> 31);
		ck_assert_uint_eq(guest.vmx_pt, host.vmx_pt & wish.vmx_pt);
		ck_assert_uint_eq(guest.l15_ebx, host.l15_ebx);
		ck_assert_uint_eq(guest.max_nonturbo, host.max_nonturbo);
		ck_assert_uint_eq(guest.signature, wish.signature);
		check_writes(&host, &guest, &seed);
	}
	ck_assert_uint_gt(offered, 50);
	TEST_PROVES("VMX-GUEST-CAPS");
}
END_TEST

START_TEST(guest_caps_models)
{
	const struct vpt_caps *host = vpt_caps_model(vpt_caps_model_name((unsigned int)_i / 4));
	const struct vpt_caps *wish = vpt_caps_model(vpt_caps_model_name((unsigned int)_i % 4));
	struct vpt_caps guest;

	ck_assert_int_eq(vpt_usage_guest_caps(host, wish, &guest), VPT_OK);
	ck_assert_uint_eq(guest.l14_0_ebx, host->l14_0_ebx & wish->l14_0_ebx);
	ck_assert_uint_eq(guest.l14_0_ecx, host->l14_0_ecx & wish->l14_0_ecx);
	ck_assert_uint_eq(guest.l14_1_eax, host->l14_1_eax & wish->l14_1_eax);
	ck_assert_uint_eq(guest.l14_1_ebx, host->l14_1_ebx & wish->l14_1_ebx);
	if (host == wish)
		ck_assert(!memcmp(&guest, host, sizeof(guest)));
	/* The wish may be where the answer goes. */
	guest = *wish;
	ck_assert_int_eq(vpt_usage_guest_caps(host, &guest, &guest), VPT_OK);
	ck_assert_uint_eq(guest.l14_0_ebx, host->l14_0_ebx & wish->l14_0_ebx);
	TEST_PROVES("VMX-GUEST-CAPS");
}
END_TEST

/* CPUID.14H of a processor, and whether CPUID.15H has a crystal ratio. */
struct leaves {
	uint32_t eax, ebx, ecx, eax1, ebx1;
	bool ratio;
};

static struct vpt_caps with_leaves(const struct leaves *leaves)
{
	return (struct vpt_caps){
		.l14_0_eax = leaves->eax,
		.l14_0_ebx = leaves->ebx,
		.l14_0_ecx = leaves->ecx,
		.l14_1_eax = leaves->eax1,
		.l14_1_ebx = leaves->ebx1,
		.l15_eax = leaves->ratio ? 2 : 0,
		.l15_ebx = leaves->ratio ? 284 : 0,
		.max_phy_addr = 39,
		.lin_addr = 48,
		.vmx_pt = 1,
	};
}

static const struct {
	struct leaves host, wish, guest;
} cuts[] = {
	/* Encoding 0 of the MTC period is not in common: no MTC. */
	{{1, 9, 1, 0x50000, 0, true}, {1, 9, 1, 0x60000, 0, true}, {1, 1, 1, 0, 0, true}},
	/* Encoding 0 is: the periods that both have. */
	{{1, 9, 1, 0x50000, 0, true}, {1, 9, 1, 0x30000, 0, false}, {1, 9, 1, 0x10000, 0, true}},
	/* The processor has no crystal ratio: no MTC. */
	{{1, 9, 1, 0x10000, 0, false}, {1, 9, 1, 0x10000, 0, true}, {1, 1, 1, 0, 0, false}},
	/* Cycle threshold 0 is not in common: neither thresholds nor PSB frequencies. */
	{{1, 3, 1, 0, 0x70005, false}, {1, 3, 1, 0, 0x70006, false}, {1, 1, 1, 0, 0, false}},
	/* PSB frequency 0 is not in common: the same. */
	{{1, 3, 1, 0, 0x60007, false}, {1, 3, 1, 0, 0x70007, false}, {1, 1, 1, 0, 0, false}},
	/* Both are. */
	{{1, 3, 1, 0, 0x50003, false}, {1, 3, 1, 0, 0x30005, false}, {1, 3, 1, 0, 0x10001, false}},
	/* Four ranges and two: two. */
	{{1, 4, 1, 4, 0, false}, {1, 4, 1, 2, 0, false}, {1, 4, 1, 2, 0, false}},
	/* Two ranges and none, though there is IP filtering: no IP filtering. */
	{{1, 5, 1, 0, 0, false}, {1, 5, 1, 2, 0, false}, {1, 1, 1, 0, 0, false}},
	/* Seven ranges are four. */
	{{1, 4, 1, 7, 0, false}, {1, 4, 1, 7, 0, false}, {1, 4, 1, 4, 0, false}},
	/* No sub-leaf 1: nothing that it would describe. */
	{{1, 0xf, 7, 0x10002, 0x10001, false}, {0, 1, 7, 0, 0, false}, {0, 1, 7, 0, 0, false}},
	/* Bits that are not known here are not passed on. */
	{{1, 0xfffff001, 0x7ffffff5, 0, 0, false},
	 {1, 0xfffff001, 0x7ffffff5, 0, 0, false},
	 {1, 1, 5, 0, 0, false}},
	/* LIP as the processor has it. */
	{{0, 1, 0x80000001, 0, 0, false}, {0, 1, 1, 0, 0, false}, {0, 1, 0x80000001, 0, 0, false}},
	{{0, 1, 1, 0, 0, false}, {0, 1, 0x80000001, 0, 0, false}, {0, 1, 1, 0, 0, false}},
};

START_TEST(cut)
{
	const struct vpt_caps host = with_leaves(&cuts[_i].host);
	const struct vpt_caps wish = with_leaves(&cuts[_i].wish);
	const struct vpt_caps want = with_leaves(&cuts[_i].guest);
	struct vpt_caps guest;

	ck_assert_int_eq(vpt_usage_guest_caps(&host, &wish, &guest), VPT_OK);
	ck_assert_uint_eq(guest.l14_0_eax, want.l14_0_eax);
	ck_assert_uint_eq(guest.l14_0_ebx, want.l14_0_ebx);
	ck_assert_uint_eq(guest.l14_0_ecx, want.l14_0_ecx);
	ck_assert_uint_eq(guest.l14_1_eax, want.l14_1_eax);
	ck_assert_uint_eq(guest.l14_1_ebx, want.l14_1_ebx);
	ck_assert_uint_eq(guest.l15_eax, want.l15_eax);
	ck_assert_uint_eq(guest.l15_ebx, want.l15_ebx);
	TEST_PROVES("VMX-GUEST-CAPS");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("usage");
	TCase *runs = tcase_create("runs"), *rows = tcase_create("rows");
	TCase *caps = tcase_create("caps");

	tcase_set_timeout(runs, 60);
	tcase_add_loop_test(runs, every_case, 0, PROCESSORS * VPT_USAGE_COUNT);
	tcase_add_loop_test(runs, run_time, 0, 64);
	suite_add_tcase(suite, runs);

	tcase_add_loop_test(rows, whole_plan, 0, COUNT(plans));
	tcase_add_test(rows, refusals);
	tcase_add_loop_test(rows, words_of_processors, 4, 6);
	tcase_add_test(rows, names);
	suite_add_tcase(suite, rows);

	tcase_add_loop_test(caps, guest_caps, 0, 32);
	tcase_add_loop_test(caps, guest_caps_models, 0, 16);
	tcase_add_loop_test(caps, cut, 0, COUNT(cuts));
	suite_add_tcase(suite, caps);
	return suite;
}
