/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vpt_output on fake guest RAM, with the few registers that the output reads. */
#ifndef TESTS_LIB_OUTFIX_H
#define TESTS_LIB_OUTFIX_H

#include <vpt/output.h>

#include <stdlib.h>
#include <string.h>

#include "lib/guestmem.h"
#include "lib/suite.h"

/*
 * CPUID.14H.0:ECX with ToPA, single range and trace transport; MANY also has multiple ToPA entries.
 */
#define OUTFIX_ONE_ENTRY    0xdu
#define OUTFIX_MANY_ENTRIES 0xfu
#define OUTFIX_WIDTH	    39

#define OUTFIX_FABRIC_EN 0x40u
#define OUTFIX_TOPA	 0x100u

struct outfix {
	struct vpt_caps caps;
	struct guestmem mem;
	struct vpt_output out;
	struct vpt_rtit rtit;
};

static inline struct outfix *outfix_new(enum guestmem_map map, uint32_t ecx)
{
	struct outfix *fix = calloc(1, sizeof(*fix));

	ck_assert_ptr_nonnull(fix);
	fix->caps.l14_0_ecx = ecx;
	fix->caps.max_phy_addr = OUTFIX_WIDTH;
	guestmem_init(&fix->mem, map);
	memset(&fix->out, 0xee, sizeof(fix->out));
	vpt_output_init(&fix->out, &fix->caps, &fix->mem.ops, &fix->mem);
	return fix;
}

static inline void outfix_free(struct outfix *fix)
{
	ck_assert(guestmem_guards_intact(&fix->mem));
	guestmem_free(&fix->mem);
	free(fix);
}

static inline uint64_t outfix_ptrs(uint64_t offset, uint32_t low)
{
	return offset << 32 | low;
}

static inline unsigned int outfix_start(struct outfix *fix, uint64_t ctl, uint64_t base,
					uint64_t ptrs)
{
	fix->rtit.ctl = ctl | 1;
	fix->rtit.output_base = base;
	fix->rtit.output_mask_ptrs = ptrs;
	return vpt_output_start(&fix->out, &fix->rtit);
}

/* Return the byte that outfix_put() writes as number n. Equal bytes are 256 apart. */
static inline uint8_t outfix_byte(size_t n)
{
	return (uint8_t)(n * 7 + 3);
}

/* Put a packet of `len` bytes of outfix_byte(), beginning with number `n`. */
static inline unsigned int outfix_put(struct outfix *fix, size_t n, size_t len)
{
	uint8_t *bytes = malloc(len + !len);
	unsigned int events;
	size_t i;

	ck_assert_ptr_nonnull(bytes);
	for (i = 0; i < len; i++)
		bytes[i] = outfix_byte(n + i);
	events = vpt_output_put(&fix->out, bytes, len);
	free(bytes);
	return events;
}

/* Return true if the @len bytes at @gpa are outfix_byte(n) and the bytes after it. */
static inline bool outfix_holds(const struct outfix *fix, uint64_t gpa, size_t n, size_t len)
{
	uint8_t byte;

	for (; len--; gpa++, n++) {
		guestmem_peek(&fix->mem, gpa, &byte, 1);
		if (byte != outfix_byte(n))
			return false;
	}
	return true;
}

/* Check the values that the output MSRs would have if tracing stopped here. */
#define outfix_assert_cursor(fix, base, ptrs)                     \
	do {                                                      \
		struct vpt_rtit now_ = {0};                       \
		vpt_output_sync(&(fix)->out, &now_);              \
		ck_assert_uint_eq(now_.output_base, (base));      \
		ck_assert_uint_eq(now_.output_mask_ptrs, (ptrs)); \
	} while (0)

/* Check that the output stopped with this error and accepts no more bytes. */
#define outfix_assert_dead(fix, error)                                          \
	do {                                                                    \
		struct vpt_rtit was_ = {0}, is_ = {0};                          \
		ck_assert_int_eq((fix)->out.why, (error));                      \
		ck_assert((fix)->out.stopped);                                  \
		vpt_output_sync(&(fix)->out, &was_);                            \
		ck_assert_uint_eq(outfix_put((fix), 0, 16), VPT_OUT_OK);        \
		vpt_output_sync(&(fix)->out, &is_);                             \
		ck_assert_uint_eq(was_.output_base, is_.output_base);           \
		ck_assert_uint_eq(was_.output_mask_ptrs, is_.output_mask_ptrs); \
	} while (0)

/* Check that a call reported an error, that the output stopped, and the MSRs' values. */
#define outfix_assert_error(fix, events, error, base, ptrs) \
	do {                                                \
		ck_assert_uint_eq(events, VPT_OUT_ERROR);   \
		outfix_assert_cursor(fix, base, ptrs);      \
		outfix_assert_dead(fix, error);             \
	} while (0)

#endif /* TESTS_LIB_OUTFIX_H */
