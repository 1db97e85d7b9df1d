// SPDX-License-Identifier: GPL-2.0-or-later
/* Write RSDP, XSDT, FADT, FACS, MADT and DSDT (ACPI 6.5, chapter 5.2). */
#include "boot/acpi.h"

#include <stddef.h>
#include <string.h>

#include "boot/aml.h"
#include "dev/ioapic.h"
#include "dev/lapic.h"
#include "dev/pci.h"
#include "dev/pm.h"

#define COM1_PORT   0x3f8
#define COM1_LINE   4
#define RTC_PORT    0x70
#define RTC_LINE    8
#define PIT_LINE    0
#define PIT_PIN	    2
#define RESET_PORT  0xcf9
#define RESET_VALUE 0x06
#define MAX_TABLES  3u /* in the XSDT */

struct header {
	char signature[4];
	uint32_t bytes;
	uint8_t revision, checksum;
	char oem[6], table[8];
	uint32_t oem_revision;
	char creator[4];
	uint32_t creator_revision;
} __attribute__((packed));

struct rsdp {
	char signature[8];
	uint8_t checksum;
	char oem[6];
	uint8_t revision;
	uint32_t rsdt, bytes;
	uint64_t xsdt;
	uint8_t checksum_all, reserved[3];
} __attribute__((packed));

/* Generic address. */
struct gas {
	uint8_t space, bits, offset, access;
	uint64_t address;
} __attribute__((packed));

#define GAS_IO		1
#define GAS_ACCESS_BYTE 1
#define GAS_ACCESS_WORD 2
#define GAS_ACCESS_LONG 3

struct fadt {
	struct header h;
	uint32_t facs, dsdt;
	uint8_t reserved0, profile;
	uint16_t sci;
	uint32_t smi_cmd;
	uint8_t acpi_enable, acpi_disable, s4bios, pstate_cnt;
	uint32_t pm1a_evt, pm1b_evt, pm1a_cnt, pm1b_cnt, pm2_cnt, pm_tmr, gpe0, gpe1;
	uint8_t pm1_evt_len, pm1_cnt_len, pm2_cnt_len, pm_tmr_len, gpe0_len, gpe1_len, gpe1_base,
		cst_cnt;
	uint16_t c2_latency, c3_latency, flush_size, flush_stride;
	uint8_t duty_offset, duty_width, day_alarm, month_alarm, century;
	uint16_t boot_arch;
	uint8_t reserved1;
	uint32_t flags;
	struct gas reset;
	uint8_t reset_value;
	uint16_t arm_boot_arch;
	uint8_t minor;
	uint64_t x_facs, x_dsdt;
	struct gas x_pm1a_evt, x_pm1b_evt, x_pm1a_cnt, x_pm1b_cnt, x_pm2_cnt, x_pm_tmr, x_gpe0,
		x_gpe1, sleep_control, sleep_status;
	char hypervisor[8];
} __attribute__((packed));

_Static_assert(sizeof(struct fadt) == 276, "FADT of ACPI 6");

#define FADT_WBINVD	 (1u << 0)
#define FADT_PROC_C1	 (1u << 2)
#define FADT_PWR_BUTTON	 (1u << 4) /* there is no button in the fixed registers */
#define FADT_SLP_BUTTON	 (1u << 5)
#define FADT_TMR_VAL_EXT (1u << 8)
#define FADT_RESET	 (1u << 10)
#define BOOT_ARCH_LEGACY (1u << 0) /* COM1 */
#define BOOT_ARCH_NO_VGA (1u << 2)
#define CMOS_CENTURY	 0x32

struct mcfg {
	struct header h;
	uint64_t reserved0;
	uint64_t base;
	uint16_t segment;
	uint8_t first_bus, last_bus;
	uint32_t reserved1;
} __attribute__((packed));

struct facs {
	char signature[4];
	uint32_t bytes, hardware, waking, lock, flags;
	uint64_t x_waking;
	uint8_t version, reserved[31];
} __attribute__((packed));

