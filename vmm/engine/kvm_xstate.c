// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * KVM: convert an XSAVE area in the standard format (SDM vol. 1, 13.4) from and to a state. The
 * host's CPUID has the places of its components.
 */
#include "engine/kvm_xstate.h"

#include <cpuid.h>
#include <string.h>

#define LEAF_XSAVE  0xdu
#define MXCSR_AT    24u
#define MXCSR_VALID 0xffffu
#define XMM_AT	    160u
#define HEADER_AT   512u

enum component { X87, SSE, AVX, OPMASK = 5, ZMM_HIGH, ZMM_16, PKRU = 9 };

/* `len` bytes from byte `from` on, of each of `count` vector registers from `first` on. */
struct slice {
	enum component component;
	unsigned int first, count, from, len;
};

static const struct slice slices[] = {
	{AVX, 0, 16, 16, 16},
	{ZMM_HIGH, 0, 16, 32, 32},
	{ZMM_16, 16, 16, 0, 64},
};

/* Returns a component's place in an area of KVM_GET_XSAVE, or NULL if the host has none. */
static uint8_t *place(struct kvm_xsave *area, enum component n, size_t bytes)
{
	unsigned int size, at, ecx, edx;

	if (!__get_cpuid_count(LEAF_XSAVE, n, &size, &at, &ecx, &edx) || size < bytes ||
	    at > sizeof(area->region) || bytes > sizeof(area->region) - at)
		return NULL;
	return (uint8_t *)area->region + at;
}

static uint64_t *bitmap(struct kvm_xsave *area)
{
	return (uint64_t *)((uint8_t *)area->region + HEADER_AT);
}

/* Copy a component that is not in its initial configuration, which is zero. */
static void get(struct kvm_xsave *area, enum component n, void *to, size_t bytes)
{
	const uint8_t *from = *bitmap(area) >> n & 1 ? place(area, n, bytes) : NULL;

	if (from)
		memcpy(to, from, bytes);
}

static void get_slice(struct kvm_xsave *area, const struct slice *s, struct engine_state *to)
{
	uint8_t bytes[16 * 64] = {0};
	unsigned int i;

	get(area, s->component, bytes, (size_t)s->count * s->len);
	for (i = 0; i < s->count; i++)
		memcpy(to->zmm[s->first + i] + s->from, bytes + (size_t)i * s->len, s->len);
}

/* The initial configuration of x87 has FCW 37FH, and zero everywhere else. */
static void get_legacy(struct kvm_xsave *area, struct engine_state *to)
{
	const uint8_t *from = (const uint8_t *)area->region;
	unsigned int i;

	memcpy(&to->mxcsr, from + MXCSR_AT, sizeof(to->mxcsr));
	/* A guest on AMD's processor can set MM, which no guest's CPUID has. */
	to->mxcsr &= MXCSR_VALID;
	if (*bitmap(area) >> X87 & 1) {
		memcpy(to->x87, from, ENGINE_STATE_X87_HEAD);
		memcpy(to->x87 + ENGINE_STATE_X87_ST, from + ENGINE_STATE_X87_ST,
		       ENGINE_STATE_X87_BYTES - ENGINE_STATE_X87_ST);
	} else {
		to->x87[0] = 0x7f;
		to->x87[1] = 0x03;
	}
	for (i = 0; *bitmap(area) >> SSE & 1 && i < 16; i++)
		memcpy(to->zmm[i], from + XMM_AT + i * 16, 16);
}

int engine_kvm_save_xstate(struct engine_kvm_vcpu *v, struct engine_state *to)
{
	struct kvm_xsave area;
	struct kvm_xcrs xcrs;
	unsigned int i;

	if (ioctl(v->fd, KVM_GET_XSAVE, &area) || ioctl(v->fd, KVM_GET_XCRS, &xcrs))
		return -errno;
	to->xcr0 = xcrs.nr_xcrs ? xcrs.xcrs[0].value : 1;
	get_legacy(&area, to);
	for (i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
		get_slice(&area, &slices[i], to);
	get(&area, OPMASK, to->k, sizeof(to->k));
	get(&area, PKRU, &to->pkru, sizeof(to->pkru));
	return 0;
}

/* Put a component into an area. Returns false if it has a value and the host has no place. */
static bool put(struct kvm_xsave *area, enum component n, const void *from, size_t bytes)
{
	uint8_t *to = place(area, n, bytes);
	const uint8_t *p = from;
	uint8_t used = 0;
	size_t i;

	for (i = 0; i < bytes; i++)
		used |= p[i];
	if (!used)
		return true;
	if (!to)
		return false;
	memcpy(to, from, bytes);
	*bitmap(area) |= 1ull << n;
	return true;
}

static bool put_slice(struct kvm_xsave *area, const struct slice *s,
		      const struct engine_state *from)
{
	uint8_t bytes[16 * 64];
	unsigned int i;

	for (i = 0; i < s->count; i++)
		memcpy(bytes + (size_t)i * s->len, from->zmm[s->first + i] + s->from, s->len);
	return put(area, s->component, bytes, (size_t)s->count * s->len);
}

static void put_legacy(struct kvm_xsave *area, const struct engine_state *from)
{
	uint8_t *to = (uint8_t *)area->region;
	unsigned int i;

	memcpy(to, from->x87, ENGINE_STATE_X87_HEAD);
	memcpy(to + ENGINE_STATE_X87_ST, from->x87 + ENGINE_STATE_X87_ST,
	       ENGINE_STATE_X87_BYTES - ENGINE_STATE_X87_ST);
	memcpy(to + MXCSR_AT, &from->mxcsr, sizeof(from->mxcsr));
	for (i = 0; i < 16; i++)
		memcpy(to + XMM_AT + i * 16, from->zmm[i], 16);
	*bitmap(area) |= 1ull << X87 | 1ull << SSE;
}

int engine_kvm_load_xstate(struct engine_kvm_vcpu *v, const struct engine_state *from)
{
	const struct kvm_xcrs xcrs = {.nr_xcrs = 1, .xcrs = {{.xcr = 0, .value = from->xcr0}}};
	struct kvm_xsave area = {0};
	bool fits = true;
	unsigned int i;

	put_legacy(&area, from);
	for (i = 0; i < sizeof(slices) / sizeof(slices[0]); i++)
		fits &= put_slice(&area, &slices[i], from);
	fits &= put(&area, OPMASK, from->k, sizeof(from->k));
	fits &= put(&area, PKRU, &from->pkru, sizeof(from->pkru));
	if (!fits)
		return -ENOTSUP;
	if (ioctl(v->fd, KVM_SET_XCRS, &xcrs) || ioctl(v->fd, KVM_SET_XSAVE, &area))
		return -errno;
	return 0;
}
