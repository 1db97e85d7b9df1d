// SPDX-License-Identifier: GPL-2.0-or-later
/* MC146818 real-time clock. */
#include "dev/rtc.h"

#include <string.h>

#include "dev/clock.h"
#include "x86/mem.h"

#define PORT_INDEX 0x70
#define PORT_DATA  0x71
#define CRYSTAL_HZ 32768u
/* Register A announces an update this long before it. */
#define UPDATE_NS 244000u

enum byte {
	SECOND = 0,
	SECOND_ALARM,
	MINUTE,
	MINUTE_ALARM,
	HOUR,
	HOUR_ALARM,
	WEEKDAY,
	DAY,
	MONTH,
	YEAR,
	REG_A,
	REG_B,
	REG_C,
	REG_D,
	CENTURY = 0x32,
};

#define A_UPDATE   0x80
#define A_DIVIDER  0x70
#define A_RUNS	   0x20
#define A_RATE	   0x0f
#define B_SET	   0x80
#define B_BINARY   0x04
#define B_24H	   0x02
#define C_IRQ	   0x80
#define C_PERIODIC 0x40
#define C_ALARM	   0x20
#define C_UPDATE   0x10
#define C_ALL	   (C_PERIODIC | C_ALARM | C_UPDATE)
#define D_VALID	   0x80
#define PM	   0x80
#define ANY	   0xc0

#define DAY_SECONDS 86400

/* Returns true if the clock runs. */
static bool runs(const struct dev_rtc *rtc)
{
	return !(rtc->cmos[REG_B] & B_SET) && (rtc->cmos[REG_A] & A_DIVIDER) == A_RUNS;
}

static uint64_t seconds(const struct dev_rtc *rtc)
{
	return rtc->now > rtc->base ? (rtc->now - rtc->base) / DEV_NS_PER_SECOND : 0;
}

static uint8_t encode(const struct dev_rtc *rtc, uint64_t value)
{
	unsigned int v = (unsigned int)(value % 100);

	return (uint8_t)(rtc->cmos[REG_B] & B_BINARY ? v : v / 10 << 4 | v % 10);
}

static unsigned int decode(const struct dev_rtc *rtc, uint8_t value)
{
	return rtc->cmos[REG_B] & B_BINARY ? value : (value >> 4) * 10u + (value & 15);
}

static uint8_t encode_hour(const struct dev_rtc *rtc, unsigned int hour)
{
	if (rtc->cmos[REG_B] & B_24H)
		return encode(rtc, hour);
	return (uint8_t)(encode(rtc, hour % 12 ? hour % 12 : 12) | (hour >= 12 ? PM : 0));
}

static unsigned int decode_hour(const struct dev_rtc *rtc, uint8_t value)
{
	if (rtc->cmos[REG_B] & B_24H)
		return decode(rtc, value);
	return decode(rtc, value & (uint8_t)~PM) % 12 + (value & PM ? 12 : 0);
}

/* Write the time to the CMOS bytes. */
static void show(struct dev_rtc *rtc, int64_t time)
{
	int64_t days = time / DAY_SECONDS, of_day = time % DAY_SECONDS;
	struct dev_date date;

	if (of_day < 0) {
		of_day += DAY_SECONDS;
		days--;
	}
	date = dev_date_of(days);
	rtc->cmos[SECOND] = encode(rtc, (uint64_t)of_day % 60);
	rtc->cmos[MINUTE] = encode(rtc, (uint64_t)of_day / 60 % 60);
	rtc->cmos[HOUR] = encode_hour(rtc, (unsigned int)(of_day / 3600));
	/* Sunday is 1. The epoch was a Thursday. */
	rtc->cmos[WEEKDAY] = encode(rtc, (uint64_t)(((days + 4) % 7 + 7) % 7 + 1));
	rtc->cmos[DAY] = encode(rtc, date.day);
	rtc->cmos[MONTH] = encode(rtc, date.month);
	rtc->cmos[YEAR] = encode(rtc, (uint64_t)(date.year % 100 + 100));
	rtc->cmos[CENTURY] = encode(rtc, (uint64_t)(date.year / 100 % 100 + 100));
}

/* Return the time in the CMOS bytes. Values out of range carry over. */
static int64_t told(const struct dev_rtc *rtc)
{
	unsigned int month = decode(rtc, rtc->cmos[MONTH]);
	struct dev_date date = {
		.year = decode(rtc, rtc->cmos[YEAR]) + 100 * decode(rtc, rtc->cmos[CENTURY]),
		.month = month < 1    ? 1
			 : month > 12 ? 12
				      : month,
		.day = decode(rtc, rtc->cmos[DAY]),
	};

	return dev_days_of(&date) * DAY_SECONDS + 3600 * decode_hour(rtc, rtc->cmos[HOUR]) +
	       60 * decode(rtc, rtc->cmos[MINUTE]) + decode(rtc, rtc->cmos[SECOND]);
}

