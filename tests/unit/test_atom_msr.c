// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The processors and registers of Atom's RTIT (RTIT 1.2, 3.3), from the numbers and bits as
 * the document prints them.
 */
#include "lib/suite.h"

#include <string.h>

#include "vpt/atom.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BIT(n)	     (1ull << (n))
#define BITS(hi, lo) ((~0ull >> (63 - (hi))) & (~0ull << (lo)))

/* Registers */

struct reg {
	const char *name;
	uint32_t msr;
	uint64_t reset;
	uint64_t bits;	  /* can be written */
	uint64_t ignored; /* keep what they are, without a fault */
	uint64_t ones;	  /* read as ones, and must be written so */
	bool sign;	  /* `ignored` reads as bit 47 */
	const char *tag;
};

static const struct reg regs[] = {
	{"RTIT_LIP0", 0x760, 0, BITS(47, 0), BITS(63, 48), 0, true,
	 TEST_ROW_PROVES("ATOM-MSR-LIP0")},
	{"RTIT_LIP1", 0x761, 0, BITS(47, 0), BITS(63, 48), 0, true,
	 TEST_ROW_PROVES("ATOM-MSR-LIP1")},
	{"RTIT_LIP2", 0x762, 0, BITS(47, 0), BITS(63, 48), 0, true,
	 TEST_ROW_PROVES("ATOM-MSR-LIP2")},
	{"RTIT_LIP3", 0x763, 0, BITS(47, 0), BITS(63, 48), 0, true,
	 TEST_ROW_PROVES("ATOM-MSR-LIP3")},
	{"RTIT_CTL", 0x768, 0, BITS(4, 0) | BITS(15, 7), 0, 0, false,
	 TEST_ROW_PROVES("ATOM-MSR-CTL")},
	{"RTIT_STATUS", 0x769, 0, BIT(0) | BIT(3), BITS(2, 1), 0, false,
	 TEST_ROW_PROVES("ATOM-MSR-STATUS")},
	{"RTIT_CNTP", 0x76b, 0, BITS(21, 0), 0, 0, false, TEST_ROW_PROVES("ATOM-MSR-CNTP")},
	{"RTIT_EVENTS", 0x76c, 0, BITS(5, 0), 0, 0, false, TEST_ROW_PROVES("ATOM-MSR-EVENTS")},
	{"RTIT_LAST_LIP", 0x76e, 0, BITS(32, 0), 0, 0, false, TEST_ROW_PROVES("ATOM-MSR-LAST-LIP")},
	{"RTIT_LAST_CALL_NLIP", 0x76f, 0, BITS(48, 0), 0, 0, false,
	 TEST_ROW_PROVES("ATOM-MSR-LAST-CALL")},
	{"RTIT_BASE_ADDR", 0x770, 0xfdc00000, BITS(35, 6), 0, 0, false,
	 TEST_ROW_PROVES("ATOM-MSR-BASE")},
	{"RTIT_LIMIT_MASK", 0x771, 0x7f, BITS(21, 6), 0, 0x3f, false,
	 TEST_ROW_PROVES("ATOM-MSR-LIMIT")},
	{"RTIT_OFFSET", 0x772, 0, BITS(21, 0), 0, 0, false, TEST_ROW_PROVES("ATOM-MSR-OFFSET")},
	{"RTIT_CR3_MATCH", 0x777, 0, BITS(35, 5), 0, 0, false, TEST_ROW_PROVES("ATOM-MSR-CR3")},
	{"RTIT_PKT_CNT", 0x77c, 0x20000, BITS(13, 0) | BITS(17, 16), 0, 0, false,
	 TEST_ROW_PROVES("ATOM-MSR-PKT-CNT")},
	{"RTIT_TNT_BUFF", 0x77d, 1, BITS(6, 0), 0, 0, false, TEST_ROW_PROVES("ATOM-MSR-TNT")},
};

static const struct reg *find(uint32_t msr)
{
	for (size_t i = 0; i < COUNT(regs); i++) {
		if (regs[i].msr == msr)
			return &regs[i];
	}
	return NULL;
}

static struct vpt_atom_regs fresh(void)
{
	struct vpt_atom_regs r;

	/* What a reset does not set would show. */
	memset(&r, 0xa5, sizeof(r));
	vpt_atom_regs_reset(&r);
	return r;
}

