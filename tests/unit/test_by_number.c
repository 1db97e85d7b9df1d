// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers that are proved by what they do. MSR addresses, bits and packet bytes are numbers, as
 * the manuals print them: no constant of the library appears on both sides of a comparison.
 */
#include "lib/guestmem.h"
#include "lib/suite.h"

#include <string.h>

#include "vpt/atom.h"
#include "vpt/pt.h"

#define RAM    0x400000u
#define ROOM   0x1000u
#define IP     0x1000u
#define BIT(n) (1ull << (n))

struct unit {
	struct guestmem mem; /* first: it is the callbacks' `opaque` */
	struct vpt_pt_ops ops;
	struct vpt_pt pt;
	struct vpt_atom atom;
	struct vpt_context ctx;
	struct vpt_clock clock;
};

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct unit *)opaque)->ctx;
}

static void clock_now(void *opaque, struct vpt_clock *now)
{
	*now = ((struct unit *)opaque)->clock;
}

static void start(struct unit *u)
{
	memset(u, 0, sizeof(*u));
	guestmem_init(&u->mem, GUESTMEM_MAP_WHOLE);
	guestmem_ram(&u->mem, RAM, ROOM);
	u->ops.mem = u->mem.ops;
	u->ops.context = context;
	u->ops.clock = clock_now;
	u->ctx = (struct vpt_context){
		.cr3 = 0x1000, .cs_l = true, .lma = true, .paging = true, .cbr = 20};
	vpt_pt_init(&u->pt, vpt_caps_model("skl"), &u->ops, u);
	vpt_atom_init(&u->atom, &u->ops, u);
}

static void finish(struct unit *u)
{
	ck_assert(guestmem_guards_intact(&u->mem));
	guestmem_free(&u->mem);
}

/* Check that the @n bytes at @offset of the region are those of @bytes. */
static void check_bytes(struct unit *u, size_t offset, const char *bytes, size_t n)
{
	char found[64];

	ck_assert_uint_le(n, sizeof(found));
	guestmem_peek(&u->mem, RAM + offset, found, n);
	ck_assert_mem_eq(found, bytes, n);
}

#define CHECK_BYTES(u, offset, bytes) check_bytes(u, offset, bytes, sizeof(bytes) - 1)

/* IA32_RTIT_CTL */

static void pt_write(struct unit *u, uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(vpt_pt_wrmsr(&u->pt, msr, value, VPT_ACCESS_GUEST, IP, IP + 2),
			 VPT_FAULT_NONE);
}

static uint64_t pt_read(struct unit *u, uint32_t msr)
{
	uint64_t value = 0x5a5a;

	ck_assert_int_eq(vpt_pt_rdmsr(&u->pt, msr, &value), VPT_FAULT_NONE);
	return value;
}

static void pt_taken(struct unit *u, unsigned int times)
{
	const struct vpt_event event = {
		.kind = VPT_EV_COND, .flags = VPT_EVF_TAKEN, .from = IP, .to = IP, .next = IP + 2};

	while (times--)
		vpt_pt_event(&u->pt, &event);
	vpt_pt_flush(&u->pt);
}

#define PSB "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"

/*
 * A write of TraceEn, OS and BranchEn to 570H begins a trace, and a write of 0 ends it. Writes to
 * its neighbours, 560H, 561H and 571H, do neither.
 */
START_TEST(ctl_starts_and_stops)
{
	static struct unit u;
	uint64_t at;

	start(&u);
	pt_write(&u, 0x560, RAM);
	pt_write(&u, 0x561, ROOM - 1);
	pt_write(&u, 0x571, 0);
	pt_taken(&u, 6);
	ck_assert_uint_eq(pt_read(&u, 0x561), ROOM - 1);
	ck_assert_uint_eq(pt_read(&u, 0x570), 0);

	pt_write(&u, 0x570, 0x2005);
	ck_assert_uint_eq(pt_read(&u, 0x570), 0x2005);
	/* STATUS: TriggerEn, ContextEn, FilterEn. */
	ck_assert_uint_eq(pt_read(&u, 0x571) & 7, 7);
	CHECK_BYTES(&u, 0, PSB);
	at = pt_read(&u, 0x561) >> 32;
	ck_assert_uint_gt(at, 16);
	/* Six taken branches are a short TNT, 1111111B and a 0. */
	pt_taken(&u, 6);
	ck_assert_uint_eq(pt_read(&u, 0x561) >> 32, at + 1);
	CHECK_BYTES(&u, at, "\xfe");

	/* A FUP of the WRMSR's IP, a TIP.PGD without one, and then nothing more. */
	pt_write(&u, 0x570, 0x2004);
	pt_taken(&u, 6);
	ck_assert_uint_eq(pt_read(&u, 0x570), 0x2004);
	ck_assert_uint_eq(pt_read(&u, 0x571) & 4, 0);
	ck_assert_uint_eq(pt_read(&u, 0x561) >> 32, at + 5);
	CHECK_BYTES(&u, at + 1, "\x3d\x00\x10\x01");
	finish(&u);
	TEST_PROVES("MSR-CTL");
}
END_TEST

