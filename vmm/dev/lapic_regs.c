// SPDX-License-Identifier: GPL-2.0-or-later
/* Local APIC: the registers in memory (11.4.1) and as MSRs (11.12). */
#include "dev/lapic.h"

#include <string.h>

#include "dev/clock.h"

/* The offset of a register divided by 16, which is also its MSR less 0x800. */
enum reg {
	REG_ID = 0x02,
	REG_VERSION = 0x03,
	REG_TPR = 0x08,
	REG_APR = 0x09,
	REG_PPR = 0x0a,
	REG_EOI = 0x0b,
	REG_RRD = 0x0c,
	REG_LDR = 0x0d,
	REG_DFR = 0x0e,
	REG_SVR = 0x0f,
	REG_ISR = 0x10,
	REG_TMR = 0x18,
	REG_IRR = 0x20,
	REG_ESR = 0x28,
	REG_ICR = 0x30,
	REG_ICR_HIGH = 0x31,
	REG_LVT = 0x32,
	REG_INITIAL = 0x38,
	REG_CURRENT = 0x39,
	REG_DIVIDE = 0x3e,
	REG_SELF_IPI = 0x3f
};

/* An integrated APIC with six LVT entries, without EOI broadcast suppression. */
#define VERSION	      (0x15u | (DEV_LVT_COUNT - 1) << 16)
#define SVR_ENABLED   (1u << 8)
#define SVR_MASK      0x3ffu
#define ICR_MASK      0xccfffu
#define ICR_PENDING   (1u << 12)
#define LVT_READ_ONLY 0x5000u
#define DEADLINE_MODE (1u << 18)
#define SELF	      (1u << 18)
#define BASE_RESERVED (0x2ffull)

/* The writable bits of the LVT entries. */
static const uint32_t lvt_mask[DEV_LVT_COUNT] = {
	[DEV_LVT_TIMER] = 0x700ff, [DEV_LVT_THERMAL] = 0x107ff, [DEV_LVT_PMC] = 0x107ff,
	[DEV_LVT_LINT0] = 0x1a7ff, [DEV_LVT_LINT1] = 0x1a7ff,	[DEV_LVT_ERROR] = 0x100ff,
};

/* Returns the logical id of x2APIC mode (11.12.10.2). */
static uint32_t x2_ldr(const struct dev_lapic *l)
{
	return l->id >> 4 << 16 | 1u << (l->id & 15);
}

/* Set the state of power-up, INIT or a disabled APIC, but keep the base and the id. */
void dev_lapic_reset(struct dev_lapic *l)
{
	struct dev_lapic fresh = {
		.now = l->now,
		.base = l->base,
		.hz = l->hz,
		.id = l->id,
		.due = DEV_NEVER,
		.dfr = ~0u,
		.svr = 0xff,
		.lint = l->lint,
		.has_x2apic = l->has_x2apic,
		.has_deadline = l->has_deadline,
		.max_phy_addr = l->max_phy_addr,
		.state = l->state & (DEV_LAPIC_NMI | DEV_LAPIC_INIT | DEV_LAPIC_STARTUP),
		.startup = l->startup,
	};
	unsigned int i;

	for (i = 0; i < DEV_LVT_COUNT; i++)
		fresh.lvt[i] = DEV_LVT_MASKED;
	if (dev_lapic_x2(l))
		fresh.ldr = x2_ldr(l);
	*l = fresh;
}

void dev_lapic_init(struct dev_lapic *l, const struct dev_lapic_config *config)
{
	memset(l, 0, sizeof(*l));
	l->hz = config->hz;
	l->has_x2apic = config->x2apic;
	l->has_deadline = config->deadline;
	l->max_phy_addr = config->max_phy_addr;
	l->id = config->id;
	l->base = DEV_LAPIC_ADDRESS | DEV_APIC_BASE_ENABLE;
	l->base |= l->id ? 0 : DEV_APIC_BASE_BSP;
	dev_lapic_reset(l);
}

static uint32_t writable(const struct dev_lapic *l, unsigned int lvt)
{
	return lvt_mask[lvt] & ~(lvt == DEV_LVT_TIMER && !l->has_deadline ? DEADLINE_MODE : 0);
}