static uint64_t read_ok(struct vpt_atom_regs *r, uint32_t msr)
{
	uint64_t value = 0xdeadbeef;

	ck_assert_int_eq(vpt_atom_regs_read(r, msr, &value), VPT_FAULT_NONE);
	return value;
}

static struct vpt_atom_regs unlocked(void)
{
	struct vpt_atom_regs r = fresh();

	ck_assert_uint_eq(read_ok(&r, 0x768), 0);
	return r;
}

static void write_ok(struct vpt_atom_regs *r, uint32_t msr, uint64_t value)
{
	ck_assert_int_eq(vpt_atom_regs_write(r, msr, value), VPT_FAULT_NONE);
}

/* #GP, and nothing at all has changed. */
static void write_faults(struct vpt_atom_regs *r, uint32_t msr, uint64_t value)
{
	struct vpt_atom_regs before = *r;

	ck_assert_msg(vpt_atom_regs_write(r, msr, value) == VPT_FAULT_GP, "%x: %llx", msr,
		      (unsigned long long)value);
	ck_assert_int_eq(memcmp(&before, r, sizeof(before)), 0);
}

static void read_faults(struct vpt_atom_regs *r, uint32_t msr)
{
	struct vpt_atom_regs before = *r;
	uint64_t value = 0xdeadbeef;

	ck_assert_int_eq(vpt_atom_regs_read(r, msr, &value), VPT_FAULT_GP);
	ck_assert_uint_eq(value, 0xdeadbeef);
	ck_assert_int_eq(memcmp(&before, r, sizeof(before)), 0);
}

/* What a read gives after `value` was taken over `old`. */
static uint64_t expected(const struct reg *reg, uint64_t old, uint64_t value)
{
	uint64_t held = (value & reg->bits) | (old & reg->ignored) | reg->ones;

	if (!reg->sign)
		return held;
	return value & BIT(47) ? held | BITS(63, 48) : held & BITS(47, 0);
}

START_TEST(register_resets)
{
	const struct reg *reg = &regs[_i];
	struct vpt_atom_regs r = unlocked();

	ck_assert_msg(read_ok(&r, reg->msr) == reg->reset, "%s", reg->name);
	write_ok(&r, reg->msr, reg->bits | reg->ones);
	if (reg->bits != reg->reset)
		ck_assert_uint_ne(read_ok(&r, reg->msr), reg->reset);
	vpt_atom_regs_reset(&r);
	/* Which also locks them anew. */
	if (reg->msr != 0x768)
		read_faults(&r, reg->msr);
	ck_assert_uint_eq(read_ok(&r, 0x768), 0);
	ck_assert_msg(read_ok(&r, reg->msr) == reg->reset, "%s", reg->name);
	TEST_PROVES(reg->tag);
	TEST_PROVES("ATOM-RESET");
}
END_TEST

/* Each bit alone, turned over in the reset value and in all that can be set. */
START_TEST(register_bits)
{
	const struct reg *reg = &regs[_i];
	const uint64_t from[] = {reg->reset, reg->bits | reg->ones};

	for (size_t f = 0; f < COUNT(from); f++) {
		for (unsigned int n = 0; n < 64; n++) {
			struct vpt_atom_regs r = unlocked();
			uint64_t old, value = from[f] ^ BIT(n);

			write_ok(&r, reg->msr, from[f]);
			old = read_ok(&r, reg->msr);
			if (!((reg->bits | reg->ignored) & BIT(n)) ||
			    (reg->msr == 0x77d && !value)) {
				write_faults(&r, reg->msr, value);
				ck_assert_uint_eq(read_ok(&r, reg->msr), old);
				continue;
			}
			write_ok(&r, reg->msr, value);
			ck_assert_uint_eq(read_ok(&r, reg->msr), expected(reg, old, value));
			/* Twice the same is nothing new. */
			write_ok(&r, reg->msr, read_ok(&r, reg->msr));
			ck_assert_uint_eq(read_ok(&r, reg->msr), expected(reg, old, value));
		}
	}
	TEST_PROVES(reg->tag);
	TEST_PROVES("ATOM-RESERVED");
}
END_TEST