struct madt {
	struct header h;
	uint32_t lapic, flags;
} __attribute__((packed));

#define MADT_PCAT 1u /* there are 8259s */

struct madt_lapic {
	uint8_t type, bytes, processor, apic;
	uint32_t flags;
} __attribute__((packed));

struct madt_ioapic {
	uint8_t type, bytes, id, reserved;
	uint32_t address, base;
} __attribute__((packed));

struct madt_override {
	uint8_t type, bytes, bus, source;
	uint32_t gsi;
	uint16_t flags;
} __attribute__((packed));

struct madt_nmi {
	uint8_t type, bytes, processor;
	uint16_t flags;
	uint8_t lint;
} __attribute__((packed));

#define POLARITY_HIGH 0x1u
#define TRIGGER_LEVEL 0xcu

/* The tables that are being written: a window of RAM. */
struct tables {
	uint8_t *bytes;
	size_t used;
};

static uint8_t checksum(const void *bytes, size_t n)
{
	const uint8_t *b = bytes;
	uint8_t sum = 0;

	while (n--)
		sum = (uint8_t)(sum + *b++);
	return (uint8_t)-sum;
}

static struct header header(const char *signature, uint8_t revision, size_t bytes)
{
	struct header h = {.bytes = (uint32_t)bytes,
			   .revision = revision,
			   .oem_revision = 1,
			   .creator_revision = 1};

	memcpy(h.signature, signature, sizeof(h.signature));
	memcpy(h.oem, "VPT   ", sizeof(h.oem));
	memcpy(h.table, "VPTMACHN", sizeof(h.table));
	memcpy(h.creator, "VPT ", sizeof(h.creator));
	return h;
}

static uint64_t address(const struct tables *t)
{
	return BOOT_ACPI_FIRST + t->used;
}

/* Add a table, and return its address. The next table begins at a multiple of 64 bytes. */
static uint64_t add(struct tables *t, const void *table, size_t bytes)
{
	uint64_t at = address(t);

	if (bytes > BOOT_ACPI_END - at)
		return 0;
	memcpy(t->bytes + t->used, table, bytes);
	t->used += (bytes + 63) & ~63ull;
	return at;
}

/* Complete the checksum of a table in RAM. */
static void seal(struct tables *t, uint64_t at)
{
	struct header *h = (struct header *)(t->bytes + (at - BOOT_ACPI_FIRST));

	h->checksum = 0;
	h->checksum = checksum(h, h->bytes);
}

static void add_isa_device(struct boot_aml *a, const char *name, const char *id, uint16_t port,
			   uint8_t ports, unsigned int line)
{
	uint8_t crs[16], *end;

	boot_aml_device(a, name);
	boot_aml_name_eisa(a, "_HID", id);
	boot_aml_name_integer(a, "_UID", 0);
	boot_aml_name_integer(a, "_STA", 0xf);
	end = boot_aml_end_tag(boot_aml_irq(boot_aml_io(crs, port, ports), line));
	boot_aml_name_buffer(a, "_CRS", crs, (size_t)(end - crs));
	boot_aml_end(a);
}

/* The PCI host bridge. There is no _PRT, because devices have no interrupt lines. */
static void add_pci(struct boot_aml *a)
{
	uint8_t crs[64], *end;

	boot_aml_device(a, "PCI0");
	boot_aml_name_eisa(a, "_HID", "PNP0A08");
	boot_aml_name_eisa(a, "_CID", "PNP0A03");
	boot_aml_name_integer(a, "_UID", 0);
	boot_aml_name_integer(a, "_STA", 0xf);
	end = boot_aml_io(boot_aml_bus(crs, 0, 0), DEV_PCI_ADDRESS, 8);
	end = boot_aml_window(end, DEV_PCI_WINDOW, DEV_PCI_WINDOW_BYTES);
	end = boot_aml_end_tag(end);
	boot_aml_name_buffer(a, "_CRS", crs, (size_t)(end - crs));
	boot_aml_end(a);
}