/* Returns false if there is no such register or it cannot be read. */
static bool read_reg(struct dev_lapic *l, unsigned int reg, uint32_t *value)
{
	*value = 0;
	switch (reg) {
	case REG_ID:
		*value = dev_lapic_x2(l) ? l->id : l->id << 24;
		return true;
	case REG_VERSION:
		*value = VERSION;
		return true;
	case REG_TPR:
		*value = l->tpr;
		return true;
	case REG_PPR:
		*value = dev_lapic_ppr(l);
		return true;
	case REG_APR:
	case REG_RRD:
	case REG_EOI:
		return !dev_lapic_x2(l);
	case REG_LDR:
		*value = l->ldr;
		return true;
	case REG_DFR:
		*value = l->dfr;
		return !dev_lapic_x2(l);
	case REG_SVR:
		*value = l->svr;
		return true;
	case REG_ISR ... REG_ISR + 7:
		*value = l->isr[reg - REG_ISR];
		return true;
	case REG_TMR ... REG_TMR + 7:
		*value = l->tmr[reg - REG_TMR];
		return true;
	case REG_IRR ... REG_IRR + 7:
		*value = l->irr[reg - REG_IRR];
		return true;
	case REG_ESR:
		*value = l->esr;
		return true;
	case REG_ICR:
		*value = l->icr[0];
		return true;
	case REG_ICR_HIGH:
		*value = l->icr[1];
		return !dev_lapic_x2(l);
	case REG_LVT ... REG_LVT + DEV_LVT_COUNT - 1:
		*value = l->lvt[reg - REG_LVT];
		return true;
	case REG_INITIAL:
		*value = l->initial;
		return true;
	case REG_CURRENT:
		*value = dev_lapic_count(l);
		return true;
	case REG_DIVIDE:
		*value = l->divide;
		return true;
	default:
		return false;
	}
}

static void write_lvt(struct dev_lapic *l, unsigned int lvt, uint32_t value)
{
	value &= writable(l, lvt);
	if (!(l->svr & SVR_ENABLED))
		value |= DEV_LVT_MASKED;
	if (lvt == DEV_LVT_TIMER) {
		dev_lapic_set_timer(l, value);
		return;
	}
	/* Remote IRR stays set while the entry is level-triggered. */
	if (value & 1u << 15)
		value |= l->lvt[lvt] & 1u << 14;
	l->lvt[lvt] = value;
	if (lvt == DEV_LVT_LINT0 && value & 1u << 15 && l->lint & 1)
		dev_lapic_local(l, DEV_LVT_LINT0);
}

static void write_svr(struct dev_lapic *l, uint32_t value)
{
	unsigned int i;

	l->svr = value & SVR_MASK;
	for (i = 0; i < DEV_LVT_COUNT && !(value & SVR_ENABLED); i++)
		l->lvt[i] |= DEV_LVT_MASKED;
}

/* Returns false if there is no such register or it cannot be written. */
static bool write_reg(struct dev_lapic *l, unsigned int reg, uint32_t value)
{
	switch (reg) {
	case REG_TPR:
		l->tpr = (uint8_t)value;
		return true;
	case REG_EOI:
		dev_lapic_eoi(l);
		return true;
	case REG_LDR:
		if (!dev_lapic_x2(l))
			l->ldr = value & 0xff000000;
		return !dev_lapic_x2(l);
	case REG_DFR:
		l->dfr = value | 0x0fffffff;
		return !dev_lapic_x2(l);
	case REG_SVR:
		write_svr(l, value);
		return true;
	case REG_ESR:
		l->esr = l->errors;
		l->errors = 0;
		l->state &= (uint8_t)~DEV_LAPIC_ERROR_SENT;
		return true;
	case REG_ICR:
		l->icr[0] = value & ICR_MASK;
		dev_lapic_send(l, l->icr[0]);
		return true;
	case REG_ICR_HIGH:
		l->icr[1] = value & 0xff000000;
		return true;
	case REG_LVT ... REG_LVT + DEV_LVT_COUNT - 1:
		write_lvt(l, reg - REG_LVT, value);
		return true;
	case REG_INITIAL:
		dev_lapic_set_count(l, value);
		return true;
	case REG_DIVIDE:
		dev_lapic_set_divide(l, value);
		return true;
	default:
		return false;
	}
}

