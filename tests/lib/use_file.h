/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Performs every operation on a .vpt file with arbitrary contents, for fuzzers. */
#ifndef TESTS_LIB_USE_FILE_H
#define TESTS_LIB_USE_FILE_H

#include <stddef.h>

#include "trace/reader.h"

/*
 * Read the whole file, decode it both ways and compare it with its oracle. `images`: also search
 * the images for symbols. An inconsistency ends the process with abort().
 */
void use_file(struct trace_reader *r, size_t size, bool images);

#endif /* TESTS_LIB_USE_FILE_H */
