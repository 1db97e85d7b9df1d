// SPDX-License-Identifier: GPL-2.0-or-later
/* Local APIC: priorities, timer, local vector table, IPIs, errors, x2APIC. */
#include "lib/devscript.h"
#include "lib/suite.h"

#define L(reg)	  (0xfee00000ull + (reg))
#define X(reg)	  (0x800u + (reg) / 16)
#define ON	  WRITE(L(0xf0), 0x1ff)
#define SELF(v)	  WRITE(L(0x300), 0x40000 | (v))
#define EOI	  WRITE(L(0xb0), 0)
#define BASE	  0xfee00000ull
#define ENABLE_X2 WRMSR(0x1b, BASE | 0xd00)

static const struct test_dev_step reset_state[] = {
	READ(L(0x20), 0),
	READ(L(0x30), 0x50015),
	READ(L(0x80), 0),
	READ(L(0xa0), 0),
	READ(L(0xd0), 0),
	READ(L(0xe0), 0xffffffff),
	READ(L(0xf0), 0xff),
	READ(L(0x320), 0x10000),
	READ(L(0x330), 0x10000),
	READ(L(0x340), 0x10000),
	READ(L(0x350), 0x10000),
	READ(L(0x360), 0x10000),
	READ(L(0x370), 0x10000),
	READ(L(0x380), 0),
	READ(L(0x390), 0),
	RDMSR(0x1b, BASE | 0x900),
	READ(L(0x280), 0),
	NEVER,
	/* Switched off by software: LVT entries stay masked, fixed interrupts are lost. */
	WRITE(L(0x350), 0x700),
	READ(L(0x350), 0x10700),
	SELF(0x40),
	READ(L(0x220), 0),
	IDLE,
};

/* Nested: higher classes interrupt, equal ones do not; EOI ends the highest. */
static const struct test_dev_step nesting[] = {
	ON,
	SELF(0x41),
	SELF(0x35),
	SELF(0x4f),
	READ(L(0x220), 0x8002), /* vectors 40H to 5FH */
	READ(L(0x210), 0x200000),
	ACK(0x4f),
	READ(L(0x120), 0x8000),
	READ(L(0x220), 0x2),
	READ(L(0xa0), 0x40),
	IDLE,
	SELF(0x50),
	ACK(0x50),
	READ(L(0xa0), 0x50),
	SELF(0x5f),
	IDLE,
	EOI,
	READ(L(0xa0), 0x40),
	ACK(0x5f),
	EOI,
	IDLE,
	EOI,
	ACK(0x41),
	EOI,
	ACK(0x35),
	READ(L(0xa0), 0x30),
	EOI,
	READ(L(0xa0), 0),
	IDLE,
	EOI, /* of nothing */
	/* Twice pending is once pending; once more while in service is once more. */
	SELF(0x60),
	SELF(0x60),
	ACK(0x60),
	SELF(0x60),
	EOI,
	ACK(0x60),
	EOI,
	IDLE,
};

static const struct test_dev_step priority[] = {
	ON,
	WRITE(L(0x80), 0x45),
	READ(L(0xa0), 0x45),
	CR8_IS(4),
	SELF(0x4f),
	IDLE,
	SELF(0x50),
	ACK(0x50),
	READ(L(0xa0), 0x50),
	EOI,
	CR8(3),
	READ(L(0x80), 0x30),
	ACK(0x4f),
	READ(L(0xa0), 0x40),
	/* TPR and ISR of one class: TPR with its subclass. */
	WRITE(L(0x80), 0x47),
	READ(L(0xa0), 0x47),
	CR8(15),
	SELF(0xff),
	IDLE,
	CR8(14),
	ACK(0xff),
};

