/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TIP.PGD packets without an IP, made readable for libipt.
 *
 * The manual suppresses the IP when a conditional branch leaves the filter
 * (33.4.2.5). libipt binds a TIP.PGD without IP only to far branches and MOV CR3: at
 * a Jcc it asks for a TNT bit that never was sent, and at a MOV CR3 that stayed in
 * context it ends the trace too early. With an IP, any IP, it binds the packet to the
 * next branch of whatever kind, which is what these packets mean.
 *
 * So a copy of the stream is handed to libipt in which such packets carry a payload.
 * Only a MOV CR3 that leaves the context (CR3 filter, TraceStop) needs the packet as
 * it was. Where both are possible one is tried, and the other if libipt fails there.
 */
#ifndef VMM_DECODE_FIXUP_H
#define VMM_DECODE_FIXUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vpt_fixup_pgd {
	size_t offset; /* of the packet in the original */
	bool with_ip;  /* carries a payload in the copy */
	bool flipped;  /* the other choice was tried */
};

struct vpt_fixup {
	const uint8_t *original;
	size_t original_len;
	uint8_t *bytes; /* the copy for libipt */
	size_t len;
	struct vpt_fixup_pgd *pgds;
	size_t count;
};

/*
 * Prepare a copy of `trace`, which must outlive it. `cr3_can_disable`: a session of
 * this stream used the CR3 filter or a TraceStop range. 0 or -ENOMEM.
 */
int vpt_fixup_init(struct vpt_fixup *fixup, const uint8_t *trace, size_t len, bool cr3_can_disable);
void vpt_fixup_fini(struct vpt_fixup *fixup);

/* Offset in the original of what stands at `offset` of the copy, and the reverse. */
size_t vpt_fixup_original(const struct vpt_fixup *fixup, size_t offset);
size_t vpt_fixup_copied(const struct vpt_fixup *fixup, size_t offset);

/*
 * libipt failed at `offset` of the copy: choose differently for the last packet
 * before it and make the copy anew. False if it had its second chance already, or
 * none is near. Decode again from a PSB before the packet, whose offset in the
 * original goes to *where.
 */
bool vpt_fixup_retry(struct vpt_fixup *fixup, size_t offset, size_t *where);

/*
 * Does the stream end with such a packet (and a TraceStop at most)? Then libipt
 * reports the end of the stream, not a mismatch, at a Jcc that it belongs to.
 */
bool vpt_fixup_ends_with_pgd(const struct vpt_fixup *fixup);

#endif /* VMM_DECODE_FIXUP_H */
