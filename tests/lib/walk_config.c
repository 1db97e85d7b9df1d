// SPDX-License-Identifier: GPL-2.0-or-later
/* Random configurations for walks. */
#include "lib/walk_inside.h"

#include <string.h>

struct dice {
	uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t below)
{
	uint64_t z = dice->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((z ^ z >> 31) >> 16) % below;
}

static bool one_in(struct dice *dice, uint32_t n)
{
	return !roll(dice, n);
}

/* Choose an encoding of a CTL field that the model supports. */
static uint64_t encoding(struct dice *dice, const struct vpt_caps *caps,
			 bool (*ok)(const struct vpt_caps *caps, unsigned int enc),
			 unsigned int most)
{
	unsigned int enc;

	do {
		enc = roll(dice, most + 1);
	} while (!ok(caps, enc));
	return enc;
}

/* Add features of later processors to models with CPUID.14H.1. */
static void choose_caps(struct walk_config *config, struct dice *dice)
{
	static const uint32_t later = 1u << 4 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8;

	if (vpt_caps_model(config->model)->l14_0_eax)
		config->caps_ebx = roll(dice, later + 1) & later;
}

static void choose_context(struct walk_config *config, struct dice *dice)
{
	config->ctl |= VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER);
	if (one_in(dice, 4))
		config->ctl &= ~(one_in(dice, 2) ? VPT_CTL_MASK(OS) : VPT_CTL_MASK(USER));
	if (one_in(dice, 4)) {
		config->ctl |= VPT_CTL_MASK(CR3_FILTER);
		config->cr3_match = one_in(dice, 2) ? CR3_A : CR3_B;
	}
}

static void choose_ranges(struct walk_config *config, struct dice *dice,
			  const struct vpt_caps *caps)
{
	unsigned int n, cfg;

	if (!one_in(dice, 3))
		return;
	for (n = 0; n < vpt_caps_ranges(caps); n++) {
		uint32_t base = roll(dice, WALK_CODE_SIZE - 0x1000), size = roll(dice, 0x4000);

		cfg = one_in(dice, 5) ? 2 : roll(dice, 2);
		/* A TraceStop range is small, or nothing would be traced. */
		if (cfg == 2)
			size = roll(dice, 0x80);
		if (base + size >= WALK_CODE_SIZE)
			size = WALK_CODE_SIZE - 1 - base;
		config->ctl |= (uint64_t)cfg << (VPT_CTL_ADDR0_CFG_SHIFT + 4 * n);
		config->addr[2 * n] = WALK_CODE_BASE + base;
		config->addr[2 * n + 1] = WALK_CODE_BASE + base + size;
	}
}

static void choose_time(struct walk_config *config, struct dice *dice, const struct vpt_caps *caps)
{
	static const uint8_t bits[] = {0, 0, 8, 10, 12, 16, 32};

	if (one_in(dice, 2))
		config->ctl |= VPT_CTL_MASK(TSC_EN);
	if (vpt_caps_has(caps, VPT_CAP_MTC) && one_in(dice, 2))
		config->ctl |= VPT_CTL_MASK(MTC_EN) | encoding(dice, caps, vpt_caps_mtc_freq_ok, 15)
							      << VPT_CTL_MTC_FREQ_SHIFT;
	if (!vpt_caps_has(caps, VPT_CAP_PSB_CYC))
		return;
	if (one_in(dice, 3))
		config->ctl |=
			VPT_CTL_MASK(CYC_EN) | encoding(dice, caps, vpt_caps_cyc_thresh_ok, 15)
						       << VPT_CTL_CYC_THRESH_SHIFT;
	config->ctl |= encoding(dice, caps, vpt_caps_psb_freq_ok, 3) << VPT_CTL_PSB_FREQ_SHIFT;
	config->options.cyc_bits = bits[roll(dice, sizeof(bits))];
}

