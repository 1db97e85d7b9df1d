// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare the quick paths of near branches with vpt_pt_event(). After each random branch the packets
 * and the state must be equal.
 */
#include "lib/guestmem.h"
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#include "vpt/pt.h"

#define REGION	    0x10000u
#define REGION_SIZE 0x1000u
#define STEPS	    20000u
#define CTL \
	(VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN))

struct unit {
	struct guestmem mem; /* first: it is the callbacks' `opaque` */
	struct vpt_pt_ops ops;
	struct vpt_pt pt;
	struct vpt_context ctx;
};

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct unit *)opaque)->ctx;
}

/* A row: a configuration, and whether most branches of each kind take the quick path. */
static const struct config {
	uint64_t ctl;
	bool defer_tips;
	bool all_quick;
} configs[] = {
	{0, false, true},
	{VPT_CTL_MASK(DIS_RETC), false, true},
	{1ull << VPT_CTL_PSB_FREQ_SHIFT, false, false},
	{VPT_CTL_MASK(DIS_TNT), false, false},
	{VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(CYC_EN), false, false},
	{0, true, false},
	{VPT_CTL_MASK(DIS_RETC) | 1ull << VPT_CTL_PSB_FREQ_SHIFT, true, false},
	{VPT_CTL_MASK(DIS_TNT), true, false},
	{VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(CYC_EN), true, false},
};

static struct unit *new_unit(const struct config *config)
{
	const struct vpt_pt_options options = {.defer_tips = config->defer_tips};
	struct unit *u = calloc(1, sizeof(*u));

	ck_assert_ptr_nonnull(u);
	guestmem_init(&u->mem, GUESTMEM_MAP_MORE);
	guestmem_ram(&u->mem, REGION, REGION_SIZE);
	u->ops.mem = u->mem.ops;
	u->ops.context = context;
	u->ctx = (struct vpt_context){.cr3 = 0x1000, .cs_l = true, .lma = true, .paging = true};
	vpt_pt_init(&u->pt, vpt_caps_model("spr"), &u->ops, u);
	ck_assert_int_eq(vpt_pt_set_options(&u->pt, &options), VPT_OK);
	u->pt.rtit.output_base = REGION;
	u->pt.rtit.output_mask_ptrs = REGION_SIZE - 1;
	ck_assert_int_eq(vpt_pt_wrmsr(&u->pt, VPT_MSR_CTL, CTL | config->ctl, VPT_ACCESS_HOST,
				      0x1000, 0x1000),
			 VPT_FAULT_NONE);
	return u;
}

static void free_unit(struct unit *u)
{
	ck_assert(guestmem_guards_intact(&u->mem));
	guestmem_free(&u->mem);
	free(u);
}

/* Report a branch by its quick path. Return false if there is none or the path declines. */
static bool quick(struct vpt_pt *pt, const struct vpt_event *event)
{
	switch (event->kind) {
	case VPT_EV_COND:
		return vpt_pt_quick_cond(pt, event->flags & VPT_EVF_TAKEN);
	case VPT_EV_JMP:
		return vpt_pt_quick_jmp(pt);
	case VPT_EV_JMP_INDIRECT:
		return vpt_pt_quick_jmp_indirect(pt, event->to);
	case VPT_EV_CALL:
		return event->to != event->next && vpt_pt_quick_call(pt, event->next);
	case VPT_EV_CALL_INDIRECT:
		return vpt_pt_quick_call_indirect(pt, event->to, event->next);
	case VPT_EV_RET:
		return vpt_pt_quick_ret(pt, event->to) || vpt_pt_quick_ret_tip(pt, event->to);
	default:
		return false;
	}
}

