// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of PTWRITE, packet blocks and packets of the model. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void ptwrite(struct machine *m, uint64_t value, bool wide)
{
	const struct vpt_event event = {
		.kind = VPT_EV_PTWRITE,
		.flags = wide ? VPT_EVF_WIDE : 0,
		.value = value,
	};

	report(m, event, m->ip + INSN);
}

/* Play groups TYPE.ITEMS. An s before the type means 4-byte items. */
static void blocks(struct machine *m, const char *text, enum vpt_status status)
{
	struct vpt_block_group group[VPT_PEBS_GROUPS] = {0};
	unsigned int count = 0, id;
	char *end;

	for (; *text; text = *end ? end + 1 : end) {
		struct vpt_block_group *g = &group[count++];

		ck_assert_uint_le(count, VPT_PEBS_GROUPS);
		g->short_items = *text == 's';
		g->type = (uint8_t)strtoul(text + g->short_items, &end, 16);
		ck_assert_int_eq(*end, '.');
		g->present = (uint32_t)strtoul(end + 1, &end, 16);
		for (id = 0; id < VPT_BLOCK_ITEMS; id++)
			g->item[id] = 0x5000000000000000u | (uint64_t)g->type << 8 | id;
	}
	ck_assert_int_eq(vpt_pt_blocks(&m->pt, group, count, m->ip), status);
}

bool scenario_step_software(struct machine *m, const char *word)
{
	if (!strcmp(word, "has-pwr"))
		m->caps.l14_0_ebx |= 1 << 5;
	else if (is(word, "ptw="))
		ptwrite(m, hex(word + 4), false);
	else if (is(word, "ptwq="))
		ptwrite(m, hex(word + 5), true);
	else if (is(word, "blocks="))
		blocks(m, word + 7, VPT_OK);
	else if (is(word, "badblocks="))
		blocks(m, word + 10, VPT_E_INVAL);
	else if (is(word, "mnt="))
		vpt_pt_mnt(&m->pt, hex(word + 4));
	else
		return false;
	return true;
}
