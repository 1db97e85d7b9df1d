/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is expected of a trace, as a word per step:
 *   1a      instruction at SYNTH_CODE + 0x1a
 *   E1a     tracing is enabled there
 *   D       disabled by the instruction before
 *   A1a     disabled by an event at 1a
 *   1a>20   event at 1a that leads to 20
 *   T       TraceStop
 *   H       one that is held while packets are lost
 *   !...    the records cannot be as they are
 */
#ifndef TESTS_LIB_STEPS_H
#define TESTS_LIB_STEPS_H

#include "trace/reader.h"

/* All of vCPU 0. The test fails if there is no room for it. */
void steps_write(struct vpt_reader *r, char *text, size_t size);

#endif /* TESTS_LIB_STEPS_H */