/* Addresses beside 570H are other registers, or none. */
START_TEST(ctl_has_one_address)
{
	static struct unit u;
	uint32_t msr;

	start(&u);
	pt_write(&u, 0x570, 0x2004);
	for (msr = 0x550; msr < 0x590; msr++) {
		uint64_t value = 0;

		if (msr == 0x570)
			continue;
		if (vpt_pt_rdmsr(&u.pt, msr, &value) == VPT_FAULT_NONE)
			ck_assert_uint_ne(value, 0x2004);
	}
	finish(&u);
	TEST_PROVES("MSR-CTL");
}
END_TEST

/* Atom */

static void atom_write(struct unit *u, uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(vpt_atom_wrmsr(&u->atom, msr, value, VPT_ACCESS_HOST, IP, IP),
			 VPT_FAULT_NONE);
}

static uint64_t atom_read(struct unit *u, uint32_t msr)
{
	uint64_t value = 0x5a5a;

	ck_assert_int_eq(vpt_atom_rdmsr(&u->atom, msr, &value), VPT_FAULT_NONE);
	return value;
}

static void atom_event(struct unit *u, enum vpt_event_kind kind, uint64_t to, uint64_t next)
{
	const struct vpt_event event = {.kind = (uint8_t)kind, .from = IP, .to = to, .next = next};

	vpt_atom_event(&u->atom, &event);
	vpt_atom_flush(&u->atom);
}

static void wait_clocks(struct unit *u, uint64_t clocks)
{
	u->clock.cycles += clocks;
	u->clock.tsc += clocks;
}

/* Trace CPL 0 with these bits of CTL beside TraceEn, OS, Dest and TraceActive. Filter: always. */
static size_t atom_start(struct unit *u, uint64_t ctl)
{
	start(u);
	ck_assert_uint_eq(atom_read(u, 0x768), 0);
	atom_write(u, 0x76c, 7 | 6 << 3);
	atom_write(u, 0x770, RAM);
	atom_write(u, 0x771, ROOM - 1);
	atom_write(u, 0x768, 0x2105 | ctl);
	vpt_atom_flush(&u->atom);
	return atom_read(u, 0x772);
}

#define CYCLE_ACC 0x2
#define CMPRS_RET 0x800

/* 76BH counts core clocks in 22 bits, and a TIP carries the count and resets it. */
START_TEST(cntp_counts_clocks)
{
	static struct unit u;
	size_t at = atom_start(&u, CYCLE_ACC);

	ck_assert_uint_eq(atom_read(&u, 0x76b), 0);
	wait_clocks(&u, 0x123456);
	ck_assert_uint_eq(atom_read(&u, 0x76b), 0x123456);
	/* TIP with two bytes of LIP; 16H, D1H and 48H are bits 5:0, 13:6 and 21:14. */
	atom_event(&u, VPT_EV_JMP_INDIRECT, 0x2000, IP + 2);
	CHECK_BYTES(&u, at, "\xb4\x00\x20\x5b\xd1\x48");
	ck_assert_uint_eq(atom_read(&u, 0x772), at + 6);
	ck_assert_uint_eq(atom_read(&u, 0x76b), 0);

	/* What software writes is what the next packet carries: 1, 3FH and 0. */
	atom_write(&u, 0x76b, 0xfc1);
	atom_event(&u, VPT_EV_JMP_INDIRECT, 0x3000, IP + 2);
	CHECK_BYTES(&u, at + 6, "\xb4\x00\x30\x06\x3f");
	finish(&u);
	TEST_PROVES("ATOM-MSR-CNTP");
}
END_TEST

