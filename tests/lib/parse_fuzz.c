// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/parse_fuzz.h"

#include <string.h>

#include "lib/require.h"

/* Check that truncated input is never read as another packet. */
static void truncate(const struct test_parse_fuzz *fuzz, const void *before, const uint8_t *data,
		     size_t size)
{
	for (size_t len = 0; len < size; len++)
		REQUIRE(fuzz->cut(before, data, len) == VPT_E_EOS);
}

void test_parse_fuzz(const struct test_parse_fuzz *fuzz, void *state, const uint8_t *data,
		     size_t size)
{
	uint64_t start[8], before[8];
	size_t at = 0;

	REQUIRE(fuzz->state_bytes <= sizeof(before));
	memcpy(start, state, fuzz->state_bytes);
	while (at < size) {
		enum vpt_status status;
		size_t taken = 0;

		memcpy(before, state, fuzz->state_bytes);
		status = fuzz->packet(state, data + at, size - at, &taken);
		if (status == VPT_OK) {
			REQUIRE(taken > 0 && taken <= size - at);
			truncate(fuzz, before, data + at, taken);
			at += taken;
			continue;
		}
		REQUIRE(status == VPT_E_EOS || status == VPT_E_BAD_PACKET);
		REQUIRE(!memcmp(before, state, fuzz->state_bytes));
		/* Skip at least one byte, then continue at the next PSB as a reader does. */
		at++;
		at += fuzz->find_psb(data + at, size - at);
		REQUIRE(at <= size);
		memcpy(state, start, fuzz->state_bytes);
	}
}

void test_parse_fuzz_text(size_t (*format)(char *text, size_t size, const void *packet),
			  const void *packet)
{
	char whole[128], cut[8];
	size_t len = format(whole, sizeof(whole), packet);

	REQUIRE(len < sizeof(whole) && strlen(whole) == len);
	REQUIRE(format(cut, sizeof(cut), packet) == len);
	REQUIRE(!strncmp(cut, whole, sizeof(cut) - 1));
}
