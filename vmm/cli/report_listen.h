/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server of vpt report --serve: sockets, and one answer for each connection. */
#ifndef VMM_CLI_REPORT_LISTEN_H
#define VMM_CLI_REPORT_LISTEN_H

#include "cli/report_http.h"

/* The answer to a request. The server frees @body. */
struct cli_http_answer {
	int status;
	const char *type; /* the media type */
	char *body;
	size_t len;
};

struct cli_http_handler {
	/* Answer a request that cli_http_read() has accepted. */
	struct cli_http_answer (*answer)(void *context, const struct cli_http_request *request);
	void *context;
};

/*
 * Listen at a port of 127.0.0.1 (0: any that is free), and make a token. Call this before the
 * sandbox. Returns the listener or -errno.
 */
int cli_http_listen(uint16_t port, struct cli_http_server *server);

/* Serve until SIGINT or SIGTERM. Returns 0 or -errno. */
int cli_http_serve(int listener, const struct cli_http_server *server,
		   const struct cli_http_handler *handler);

#endif /* VMM_CLI_REPORT_LISTEN_H */
