// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads JSON without a copy and without a tree (RFC 8259). */
#include "foreign/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

static char peek(struct json *j)
{
	while (j->at < j->end && strchr(" \t\r\n", *j->at) && *j->at)
		j->at++;
	return !j->bad && j->at < j->end ? *j->at : 0;
}

static bool take(struct json *j, char c)
{
	if (peek(j) != c || !c) {
		j->bad = true;
		return false;
	}
	j->at++;
	return true;
}

bool json_open(struct json *j, char bracket)
{
	j->begun = true;
	return take(j, bracket);
}

bool json_more(struct json *j, char bracket)
{
	bool first = j->begun;

	j->begun = false;
	if (j->bad)
		return false;
	if (peek(j) == bracket) {
		j->at++;
		return false;
	}
	return first || take(j, ',');
}

/* Return the character for an escape sequence. Characters beyond ASCII become '?'. */
static char escaped(struct json *j, char c)
{
	static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
	const char *known = c ? strchr(from, c) : NULL;

	if (c == 'u') {
		j->bad |= j->end - j->at < 4;
		j->at += j->bad ? 0 : 4;
		return '?';
	}
	return known ? to[known - from] : c;
}

bool json_text(struct json *j, char *text, size_t size)
{
	size_t n = 0;

	text[0] = 0;
	if (!take(j, '"'))
		return false;
	while (!j->bad && j->at < j->end && *j->at != '"') {
		char c = *j->at++;

		if (c == '\\' && j->at < j->end) {
			c = *j->at++;
			c = escaped(j, c);
		}
		if (!c)
			j->bad = true;
		if (n + 1 < size)
			text[n++] = c;
	}
	text[n] = 0;
	return take(j, '"');
}

bool json_key(struct json *j, char *text, size_t size)
{
	return json_text(j, text, size) && take(j, ':');
}

uint64_t json_number(struct json *j)
{
	char text[32], *end;
	uint64_t value;
	size_t n = 0;

	if (peek(j) == '"') {
		json_text(j, text, sizeof(text));
	} else {
		while (n + 1 < sizeof(text) && j->at < j->end && *j->at >= '0' && *j->at <= '9')
			text[n++] = *j->at++;
		text[n] = 0;
	}
	errno = 0;
	value = strtoull(text, &end, 0);
	if (j->bad || text[0] < '0' || text[0] > '9' || *end || errno) {
		j->bad = true;
		return 0;
	}
	return value;
}

/* Skip a number or a word. */
static void skip_plain(struct json *j)
{
	const char *from = j->at;

	while (j->at < j->end && *j->at && !strchr(",]} \t\r\n", *j->at))
		j->at++;
	j->bad |= j->at == from;
}

void json_skip(struct json *j)
{
	unsigned int depth = 0;
	char text[2];

	do {
		char c = peek(j);

		if (c == '{' || c == '[') {
			j->bad |= ++depth > DEPTH_MAX;
			j->at++;
		} else if (c == '}' || c == ']') {
			j->bad |= !depth;
			depth -= depth != 0;
			j->at++;
		} else if (c == '"') {
			json_text(j, text, sizeof(text));
		} else if (depth && (c == ',' || c == ':')) {
			j->at++;
		} else {
			skip_plain(j);
		}
	} while (depth && !j->bad);
}
