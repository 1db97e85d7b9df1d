/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trace bundles of LLDB: a folder with trace.json of type "intel-pt", as `trace save` writes it. */
#ifndef VMM_FOREIGN_LLDB_H
#define VMM_FOREIGN_LLDB_H

#include "foreign/foreign.h"

/* Returns true if @path is such a folder, or a file trace.json. */
bool foreign_lldb_is(const char *path);
/* Read a bundle into @t, which is all zero. Returns 0, or -errno with one line in @why. */
int foreign_lldb_read(const char *path, struct foreign_trace *t, char *why, size_t size);

#endif /* VMM_FOREIGN_LLDB_H */