/* The configuration space is a resource of the board. Linux uses it only then. */
static void add_ecam(struct boot_aml *a)
{
	uint8_t crs[32], *end;

	boot_aml_device(a, "ECAM");
	boot_aml_name_eisa(a, "_HID", "PNP0C02");
	boot_aml_name_integer(a, "_UID", 0);
	end = boot_aml_end_tag(boot_aml_memory(crs, DEV_PCI_ECAM, DEV_PCI_ECAM_BYTES));
	boot_aml_name_buffer(a, "_CRS", crs, (size_t)(end - crs));
	boot_aml_end(a);
}

static uint64_t add_dsdt(struct tables *t, bool pci)
{
	static const uint8_t s5[] = {DEV_PM_S5, 0, 0, 0};
	uint8_t code[1024];
	struct boot_aml a = {.bytes = code, .room = sizeof(code), .size = sizeof(struct header)};
	struct header h;
	uint64_t at;

	boot_aml_scope(&a, "\\_SB_");
	add_isa_device(&a, "COM1", "PNP0501", COM1_PORT, 8, COM1_LINE);
	add_isa_device(&a, "RTC_", "PNP0B00", RTC_PORT, 2, RTC_LINE);
	if (pci) {
		add_pci(&a);
		add_ecam(&a);
	}
	boot_aml_end(&a);
	boot_aml_name_package(&a, "_S5_", s5, sizeof(s5));
	if (a.size > a.room)
		return 0;
	h = header("DSDT", 2, a.size);
	memcpy(code, &h, sizeof(h));
	at = add(t, code, a.size);
	if (at)
		seal(t, at);
	return at;
}

static struct gas port(uint64_t at, uint8_t bits, uint8_t access)
{
	return (struct gas){GAS_IO, bits, 0, access, at};
}

static uint64_t add_fadt(struct tables *t, uint64_t facs, uint64_t dsdt)
{
	const struct fadt f = {
		.h = header("FACP", 6, sizeof(f)),
		.facs = (uint32_t)facs,
		.dsdt = (uint32_t)dsdt,
		.sci = DEV_PM_SCI,
		.pm1a_evt = DEV_PM_EVENT,
		.pm1a_cnt = DEV_PM_CONTROL,
		.pm_tmr = DEV_PM_TIMER,
		.pm1_evt_len = 4,
		.pm1_cnt_len = 2,
		.pm_tmr_len = 4,
		/* Latencies above these limits mean that C2 and C3 do not exist. */
		.c2_latency = 101,
		.c3_latency = 1001,
		.century = CMOS_CENTURY,
		.boot_arch = BOOT_ARCH_LEGACY | BOOT_ARCH_NO_VGA,
		.flags = FADT_WBINVD | FADT_PROC_C1 | FADT_PWR_BUTTON | FADT_SLP_BUTTON |
			 FADT_TMR_VAL_EXT | FADT_RESET,
		.reset = port(RESET_PORT, 8, GAS_ACCESS_BYTE),
		.reset_value = RESET_VALUE,
		.minor = 5,
		.x_dsdt = dsdt,
		.x_pm1a_evt = port(DEV_PM_EVENT, 32, GAS_ACCESS_WORD),
		.x_pm1a_cnt = port(DEV_PM_CONTROL, 16, GAS_ACCESS_WORD),
		.x_pm_tmr = port(DEV_PM_TIMER, 32, GAS_ACCESS_LONG),
	};
	uint64_t at = add(t, &f, sizeof(f));

	if (at)
		seal(t, at);
	return at;
}

static uint64_t add_facs(struct tables *t)
{
	const struct facs f = {.signature = {'F', 'A', 'C', 'S'}, .bytes = sizeof(f), .version = 2};

	return add(t, &f, sizeof(f));
}

static size_t put(uint8_t *to, const void *entry, size_t bytes)
{
	memcpy(to, entry, bytes);
	return bytes;
}

