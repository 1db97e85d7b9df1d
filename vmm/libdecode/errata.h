/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Errata by processor: what a trace of it can have that the manual does not allow. */
#ifndef VMM_LIBDECODE_ERRATA_H
#define VMM_LIBDECODE_ERRATA_H

#include <stdint.h>

#define DEC_ERRATUM(name, text) DEC_ERRATUM_BIT_##name,
enum dec_erratum_bit {
#include "libdecode/errata.def"
	DEC_ERRATUM_COUNT
};

#define DEC_ERRATUM(name, text) DEC_##name = 1 << DEC_ERRATUM_BIT_##name,
enum dec_errata {
#include "libdecode/errata.def"
};

/* The errata of a processor of Intel's, by display family and model; 0 if none is known. */
uint32_t dec_errata_of(unsigned int family, unsigned int model);

/* Its name, NULL behind the last. */
const char *dec_erratum_name(enum dec_erratum_bit bit);

#endif /* VMM_LIBDECODE_ERRATA_H */
