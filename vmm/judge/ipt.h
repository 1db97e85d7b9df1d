/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libipt 2.0.5, which only ipt.c and filter.h know. Later versions need changes there.
 *
 * The model that made the trace has none of the errata that libipt works around. A workaround makes
 * libipt accept packets that a real decoder would not accept. libipt is therefore given no
 * processor and no errata. CPUID.15H, MTCFreq and the ratio are for its time.
 *
 * Both decoders of libipt ask for code at each instruction, which is slow and always right.
 */
#ifndef VMM_JUDGE_IPT_H
#define VMM_JUDGE_IPT_H

#include <stddef.h>

#include "vpt/caps.h"

#include "judge/decoder.h"

/* Name and version of the decoder, for messages. */
void judge_ipt_version(char *text, size_t size);

/*
 * Does it read CFE and EVD, that is, is it 2.1 or later? It then says nothing of packet
 * blocks, which it does not read either.
 */
bool judge_ipt_reads_events(void);

struct judge_ipt_config {
	const uint8_t *begin;
	size_t len;
	const struct vpt_caps *caps;
	uint8_t mtc_freq;
	bool blocks; /* items are BLOCKs, else INSNs */
	bool cut;    /* that it ends too early is no error */
	/* Copies up to `len` bytes of code at `ip`, as many as there are. */
	size_t (*fetch)(void *context, uint64_t ip, uint8_t *bytes, size_t len);
	void *context;
};

/*
 * A decoder of one stretch of packets, which must stay where it is. NULL: memory. It fills
 * in neither session nor cr3.
 */
struct judge_decoder *judge_ipt_new(const struct judge_ipt_config *config);

#endif /* VMM_JUDGE_IPT_H */
