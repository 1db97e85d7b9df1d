// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Enclaves (33.2.9.5) and user interrupts. */
#include "gen_kinds.h"

/*
 * [SGX-TRANSFER SGX-PRODUCTION] The context has the kind of the enclave. Inside a production
 * enclave PacketEn is clear, so nothing is sent.
 */
void vpti_gen_enclave(struct vpt_pt *pt, const struct vpt_event *event)
{
	vpti_gen_far(pt, event, true);
}

void vpti_gen_uintr(struct vpt_pt *pt, const struct vpt_event *event)
{
	/* [UINTR-DELIVER UINTR-RETURN] */
	vpti_gen_far(pt, event, event->kind == VPT_EV_UINTR);
}