#define MADT_ROOM (sizeof(struct madt) + 256 * sizeof(struct madt_lapic) + 64)

static uint64_t add_madt(struct tables *t, unsigned int cpus)
{
	const struct madt_ioapic ioapic = {1, sizeof(ioapic), 0, 0, DEV_IOAPIC_ADDRESS, 0};
	const struct madt_override timer = {2, sizeof(timer), 0, PIT_LINE, PIT_PIN, 0};
	const struct madt_override sci = {2,	      sizeof(sci), 0,
					  DEV_PM_SCI, DEV_PM_SCI,  POLARITY_HIGH | TRIGGER_LEVEL};
	const struct madt_nmi nmi = {4, sizeof(nmi), 0xff, 0, 1};
	uint8_t bytes[MADT_ROOM];
	struct madt m = {.lapic = DEV_LAPIC_ADDRESS, .flags = MADT_PCAT};
	size_t n = sizeof(m);
	unsigned int i;
	uint64_t at;

	for (i = 0; i < cpus && i < 255; i++) {
		const struct madt_lapic lapic = {0, sizeof(lapic), (uint8_t)i, (uint8_t)i, 1};

		n += put(bytes + n, &lapic, sizeof(lapic));
	}
	n += put(bytes + n, &ioapic, sizeof(ioapic));
	n += put(bytes + n, &timer, sizeof(timer));
	n += put(bytes + n, &sci, sizeof(sci));
	n += put(bytes + n, &nmi, sizeof(nmi));
	m.h = header("APIC", 5, n);
	memcpy(bytes, &m, sizeof(m));
	at = add(t, bytes, n);
	if (at)
		seal(t, at);
	return at;
}

static uint64_t add_mcfg(struct tables *t)
{
	struct mcfg m = {.h = header("MCFG", 1, sizeof(m)), .base = DEV_PCI_ECAM};
	const uint64_t at = add(t, &m, sizeof(m));

	if (at)
		seal(t, at);
	return at;
}

static uint64_t add_xsdt(struct tables *t, const uint64_t *table, unsigned int count)
{
	uint8_t bytes[sizeof(struct header) + MAX_TABLES * sizeof(*table)];
	const size_t n = sizeof(struct header) + count * sizeof(*table);
	const struct header h = header("XSDT", 1, n);
	uint64_t at;

	memcpy(bytes, &h, sizeof(h));
	memcpy(bytes + sizeof(h), table, count * sizeof(*table));
	at = add(t, bytes, n);
	if (at)
		seal(t, at);
	return at;
}

bool boot_acpi_write(const struct x86_mem *mem, const struct boot_acpi_config *config)
{
	struct rsdp rsdp = {
		.oem = {'V', 'P', 'T', ' ', ' ', ' '}, .revision = 2, .bytes = sizeof(rsdp)};
	struct tables t = {
		.bytes = x86_mem_at(mem, BOOT_ACPI_FIRST, BOOT_ACPI_END - BOOT_ACPI_FIRST)};
	uint64_t facs, dsdt, table[MAX_TABLES] = {0};
	const unsigned int count = config->pci ? 3 : 2;

	if (!t.bytes)
		return false;
	memcpy(rsdp.signature, "RSD PTR ", sizeof(rsdp.signature));
	add(&t, &rsdp, sizeof(rsdp));
	facs = add_facs(&t);
	dsdt = add_dsdt(&t, config->pci);
	table[0] = add_fadt(&t, facs, dsdt);
	table[1] = add_madt(&t, config->cpus);
	if (config->pci)
		table[2] = add_mcfg(&t);
	rsdp.xsdt = add_xsdt(&t, table, count);
	if (!facs || !dsdt || !table[0] || !table[1] || !table[count - 1] || !rsdp.xsdt)
		return false;
	rsdp.checksum = checksum(&rsdp, 20);
	rsdp.checksum_all = checksum(&rsdp, sizeof(rsdp));
	memcpy(t.bytes, &rsdp, sizeof(rsdp));
	return true;
}
