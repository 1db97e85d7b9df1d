// SPDX-License-Identifier: GPL-2.0-or-later
/* ACPI fixed hardware. */
#include "dev/pm.h"

#include <string.h>

#include "dev/clock.h"

#define TMR_STS	   0x0001u
#define GBL_STS	   0x0020u
#define PWRBTN_STS 0x0100u
#define RTC_STS	   0x0400u
#define EVENTS	   (TMR_STS | GBL_STS | PWRBTN_STS | RTC_STS)

#define CNT_SCI_EN  0x0001u
#define CNT_SLP_TYP 0x1c00u
#define CNT_SLP_EN  0x2000u /* reads as 0 */
#define CNT_KEPT    (0x0006u | CNT_SLP_TYP)

static uint64_t ticks(const struct dev_pm *pm)
{
	return dev_clock_ticks(pm->now, DEV_PM_HZ);
}

void dev_pm_init(struct dev_pm *pm)
{
	memset(pm, 0, sizeof(*pm));
	pm->control = CNT_SCI_EN;
}

void dev_pm_advance(struct dev_pm *pm, uint64_t now)
{
	uint64_t halves;

	pm->now = now;
	halves = ticks(pm) >> 31;
	if (halves != pm->halves)
		pm->status |= TMR_STS;
	pm->halves = halves;
}

uint64_t dev_pm_next(const struct dev_pm *pm)
{
	if (!(pm->enable & TMR_STS) || pm->status & TMR_STS)
		return DEV_NEVER;
	return dev_clock_ns((pm->halves + 1) << 31, DEV_PM_HZ);
}

bool dev_pm_irq(const struct dev_pm *pm)
{
	return pm->status & pm->enable;
}

uint8_t dev_pm_read(const struct dev_pm *pm, uint16_t port)
{
	const uint64_t registers =
		pm->status | (uint64_t)pm->enable << 16 | (uint64_t)pm->control << 32;

	if (port >= DEV_PM_TIMER)
		return (uint8_t)(ticks(pm) >> 8 * (port - DEV_PM_TIMER));
	return (uint8_t)(registers >> 8 * (port - DEV_PM_EVENT));
}

static uint16_t put_byte(uint16_t word, unsigned int byte, uint8_t value)
{
	return (uint16_t)((word & ~(0xffu << 8 * byte)) | (unsigned int)value << 8 * byte);
}

static bool write_control(struct dev_pm *pm, unsigned int byte, uint8_t value)
{
	uint16_t word = put_byte(pm->control, byte, value);

	pm->control = (uint16_t)((word & CNT_KEPT) | CNT_SCI_EN);
	return word & CNT_SLP_EN && (word & CNT_SLP_TYP) >> 10 == DEV_PM_S5;
}

bool dev_pm_write(struct dev_pm *pm, uint16_t port, uint8_t value)
{
	unsigned int byte = port & 1;

	switch (port & ~1u) {
	case DEV_PM_EVENT: /* write 1 to clear */
		pm->status &= (uint16_t) ~((unsigned int)value << 8 * byte);
		break;
	case DEV_PM_EVENT + 2:
		pm->enable = put_byte(pm->enable, byte, value) & EVENTS;
		break;
	case DEV_PM_CONTROL:
		return write_control(pm, byte, value);
	default:
		break;
	}
	return false;
}
