/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* List errata by processor: properties of its traces that the manual does not allow. */
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

/* Returns the errata of an Intel processor by display family and model, or 0 if none is known. */
uint32_t dec_errata_of(unsigned int family, unsigned int model);

/* Returns the name of the erratum, or NULL after the last one. */
const char *dec_erratum_name(enum dec_erratum_bit bit);

#endif /* VMM_LIBDECODE_ERRATA_H */
