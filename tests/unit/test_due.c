// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compare a unit whose engine keeps due times (vpt/gate.h) with one whose engine reports each event.
 * The second one reads the clock at each event. Both must send the same bytes, whatever the settings
 * and the events are, and wherever the engine closes the gate early.
 */
#include "lib/guestmem.h"
#include "lib/suite.h"

#include <stdlib.h>
#include <string.h>

#include "vpt/state.h"

enum { REGION = 0x10000, REGION_SIZE = 0x2000, STEPS = 4000, SEEDS = 400, LOW = 0x1000, IPS = 256 };

/* Both units see the same clock. */
struct world {
	uint64_t seed;
	struct vpt_clock clock;
	uint64_t num, den; /* TSC ticks in core clocks */
	uint64_t ratio_cycles, ratio_tsc;
	unsigned int gap;   /* the most core clocks between two events */
	unsigned int early; /* the gate is closed early once in so many branches */
	struct vpt_caps caps;
	struct vpt_pt_options options;
	struct vpt_context ctx;
	uint64_t ip;
};

struct unit {
	struct guestmem mem; /* first: it is the callbacks' `opaque` */
	struct vpt_pt_ops ops;
	struct vpt_pt pt;
	const struct world *world;
	unsigned int readings, pmis;
};

static uint64_t below(struct world *w, uint64_t n)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (w->seed >> 33) % n;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	const struct world *w = ((struct unit *)opaque)->world;

	*ctx = w->ctx;
	ctx->tsc = w->clock.tsc;
}

static void read_clock(void *opaque, struct vpt_clock *now)
{
	struct unit *u = opaque;

	*now = u->world->clock;
	u->readings++;
}

static bool keeps_due(void *opaque, bool whole)
{
	const struct world *w = ((struct unit *)opaque)->world;

	return (!whole || w->num % w->den == 0) && w->clock.cycles % 61;
}

static void pmi(void *opaque)
{
	((struct unit *)opaque)->pmis++;
}

static void pass(struct world *w, uint64_t cycles)
{
	w->clock.cycles += cycles;
	w->clock.tsc = w->ratio_tsc + (w->clock.cycles - w->ratio_cycles) * w->num / w->den;
}

static void set_ratio(struct world *w)
{
	static const uint8_t ratio[][2] = {{1, 1}, {1, 1}, {3, 1}, {24, 1}, {5, 8}, {7, 3}, {1, 4}};
	const uint8_t *to = ratio[below(w, sizeof(ratio) / sizeof(ratio[0]))];

	w->num = to[0];
	w->den = to[1];
	w->ratio_cycles = w->clock.cycles;
	w->ratio_tsc = w->clock.tsc;
	w->ctx.cbr = (uint8_t)(8 + below(w, 30));
}

static struct unit *new_unit(const struct world *w, bool keeps, enum guestmem_map map)
{
	struct unit *u = calloc(1, sizeof(*u));

	ck_assert_ptr_nonnull(u);
	guestmem_init(&u->mem, map);
	guestmem_ram(&u->mem, REGION, REGION_SIZE);
	u->ops.mem = u->mem.ops;
	u->ops.context = context;
	u->ops.clock = read_clock;
	u->ops.pmi = pmi;
	u->ops.keeps_due = keeps ? keeps_due : NULL;
	u->world = w;
	vpt_pt_init(&u->pt, &w->caps, &u->ops, u);
	ck_assert_int_eq(vpt_pt_set_options(&u->pt, &w->options), VPT_OK);
	return u;
}

static void free_unit(struct unit *u)
{
	ck_assert(guestmem_guards_intact(&u->mem));
	guestmem_free(&u->mem);
	free(u);
}

/* The model has every encoding. */
static void new_world(struct world *w, uint64_t seed)
{
	static const unsigned int gaps[] = {2, 7, 40, 700};

	memset(w, 0, sizeof(*w));
	w->seed = seed;
	w->caps = *vpt_caps_model("spr");
	w->caps.l14_0_ebx |= 1u << 5; /* power event trace */
	w->caps.l15_eax = (uint32_t)below(w, 2) + 1;
	w->caps.l15_ebx = (uint32_t)below(w, 90) + 1;
	w->caps.l14_1_eax |= 0xffff0000u;
	w->caps.l14_1_ebx |= 0xffffffffu;
	w->ctx = (struct vpt_context){.cr3 = 0x1000, .cs_l = true, .lma = true, .paging = true};
	w->ip = LOW;
	w->clock.tsc = below(w, 1 << 30);
	w->clock.cycles = below(w, 1 << 30);
	w->gap = gaps[below(w, 4)];
	w->early = below(w, 2) ? 20 : 1000000;
	if (!below(w, 2))
		w->options.cyc_bits = (uint8_t)(8 + below(w, 20));
	if (!below(w, 8))
		w->options.buffer_bytes = 512;
	w->options.defer_tips = !below(w, 8);
	set_ratio(w);
}

