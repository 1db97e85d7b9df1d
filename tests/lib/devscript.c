// SPDX-License-Identifier: GPL-2.0-or-later
/* Play the scripts of device tests. */
#include "lib/devscript.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "lib/words.h"

#define TYPED_MAX 32
#define CPUS	  3
#define LAPIC	  0xfee00000ull
#define IOAPIC	  0xfec00000ull
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

/* The machine and the peers of its devices. */
struct desk {
	struct dev_platform p;
	unsigned int cpu; /* the processor that acts */
	const char *name; /* of the script */
	uint64_t got;	  /* the value that was read last, for a message */
	uint8_t typed[TYPED_MAX];
	unsigned int first, count;
	int printed;
	unsigned int resets[3];
};

/* A word: a target, where in the target, = ? or !, and the value. */
struct word {
	const char *name, *at;
	char op;
	bool gp;
	uint64_t value;
};

static void serial_out(void *opaque, uint8_t byte)
{
	((struct desk *)opaque)->printed = byte;
}

/* Send the waiting bytes for which the port has room. */
static void feed(struct desk *d)
{
	while (d->first < d->count && dev_serial_room(&d->p.serial))
		dev_platform_receive(&d->p, &d->typed[d->first++], 1);
}

static void reset(void *opaque, enum dev_reset kind)
{
	((struct desk *)opaque)->resets[kind]++;
}

static uint64_t tsc_time(void *opaque, unsigned int cpu, uint64_t tsc)
{
	(void)opaque;
	(void)cpu;
	return tsc / 2 + (tsc & 1);
}

static uint64_t number(const char *text, int base)
{
	char *end;
	uint64_t n = strtoull(text, &end, base);

	ck_assert_msg(isxdigit(*text) && !*end, "%s: a wrong number", text);
	return n;
}

static uint64_t hex(const char *text)
{
	return number(text, 16);
}

static unsigned int decimal(const char *text)
{
	return (unsigned int)number(text, 10);
}

/* The time of `60s+250ms-1`, in ns. */
static uint64_t ns_of(const char *text)
{
	uint64_t sum = 0, n;
	bool minus = false;
	char *end;

	for (;; text = end + 1) {
		ck_assert_msg(isdigit(*text), "%s: a wrong time", text);
		n = strtoull(text, &end, 10);
		if (!strncmp(end, "ms", 2)) {
			n *= 1000000;
			end += 2;
		} else if (*end == 's') {
			n *= 1000000000;
			end++;
		} else if (*end == 't') {
			n = (n * 1000000000 + 1193181) / 1193182;
			end++;
		} else if (*end == 'c') {
			n = (n * 1000000000 + 32767) / 32768;
			end++;
		}
		sum += minus ? -n : n;
		if (!*end)
			return sum;
		minus = *end == '-';
		ck_assert_msg(minus || *end == '+', "%s: a wrong time", text);
	}
}

static bool play_port(struct desk *d, uint64_t port, bool in, uint64_t value)
{
	uint32_t v = in ? 0 : (uint32_t)value;
	bool there;

	/* Waiting bytes arrive when the FIFO is empty and the script reads RBR or LSR. */
	if (in && (port == 0x3f8 || port == 0x3fd) && !d->p.serial.count)
		feed(d);
	there = dev_platform_io(&d->p, (uint16_t)port, 1, in, &v);

	if (!in)
		return there;
	d->got = v;
	return v == value;
}

static bool play_memory(struct desk *d, uint64_t gpa, bool in, uint64_t value)
{
	uint32_t v = in ? 0x5a5a5a5a : (uint32_t)value;
	bool there = dev_platform_mmio(&d->p, d->cpu, gpa, 4, !in, &v);

	if (!in)
		return there;
	d->got = v;
	return v == value;
}

static bool play_msr(struct desk *d, uint64_t msr, const struct word *w)
{
	enum dev_platform_msr wanted = w->gp ? DEV_PLATFORM_GP : DEV_PLATFORM_DONE;

	if (w->op == '=')
		return dev_platform_wrmsr(&d->p, d->cpu, (uint32_t)msr, w->value) == wanted;
	return dev_platform_rdmsr(&d->p, d->cpu, (uint32_t)msr, &d->got) == wanted &&
	       (w->gp || d->got == w->value);
}

/* Select a register with one port, and access the register with another. */
static bool play_selected(struct desk *d, uint16_t select, uint64_t reg, uint16_t port,
			  const struct word *w)
{
	return play_port(d, select, false, reg) && play_port(d, port, w->op == '?', w->value);
}

