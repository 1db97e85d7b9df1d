// SPDX-License-Identifier: GPL-2.0-or-later
/* Model-specific registers: those that the engine has itself, and the way of the others. */
#include "soft/operand.h"
#include "soft/state.h"
#include "soft/system.h"

#define NOINLINE __attribute__((noinline))

/* What may be written: enum of checks, as functions. */
typedef bool (*check_fn)(const struct vpt_soft *c, uint64_t value);

static bool any(const struct vpt_soft *c, uint64_t value)
{
	(void)c;
	(void)value;
	return true;
}

static bool low32(const struct vpt_soft *c, uint64_t value)
{
	(void)c;
	return !(value >> 32);
}

static bool canonical(const struct vpt_soft *c, uint64_t value)
{
	return vpt_soft_canonical(c, value);
}

/* SPEC_CTRL: IBRS, STIBP, SSBD. */
static bool speculation(const struct vpt_soft *c, uint64_t value)
{
	(void)c;
	return !(value & ~7ull);
}

/* DEBUGCTL: LBR and BTF, of which only the bits are there; freezing on PMI is the core's. */
static bool debug_control(const struct vpt_soft *c, uint64_t value)
{
	(void)c;
	return !(value & ~0x1803ull);
}

/* UMWAIT_CONTROL: no C0.2; the longest wait, in multiples of four. */
static bool waiting(const struct vpt_soft *c, uint64_t value)
{
	(void)c;
	return !(value >> 32) && !(value & 2);
}

static bool memory_type(uint8_t type)
{
	return type < 8 && 0x73u >> type & 1;
}

/* PAT has UC- beside the types of an MTRR (SDM vol. 3, 12.12.2). */
static bool page_types(const struct vpt_soft *c, uint64_t value)
{
	unsigned int i;

	(void)c;
	for (i = 0; i < 64; i += 8)
		if (!memory_type((uint8_t)(value >> i)) && (uint8_t)(value >> i) != 7)
			return false;
	return true;
}

static bool fixed_types(const struct vpt_soft *c, uint64_t value)
{
	unsigned int i;

	(void)c;
	for (i = 0; i < 64; i += 8)
		if (!memory_type((uint8_t)(value >> i)))
			return false;
	return true;
}

static bool default_type(const struct vpt_soft *c, uint64_t value)
{
	(void)c;
	return !(value & ~0xcffull) && memory_type((uint8_t)value);
}

static bool range_base(const struct vpt_soft *c, uint64_t value)
{
	return !(value >> c->paging.max_phy_addr) && !(value & 0xf00) &&
	       memory_type((uint8_t)value);
}

static bool range_mask(const struct vpt_soft *c, uint64_t value)
{
	return !(value >> c->paging.max_phy_addr) && !(value & 0x7ff);
}

/* XSS: the components that CPUID leaf 0xd says are the supervisor's. */
static bool supervisor_state(const struct vpt_soft *c, uint64_t value)
{
	const struct vpt_cpuid_entry *e = vpt_soft_cpuid(c, 0xd, 1);

	return e && !(value & ~(e->ecx | (uint64_t)e->edx << 32));
}

struct place {
	size_t offset; /* in struct vpt_soft */
	check_fn check;
};

#define MTRR_RANGES 16u
#define MTRR_FIXED  11u

/* The fixed MTRRs, in the order of their numbers. */
static const uint16_t fixed_mtrr[MTRR_FIXED] = {0x250, 0x258, 0x259, 0x268, 0x269, 0x26a,
						0x26b, 0x26c, 0x26d, 0x26e, 0x26f};

static bool has_mtrrs(const struct vpt_soft *c)
{
	const struct vpt_cpuid_entry *e = vpt_soft_cpuid(c, 1, 0);

	return e && e->edx >> 12 & 1;
}

static bool find_mtrr(const struct vpt_soft *c, uint32_t index, struct place *p)
{
	unsigned int i;

	if (!has_mtrrs(c))
		return false;
	if (index >= 0x200 && index < 0x200 + MTRR_RANGES) {
		p->offset = offsetof(struct vpt_soft, msr.mtrr) + 8 * (index - 0x200);
		p->check = index & 1 ? range_mask : range_base;
		return true;
	}
	for (i = 0; i < MTRR_FIXED; i++)
		if (index == fixed_mtrr[i]) {
			p->offset = offsetof(struct vpt_soft, msr.mtrr) + 8 * (MTRR_RANGES + i);
			p->check = fixed_types;
			return true;
		}
	return false;
}

