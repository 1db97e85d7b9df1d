// SPDX-License-Identifier: GPL-2.0-or-later
/* Decide which instructions the processor has from the features in its CPUID. */
#include "soft/feature.h"

enum reg { EAX, EBX, ECX, EDX };

struct feature {
	ZydisISASet first, last;
	uint32_t leaf;
	enum reg reg;
	uint8_t bit;
};

static const struct feature features[] = {
#define SOFT_ALWAYS(set)
#define SOFT_FEATURE(from, to, number, name, n) \
	{ZYDIS_ISA_SET_##from, ZYDIS_ISA_SET_##to, number, name, n},
#include "soft/features.def"
#undef SOFT_ALWAYS
#undef SOFT_FEATURE
};

static const bool always[ZYDIS_ISA_SET_MAX_VALUE + 1] = {
#define SOFT_ALWAYS(set) [ZYDIS_ISA_SET_##set] = true,
#define SOFT_FEATURE(from, to, number, name, n)
#include "soft/features.def"
#undef SOFT_ALWAYS
#undef SOFT_FEATURE
};

static bool has(const struct soft *c, uint32_t leaf, enum reg reg, unsigned int bit)
{
	/* The bits of XSAVE's variants are in subleaf 1. */
	uint32_t subleaf = leaf == 0xd;
	size_t i;

	for (i = 0; i < c->cpuid_count; i++) {
		const struct engine_cpuid_entry *e = &c->cpuid[i];
		const uint32_t value[4] = {e->eax, e->ebx, e->ecx, e->edx};

		if (e->leaf == leaf && (!e->by_subleaf || e->subleaf == subleaf))
			return value[reg] >> bit & 1;
	}
	return false;
}

/* Return true if the instruction needs AVX512VL: EVEX, less than 512 bits, and not scalar. */
static bool needs_vl(const ZydisDecodedInstruction *insn)
{
	ZydisISASet set = insn->meta.isa_set;

	if (insn->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX || insn->avx.vector_length == 512)
		return false;
	return set != ZYDIS_ISA_SET_AVX512F_SCALAR && set != ZYDIS_ISA_SET_AVX512DQ_SCALAR &&
	       set != ZYDIS_ISA_SET_AVX512F_128N && set != ZYDIS_ISA_SET_AVX512DQ_128N &&
	       set != ZYDIS_ISA_SET_AVX512BW_128N;
}

bool soft_feature(const struct soft *c, const ZydisDecodedInstruction *insn)
{
	ZydisISASet set = insn->meta.isa_set;
	size_t i;

	if (set > ZYDIS_ISA_SET_MAX_VALUE)
		return false;
	if (always[set])
		return true;
	/* Every processor has LAHF and SAHF outside 64-bit mode. */
	if (set == ZYDIS_ISA_SET_LAHF && insn->machine_mode != ZYDIS_MACHINE_MODE_LONG_64)
		return true;
	/* The processor can have PTWRITE while CPUID hides it. */
	if (set == ZYDIS_ISA_SET_PT)
		return c->base.state & ENGINE_PTWRITE;
	if (needs_vl(insn) && !has(c, 7, EBX, 31))
		return false;
	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		if (set >= features[i].first && set <= features[i].last)
			return has(c, features[i].leaf, features[i].reg, features[i].bit);
	return false;
}

void soft_set_features(const struct soft *c, ZydisDecoder *decoder)
{
	/* Without MPX its instructions are NOPs. */
	(void)ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
	/* Without these features, TZCNT and LZCNT are BSF and BSR with an ignored prefix. */
	(void)ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_TZCNT, has(c, 7, EBX, 3));
	(void)ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_LZCNT, has(c, 0x80000001, ECX, 5));
}
