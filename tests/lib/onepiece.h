/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects traces that a decoder without sessions, address spaces and versions of code can follow.
 */
#ifndef TESTS_LIB_ONEPIECE_H
#define TESTS_LIB_ONEPIECE_H

#include "trace/reader.h"

/*
 * Return the session of vCPU 0. Return NULL if there are several sessions or address spaces, or if
 * the code changes.
 */
const struct trace_session *one_piece(const struct trace_reader *reader);

#endif /* TESTS_LIB_ONEPIECE_H */
