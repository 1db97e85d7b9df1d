/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lot of trace from little code, for payloads that fill buffers. */
#ifndef GUEST_PT_NOISE_H
#define GUEST_PT_NOISE_H

#include "vpt/base.h"

/* A round is 8 indirect jumps and a conditional branch: about 25 bytes. */
#define NOISE_BYTES 24u

void noise(uint64_t rounds);

#endif /* GUEST_PT_NOISE_H */
