// SPDX-License-Identifier: GPL-2.0-or-later
/* Split the script of a test into words. */
#include "lib/words.h"

#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"

void words_play(const char *script, void (*play)(void *opaque, char *word), void *opaque)
{
	char group[256], copy[256], *words, *word;
	unsigned long times;
	size_t len;

	for (; *script; script += len + (script[len] != 0)) {
		len = strcspn(script, " ");
		ck_assert_uint_lt(len, sizeof(group));
		memcpy(group, script, len);
		group[len] = 0;
		words = group;
		times = 1;
		if (strchr(group, '*')) {
			times = strtoul(group, &words, 10);
			ck_assert_msg(*words++ == '*', "%s: not a number of times", group);
		}
		for (; times; times--) {
			char *rest = strcpy(copy, words);

			while ((word = strsep(&rest, ","))) {
				ck_assert_msg(*word, "there is an empty word before %s", script);
				play(opaque, word);
			}
		}
	}
}
