// SPDX-License-Identifier: GPL-2.0-or-later
/* The devices joined: lines, messages, time. */
#include "dev/platform.h"

#include <string.h>

#include "dev/clock.h"
#include "dev/platform_ports.h"

#define LINE_TIMER  0
#define LINE_SERIAL 4
#define LINE_RTC    8
#define PIN_EXTINT  0
#define PIN_TIMER   2

static void line(struct vpt_platform *p, unsigned int n, bool level)
{
	vpt_pic_set(&p->pic, n, level);
	vpt_ioapic_set(&p->ioapic, n == LINE_TIMER ? PIN_TIMER : n, level);
}

static void send_messages(struct vpt_platform *p)
{
	uint32_t left = vpt_ioapic_requests(&p->ioapic);

	for (; left; left &= left - 1) {
		unsigned int pin = (unsigned int)__builtin_ctz(left);
		struct vpt_apic_message message = vpt_ioapic_message(&p->ioapic, pin);

		vpt_ioapic_sent(&p->ioapic, pin, vpt_lapic_message(&p->lapic, &message));
	}
}

void vpt_platform_settle(struct vpt_platform *p)
{
	/* However short it was low. */
	if (p->pit.rose) {
		p->pit.rose = false;
		line(p, LINE_TIMER, false);
		line(p, LINE_TIMER, true);
	}
	line(p, LINE_TIMER, vpt_pit_out(&p->pit, 0));
	/* Its line falls while it sends, however fast. */
	do
		line(p, LINE_SERIAL, vpt_serial_irq(&p->serial));
	while (vpt_serial_sent(&p->serial));
	line(p, LINE_RTC, vpt_rtc_irq(&p->rtc));
	vpt_lapic_lint(&p->lapic, 0, vpt_pic_intr(&p->pic));
	if (p->lapic.has_eoi) {
		p->lapic.has_eoi = false;
		vpt_ioapic_eoi(&p->ioapic, p->lapic.eoi);
	}
	send_messages(p);
	if (p->lapic.init) {
		p->lapic.init = false;
		if (p->host.reset)
			p->host.reset(p->host.opaque, VPT_RESET_INIT);
	}
}

void vpt_platform_init(struct vpt_platform *p, const struct vpt_platform_config *config)
{
	const struct vpt_lapic_config lapic = {
		.hz = config->apic_hz,
		.max_phy_addr = config->max_phy_addr,
		.x2apic = config->x2apic,
		.deadline = config->host.tsc_time,
	};

	memset(p, 0, sizeof(*p));
	p->host = config->host;
	vpt_lapic_init(&p->lapic, &lapic);
	vpt_ioapic_init(&p->ioapic);
	vpt_pic_init(&p->pic);
	vpt_pit_init(&p->pit);
	vpt_rtc_init(&p->rtc, config->epoch, config->mem_bytes);
	vpt_serial_init(&p->serial);
	vpt_platform_settle(p);
}

void vpt_platform_virtual_wire(struct vpt_platform *p)
{
	p->lapic.svr |= 0x100;
	p->lapic.lvt[VPT_LVT_LINT0] = VPT_APIC_EXTINT << 8;
	p->lapic.lvt[VPT_LVT_LINT1] = VPT_APIC_NMI << 8;
	vpt_platform_settle(p);
}

void vpt_platform_advance(struct vpt_platform *p, uint64_t now)
{
	if (now <= p->now)
		return;
	p->now = now;
	vpt_lapic_advance(&p->lapic, now);
	vpt_pit_advance(&p->pit, now);
	vpt_rtc_advance(&p->rtc, now);
	vpt_serial_advance(&p->serial, now);
	vpt_platform_settle(p);
}

uint64_t vpt_platform_next(const struct vpt_platform *p)
{
	uint64_t next = vpt_sooner(vpt_lapic_next(&p->lapic), vpt_pit_next(&p->pit));

	next = vpt_sooner(next, vpt_rtc_next(&p->rtc));
	return vpt_sooner(next, vpt_serial_next(&p->serial));
}

static void take_input(struct vpt_platform *p)
{
	int byte;

	while (p->host.serial_in && vpt_serial_room(&p->serial)) {
		byte = p->host.serial_in(p->host.opaque);
		if (byte < 0)
			break;
		vpt_serial_receive(&p->serial, (uint8_t)byte);
	}
}

void vpt_platform_poll(struct vpt_platform *p)
{
	take_input(p);
	vpt_platform_settle(p);
}

bool vpt_platform_listens(const struct vpt_platform *p)
{
	return p->host.serial_in && vpt_serial_listens(&p->serial);
}

