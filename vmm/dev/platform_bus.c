// SPDX-License-Identifier: GPL-2.0-or-later
/* The memory bus and the MSRs of the devices. */
#include "dev/platform_ports.h"

static bool is_lapic(const struct dev_platform *p, unsigned int cpu, uint64_t gpa)
{
	return !p->host.send && dev_lapic_at(&p->lapic[cpu], gpa);
}

static bool is_ioapic(const struct dev_platform *p, unsigned int cpu, uint64_t gpa)
{
	(void)p;
	(void)cpu;
	return (gpa & ~0xfffull) == DEV_IOAPIC_ADDRESS;
}

static void read_lapic(struct dev_platform *p, unsigned int cpu, uint32_t offset, uint32_t len,
		       void *data)
{
	dev_lapic_read(&p->lapic[cpu], offset, len, data);
}

static void write_lapic(struct dev_platform *p, unsigned int cpu, uint32_t offset, uint32_t len,
			const void *data)
{
	dev_lapic_write(&p->lapic[cpu], offset, len, data);
}

static void read_ioapic(struct dev_platform *p, unsigned int cpu, uint32_t offset, uint32_t len,
			void *data)
{
	(void)cpu;
	dev_ioapic_read(&p->ioapic, offset, len, data);
}

static void write_ioapic(struct dev_platform *p, unsigned int cpu, uint32_t offset, uint32_t len,
			 const void *data)
{
	(void)cpu;
	dev_ioapic_write(&p->ioapic, offset, len, data);
	if (p->host.redirected)
		p->host.redirected(p->host.opaque);
}

/* The memory bus. Each device has one page, and the guest can move the page of the local APIC. */
static const struct {
	bool (*is_at)(const struct dev_platform *p, unsigned int cpu, uint64_t gpa);
	void (*read)(struct dev_platform *p, unsigned int cpu, uint32_t offset, uint32_t len,
		     void *data);
	void (*write)(struct dev_platform *p, unsigned int cpu, uint32_t offset, uint32_t len,
		      const void *data);
} pages[] = {
	{is_lapic, read_lapic, write_lapic},
	{is_ioapic, read_ioapic, write_ioapic},
};

bool dev_platform_mmio(struct dev_platform *p, unsigned int cpu, uint64_t gpa, uint32_t len,
		       bool write, void *data)
{
	uint32_t offset = gpa & 0xfff;
	size_t i;

	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		if (!pages[i].is_at(p, cpu, gpa))
			continue;
		if (write)
			pages[i].write(p, cpu, offset, len, data);
		else
			pages[i].read(p, cpu, offset, len, data);
		dev_platform_update(p);
		return true;
	}
	return false;
}

static bool read_apic_base(struct dev_platform *p, unsigned int cpu, uint32_t msr, uint64_t *value)
{
	(void)msr;
	*value = p->lapic[cpu].base;
	return true;
}

static bool write_apic_base(struct dev_platform *p, unsigned int cpu, uint32_t msr, uint64_t value)
{
	(void)msr;
	return dev_lapic_set_base(&p->lapic[cpu], value);
}

static bool read_deadline(struct dev_platform *p, unsigned int cpu, uint32_t msr, uint64_t *value)
{
	(void)msr;
	*value = p->lapic[cpu].deadline;
	return p->lapic[cpu].has_deadline;
}

static bool write_deadline(struct dev_platform *p, unsigned int cpu, uint32_t msr, uint64_t value)
{
	(void)msr;
	if (!p->lapic[cpu].has_deadline)
		return false;
	dev_platform_set_deadline(p, cpu, value);
	return true;
}

static bool read_x2apic(struct dev_platform *p, unsigned int cpu, uint32_t msr, uint64_t *value)
{
	return dev_lapic_rdmsr(&p->lapic[cpu], msr, value);
}

static bool write_x2apic(struct dev_platform *p, unsigned int cpu, uint32_t msr, uint64_t value)
{
	return dev_lapic_wrmsr(&p->lapic[cpu], msr, value);
}

/* The MSRs of the devices. The functions return false for #GP. */
static const struct msr_row {
	uint32_t first, last;
	bool (*read)(struct dev_platform *p, unsigned int cpu, uint32_t msr, uint64_t *value);
	bool (*write)(struct dev_platform *p, unsigned int cpu, uint32_t msr, uint64_t value);
} msrs[] = {
	{X86_MSR_APIC_BASE, X86_MSR_APIC_BASE, read_apic_base, write_apic_base},
	{X86_MSR_TSC_DEADLINE, X86_MSR_TSC_DEADLINE, read_deadline, write_deadline},
	{X86_MSR_X2APIC_FIRST, X86_MSR_X2APIC_LAST, read_x2apic, write_x2apic},
};

static const struct msr_row *find(uint32_t msr)
{
	size_t i;

	for (i = 0; i < sizeof(msrs) / sizeof(msrs[0]); i++)
		if (msr >= msrs[i].first && msr <= msrs[i].last)
			return &msrs[i];
	return NULL;
}

enum dev_platform_msr dev_platform_rdmsr(struct dev_platform *p, unsigned int cpu, uint32_t msr,
					 uint64_t *value)
{
	const struct msr_row *row = find(msr);

	if (!row)
		return DEV_PLATFORM_OTHER;
	return row->read(p, cpu, msr, value) ? DEV_PLATFORM_DONE : DEV_PLATFORM_GP;
}

enum dev_platform_msr dev_platform_wrmsr(struct dev_platform *p, unsigned int cpu, uint32_t msr,
					 uint64_t value)
{
	const struct msr_row *row = find(msr);

	if (!row)
		return DEV_PLATFORM_OTHER;
	if (!row->write(p, cpu, msr, value))
		return DEV_PLATFORM_GP;
	dev_platform_update(p);
	return DEV_PLATFORM_DONE;
}
