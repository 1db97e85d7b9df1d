/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for gdb. */
#ifndef VMM_CLI_GDB_LISTEN_H
#define VMM_CLI_GDB_LISTEN_H

struct gdb_session;

/*
 * Listen at @where, tell the user, and wait for one client. @where is a port of 127.0.0.1 (0: any
 * that is free), or the path of a UNIX socket, which contains a "/". Call this before the sandbox.
 * Returns an exit status, and the session in *session.
 */
int cli_gdb_listen(const char *verb, const char *where, struct gdb_session **session);

#endif /* VMM_CLI_GDB_LISTEN_H */
