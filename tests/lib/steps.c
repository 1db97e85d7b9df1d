// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/steps.h"

#include <stdio.h>

#include "lib/suite.h"
#include "lib/synth.h"
#include "oracle/expect.h"

void steps_write(struct vpt_reader *r, char *text, size_t size)
{
	struct vpt_expect e;
	struct vpt_step s;
	size_t at = 0;

	vpt_expect_init(&e, r, 0);
	*text = 0;
	do {
		unsigned long ip = s.ip - SYNTH_CODE, to;
		const char *gap = at ? " " : "";

		vpt_expect_next(&e, &s);
		ip = s.ip - SYNTH_CODE;
		to = s.to - SYNTH_CODE;
		ck_assert_uint_lt(at, size - 100);
		switch (s.kind) {
		case VPT_STEP_END:
			break;
		case VPT_STEP_INSN:
			at += sprintf(text + at, "%s%lx", gap, ip);
			break;
		case VPT_STEP_ENABLED:
			at += sprintf(text + at, "%sE%lx", gap, ip);
			break;
		case VPT_STEP_DISABLED:
			at += sprintf(text + at, "%sD", gap);
			break;
		case VPT_STEP_ASYNC:
			at += sprintf(text + at, "%s%lx>%lx", gap, ip, to);
			break;
		case VPT_STEP_ASYNC_OFF:
			at += sprintf(text + at, "%sA%lx", gap, ip);
			break;
		case VPT_STEP_STOP:
			at += sprintf(text + at, "%sT", gap);
			break;
		case VPT_STEP_HELD:
			at += sprintf(text + at, "%sH", gap);
			break;
		case VPT_STEP_WRONG:
			at += sprintf(text + at, "%s!%s", gap, s.text);
			break;
		}
	} while (s.kind != VPT_STEP_END && s.kind != VPT_STEP_WRONG);
	/* It stays like that. */
	vpt_expect_next(&e, &s);
	ck_assert(s.kind == VPT_STEP_END || s.kind == VPT_STEP_WRONG);
}
