/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reference model of trace output, one byte at a time. It is written from the manual and shares
 * only the names of events and errors with src/output*.c. Tests compare the library with this
 * model.
 */
#ifndef TESTS_LIB_OUTMODEL_H
#define TESTS_LIB_OUTMODEL_H

#include <vpt/output.h>

#include "lib/guestmem.h"

struct outmodel {
	struct guestmem *mem;
	bool many;	    /* tables may hold more than one output entry */
	unsigned int width; /* MAXPHYADDR */

	enum { OUTMODEL_OFF, OUTMODEL_SINGLE, OUTMODEL_TOPA, OUTMODEL_FABRIC } scheme;
	bool dead;
	enum vpt_output_error why;

	uint64_t table;	 /* single range: its base */
	uint64_t index;	 /* index of the entry; single range: the mask */
	uint64_t offset; /* offset in the region */

	uint64_t region, size;
	bool stop, intr;
	bool told; /* the INT of this pass was reported */

	struct guestmem_journal stored; /* address of each byte written to memory */
	struct guestmem_journal fabric; /* the bytes sent to the transport */
};

void outmodel_init(struct outmodel *model, struct guestmem *mem, const struct vpt_caps *caps);
void outmodel_free(struct outmodel *model);

unsigned int outmodel_start(struct outmodel *model, const struct vpt_rtit *rtit);
unsigned int outmodel_byte(struct outmodel *model, uint8_t byte);
unsigned int outmodel_put(struct outmodel *model, const uint8_t *bytes, size_t len);
void outmodel_sync(const struct outmodel *model, struct vpt_rtit *rtit);

#endif /* TESTS_LIB_OUTMODEL_H */