static void set_deadline(struct vpt_platform *p, uint64_t tsc)
{
	if (p->host.tsc_time)
		vpt_lapic_set_deadline(&p->lapic, tsc, p->host.tsc_time(p->host.opaque, tsc));
}

void vpt_platform_tsc_moved(struct vpt_platform *p)
{
	if (p->lapic.deadline)
		set_deadline(p, p->lapic.deadline);
	vpt_platform_settle(p);
}

bool vpt_platform_mmio(struct vpt_platform *p, uint64_t gpa, uint32_t len, bool write, void *data)
{
	uint32_t offset = gpa & 0xfff;

	if (vpt_lapic_at(&p->lapic, gpa)) {
		if (write)
			vpt_lapic_write(&p->lapic, offset, len, data);
		else
			vpt_lapic_read(&p->lapic, offset, len, data);
	} else if ((gpa & ~0xfffull) == VPT_IOAPIC_ADDRESS) {
		if (write)
			vpt_ioapic_write(&p->ioapic, offset, len, data);
		else
			vpt_ioapic_read(&p->ioapic, offset, len, data);
	} else {
		return false;
	}
	vpt_platform_settle(p);
	return true;
}

static bool is_ours(uint32_t msr)
{
	return msr == VPT_MSR_APIC_BASE || msr == VPT_MSR_TSC_DEADLINE ||
	       (msr >= VPT_MSR_X2APIC_FIRST && msr <= VPT_MSR_X2APIC_LAST);
}

enum vpt_platform_msr vpt_platform_rdmsr(struct vpt_platform *p, uint32_t msr, uint64_t *value)
{
	if (!is_ours(msr))
		return VPT_PLATFORM_OTHER;
	if (msr == VPT_MSR_TSC_DEADLINE) {
		*value = p->lapic.deadline;
		return p->lapic.has_deadline ? VPT_PLATFORM_DONE : VPT_PLATFORM_GP;
	}
	return vpt_lapic_rdmsr(&p->lapic, msr, value) ? VPT_PLATFORM_DONE : VPT_PLATFORM_GP;
}

enum vpt_platform_msr vpt_platform_wrmsr(struct vpt_platform *p, uint32_t msr, uint64_t value)
{
	bool ok;

	if (!is_ours(msr))
		return VPT_PLATFORM_OTHER;
	ok = msr == VPT_MSR_TSC_DEADLINE ? p->lapic.has_deadline
					 : vpt_lapic_wrmsr(&p->lapic, msr, value);
	if (!ok)
		return VPT_PLATFORM_GP;
	if (msr == VPT_MSR_TSC_DEADLINE)
		set_deadline(p, value);
	vpt_platform_settle(p);
	return VPT_PLATFORM_DONE;
}

uint8_t vpt_platform_cr8(const struct vpt_platform *p)
{
	return p->lapic.tpr >> 4;
}

void vpt_platform_set_cr8(struct vpt_platform *p, uint8_t value)
{
	p->lapic.tpr = (uint8_t)(value << 4);
}

/* By LINT0 or by the I/O APIC. */
static bool extint(const struct vpt_platform *p)
{
	return vpt_pic_intr(&p->pic) && (vpt_lapic_takes_extint(&p->lapic) ||
					 vpt_ioapic_takes_extint(&p->ioapic, PIN_EXTINT));
}

bool vpt_platform_pending(const struct vpt_platform *p)
{
	return extint(p) || vpt_lapic_pending(&p->lapic) >= 0;
}

/* An ExtINT has no priority in the local APIC: it goes first. */
uint8_t vpt_platform_ack(struct vpt_platform *p)
{
	uint8_t vector = extint(p) ? vpt_pic_ack(&p->pic) : vpt_lapic_ack(&p->lapic);

	vpt_platform_settle(p);
	return vector;
}

bool vpt_platform_nmi(const struct vpt_platform *p)
{
	return p->lapic.nmi;
}

void vpt_platform_ack_nmi(struct vpt_platform *p)
{
	p->lapic.nmi = false;
}

void vpt_platform_pmi(struct vpt_platform *p)
{
	vpt_lapic_pmi(&p->lapic);
	vpt_platform_settle(p);
}

void vpt_platform_line(struct vpt_platform *p, unsigned int n, bool level)
{
	if (n == LINE_TIMER || n == PIN_TIMER || n == LINE_SERIAL || n == LINE_RTC)
		return;
	line(p, n, level);
	vpt_platform_settle(p);
}

void vpt_platform_fill(struct vpt_platform *p)
{
	if (!p->serial.count)
		take_input(p);
}
