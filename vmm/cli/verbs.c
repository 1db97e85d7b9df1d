// SPDX-License-Identifier: GPL-2.0-or-later
/* The verbs of the vpt command, in the order of its help. */
#include "cli/option.h"

const struct vpt_verb *const vpt_verbs[] = {
	&vpt_verb_run,	    &vpt_verb_record,
	&vpt_verb_restore,  &vpt_verb_snapshot,
	&vpt_verb_caps,	    &vpt_verb_dump,
	&vpt_verb_decode,   &vpt_verb_verify,
	&vpt_verb_info,	    &vpt_verb_import,
	&vpt_verb_export,   &vpt_verb_pack,
	&vpt_verb_lockstep, NULL,
};