/* One register is not another: each keeps its own while all are written. */
START_TEST(registers_are_apart)
{
	struct vpt_atom_regs r = unlocked();

	for (size_t i = 0; i < COUNT(regs); i++)
		write_ok(&r, regs[i].msr, regs[i].bits | regs[i].ones);
	for (size_t i = 0; i < COUNT(regs); i++) {
		const uint64_t all = expected(&regs[i], 0, regs[i].bits), some = regs[i].reset;

		ck_assert_uint_eq(read_ok(&r, regs[i].msr), all);
		write_ok(&r, regs[i].msr, some);
		for (size_t k = 0; k < COUNT(regs); k++) {
			if (k != i)
				ck_assert_uint_eq(read_ok(&r, regs[k].msr),
						  expected(&regs[k], 0, regs[k].bits));
		}
		write_ok(&r, regs[i].msr, regs[i].bits | regs[i].ones);
	}
}
END_TEST

START_TEST(locked_until_ctl_is_read)
{
	struct vpt_atom_regs r = fresh();

	for (size_t i = 0; i < COUNT(regs); i++) {
		write_faults(&r, regs[i].msr, regs[i].reset);
		if (regs[i].msr != 0x768)
			read_faults(&r, regs[i].msr);
	}
	ck_assert_uint_eq(read_ok(&r, 0x768), 0);
	for (size_t i = 0; i < COUNT(regs); i++) {
		ck_assert_uint_eq(read_ok(&r, regs[i].msr), regs[i].reset);
		write_ok(&r, regs[i].msr, regs[i].reset);
	}
	TEST_PROVES("ATOM-LOCK");
}
END_TEST

START_TEST(unlisted_numbers_fault)
{
	unsigned int there = 0;

	for (uint32_t msr = 0x740; msr < 0x7a0; msr++) {
		struct vpt_atom_regs r = unlocked();

		if (find(msr)) {
			there++;
			ck_assert_uint_eq(read_ok(&r, msr), find(msr)->reset);
			continue;
		}
		read_faults(&r, msr);
		write_faults(&r, msr, 0);
		write_faults(&r, msr, 1);
	}
	ck_assert_uint_eq(there, COUNT(regs));
	ck_assert_uint_eq(there, 16);
	TEST_PROVES("ATOM-UNLISTED");
}
END_TEST

START_TEST(lips_read_sign_extended)
{
	const uint32_t msr = 0x760 + (uint32_t)_i;
	struct vpt_atom_regs r = unlocked();

	write_ok(&r, msr, 0x0000800000000000);
	ck_assert_uint_eq(read_ok(&r, msr), 0xffff800000000000);
	ck_assert_uint_eq(r.lip[_i], 0x0000800000000000);
	write_ok(&r, msr, 0x1234700000000001);
	ck_assert_uint_eq(read_ok(&r, msr), 0x0000700000000001);
	write_ok(&r, msr, ~0ull);
	ck_assert_uint_eq(read_ok(&r, msr), ~0ull);
	ck_assert_uint_eq(r.lip[_i], BITS(47, 0));
	TEST_PROVES("ATOM-LIP-SIGN");
}
END_TEST

START_TEST(status_is_half_read_only)
{
	for (uint32_t held = 0; held < 16; held++) {
		for (uint64_t value = 0; value < 16; value++) {
			struct vpt_atom_regs r = unlocked();

			r.status = held;
			write_ok(&r, 0x769, value);
			ck_assert_uint_eq(read_ok(&r, 0x769), (value & 9) | (held & 6));
		}
	}
	TEST_PROVES("ATOM-STATUS-RO");
}
END_TEST

START_TEST(limit_mask_has_ones)
{
	struct vpt_atom_regs r = unlocked();

	for (uint64_t low = 0; low < 0x3f; low++)
		write_faults(&r, 0x771, 0x3fffc0 | low);
	for (uint64_t high = 0; high <= 0x3fffff; high += 0x40) {
		write_ok(&r, 0x771, high | 0x3f);
		ck_assert_uint_eq(read_ok(&r, 0x771), high | 0x3f);
	}
	TEST_PROVES("ATOM-LIMIT-ONES");
}
END_TEST

