// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random walks by processors with errata. A walk makes correct packets, and the test applies an
 * erratum to the packets (tests/lib/erratum.h). Decoding for a processor with the erratum must return
 * the executed instructions. Decoding for a processor without errata must fail. The correct stream
 * must also be decoded for the processor with the erratum.
 *
 * TEST_ERRATA_SEEDS=FIRST-LAST tests these seeds. The default is to test seeds until the condition of
 * the erratum arose in CONFIGS walks.
 */
#include "lib/suite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/erratum.h"
#include "vpt/msr.h"

#define CONFIGS 200u
#define SEEDS	5000u /* at most */

/* Processors that have the erratum, and models that trace like them. */
struct machine {
	const char *model;
	struct erratum_cpu cpu;
};

#define MACHINES 4

/* clang-format off */
static const struct row {
	enum dec_erratum_bit erratum;
	int way;
	unsigned int same; /* percentage of walks that may decode correctly without the erratum */
	struct machine machine[MACHINES];
} rows[] = {
	/* The erratum may have no effect but a PSB+ where decoding begins. */
	{DEC_ERRATUM_BIT_BDM70, 0, 5,
	 {{"bdw", {6, 0x3d}}, {"skl", {6, 0x5e}}, {"icx", {6, 0x6a}}, {"spr", {6, 0x8f}}}},
	{DEC_ERRATUM_BIT_BDM64, 0, 0, {{"bdw", {6, 0x3d}}, {"bdw", {6, 0x4f}}}},
	{DEC_ERRATUM_BIT_SKD007, 0, 0, {{"skl", {6, 0x5e}}, {"skl", {6, 0x8e}}}},
	{DEC_ERRATUM_BIT_SKD022, 0, 0, {{"skl", {6, 0x5e}}, {"icx", {6, 0x7e}}}},
	{DEC_ERRATUM_BIT_SKD010, ERRATUM_SKIPS, 0, {{"skl", {6, 0x5e}}, {"skl", {6, 0x9e}}}},
	/* A JMP to a JMP that leaves the filter to the same address. */
	{DEC_ERRATUM_BIT_SKL014, 0, 1, {{"skl", {6, 0x5e}}, {"icx", {6, 0x6a}}, {"spr", {6, 0xcf}}}},
	{DEC_ERRATUM_BIT_APL12, 0, 0, {{"skl", {6, 0x5c}}, {"skl", {6, 0x5f}}}},
	{DEC_ERRATUM_BIT_APL11, 0, 0, {{"skl", {6, 0x5c}}, {"skl", {6, 0x7a}}, {"spr", {6, 0x97}}}},
	/* Only the count of cycles depends on the erratum, and a PSB+ restarts the time. */
	{DEC_ERRATUM_BIT_SKL168, ERRATUM_TIME, 100, {{"skl", {6, 0x5e}}, {"skl", {6, 0x4e}}}},
	/* The wrong byte may be a PAD. */
	{DEC_ERRATUM_BIT_SKZ84, 0, 10, {{"skl", {6, 0x55}}, {"icx", {6, 0x6a}}, {"spr", {6, 0x8f}}}},
};
/* clang-format on */

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static bool is_one_of(const struct row *row, uint32_t errata)
{
	return errata >> row->erratum & 1;
}

/* Remove the features that no model up to Skylake has. */
static void restrict_to_old(struct walk_config *config)
{
	config->caps_ebx = 0;
	config->extras &= ~(uint32_t)(WALK_BLOCKS | WALK_PTWRITE | WALK_UINTR);
	config->ctl &= ~(VPT_CTL_MASK(EVENT_EN) | VPT_CTL_MASK(PTW_EN) | VPT_CTL_MASK(FUP_ON_PTW) |
			 VPT_CTL_MASK(PWR_EVT_EN) | VPT_CTL_MASK(INJECT_PSB_PMI));
}

