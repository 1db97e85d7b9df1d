// SPDX-License-Identifier: GPL-2.0-or-later
/* The verbs for a host without the VMM: replaces verbs.c. */
#include "cli/option.h"

#define VERB(name) &cli_verb_##name,
#define VERB_VMM(name)

const struct cli_verb *const cli_verbs[] = {
#include "cli/verbs.def"
	NULL,
};

#undef VERB
#undef VERB_VMM
#define VERB(name)
#define VERB_VMM(name) #name,

const char *const cli_verbs_absent[] = {
#include "cli/verbs.def"
	NULL,
};