START_TEST(tnt_buff_is_never_zero)
{
	struct vpt_atom_regs r = unlocked();

	for (uint64_t value = 1; value < 0x80; value++) {
		write_ok(&r, 0x77d, value);
		write_faults(&r, 0x77d, 0);
		ck_assert_uint_eq(read_ok(&r, 0x77d), value);
	}
	write_faults(&r, 0x77d, BIT(63));
	TEST_PROVES("ATOM-TNT-ZERO");
}
END_TEST

START_TEST(reserved_ids_are_written)
{
	for (uint64_t value = 0; value < 0x40; value++) {
		struct vpt_atom_regs r = unlocked();

		write_ok(&r, 0x76c, value);
		ck_assert_uint_eq(read_ok(&r, 0x76c), value);
	}
	TEST_PROVES("ATOM-RESERVED-ID");
}
END_TEST

/* Fields */

struct field {
	const char *tag;
	unsigned int msr, lo, width;
	unsigned int shift, bits; /* by the library */
	uint64_t mask;
};

#define FIELD(msr_, lo_, width_, reg_, name_, tag_)                                   \
	{                                                                             \
		tag_, msr_, lo_, width_, VPT_ATOM_##reg_##_##name_##_SHIFT,           \
			VPT_ATOM_##reg_##_##name_##_WIDTH, VPT_ATOM_MASK(reg_, name_) \
	}

static const struct field fields[] = {
	FIELD(0x768, 0, 1, CTL, TRACE_EN, TEST_ROW_PROVES("ATOM-CTL-TRACEEN")),
	FIELD(0x768, 1, 1, CTL, CYCLE_ACC, TEST_ROW_PROVES("ATOM-CTL-CYCLEACC")),
	FIELD(0x768, 2, 1, CTL, OS, TEST_ROW_PROVES("ATOM-CTL-OS")),
	FIELD(0x768, 3, 1, CTL, USER, TEST_ROW_PROVES("ATOM-CTL-USER")),
	FIELD(0x768, 4, 1, CTL, STS_ON_CR3, TEST_ROW_PROVES("ATOM-CTL-STSCR3")),
	FIELD(0x768, 7, 1, CTL, CR3_EN, TEST_ROW_PROVES("ATOM-CTL-CR3EN")),
	FIELD(0x768, 8, 1, CTL, DEST, TEST_ROW_PROVES("ATOM-CTL-DEST")),
	FIELD(0x768, 9, 1, CTL, MTC_EN, TEST_ROW_PROVES("ATOM-CTL-MTCEN")),
	FIELD(0x768, 10, 1, CTL, STS_EN, TEST_ROW_PROVES("ATOM-CTL-STSEN")),
	FIELD(0x768, 11, 1, CTL, CMPRS_RET, TEST_ROW_PROVES("ATOM-CTL-CMPRSRET")),
	FIELD(0x768, 12, 1, CTL, LESS_PKTS, TEST_ROW_PROVES("ATOM-CTL-LESSPKTS")),
	FIELD(0x768, 13, 1, CTL, TRACE_ACTIVE, TEST_ROW_PROVES("ATOM-CTL-ACTIVE")),
	FIELD(0x768, 14, 2, CTL, MTC_RANGE, TEST_ROW_PROVES("ATOM-CTL-MTCRANGE")),
	FIELD(0x769, 0, 1, STATUS, FILTER_EN, TEST_ROW_PROVES("ATOM-STATUS-FILTEREN")),
	FIELD(0x769, 1, 1, STATUS, CONTEXT_EN, TEST_ROW_PROVES("ATOM-STATUS-CONTEXTEN")),
	FIELD(0x769, 2, 1, STATUS, TRIGGER_EN, TEST_ROW_PROVES("ATOM-STATUS-TRIGGEREN")),
	FIELD(0x769, 3, 1, STATUS, BUFFER_OVERFLOW, TEST_ROW_PROVES("ATOM-STATUS-OVERFLOW")),
	FIELD(0x76c, 0, 3, EVENTS, FILTER, TEST_ROW_PROVES("ATOM-EVENTS-FILTER")),
	FIELD(0x76c, 3, 3, EVENTS, STOP, TEST_ROW_PROVES("ATOM-EVENTS-STOP")),
	FIELD(0x76e, 0, 32, LAST_LIP, LIP, TEST_ROW_PROVES("ATOM-LASTLIP-LIP")),
	FIELD(0x76e, 32, 1, LAST_LIP, VALID, TEST_ROW_PROVES("ATOM-LASTLIP-VALID")),
	FIELD(0x76f, 0, 48, LAST_CALL_NLIP, NLIP, TEST_ROW_PROVES("ATOM-LASTCALL-NLIP")),
	FIELD(0x76f, 48, 1, LAST_CALL_NLIP, VALID, TEST_ROW_PROVES("ATOM-LASTCALL-VALID")),
	FIELD(0x77c, 0, 14, PKT_CNT, BYTES, TEST_ROW_PROVES("ATOM-PKTCNT-BYTES")),
	FIELD(0x77c, 16, 2, PKT_CNT, MASK, TEST_ROW_PROVES("ATOM-PKTCNT-MASK")),
};

