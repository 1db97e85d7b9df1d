// SPDX-License-Identifier: GPL-2.0-or-later
/* Model-specific registers: emulate those of the engine, and leave the others to the core. */
#include "soft/operand.h"
#include "soft/state.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

/* Returns true if `value` may be written to the MSR. */
static bool any(const struct soft *c, uint32_t index, uint64_t value)
{
	(void)c, (void)index, (void)value;
	return true;
}

static bool low32(const struct soft *c, uint32_t index, uint64_t value)
{
	(void)c, (void)index;
	return !(value >> 32);
}

static bool canonical(const struct soft *c, uint32_t index, uint64_t value)
{
	(void)index;
	return soft_canonical(c, value);
}

/* SPEC_CTRL has IBRS, STIBP and SSBD. */
static bool speculation(const struct soft *c, uint32_t index, uint64_t value)
{
	(void)c, (void)index;
	return !(value & ~7ull);
}

/* DEBUGCTL: LBR and BTF have no effect; the core implements freezing on a PMI. */
static bool debug_control(const struct soft *c, uint32_t index, uint64_t value)
{
	(void)c, (void)index;
	return !(value & ~0x1803ull);
}

/* UMWAIT_CONTROL has the C0.2 disable bit and the longest wait, in multiples of four. */
static bool waiting(const struct soft *c, uint32_t index, uint64_t value)
{
	(void)c, (void)index;
	return !(value >> 32) && !(value & 2);
}

static bool memory_type(uint8_t type)
{
	return type < 8 && 0x73u >> type & 1;
}

/* PAT has UC- in addition to the types of an MTRR (SDM vol. 3, 12.12.2). */
static bool page_types(const struct soft *c, uint32_t index, uint64_t value)
{
	unsigned int i;

	(void)c, (void)index;
	for (i = 0; i < 64; i += 8)
		if (!memory_type((uint8_t)(value >> i)) && (uint8_t)(value >> i) != 7)
			return false;
	return true;
}

static bool fixed_types(const struct soft *c, uint32_t index, uint64_t value)
{
	unsigned int i;

	(void)c, (void)index;
	for (i = 0; i < 64; i += 8)
		if (!memory_type((uint8_t)(value >> i)))
			return false;
	return true;
}

static bool default_type(const struct soft *c, uint32_t index, uint64_t value)
{
	(void)c, (void)index;
	return !(value & ~0xcffull) && memory_type((uint8_t)value);
}

/* A variable MTRR has its base at an even index and its mask at an odd index. */
static bool variable_range(const struct soft *c, uint32_t index, uint64_t value)
{
	if (value >> c->paging.max_phy_addr)
		return false;
	return index & 1 ? !(value & 0x7ff) : !(value & 0xf00) && memory_type((uint8_t)value);
}

/* XSS has the supervisor components of CPUID leaf 0DH. */
static bool supervisor_state(const struct soft *c, uint32_t index, uint64_t value)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 0xd, 1);

	(void)index;
	return e && !(value & ~(e->ecx | (uint64_t)e->edx << 32));
}

/* Returns true if CPUID enumerates the feature of the MSR. */
static bool always(const struct soft *c)
{
	(void)c;
	return true;
}

static bool has_mtrrs(const struct soft *c)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 1, 0);

	return e && e->edx >> 12 & 1;
}

static bool has_spec_ctrl(const struct soft *c)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 7, 0);

	return e && e->edx >> 26 & 1;
}

static bool has_tsc_adjust(const struct soft *c)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 7, 0);

	return e && e->ebx >> 1 & 1;
}

static bool has_arch_capabilities(const struct soft *c)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 7, 0);

	return e && e->edx >> 29 & 1;
}

static bool has_waitpkg(const struct soft *c)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 7, 0);

	return e && e->ecx >> 5 & 1;
}

static bool has_xsaves(const struct soft *c)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 0xd, 1);

	return e && e->eax >> 3 & 1;
}

#define MTRR_RANGES 16u
#define MTRR_FIX64K MTRR_RANGES
#define MTRR_FIX16K (MTRR_FIX64K + 1)
#define MTRR_FIX4K  (MTRR_FIX16K + 2)

