/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The MC146818 real-time clock with 128 bytes of CMOS memory, at IRQ 8. */
#ifndef VMM_DEV_RTC_H
#define VMM_DEV_RTC_H

#include <stdbool.h>
#include <stdint.h>

#define DEV_RTC_BYTES 128

struct dev_rtc {
	uint64_t now;
	int64_t epoch; /* seconds since 1970 at time `base` */
	/* the time in ns at which that second began; invalid while the clock is stopped */
	uint64_t base;
	uint64_t seen;	/* the number of seconds since `base` that have been handled */
	uint64_t pulse; /* the tick of the next periodic interrupt */
	uint8_t cmos[DEV_RTC_BYTES];
	uint8_t index;
	uint8_t spare[7];
};

/* Initialise the clock. `epoch` is the time of the start. */
void dev_rtc_init(struct dev_rtc *rtc, int64_t epoch, uint64_t mem_bytes);
void dev_rtc_advance(struct dev_rtc *rtc, uint64_t now);
/* Return the earliest time of the next interrupt. */
uint64_t dev_rtc_next(const struct dev_rtc *rtc);
bool dev_rtc_irq(const struct dev_rtc *rtc);

/* Access ports 70H or 71H. Returns false for other ports. */
bool dev_rtc_read(struct dev_rtc *rtc, uint16_t port, uint8_t *value);
bool dev_rtc_write(struct dev_rtc *rtc, uint16_t port, uint8_t value);

/* calendar.c: days since 1970-01-01, months and days from 1. */
struct dev_date {
	int64_t year;
	unsigned int month, day;
};
struct dev_date dev_date_of(int64_t days);
int64_t dev_days_of(const struct dev_date *date);

#endif /* VMM_DEV_RTC_H */
