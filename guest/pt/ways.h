/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small pieces of code that enter and leave a range of addresses, for payloads that filter by IP. A
 * wrong branch reaches a UD2. The UD2 in run_fault() is intended, for a hook that skips it.
 */
#ifndef GUEST_PT_WAYS_H
#define GUEST_PT_WAYS_H

extern const char shape_base[], shape_limit[], shape_out[];
extern const char cond_base[], cond_limit[], cond_left[], cond_back[];
extern const char call_base[], call_limit[], call_returned[], call_out[], call_after[];
extern const char jump_base[], jump_limit[], jump_out[];
extern const char fall_base[], fall_limit[], fall_after[];
extern const char into_base[], into_head[], into_limit[];
extern const char fault_base[], fault_at[], fault_resume[], fault_limit[];
extern const char two_base[], two_limit[], two_inner[], two_inner_limit[];

void run_shape(void);
void run_cond(void);
void run_call(void);
void run_jump(void);
void run_fall(void);
void run_into(void);
void run_fault(void);
void run_two(void);

/* One for each vector, see lib/traps.S. */
extern const char trap_stubs[][16];

#endif /* GUEST_PT_WAYS_H */