static uint64_t read_tsc(const struct soft *c)
{
	return engine_time_read(&c->base.time, c->base.retired);
}

static bool write_tsc(struct soft *c, uint64_t value)
{
	engine_time_write(&c->base.time, c->base.retired, value);
	return true;
}

/* The MSR has the sum of the changes that software made to the TSC. */
static uint64_t read_tsc_adjust(const struct soft *c)
{
	return c->base.time.offset;
}

static bool write_tsc_adjust(struct soft *c, uint64_t value)
{
	c->base.time.offset = value;
	return true;
}

/* RDCL_NO. IBRS_ALL is absent, because there is no SPEC_CTRL. */
static uint64_t read_arch_capabilities(const struct soft *c)
{
	(void)c;
	return 1;
}

static uint64_t read_zero(const struct soft *c)
{
	(void)c;
	return 0;
}

/*
 * The revision of the microcode, in the high half. Linux turns features off for revisions below
 * those that repaired them, so this revision is above all of them.
 */
static uint64_t read_sign_id(const struct soft *c)
{
	(void)c;
	return 0x7fffffffull << 32;
}

/* The MSR ignores the written value. */
static bool write_any(struct soft *c, uint64_t value)
{
	(void)c, (void)value;
	return true;
}

static bool write_zero(struct soft *c, uint64_t value)
{
	(void)c;
	return !value;
}

/* PRED_CMD has IBPB. */
static bool write_pred_cmd(struct soft *c, uint64_t value)
{
	(void)c;
	return !(value & ~1ull);
}

/* Eight variable ranges, the fixed ranges, and write combining. */
static uint64_t read_mtrrcap(const struct soft *c)
{
	(void)c;
	return MTRR_RANGES / 2 | 1u << 8 | 1u << 10;
}

static uint64_t read_efer(const struct soft *c)
{
	return c->s.efer;
}

static bool write_efer(struct soft *c, uint64_t value)
{
	const struct engine_cpuid_entry *e = soft_cpuid(c, 0x80000001, 0);
	uint64_t known = X86_EFER_LMA;

	if (e)
		known |= (e->edx >> 11 & 1 ? X86_EFER_SCE : 0) |
			 (e->edx >> 20 & 1 ? X86_EFER_NXE : 0) |
			 (e->edx >> 29 & 1 ? X86_EFER_LME : 0);
	if (value & ~known)
		return false;
	if ((value ^ c->s.efer) & X86_EFER_LME && c->s.cr0 & X86_CR0_PG)
		return false;
	/* The processor sets LMA. */
	c->s.efer = (value & ~X86_EFER_LMA) | (c->s.efer & X86_EFER_LMA);
	return true;
}

/*
 * The MSRs of the engine. A row with `check` is stored from `offset` on in struct soft. Any
 * other row is read and written by functions, NULL raises #GP, as does an MSR without a row.
 */
