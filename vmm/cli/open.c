// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/open.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

int vpt_cli_open(const char *verb, const char *path, struct vpt_reader **reader)
{
	char why[256];

	if (vpt_reader_open(path, reader, why, sizeof(why)))
		return vpt_fail(VPT_EXIT_INPUT, "%s: %s: %s", verb, path, why);
	return VPT_EXIT_OK;
}

int vpt_cli_whole(const char *verb, const char *path, const struct vpt_reader *reader)
{
	const struct vpt_extent *extent = vpt_reader_extent(reader);

	if (!extent->why)
		return VPT_EXIT_OK;
	return vpt_fail(VPT_EXIT_INPUT, "%s: %s: %s: %s; bytes lost: %" PRIu64, verb, path,
			extent->cut ? "cut" : "damaged", extent->why,
			extent->file_bytes - extent->readable);
}

int vpt_cli_number(const char *verb, const char *option, const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno)
		return VPT_EXIT_OK;
	return vpt_fail(VPT_EXIT_USAGE, "%s: --%s=%s: not a number", verb, option, text);
}

static bool read_size(const char *text, uint64_t *value)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	if (text[0] < '0' || text[0] > '9' || errno)
		return false;
	if (!*end)
		return true;
	unit = strchr(units, *end & ~0x20);
	if (!unit || end[1])
		return false;
	return !__builtin_mul_overflow(*value, 1ull << (10 * (unit - units + 1)), value);
}

int vpt_cli_size(const char *verb, const char *option, const char *text, uint64_t *value)
{
	if (read_size(text, value))
		return VPT_EXIT_OK;
	return vpt_fail(VPT_EXIT_USAGE, "%s: --%s=%s: not a size such as 64M", verb, option, text);
}
