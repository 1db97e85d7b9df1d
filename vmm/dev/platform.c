// SPDX-License-Identifier: GPL-2.0-or-later
/* Connect the devices: lines, messages, time. */
#include "dev/platform.h"

#include <string.h>

#include "dev/clock.h"
#include "dev/platform_ports.h"

#define LINE_TIMER  0
#define LINE_SERIAL 4
#define LINE_RTC    8
#define PIN_EXTINT  0
#define PIN_TIMER   2

static void line(struct dev_platform *p, unsigned int n, bool level)
{
	dev_pic_set(&p->pic, n, level);
	dev_ioapic_set(&p->ioapic, n == LINE_TIMER ? PIN_TIMER : n, level);
}

bool dev_platform_message(struct dev_platform *p, const struct dev_apic_message *m)
{
	bool accepted = false;
	unsigned int i;

	if (p->host.send)
		return p->host.send(p->host.opaque, m);
	for (i = 0; i < p->cpus && !(accepted && m->mode == DEV_APIC_LOWEST); i++)
		if (dev_lapic_is_dest(&p->lapic[i], m))
			accepted |= dev_lapic_message(&p->lapic[i], m);
	return accepted;
}

static void send_messages(struct dev_platform *p)
{
	uint32_t left = dev_ioapic_requests(&p->ioapic);

	for (; left; left &= left - 1) {
		unsigned int pin = (unsigned int)__builtin_ctz(left);
		struct dev_apic_message message = dev_ioapic_message(&p->ioapic, pin);

		dev_ioapic_sent(&p->ioapic, pin, dev_platform_message(p, &message));
	}
}

/* Send the IPI in the ICR of a processor, which may be one of the destinations. */
static void send_ipi(struct dev_platform *p, const struct dev_lapic *from)
{
	const uint32_t icr = from->icr[0];
	const struct dev_apic_message message = {
		.dest = dev_lapic_x2(from) ? from->icr[1] : from->icr[1] >> 24,
		.vector = (uint8_t)icr,
		.mode = icr >> 8 & 7,
		.logical = icr >> 11 & 1,
		.wide = dev_lapic_x2(from),
	};
	const unsigned int to = icr >> 18 & 3;
	unsigned int i;

	if (to == DEV_APIC_TO_DEST) {
		(void)dev_platform_message(p, &message);
		return;
	}
	for (i = 0; i < p->cpus; i++)
		if (dev_lapic_on(&p->lapic[i]) && (to == DEV_APIC_TO_ALL || &p->lapic[i] != from))
			(void)dev_lapic_message(&p->lapic[i], &message);
}

static void handle_lapic(struct dev_platform *p, struct dev_lapic *l)
{
	if (l->state & DEV_LAPIC_EOI) {
		l->state &= (uint8_t)~DEV_LAPIC_EOI;
		dev_ioapic_eoi(&p->ioapic, l->eoi);
	}
	if (l->state & DEV_LAPIC_SENT) {
		l->state &= (uint8_t)~DEV_LAPIC_SENT;
		p->sent = true;
		send_ipi(p, l);
	}
}

void dev_platform_update(struct dev_platform *p)
{
	unsigned int i;

	/* Pass an edge on even if the line was low only briefly. */
	if (p->pit.rose) {
		p->pit.rose = false;
		line(p, LINE_TIMER, false);
		line(p, LINE_TIMER, true);
	}
	line(p, LINE_TIMER, dev_pit_out(&p->pit, 0));
	/* The line falls during each transmission, even if that takes no time. */
	do
		line(p, LINE_SERIAL, dev_serial_irq(&p->serial));
	while (dev_serial_sent(&p->serial));
	line(p, LINE_RTC, dev_rtc_irq(&p->rtc));
	line(p, DEV_PM_SCI, dev_pm_irq(&p->pm));
	dev_lapic_lint(&p->lapic[0], 0, dev_pic_intr(&p->pic));
	for (i = 0; i < p->cpus; i++)
		handle_lapic(p, &p->lapic[i]);
	send_messages(p);
	/* The first processor has no INIT without a reset of the machine. */
	if (dev_platform_take_init(p, 0)) {
		if (p->host.reset)
			p->host.reset(p->host.opaque, DEV_RESET_INIT);
	}
}