/* Set one or two filter ranges. */
static void filter(struct walk_config *config, uint64_t seed)
{
	const unsigned int shift = VPT_CTL_ADDR0_CFG_SHIFT;

	config->ctl &= ~(UINT64_C(0xffff) << shift);
	config->ctl |= UINT64_C(1) << shift;
	config->addr[0] = WALK_CODE_BASE + seed * 977 % 0x4000;
	config->addr[1] = config->addr[0] + 0x1000 + seed * 7919 % 0x3000;
	if (seed & 1) {
		config->ctl |= UINT64_C(16) << shift;
		config->addr[2] = config->addr[1] + 0x100;
		config->addr[3] = WALK_CODE_BASE + WALK_CODE_SIZE - 1;
	}
}

/* Make the condition of the erratum likely. */
static void provoke(struct walk_config *config, enum dec_erratum_bit erratum, uint64_t seed)
{
	switch (erratum) {
	case DEC_ERRATUM_BIT_BDM64:
		config->extras |= WALK_TSX;
		config->aborts = 3;
		break;
	case DEC_ERRATUM_BIT_SKD007:
		config->ctl |= VPT_CTL_MASK(CYC_EN);
		break;
	case DEC_ERRATUM_BIT_SKD022:
		config->vmx = WALK_HOST;
		config->extras &= ~(uint32_t)WALK_ENCLAVE;
		config->ctl |= VPT_CTL_MASK(OS);
		break;
	case DEC_ERRATUM_BIT_SKD010:
		/* Otherwise a RET may be compressed whose CALL was not traced, which ends decoding. */
		if (seed & 2)
			config->ctl |= VPT_CTL_MASK(DIS_RETC);
		break;
	case DEC_ERRATUM_BIT_APL12:
		config->ctl |= VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER);
		config->ctl &= ~VPT_CTL_MASK(CR3_FILTER);
		config->extras &= ~(uint32_t)(WALK_ENCLAVE | WALK_TSX);
		filter(config, seed);
		break;
	case DEC_ERRATUM_BIT_SKL014:
		filter(config, seed);
		break;
	case DEC_ERRATUM_BIT_SKL168:
		config->ctl |= VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN) | VPT_CTL_MASK(CYC_EN);
		config->ctl &= ~VPT_CTL_MASK(PSB_FREQ) & ~VPT_CTL_MASK(CYC_THRESH);
		config->insns = 20000;
		break;
	case DEC_ERRATUM_BIT_SKZ84:
		config->ctl |= VPT_CTL_MASK(TSC_EN) | VPT_CTL_MASK(MTC_EN);
		break;
	default:
		break;
	}
}

static void configure(struct walk_config *config, const struct row *row,
		      const struct machine *machine, uint64_t seed)
{
	enum dec_erratum_bit erratum = row->erratum;
	uint64_t any = seed;

	do {
		walk_random_config(config, any += 1000003);
	} while (strcmp(config->model, machine->model));
	/* Trace into a stream. Buffers and deferred TIPs have their own tests. */
	config->layout = WALK_STREAM;
	config->regions = 0;
	config->options.buffer_bytes = 0;
	config->options.defer_tips = false;
	/* With fewer bits, consecutive CYCs look like SKD007. */
	config->options.cyc_bits = 0;
	config->ctl &= ~VPT_CTL_MASK(DIS_TNT);
	config->ctl |= VPT_CTL_MASK(BRANCH_EN);
	/* Before a WRMSR, the packets of these events look like those of clearing TraceEn. */
	config->extras &= ~(uint32_t)(WALK_SMI | WALK_XSAVES);
	config->vmx = WALK_NO_VMX;
	config->insns = seed % 8 ? 500 + (unsigned int)(seed % 1500) : 20000;
	config->overflow = true;
	if (strcmp(machine->model, "spr"))
		restrict_to_old(config);
	provoke(config, erratum, seed);
}

struct seen {
	unsigned int arises, correct, same; /* configurations */
	unsigned int most;		    /* correct streams to decode at most */
};

static void report(const struct row *row, uint64_t seed, const char *what,
		   const struct walk_config *config, const char *why)
{
	ck_abort_msg("%s, seed %llu (TEST_ERRATA_SEEDS=%llu-%llu), %s: %s, CTL %llx, extras %x, "
		     "VMX %d: %s",
		     dec_erratum_name(row->erratum), (unsigned long long)seed,
		     (unsigned long long)seed, (unsigned long long)seed, what, config->model,
		     (unsigned long long)config->ctl, config->extras, config->vmx, why);
}