static void choose_packets(struct walk_config *config, struct dice *dice,
			   const struct vpt_caps *caps)
{
	if (!one_in(dice, 12))
		config->ctl |= VPT_CTL_MASK(BRANCH_EN);
	if (one_in(dice, 3))
		config->ctl |= VPT_CTL_MASK(DIS_RETC);
	if (vpt_caps_has(caps, VPT_CAP_PTWRITE) && one_in(dice, 2)) {
		config->extras |= WALK_PTWRITE;
		config->ctl |= VPT_CTL_MASK(PTW_EN);
		if (one_in(dice, 2))
			config->ctl |= VPT_CTL_MASK(FUP_ON_PTW);
	}
	if (one_in(dice, 3))
		config->extras |= WALK_SLEEP;
	if (vpt_caps_has(caps, VPT_CAP_PWR_EVT) && one_in(dice, 2))
		config->ctl |= VPT_CTL_MASK(PWR_EVT_EN);
	if (vpt_caps_has(caps, VPT_CAP_EVENT) && one_in(dice, 3)) {
		config->extras |= WALK_FLAGS;
		config->ctl |= VPT_CTL_MASK(EVENT_EN);
	}
	if (one_in(dice, 3))
		config->extras |= WALK_TSX;
	if (one_in(dice, 4))
		config->extras |= WALK_SMI;
	if (one_in(dice, 4))
		config->extras |= WALK_UINTR;
	if (one_in(dice, 4))
		config->extras |= WALK_ENCLAVE;
	if (one_in(dice, 4))
		config->extras |= WALK_BLOCKS;
	if (one_in(dice, 4))
		config->extras |= WALK_SAVES;
	if (one_in(dice, 4))
		config->extras |= WALK_XSAVES;
	if (vpt_caps_has(caps, VPT_CAP_PSB_PMI) && one_in(dice, 3))
		config->ctl |= VPT_CTL_MASK(INJECT_PSB_PMI);
}

static void choose_regions(struct walk_config *config, struct dice *dice,
			   const struct vpt_caps *caps)
{
	bool multi = vpt_caps_has(caps, VPT_CAP_TOPA_MULTI);
	unsigned int n;

	config->map = one_in(dice, 2);
	if (vpt_caps_has(caps, VPT_CAP_SINGLE_RANGE) && one_in(dice, 3)) {
		config->layout = WALK_SINGLE;
		config->regions = 1;
		config->region_bytes[0] = 128ull << roll(dice, 12);
		return;
	}
	if (one_in(dice, 3))
		return;
	config->layout = WALK_TOPA;
	config->regions = multi ? 1 + roll(dice, 6) : 1;
	for (n = 0; n < config->regions; n++)
		config->region_bytes[n] = 4096ull << roll(dice, multi ? 4 : 6);
	config->region_int = roll(dice, 1u << config->regions);
	config->region_stop = one_in(dice, 4);
}

static void choose_model_options(struct walk_config *config, struct dice *dice,
				 const struct vpt_caps *caps)
{
	config->options.defer_tips = one_in(dice, 4);
	if (one_in(dice, 3)) {
		config->options.buffer_bytes = VPT_BUFFER_MIN << roll(dice, 4);
		config->options.buffer_drain = 1u << (4 + roll(dice, 7));
	}
	/* With DisTNT only targets are compared, so every RET must have a target (DisRETC). */
	if (vpt_caps_has(caps, VPT_CAP_DIS_TNT) && one_in(dice, 8)) {
		config->ctl |= VPT_CTL_MASK(DIS_TNT) | VPT_CTL_MASK(DIS_RETC);
		config->options.buffer_bytes = 0;
	}
}

static void choose_vmx(struct walk_config *config, struct dice *dice, const struct vpt_caps *caps)
{
	if (!caps->vmx_pt || !one_in(dice, 5))
		return;
	config->vmx = (enum walk_vmx)(WALK_SYSTEM + roll(dice, 3));
	config->conceal = roll(dice, 8) & VPT_VMX_CONCEAL;
	/* Enclaves and XSAVES would need to know about guests. */
	config->extras &= ~(uint32_t)(WALK_ENCLAVE | WALK_XSAVES);
}

void walk_random_config(struct walk_config *config, uint64_t seed)
{
	struct dice dice = {.state = seed};
	struct vpt_caps caps;
	unsigned int models = 0;

	memset(config, 0, sizeof(*config));
	while (vpt_caps_model_name(models))
		models++;
	config->seed = seed;
	config->model = vpt_caps_model_name(roll(&dice, models));
	choose_caps(config, &dice);
	walk_caps(config, &caps);
	config->insns = 2000 + roll(&dice, 60000);
	choose_context(config, &dice);
	choose_ranges(config, &dice, &caps);
	choose_time(config, &dice, &caps);
	choose_packets(config, &dice, &caps);
	choose_regions(config, &dice, &caps);
	choose_model_options(config, &dice, &caps);
	choose_vmx(config, &dice, &caps);
	config->toggle = one_in(&dice, 4);
}

