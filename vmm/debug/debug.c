// SPDX-License-Identifier: GPL-2.0-or-later
/* The parent's side: starts the child, waits for it, and checks its output. */
#include "debug/debug.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debug/child.h"
#include "trace/vec.h"

/* Run the child. Returns the status that waitpid() gives, or -ENOMEM. */
static int run_child(const void *elf, size_t len, unsigned int what, int fd, int *status)
{
	pid_t pid = fork();

	if (pid < 0)
		return -ENOMEM;
	if (!pid)
		debug_run_child(elf, len, what, fd);
	while (waitpid(pid, status, 0) < 0) {
		if (errno != EINTR)
			return -ENOMEM;
	}
	return 0;
}

/* Return the problem that a child's exit status reports; NULL if there is none. */
static const char *problem_of(int status)
{
	if (!WIFEXITED(status))
		return WTERMSIG(status) == SIGXCPU
			       ? "its symbols or line tables take too long to read"
			       : "reading it made the library crash";
	switch (WEXITSTATUS(status)) {
	case DEBUG_CHILD_OK:
		return NULL;
	case DEBUG_CHILD_NO_ELF:
		return "it is no ELF file, or a damaged one";
	case DEBUG_CHILD_LIMIT:
		return "reading it takes more memory than a file of its size should: strip it";
	case DEBUG_CHILD_INFLATES:
		return "its debug information takes more memory than a file of its size "
		       "should: decompress it";
	default:
		return "its symbols or line tables are damaged";
	}
}

static char *read_all(int fd, size_t *len)
{
	off_t end = lseek(fd, 0, SEEK_END);
	size_t done = 0;
	char *bytes;

	if (end < 0)
		return NULL;
	*len = (size_t)end;
	bytes = malloc(*len + 1);
	while (bytes && done < *len) {
		ssize_t n = pread(fd, bytes + done, *len - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			free(bytes);
			return NULL;
		}
		done += (size_t)n;
	}
	return bytes;
}

struct taken {
	struct {
		struct debug_elf_symbol *at;
		size_t n, room;
	} symbols;
	struct {
		struct debug_line *at;
		size_t n, room;
	} lines;
	const char *file;
};

/* Returns false if there is no memory. */
static bool take_record(struct taken *t, const struct debug_record *r, const char *text)
{
	switch (r->kind) {
	case DEBUG_RECORD_SYMBOL:
		if (!text || !*text)
			return true;
		if (!trace_vec_room(&t->symbols))
			return false;
		t->symbols.at[t->symbols.n++] = (struct debug_elf_symbol){
			.value = r->value,
			.size = r->size,
			.name = text,
			.type = (uint8_t)r->flags,
			.defined = r->flags & DEBUG_RECORD_DEFINED,
			.in_code = r->flags & DEBUG_RECORD_IN_CODE,
		};
		return true;
	case DEBUG_RECORD_FILE:
		t->file = text;
		return true;
	case DEBUG_RECORD_ROW:
		if (!trace_vec_room(&t->lines))
			return false;
		t->lines.at[t->lines.n] = (struct debug_line){
			.addr = r->value,
			.file = r->size ? t->file : NULL,
			.line = (uint32_t)r->size,
			.order = (uint32_t)t->lines.n,
		};
		t->lines.n++;
		return true;
	default:
		return true;
	}
}

/*
 * The file may have taken over the child, so trust no length. Returns false if there is no memory.
 */
static bool take_all(struct taken *t, const char *bytes, size_t len)
{
	struct debug_record r;
	size_t at = 0;

	while (len - at >= sizeof(r)) {
		const char *text = NULL;

		memcpy(&r, bytes + at, sizeof(r));
		at += sizeof(r);
		if (r.text > len - at)
			break;
		if (r.text) {
			text = bytes + at;
			if (text[r.text - 1])
				break;
			at += r.text;
		}
		if (!take_record(t, &r, text))
			return false;
	}
	return true;
}

int debug_read(const void *elf, size_t len, unsigned int what, struct debug *debug,
	       const char **problem)
{
	struct taken t = {0};
	int fd = memfd_create("vpt-debug", MFD_CLOEXEC), status, err;
	size_t size;

	memset(debug, 0, sizeof(*debug));
	*problem = NULL;
	if (fd < 0)
		return -ENOMEM;
	err = run_child(elf, len, what, fd, &status);
	if (!err && WIFEXITED(status) && WEXITSTATUS(status) == DEBUG_CHILD_NO_MEMORY)
		err = -ENOMEM;
	if (!err) {
		*problem = problem_of(status);
		debug->text = read_all(fd, &size);
		err = debug->text && take_all(&t, debug->text, size) ? 0 : -ENOMEM;
	}
	close(fd);
	debug->symbols = t.symbols.at;
	debug->nsymbols = t.symbols.n;
	debug->lines = t.lines.at;
	debug->nlines = t.lines.n;
	if (err)
		debug_free(debug);
	return err;
}

void debug_free(struct debug *debug)
{
	free(debug->symbols);
	free(debug->lines);
	free(debug->text);
	memset(debug, 0, sizeof(*debug));
}

static int by_addr(const void *a, const void *b)
{
	const struct debug_line *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (!x->file != !y->file)
		return x->file ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

void debug_lines_sort(struct debug_line *lines, size_t count)
{
	if (count)
		qsort(lines, count, sizeof(*lines), by_addr);
}

const struct debug_line *debug_lines_find(const struct debug_line *lines, size_t count,
					  uint64_t addr)
{
	size_t n = trace_vec_before(lines, count, e, e->addr <= addr);

	return n && lines[n - 1].file ? &lines[n - 1] : NULL;
}
