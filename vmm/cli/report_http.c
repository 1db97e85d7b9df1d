// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt report --serve: reads requests of HTTP, and refuses all that the page does not send. */
#include "cli/report_http.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* A part of a request. */
struct span {
	const char *at;
	size_t len;
};

static int refuse(struct cli_http_request *request, int status, const char *why)
{
	request->why = why;
	return status;
}

/* Take the part up to a separator, and the separator. Returns false if there is none. */
static bool take(struct span *from, const char *separator, struct span *part)
{
	const size_t len = strlen(separator);
	const char *end = memmem(from->at, from->len, separator, len);

	if (!end)
		return false;
	*part = (struct span){from->at, (size_t)(end - from->at)};
	from->len -= part->len + len;
	from->at = end + len;
	return true;
}

static bool is(struct span part, const char *text)
{
	return part.len == strlen(text) && !memcmp(part.at, text, part.len);
}

/* Skip a text. Returns false if the part does not begin with it. */
static bool skip(struct span *part, const char *text)
{
	const size_t len = strlen(text);

	if (part->len < len || memcmp(part->at, text, len))
		return false;
	part->at += len;
	part->len -= len;
	return true;
}

/* Take a number, in decimal or with 0x. Returns false if there is none, or it is too large. */
static bool take_number(struct span *part, uint64_t *n)
{
	const unsigned int base = skip(part, "0x") ? 16 : 10;
	bool any = false;

	for (*n = 0; part->len && isxdigit((unsigned char)*part->at); part->at++, part->len--) {
		const char c = *part->at;
		const unsigned int digit =
			c <= '9' ? (unsigned int)(c - '0') : ((unsigned int)c | 0x20u) - 'a' + 10;

		if (digit >= base || __builtin_mul_overflow(*n, (uint64_t)base, n) ||
		    __builtin_add_overflow(*n, (uint64_t)digit, n))
			return false;
		any = true;
	}
	return any;
}

/* Compare the token in a time that does not depend on it. */
static bool take_token(struct span *path, const char *token)
{
	unsigned int wrong = 0;
	size_t i;

	if (path->len < CLI_HTTP_TOKEN)
		return false;
	for (i = 0; i < CLI_HTTP_TOKEN; i++)
		wrong |= (unsigned int)(path->at[i] ^ token[i]);
	path->at += CLI_HTTP_TOKEN;
	path->len -= CLI_HTTP_TOKEN;
	return !wrong && skip(path, "/");
}

/* Read the path behind the token. */
static int read_query(struct span path, struct cli_http_request *r)
{
	if (!path.len) {
		r->what = CLI_HTTP_PAGE;
		return 200;
	}
	if (skip(&path, "code?at=")) {
		r->what = CLI_HTTP_CODE;
		return take_number(&path, &r->at) && !path.len
			       ? 200
			       : refuse(r, 400, "at is not an address.");
	}
	if (skip(&path, "calls?vcpu=")) {
		r->what = CLI_HTTP_CALLS;
		return take_number(&path, &r->vcpu) && skip(&path, "&from=") &&
				       take_number(&path, &r->from) && skip(&path, "&to=") &&
				       take_number(&path, &r->to) && !path.len && r->from < r->to
			       ? 200
			       : refuse(r, 400, "vcpu, from and to are not a range of a vCPU.");
	}
	return refuse(r, 404, "There is no such page.");
}

/* Check the headers up to the empty line. */
static int read_headers(const struct cli_http_server *server, struct span rest,
			struct cli_http_request *r)
{
	char by_number[32], by_name[32];
	unsigned int hosts = 0;
	struct span line, name;

	snprintf(by_number, sizeof(by_number), "127.0.0.1:%u", server->port);
	snprintf(by_name, sizeof(by_name), "localhost:%u", server->port);
	while (take(&rest, "\r\n", &line) && line.len) {
		if (!take(&line, ":", &name) || !name.len)
			return refuse(r, 400, "A header is malformed.");
		for (; line.len && (*line.at == ' ' || *line.at == '\t'); line.at++)
			line.len--;
		for (; line.len && (line.at[line.len - 1] == ' ' || line.at[line.len - 1] == '\t');)
			line.len--;
		if ((name.len == 14 && !strncasecmp(name.at, "Content-Length", 14)) ||
		    (name.len == 17 && !strncasecmp(name.at, "Transfer-Encoding", 17)))
			return refuse(r, 400, "A request has no body.");
		if (name.len != 4 || strncasecmp(name.at, "Host", 4))
			continue;
		if (hosts++ || (!is(line, by_number) && !is(line, by_name)))
			return refuse(r, 403, "The Host header is not that of this server.");
	}
	return hosts ? 200 : refuse(r, 403, "There is no Host header.");
}

int cli_http_read(const struct cli_http_server *server, const char *bytes, size_t len,
		  struct cli_http_request *r)
{
	struct span all = {bytes, len}, line, method, path;
	int status;

	*r = (struct cli_http_request){.why = NULL};
	if (!memmem(bytes, len, "\r\n\r\n", 4))
		return len < CLI_HTTP_MAX ? 0 : refuse(r, 431, "The request is too long.");
	if (!take(&all, "\r\n", &line) || !take(&line, " ", &method) || !take(&line, " ", &path) ||
	    (!is(line, "HTTP/1.1") && !is(line, "HTTP/1.0")))
		return refuse(r, 400, "The request is malformed.");
	if (!is(method, "GET"))
		return refuse(r, 405, "Only GET is supported.");
	status = read_headers(server, all, r);
	if (status != 200)
		return status;
	if (!skip(&path, "/") || !take_token(&path, server->token))
		return refuse(r, 403, "The token is wrong: use the URL that vpt printed.");
	return read_query(path, r);
}