static bool play_ioapic(struct desk *d, uint64_t reg, const struct word *w)
{
	return play_memory(d, IOAPIC, false, reg) &&
	       play_memory(d, IOAPIC + 0x10, w->op == '?', w->value);
}

static bool play_count(struct desk *d, const struct word *w, const char *value)
{
	uint64_t port = 0x40 + decimal(w->at), n = decimal(value);
	bool in = w->op == '?';

	return play_port(d, port, in, n & 0xff) && play_port(d, port, in, n >> 8);
}

static bool play_cr8(struct desk *d, const struct word *w)
{
	if (w->op == '=') {
		dev_platform_set_cr8(&d->p, d->cpu, (uint8_t)w->value);
		return true;
	}
	d->got = dev_platform_cr8(&d->p, d->cpu);
	return d->got == w->value;
}

/* Play an access. Returns false if the device answers otherwise; *known: there is such a word. */
static bool play_access(struct desk *d, const struct word *w, const char *value, bool *known)
{
	static const char *const com1[] = {"data", "ier", "iir", "lcr", "mcr", "lsr", "modem"};
	bool in = w->op == '?', second = *w->at == '2';
	unsigned int i;

	for (i = 0; i < COUNT(com1); i++) {
		if (!strcmp(w->name, com1[i]))
			return play_port(d, 0x3f8 + i, in, w->value);
	}
	if (!strcmp(w->name, "fcr"))
		return play_port(d, 0x3fa, in, w->value);
	if (!*w->name)
		return play_port(d, hex(w->at), in, w->value);
	if (!strcmp(w->name, "@"))
		return play_memory(d, hex(w->at), in, w->value);
	if (!strcmp(w->name, "l"))
		return play_memory(d, LAPIC + hex(w->at), in, w->value);
	if (!strcmp(w->name, "msr"))
		return play_msr(d, hex(w->at), w);
	if (!strcmp(w->name, "x"))
		return play_msr(d, 0x800 + hex(w->at) / 16, w);
	if (!strcmp(w->name, "reg"))
		return play_ioapic(d, hex(w->at), w);
	if (!strcmp(w->name, "pin"))
		return play_ioapic(d, 0x10 + 2 * decimal(w->at), w);
	if (!strcmp(w->name, "pin-high"))
		return play_ioapic(d, 0x11 + 2 * decimal(w->at), w);
	if (!strcmp(w->name, "cmos"))
		return play_selected(d, 0x70, hex(w->at), 0x71, w);
	if (!strcmp(w->name, "isr"))
		return play_selected(d, second ? 0xa0 : 0x20, 0xb, second ? 0xa0 : 0x20, w);
	if (!strcmp(w->name, "irr"))
		return play_selected(d, second ? 0xa0 : 0x20, 0xa, second ? 0xa0 : 0x20, w);
	if (!strcmp(w->name, "count"))
		return play_count(d, w, value);
	if (!strcmp(w->name, "cr"))
		return play_cr8(d, w);
	*known = false;
	return false;
}

static bool is_pending(struct desk *d, uint64_t vector)
{
	return dev_platform_pending(&d->p, d->cpu) && dev_platform_ack(&d->p, d->cpu) == vector;
}

static bool takes_nmi(struct desk *d)
{
	bool there = dev_platform_nmi(&d->p, d->cpu);

	dev_platform_ack_nmi(&d->p, d->cpu);
	return there;
}

static bool prints(struct desk *d, int byte)
{
	bool same = d->printed == byte;

	d->printed = -1;
	return same;
}

static bool type(struct desk *d, uint8_t byte)
{
	if (d->count == TYPED_MAX)
		return false;
	d->typed[d->count++] = byte;
	feed(d);
	return true;
}

static bool next_is(struct desk *d, uint64_t ns)
{
	d->got = dev_platform_next(&d->p, d->cpu);
	return d->got == ns;
}

static bool line(struct desk *d, const char *at, bool rises, bool falls)
{
	if (rises)
		dev_platform_line(&d->p, decimal(at), true);
	if (falls)
		dev_platform_line(&d->p, decimal(at), false);
	return true;
}