static const struct test_dev_step one_shot[] = {
	ON,
	WRITE(L(0x3e0), 0xb), /* by 1 */
	WRITE(L(0x320), 0x30),
	TIME(1000),
	WRITE(L(0x380), 1000), /* 40 ns each */
	NEXT(41000),
	TIME(1040),
	READ(L(0x390), 999),
	TIME(40999),
	READ(L(0x390), 1),
	IDLE,
	TIME(41000),
	READ(L(0x390), 0),
	ACK(0x30),
	NEVER,
	READ(L(0x380), 1000),
	EOI,
	/* Masked: it counts, and is no event. */
	WRITE(L(0x320), 0x10030),
	WRITE(L(0x380), 10),
	NEVER,
	READ(L(0x390), 10),
	TIME(50000),
	READ(L(0x390), 0),
	IDLE,
	/* Count 0 stops it. */
	WRITE(L(0x320), 0x30),
	WRITE(L(0x380), 10),
	NEXT(50400),
	WRITE(L(0x380), 0),
	NEVER,
};

static const struct test_dev_step periodic[] = {
	ON,
	WRITE(L(0x3e0), 0), /* by 2 */
	WRITE(L(0x320), 0x20031),
	WRITE(L(0x380), 100), /* 8 us */
	NEXT(8000),
	TIME(8000),
	ACK(0x31),
	EOI,
	NEXT(16000),
	TIME(16040),
	ACK(0x31),
	EOI,
	NEXT(24000), /* does not slip */
	READ(L(0x390), 100),
	TIME(16080),
	READ(L(0x390), 99),
	/* Many periods late is one interrupt. */
	TIME(1000000007),
	ACK(0x31),
	EOI,
	IDLE,
	NEXT(1000008000),
	/* The divider changes: what is left is counted with the new one. */
	TIME(1000004000),
	READ(L(0x390), 50),
	WRITE(L(0x3e0), 1), /* by 4 */
	READ(L(0x390), 50),
	NEXT(1000012000),
	TIME(1000012000),
	ACK(0x31),
	EOI,
	NEXT(1000028000),
	/* One-shot from now on. */
	WRITE(L(0x320), 0x31),
	TIME(1000028000),
	ACK(0x31),
	EOI,
	NEVER,
};

static const struct test_dev_step dividers[] = {
	ON,
	WRITE(L(0x320), 0x30),
	WRITE(L(0x3e0), 0xb),
	WRITE(L(0x380), 1),
	NEXT(40),
	WRITE(L(0x3e0), 0x0),
	WRITE(L(0x380), 1),
	NEXT(80),
	WRITE(L(0x3e0), 0x1),
	WRITE(L(0x380), 1),
	NEXT(160),
	WRITE(L(0x3e0), 0x2),
	WRITE(L(0x380), 1),
	NEXT(320),
	WRITE(L(0x3e0), 0x3),
	WRITE(L(0x380), 1),
	NEXT(640),
	WRITE(L(0x3e0), 0x8),
	WRITE(L(0x380), 1),
	NEXT(1280),
	WRITE(L(0x3e0), 0x9),
	WRITE(L(0x380), 1),
	NEXT(2560),
	WRITE(L(0x3e0), 0xfffffffa),
	READ(L(0x3e0), 0xa),
	WRITE(L(0x380), 0xffffffff),
	NEXT(21990232550400),
};

static const struct test_dev_step deadline[] = {
	ON,
	/* In other modes it is not there. */
	WRMSR(0x6e0, 1000),
	RDMSR(0x6e0, 0),
	NEVER,
	WRITE(L(0x320), 0x40032),
	WRITE(L(0x380), 100), /* no effect in this mode */
	READ(L(0x380), 0),
	NEVER,
	WRMSR(0x6e0, 2001),
	RDMSR(0x6e0, 2001),
	NEXT(1001),
	READ(L(0x390), 0),
	TIME(1000),
	IDLE,
	TIME(1001),
	ACK(0x32),
	EOI,
	RDMSR(0x6e0, 0),
	NEVER,
	/* One that is past fires at once. */
	WRMSR(0x6e0, 1),
	ACK(0x32),
	EOI,
	/* 0 disarms; so does another mode. */
	WRMSR(0x6e0, 9000),
	WRMSR(0x6e0, 0),
	NEVER,
	WRMSR(0x6e0, 9000),
	WRITE(L(0x320), 0x32),
	NEVER,
	WRITE(L(0x320), 0x40032),
	RDMSR(0x6e0, 0),
};

