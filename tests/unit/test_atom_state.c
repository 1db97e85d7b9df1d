// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of an Atom's RTIT: a trace goes on from it, whenever it is taken. */
#include "lib/atomfix.h"

enum { STEPS = 3000, WALKS = 24 };

static uint32_t random_of(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

static uint64_t random_ip(uint32_t *seed)
{
	return (uint64_t)random_of(seed, 3) << 33 | random_of(seed, 16) * 0x1000u;
}

/* A write to a register that moves, or to one that says what is traced. */
static void write_some(struct atomfix *fix, uint32_t *seed)
{
	static const uint64_t ctl[] = {ATOMFIX_CTL, ATOMFIX_CTL, ATOMFIX_CTL,
				       ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE), 0};
	static const uint64_t bits[] = {
		0,
		VPT_ATOM_MASK(CTL, CYCLE_ACC),
		VPT_ATOM_MASK(CTL, MTC_EN) | VPT_ATOM_MASK(CTL, STS_EN),
		VPT_ATOM_MASK(CTL, USER) | VPT_ATOM_MASK(CTL, CMPRS_RET),
		VPT_ATOM_MASK(CTL, CMPRS_RET) | VPT_ATOM_MASK(CTL, CYCLE_ACC) |
			VPT_ATOM_MASK(CTL, MTC_EN) | VPT_ATOM_MASK(CTL, LESS_PKTS),
	};
	static const uint32_t masks[] = {0x3f, 0xfff, 0xc3f, ATOMFIX_ROOM - 1};
	uint32_t n = random_of(seed, 5);

	switch (random_of(seed, 8)) {
	case 0:
	case 1:
		atomfix_write(fix, VPT_ATOM_MSR_CTL, ctl[n] | bits[random_of(seed, 5)]);
		break;
	case 2:
		atomfix_write(fix, VPT_ATOM_MSR_EVENTS,
			      n < 2 ? ATOMFIX_EVENTS : random_of(seed, 64));
		break;
	case 3:
		atomfix_write(fix, VPT_ATOM_MSR_LIP0 + n % 4, random_ip(seed));
		break;
	case 4:
		atomfix_write(fix, VPT_ATOM_MSR_STATUS, n ? 1 : 9);
		break;
	case 5:
		atomfix_write(fix, VPT_ATOM_MSR_PKT_CNT, 0x7fc + n);
		break;
	case 6:
		atomfix_write(fix, VPT_ATOM_MSR_LIMIT_MASK, masks[n % 4]);
		break;
	default:
		atomfix_write(fix, VPT_ATOM_MSR_CNTP, n << 19);
		break;
	}
}

static void sleep_or_wake(struct atomfix *fix, uint32_t *seed)
{
	static const uint8_t states[] = {0, 0x10, 0x52};
	struct vpt_event event = {.kind = VPT_EV_SLEEP,
				  .cstate = states[random_of(seed, 3)],
				  .from = ATOMFIX_IP,
				  .to = ATOMFIX_IP};

	vpt_atom_event(&fix->atom, &event);
	atomfix_wait(fix, random_of(seed, 1000));
	event.kind = VPT_EV_WAKE;
	if (random_of(seed, 2))
		vpt_atom_event(&fix->atom, &event);
}

static void transition(struct atomfix *fix, uint32_t *seed)
{
	uint64_t ip = random_ip(seed);

	switch (random_of(seed, 4)) {
	case 0:
		vpt_atom_smi(&fix->atom, ip);
		break;
	case 1:
		vpt_atom_vm_exit(&fix->atom, ip);
		break;
	default:
		vpt_atom_rsm(&fix->atom, ip);
		vpt_atom_vm_entry(&fix->atom, ip);
		break;
	}
}

static const enum vpt_event_kind near_kinds[] = {
	VPT_EV_COND,	      VPT_EV_COND,	   VPT_EV_COND, VPT_EV_JMP,  VPT_EV_CALL,
	VPT_EV_CALL_INDIRECT, VPT_EV_JMP_INDIRECT, VPT_EV_RET,	VPT_EV_INSN,
};

/* One step of a walk, which is the same for machines in the same state. */
static void step(struct atomfix *fix, uint32_t *seed)
{
	uint32_t what = random_of(seed, 100);

	atomfix_wait(fix, random_of(seed, what == 50 ? 1 << 22 : 60));
	if (what < 70) {
		atomfix_event(fix, near_kinds[what % 9], random_of(seed, 2), random_ip(seed));
	} else if (what < 80) {
		fix->ctx.cpl = (uint8_t)(3 * random_of(seed, 2));
		fix->ctx.cs_l = random_of(seed, 4);
		fix->ctx.cs_base = fix->ctx.cs_l ? 0 : 0x10 * random_of(seed, 3);
		atomfix_event(fix, what & 1 ? VPT_EV_FAR : VPT_EV_ASYNC, 0, random_ip(seed));
	} else if (what < 84) {
		fix->ctx.cr3 = 0x1000 * random_of(seed, 4);
		atomfix_event(fix, VPT_EV_CR3, 0, random_ip(seed));
	} else if (what < 86) {
		sleep_or_wake(fix, seed);
	} else if (what < 89) {
		transition(fix, seed);
	} else if (what < 91) {
		vpt_atom_tick(&fix->atom, random_ip(seed));
	} else {
		write_some(fix, seed);
	}
}

