// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/verb.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/confine.h"
#include "lib/packets.h"

static char dir[sizeof("/tmp/vpt-verb-XXXXXX")];
static char in_path[64], out_path[64];

void verb_setup(void)
{
	strcpy(dir, "/tmp/vpt-verb-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(in_path, sizeof(in_path), "%s/in", dir);
	snprintf(out_path, sizeof(out_path), "%s/out", dir);
}

void verb_teardown(void)
{
	unlink(in_path);
	unlink(out_path);
	rmdir(dir);
}

const char *verb_file(void)
{
	return in_path;
}

void verb_put_file(const void *bytes, size_t len)
{
	FILE *file = fopen(in_path, "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(bytes, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
}

int verb_run(int (*verb)(int argc, char **argv), const char *name, const char *options, char *text,
	     size_t size)
{
	char copy[256], *argv[16], *word;
	int argc = 0, status;
	size_t len;
	FILE *file;

	/* A sandboxed process could not run the next test. */
	snprintf(copy, sizeof(copy), "%s --sandbox=off %s %s", name, options, in_path);
	for (word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	ck_assert_int_eq(cli_confine_take(&argc, argv), 0);
	ck_assert_ptr_nonnull(freopen(out_path, "wb", stdout));
	status = verb(argc, argv);
	ck_assert_ptr_nonnull(freopen("/dev/null", "wb", stdout));
	file = fopen(out_path, "rb");
	ck_assert_ptr_nonnull(file);
	len = fread(text, 1, size - 1, file);
	ck_assert(feof(file));
	fclose(file);
	text[len] = '\0';
	return status;
}

void verb_accounts(int (*dump)(int argc, char **argv), const char *options, const uint8_t *psb,
		   size_t psb_bytes, uint64_t seed)
{
	uint64_t random = seed, packets, bytes, lost;
	uint8_t buf[4096];
	char text[8192];

	for (size_t i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)test_random(&random);
	for (size_t i = 0; i + psb_bytes < sizeof(buf); i += 64 + test_random(&random) % 64)
		memcpy(buf + i, psb, psb_bytes);
	verb_put_file(buf, sizeof(buf));
	ck_assert_int_eq(verb_run(dump, "dump", options, text, sizeof(text)), CLI_EXIT_FAIL);
	ck_assert_int_eq(sscanf(text,
				"{\"packets\":%" SCNu64 ",\"bytes\":%" SCNu64 ",\"lost\":%" SCNu64,
				&packets, &bytes, &lost),
			 3);
	ck_assert_uint_gt(packets, 100);
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_eq(bytes + lost, sizeof(buf));
}