static const struct test_dev_step pmi[] = {
	ON,
	PMI,
	IDLE,
	WRITE(L(0x340), 0xfe),
	PMI,
	READ(L(0x340), 0x100fe), /* masked by its delivery */
	PMI,
	ACK(0xfe),
	EOI,
	IDLE,
	WRITE(L(0x340), 0xfe),
	PMI,
	ACK(0xfe),
	EOI,
	/* As NMI. */
	WRITE(L(0x340), 0x400),
	NMI(0),
	PMI,
	NMI(1),
	NMI(0),
	READ(L(0x340), 0x10400),
	PMI,
	NMI(0),
};

static const struct test_dev_step ipis[] = {
	ON,
	WRITE(L(0xd0), 0x02000000),
	/* Physical: to us, to another, to all. */
	WRITE(L(0x310), 0),
	WRITE(L(0x300), 0x4040),
	ACK(0x40),
	EOI,
	WRITE(L(0x310), 0x01000000),
	WRITE(L(0x300), 0x4040),
	IDLE,
	WRITE(L(0x310), 0xff000000),
	WRITE(L(0x300), 0x4041),
	ACK(0x41),
	EOI,
	READ(L(0x300), 0x4041),
	READ(L(0x310), 0xff000000),
	/* Logical, flat. */
	WRITE(L(0x310), 0x06000000),
	WRITE(L(0x300), 0x4842),
	ACK(0x42),
	EOI,
	WRITE(L(0x310), 0x05000000),
	WRITE(L(0x300), 0x4842),
	IDLE,
	/* Logical, by clusters: the same LDR is member 2 of cluster 0. */
	WRITE(L(0xe0), 0x0fffffff),
	READ(L(0xe0), 0x0fffffff),
	WRITE(L(0x310), 0x12000000),
	WRITE(L(0x300), 0x4842),
	IDLE,
	WRITE(L(0x310), 0x03000000),
	WRITE(L(0x300), 0x4842),
	ACK(0x42),
	EOI,
	/* Lowest priority: we are the only one. All with us, all but us. */
	WRITE(L(0x300), 0x4943),
	ACK(0x43),
	EOI,
	WRITE(L(0x300), 0x80044),
	ACK(0x44),
	EOI,
	WRITE(L(0x300), 0xc0044),
	IDLE,
	/* NMI, SMI, start-up, INIT. */
	WRITE(L(0x310), 0),
	WRITE(L(0x300), 0x4400),
	NMI(1),
	WRITE(L(0x300), 0x44400),
	NMI(1),
	WRITE(L(0x300), 0x4200),
	WRITE(L(0x300), 0x4610),
	RESETS(0, 0),
	WRITE(L(0x300), 0x8500), /* level de-assert */
	RESETS(0, 0),
	WRITE(L(0x300), 0x4500),
	RESETS(0, 1),
	NMI(0),
	IDLE,
};

static const struct test_dev_step errors[] = {
	ON,
	WRITE(L(0x370), 0xef),
	SELF(0x0f),
	READ(L(0x280), 0), /* not before it is written */
	ACK(0xef),
	EOI,
	SELF(0x0e), /* ESR was not written since: no further interrupt */
	IDLE,
	WRITE(L(0x280), 0),
	READ(L(0x280), 0x20),
	READ(L(0x40), 0), /* no such register */
	ACK(0xef),
	EOI,
	WRITE(L(0x280), 0),
	READ(L(0x280), 0x80),
	WRITE(L(0x3f0), 0x30), /* SELF IPI is for x2APIC only */
	WRITE(L(0x280), 0),
	READ(L(0x280), 0x80),
	ACK(0xef),
	EOI,
	/* A local source with such a vector. */
	WRITE(L(0x340), 0x05),
	PMI,
	WRITE(L(0x280), 0),
	READ(L(0x280), 0x40),
	ACK(0xef),
	EOI,
	WRITE(L(0x280), 0),
	READ(L(0x280), 0),
	/* Registers for reading only swallow writes. */
	WRITE(L(0x30), 7),
	WRITE(L(0x20), 7),
	WRITE(L(0x390), 7),
	WRITE(L(0x280), 0),
	READ(L(0x280), 0),
	READ(L(0x30), 0x50015),
};