/* Does CPUID promise the MSR? */
static bool present(const struct vpt_soft *c, uint32_t index)
{
	const struct vpt_cpuid_entry *seven = vpt_soft_cpuid(c, 7, 0);
	const struct vpt_cpuid_entry *xsave = vpt_soft_cpuid(c, 0xd, 1);

	switch (index) {
	case 0x48:
		return seven && seven->edx >> 26 & 1;
	case 0xe1:
		return seven && seven->ecx >> 5 & 1;
	case 0x2ff:
		return has_mtrrs(c);
	case 0xda0:
		return xsave && xsave->eax >> 3 & 1;
	default:
		return true;
	}
}

static bool find(const struct vpt_soft *c, uint32_t index, struct place *p)
{
#define AT(field) offsetof(struct vpt_soft, field)
	static const struct {
		uint32_t index;
		struct place place;
	} row[] = {
		{0x48, {AT(msr.spec_ctrl), speculation}},
		{0xe1, {AT(msr.umwait), waiting}},
		{VPT_MSR_SYSENTER_CS, {AT(msr.sysenter_cs), low32}},
		{VPT_MSR_SYSENTER_ESP, {AT(msr.sysenter_esp), canonical}},
		{VPT_MSR_SYSENTER_EIP, {AT(msr.sysenter_eip), canonical}},
		{0x1a0, {AT(msr.misc_enable), any}},
		{0x1d9, {AT(msr.debugctl), debug_control}},
		{0x277, {AT(msr.pat), page_types}},
		{0x2ff, {AT(msr.mtrr_def), default_type}},
		{0xda0, {AT(msr.xss), supervisor_state}},
		{VPT_MSR_STAR, {AT(msr.star), any}},
		{VPT_MSR_IA32_LSTAR, {AT(msr.lstar), canonical}},
		{0xc0000083, {AT(msr.cstar), canonical}},
		{VPT_MSR_FMASK, {AT(msr.fmask), low32}},
		{0xc0000100, {AT(s.fs.base), canonical}},
		{0xc0000101, {AT(s.gs.base), canonical}},
		{0xc0000102, {AT(msr.kernel_gs_base), canonical}},
		{0xc0000103, {AT(msr.tsc_aux), low32}},
	};
#undef AT
	unsigned int i;

	if (!present(c, index))
		return false;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (row[i].index == index) {
			*p = row[i].place;
			return true;
		}
	return find_mtrr(c, index, p);
}

#define MSR_TSC		 0x10u
#define MSR_PLATFORM_ID	 0x17u
#define MSR_PRED_CMD	 0x49u
#define MSR_BIOS_SIGN_ID 0x8bu
#define MSR_MTRRCAP	 0xfeu
#define MSR_MCG_CAP	 0x179u
#define MSR_MCG_STATUS	 0x17au
#define MSR_EFER	 0xc0000080u

/* Eight ranges, the fixed ones, write combining. */
#define MTRRCAP_VALUE (MTRR_RANGES / 2 | 1u << 8 | 1u << 10)

static bool write_efer(struct vpt_soft *c, uint64_t value)
{
	const struct vpt_cpuid_entry *e = vpt_soft_cpuid(c, 0x80000001, 0);
	uint64_t known = VPT_EFER_LMA;

	if (e)
		known |= (e->edx >> 11 & 1 ? VPT_EFER_SCE : 0) |
			 (e->edx >> 20 & 1 ? VPT_EFER_NXE : 0) |
			 (e->edx >> 29 & 1 ? VPT_EFER_LME : 0);
	if (value & ~known)
		return false;
	if ((value ^ c->s.efer) & VPT_EFER_LME && c->s.cr0 & VPT_CR0_PG)
		return false;
	/* LMA is the processor's. */
	c->s.efer = (value & ~VPT_EFER_LMA) | (c->s.efer & VPT_EFER_LMA);
	return true;
}

bool vpt_soft_msr_read(struct vpt_soft *c, uint32_t index, uint64_t *value)
{
	struct place p;

	if (find(c, index, &p)) {
		memcpy(value, (const char *)c + p.offset, 8);
		return true;
	}
	switch (index) {
	case MSR_TSC:
		*value = vpt_time_read(&c->base.time, c->base.retired);
		return true;
	case MSR_PLATFORM_ID:
	case MSR_BIOS_SIGN_ID:
	case MSR_MCG_CAP:
	case MSR_MCG_STATUS:
		*value = 0;
		return true;
	case MSR_MTRRCAP:
		*value = MTRRCAP_VALUE;
		return has_mtrrs(c);
	case MSR_EFER:
		*value = c->s.efer;
		return true;
	default:
		return false;
	}
}