void dev_platform_init(struct dev_platform *p, const struct dev_platform_config *config)
{
	struct dev_lapic_config lapic = {
		.hz = config->apic_hz,
		.max_phy_addr = config->max_phy_addr,
		.x2apic = config->x2apic,
		.deadline = config->host.tsc_time,
	};

	memset(p, 0, sizeof(*p));
	p->host = config->host;
	p->cpus = config->cpus;
	for (; lapic.id < p->cpus; lapic.id++)
		dev_lapic_init(&p->lapic[lapic.id], &lapic);
	dev_ioapic_init(&p->ioapic);
	dev_pic_init(&p->pic);
	dev_pit_init(&p->pit);
	dev_rtc_init(&p->rtc, config->epoch, config->mem_bytes);
	dev_serial_init(&p->serial);
	dev_pm_init(&p->pm);
	dev_platform_update(p);
}

void dev_platform_virtual_wire(struct dev_platform *p)
{
	p->lapic[0].svr |= 0x100;
	p->lapic[0].lvt[DEV_LVT_LINT0] = DEV_APIC_EXTINT << 8;
	p->lapic[0].lvt[DEV_LVT_LINT1] = DEV_APIC_NMI << 8;
	dev_platform_update(p);
}

static void advance_shared(struct dev_platform *p, uint64_t now)
{
	p->now = now;
	dev_pit_advance(&p->pit, now);
	dev_rtc_advance(&p->rtc, now);
	dev_serial_advance(&p->serial, now);
	dev_pm_advance(&p->pm, now);
}

void dev_platform_advance(struct dev_platform *p, unsigned int cpu, uint64_t now)
{
	struct dev_lapic *l = &p->lapic[cpu];

	if (now <= l->now && now <= p->now)
		return;
	if (now > l->now)
		dev_lapic_advance(l, now);
	if (now > p->now)
		advance_shared(p, now);
	dev_platform_update(p);
}

void dev_platform_advance_local(struct dev_platform *p, unsigned int cpu, uint64_t now)
{
	struct dev_lapic *l = &p->lapic[cpu];

	if (now <= l->now)
		return;
	dev_lapic_advance(l, now);
	dev_platform_update(p);
}

void dev_platform_advance_shared(struct dev_platform *p, uint64_t now)
{
	if (now <= p->now)
		return;
	advance_shared(p, now);
	dev_platform_update(p);
}

uint64_t dev_platform_next_shared(const struct dev_platform *p)
{
	uint64_t next = dev_sooner(dev_rtc_next(&p->rtc), dev_pit_next(&p->pit));

	next = dev_sooner(next, dev_pm_next(&p->pm));
	return dev_sooner(next, dev_serial_next(&p->serial));
}

uint64_t dev_platform_next(const struct dev_platform *p, unsigned int cpu)
{
	return dev_sooner(dev_lapic_next(&p->lapic[cpu]), dev_platform_next_shared(p));
}

unsigned int dev_platform_wants(const struct dev_platform *p)
{
	return dev_serial_listens(&p->serial) ? dev_serial_room(&p->serial) : 0;
}

void dev_platform_receive(struct dev_platform *p, const uint8_t *bytes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		dev_serial_receive(&p->serial, bytes[i]);
	dev_platform_update(p);
}

void dev_platform_set_deadline(struct dev_platform *p, unsigned int cpu, uint64_t tsc)
{
	if (p->host.tsc_time)
		dev_lapic_set_deadline(&p->lapic[cpu], tsc,
				       p->host.tsc_time(p->host.opaque, cpu, tsc));
}

