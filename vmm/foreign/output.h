/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conversion of a foreign trace to a .vpt file.
 *
 * Each stream becomes a vCPU. SWITCH blocks name the process of each part, unless the kernel is
 * traced and PIPs do. A part without changes of code is a session. Its counter of instructions is
 * synthetic, and only orders versions of code. It is the number of the session, shifted by
 * FOREIGN_COUNTER.
 */
#ifndef VMM_FOREIGN_OUTPUT_H
#define VMM_FOREIGN_OUTPUT_H

#include "foreign/foreign.h"
#include "foreign/tasks.h"
#include "trace/writer.h"

#define FOREIGN_COUNTER 40

/*
 * Ids of address spaces. No processor has memory at these addresses. The first id is the kernel's.
 */
#define FOREIGN_FIRST_ID 0x000f000000000000ull

/*
 * Write all of @t, which comes from the file @source, to @writer, which stays the caller's. Returns
 * 0, -ENODATA if there is no trace, or -errno. foreign_info() fills in the INFO block for creating
 * the writer.
 */
int foreign_write(struct foreign_trace *t, const char *source, struct trace_writer *writer);
/* Write its ORIGIN block. */
int foreign_write_origin(const struct foreign_trace *t, const char *source, struct trace_writer *w);
void foreign_info(const struct foreign_trace *t, struct trace_file_info *info);

#endif /* VMM_FOREIGN_OUTPUT_H */
