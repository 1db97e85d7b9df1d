// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* TriggerEn of the Atom trace unit (2.1.1): a register or TraceStop changes it. */
#include "atom_gen.h"

static void report_trigger(struct vpt_atom *a)
{
	if (a->ops->trigger)
		a->ops->trigger(a->opaque, a->trigger_en);
}

/* [ATOM-PSB-ENABLE] */
void vpti_atom_start(struct vpt_atom *a)
{
	vpti_atom_time_start(a);
	vpti_atom_buffer_start(a);
	a->trigger_en = true;
	vpti_atom_update(a);
	vpti_atom_out_start(a);
	report_trigger(a);
	vpti_atom_put_psb(a);
}

void vpti_atom_end(struct vpt_atom *a)
{
	a->trigger_en = false;
	vpti_atom_update(a);
	a->time.asleep = false;
	vpti_atom_buffer_empty(a);
	vpt_output_end(&a->out);
	a->scattered = false;
	report_trigger(a);
}

/* [ATOM-STOP ATOM-WHEN-STOP ATOM-OVF-STOP ATOM-E4] */
void vpti_atom_trace_stop(struct vpt_atom *a)
{
	if (vpti_atom_overflow(a) && vpti_atom_erratum(a, VPT_ATOM_E4)) {
		(void)vpti_atom_put_stop(a, true);
		return;
	}
	a->buffer.stop_held = !vpti_atom_put_stop(a, false);
	if (a->buffer.stop_held)
		return;
	a->regs.ctl &= ~(uint32_t)VPT_ATOM_MASK(CTL, TRACE_ACTIVE);
	a->filter_en = false;
	vpti_atom_end(a);
}
