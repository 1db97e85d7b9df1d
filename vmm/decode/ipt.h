/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libipt (2.0.5; later ones but for what ipt.c and filter.h say), behind the only files
 * that know it.
 *
 * The model that made the trace has none of the errata libipt works around, and
 * a workaround makes libipt accept what a real decoder would not. So it is told
 * no processor and no errata; CPUID.15H, MTCFreq and the ratio are for its time.
 *
 * Its instruction decoder asks for code as it goes. Its block decoder, to be fast, reads
 * it from files: an immutable one that holds all pages is given once, and an image is a
 * choice of its pages as one address space sees them.
 */
#ifndef VMM_DECODE_IPT_H
#define VMM_DECODE_IPT_H

#include <stddef.h>

#include "vpt/caps.h"

#include "decoder.h"

struct vpt_ipt_code;
struct vpt_ipt_image;

/* Name and version of the decoder, for messages. */
void vpt_ipt_version(char *text, size_t size);

/*
 * Does it read CFE and EVD, that is, is it 2.1 or later? It then says nothing of packet
 * blocks, which it does not read either.
 */
bool vpt_ipt_reads_events(void);

/* `fd` stays the caller's and is open for as long as anything below. NULL: memory. */
struct vpt_ipt_code *vpt_ipt_code_new(int fd);
void vpt_ipt_code_free(struct vpt_ipt_code *code);

struct vpt_ipt_image *vpt_ipt_image_new(struct vpt_ipt_code *code);
void vpt_ipt_image_free(struct vpt_ipt_image *image);
/* From now on `bytes` bytes at `file_offset` are at `vaddr`. 0 or -errno. */
int vpt_ipt_image_add(struct vpt_ipt_image *image, uint64_t file_offset, uint64_t bytes,
		      uint64_t vaddr);

struct vpt_ipt_config {
	const uint8_t *begin;
	size_t len;
	const struct vpt_caps *caps;
	uint8_t mtc_freq;
	bool blocks; /* items are BLOCKs, else INSNs */
	bool cut;    /* that it ends too early is no error */
	/*
	 * Copies up to `len` bytes of code at `ip`, as many as there are. Called for INSNs, and
	 * for BLOCKs where no image was set.
	 */
	size_t (*fetch)(void *context, uint64_t ip, uint8_t *bytes, size_t len);
	void *context;
};

/*
 * A decoder of one stretch of packets, which must stay where it is. NULL: memory. It fills
 * in neither session nor cr3.
 */
struct vpt_decoder *vpt_ipt_new(const struct vpt_ipt_config *config);

/* BLOCKs: read code from `image` from now on; NULL: by fetch(). */
void vpt_ipt_set_image(struct vpt_decoder *d, struct vpt_ipt_image *image);

#endif /* VMM_DECODE_IPT_H */
