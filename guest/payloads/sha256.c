// SPDX-License-Identifier: GPL-2.0-or-later
/* SHA-256: rotations and straight code, few branches. */
#include "lib/guest.h"
#include "tasks/work.h"

PAYLOAD("SHA-256 of known messages");

void payload(void)
{
	work_payload(work_sha256, 6, "hashes");
}
