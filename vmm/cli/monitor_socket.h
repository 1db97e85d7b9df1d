/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The socket of a monitor: lines in, lines out, for one client at a time. Another client waits until
 * the first has gone. No function waits.
 */
#ifndef VMM_CLI_MONITOR_SOCKET_H
#define VMM_CLI_MONITOR_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_monitor_socket {
	int listener, client; /* -1 if there is none */
	const char *path;     /* the socket's name, which close() removes */
	uint64_t looked;      /* ns of the last look for input */
	size_t used, taken;   /* bytes in @bytes, and of these the line that was taken */
	char bytes[1 << 16];
};

/* Listen at @path, which only its owner can open. Returns 0 or -errno. @path must stay. */
int cli_monitor_listen(struct cli_monitor_socket *s, const char *path);
/* Remove the socket. A zeroed struct, or one that was closed, is permitted. */
void cli_monitor_close(struct cli_monitor_socket *s);

/* Returns the descriptor at which input can come next, or -1. */
int cli_monitor_fd(const struct cli_monitor_socket *s);
/* Returns true if there is input. Looks at the socket once per millisecond at most. */
bool cli_monitor_has_input(struct cli_monitor_socket *s);
/*
 * Take the next line. It has no line feed, and is valid until the next call. Returns NULL if there
 * is none. A client whose line does not fit is answered and sent away.
 */
const char *cli_monitor_line(struct cli_monitor_socket *s);
/* Send a line to the client. A client that does not read loses its connection. */
void cli_monitor_answer(struct cli_monitor_socket *s, const char *text);

#endif /* VMM_CLI_MONITOR_SOCKET_H */
