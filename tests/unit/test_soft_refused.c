// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Features that the software CPU does not support (docs/limits.md). CPUID does not enumerate them,
 * even if the host has them. Their CR4 bits and MSRs raise #GP.
 */
#include "lib/suite.h"

#include "lib/beside.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* CPUID of the machine: leaf, subleaf, register, and the bits that must be clear. */
struct feature {
	uint32_t leaf, subleaf;
	char reg;
	uint32_t absent;
};

#define B(n) (1u << (n))

static const struct feature features[] = {
	/* DTES64 MONITOR DS-CPL VMX SMX */
	{1, 0, 'c', B(2) | B(3) | B(4) | B(5) | B(6)},
	/* VME DS ACPI HTT */
	{1, 0, 'd', B(1) | B(21) | B(22) | B(28)},
	/* SGX HLE RTM MPX */
	{7, 0, 'b', B(2) | B(4) | B(11) | B(14)},
	/* PKU WAITPKG CET_SS KL CLDEMOTE MOVDIRI MOVDIR64B ENQCMD PKS */
	{7, 0, 'c', B(3) | B(5) | B(7) | B(23) | B(25) | B(27) | B(28) | B(29) | B(31)},
	/* 4VNNIW 4FMAPS UINTR VP2INTERSECT SERIALIZE TSXLDTRK PCONFIG CET_IBT AMX FP16 */
	{7, 0, 'd',
	 B(2) | B(3) | B(5) | B(8) | B(14) | B(16) | B(18) | B(20) | B(22) | B(23) | B(24) | B(25)},
	/* AVX-VNNI AVX512_BF16 HRESET */
	{7, 1, 'a', B(4) | B(5) | B(22)},
};

START_TEST(not_in_cpuid)
{
	const struct feature *r = &features[_i];
	struct engine_cpuid_entry entries[64];
	size_t count = sizeof(entries) / sizeof(entries[0]), i;

	ck_assert_int_eq(beside_engine->supported_cpuid(beside_vm, entries, &count), 0);
	for (i = 0; i < count; i++) {
		const struct engine_cpuid_entry *e = &entries[i];
		uint32_t value = r->reg == 'a'	 ? e->eax
				 : r->reg == 'b' ? e->ebx
				 : r->reg == 'c' ? e->ecx
						 : e->edx;

		if (e->leaf == r->leaf && e->subleaf == r->subleaf)
			ck_assert_uint_eq(value & r->absent, 0);
	}
}
END_TEST

static const struct {
	const char *name;
	unsigned int bit;
} cr4[] = {
	{"VME", 0},  {"PVI", 1},  {"VMXE", 13}, {"SMXE", 14},  {"KL", 19},
	{"PKE", 22}, {"CET", 23}, {"PKS", 24},	{"UINTR", 25},
};

START_TEST(cr4_refuses)
{
	struct engine_exit exit;

	*beside_vcpu->regs = (struct x86_regs){.rax = beside_sregs().cr4 | 1ull << cr4[_i].bit,
					       .rflags = X86_FL_FIXED};
	exit = BESIDE_STEP("\x0f\x22\xe0");
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT && exit.fault.vector == X86_VEC_GP,
		      "%s: exit %d", cr4[_i].name, exit.kind);
}
END_TEST

/* FEATURE_CONTROL SPEC_CTRL PERFEVTSEL0 MISC_FEATURES_ENABLES PERF_GLOBAL_STATUS VMX_BASIC DS_AREA
 * HWP_REQUEST */
static const uint32_t msrs[] = {0x3a, 0x48, 0x186, 0x140, 0x38e, 0x480, 0x600, 0x774};

START_TEST(msr_refused)
{
	struct engine_exit exit;

	*beside_vcpu->regs = (struct x86_regs){.rcx = msrs[_i], .rflags = X86_FL_FIXED};
	exit = BESIDE_STEP("\x0f\x32");
	ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT && exit.fault.vector == X86_VEC_GP,
		      "%#x: exit %d", msrs[_i], exit.kind);
}
END_TEST

/* RDPMC raises #GP, because the engine has no counters. */
START_TEST(no_counters)
{
	struct engine_exit exit;

	*beside_vcpu->regs = (struct x86_regs){.rflags = X86_FL_FIXED};
	exit = BESIDE_STEP("\x0f\x33");

	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
}
END_TEST

Suite *test_suite(void)
{
	Suite *s = suite_create("soft_refused");
	TCase *tc = tcase_create("refused");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, not_in_cpuid, 0, ROWS(features));
	tcase_add_loop_test(tc, cr4_refuses, 0, ROWS(cr4));
	tcase_add_loop_test(tc, msr_refused, 0, ROWS(msrs));
	tcase_add_test(tc, no_counters);
	suite_add_tcase(s, tc);
	return s;
}