/* Decode in all ways. Some seeds skip the slow ways. */
static void must_agree(const struct row *row, uint64_t seed, const char *what,
		       const struct walk_config *config, const struct walk_result *walk,
		       const struct erratum_stream *s, const struct erratum_cpu *cpu)
{
	uint64_t runs, counts;
	char why[400];

	runs = erratum_decode(config, walk, s, cpu, row->way | ERRATUM_RUNS, why, sizeof(why));
	if (why[0])
		report(row, seed, what, config, why);
	counts = erratum_decode(config, walk, s, cpu, seed & 1 ? ERRATUM_PIECES : 0, why,
				sizeof(why));
	if (counts != runs) {
		snprintf(why, sizeof(why), "counts alone: %llu instructions, not %llu",
			 (unsigned long long)counts, (unsigned long long)runs);
		report(row, seed, what, config, why);
	}
	if (seed % 4)
		return;
	(void)erratum_decode(config, walk, s, cpu, row->way | ERRATUM_RUNS | ERRATUM_PIECES, why,
			     sizeof(why));
	if (why[0])
		report(row, seed, what, config, why);
}

static void test_seed(const struct row *row, uint64_t seed, struct seen *seen)
{
	unsigned int machines = 0;
	const struct machine *machine;
	struct walk_config config;
	struct walk_result *walk;
	struct erratum_stream s;
	char why[400];

	while (machines < MACHINES && row->machine[machines].model)
		machines++;
	machine = &row->machine[seed % machines];
	configure(&config, row, machine, seed);
	walk = walk_run(&config);
	erratum_read(&s, walk, seed);
	if (seen->correct < seen->most) {
		erratum_write(&s);
		must_agree(row, seed, "correct", &config, walk, &s, &machine->cpu);
		seen->correct++;
		erratum_free(&s);
		erratum_read(&s, walk, seed);
	}
	if (erratum_apply(&s, row->erratum, &config, walk)) {
		erratum_write(&s);
		must_agree(row, seed, "with the erratum", &config, walk, &s, &machine->cpu);
		(void)erratum_decode(&config, walk, &s, &(struct erratum_cpu){0},
				     row->way | ERRATUM_RUNS, why, sizeof(why));
		seen->same += !why[0];
		seen->arises++;
	}
	erratum_free(&s);
	walk_free(walk);
}

START_TEST(walks)
{
	const struct row *row = &rows[_i];
	const char *range = getenv("TEST_ERRATA_SEEDS");
	unsigned long long first = 1, last = SEEDS, seed;
	struct seen seen = {.most = range ? UINT_MAX : CONFIGS};
	unsigned int i;

	for (i = 0; i < MACHINES && row->machine[i].model; i++)
		ck_assert(is_one_of(
			row, dec_errata_of(row->machine[i].cpu.family, row->machine[i].cpu.model)));
	if (range && sscanf(range, "%llu-%llu", &first, &last) != 2)
		ck_abort_msg("TEST_ERRATA_SEEDS=%s is not FIRST-LAST", range);
	for (seed = first; seed <= last && (range || seen.arises < CONFIGS); seed++)
		test_seed(row, seed, &seen);
	if (range)
		return;
	ck_assert_uint_eq(seen.arises, CONFIGS);
	ck_assert_uint_eq(seen.correct, CONFIGS);
	ck_assert_uint_le(seen.same * 100, row->same * CONFIGS);
}
END_TEST

/* Each erratum has a row. */
START_TEST(all_errata)
{
	ck_assert_uint_eq(ROWS, DEC_ERRATUM_COUNT);
	ck_assert_int_eq(rows[_i].erratum, _i);
}
END_TEST

TEST_SUITE("libdecode_errata", NULL, NULL)
{
	tcase_set_timeout(tcase, 0);
	TEST_LOOP(tcase, ROWS, walks, all_errata);
}
