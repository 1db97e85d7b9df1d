/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find address spaces by CR3 alone, for a trace whose file does not describe spaces. As with
 * described spaces, a space is identified by its pointer.
 */
#ifndef VMM_DECODE_BY_CR3_H
#define VMM_DECODE_BY_CR3_H

#include "decode/item.h"
#include "trace/reader.h"

struct decode_by_cr3;

/*
 * Create the list. With @pti, two CR3s that differ only in bit 12 are one space. Linux with
 * page-table isolation runs user code on such a CR3. Returns NULL if there is no memory.
 */
struct decode_by_cr3 *decode_by_cr3_new(bool pti);
void decode_by_cr3_free(struct decode_by_cr3 *all);

/* Set the space of an item whose CR3 is known. Returns false if there is no memory. */
bool decode_by_cr3_item(struct decode_by_cr3 *all, struct decode_item *item);

#endif /* VMM_DECODE_BY_CR3_H */
