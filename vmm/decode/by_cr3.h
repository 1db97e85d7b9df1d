/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces of a trace whose file does not tell of any, by CR3 alone. As with
 * spaces that a file tells of, one is where its pointer is.
 */
#ifndef VMM_DECODE_BY_CR3_H
#define VMM_DECODE_BY_CR3_H

#include "decode/item.h"
#include "trace/reader.h"

struct decode_by_cr3;

/*
 * @pti: two CR3s that differ in bit 12 alone are one space. Linux with page-table isolation runs
 * user code on such a CR3. Returns NULL if there is no memory.
 */
struct decode_by_cr3 *decode_by_cr3_new(bool pti);
void decode_by_cr3_free(struct decode_by_cr3 *all);

/* Set the space of an item, where its CR3 is known. False: memory. */
bool decode_by_cr3_item(struct decode_by_cr3 *all, struct decode_item *item);

#endif /* VMM_DECODE_BY_CR3_H */