/* Choose LIP ranges that do not overlap, like a careful driver. */
static void choose_lips(struct vpt_atom_regs *regs, struct dice *dice)
{
	uint32_t base = roll(dice, WALK_CODE_SIZE / 2), size = roll(dice, WALK_CODE_SIZE / 2);

	regs->lip[0] = WALK_CODE_BASE + base;
	regs->lip[2] = WALK_CODE_BASE + base + size;
	regs->lip[1] = regs->lip[2] + roll(dice, 64);
	regs->lip[3] = regs->lip[1] + 1 + roll(dice, one_in(dice, 2) ? 0x40 : 0x2000);
}

static void choose_atom(struct walk_config *config, struct dice *dice)
{
	static const uint8_t filters[] = {7, 7, 7, 7, 0, 1, 2, 3};
	struct vpt_atom_regs *regs = &config->rtit.regs;
	uint64_t on = VPT_ATOM_MASK(CTL, OS) | VPT_ATOM_MASK(CTL, USER);

	if (one_in(dice, 4))
		on = one_in(dice, 2) ? VPT_ATOM_MASK(CTL, OS) : VPT_ATOM_MASK(CTL, USER);
	regs->ctl = (uint32_t)(on | VPT_ATOM_MASK(CTL, DEST));
	if (one_in(dice, 4))
		regs->ctl |= (uint32_t)VPT_ATOM_MASK(CTL, CR3_EN);
	if (!one_in(dice, 3))
		regs->ctl |= (uint32_t)VPT_ATOM_MASK(CTL, CMPRS_RET);
	if (one_in(dice, 2))
		regs->ctl |= (uint32_t)VPT_ATOM_MASK(CTL, CYCLE_ACC);
	if (one_in(dice, 3))
		regs->ctl |=
			(uint32_t)(VPT_ATOM_MASK(CTL, STS_EN) | VPT_ATOM_MASK(CTL, STS_ON_CR3));
	if (one_in(dice, 2))
		regs->ctl |= (uint32_t)VPT_ATOM_MASK(CTL, MTC_EN) |
			     roll(dice, 4) << VPT_ATOM_CTL_MTC_RANGE_SHIFT;
	if (one_in(dice, 3))
		regs->ctl |= (uint32_t)VPT_ATOM_MASK(CTL, LESS_PKTS);
	regs->cr3_match = one_in(dice, 2) ? CR3_A : CR3_B;
	regs->pkt_cnt = roll(dice, 4) << VPT_ATOM_PKT_CNT_MASK_SHIFT;
	regs->events = filters[roll(dice, sizeof(filters))] | 6u << VPT_ATOM_EVENTS_STOP_SHIFT;
	if (one_in(dice, 6))
		regs->events = 7u | (roll(dice, 2) << VPT_ATOM_EVENTS_STOP_SHIFT);
	choose_lips(regs, dice);
}

/* E4 and E8 have no workaround. */
static void choose_atom_options(struct vpt_atom_options *options, struct dice *dice)
{
	const uint8_t known = VPT_ATOM_E_ALL & ~(VPT_ATOM_E4 | VPT_ATOM_E8);

	if (one_in(dice, 3))
		options->errata = (uint8_t)roll(dice, VPT_ATOM_E_ALL + 1) & known;
	options->clear_lag = (uint8_t)(one_in(dice, 3) ? roll(dice, VPT_ATOM_LAG_MAX + 1) : 0);
	options->disable_pgd = one_in(dice, 3);
	if (one_in(dice, 3)) {
		options->buffer_bytes = VPT_ATOM_BUFFER_MIN << roll(dice, 4);
		options->buffer_drain = 1u << (4 + roll(dice, 7));
	}
}

void walk_random_atom(struct walk_config *config, uint64_t seed)
{
	struct dice dice = {.state = seed};

	memset(config, 0, sizeof(*config));
	config->seed = seed;
	config->model = "silvermont";
	config->insns = 2000 + roll(&dice, 30000);
	choose_atom(config, &dice);
	choose_atom_options(&config->rtit.options, &dice);
	if (one_in(&dice, 2))
		config->extras |= WALK_SLEEP;
	if (one_in(&dice, 3))
		config->extras |= WALK_SMI;
	if (one_in(&dice, 3))
		config->extras |= WALK_FLAGS;
	if (one_in(&dice, 3))
		config->extras |= WALK_SAVES;
	config->rtit.live = one_in(&dice, 2);
	config->rtit.vmx = one_in(&dice, 4);
	/* Make the code contain VM entries and instructions that exit. */
	config->vmx = config->rtit.vmx ? WALK_GUEST : WALK_NO_VMX;
}
