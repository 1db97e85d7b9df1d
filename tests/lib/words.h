/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scripts of tests consist of words separated by blanks. */
#ifndef TESTS_LIB_WORDS_H
#define TESTS_LIB_WORDS_H

/*
 * Call @play for each word of @script. `9*a,b` repeats the words a and b 9 times (decimal). The
 * word is a copy, which @play may change. The test fails if a word is too long or empty.
 */
void words_play(const char *script, void (*play)(void *opaque, char *word), void *opaque);

#endif /* TESTS_LIB_WORDS_H */
