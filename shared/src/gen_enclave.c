// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Enclaves (33.2.9.5) and user interrupts. */
#include "gen.h"

/*
 * [SGX-TRANSFER SGX-PRODUCTION] The context says which kind of enclave it is: of what happens in
 * a production enclave nothing is sent, since PacketEn is clear there.
 */
void vpt_gen_enclave(struct vpt_pt *pt, const struct vpt_event *event)
{
	vpt_gen_far(pt, event, true);
}

void vpt_gen_uintr(struct vpt_pt *pt, const struct vpt_event *event)
{
	/* [UINTR-DELIVER UINTR-RETURN] */
	vpt_gen_far(pt, event, event->kind == VPT_EV_UINTR);
}