static const struct msr_row {
	uint32_t first, last;
	bool (*present)(const struct soft *c);
	size_t offset;
	bool (*check)(const struct soft *c, uint32_t index, uint64_t value);
	uint64_t (*read)(const struct soft *c);
	bool (*write)(struct soft *c, uint64_t value);
} rows[] = {
#define AT(field) offsetof(struct soft, field)
#define STORED(name, present, field, check)                                            \
	{                                                                              \
		X86_MSR_##name, X86_MSR_##name, present, AT(field), check, NULL, NULL, \
	}
#define STORED_RANGE(first, last, present, field, check)                                \
	{                                                                               \
		X86_MSR_##first, X86_MSR_##last, present, AT(field), check, NULL, NULL, \
	}
#define CALLED(name, present, read, write)                                     \
	{                                                                      \
		X86_MSR_##name, X86_MSR_##name, present, 0, NULL, read, write, \
	}
	CALLED(TSC, always, read_tsc, write_tsc),
	CALLED(PLATFORM_ID, always, read_zero, NULL),
	CALLED(TSC_ADJUST, has_tsc_adjust, read_tsc_adjust, write_tsc_adjust),
	STORED(SPEC_CTRL, has_spec_ctrl, msr.spec_ctrl, speculation),
	CALLED(PRED_CMD, has_spec_ctrl, NULL, write_pred_cmd),
	CALLED(BIOS_SIGN_ID, always, read_sign_id, write_any),
	STORED(UMWAIT_CONTROL, has_waitpkg, msr.umwait, waiting),
	CALLED(ARCH_CAPABILITIES, has_arch_capabilities, read_arch_capabilities, NULL),
	CALLED(MTRRCAP, has_mtrrs, read_mtrrcap, NULL),
	STORED(SYSENTER_CS, always, msr.sysenter_cs, low32),
	STORED(SYSENTER_ESP, always, msr.sysenter_esp, canonical),
	STORED(SYSENTER_EIP, always, msr.sysenter_eip, canonical),
	CALLED(MCG_CAP, always, read_zero, NULL),
	CALLED(MCG_STATUS, always, read_zero, write_zero),
	STORED(MISC_ENABLE, always, msr.misc_enable, any),
	STORED(DEBUGCTL, always, msr.debugctl, debug_control),
	STORED_RANGE(MTRR_PHYSBASE0, MTRR_PHYSBASE0 + MTRR_RANGES - 1, has_mtrrs, msr.mtrr[0],
		     variable_range),
	STORED(MTRR_FIX64K_00000, has_mtrrs, msr.mtrr[MTRR_FIX64K], fixed_types),
	STORED_RANGE(MTRR_FIX16K_80000, MTRR_FIX16K_A0000, has_mtrrs, msr.mtrr[MTRR_FIX16K],
		     fixed_types),
	STORED_RANGE(MTRR_FIX4K_C0000, MTRR_FIX4K_F8000, has_mtrrs, msr.mtrr[MTRR_FIX4K],
		     fixed_types),
	STORED(PAT, always, msr.pat, page_types),
	STORED(MTRR_DEF_TYPE, has_mtrrs, msr.mtrr_def, default_type),
	STORED(XSS, has_xsaves, msr.xss, supervisor_state),
	CALLED(EFER, always, read_efer, write_efer),
	STORED(STAR, always, msr.star, any),
	STORED(LSTAR, always, msr.lstar, canonical),
	STORED(CSTAR, always, msr.cstar, canonical),
	STORED(FMASK, always, msr.fmask, low32),
	STORED(FS_BASE, always, s.fs.base, canonical),
	STORED(GS_BASE, always, s.gs.base, canonical),
	STORED(KERNEL_GS_BASE, always, msr.kernel_gs_base, canonical),
	STORED(TSC_AUX, always, msr.tsc_aux, low32),
#undef AT
#undef STORED
#undef STORED_RANGE
#undef CALLED
};

static const struct msr_row *find(const struct soft *c, uint32_t index)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (index >= rows[i].first && index <= rows[i].last)
			return rows[i].present(c) ? &rows[i] : NULL;
	return NULL;
}

static size_t place(const struct msr_row *row, uint32_t index)
{
	return row->offset + 8 * (index - row->first);
}

bool soft_msr_read(struct soft *c, uint32_t index, uint64_t *value)
{
	const struct msr_row *row = find(c, index);

	if (!row || (!row->check && !row->read))
		return false;
	if (row->check)
		memcpy(value, (const char *)c + place(row, index), 8);
	else
		*value = row->read(c);
	return true;
}

bool soft_msr_write(struct soft *c, uint32_t index, uint64_t value)
{
	const struct msr_row *row = find(c, index);

	if (!row || (!row->check && !row->write))
		return false;
	if (!row->check)
		return row->write(c, value);
	if (!row->check(c, index, value))
		return false;
	memcpy((char *)c + place(row, index), &value, 8);
	return true;
}

/*
 * Returns true if no value of the MSR does harm. The software CPU has no caches, and RFLAGS has no
 * upper half that FMASK could clear.
 */
static bool may_be_any(const struct msr_row *row)
{
	return row->first == X86_MSR_FMASK || row->check == page_types ||
	       row->check == fixed_types || row->check == default_type ||
	       row->check == variable_range;
}

