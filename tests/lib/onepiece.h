/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces that a decoder without sessions, spaces and versions of code can follow. */
#ifndef TESTS_LIB_ONEPIECE_H
#define TESTS_LIB_ONEPIECE_H

#include "trace/reader.h"

/* The one session of vCPU 0, if it has one address space and code that stays; else NULL. */
const struct trace_session *one_piece(const struct trace_reader *reader);

#endif /* TESTS_LIB_ONEPIECE_H */