static uint64_t random_ctl(struct world *w)
{
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN);

	ctl |= below(w, 4) ? VPT_CTL_MASK(OS) : 0;
	ctl |= below(w, 4) ? VPT_CTL_MASK(TSC_EN) : 0;
	ctl |= below(w, 3) ? VPT_CTL_MASK(MTC_EN) : 0;
	ctl |= below(w, 2) ? VPT_CTL_MASK(CYC_EN) : 0;
	ctl |= below(w, 4) ? 0 : VPT_CTL_MASK(DIS_RETC);
	ctl |= below(w, 8) ? 0 : VPT_CTL_MASK(DIS_TNT);
	ctl |= below(w, 8) ? 0 : VPT_CTL_MASK(EVENT_EN);
	ctl |= below(w, 4) ? 0 : VPT_CTL_MASK(PWR_EVT_EN);
	ctl |= below(w, 4) ? 0 : 1ull << VPT_CTL_ADDR0_CFG_SHIFT;
	ctl |= below(w, 16) << VPT_CTL_MTC_FREQ_SHIFT;
	ctl |= (below(w, 2) ? 0 : below(w, 16)) << VPT_CTL_CYC_THRESH_SHIFT;
	ctl |= (below(w, 2) ? 0 : below(w, 3)) << VPT_CTL_PSB_FREQ_SHIFT;
	return ctl;
}

static void write_both(struct unit *u[2], uint32_t msr, uint64_t value)
{
	const struct world *w = u[0]->world;
	unsigned int i;

	for (i = 0; i < 2; i++)
		ck_assert_int_eq(vpt_pt_wrmsr(&u[i]->pt, msr, value, VPT_ACCESS_HOST, w->ip, w->ip),
				 VPT_FAULT_NONE);
}

static void start(struct world *w, struct unit *u[2])
{
	write_both(u, VPT_MSR_CTL, 0);
	write_both(u, VPT_MSR_STATUS, 0);
	write_both(u, VPT_MSR_OUTPUT_BASE, REGION);
	write_both(u, VPT_MSR_OUTPUT_MASK_PTRS, REGION_SIZE - 1);
	write_both(u, VPT_MSR_ADDR0_A, LOW);
	write_both(u, VPT_MSR_ADDR0_B, LOW + IPS * 8);
	write_both(u, VPT_MSR_CTL, random_ctl(w));
}

static uint64_t random_target(struct world *w)
{
	if (!below(w, 16))
		return 0xffff800000000000ull | below(w, IPS);
	return LOW + 16 * below(w, IPS);
}

static struct vpt_event random_branch(struct world *w, const struct vpt_retstack *calls)
{
	static const uint8_t kinds[] = {
		VPT_EV_COND,	      VPT_EV_COND, VPT_EV_COND, VPT_EV_COND,
		VPT_EV_COND,	      VPT_EV_JMP,  VPT_EV_CALL, VPT_EV_JMP_INDIRECT,
		VPT_EV_CALL_INDIRECT, VPT_EV_RET,  VPT_EV_RET,
	};
	struct vpt_event event = {
		.kind = kinds[below(w, sizeof(kinds))],
		.from = w->ip,
		.next = w->ip + 4,
		.to = random_target(w),
	};

	if (event.kind == VPT_EV_COND && below(w, 2))
		event.flags = VPT_EVF_TAKEN;
	else if (event.kind == VPT_EV_COND)
		event.to = event.next;
	if (event.kind == VPT_EV_RET && below(w, 4))
		event.to = calls->ip[(calls->top - 1) % VPT_RETSTACK_SIZE];
	return event;
}

/* Report a branch by the functions for an open gate. Returns false if none takes it. */
static bool through_gate(struct unit *u, const struct vpt_event *event)
{
	struct vpt_gate *gate = &u->pt.gate;
	bool taken = event->flags & VPT_EVF_TAKEN;

	switch (event->kind) {
	case VPT_EV_COND:
		return vpt_gate_cond(gate, taken);
	case VPT_EV_JMP:
		return vpt_gate_jmp(gate);
	case VPT_EV_CALL:
		return event->to != event->next && vpt_gate_call(gate, event->next);
	case VPT_EV_JMP_INDIRECT:
		return vpt_gate_jmp_indirect(gate, event->to);
	case VPT_EV_CALL_INDIRECT:
		return vpt_gate_call_indirect(gate, event->to, event->next);
	default:
		return vpt_gate_ret(gate, event->to) || vpt_gate_ret_tip(gate, event->to);
	}
}

