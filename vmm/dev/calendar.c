// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Convert Gregorian dates. Years begin with March here, so that the leap day is the last day. The
 * calendar repeats after an era of 400 years.
 */
#include "dev/rtc.h"

#define ERA_DAYS   146097
#define EPOCH_DAYS 719468 /* days from 0000-03-01 to 1970-01-01 */

struct dev_date dev_date_of(int64_t days)
{
	int64_t z = days + EPOCH_DAYS, era = (z >= 0 ? z : z - (ERA_DAYS - 1)) / ERA_DAYS;
	int64_t doe = z - era * ERA_DAYS;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / (ERA_DAYS - 1)) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t month = (5 * doy + 2) / 153;

	return (struct dev_date){
		.year = yoe + 400 * era + (month >= 10),
		.month = (unsigned int)(month < 10 ? month + 3 : month - 9),
		.day = (unsigned int)(doy - (153 * month + 2) / 5 + 1),
	};
}

int64_t dev_days_of(const struct dev_date *date)
{
	int64_t month = date->month, year = date->year - (month <= 2);
	int64_t era = (year >= 0 ? year : year - 399) / 400, yoe = year - era * 400;
	int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date->day - 1;

	return era * ERA_DAYS + 365 * yoe + yoe / 4 - yoe / 100 + doy - EPOCH_DAYS;
}