/* Bit 21, and no other, makes a FUP.PCC due. Bit 22 does not exist, and a reset clears all. */
START_TEST(cntp_has_22_bits)
{
	static struct unit u;
	size_t at = atom_start(&u, CYCLE_ACC);
	unsigned int n;

	for (n = 0; n < 64; n++) {
		const enum vpt_fault fault =
			vpt_atom_wrmsr(&u.atom, 0x76b, BIT(n), VPT_ACCESS_HOST, IP, IP);

		ck_assert_int_eq(fault, n < 22 ? VPT_FAULT_NONE : VPT_FAULT_GP);
		vpt_atom_tick(&u.atom, IP);
		vpt_atom_flush(&u.atom);
		if (n < 21) {
			ck_assert_uint_eq(atom_read(&u, 0x76b), BIT(n));
			ck_assert_uint_eq(atom_read(&u, 0x772), at);
		}
	}
	CHECK_BYTES(&u, at, "\x9c\x00\x10\x03\x00\x80");
	ck_assert_uint_eq(atom_read(&u, 0x772), at + 6);
	ck_assert_uint_eq(atom_read(&u, 0x76b), 0);
	atom_write(&u, 0x768, 0);
	atom_write(&u, 0x76b, 0x3fffff);
	vpt_atom_regs_reset(&u.atom.regs);
	ck_assert_uint_eq(atom_read(&u, 0x768), 0);
	ck_assert_uint_eq(atom_read(&u, 0x76b), 0);
	finish(&u);
	TEST_PROVES("ATOM-MSR-CNTP");
}
END_TEST

/* A near CALL puts its NLIP into bits 47:0 of 76FH and sets bit 48. */
START_TEST(call_notes_its_nlip)
{
	static const uint64_t nlips[] = {0, 0x1002, 0x7fffffffffff, 0xffff800000000000, ~0ull};
	static const uint64_t held[] = {0x1000000000000, 0x1000000001002, 0x17fffffffffff,
					0x1800000000000, 0x1ffffffffffff};
	static struct unit u;
	size_t i;

	atom_start(&u, CMPRS_RET);
	ck_assert_uint_eq(atom_read(&u, 0x76f), 0);
	for (i = 0; i < sizeof(nlips) / sizeof(nlips[0]); i++) {
		atom_event(&u, VPT_EV_CALL, 0x2000, nlips[i]);
		ck_assert_uint_eq(atom_read(&u, 0x76f), held[i]);
	}
	finish(&u);
	TEST_PROVES("ATOM-LASTCALL-NLIP ATOM-LASTCALL-VALID");
}
END_TEST

/*
 * A RET to the address of bits 47:0, with bit 48 set, is one outcome: TNT_BUFF goes from 1 to 11B.
 * A RET is a TIP if any of the 49 bits differs.
 */
START_TEST(ret_compares_49_bits)
{
	const uint64_t to = 0x2a2a, good = BIT(48) | to;
	static struct unit u;
	size_t at = atom_start(&u, CMPRS_RET);

	if (_i < 49)
		atom_write(&u, 0x76f, good ^ BIT(_i));
	else
		atom_write(&u, 0x76f, good);
	atom_event(&u, VPT_EV_RET, to, IP + 1);
	if (_i < 49) {
		CHECK_BYTES(&u, at, "\xb4\x2a\x2a");
		ck_assert_uint_eq(atom_read(&u, 0x77d), 1);
	} else {
		ck_assert_uint_eq(atom_read(&u, 0x772), at);
		ck_assert_uint_eq(atom_read(&u, 0x77d), 3);
	}
	finish(&u);
	TEST_PROVES("ATOM-LASTCALL-NLIP ATOM-LASTCALL-VALID");
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("by_number");
	TCase *pt = tcase_create("pt"), *atom = tcase_create("atom");

	tcase_add_test(pt, ctl_starts_and_stops);
	tcase_add_test(pt, ctl_has_one_address);
	suite_add_tcase(suite, pt);

	tcase_add_test(atom, cntp_counts_clocks);
	tcase_add_test(atom, cntp_has_22_bits);
	tcase_add_test(atom, call_notes_its_nlip);
	tcase_add_loop_test(atom, ret_compares_49_bits, 0, 50);
	suite_add_tcase(suite, atom);
	return suite;
}
