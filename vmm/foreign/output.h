/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A foreign trace as a .vpt file.
 *
 * Each stream is a vCPU. SWITCH blocks say which process it has from where on, unless the kernel
 * is traced and PIPs tell. A stretch in which no code changes is a session. Its counter of
 * instructions is made up, so that versions of code are in order: it is the number of the session,
 * shifted by FOREIGN_COUNTER.
 */
#ifndef VMM_FOREIGN_OUTPUT_H
#define VMM_FOREIGN_OUTPUT_H

#include "foreign/foreign.h"
#include "foreign/tasks.h"
#include "trace/writer.h"

#define FOREIGN_COUNTER 40

/* Ids of address spaces: no processor has memory there. The first one is the kernel's. */
#define FOREIGN_FIRST_ID 0x000f000000000000ull

/*
 * Write all of @t, which is from the file @source, to @writer, which stays the caller's. Returns 0, -ENODATA: there is no trace, or
 * -errno. foreign_info() fills in what the writer is begun with.
 */
int foreign_write(struct foreign_trace *t, const char *source, struct trace_writer *writer);
/* The ORIGIN block of it. */
int foreign_write_origin(const struct foreign_trace *t, const char *source, struct trace_writer *w);
void foreign_info(const struct foreign_trace *t, struct trace_file_info *info);

#endif /* VMM_FOREIGN_OUTPUT_H */