START_TEST(field_has_its_place)
{
	const struct field *f = &fields[_i];
	const uint64_t mask = BITS(f->lo + f->width - 1, f->lo);
	const struct reg *reg = find(f->msr);
	struct vpt_atom_regs r = unlocked();

	ck_assert_uint_eq(f->shift, f->lo);
	ck_assert_uint_eq(f->bits, f->width);
	ck_assert_uint_eq(f->mask, mask);
	/* Whole and alone it can be written, but for what is read only. */
	write_ok(&r, f->msr, mask);
	ck_assert_uint_eq(read_ok(&r, f->msr), mask & reg->bits);
	ck_assert(mask == (mask & reg->bits) || mask == (mask & reg->ignored));
	TEST_PROVES(f->tag);
}
END_TEST

/* All bits of registers with fields are in one of them. */
START_TEST(fields_are_all)
{
	for (size_t i = 0; i < COUNT(regs); i++) {
		uint64_t seen = 0;

		for (size_t k = 0; k < COUNT(fields); k++) {
			if (fields[k].msr != regs[i].msr)
				continue;
			ck_assert_uint_eq(seen & fields[k].mask, 0);
			seen |= fields[k].mask;
		}
		if (seen)
			ck_assert_uint_eq(seen, regs[i].bits | regs[i].ignored);
	}
	ck_assert_uint_eq(VPT_ATOM_GET(CTL, MTC_RANGE, 0x8000), 2);
	ck_assert_uint_eq(VPT_ATOM_GET(EVENTS, STOP, 0x3f), 7);
	ck_assert_uint_eq(VPT_ATOM_GET(LAST_CALL_NLIP, NLIP, BIT(48) | 5), 5);
}
END_TEST

/* INIT */

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	memset(ctx, 0, sizeof(*ctx));
	ctx->wait_for_sipi = true;
}

START_TEST(init_changes_no_register)
{
	const struct vpt_pt_ops ops = {.context = context};
	const struct vpt_event init = {.kind = VPT_EV_INIT, .flags = VPT_EVF_WAIT, .from = 0x1000};
	struct vpt_atom a;
	uint64_t value;

	vpt_atom_init(&a, &ops, NULL);
	ck_assert_int_eq(vpt_atom_rdmsr(&a, 0x768, &value), VPT_FAULT_NONE);
	/* All but what makes a trace of it. */
	for (size_t i = 0; i < COUNT(regs); i++) {
		if (regs[i].msr == 0x768 || regs[i].msr == 0x769)
			continue;
		ck_assert_int_eq(vpt_atom_wrmsr(&a, regs[i].msr, regs[i].bits | regs[i].ones,
						VPT_ACCESS_GUEST, 0x1000, 0x1002),
				 VPT_FAULT_NONE);
	}
	ck_assert_int_eq(vpt_atom_wrmsr(&a, 0x768, 0xdf9e, VPT_ACCESS_GUEST, 0x1000, 0x1002),
			 VPT_FAULT_NONE);
	vpt_atom_event(&a, &init);
	for (size_t i = 0; i < COUNT(regs); i++) {
		if (regs[i].msr == 0x769)
			continue;
		ck_assert_int_eq(vpt_atom_rdmsr(&a, regs[i].msr, &value), VPT_FAULT_NONE);
		ck_assert_uint_eq(
			value, regs[i].msr == 0x768 ? 0xdf9e : expected(&regs[i], 0, regs[i].bits));
	}
	TEST_PROVES("ATOM-INIT");
}
END_TEST