bool vpt_soft_msr_write(struct vpt_soft *c, uint32_t index, uint64_t value)
{
	struct place p;

	if (find(c, index, &p)) {
		if (!p.check(c, value))
			return false;
		memcpy((char *)c + p.offset, &value, 8);
		return true;
	}
	switch (index) {
	case MSR_TSC:
		vpt_time_write(&c->base.time, c->base.retired, value);
		return true;
	case MSR_PRED_CMD:
		return present(c, 0x48) && !(value & ~1ull);
	case MSR_BIOS_SIGN_ID:
		return true;
	case MSR_MCG_STATUS:
		return !value;
	case MSR_EFER:
		return write_efer(c, value);
	default:
		return false;
	}
}

static bool trapped(const struct vpt_soft *c, bool write)
{
	uint32_t index = (uint32_t)c->r[VPT_R_RCX];
	size_t i;

	for (i = 0; i < c->vm->trapped_count; i++) {
		const struct vpt_msr_range *r = &c->vm->trapped[i];

		if (index - r->first < r->count && (write ? r->write : r->read))
			return true;
	}
	return false;
}

/*
 * The core's: in run() it does the whole instruction, in step() it is asked for the
 * value, which is in T0; T1 keeps the next RIP.
 */
static NOINLINE const struct vpt_uop *ask_core(struct vpt_soft *c, const struct vpt_uop *u,
					       bool write)
{
	if (!c->stepping)
		return vpt_soft_leave(c, u, false, VPT_EXIT_CORE);
	c->r[VPT_R_T0] = write ? (uint32_t)c->r[VPT_R_RAX] | c->r[VPT_R_RDX] << 32 : 0;
	c->r[VPT_R_T0 + 1] = u->imm;
	vpt_soft_leave(c, u, false, write ? VPT_EXIT_WRMSR : VPT_EXIT_RDMSR);
	c->exit->msr.index = (uint32_t)c->r[VPT_R_RCX];
	c->exit->msr.value = &c->r[VPT_R_T0];
	c->exit->msr.gp = false;
	return NULL;
}

void vpt_soft_msr_complete(struct vpt_soft *c, struct vpt_exit *exit)
{
	if (exit->msr.gp) {
		exit->kind = VPT_EXIT_FAULT;
		exit->fault = (struct vpt_exception){.vector = VPT_VEC_GP, .has_error = true};
		return;
	}
	if (exit->kind == VPT_EXIT_RDMSR) {
		c->r[VPT_R_RAX] = (uint32_t)c->r[VPT_R_T0];
		c->r[VPT_R_RDX] = c->r[VPT_R_T0] >> 32;
	}
	c->r[VPT_R_RIP] = c->r[VPT_R_T0 + 1];
	c->base.retired++;
	exit->kind = VPT_EXIT_NONE;
}

static NOINLINE void do_rdmsr(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t value;

	c->base.retired = vpt_soft_retired(c, u);
	if (!vpt_soft_msr_read(c, (uint32_t)c->r[VPT_R_RCX], &value))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
	c->r[VPT_R_RAX] = (uint32_t)value;
	c->r[VPT_R_RDX] = value >> 32;
}

static NOINLINE void do_wrmsr(struct vpt_soft *c, const struct vpt_uop *u)
{
	uint64_t value = (uint32_t)c->r[VPT_R_RAX] | c->r[VPT_R_RDX] << 32;

	c->base.retired = vpt_soft_retired(c, u);
	if (!vpt_soft_msr_write(c, (uint32_t)c->r[VPT_R_RCX], value))
		vpt_soft_raise_code(c, u, VPT_VEC_GP, 0);
}

/* imm: the next RIP. */
VPT_UOP(rdmsr)
{
	if (vpt_unlikely(trapped(c, false)))
		return ask_core(c, u, false);
	do_rdmsr(c, u);
	return VPT_NEXT(c, u);
}

VPT_UOP(wrmsr)
{
	if (vpt_unlikely(trapped(c, true)))
		return ask_core(c, u, true);
	do_wrmsr(c, u);
	return vpt_soft_resume(c, u);
}

bool vpt_tr_msr(struct vpt_translation *t)
{
	switch (t->insn->mnemonic) {
	case ZYDIS_MNEMONIC_RDMSR:
		vpt_tr_emit(t, rdmsr)->imm = t->next;
		return true;
	case ZYDIS_MNEMONIC_WRMSR:
		vpt_tr_emit(t, wrmsr)->imm = t->next;
		t->ends = true;
		return true;
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_RDPMC:
		return vpt_tr_query(t);
	default:
		return vpt_tr_bases(t);
	}
}