/* An engine that keeps due times, in one of the ways that there are. */
static void branch(struct world *w, struct unit *u, const struct vpt_event *event)
{
	struct vpt_gate *gate = &u->pt.gate;
	bool taken = event->flags & VPT_EVF_TAKEN;

	if (w->clock.cycles >= gate->due_cycles || w->clock.tsc >= gate->due_tsc ||
	    !below(w, w->early))
		vpt_gate_expire(gate);
	switch (below(w, w->early) ? 0 : below(w, 4)) {
	case 1:
		vpt_pt_event(&u->pt, event);
		return;
	case 2:
		if (event->kind == VPT_EV_COND) {
			vpt_pt_cond(&u->pt, event->from, event->to, taken);
			return;
		}
		break;
	case 3:
		if (through_gate(u, event))
			return;
		vpt_pt_event(&u->pt, event);
		return;
	default:
		break;
	}
	if (through_gate(u, event))
		return;
	if (below(w, 2) && vpt_gate_due(gate, &w->clock))
		ck_assert(gate->state & VPT_GATE_TIMED && keeps_due(u, false));
	if (!vpt_gate_branch(gate, event->kind, taken, event->to, event->next, &w->clock))
		vpt_pt_event(&u->pt, event);
}

static void both(struct unit *u[2], const struct vpt_event *event)
{
	vpt_pt_event(&u[0]->pt, event);
	vpt_pt_event(&u[1]->pt, event);
}

static void change_ratio(struct world *w, struct unit *u[2])
{
	bool stopped = below(w, 2);
	const struct vpt_event event = {.kind = VPT_EV_CBR,
					.flags = stopped ? VPT_EVF_STOPPED : 0,
					.from = w->ip,
					.to = w->ip};

	vpt_pt_tick(&u[0]->pt, w->ip);
	vpt_pt_tick(&u[1]->pt, w->ip);
	if (stopped)
		w->clock.tsc += below(w, 5000);
	set_ratio(w);
	both(u, &event);
}

static void sleep_and_wake(struct world *w, struct unit *u[2])
{
	struct vpt_event event = {
		.kind = VPT_EV_SLEEP, .cstate = below(w, 4) ? 0 : 0xf1, .from = w->ip, .to = w->ip};

	both(u, &event);
	pass(w, below(w, 100000));
	event.kind = VPT_EV_WAKE;
	event.wake = VPT_WAKE_INTERRUPT;
	both(u, &event);
}

/* Replace a unit by one that has loaded its state. */
static void snapshot(struct unit *u)
{
	struct vpt_pt_state state;

	vpt_pt_commit(&u->pt);
	vpt_pt_save(&u->pt, &state);
	vpt_pt_init(&u->pt, &u->world->caps, &u->ops, u);
	ck_assert_int_eq(vpt_pt_load(&u->pt, &state), VPT_OK);
}

/* The state after an event does not show how the engine used the gate. */
static void compare_states(struct unit *u[2])
{
	struct vpt_pt_state state[2];

	vpt_pt_commit(&u[0]->pt);
	vpt_pt_commit(&u[1]->pt);
	vpt_pt_save(&u[0]->pt, &state[0]);
	vpt_pt_save(&u[1]->pt, &state[1]);
	ck_assert_mem_eq(&state[0], &state[1], sizeof(state[0]));
}

static void compare(struct unit *u[2])
{
	vpt_pt_commit(&u[0]->pt);
	vpt_pt_commit(&u[1]->pt);
	ck_assert_uint_eq(u[0]->pmis, u[1]->pmis);
	ck_assert(guestmem_same(&u[0]->mem, &u[1]->mem));
}

/* Anything but a near branch. */
static void other(struct world *w, struct unit *u[2])
{
	struct vpt_event event = {.kind = VPT_EV_FAR, .from = w->ip, .to = w->ip};

	switch (below(w, 12)) {
	case 0:
		change_ratio(w, u);
		break;
	case 1:
		sleep_and_wake(w, u);
		break;
	case 2:
		vpt_pt_tick(&u[0]->pt, w->ip);
		vpt_pt_tick(&u[1]->pt, w->ip);
		break;
	case 3:
		vpt_pt_timing(&u[0]->pt);
		vpt_pt_timing(&u[1]->pt);
		break;
	case 4:
		snapshot(u[1]);
		break;
	case 5:
		compare(u);
		break;
	case 6:
		pass(w, below(w, 3000000));
		break;
	case 7:
		start(w, u);
		break;
	case 8:
		compare_states(u);
		break;
	case 9:
		event.kind = VPT_EV_PTWRITE;
		both(u, &event);
		break;
	case 10:
		event.kind = VPT_EV_CR3;
		both(u, &event);
		break;
	default:
		w->ctx.cpl ^= 3;
		both(u, &event);
		break;
	}
}