/* Only some bits of an entry can be written; off means masked. */
static const struct test_dev_step table[] = {
	ON,
	WRITE(L(0x320), 0xffffffff),
	READ(L(0x320), 0x700ff),
	WRITE(L(0x330), 0xffffffff),
	READ(L(0x330), 0x107ff),
	WRITE(L(0x340), ~0u),
	READ(L(0x340), 0x107ff),
	WRITE(L(0x350), ~0u),
	READ(L(0x350), 0x1a7ff),
	WRITE(L(0x360), ~0u),
	READ(L(0x360), 0x1a7ff),
	WRITE(L(0x370), ~0u),
	READ(L(0x370), 0x100ff),
	WRITE(L(0x320), 0x20),
	WRITE(L(0x350), 0x700),
	WRITE(L(0xf0), 0xff),
	READ(L(0x320), 0x10020),
	READ(L(0x350), 0x10700),
	WRITE(L(0x80), 0x1ff),
	READ(L(0x80), 0xff),
	WRITE(L(0xd0), ~0u),
	READ(L(0xd0), 0xff000000),
};

static const struct test_dev_step base_msr[] = {
	WRMSR_GP(0x1b, BASE | 0x901), /* reserved bits */
	WRMSR_GP(0x1b, BASE | 0xb00),
	WRMSR_GP(0x1b, 1ull << 39 | 0x900),
	WRMSR_GP(0x1b, BASE | 0x500), /* x2APIC without APIC */
	RDMSR_GP(0x802),	      /* not in this mode */
	WRMSR_GP(0x80b, 0),
	/* The page moves. */
	WRMSR(0x1b, 0x7f12345000ull | 0x900),
	READ(L(0x30), 0x5a5a5a5a),
	READ(0x7f12345030ull, 0x50015),
	WRMSR(0x1b, BASE | 0x900),
	ON,
	SELF(0x30),
	/* Off and on again: as after power-up. */
	WRMSR(0x1b, BASE | 0x100),
	IDLE,
	READ(L(0x30), 0x5a5a5a5a),
	WRMSR_GP(0x1b, BASE | 0xd00), /* not at once */
	WRMSR(0x1b, BASE | 0x900),
	READ(L(0xf0), 0xff),
	READ(L(0x210), 0),
	ENABLE_X2,
	RDMSR(0x1b, BASE | 0xd00),
	WRMSR_GP(0x1b, BASE | 0x900), /* nor back */
	ENABLE_X2,
	WRMSR(0x1b, BASE | 0x100),
	RDMSR_GP(0x802),
};

