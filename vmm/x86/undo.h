/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Return guest RAM to an earlier content, at the cost of the pages that were written since.
 *
 * The pages are protected against writes, and the first write to a page makes it writable. So no
 * write of the guest, of a device or of the tracer is missed. A page that was written once stays
 * writable for many returns, because most executions of the same code write the same pages.
 */
#ifndef VMM_X86_UNDO_H
#define VMM_X86_UNDO_H

#include "x86/mem.h"

/*
 * Keep the present content of @mem and begin to watch writes. This sets the process's handler of
 * SIGSEGV, so only one RAM at a time can be watched. Returns 0 or -errno; -EBUSY: another is.
 */
int x86_undo_begin(const struct x86_mem *mem);
/* End the watch and release the content. The handler of SIGSEGV is the default again. */
void x86_undo_end(void);

/*
 * Return RAM to the content at x86_undo_begin(). Calls @changed for each range of RAM that differed,
 * after it was restored; a range does not cross a page. Returns 0 or -errno.
 */
int x86_undo(void (*changed)(void *opaque, uint64_t gpa, uint64_t len), void *opaque);

/* Returns the address of a page that differs from the kept content, or UINT64_MAX. Reads all RAM. */
uint64_t x86_undo_differs(void);

/* Returns the number of pages that x86_undo() compares at present. */
uint64_t x86_undo_pages(void);

#endif /* VMM_X86_UNDO_H */