void dev_platform_tsc_moved(struct dev_platform *p, unsigned int cpu)
{
	if (p->lapic[cpu].deadline)
		dev_platform_set_deadline(p, cpu, p->lapic[cpu].deadline);
	dev_platform_update(p);
}

uint8_t dev_platform_cr8(const struct dev_platform *p, unsigned int cpu)
{
	return p->lapic[cpu].tpr >> 4;
}

void dev_platform_set_cr8(struct dev_platform *p, unsigned int cpu, uint8_t value)
{
	p->lapic[cpu].tpr = (uint8_t)(value << 4);
}

/*
 * Returns true if the 8259s interrupt the processor through LINT0 or the I/O APIC. A local APIC outside
 * of the platform knows its LINT0 itself.
 */
static bool extint(const struct dev_platform *p, unsigned int cpu)
{
	return !cpu && dev_pic_intr(&p->pic) &&
	       (p->host.send || dev_lapic_takes_extint(&p->lapic[0]) ||
		dev_ioapic_takes_extint(&p->ioapic, PIN_EXTINT));
}

bool dev_platform_pending(const struct dev_platform *p, unsigned int cpu)
{
	return extint(p, cpu) || dev_lapic_pending(&p->lapic[cpu]) >= 0;
}

/* Acknowledge an interrupt. An ExtINT has no priority in the local APIC and is first. */
uint8_t dev_platform_ack(struct dev_platform *p, unsigned int cpu)
{
	uint8_t vector = extint(p, cpu) ? dev_pic_ack(&p->pic) : dev_lapic_ack(&p->lapic[cpu]);

	dev_platform_update(p);
	return vector;
}

bool dev_platform_nmi(const struct dev_platform *p, unsigned int cpu)
{
	return p->lapic[cpu].state & DEV_LAPIC_NMI;
}

/* Clear a bit of a local APIC's state. Returns true if it was set. */
static bool take(struct dev_platform *p, unsigned int cpu, enum dev_lapic_state bit)
{
	const bool was = p->lapic[cpu].state & bit;

	p->lapic[cpu].state &= (uint8_t)~bit;
	return was;
}

void dev_platform_ack_nmi(struct dev_platform *p, unsigned int cpu)
{
	(void)take(p, cpu, DEV_LAPIC_NMI);
}

bool dev_platform_take_sent(struct dev_platform *p)
{
	const bool sent = p->sent;

	p->sent = false;
	return sent;
}

bool dev_platform_has_init(const struct dev_platform *p, unsigned int cpu)
{
	return p->lapic[cpu].state & DEV_LAPIC_INIT;
}

bool dev_platform_take_init(struct dev_platform *p, unsigned int cpu)
{
	return take(p, cpu, DEV_LAPIC_INIT);
}

bool dev_platform_has_startup(const struct dev_platform *p, unsigned int cpu)
{
	return p->lapic[cpu].state & DEV_LAPIC_STARTUP;
}

bool dev_platform_take_startup(struct dev_platform *p, unsigned int cpu, uint8_t *vector)
{
	*vector = p->lapic[cpu].startup;
	return take(p, cpu, DEV_LAPIC_STARTUP);
}

void dev_platform_eoi(struct dev_platform *p, uint8_t vector)
{
	dev_ioapic_eoi(&p->ioapic, vector);
	dev_platform_update(p);
}

void dev_platform_pmi(struct dev_platform *p, unsigned int cpu)
{
	dev_lapic_pmi(&p->lapic[cpu]);
	dev_platform_update(p);
}

void dev_platform_line(struct dev_platform *p, unsigned int n, bool level)
{
	if (n == LINE_TIMER || n == PIN_TIMER || n == LINE_SERIAL || n == LINE_RTC ||
	    n == DEV_PM_SCI)
		return;
	line(p, n, level);
	dev_platform_update(p);
}