static const struct test_dev_step x2apic[] = {
	ENABLE_X2,
	READ(L(0x30), 0x5a5a5a5a), /* no longer in memory */
	RDMSR(X(0x20), 0),
	RDMSR(X(0x30), 0x50015),
	RDMSR(X(0xd0), 1),
	RDMSR_GP(X(0xe0)),
	RDMSR_GP(X(0xb0)),
	RDMSR_GP(X(0x310)),
	RDMSR_GP(X(0x3f0)),
	RDMSR_GP(0x8ff),
	WRMSR_GP(X(0xd0), 1),
	RDMSR(X(0xd0), 1),
	WRMSR_GP(X(0x20), 0),
	WRMSR_GP(X(0x310), 0),
	WRMSR(X(0xf0), 0x1ff),
	WRMSR_GP(X(0xf0), 0x11ff),
	WRMSR_GP(X(0x80), 0x100),
	WRMSR(X(0x80), 0x20),
	CR8_IS(2),
	WRMSR(X(0x3f0), 0x2f),
	IDLE,
	WRMSR(X(0x3f0), 0x3f),
	WRMSR_GP(X(0x3f0), 0x13f),
	RDMSR(X(0x210), 0x80008000),
	ACK(0x3f),
	WRMSR_GP(X(0xb0), 1),
	WRMSR(X(0xb0), 0),
	IDLE,
	/* ICR is one register with a wide destination. */
	WRMSR(X(0x300), 0x4040),
	RDMSR(X(0x300), 0x4040),
	ACK(0x40),
	WRMSR(X(0xb0), 0),
	WRMSR(X(0x300), 0xff00004041),
	IDLE,
	WRMSR(X(0x300), 0xffffffff00004041),
	ACK(0x41),
	WRMSR(X(0xb0), 0),
	WRMSR(X(0x300), 0x100004842), /* logical: cluster 0, the first */
	ACK(0x42),
	WRMSR(X(0xb0), 0),
	WRMSR(X(0x300), 0x1000100004842),
	IDLE,
	WRMSR_GP(X(0x300), 0x14040),
	/* Timer, LVT. */
	WRMSR(X(0x3e0), 0xb),
	WRMSR_GP(X(0x3e0), 0x4),
	WRMSR_GP(X(0x320), 0x80030),
	WRMSR(X(0x320), 0x1030),
	WRMSR(X(0x380), 25),
	NEXT(1000),
	WRMSR_GP(X(0x390), 0),
	RDMSR(X(0x390), 25),
	TIME(1000),
	ACK(0x30),
	WRMSR_GP(X(0x280), 1),
	WRMSR(X(0x280), 0),
	RDMSR(X(0x280), 0),
};

static const struct test_dev_script scripts[] = {
	TEST_DEV_SCRIPT("state after reset", reset_state),
	TEST_DEV_SCRIPT("nesting", nesting),
	TEST_DEV_SCRIPT("task priority", priority),
	TEST_DEV_SCRIPT("one-shot timer", one_shot),
	TEST_DEV_SCRIPT("periodic timer", periodic),
	TEST_DEV_SCRIPT("dividers", dividers),
	TEST_DEV_SCRIPT("TSC deadline", deadline),
	TEST_DEV_SCRIPT("PMI", pmi),
	TEST_DEV_SCRIPT("IPIs", ipis),
	TEST_DEV_SCRIPT("errors", errors),
	TEST_DEV_SCRIPT("LVT", table),
	TEST_DEV_SCRIPT("APIC base", base_msr),
	TEST_DEV_SCRIPT("x2APIC", x2apic),
};

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

/* Accesses that no driver makes harm nobody. */
START_TEST(odd_accesses)
{
	const struct dev_lapic_config config = {.hz = 25000000, .max_phy_addr = 39};
	uint8_t data[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct dev_lapic l;

	dev_lapic_init(&l, &config);
	dev_lapic_write(&l, 0xf0, 2, data);
	dev_lapic_write(&l, 0xf0, 8, data);
	dev_lapic_write(&l, 0xf1, 4, data);
	ck_assert_uint_eq(l.svr, 0xff);
	dev_lapic_read(&l, 0x32, 1, data);
	ck_assert_uint_eq(data[0], 5);
	dev_lapic_read(&l, 0x30, 8, data);
	ck_assert_uint_eq(data[0], 0x15);
	ck_assert_uint_eq(data[7], 0);
	dev_lapic_read(&l, 0xfff, 8, data);
	ck_assert_uint_eq(data[0] | data[7], 0);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("dev_lapic");
	TCase *tc = tcase_create("lapic");

	tcase_add_loop_test(tc, scripted, 0, sizeof(scripts) / sizeof(scripts[0]));
	tcase_add_test(tc, odd_accesses);
	suite_add_tcase(s, tc);
	return s;
}