static struct atomfix *machine(uint32_t seed)
{
	const struct vpt_atom_options options = {
		.errata = (uint8_t)random_of(&seed, 256),
		.clear_lag = (uint8_t)random_of(&seed, 5),
		.disable_pgd = random_of(&seed, 2),
		.buffer_bytes = random_of(&seed, 2) ? 64 + random_of(&seed, 64) : 0,
		.buffer_drain = random_of(&seed, 1500),
	};
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);

	if (random_of(&seed, 2))
		fix->ops.clock = NULL;
	atomfix_options(fix, &options);
	atomfix_on(fix, ATOMFIX_CTL);
	return fix;
}

/* What is not the unit's own: where the world is. */
static void follow(struct atomfix *to, const struct atomfix *from)
{
	to->ctx = from->ctx;
	to->clock = from->clock;
	to->shown = from->shown;
}

static void same_state(struct atomfix *a, struct atomfix *b)
{
	struct vpt_atom_state x, y;

	vpt_atom_save(&a->atom, &x);
	vpt_atom_save(&b->atom, &y);
	ck_assert_mem_eq(&x, &y, sizeof(x));
	ck_assert_int_eq(a->atom.packet_en, b->atom.packet_en);
	ck_assert_int_eq(a->atom.each_insn, b->atom.each_insn);
	ck_assert_int_eq(a->atom.watches, b->atom.watches);
	ck_assert_int_eq(a->atom.fast, b->atom.fast);
	ck_assert_int_eq(a->atom.slow, b->atom.slow);
}

/* The bytes that both have put since `committed` was emptied. */
static void same_bytes(struct atomfix *a, struct atomfix *b)
{
	size_t i;

	vpt_atom_flush(&a->atom);
	vpt_atom_flush(&b->atom);
	ck_assert_uint_eq(a->mem.committed.count, b->mem.committed.count);
	for (i = 0; i < a->mem.committed.count; i++) {
		uint64_t gpa = a->mem.committed.gpa[i];
		uint8_t x, y;

		ck_assert_uint_eq(gpa, b->mem.committed.gpa[i]);
		guestmem_peek(&a->mem, gpa, &x, 1);
		guestmem_peek(&b->mem, gpa, &y, 1);
		ck_assert_uint_eq(x, y);
	}
}

/* Row: a walk. At each point what is loaded does what the other does, and no more is called. */
START_TEST(walks)
{
	struct atomfix *a = machine((uint32_t)_i), *b = atomfix_new(GUESTMEM_MAP_WHOLE);
	uint32_t seed = 1000 + (uint32_t)_i, twin;
	struct vpt_atom_state state;
	unsigned int i;

	guestmem_ram(&b->mem, ATOMFIX_RAM, ATOMFIX_ROOM);
	b->ops.clock = a->ops.clock;
	for (i = 0; i < STEPS; i++) {
		vpt_atom_flush(&a->atom);
		vpt_atom_save(&a->atom, &state);
		follow(b, a);
		ck_assert_int_eq(vpt_atom_load(&b->atom, &state), VPT_OK);
		same_state(a, b);
		b->mem.committed.count = 0;
		a->mem.committed.count = 0;
		twin = seed;
		step(a, &seed);
		step(b, &twin);
		same_state(a, b);
		same_bytes(a, b);
	}
	atomfix_free(a);
	atomfix_free(b);
}
END_TEST

/* A host ends a trace while the core sleeps: nothing of its time is left. */
START_TEST(ends_asleep)
{
	const struct vpt_event sleep = {
		.kind = VPT_EV_SLEEP, .cstate = 0x52, .from = ATOMFIX_IP, .to = ATOMFIX_IP};
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	struct vpt_atom_state state;

	atomfix_on(fix, ATOMFIX_CTL);
	vpt_atom_event(&fix->atom, &sleep);
	vpt_atom_save(&fix->atom, &state);
	ck_assert(state.flags & VPT_ATOM_STATE_ASLEEP);
	atomfix_write(fix, VPT_ATOM_MSR_CTL, ATOMFIX_CTL & ~VPT_ATOM_MASK(CTL, TRACE_ACTIVE));
	vpt_atom_save(&fix->atom, &state);
	ck_assert(!(state.flags & VPT_ATOM_STATE_ASLEEP));
	ck_assert_int_eq(vpt_atom_load(&fix->atom, &state), VPT_OK);
	atomfix_free(fix);
}
END_TEST