static uint64_t random_of(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

/* Return an IP that differs from @ip in any of its 16-bit words. It may not be canonical. */
static uint64_t next_ip(uint64_t ip, uint64_t *seed)
{
	switch (random_of(seed, 8)) {
	case 0:
		return ip ^ random_of(seed, 0x10000) << 16;
	case 1:
		return ip ^ random_of(seed, 0x8000) << 32;
	case 2:
		return 0xffff800000000000ull | random_of(seed, 0x1000000);
	case 3:
		return ip ^ random_of(seed, 0x10000) << 48;
	case 4:
		return ip ^ 0xff00000000000000ull;
	case 5:
		return ip ^ 1ull << random_of(seed, 48);
	default:
		return (ip & ~0xffffull) | random_of(seed, 0x10000);
	}
}

static struct vpt_event random_event(const struct vpt_pt *pt, uint64_t ip, uint64_t *seed)
{
	static const uint8_t kinds[] = {
		VPT_EV_COND, VPT_EV_COND,	  VPT_EV_COND,		VPT_EV_JMP,
		VPT_EV_CALL, VPT_EV_JMP_INDIRECT, VPT_EV_CALL_INDIRECT, VPT_EV_RET,
	};
	const struct vpt_retstack *stack = &pt->retstack;
	struct vpt_event event = {
		.kind = kinds[random_of(seed, sizeof(kinds))],
		.flags = random_of(seed, 2) ? VPT_EVF_TAKEN : 0,
		.from = ip,
		.next = ip + 4,
		.to = next_ip(ip, seed),
	};

	if (event.kind == VPT_EV_RET && random_of(seed, 4))
		event.to = stack->ip[(stack->top - 1) % VPT_RETSTACK_SIZE];
	if (event.kind != VPT_EV_COND)
		event.flags = 0;
	if (event.kind == VPT_EV_CALL && !random_of(seed, 16))
		event.to = event.next;
	return event;
}

/* Check that the bytes since the last PSB are counted, unless @pt has sent one or the output wraps. */
static void check_counted(const struct vpt_pt *pt, const struct vpt_pt *was)
{
	if (was->out.cur && pt->psb_bytes >= was->psb_bytes && pt->out.cur >= was->out.cur)
		ck_assert_uint_eq(pt->psb_bytes - was->psb_bytes,
				  (uint64_t)(pt->out.cur - was->out.cur));
}

static void check_same(const struct vpt_pt *a, const struct vpt_pt *b)
{
	uint32_t i;

	/* With DisTNT nobody sends the outcomes that the gate gathers. */
	if (!a->dis_tnt)
		ck_assert_uint_eq(a->gate.tnt, b->gate.tnt);
	ck_assert_uint_eq(a->last_ip, b->last_ip);
	ck_assert_uint_eq(a->psb_bytes, b->psb_bytes);
	ck_assert_uint_eq(a->tips_wait, b->tips_wait);
	ck_assert_uint_eq(a->defer.len, b->defer.len);
	ck_assert_mem_eq(a->defer.bytes, b->defer.bytes, a->defer.len);
	ck_assert_uint_eq(a->retstack.depth, b->retstack.depth);
	for (i = 1; i <= a->retstack.depth; i++)
		ck_assert_uint_eq(a->retstack.ip[(a->retstack.top - i) % VPT_RETSTACK_SIZE],
				  b->retstack.ip[(b->retstack.top - i) % VPT_RETSTACK_SIZE]);
}

START_TEST(same_packets)
{
	struct unit *a = new_unit(&configs[_i]), *b = new_unit(&configs[_i]);
	unsigned int taken[VPT_EV_COUNT] = {0}, left[VPT_EV_COUNT] = {0}, i;
	uint64_t seed = 7 + (uint64_t)_i, ip = 0x1000;

	for (i = 0; i < STEPS; i++) {
		struct vpt_event event = random_event(&b->pt, ip, &seed);
		struct vpt_pt was = a->pt;
		bool done = quick(&a->pt, &event);

		if (!done)
			vpt_pt_event(&a->pt, &event);
		vpt_pt_event(&b->pt, &event);
		(done ? taken : left)[event.kind]++;
		check_same(&a->pt, &b->pt);
		check_counted(&a->pt, &was);
		if (i % 50 == 0) {
			vpt_pt_flush(&a->pt);
			vpt_pt_flush(&b->pt);
			ck_assert_uint_eq(a->pt.rtit.output_mask_ptrs, b->pt.rtit.output_mask_ptrs);
			ck_assert(guestmem_same(&a->mem, &b->mem));
		}
		ip = event.kind == VPT_EV_COND && !event.flags ? event.next : event.to;
	}
	if (configs[_i].all_quick) {
		ck_assert_uint_gt(taken[VPT_EV_COND], left[VPT_EV_COND]);
		ck_assert_uint_gt(taken[VPT_EV_JMP], 0);
		ck_assert_uint_gt(taken[VPT_EV_CALL], 0);
		ck_assert_uint_gt(taken[VPT_EV_JMP_INDIRECT], left[VPT_EV_JMP_INDIRECT]);
		ck_assert_uint_gt(taken[VPT_EV_CALL_INDIRECT], left[VPT_EV_CALL_INDIRECT]);
		ck_assert_uint_gt(taken[VPT_EV_RET], left[VPT_EV_RET]);
		ck_assert_uint_gt(left[VPT_EV_JMP_INDIRECT], 0);
	}
	if (configs[_i].defer_tips && !(configs[_i].ctl & VPT_CTL_MASK(CYC_EN)))
		ck_assert_uint_gt(taken[VPT_EV_CALL_INDIRECT], 0);
	free_unit(a);
	free_unit(b);
	TEST_PROVES("GEN-TNT-ORDER GEN-LAST-IP GEN-CALL");
}
END_TEST

/* Compare vpt_pt_cond() with vpt_pt_event(), for branches that are traced or not. */
START_TEST(cond)
{
	struct unit *a = new_unit(&configs[_i]), *b = new_unit(&configs[_i]);
	uint64_t seed = 70 + (uint64_t)_i;
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		bool taken = random_of(&seed, 2), traced = random_of(&seed, 4);
		struct vpt_event event = {.kind = VPT_EV_COND,
					  .flags = taken ? VPT_EVF_TAKEN : 0,
					  .from = 0x1000 + 8 * i,
					  .to = 0x1008 + 8 * i,
					  .next = 0x1008 + 8 * i};

		if (!traced) {
			struct vpt_event far = {.kind = VPT_EV_FAR, .from = event.from};

			far.to = far.next = event.from;
			vpt_pt_event(&a->pt, &far);
			vpt_pt_event(&b->pt, &far);
		}
		vpt_pt_cond(&a->pt, event.from, event.to, taken);
		vpt_pt_event(&b->pt, &event);
		check_same(&a->pt, &b->pt);
	}
	vpt_pt_flush(&a->pt);
	vpt_pt_flush(&b->pt);
	ck_assert_uint_eq(a->pt.rtit.output_mask_ptrs, b->pt.rtit.output_mask_ptrs);
	ck_assert(guestmem_same(&a->mem, &b->mem));
	free_unit(a);
	free_unit(b);
}
END_TEST

/* vpt_event_cond() sets all members of the event. */
START_TEST(cond_is_whole)
{
	struct vpt_event event;

	memset(&event, 0xa5, sizeof(event));
	vpt_event_cond(&event, 0x1000, 0x2000, 0x1002, _i);
	ck_assert_uint_eq(event.kind, VPT_EV_COND);
	ck_assert_uint_eq(event.flags, _i ? VPT_EVF_TAKEN : 0);
	ck_assert_uint_eq(event.vector, 0);
	ck_assert_uint_eq(event.cstate, 0);
	ck_assert_uint_eq(event.deepest, 0);
	ck_assert_uint_eq(event.wake, 0);
	ck_assert_uint_eq(event.ext, 0);
	ck_assert_uint_eq(event.from, 0x1000);
	ck_assert_uint_eq(event.to, 0x2000);
	ck_assert_uint_eq(event.next, 0x1002);
}
END_TEST

TEST_SUITE("quick", NULL, NULL)
{
	TEST_ROWS(tcase, same_packets, configs);
	TEST_ROWS(tcase, cond, configs);
	tcase_add_loop_test(tcase, cond_is_whole, 0, 2);
}
