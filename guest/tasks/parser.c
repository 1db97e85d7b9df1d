// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse a small language, with three bugs on purpose (tasks/parser.h). */
#include "tasks/parser.h"

#define DEPTH 16
#define TABLE 64

struct parser {
	const uint8_t *at, *end;
	uint8_t *heap;
	size_t used;
	int64_t value[26];
	unsigned int depth;
	bool wrong;
};

static int64_t table[TABLE];

static int64_t sum(struct parser *p);

/* A number that no text is near to, such as zlib computes it, one bit at a time. */
static uint32_t checksum(const uint8_t *text, size_t len)
{
	uint32_t crc = ~0u;
	unsigned int bit;
	size_t i;

	for (i = 0; i < len; i++) {
		crc ^= text[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
	}
	return ~crc;
}

static int next(const struct parser *p)
{
	return p->at < p->end ? *p->at : -1;
}

static bool accept(struct parser *p, int c)
{
	if (next(p) != c)
		return false;
	p->at++;
	return true;
}

static void blanks(struct parser *p)
{
	while (next(p) == ' ' || next(p) == '\t')
		p->at++;
}

static int64_t number(struct parser *p)
{
	uint64_t n = 0;

	if (next(p) < '0' || next(p) > '9')
		p->wrong = true;
	while (next(p) >= '0' && next(p) <= '9')
		n = 10 * n + (uint64_t)(*p->at++ - '0');
	return (int64_t)n;
}

/* Bug: the index has no bound. */
static int64_t element(struct parser *p)
{
	const int64_t index = sum(p);

	if (!accept(p, '@')) {
		p->wrong = true;
		return 0;
	}
	return table[index];
}

static int64_t factor(struct parser *p)
{
	int64_t n = 0;

	blanks(p);
	if (p->wrong || ++p->depth > DEPTH) {
		p->wrong = true;
		return 0;
	}
	if (accept(p, '(')) {
		n = sum(p);
		p->wrong |= !accept(p, ')');
	} else if (accept(p, '@')) {
		n = element(p);
	} else if (next(p) >= 'a' && next(p) <= 'z') {
		n = p->value[*p->at++ - 'a'];
	} else {
		n = number(p);
	}
	p->depth--;
	blanks(p);
	return n;
}

/* Bug: the divisor may be 0. */
static int64_t product(struct parser *p)
{
	uint64_t n = (uint64_t)factor(p);

	for (;;) {
		if (accept(p, '*'))
			n *= (uint64_t)factor(p);
		else if (accept(p, '/') && !p->wrong)
			n = (uint64_t)n / (uint64_t)factor(p);
		else
			return (int64_t)n;
	}
}

static int64_t sum(struct parser *p)
{
	uint64_t n = (uint64_t)product(p);

	while (!p->wrong) {
		if (accept(p, '+'))
			n += (uint64_t)product(p);
		else if (accept(p, '-'))
			n -= (uint64_t)product(p);
		else
			break;
	}
	return (int64_t)n;
}

/* Bug: the room for one copy is checked, and not that for all of them. */
static void string(struct parser *p, uint64_t times)
{
	const uint8_t *from = p->at;
	size_t len = 0, i;

	while (next(p) != '"' && next(p) != -1)
		p->at++;
	len = (size_t)(p->at - from);
	if (!accept(p, '"') || p->used + len > PARSER_HEAP) {
		p->wrong = true;
		return;
	}
	for (; times && len; times--)
		for (i = 0; i < len; i++)
			p->heap[p->used++] = from[i];
}

static void statement(struct parser *p)
{
	uint64_t times = 1;

	blanks(p);
	if (accept(p, '#')) {
		while (next(p) != '\n' && next(p) != -1)
			p->at++;
		return;
	}
	if (accept(p, '*'))
		times = (uint64_t)number(p);
	if (accept(p, '"')) {
		string(p, times);
	} else if (next(p) >= 'a' && next(p) <= 'z') {
		const int name = *p->at++ - 'a';

		blanks(p);
		p->wrong |= !accept(p, '=');
		if (!p->wrong)
			p->value[name] = sum(p);
	}
	blanks(p);
}

uint64_t parser_parse(const uint8_t *text, size_t len, uint8_t *heap)
{
	struct parser p = {.at = text, .end = text + len, .heap = heap};
	uint64_t result = checksum(text, len);
	unsigned int i;

	for (i = 0; i < TABLE; i++)
		table[i] = i * i;
	while (p.at < p.end && !p.wrong) {
		statement(&p);
		if (p.at < p.end && !accept(&p, ';') && !accept(&p, '\n'))
			p.wrong = true;
	}
	for (i = 0; i < 26; i++)
		result = 31 * result + (uint64_t)p.value[i];
	return result + p.used + p.wrong;
}
