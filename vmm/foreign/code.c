// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads mapped files, and stores the pages that are requested from them. */
#include "foreign/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foreign/elf_note.h"
#include "foreign/vdso.h"

#define PATH_BYTES 4400

/* Limit for the pages of all files, 4 GiB. A trace with more is treated as damaged. */
#define PAGES_MAX (1u << 20)

int foreign_code_init(struct foreign_code *code, struct foreign_trace *trace,
		      struct trace_writer *writer)
{
	size_t i;

	memset(code, 0, sizeof(*code));
	code->trace = trace;
	code->writer = writer;
	code->files = calloc(trace->files.n + 1, sizeof(*code->files));
	for (i = 0; code->files && i < trace->files.n; i++)
		code->files[i].fd = -1;
	return code->files ? 0 : -ENOMEM;
}

void foreign_code_free(struct foreign_code *code)
{
	size_t i;

	for (i = 0; code->files && i < code->trace->files.n; i++) {
		if (code->files[i].fd >= 0)
			close(code->files[i].fd);
	}
	free(code->files);
	trace_pairs_free(&code->contents);
	memset(code, 0, sizeof(*code));
}

static const struct foreign_build_id *wanted(const struct foreign_code *code, uint32_t file)
{
	const struct foreign_trace *t = code->trace;

	return file < t->build_ids.n && t->build_ids.at[file].len ? &t->build_ids.at[file] : NULL;
}

/* Open a regular file if it is the traced file, as far as build-ids show. */
static int open_file(const char *path, const struct foreign_build_id *id, bool *wrong)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct foreign_build_id has;
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		goto no;
	if (id && !foreign_elf_build_id(fd, &has) &&
	    (!has.len ||
	     memcmp(has.bytes, id->bytes, id->len < has.len ? id->len : has.len) != 0)) {
		*wrong = true;
		goto no;
	}
	return fd;
no:
	close(fd);
	return -1;
}

/* perf keeps copies of files in ~/.debug/.build-id/xx/yyy.../elf, and of the vDSO as vdso. */
static int open_cached(const struct foreign_build_id *id)
{
	const char *home = getenv("HOME");
	char path[PATH_BYTES], hex[2 * FOREIGN_BUILD_ID + 1];
	static const char *const names[] = {"elf", "vdso"};
	bool wrong;
	int fd = -1;
	size_t i;

	if (!home || !id)
		return -1;
	for (i = 0; i < id->len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	for (i = 0; i < 2 && fd < 0; i++) {
		int n = snprintf(path, sizeof(path), "%s/.debug/.build-id/%.2s/%s/%s", home, hex,
				 hex + 2, names[i]);

		if (n > 0 && (size_t)n < sizeof(path))
			fd = open_file(path, id, &wrong);
	}
	return fd;
}

static void note_first(char *text, size_t size, const char *name)
{
	if (!*text)
		snprintf(text, size, "%s", name);
}

static void try_open(struct foreign_code *code, uint32_t file)
{
	struct foreign_report *r = &code->trace->report;
	const char *name = code->trace->files.at[file], *root = code->trace->root;
	const struct foreign_build_id *id = wanted(code, file);
	struct foreign_file *f = &code->files[file];
	char path[PATH_BYTES];
	bool wrong = false;
	struct stat st;
	int n = snprintf(path, sizeof(path), "%s%s", root ? root : "", name);

	f->tried = true;
	if (*name == '/' && n > 0 && (size_t)n < sizeof(path))
		f->fd = open_file(path, id, &wrong);
	if (f->fd < 0)
		f->fd = open_cached(id);
	if (f->fd < 0 && !strcmp(name, "[vdso]"))
		f->fd = foreign_vdso_open(id, code->trace->release);
	if (f->fd >= 0 && !fstat(f->fd, &st) && st.st_size > 0) {
		f->size = (uint64_t)st.st_size;
		return;
	}
	if (wrong) {
		r->wrong_build++;
		note_first(r->first_wrong, sizeof(r->first_wrong), name);
	} else {
		r->no_file++;
		note_first(r->first_no_file, sizeof(r->first_no_file), name);
	}
}

uint64_t foreign_code_size(struct foreign_code *code, uint32_t file)
{
	if (!code->files[file].tried)
		try_open(code, file);
	return code->files[file].size;
}

int foreign_code_page(struct foreign_code *code, uint32_t file, uint64_t offset, uint64_t *content)
{
	uint64_t size = foreign_code_size(code, file);
	uint8_t bytes[TRACE_CODE_BYTES] = {0};
	struct trace_pair *entry;
	ssize_t n;
	int err;

	if (offset >= size || offset > INT64_MAX)
		return 0;
	entry = trace_pairs_find(&code->contents, file, offset);
	if (entry) {
		*content = entry->value;
		return 1;
	}
	if (code->pages >= PAGES_MAX) {
		code->trace->report.left_out++;
		return 0;
	}
	n = pread(code->files[file].fd, bytes, sizeof(bytes), (off_t)offset);
	if (n <= 0)
		return 0;
	err = trace_writer_page(code->writer, bytes, content);
	if (err)
		return err;
	entry = trace_pairs_add(&code->contents, file, offset);
	if (!entry)
		return -ENOMEM;
	entry->value = *content;
	code->pages++;
	return 1;
}