bool dev_lapic_at(const struct dev_lapic *l, uint64_t gpa)
{
	return dev_lapic_on(l) && !dev_lapic_x2(l) && gpa >> 12 == l->base >> 12;
}

void dev_lapic_read(struct dev_lapic *l, uint32_t offset, uint32_t len, void *data)
{
	uint32_t skip = offset & 15, value;
	uint8_t lane[16] = {0};

	memset(data, 0, len);
	if (!read_reg(l, offset >> 4 & 0xff, &value)) {
		dev_lapic_error(l, DEV_APIC_REGISTER);
		return;
	}
	memcpy(lane, &value, sizeof(value));
	memcpy(data, lane + skip, len < 16 - skip ? len : 16 - skip);
}

/* Write a register. Writes to read-only registers are ignored. */
void dev_lapic_write(struct dev_lapic *l, uint32_t offset, uint32_t len, const void *data)
{
	uint32_t value;

	if (len != sizeof(value) || offset & 15)
		return;
	memcpy(&value, data, sizeof(value));
	if (!write_reg(l, offset >> 4 & 0xff, value) && !read_reg(l, offset >> 4 & 0xff, &value))
		dev_lapic_error(l, DEV_APIC_REGISTER);
}

/* Return the bits of an x2APIC register that must be zero (11.12.1.2). */
static uint64_t reserved(const struct dev_lapic *l, unsigned int reg)
{
	switch (reg) {
	case REG_TPR:
	case REG_SELF_IPI:
		return ~0xffull;
	case REG_EOI:
	case REG_ESR:
		return ~0ull;
	case REG_SVR:
		return ~(uint64_t)SVR_MASK;
	case REG_ICR:
		return (uint32_t) ~(ICR_MASK | ICR_PENDING);
	case REG_LVT ... REG_LVT + DEV_LVT_COUNT - 1:
		return ~(uint64_t)(writable(l, reg - REG_LVT) | LVT_READ_ONLY);
	case REG_DIVIDE:
		return ~0xbull;
	default:
		return ~0xffffffffull;
	}
}

bool dev_lapic_set_base(struct dev_lapic *l, uint64_t value)
{
	uint64_t was = l->base, wide = ~0ull << (l->max_phy_addr & 63);
	bool on = value & DEV_APIC_BASE_ENABLE, x2 = value & DEV_APIC_BASE_X2;

	if (value & (BASE_RESERVED | wide) || (x2 && (!on || !l->has_x2apic)))
		return false;
	if (was & DEV_APIC_BASE_X2 ? on && !x2 : x2 && !(was & DEV_APIC_BASE_ENABLE))
		return false;
	l->base = (value & ~DEV_APIC_BASE_BSP) | (was & DEV_APIC_BASE_BSP);
	if (was & DEV_APIC_BASE_ENABLE && !on)
		dev_lapic_reset(l);
	if (x2) {
		l->ldr = x2_ldr(l);
		l->icr[1] = was & DEV_APIC_BASE_X2 ? l->icr[1] : l->icr[1] >> 24;
	}
	return true;
}

bool dev_lapic_rdmsr(struct dev_lapic *l, uint32_t msr, uint64_t *value)
{
	unsigned int reg = msr & 0xff;
	uint32_t low;

	if (!dev_lapic_x2(l) || !read_reg(l, reg, &low))
		return false;
	*value = low | (reg == REG_ICR ? (uint64_t)l->icr[1] << 32 : 0);
	return true;
}

bool dev_lapic_wrmsr(struct dev_lapic *l, uint32_t msr, uint64_t value)
{
	unsigned int reg = msr & 0xff;

	if (!dev_lapic_x2(l) || reg == REG_ICR_HIGH || value & reserved(l, reg))
		return false;
	if (reg == REG_SELF_IPI) {
		dev_lapic_send(l, (uint32_t)value | SELF);
		return true;
	}
	if (reg == REG_ICR)
		l->icr[1] = (uint32_t)(value >> 32);
	return write_reg(l, reg, (uint32_t)value);
}
