// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Atom's RTIT: which processors have it, and its registers. */
#include "vpt/atom_msr.h"

#include "text.h"
#include "vpt/atom_packet.h"

/* Stepping, model and family of CPUID.1:EAX; family 6 has no more of it (SDM, CPUID). */
#define SIGNATURE_MASK 0x000f0fffu
#define SIGNATURE(family, model, stepping) \
	(((model) >> 4 << 16) | ((family) << 8) | (((model)&0xfu) << 4) | (stepping))

static const struct {
	const char *core;
	uint32_t signature;
} processors[] = {
#define VPT_ATOM_STEPPING(core, family, model, stepping, tag, section, meaning) \
	{#core, SIGNATURE(family, model, stepping)},
#include "../spec/rtit.def"
};

#define PROCESSORS (sizeof(processors) / sizeof(processors[0]))

/* Which member of struct vpt_atom_regs a register is. */
#define MEMBER_LIP0	      lip[0]
#define MEMBER_LIP1	      lip[1]
#define MEMBER_LIP2	      lip[2]
#define MEMBER_LIP3	      lip[3]
#define MEMBER_CTL	      ctl
#define MEMBER_STATUS	      status
#define MEMBER_CNTP	      cntp
#define MEMBER_EVENTS	      events
#define MEMBER_LAST_LIP	      last_lip
#define MEMBER_LAST_CALL_NLIP last_call_nlip
#define MEMBER_BASE_ADDR      base_addr
#define MEMBER_LIMIT_MASK     limit_mask
#define MEMBER_OFFSET	      offset
#define MEMBER_CR3_MATCH      cr3_match
#define MEMBER_PKT_CNT	      pkt_cnt
#define MEMBER_TNT_BUFF	      tnt_buff

#define OFFSET_OF(member) __builtin_offsetof(struct vpt_atom_regs, member)
#define SIZE_OF(member)	  sizeof(((struct vpt_atom_regs *)0)->member)

struct atom_register {
	uint32_t msr;
	uint8_t offset, size;
	uint64_t reset, bits, ignored, ones;
};

static const struct atom_register registers[] = {
#define VPT_ATOM_MSR(name, address, reset, bits, ignored, ones, tag, section, meaning) \
	{address, OFFSET_OF(MEMBER_##name), SIZE_OF(MEMBER_##name), reset, bits, ignored, ones},
#include "../spec/rtit.def"
};

#define REGISTERS (sizeof(registers) / sizeof(registers[0]))

VPT_STATIC_ASSERT(sizeof(struct vpt_atom_regs) < 256, "offsets are bytes");

/* [ATOM-NO-CPUID] */
bool vpt_atom_supported(uint32_t signature)
{
	size_t i;

	for (i = 0; i < PROCESSORS; i++) {
		if (processors[i].signature == (signature & SIGNATURE_MASK))
			return true;
	}
	return false;
}

uint32_t vpt_atom_signature(const char *name)
{
	size_t i;

	for (i = 0; i < PROCESSORS; i++) {
		if (vpti_same_text(processors[i].core, name))
			return processors[i].signature;
	}
	return 0;
}

/* [ATOM-UNLISTED] */
static const struct atom_register *find(uint32_t msr)
{
	size_t i;

	for (i = 0; i < REGISTERS; i++) {
		if (registers[i].msr == msr)
			return &registers[i];
	}
	return NULL;
}

/* [ATOM-LOCK] */
static bool locked(const struct vpt_atom_regs *regs)
{
	return !regs->unlocked;
}

static uint64_t load(const struct vpt_atom_regs *regs, const struct atom_register *reg)
{
	const uint8_t *at = (const uint8_t *)regs + reg->offset;
	uint32_t half;
	uint64_t whole;

	if (reg->size == sizeof(half)) {
		vpt_memcpy(&half, at, sizeof(half));
		return half;
	}
	vpt_memcpy(&whole, at, sizeof(whole));
	return whole;
}

static void store(struct vpt_atom_regs *regs, const struct atom_register *reg, uint64_t value)
{
	uint8_t *at = (uint8_t *)regs + reg->offset;
	uint32_t half = (uint32_t)value;

	if (reg->size == sizeof(half))
		vpt_memcpy(at, &half, sizeof(half));
	else
		vpt_memcpy(at, &value, sizeof(value));
}

/* [ATOM-RESET] [ATOM-INIT] is for the engine, which calls nothing then. */
void vpt_atom_regs_reset(struct vpt_atom_regs *regs)
{
	size_t i;

	vpt_memset(regs, 0, sizeof(*regs));
	for (i = 0; i < REGISTERS; i++)
		store(regs, &registers[i], registers[i].reset);
}

enum vpt_fault vpt_atom_regs_read(struct vpt_atom_regs *regs, uint32_t msr, uint64_t *value)
{
	const struct atom_register *reg = find(msr);
	uint64_t held;

	if (!reg || (locked(regs) && msr != VPT_ATOM_MSR_CTL))
		return VPT_FAULT_GP;
	regs->unlocked = 1;
	held = load(regs, reg);
	/* [ATOM-LIP-SIGN] what a write ignores and the register does not hold */
	*value = msr <= VPT_ATOM_MSR_LIP3 ? vpt_atom_canonical(held) : held;
	return VPT_FAULT_NONE;
}

/* [ATOM-RESERVED] [ATOM-LIMIT-ONES] [ATOM-TNT-ZERO] */
static bool value_ok(const struct atom_register *reg, uint64_t value)
{
	const uint64_t reserved = ~(reg->bits | reg->ignored);

	if (reg->msr == VPT_ATOM_MSR_TNT_BUFF && !value)
		return false;
	return (value & reserved) == reg->ones;
}

enum vpt_fault vpt_atom_regs_write(struct vpt_atom_regs *regs, uint32_t msr, uint64_t value)
{
	const struct atom_register *reg = find(msr);

	if (!reg || locked(regs) || !value_ok(reg, value))
		return VPT_FAULT_GP;
	/* [ATOM-STATUS-RO] [ATOM-RESERVED-ID] */
	store(regs, reg, (load(regs, reg) & ~reg->bits) | (value & reg->bits));
	return VPT_FAULT_NONE;
}
