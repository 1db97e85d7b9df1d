// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: arbitrary bytes as an oracle log. The log is imported, and the resulting trace is
 * compared with its oracle, without memory errors. A valid header is prepended, so that the code
 * behind the header's checks is reached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/bytes.h"
#include "import/import.h"
#include "oracle/compare.h"
#include "trace/reader.h"
#include "vpt/caps.h"

/* Skip logs that would take hours to decode. */
#define RECORDS_MAX 20000

static void use(struct import *import, const char *path, const uint8_t *bytes, size_t size)
{
	struct oracle_comparison c = {0};
	struct trace_reader *r;
	unsigned int v;
	char why[128];
	uint64_t at;

	if (import_write(import, path))
		return;
	REQUIRE(!trace_reader_open(path, &r, why, sizeof(why)));
	for (v = 0; v < trace_reader_info(r)->vcpus && v < 4; v++) {
		(void)import_same(import, v, bytes, size, &at);
		if (trace_reader_oracle_count(r, v) < RECORDS_MAX)
			REQUIRE(!oracle_compare(r, v, &c));
	}
	oracle_comparison_free(&c);
	trace_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct vpt_log_header header = {VPT_LOG_MAGIC, VPT_LOG_VERSION, 0};
	const struct import_config config = {
		.model = "spr",
		.caps = vpt_caps_model("spr"),
		.last = UINT64_MAX,
		.host = true,
		.guest = true,
		.lip = size & 1,
	};
	static int fd = -1;
	struct import *import;
	struct import_log log;
	char path[32], why[160] = "";
	uint8_t *copy = malloc(sizeof(header) + size);

	REQUIRE(copy);
	memcpy(copy, &header, sizeof(header));
	if (size)
		memcpy(copy + sizeof(header), data, size);
	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	REQUIRE(import_log_open(&log, copy, sizeof(header) + size));
	if (import_open(&log, 1, &config, &import, why, sizeof(why))) {
		REQUIRE(*why && !strchr(why, '\n'));
	} else {
		use(import, path, copy, sizeof(header) + size);
		import_close(import);
	}
	free(copy);
	return 0;
}
