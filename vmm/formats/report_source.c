// SPDX-License-Identifier: GPL-2.0-or-later
/* Read source files for the page of vpt report, and write the lines that it shows. */
#include "formats/report_source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/report.h"
#include "trace/pairs.h"
#include "trace/vec.h"

#define FILE_MAX_BYTES (8u << 20)
#define READ_MAX_BYTES (64u << 20) /* of all files */
#define TEXT_MAX_BYTES (1u << 20)  /* in the page */
#define LINE_MAX_BYTES 240u

struct format_report_source {
	const struct format_source_dirs *dirs;
	struct {
		const char **at;
		size_t n, room;
	} files;
	struct trace_pairs lines; /* (number of a file, line) */
	size_t read, wrote;	  /* bytes */
};

/* The content of a file. */
struct content {
	char *bytes;
	size_t len;
};

struct format_report_source *format_report_source_new(const struct format_source_dirs *dirs)
{
	struct format_report_source *s = calloc(1, sizeof(*s));

	if (s)
		s->dirs = dirs;
	return s;
}

void format_report_source_free(struct format_report_source *s)
{
	if (!s)
		return;
	trace_pairs_free(&s->lines);
	free(s->files.at);
	free(s);
}

int format_report_source_note(struct format_report_source *s, const char *file, uint32_t line,
			      size_t *number)
{
	size_t i;

	for (i = 0; i < s->files.n; i++)
		if (s->files.at[i] == file || !strcmp(s->files.at[i], file))
			break;
	if (i == s->files.n) {
		if (!trace_vec_room(&s->files))
			return -ENOMEM;
		s->files.at[s->files.n++] = file;
	}
	*number = i;
	return trace_pairs_add(&s->lines, i, line) ? 0 : -ENOMEM;
}

/* Returns true if a file can be source code by its name. A key or a table of passwords cannot. */
static bool has_suffix(const char *name)
{
	static const char *const known[] = {
		"c",	"h",   "cc",	"hh",  "cpp", "hpp", "cxx", "hxx", "c++", "h++", "tcc",
		"ipp",	"i",   "ii",	"inc", "inl", "def", "s",   "S",   "asm", "rs",	 "go",
		"zig",	"d",   "m",	"mm",  "f",   "for", "f90", "f95", "f03", "f08", "adb",
		"ads",	"pas", "swift", "hs",  "ml",  "mli", "nim", "cr",  "v",	  "cu",	 "cuh",
		"java", "kt",  "y",	"l",   "C",   "H",   "F",   "F90",
	};
	const char *slash = strrchr(name, '/'), *dot = strrchr(slash ? slash : name, '.');
	size_t i;

	for (i = 0; dot && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(dot + 1, known[i]))
			return true;
	return false;
}

/* Returns the part of @name after the directory @dir of @len characters, or NULL. */
static const char *below(const char *name, const char *dir, size_t len)
{
	while (len && dir[len - 1] == '/')
		len--;
	return !strncmp(name, dir, len) && name[len] == '/' ? name + len : NULL;
}

/* Returns the path of a file as an allocation, or NULL if there is no memory. */
static char *find(const struct format_source_dirs *dirs, const char *name)
{
	const char *to = NULL, *rest = NULL;
	unsigned int i;
	char *path;

	for (i = 0; i < dirs->n && !rest; i++) {
		const char *dir = dirs->dir[i], *is = strchr(dir, '=');

		rest = is ? below(name, dir, (size_t)(is - dir)) : *name == '/' ? NULL : name;
		to = is ? is + 1 : dir;
	}
	if (!rest)
		return strdup(name);
	return asprintf(&path, "%s/%s", to, rest) < 0 ? NULL : path;
}

