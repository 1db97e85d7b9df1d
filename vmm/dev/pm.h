/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fixed hardware of ACPI: the power management timer, and the PM1 event and control registers
 * (ACPI 6.5, chapter 4.8). SCI_EN is always set, because there is no legacy mode.
 */
#ifndef VMM_DEV_PM_H
#define VMM_DEV_PM_H

#include <stdbool.h>
#include <stdint.h>

#define DEV_PM_HZ      3579545u
#define DEV_PM_EVENT   0x600u /* PM1a_EVT_BLK: status, enable */
#define DEV_PM_CONTROL 0x604u /* PM1a_CNT_BLK */
#define DEV_PM_TIMER   0x608u /* PM_TMR_BLK, 32 bits */
#define DEV_PM_LAST    0x60bu
#define DEV_PM_SCI     9u /* the ISA line */
#define DEV_PM_S5      5u /* the sleep type that powers the machine off */

struct dev_pm {
	uint64_t now;
	uint64_t halves; /* how often bit 31 of the timer has changed */
	uint16_t status, enable, control;
	uint8_t spare[2];
};

void dev_pm_init(struct dev_pm *pm);
void dev_pm_advance(struct dev_pm *pm, uint64_t now);
uint64_t dev_pm_next(const struct dev_pm *pm);
/* Returns true if the SCI is asserted. */
bool dev_pm_irq(const struct dev_pm *pm);

uint8_t dev_pm_read(const struct dev_pm *pm, uint16_t port);
/* Write a register. Returns true if the write powers the machine off. */
bool dev_pm_write(struct dev_pm *pm, uint16_t port, uint8_t value);

#endif /* VMM_DEV_PM_H */
