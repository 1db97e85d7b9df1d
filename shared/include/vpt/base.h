/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Types and small helpers for everything under shared/.
 *
 * shared/ is embedded in a VMM, in guests, in QEMU (C), Bochs (C++) and the Linux kernel. It
 * therefore uses no libc, allocates nothing, keeps no globals and touches no floating point. From
 * its host it takes only fixed-width integers, bool, size_t and the builtins of the compiler.
 */
#ifndef VPT_BASE_H
#define VPT_BASE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "vpt supports only little-endian hosts, because trace files and packets are little-endian"
#endif

#ifdef __cplusplus
#define VPT_STATIC_ASSERT(cond, msg) static_assert(cond, msg)
/* Initializes every member of a struct to zero, in each language without a warning. */
#define VPT_ZERO \
	{        \
	}
#define VPT_BEGIN_DECLS extern "C" {
#define VPT_END_DECLS	}
#else
#define VPT_STATIC_ASSERT(cond, msg) _Static_assert(cond, msg)
#define VPT_ZERO  \
	{         \
		0 \
	}
#define VPT_BEGIN_DECLS
#define VPT_END_DECLS
#endif

#define VPT_MUST_CHECK __attribute__((warn_unused_result))
#define VPT_COLD       __attribute__((__cold__, __noinline__))
/* For functions that the compiler would not inline, and that measure faster inlined. */
#define VPT_ALWAYS_INLINE inline __attribute__((__always_inline__))
/* Keeps a function out of the hot path. It may be called often. */
#define VPT_NOINLINE	__attribute__((__noinline__))
#define vpt_likely(x)	__builtin_expect(!!(x), 1)
#define vpt_unlikely(x) __builtin_expect(!!(x), 0)

#define VPT_BIT64(n) ((uint64_t)1 << (n))
/* Bits hi..lo set, both inclusive. */
#define VPT_MASK64(hi, lo) ((~(uint64_t)0 >> (63 - (hi))) & (~(uint64_t)0 << (lo)))

#define vpt_memcpy(d, s, n) __builtin_memcpy((d), (s), (n))
#define vpt_memset(d, c, n) __builtin_memset((d), (c), (n))

/* memcpy of at most 16 bytes, in two stores and without a call. */
#define VPT_COPY_SHORT_MAX 16
static inline void vpt_copy_short(uint8_t *dst, const uint8_t *src, size_t len)
{
	if (len >= 8) {
		uint64_t head, tail;

		vpt_memcpy(&head, src, 8);
		vpt_memcpy(&tail, src + len - 8, 8);
		vpt_memcpy(dst, &head, 8);
		vpt_memcpy(dst + len - 8, &tail, 8);
	} else if (len >= 4) {
		uint32_t head, tail;

		vpt_memcpy(&head, src, 4);
		vpt_memcpy(&tail, src + len - 4, 4);
		vpt_memcpy(dst, &head, 4);
		vpt_memcpy(dst + len - 4, &tail, 4);
	} else if (len) {
		dst[0] = src[0];
		dst[len / 2] = src[len / 2];
		dst[len - 1] = src[len - 1];
	}
}

/*
 * Errors in the arguments of a caller or in its host. A fault that the guest sees (#GP, an
 * operational error, a PMI) is never one of these. It is a value, see enum vpt_fault.
 */
enum vpt_status {
	VPT_OK = 0,
	VPT_E_INVAL,	  /* an argument is outside its documented range */
	VPT_E_CAPS,	  /* a capability set contradicts itself */
	VPT_E_NOSPC,	  /* the caller's buffer is too small */
	VPT_E_EOS,	  /* the input ends before the item does */
	VPT_E_BAD_PACKET, /* no packet has this encoding */
};

/* The fault that an access raises in the guest. */
enum vpt_fault {
	VPT_FAULT_NONE = 0,
	VPT_FAULT_GP, /* #GP(0); the access had no effect */
};

#endif /* VPT_BASE_H */