/* Where hostile bytes land: nothing breaks, and what is refused changes nothing. */
START_TEST(garbage)
{
	struct atomfix *a = machine((uint32_t)_i), *b = atomfix_new(GUESTMEM_MAP_WHOLE);
	uint32_t seed = 5000 + (uint32_t)_i;
	unsigned int i, taken = 0, refused = 0;
	struct vpt_atom_state state, before, after;

	for (i = 0; i < STEPS; i++) {
		uint8_t *byte;

		step(a, &seed);
		vpt_atom_save(&a->atom, &state);
		byte = (uint8_t *)&state + random_of(&seed, sizeof(state));
		*byte ^= (uint8_t)(1 << random_of(&seed, 8));
		vpt_atom_save(&b->atom, &before);
		if (vpt_atom_load(&b->atom, &state) == VPT_OK) {
			/* Then it is a state: it is what is saved again. */
			vpt_atom_save(&b->atom, &after);
			ck_assert_mem_eq(&state, &after, sizeof(state));
			follow(b, a);
			step(b, &seed);
			taken++;
		} else {
			vpt_atom_save(&b->atom, &after);
			ck_assert_mem_eq(&before, &after, sizeof(before));
			refused++;
		}
	}
	ck_assert_uint_gt(taken, STEPS / 10);
	ck_assert_uint_gt(refused, STEPS / 10);
	atomfix_free(a);
	atomfix_free(b);
}
END_TEST

/* Each field that a state cannot have so. */
static const struct refusal {
	size_t offset;
	uint64_t value;
	size_t size;
} refusals[] = {
#define FIELD(name, value)                                          \
	{                                                           \
		offsetof(struct vpt_atom_state, name), value,       \
			sizeof(((struct vpt_atom_state *)0)->name), \
	}
	FIELD(version, VPT_ATOM_STATE_VERSION + 1),
	FIELD(bytes, sizeof(struct vpt_atom_state) - 1),
	FIELD(flags, VPT_ATOM_STATE_FLAGS + 1),
	FIELD(flags, VPT_ATOM_STATE_STOP_HELD),
	FIELD(flags, VPT_ATOM_STATE_SMM),
	FIELD(reserved, 1),
	FIELD(regs.reserved, 1),
	FIELD(regs.unlocked, 2),
	FIELD(regs.ctl, ATOMFIX_CTL | 0x20),
	FIELD(regs.ctl, 0),
	FIELD(regs.status, 0),
	FIELD(regs.status, 0x17),
	FIELD(regs.tnt_buff, 0),
	FIELD(regs.tnt_buff, 0x80),
	FIELD(regs.cntp, 1 << 22),
	FIELD(regs.offset, 1 << 22),
	FIELD(regs.limit_mask, 0x3e),
	FIELD(regs.lip[2], 1ull << 48),
	FIELD(lag, 1),
	FIELD(clear_lag, 5),
	FIELD(buffer_bytes, 63),
	FIELD(fill, 1),
	FIELD(credit, 1),
	FIELD(drained, 1),
	FIELD(ip_base, 0x10),
};

/* An address has 48 bits in 64-bit mode, also behind a load. */
START_TEST(keeps_wide_addresses)
{
	const uint64_t to = 0xffff800000002000;
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	struct vpt_atom_state state;

	atomfix_begin(fix, ATOMFIX_CTL);
	vpt_atom_save(&fix->atom, &state);
	ck_assert_int_eq(vpt_atom_load(&fix->atom, &state), VPT_OK);
	atomfix_jump(fix, to);
	ck_assert_uint_eq(atomfix_packet(fix, VPT_ATOM_PKT_TIP)->value & VPT_MASK64(47, 0),
			  to & VPT_MASK64(47, 0));
	atomfix_free(fix);
}
END_TEST

START_TEST(refused)
{
	const struct refusal *row = &refusals[_i];
	struct atomfix *fix = atomfix_new(GUESTMEM_MAP_WHOLE);
	struct vpt_atom_state state, before, after;

	atomfix_on(fix, ATOMFIX_CTL);
	vpt_atom_save(&fix->atom, &state);
	ck_assert_int_eq(vpt_atom_load(&fix->atom, &state), VPT_OK);
	before = state;
	memcpy((uint8_t *)&state + row->offset, &row->value, row->size);
	ck_assert_int_eq(vpt_atom_load(&fix->atom, &state), VPT_E_INVAL);
	vpt_atom_save(&fix->atom, &after);
	ck_assert_mem_eq(&before, &after, sizeof(before));
	atomfix_free(fix);
}
END_TEST

TEST_SUITE("atom_state", NULL, NULL)
{
	tcase_set_timeout(tcase, 60);
	TEST_LOOP(tcase, WALKS, walks);
	TEST_ADD(tcase, ends_asleep, keeps_wide_addresses);
	TEST_LOOP(tcase, 8, garbage);
	TEST_ROWS(tcase, refused, refusals);
}
