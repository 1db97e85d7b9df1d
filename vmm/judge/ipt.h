/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A decoder with libipt 2.0.5, on which only ipt.c and filter.h depend. Later versions need changes
 * there.
 *
 * The model that made the trace has none of the errata that libipt works around. A workaround makes
 * libipt accept packets that a real decoder would not accept. So this code names no processor and
 * no errata to libipt. For its time, libipt gets CPUID.15H, MTCFreq and the ratio.
 *
 * Both decoders of libipt ask for code at each instruction, which is slow and always right.
 */
#ifndef VMM_JUDGE_IPT_H
#define VMM_JUDGE_IPT_H

#include <stddef.h>

#include "vpt/caps.h"

#include "judge/decoder.h"

/* Write the name and version of the decoder, for messages. */
void judge_ipt_version(char *text, size_t size);

/*
 * Returns true if libipt reads CFE and EVD, that is, from version 2.1 on. These versions do not
 * read packet blocks and report no error for them.
 */
bool judge_ipt_reads_events(void);

struct judge_ipt_config {
	const uint8_t *begin;
	size_t len;
	const struct vpt_caps *caps;
	uint8_t mtc_freq;
	bool blocks; /* items are BLOCKs; otherwise INSNs */
	bool cut;    /* an early end of the trace is no error */
	/* Copies up to `len` bytes of the code at `ip`, and returns the number of copied bytes. */
	size_t (*fetch)(void *context, uint64_t ip, uint8_t *bytes, size_t len);
	void *context;
};

/*
 * Create a decoder of one stretch of packets, which must not move. The decoder sets neither session
 * nor cr3. Returns NULL if there is no memory.
 */
struct judge_decoder *judge_ipt_new(const struct judge_ipt_config *config);

#endif /* VMM_JUDGE_IPT_H */
