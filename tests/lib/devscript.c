// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/devscript.h"

#include <check.h>
#include <string.h>

#define TYPED_MAX 32

/* What stands around the devices. */
struct desk {
	struct dev_platform p;
	uint8_t typed[TYPED_MAX];
	unsigned int first, count;
	int printed;
	unsigned int resets[2];
};

static void serial_out(void *opaque, uint8_t byte)
{
	((struct desk *)opaque)->printed = byte;
}

static int serial_in(void *opaque)
{
	struct desk *d = opaque;

	return d->first < d->count ? d->typed[d->first++] : -1;
}

static void reset(void *opaque, enum dev_reset kind)
{
	((struct desk *)opaque)->resets[kind]++;
}

static uint64_t tsc_time(void *opaque, uint64_t tsc)
{
	(void)opaque;
	return tsc / 2 + (tsc & 1);
}

static bool is_pending(struct desk *d, uint64_t vector)
{
	return dev_platform_pending(&d->p) && dev_platform_ack(&d->p) == vector;
}

static bool takes_nmi(struct desk *d)
{
	bool there = dev_platform_nmi(&d->p);

	dev_platform_ack_nmi(&d->p);
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
	dev_platform_poll(&d->p);
	return true;
}

/* *got: what was read, for a message. */
static bool play(struct desk *d, const struct test_dev_step *s, uint64_t *got)
{
	struct dev_platform *p = &d->p;
	uint32_t value = (uint32_t)s->value;

	*got = 0;
	switch (s->op) {
	case TEST_DEV_OUT:
		return dev_platform_io(p, (uint16_t)s->at, 1, false, &value);
	case TEST_DEV_IN:
		value = 0;
		dev_platform_io(p, (uint16_t)s->at, 1, true, &value);
		*got = value;
		return value == s->value;
	case TEST_DEV_WRITE:
		return dev_platform_mmio(p, s->at, 4, true, &value);
	case TEST_DEV_READ:
		value = 0x5a5a5a5a;
		dev_platform_mmio(p, s->at, 4, false, &value);
		*got = value;
		return value == s->value;
	case TEST_DEV_WRMSR:
		return dev_platform_wrmsr(p, (uint32_t)s->at, s->value) == DEV_PLATFORM_DONE;
	case TEST_DEV_RDMSR:
		return dev_platform_rdmsr(p, (uint32_t)s->at, got) == DEV_PLATFORM_DONE &&
		       *got == s->value;
	case TEST_DEV_WRMSR_GP:
		return dev_platform_wrmsr(p, (uint32_t)s->at, s->value) == DEV_PLATFORM_GP;
	case TEST_DEV_RDMSR_GP:
		return dev_platform_rdmsr(p, (uint32_t)s->at, got) == DEV_PLATFORM_GP;
	case TEST_DEV_LINE:
		dev_platform_line(p, (unsigned int)s->at, s->value);
		return true;
	case TEST_DEV_TIME:
		dev_platform_advance(p, s->at);
		return p->now == s->at;
	case TEST_DEV_NEXT:
		*got = dev_platform_next(p);
		return *got == s->at;
	case TEST_DEV_ACK:
		return is_pending(d, s->at);
	case TEST_DEV_IDLE:
		return !dev_platform_pending(p);
	case TEST_DEV_NMI:
		return takes_nmi(d) == s->at;
	case TEST_DEV_PMI:
		dev_platform_pmi(p);
		return true;
	case TEST_DEV_CR8:
		dev_platform_set_cr8(p, (uint8_t)s->value);
		return true;
	case TEST_DEV_CR8_IS:
		*got = dev_platform_cr8(p);
		return *got == s->value;
	case TEST_DEV_TYPE:
		return type(d, (uint8_t)s->at);
	case TEST_DEV_PRINTS:
		return prints(d, (int)s->at);
	default:
		return d->resets[DEV_RESET_SYSTEM] == s->at &&
		       d->resets[DEV_RESET_INIT] == s->value;
	}
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
		.host = {serial_out, serial_in, reset, tsc_time, &d},
	};
	unsigned int i;
	uint64_t got;

	memset(&d, 0, sizeof(d));
	d.printed = -1;
	dev_platform_init(&d.p, &config);
	for (i = 0; i < script->count; i++) {
		const struct test_dev_step *s = &script->steps[i];

		ck_assert_msg(play(&d, s, &got), "%s: step %u (%d %#llx %#llx) got %#llx",
			      script->name, i, s->op, (unsigned long long)s->at,
			      (unsigned long long)s->value, (unsigned long long)got);
	}
}
