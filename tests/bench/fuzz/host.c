// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parser of guest/tasks/parser.c as a program of Linux. On the host it parses standard input, as
 * afl-fuzz gives it. As process 1 of a guest it parses nothing, and vpt fuzz-server writes the text.
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tasks/parser.h"

void parser_done(uint64_t result);
void parser_crashed(int sig);

__attribute__((noinline)) void parser_done(uint64_t result)
{
	if (!result)
		_exit(1);
}

__attribute__((noinline)) void parser_crashed(int sig)
{
	_exit(sig);
}

static size_t read_text(uint8_t *text, size_t room)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(STDIN_FILENO, text + len, room - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	return len;
}

int main(void)
{
	static uint8_t text[PARSER_INPUT];
	size_t len = 0;
	uint8_t *heap = mmap(NULL, (size_t)2 * PARSER_HEAP, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (heap == MAP_FAILED || mprotect(heap + PARSER_HEAP, PARSER_HEAP, PROT_NONE))
		return 1;
	if (getpid() != 1) {
		len = read_text(text, sizeof(text));
	} else {
		/* The fuzzer writes to memory that the process has touched. */
		memset(text, '#', sizeof(text));
		signal(SIGSEGV, parser_crashed);
		signal(SIGBUS, parser_crashed);
		signal(SIGFPE, parser_crashed);
	}
	parser_done(parser_parse(text, len, heap));
	return 0;
}
