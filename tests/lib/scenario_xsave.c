// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of XSAVES, XRSTORS, PMIs, warm resets and the next PSB. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void xsaves(struct machine *m)
{
	m->xsave_stored = !vpt_xsave_is_initial(&m->pt);
	vpt_pt_xsaves(&m->pt, m->xsave, m->ip, m->ip + INSN);
	m->ip += INSN;
}

/* Restoring the initial state resets the output position, so show the pending output first. */
static void xrstors(struct machine *m, const void *state)
{
	enum vpt_fault fault;

	if (!state)
		show(m);
	fault = vpt_pt_xrstors(&m->pt, state, m->ip, m->ip + INSN);
	if (fault != VPT_FAULT_NONE) {
		show(m);
		say(m, "[gp]");
	}
	m->ip += INSN;
}

static void show_saved(struct machine *m)
{
	uint64_t ctl, status;

	memcpy(&ctl, m->xsave, 8);
	memcpy(&status, m->xsave + 24, 8);
	show(m);
	say(m, "[saved %llx %llx]", (unsigned long long)(ctl & VPT_CTL_MASK(TRACE_EN)),
	    (unsigned long long)(status & 0xff));
}

static void show_pmis(struct machine *m)
{
	show(m);
	say(m, "[pmis %u]", m->pmis);
	m->pmis = 0;
}

/* The step image=SLOT:VALUE. */
static void set_image(struct machine *m, const char *what)
{
	uint64_t slot = hex(what), value = hex(strchr(what, ':') + 1);

	ck_assert_uint_lt(slot, sizeof(m->xsave) / 8);
	memcpy(m->xsave + 8 * slot, &value, 8);
}

bool scenario_step_xsave(struct machine *m, const char *word)
{
	if (!strcmp(word, "xsaves"))
		xsaves(m);
	else if (!strcmp(word, "xrstors"))
		xrstors(m, m->xsave_stored ? m->xsave : NULL);
	else if (!strcmp(word, "xrstors-init"))
		xrstors(m, NULL);
	else if (!strcmp(word, "saved"))
		show_saved(m);
	else if (!strncmp(word, "image=", 6))
		set_image(m, word + 6);
	else if (!strncmp(word, "psbin=", 6))
		m->pt.psb_bytes = m->pt.psb_period - (uint32_t)hex(word + 6);
	else if (!strcmp(word, "pmis"))
		show_pmis(m);
	else if (!strcmp(word, "warm"))
		vpt_pt_warm_reset(&m->pt);
	else
		return false;
	return true;
}
