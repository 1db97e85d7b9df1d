/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which libvpt these headers are of. The preprocessor can read every number.
 *
 * The functions have C linkage and fixed names, but the caller owns the structs, and inline
 * functions access their members. A program therefore needs the library of the headers that it
 * was compiled with: libvpt.so.<VPT_ABI>. docs/abi/promises.md has the promises.
 */
#ifndef VPT_VERSION_H
#define VPT_VERSION_H

#include "base.h"

#define VPT_VERSION_MAJOR 0
#define VPT_VERSION_MINOR 1
#define VPT_VERSION_PATCH 0

/* One number that grows with each version: 0x00MMmmpp. */
#define VPT_VERSION_NUMBER (VPT_VERSION_MAJOR << 16 | VPT_VERSION_MINOR << 8 | VPT_VERSION_PATCH)

/* "major.minor.patch" */
#define VPT_VERSION_TEXT_OF(n) #n
#define VPT_VERSION_TEXT(n)    VPT_VERSION_TEXT_OF(n)
#define VPT_VERSION_STRING                  \
	VPT_VERSION_TEXT(VPT_VERSION_MAJOR) \
	"." VPT_VERSION_TEXT(VPT_VERSION_MINOR) "." VPT_VERSION_TEXT(VPT_VERSION_PATCH)

/*
 * The number in the soname of the shared library. It grows with each version in which a
 * program that was compiled with earlier headers could misbehave.
 */
#define VPT_ABI 0

#endif /* VPT_VERSION_H */
