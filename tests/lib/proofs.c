// SPDX-License-Identifier: GPL-2.0-or-later
/* Record which facts of shared/spec a test has proved, in the file that $TEST_PROOFS names. */
#include "lib/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* START_TEST(name) defines the function name_fn. */
static int name_length(const char *test)
{
	size_t len = strlen(test);

	return (int)(len > 3 && !strcmp(test + len - 3, "_fn") ? len - 3 : len);
}

/* Write one line for each tag. Returns the length. */
static size_t format_lines(char *lines, size_t size, const char *tags, const char *file,
			   const char *test, int row)
{
	char copy[1024], *tag, *save;
	size_t len = 0;

	ck_assert_uint_lt(strlen(tags), sizeof(copy));
	strcpy(copy, tags);
	for (tag = strtok_r(copy, " ", &save); tag; tag = strtok_r(NULL, " ", &save)) {
		len += (size_t)snprintf(lines + len, size - len, "%s\t%s\t%s\t%.*s\t%d\n", tag,
					file, program_invocation_short_name, name_length(test),
					test, row);
		ck_assert_uint_lt(len, size);
	}
	return len;
}

void test_proved(const char *tags, const char *file, const char *test, int row)
{
	const char *path = getenv("TEST_PROOFS");
	char lines[16384];
	size_t len;
	int fd;

	if (!path || !tags)
		return;
	len = format_lines(lines, sizeof(lines), tags, file, test, row);
	/* Each test is a process of its own: one write appends the whole record. */
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	ck_assert_msg(fd >= 0 && write(fd, lines, len) == (ssize_t)len, "cannot write %s", path);
	close(fd);
}
