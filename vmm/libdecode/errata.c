// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Look up the errata of a processor. */
#include "libdecode/errata.h"

#include <stddef.h>

static const struct {
	uint16_t family, model;
	uint32_t errata;
} processors[] = {
#define E(name)				     ((uint32_t)DEC_##name)
#define DEC_PROCESSOR(family, model, errata) {family, model, errata},
#include "libdecode/errata.def"
#undef E
};

static const char *const names[] = {
#define DEC_ERRATUM(name, text) #name,
#include "libdecode/errata.def"
};

uint32_t dec_errata_of(unsigned int family, unsigned int model)
{
	size_t i;

	for (i = 0; i < sizeof(processors) / sizeof(*processors); i++) {
		if (processors[i].family == family && processors[i].model == model)
			return processors[i].errata;
	}
	return 0;
}

const char *dec_erratum_name(enum dec_erratum_bit bit)
{
	return bit < DEC_ERRATUM_COUNT ? names[bit] : NULL;
}