static void step(struct world *w, struct unit *u[2])
{
	struct vpt_event event = random_branch(w, &u[0]->pt.retstack);

	pass(w, below(w, 64) ? 1 + below(w, w->gap) : below(w, 20000));
	vpt_pt_event(&u[0]->pt, &event);
	branch(w, u[1], &event);
	w->ip = event.to;
	if (!below(w, 40))
		other(w, u);
	else if (!below(w, 40))
		compare_states(u);
}

static void check_seed(int seed)
{
	enum guestmem_map map = seed % 4 ? GUESTMEM_MAP_MORE : GUESTMEM_MAP_SHORT;
	struct world w;
	struct unit *u[2];
	unsigned int i;

	new_world(&w, (uint64_t)seed);
	u[0] = new_unit(&w, false, map);
	u[1] = new_unit(&w, true, map);
	start(&w, u);
	for (i = 0; i < STEPS; i++)
		step(&w, u);
	compare(u);
	free_unit(u[0]);
	free_unit(u[1]);
}

START_TEST(same_bytes)
{
	check_seed(_i);
	TEST_PROVES("TIME-MTC TIME-MTC-CYC TIME-ORDER TIME-CYC-ALONE GEN-CYC-TNT");
}
END_TEST

/* Seeds of differences that few seeds show. */
static const int seeds[] = {
	11193, /* a state that was lost in an overflow, and a snapshot */
};

START_TEST(same_bytes_again)
{
	check_seed(seeds[_i]);
}
END_TEST

/* Row: with these packets the gate takes most branches without a reading of the clock. */
static const struct {
	uint64_t ctl;
	unsigned int per_reading; /* branches, at least */
	bool alone;		  /* due packets need no event */
} rates[] = {
	{VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN) | 3ull << VPT_CTL_MTC_FREQ_SHIFT, 30, true},
	{VPT_CTL_MASK(CYC_EN), 5, false},
	{VPT_CTL_MASK(CYC_EN) | 15ull << VPT_CTL_CYC_THRESH_SHIFT, 5, false},
};

START_TEST(rate)
{
	const uint64_t on = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(BRANCH_EN);
	struct vpt_event event = {.kind = VPT_EV_COND, .from = LOW, .to = LOW, .next = LOW};
	unsigned int i, reported = 0, alone = 0, events = 0;
	struct world w;
	struct unit *u;

	new_world(&w, 0);
	w.options = (struct vpt_pt_options){0};
	w.caps.l15_eax = 1;
	w.caps.l15_ebx = 80;
	w.num = w.den = 1;
	u = new_unit(&w, true, GUESTMEM_MAP_MORE);
	u->pt.rtit.output_base = REGION;
	u->pt.rtit.output_mask_ptrs = REGION_SIZE - 1;
	ck_assert_int_eq(
		vpt_pt_wrmsr(&u->pt, VPT_MSR_CTL, on | rates[_i].ctl, VPT_ACCESS_HOST, LOW, LOW),
		VPT_FAULT_NONE);
	for (i = 0; i < STEPS; i++) {
		pass(&w, 5);
		if (w.clock.cycles >= u->pt.gate.due_cycles || w.clock.tsc >= u->pt.gate.due_tsc)
			vpt_gate_expire(&u->pt.gate);
		if (vpt_gate_cond(&u->pt.gate, i & 1))
			continue;
		reported++;
		alone += vpt_gate_due(&u->pt.gate, &w.clock);
		if (vpt_gate_branch(&u->pt.gate, VPT_EV_COND, i & 1, LOW, LOW, &w.clock))
			continue;
		events++;
		vpt_pt_event(&u->pt, &event);
	}
	ck_assert(rates[_i].alone ? alone > 4 * events : !alone);
	ck_assert_uint_le(reported, STEPS / rates[_i].per_reading);
	ck_assert_uint_le(u->readings, STEPS / 30);
	free_unit(u);
}
END_TEST

TEST_SUITE("due", NULL, NULL)
{
	tcase_add_loop_test(tcase, same_bytes, 0, SEEDS);
	TEST_ROWS(tcase, same_bytes_again, seeds);
	TEST_ROWS(tcase, rate, rates);
}
