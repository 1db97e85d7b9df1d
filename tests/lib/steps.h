/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Expected steps of a trace, one word per step:
 *   1a      instruction at SYNTH_CODE + 0x1a
 *   E1a     tracing is enabled there
 *   D       disabled by the instruction before
 *   A1a     disabled by an event at 1a
 *   1a>20   event at 1a that leads to 20
 *   T       TraceStop
 *   H       a step that is held back while packets are lost
 *   !...    the records are inconsistent
 */
#ifndef TESTS_LIB_STEPS_H
#define TESTS_LIB_STEPS_H

#include "lib/synth.h"
#include "trace/reader.h"

/*
 * Play records of an oracle, one word per record. Numbers are hexadecimal except vectors; IPs are
 * relative to SYNTH_CODE. Behind an IP may be flags, + ARRIVED, ? COND, ! SOFT_INT, w CR3_WRITE,
 * p PAE, v VM_ENTRY, and then the CPL if that is not 0: 1a+?/3.
 *   1a                 instruction
 *   start@1a           a session starts
 *   end-WHY@1a         it ends: disabled, closed, stop (TraceStop), topa, error,
 *                      lost, changed
 *   event:14@1a        event with that vector; exit@1a: VM exit
 *   cr3=2000           CR3 changes
 *   record-start       a record alone at 0; also record-end, record-unknown
 *   spaces             CR3 5000 is a host's space with 2000 in CR3, 2000 a guest's with 3000
 * Registers of the next session, which has OS, USER and BranchEn set:
 *   no-os no-user no-branch
 *   match=2000         CR3Filter and CR3_MATCH
 *   filter0=10-1f stop0=10-1f   a range
 * A word may also be code or a packet (lib/synthwords.h). `9*0+,1?` plays these words 9 times. The
 * test fails at an unknown word.
 */
void steps_play(struct synth *s, const char *script);

/* All of vCPU 0. The test fails if there is no room for it. */
void steps_write(struct trace_reader *r, char *text, size_t size);

#endif /* TESTS_LIB_STEPS_H */
