// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports a payload's result and ends the run. */
#include "report.h"

#include "guest.h"
#include "printk.h"

static unsigned int passed, failed, skipped;

static void line(const char *verdict, const char *fmt, va_list args)
{
	printk("%s: ", verdict);
	vprintk(fmt, args);
	printk("\n");
}

bool report(bool pass, const char *fmt, ...)
{
	va_list args;

	if (pass)
		passed++;
	else
		failed++;
	va_start(args, fmt);
	line(pass ? "PASS" : "FAIL", fmt, args);
	va_end(args);
	return pass;
}

bool report_equal(uint64_t got, uint64_t want, const char *what)
{
	if (got == want)
		return report(true, "%s", what);
	return report(false, "%s: got %#lx, want %#lx", what, got, want);
}

void report_skip(const char *fmt, ...)
{
	va_list args;

	skipped++;
	va_start(args, fmt);
	line("SKIP", fmt, args);
	va_end(args);
}

void report_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line("NOTE", fmt, args);
	va_end(args);
}

uint32_t report_summary(void)
{
	printk("SUMMARY: %s: %u passed, %u failed, %u skipped\n", payload_name, passed, failed,
	       skipped);
	if (failed || !(passed + skipped))
		return REPORT_FAIL;
	return skipped ? REPORT_SKIP : REPORT_PASS;
}
