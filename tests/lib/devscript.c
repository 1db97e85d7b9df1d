// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/devscript.h"

#include <check.h>
#include <string.h>

#define TYPED_MAX 32

/* What stands around the devices. */
struct desk {
	struct vpt_platform p;
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

static void reset(void *opaque, enum vpt_reset kind)
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
	return vpt_platform_pending(&d->p) && vpt_platform_ack(&d->p) == vector;
}

static bool takes_nmi(struct desk *d)
{
	bool there = vpt_platform_nmi(&d->p);

	vpt_platform_ack_nmi(&d->p);
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
	vpt_platform_poll(&d->p);
	return true;
}

/* *got: what was read, for a message. */
static bool play(struct desk *d, const struct vpt_dev_step *s, uint64_t *got)
{
	struct vpt_platform *p = &d->p;
	uint32_t value = (uint32_t)s->value;

	*got = 0;
	switch (s->op) {
	case VPT_DEV_OUT:
		return vpt_platform_io(p, (uint16_t)s->at, 1, false, &value);
	case VPT_DEV_IN:
		value = 0;
		vpt_platform_io(p, (uint16_t)s->at, 1, true, &value);
		*got = value;
		return value == s->value;
	case VPT_DEV_WRITE:
		return vpt_platform_mmio(p, s->at, 4, true, &value);
	case VPT_DEV_READ:
		value = 0x5a5a5a5a;
		vpt_platform_mmio(p, s->at, 4, false, &value);
		*got = value;
		return value == s->value;
	case VPT_DEV_WRMSR:
		return vpt_platform_wrmsr(p, (uint32_t)s->at, s->value) == VPT_PLATFORM_DONE;
	case VPT_DEV_RDMSR:
		return vpt_platform_rdmsr(p, (uint32_t)s->at, got) == VPT_PLATFORM_DONE &&
		       *got == s->value;
	case VPT_DEV_WRMSR_GP:
		return vpt_platform_wrmsr(p, (uint32_t)s->at, s->value) == VPT_PLATFORM_GP;
	case VPT_DEV_RDMSR_GP:
		return vpt_platform_rdmsr(p, (uint32_t)s->at, got) == VPT_PLATFORM_GP;
	case VPT_DEV_LINE:
		vpt_platform_line(p, (unsigned int)s->at, s->value);
		return true;
	case VPT_DEV_TIME:
		vpt_platform_advance(p, s->at);
		return p->now == s->at;
	case VPT_DEV_NEXT:
		*got = vpt_platform_next(p);
		return *got == s->at;
	case VPT_DEV_ACK:
		return is_pending(d, s->at);
	case VPT_DEV_IDLE:
		return !vpt_platform_pending(p);
	case VPT_DEV_NMI:
		return takes_nmi(d) == s->at;
	case VPT_DEV_PMI:
		vpt_platform_pmi(p);
		return true;
	case VPT_DEV_CR8:
		vpt_platform_set_cr8(p, (uint8_t)s->value);
		return true;
	case VPT_DEV_CR8_IS:
		*got = vpt_platform_cr8(p);
		return *got == s->value;
	case VPT_DEV_TYPE:
		return type(d, (uint8_t)s->at);
	case VPT_DEV_PRINTS:
		return prints(d, (int)s->at);
	default:
		return d->resets[VPT_RESET_SYSTEM] == s->at &&
		       d->resets[VPT_RESET_INIT] == s->value;
	}
}

void vpt_dev_play(const struct vpt_dev_script *script)
{
	static struct desk d;
	const struct vpt_platform_config config = {
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
	vpt_platform_init(&d.p, &config);
	for (i = 0; i < script->count; i++) {
		const struct vpt_dev_step *s = &script->steps[i];

		ck_assert_msg(play(&d, s, &got), "%s: step %u (%d %#llx %#llx) got %#llx",
			      script->name, i, s->op, (unsigned long long)s->at,
			      (unsigned long long)s->value, (unsigned long long)got);
	}
}