/* Open a regular file. No other kind is opened, because that can have effects. */
static int open_regular(const char *path, size_t *size, const char **why)
{
	struct stat st;
	int fd;

	*why = "cannot be read";
	if (stat(path, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			*why = "not found";
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		*why = "not a regular file";
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= 0) {
		*size = (size_t)st.st_size;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool read_all(int fd, struct content *c, size_t size)
{
	ssize_t got = 1;

	c->bytes = malloc(size + 1);
	while (c->bytes && got > 0 && c->len < size) {
		got = read(fd, c->bytes + c->len, size - c->len);
		if (got > 0)
			c->len += (size_t)got;
	}
	return c->bytes && got >= 0;
}

/* Read a file. Returns NULL, or why it has no text; @c is empty then. */
static const char *read_file(struct format_report_source *s, const char *name, struct content *c)
{
	const char *why = "cannot be read";
	char *path = has_suffix(name) ? find(s->dirs, name) : NULL;
	size_t size;
	int fd;

	*c = (struct content){0};
	if (!has_suffix(name))
		return "not read: its name has no suffix of a source file";
	fd = path ? open_regular(path, &size, &why) : -1;
	free(path);
	if (fd < 0)
		return why;
	if (size > FILE_MAX_BYTES)
		why = "not read: it has more than 8 MiB";
	else if (size > READ_MAX_BYTES - s->read)
		why = "not read: all files have more than 64 MiB";
	else if (read_all(fd, c, size))
		why = memchr(c->bytes, 0, c->len) ? "not a text" : NULL;
	close(fd);
	s->read += c->len;
	if (why) {
		free(c->bytes);
		*c = (struct content){0};
	}
	return why;
}

/* The text of a line in the page. */
struct line {
	char text[LINE_MAX_BYTES + sizeof("\xe2\x80\xa6")];
};

/* Copy a line of @len bytes, or its begin, without a part of a character of UTF-8. */
static void copy_line(struct line *to, const char *from, size_t len)
{
	size_t most;

	if (len && from[len - 1] == '\r')
		len--;
	most = len < LINE_MAX_BYTES ? len : LINE_MAX_BYTES;
	while (most < len && most && ((unsigned char)from[most] & 0xc0) == 0x80)
		most--;
	memcpy(to->text, from, most);
	snprintf(to->text + most, sizeof(to->text) - most, "%s", most < len ? "\xe2\x80\xa6" : "");
}

/*
 * Write the noted lines of a file, which are sorted, as members of an object. Returns NULL, or why
 * some have no text.
 */
static const char *write_lines(struct format_report_source *s, FILE *out,
			       const struct trace_pair *line, const struct trace_pair *end,
			       const struct content *c)
{
	const char *at = c->bytes, *stop = c->bytes + c->len, *next;
	const char *comma = "";
	struct line text;
	uint64_t n;

	for (n = 1; line < end && at < stop; n++, at = next) {
		const char *newline = memchr(at, '\n', (size_t)(stop - at));

		next = newline ? newline + 1 : stop;
		/* Line 0 is of code without a line. */
		while (line < end && line->b < n)
			line++;
		if (line == end || line->b != n)
			continue;
		copy_line(&text, at, (size_t)((newline ? newline : stop) - at));
		if (strlen(text.text) > TEXT_MAX_BYTES - s->wrote)
			return "omitted in part: the page has 1 MiB of source text";
		s->wrote += strlen(text.text);
		fprintf(out, "%s\"%" PRIu64 "\":", comma, n);
		format_report_string(out, text.text);
		comma = ",";
		line++;
	}
	while (line < end && !line->b)
		line++;
	return line < end ? "another version: it has fewer lines" : NULL;
}

void format_report_source_write(struct format_report_source *s, FILE *out)
{
	const struct trace_pair *at, *end, *next;
	const char *why, *cut;
	struct content c;
	size_t i;

	trace_pairs_sort(&s->lines);
	at = s->lines.at;
	end = at + s->lines.n;
	putc('[', out);
	for (i = 0; i < s->files.n; i++, at = next) {
		for (next = at; next < end && next->a == i; next++)
			;
		fputs(i ? ",{\"name\":" : "{\"name\":", out);
		format_report_string(out, s->files.at[i]);
		why = read_file(s, s->files.at[i], &c);
		fputs(",\"lines\":{", out);
		cut = why ? NULL : write_lines(s, out, at, next, &c);
		putc('}', out);
		if (why || cut) {
			fputs(",\"why\":", out);
			format_report_string(out, why ? why : cut);
		}
		putc('}', out);
		free(c.bytes);
	}
	putc(']', out);
}
