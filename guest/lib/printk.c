// SPDX-License-Identifier: GPL-2.0-or-later
/* Formatted output to the console. */
#include "printk.h"

#include "bare.h"
#include "cpu.h"
#include "guest.h"

static void put(char c)
{
	if (boot && (boot->flags & VPT_BOOT_BARE))
		bare_console_put(c);
	else
		outb(VPT_PORT_CONSOLE, (uint8_t)c);
}

static void put_string(const char *s)
{
	while (*s)
		put(*s++);
}

static void put_number(uint64_t value, unsigned int base, unsigned int width)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (width-- > n)
		put('0');
	while (n)
		put(digits[--n]);
}

/* Print one conversion. `fmt` is past the `%`. Returns the rest of the format. */
static const char *convert(const char *fmt, va_list *args)
{
	bool prefix = false, wide = false;
	unsigned int width = 0;
	uint64_t value;

	for (;; fmt++) {
		if (*fmt == '#')
			prefix = true;
		else if (*fmt == 'l' || *fmt == 'z')
			wide = true;
		else if (*fmt >= '0' && *fmt <= '9')
			width = 10 * width + (unsigned int)(*fmt - '0');
		else
			break;
	}
	switch (*fmt) {
	case 's':
		put_string(va_arg(*args, const char *));
		return fmt + 1;
	case 'c':
		put((char)va_arg(*args, int));
		return fmt + 1;
	case 'd': {
		int64_t n = wide ? va_arg(*args, int64_t) : va_arg(*args, int);

		if (n < 0)
			put('-');
		put_number(n < 0 ? 0 - (uint64_t)n : (uint64_t)n, 10, width);
		return fmt + 1;
	}
	case 'p':
		prefix = wide = true;
		break;
	case 'u':
	case 'x':
		break;
	default:
		put('%');
		return *fmt ? fmt + 1 : fmt;
	}
	value = wide ? va_arg(*args, uint64_t) : va_arg(*args, unsigned int);
	if (prefix)
		put_string("0x");
	put_number(value, *fmt == 'u' ? 10 : 16, width);
	return fmt + 1;
}

void vprintk(const char *fmt, va_list args)
{
	va_list rest;

	va_copy(rest, args);
	while (*fmt) {
		if (*fmt == '%')
			fmt = convert(fmt + 1, &rest);
		else
			put(*fmt++);
	}
	va_end(rest);
}

void printk(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vprintk(fmt, args);
	va_end(args);
}
