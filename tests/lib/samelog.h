/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compare the oracles of two traces of the same run, which may have been recorded differently. */
#ifndef TESTS_LIB_SAMELOG_H
#define TESTS_LIB_SAMELOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns true if the first vCPU of both files has the same records. Otherwise @why has the first
 * difference. *records is the number of equal records.
 */
bool samelog(const char *one, const char *two, uint64_t *records, char *why, size_t size);

#endif /* TESTS_LIB_SAMELOG_H */
