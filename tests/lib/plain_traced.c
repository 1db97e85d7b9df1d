// SPDX-License-Identifier: GPL-2.0-or-later
/* A trace unit for the machines of plain_machine.c. */
#include "lib/plain_traced.h"

#include <string.h>

#include "lib/suite.h"
#include "soft/engine.h"
#include "vpt/state.h"

#define REGION	    0x100000u
#define REGION_SIZE 0x1000u
#define CTL \
	(VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))

static void context(void *opaque, struct vpt_context *ctx)
{
	const struct plain_traced *t = opaque;

	*ctx = (struct vpt_context){.cr3 = 0x1000,
				    .cs_l = t->bits == 64,
				    .cs_d = t->bits == 32,
				    .lma = true,
				    .paging = true};
}

static void report(void *opaque, struct engine_report *r)
{
	struct plain_traced *t = opaque;

	if (r->event.kind == VPT_EV_COUNT)
		return;
	t->reports++;
	vpt_pt_event(&t->pt, &r->event);
}

void plain_traced_create(struct plain_traced *t)
{
	memset(t, 0, sizeof(*t));
	plain_create(&t->machine);
	guestmem_init(&t->out, GUESTMEM_MAP_MORE);
	guestmem_ram(&t->out, REGION, REGION_SIZE);
	t->ops.mem = t->out.ops;
	t->ops.context = context;
	t->observer = (struct engine_observer){.gate = &t->pt.gate, .report = report, .opaque = t};
	t->machine.vcpu->observer = &t->observer;
}

static void clock_now(void *opaque, struct vpt_clock *now)
{
	const struct engine_vcpu *v = ((struct plain_traced *)opaque)->machine.vcpu;

	*now = engine_time_clock(&v->time, v->retired);
}

static bool keeps_due(void *opaque, bool whole)
{
	(void)opaque;
	(void)whole;
	return true;
}

void plain_traced_time(struct plain_traced *t, bool keeps)
{
	t->ops.clock = clock_now;
	t->ops.keeps_due = keeps ? keeps_due : NULL;
}

void plain_traced_destroy(struct plain_traced *t)
{
	ck_assert(guestmem_guards_intact(&t->out));
	guestmem_free(&t->out);
	plain_destroy(&t->machine);
}

static const uint64_t controls[] = {
	0,
	0,
	VPT_CTL_MASK(DIS_RETC),
	1ull << VPT_CTL_PSB_FREQ_SHIFT,
	VPT_CTL_MASK(DIS_TNT),
	VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(CYC_EN),
};

void plain_traced_start(struct plain_traced *t, uint64_t x)
{
	const struct vpt_pt_options options = {.defer_tips = !(x >> 8 & 15)};
	uint64_t ctl = CTL | controls[x % (sizeof(controls) / sizeof(controls[0]))];

	if (t->ops.clock)
		ctl |= VPT_CTL_MASK(MTC_EN) | (x >> 16 & 3) * 3 << VPT_CTL_MTC_FREQ_SHIFT;
	guestmem_poke(&t->out, REGION, (const uint8_t[REGION_SIZE]){0}, REGION_SIZE);
	vpt_pt_init(&t->pt, vpt_caps_model("spr"), &t->ops, t);
	t->pt.rtit.output_base = REGION;
	t->pt.rtit.output_mask_ptrs = REGION_SIZE - 1;
	ck_assert_int_eq(vpt_pt_set_options(&t->pt, &options), VPT_OK);
	ck_assert_int_eq(
		vpt_pt_wrmsr(&t->pt, VPT_MSR_CTL, ctl, VPT_ACCESS_HOST, PLAIN_CODE, PLAIN_CODE),
		VPT_FAULT_NONE);
}

struct engine_exit plain_traced_run(struct plain_traced *t, uint64_t budget)
{
	struct engine_exit exit;

	memset(&exit, 0, sizeof(exit));
	t->machine.vcpu->budget = budget;
	soft_engine.run(t->machine.vcpu, false, &exit);
	return exit;
}

const char *plain_traced_difference(struct plain_traced *a, struct plain_traced *b)
{
	struct vpt_pt_state x, y;

	/* The gate can hold a whole TNT. */
	vpt_pt_commit(&a->pt);
	vpt_pt_commit(&b->pt);
	if (!guestmem_same(&a->out, &b->out))
		return "bytes of the trace";
	/* A unit that reads the clock at each event has no later reading. */
	if (a->ops.clock)
		return NULL;
	vpt_pt_save(&a->pt, &x);
	vpt_pt_save(&b->pt, &y);
	return memcmp(&x, &y, sizeof(x)) ? "state of the unit" : NULL;
}