/* Return the ticks between periodic interrupts, or 0 if there are none. */
static uint64_t pulse_ticks(const struct dev_rtc *rtc)
{
	unsigned int rate = rtc->cmos[REG_A] & A_RATE;

	if (!rate || (rtc->cmos[REG_A] & A_DIVIDER) != A_RUNS)
		return 0;
	return 1u << (rate < 3 ? rate + 6 : rate - 1);
}

static void plan_pulse(struct dev_rtc *rtc)
{
	uint64_t every = pulse_ticks(rtc);

	if (every)
		rtc->pulse = (dev_clock_ticks(rtc->now, CRYSTAL_HZ) / every + 1) * every;
}

static void set_checksum(struct dev_rtc *rtc)
{
	unsigned int sum = 0, i;

	for (i = 0x10; i < 0x2e; i++)
		sum += rtc->cmos[i];
	rtc->cmos[0x2e] = (uint8_t)(sum >> 8);
	rtc->cmos[0x2f] = (uint8_t)sum;
}

static void put16(struct dev_rtc *rtc, unsigned int at, uint64_t value)
{
	uint16_t v = value < 0xffff ? (uint16_t)value : 0xffff;

	rtc->cmos[at] = (uint8_t)v;
	rtc->cmos[at + 1] = (uint8_t)(v >> 8);
}

/* Fill the CMOS as the firmware of a PC does, for RAM with two parts (x86/mem.h). */
static void set_memory(struct dev_rtc *rtc, uint64_t mem_bytes)
{
	uint64_t low = mem_bytes < X86_MEM_HOLE ? mem_bytes : X86_MEM_HOLE;
	uint64_t high = (mem_bytes - low) >> 16;

	put16(rtc, 0x15, 640);
	put16(rtc, 0x17, low > 0x100000 ? (low - 0x100000) >> 10 : 0);
	put16(rtc, 0x30, low > 0x100000 ? (low - 0x100000) >> 10 : 0);
	put16(rtc, 0x34, low > 0x1000000 ? (low - 0x1000000) >> 16 : 0);
	put16(rtc, 0x5b, high & 0xffff);
	rtc->cmos[0x5d] = (uint8_t)(high >> 16);
}

void dev_rtc_init(struct dev_rtc *rtc, int64_t epoch, uint64_t mem_bytes)
{
	memset(rtc, 0, sizeof(*rtc));
	rtc->epoch = epoch;
	rtc->cmos[REG_A] = A_RUNS | 6;
	rtc->cmos[REG_B] = B_24H;
	rtc->cmos[REG_D] = D_VALID;
	rtc->cmos[0x14] = 0x02; /* equipment: an FPU */
	set_memory(rtc, mem_bytes);
	set_checksum(rtc);
	plan_pulse(rtc);
}

static bool alarm_at(const struct dev_rtc *rtc, int64_t time)
{
	const uint8_t *cmos = rtc->cmos;
	unsigned int of_day = (unsigned int)((time % DAY_SECONDS + DAY_SECONDS) % DAY_SECONDS);

	return (cmos[SECOND_ALARM] >= ANY || cmos[SECOND_ALARM] == encode(rtc, of_day % 60)) &&
	       (cmos[MINUTE_ALARM] >= ANY || cmos[MINUTE_ALARM] == encode(rtc, of_day / 60 % 60)) &&
	       ((cmos[HOUR_ALARM] & ANY) == ANY ||
		cmos[HOUR_ALARM] == encode_hour(rtc, of_day / 3600));
}

/* Update the flags for the seconds that began. An alarm is due at least once a day, if at all. */
static void update(struct dev_rtc *rtc)
{
	uint64_t passed = seconds(rtc), n;

	if (!runs(rtc) || passed <= rtc->seen)
		return;
	n = passed - rtc->seen < DAY_SECONDS ? passed - rtc->seen : DAY_SECONDS;
	for (; n && !(rtc->cmos[REG_C] & C_ALARM); n--)
		if (alarm_at(rtc, rtc->epoch + (int64_t)(passed - n + 1)))
			rtc->cmos[REG_C] |= C_ALARM;
	rtc->cmos[REG_C] |= C_UPDATE;
	rtc->seen = passed;
}

