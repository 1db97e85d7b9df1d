/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The requests that vpt report --serve answers. */
#ifndef VMM_CLI_REPORT_HTTP_H
#define VMM_CLI_REPORT_HTTP_H

#include <stddef.h>
#include <stdint.h>

/* A request with all its headers must fit in. */
#define CLI_HTTP_MAX 8192u
/* The length of a token in characters. */
#define CLI_HTTP_TOKEN 32u

struct cli_http_server {
	uint16_t port;
	char token[CLI_HTTP_TOKEN + 1];
};

/* The kinds of requests. */
enum cli_http_what { CLI_HTTP_PAGE, CLI_HTTP_CODE, CLI_HTTP_CALLS };

struct cli_http_request {
	enum cli_http_what what;
	uint64_t at;	   /* CODE: the address of a function */
	uint64_t vcpu;	   /* CALLS: the vCPU */
	uint64_t from, to; /* CALLS: instructions; @from is less than @to */
	const char *why;   /* an error: one static sentence */
};

/*
 * Read a request of @len bytes. Returns 0 if it is not complete, 200 and *request, or the status of
 * an error and request->why. A request of CLI_HTTP_MAX bytes must be complete.
 */
int cli_http_read(const struct cli_http_server *server, const char *bytes, size_t len,
		  struct cli_http_request *request);

#endif /* VMM_CLI_REPORT_HTTP_H */