bool soft_msr_load(struct soft *c, uint32_t index, uint64_t value)
{
	const struct msr_row *row = find(c, index);

	if (!row || !may_be_any(row))
		return soft_msr_write(c, index, value);
	memcpy((char *)c + place(row, index), &value, 8);
	return true;
}

static bool trapped(const struct soft *c, bool write)
{
	uint32_t index = (uint32_t)c->r[SOFT_R_RCX];
	size_t i;

	for (i = 0; i < c->vm->trapped_count; i++) {
		const struct engine_msr_range *r = &c->vm->trapped[i];

		if (index - r->first < r->count && (write ? r->write : r->read))
			return true;
	}
	return false;
}

/*
 * Leave the access to the core. In run() the core does the whole instruction. In step() it gets or
 * returns the value in T0, and T1 keeps the next RIP.
 */
static NOINLINE const struct soft_uop *ask_core(struct soft *c, const struct soft_uop *u,
						bool write)
{
	if (!(c->call & SOFT_STEP))
		return soft_leave(c, u, false, ENGINE_EXIT_CORE);
	c->r[SOFT_R_T0] = write ? (uint32_t)c->r[SOFT_R_RAX] | c->r[SOFT_R_RDX] << 32 : 0;
	c->r[SOFT_R_T0 + 1] = u->imm;
	soft_leave(c, u, false, write ? ENGINE_EXIT_WRMSR : ENGINE_EXIT_RDMSR);
	c->exit->msr.index = (uint32_t)c->r[SOFT_R_RCX];
	c->exit->msr.value = &c->r[SOFT_R_T0];
	c->exit->msr.gp = false;
	return NULL;
}

void soft_msr_complete(struct soft *c, struct engine_exit *exit)
{
	if (exit->msr.gp) {
		exit->kind = ENGINE_EXIT_FAULT;
		exit->fault = (struct engine_exception){.vector = X86_VEC_GP, .has_error = true};
		return;
	}
	if (exit->kind == ENGINE_EXIT_RDMSR) {
		c->r[SOFT_R_RAX] = (uint32_t)c->r[SOFT_R_T0];
		c->r[SOFT_R_RDX] = c->r[SOFT_R_T0] >> 32;
	}
	c->r[SOFT_R_RIP] = c->r[SOFT_R_T0 + 1];
	c->base.retired++;
	exit->kind = ENGINE_EXIT_NONE;
}

static NOINLINE void do_rdmsr(struct soft *c, const struct soft_uop *u)
{
	uint64_t value;

	c->base.retired = soft_retired(c, u);
	if (!soft_msr_read(c, (uint32_t)c->r[SOFT_R_RCX], &value))
		soft_raise_code(c, u, X86_VEC_GP, 0);
	c->r[SOFT_R_RAX] = (uint32_t)value;
	c->r[SOFT_R_RDX] = value >> 32;
}

static NOINLINE void do_wrmsr(struct soft *c, const struct soft_uop *u)
{
	uint64_t value = (uint32_t)c->r[SOFT_R_RAX] | c->r[SOFT_R_RDX] << 32;

	c->base.retired = soft_retired(c, u);
	if (!soft_msr_write(c, (uint32_t)c->r[SOFT_R_RCX], value))
		soft_raise_code(c, u, X86_VEC_GP, 0);
}

/* imm is the next RIP. */
SOFT_UOP(rdmsr)
{
	if (vpt_unlikely(trapped(c, false)))
		return ask_core(c, u, false);
	do_rdmsr(c, u);
	return SOFT_NEXT(c, u);
}

SOFT_UOP(wrmsr)
{
	if (vpt_unlikely(trapped(c, true)))
		return ask_core(c, u, true);
	do_wrmsr(c, u);
	return soft_resume(c, u);
}

bool soft_tr_msr(struct soft_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_RDMSR:
		soft_tr_emit(t, rdmsr)->imm = t->next;
		return true;
	case ZYDIS_MNEMONIC_WRMSR:
		soft_tr_emit(t, wrmsr)->imm = t->next;
		t->ends = true;
		return true;
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
		return soft_tr_query(t);
	default:
		return soft_tr_bases(t);
	}
}