/* Processors */

static const struct {
	unsigned int family, model, stepping;
	const char *tag;
} steppings[] = {
	{6, 0x37, 8, TEST_ROW_PROVES("ATOM-CPU-37-8")},
	{6, 0x5d, 0, TEST_ROW_PROVES("ATOM-CPU-5D-0")},
	{6, 0x5d, 1, TEST_ROW_PROVES("ATOM-CPU-5D-1")},
	{6, 0x4a, 8, TEST_ROW_PROVES("ATOM-CPU-4A-8")},
	{6, 0x4d, 8, TEST_ROW_PROVES("ATOM-CPU-4D-8")},
	{6, 0x5a, 0, TEST_ROW_PROVES("ATOM-CPU-5A-0")},
	{6, 0x4c, 3, TEST_ROW_PROVES("ATOM-CPU-4C-3")},
};

/* CPUID.1:EAX, as the SDM has it. */
static uint32_t signature(unsigned int family, unsigned int model, unsigned int stepping)
{
	return (model >> 4) << 16 | family << 8 | (model & 15) << 4 | stepping;
}

static bool is_listed(unsigned int family, unsigned int model, unsigned int stepping)
{
	for (size_t i = 0; i < COUNT(steppings); i++) {
		if (steppings[i].family == family && steppings[i].model == model &&
		    steppings[i].stepping == stepping)
			return true;
	}
	return false;
}

START_TEST(stepping_has_atom)
{
	const uint32_t eax =
		signature(steppings[_i].family, steppings[_i].model, steppings[_i].stepping);

	ck_assert(vpt_atom_supported(eax));
	/* What is no part of family, model and stepping: type, extended family, reserved. */
	ck_assert(vpt_atom_supported(eax | 0xfff0f000));
	TEST_PROVES(steppings[_i].tag);
}
END_TEST

START_TEST(all_signatures)
{
	unsigned int found = 0;

	for (unsigned int family = 0; family < 16; family++) {
		for (unsigned int model = 0; model < 256; model++) {
			for (unsigned int stepping = 0; stepping < 16; stepping++) {
				const bool has =
					vpt_atom_supported(signature(family, model, stepping));

				ck_assert_msg(has == is_listed(family, model, stepping),
					      "%x_%02x stepping %x", family, model, stepping);
				found += has;
			}
		}
	}
	ck_assert_uint_eq(found, 7);
	TEST_PROVES("ATOM-NO-CPUID");
}
END_TEST

START_TEST(names_of_cores)
{
	ck_assert_uint_eq(vpt_atom_signature("silvermont"), 0x30678);
	ck_assert_uint_eq(vpt_atom_signature("airmont"), 0x406c3);
	ck_assert_uint_eq(vpt_atom_signature("goldmont"), 0);
	ck_assert_uint_eq(vpt_atom_signature("silver"), 0);
	ck_assert_uint_eq(vpt_atom_signature("silvermonts"), 0);
	ck_assert_uint_eq(vpt_atom_signature(""), 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("atom_msr");
	TCase *tc = tcase_create("registers");

	tcase_add_loop_test(tc, register_resets, 0, COUNT(regs));
	tcase_add_loop_test(tc, register_bits, 0, COUNT(regs));
	tcase_add_test(tc, registers_are_apart);
	tcase_add_test(tc, locked_until_ctl_is_read);
	tcase_add_test(tc, unlisted_numbers_fault);
	tcase_add_loop_test(tc, lips_read_sign_extended, 0, 4);
	tcase_add_test(tc, status_is_half_read_only);
	tcase_add_test(tc, limit_mask_has_ones);
	tcase_add_test(tc, tnt_buff_is_never_zero);
	tcase_add_test(tc, reserved_ids_are_written);
	tcase_add_loop_test(tc, field_has_its_place, 0, COUNT(fields));
	tcase_add_test(tc, fields_are_all);
	tcase_add_test(tc, init_changes_no_register);
	suite_add_tcase(suite, tc);

	tc = tcase_create("processors");
	tcase_add_loop_test(tc, stepping_has_atom, 0, COUNT(steppings));
	tcase_add_test(tc, all_signatures);
	tcase_add_test(tc, names_of_cores);
	suite_add_tcase(suite, tc);
	return suite;
}
