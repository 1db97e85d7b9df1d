// SPDX-License-Identifier: GPL-2.0-or-later
/* The verbs of the vpt command, in the order of its help. */
#include "cli/option.h"

const struct cli_verb *const cli_verbs[] = {
	&cli_verb_run,	    &cli_verb_record,	&cli_verb_restore,
	&cli_verb_replay,   &cli_verb_gdb,	&cli_verb_monitor,
	&cli_verb_snapshot, &cli_verb_caps,	&cli_verb_dump,
	&cli_verb_decode,   &cli_verb_top,	&cli_verb_verify,
	&cli_verb_diff,	    &cli_verb_info,	&cli_verb_import,
	&cli_verb_export,   &cli_verb_report,	&cli_verb_pack,
	&cli_verb_shard,    &cli_verb_lockstep, NULL,
};
