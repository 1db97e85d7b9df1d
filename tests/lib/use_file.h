/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For fuzzers: everything that is done with a .vpt file, whatever is in it. */
#ifndef TESTS_LIB_USE_FILE_H
#define TESTS_LIB_USE_FILE_H

#include <stddef.h>

#include "trace/reader.h"

/*
 * Read it all, decode it both ways and compare it with its oracle; `images`: search those for
 * symbols too. The program ends with abort() where something cannot be.
 */
void use_file(struct trace_reader *r, size_t size, bool images);

#endif /* TESTS_LIB_USE_FILE_H */