/* Play a word that is no access; returns like play_access(). */
static bool play_event(struct desk *d, const char *name, const char *at, bool *known)
{
	uint8_t vector;

	if (!strcmp(name, "on"))
		return play_memory(d, LAPIC + 0xf0, false, 0x1ff);
	if (!strcmp(name, "eoi") && *at)
		return play_port(d, *at == '2' ? 0xa0 : 0x20, false, 0x20);
	if (!strcmp(name, "eoi"))
		return play_memory(d, LAPIC + 0xb0, false, 0);
	if (!strcmp(name, "self"))
		return play_memory(d, LAPIC + 0x300, false, 0x40000 | hex(at));
	if (!strcmp(name, "rise"))
		return line(d, at, true, false);
	if (!strcmp(name, "fall"))
		return line(d, at, false, true);
	if (!strcmp(name, "pulse"))
		return line(d, at, true, true);
	if (!strcmp(name, "pmi")) {
		dev_platform_pmi(&d->p, d->cpu);
		return true;
	}
	if (!strcmp(name, "type"))
		return type(d, (uint8_t)*at);
	if (!strcmp(name, "time")) {
		dev_platform_advance(&d->p, d->cpu, ns_of(at));
		return d->p.now == ns_of(at);
	}
	if (!strcmp(name, "next"))
		return next_is(d, ns_of(at));
	if (!strcmp(name, "never"))
		return next_is(d, UINT64_MAX);
	if (!strcmp(name, "ack"))
		return is_pending(d, hex(at));
	if (!strcmp(name, "idle"))
		return !dev_platform_pending(&d->p, d->cpu);
	if (!strcmp(name, "nmi"))
		return takes_nmi(d);
	if (!strcmp(name, "no-nmi"))
		return !takes_nmi(d);
	if (!strcmp(name, "cpu")) {
		d->cpu = decimal(at);
		return d->cpu < CPUS;
	}
	if (!strcmp(name, "init"))
		return dev_platform_take_init(&d->p, d->cpu);
	if (!strcmp(name, "no-init"))
		return !dev_platform_has_init(&d->p, d->cpu);
	if (!strcmp(name, "startup"))
		return dev_platform_take_startup(&d->p, d->cpu, &vector) && vector == hex(at);
	if (!strcmp(name, "no-startup"))
		return !dev_platform_has_startup(&d->p, d->cpu);
	if (!strcmp(name, "prints"))
		return prints(d, *at);
	if (!strcmp(name, "silent"))
		return prints(d, -1);
	if (!strcmp(name, "resets"))
		return d->resets[DEV_RESET_SYSTEM] == (unsigned int)(at[0] - '0') &&
		       d->resets[DEV_RESET_INIT] == (unsigned int)(at[2] - '0');
	if (!strcmp(name, "off"))
		return d->resets[DEV_RESET_OFF] == (unsigned int)(at[0] - '0');
	*known = false;
	return false;
}

/* Split the access at @op, where the text of the target ends. */
static struct word access_of(char *name, char *at, char *op)
{
	struct word w = {.name = name, .at = at, .op = *op};
	size_t len = strlen(op);

	w.gp = op[len - 1] == '!';
	if (w.gp)
		op[len - 1] = 0;
	*op = 0;
	if (w.op != '!' && strcmp(name, "count"))
		w.value = op[1] == '\'' ? (uint8_t)op[2] : hex(op + 1);
	return w;
}

static void play(void *opaque, char *text)
{
	struct desk *d = opaque;
	char copy[64], name[16] = "", *at = copy, *op;
	size_t letters = *text == '@' ? 1 : strspn(text, "abcdefghijklmnopqrstuvwxyz-");
	bool known = true, right;
	struct word w;

	ck_assert_uint_lt(strlen(text), sizeof(copy));
	strcpy(copy, text);
	op = copy + strcspn(copy, "=?!");
	/* Hexadecimal digits alone are a port. */
	if (!*op || strspn(copy, "0123456789abcdef") != (size_t)(op - copy)) {
		ck_assert_msg(letters < sizeof(name), "%s: unknown word", text);
		memcpy(name, text, letters);
		at += letters + (copy[letters] == ':');
	}
	d->got = 0;
	if (*op) {
		w = access_of(name, at, op);
		right = play_access(d, &w, op + 1, &known);
	} else {
		right = play_event(d, name, at, &known);
	}
	ck_assert_msg(known, "%s: %s: unknown word", d->name, text);
	ck_assert_msg(right, "%s: %s: got %#llx", d->name, text, (unsigned long long)d->got);
}

void test_dev_play(const struct test_dev_script *script)
{
	static struct desk d;
	const struct dev_platform_config config = {
		.mem_bytes = 64 << 20,
		.epoch = 1735689600,
		.apic_hz = 25000000,
		.max_phy_addr = 39,
		.x2apic = true,
		.cpus = CPUS,
		.host = {.serial_out = serial_out,
			 .reset = reset,
			 .tsc_time = tsc_time,
			 .opaque = &d},
	};

	memset(&d, 0, sizeof(d));
	d.name = script->name;
	d.printed = -1;
	dev_platform_init(&d.p, &config);
	words_play(script->words, play, &d);
}