void dev_rtc_advance(struct dev_rtc *rtc, uint64_t now)
{
	rtc->now = now;
	update(rtc);
	if (pulse_ticks(rtc) && dev_clock_ticks(now, CRYSTAL_HZ) >= rtc->pulse) {
		rtc->cmos[REG_C] |= C_PERIODIC;
		plan_pulse(rtc);
	}
}

/* Return the time of the next interrupt. Flags that are already set cause no further interrupt. */
uint64_t dev_rtc_next(const struct dev_rtc *rtc)
{
	uint8_t wanted = rtc->cmos[REG_B] & (uint8_t)~rtc->cmos[REG_C] & C_ALL;
	uint64_t next = DEV_NEVER;

	if (dev_rtc_irq(rtc))
		return next;
	if (wanted & (C_UPDATE | C_ALARM) && runs(rtc))
		next = rtc->base + (seconds(rtc) + 1) * DEV_NS_PER_SECOND;
	if (wanted & C_PERIODIC && pulse_ticks(rtc))
		next = dev_sooner(next, dev_clock_ns(rtc->pulse, CRYSTAL_HZ));
	return next;
}

bool dev_rtc_irq(const struct dev_rtc *rtc)
{
	return rtc->cmos[REG_B] & rtc->cmos[REG_C] & C_ALL;
}

static bool is_time(unsigned int n)
{
	return n == SECOND || n == MINUTE || n == HOUR || (n >= WEEKDAY && n <= YEAR) ||
	       n == CENTURY;
}

static int64_t time_now(const struct dev_rtc *rtc)
{
	return rtc->epoch + (int64_t)seconds(rtc);
}

/*
 * Restart the clock with the time in the CMOS bytes. `since` is the time at which that second
 * began.
 */
static void restart(struct dev_rtc *rtc, uint64_t since)
{
	rtc->epoch = told(rtc);
	rtc->base = since;
	rtc->seen = seconds(rtc);
}

/* Return the time at which the current second began. */
static uint64_t this_second(const struct dev_rtc *rtc)
{
	return rtc->base + seconds(rtc) * DEV_NS_PER_SECOND;
}

static void write_control(struct dev_rtc *rtc, unsigned int n, uint8_t value)
{
	uint64_t half = dev_sooner(rtc->now, DEV_NS_PER_SECOND / 2);
	bool ran = runs(rtc);

	if (ran)
		show(rtc, time_now(rtc));
	if (n == REG_A)
		value &= (uint8_t)~A_UPDATE;
	else if (value & B_SET)
		value &= (uint8_t)~C_UPDATE;
	rtc->cmos[n] = value;
	if (n == REG_A)
		plan_pulse(rtc);
	/* After a divider reset, the first update is due after half a second. */
	if (!ran && runs(rtc))
		restart(rtc, n == REG_A ? rtc->now - half : this_second(rtc));
}

static void write_data(struct dev_rtc *rtc, uint8_t value)
{
	unsigned int n = rtc->index % DEV_RTC_BYTES;

	if (n == REG_A || n == REG_B) {
		write_control(rtc, n, value);
	} else if (is_time(n)) {
		if (runs(rtc))
			show(rtc, time_now(rtc));
		rtc->cmos[n] = value;
		if (runs(rtc))
			restart(rtc, this_second(rtc));
	} else if (n != REG_C && n != REG_D) {
		rtc->cmos[n] = value;
	}
}

static uint8_t read_data(struct dev_rtc *rtc)
{
	unsigned int n = rtc->index % DEV_RTC_BYTES;
	uint64_t into = rtc->now - this_second(rtc);
	uint8_t value;

	if (is_time(n) && runs(rtc))
		show(rtc, time_now(rtc));
	value = rtc->cmos[n];
	if (n == REG_A && runs(rtc) && into >= DEV_NS_PER_SECOND - UPDATE_NS)
		value |= A_UPDATE;
	if (n == REG_C) {
		value |= dev_rtc_irq(rtc) ? C_IRQ : 0;
		rtc->cmos[REG_C] = 0;
	}
	return value;
}

bool dev_rtc_read(struct dev_rtc *rtc, uint16_t port, uint8_t *value)
{
	if (port == PORT_DATA)
		*value = read_data(rtc);
	else if (port == PORT_INDEX)
		*value = 0xff;
	else
		return false;
	return true;
}

/* Write a port. Bit 7 of the index masks NMI, but nothing here raises an NMI. */
bool dev_rtc_write(struct dev_rtc *rtc, uint16_t port, uint8_t value)
{
	if (port == PORT_INDEX)
		rtc->index = value % DEV_RTC_BYTES;
	else if (port == PORT_DATA)
		write_data(rtc, value);
	else
		return false;
	return true;
}
