// SPDX-License-Identifier: GPL-2.0-or-later
/* All verbs, for a host that the VMM supports. */
#include "cli/option.h"

#define VERB(name)     &cli_verb_##name,
#define VERB_VMM(name) VERB(name)

const struct cli_verb *const cli_verbs[] = {
#include "cli/verbs.def"
	NULL,
};

const char *const cli_verbs_absent[] = {NULL};
