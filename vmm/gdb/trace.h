/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gdb's remote protocol for a trace. RIP is the only register, and memory is the code that ran. Each
 * vCPU is a thread with a position of its own, the number of its next instruction. The client steps
 * and continues forwards and backwards, and gets the branches of the last million instructions for
 * its commands of "record btrace".
 */
#ifndef VMM_GDB_TRACE_H
#define VMM_GDB_TRACE_H

#include "gdb/session.h"
#include "trace/reader.h"

/*
 * Serve the client of a session that has not begun, until it leaves. Returns 0 or -errno. The session
 * can only be destroyed afterwards.
 */
int gdb_trace_serve(struct gdb_session *session, struct trace_reader *reader);

#endif /* VMM_GDB_TRACE_H */
