/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sessions of a trace, from the changes of TriggerEn to the blocks of the file. */
#ifndef VMM_PT_TRACER_SESSION_H
#define VMM_PT_TRACER_SESSION_H

#include "pt/tracer.h"

/* TriggerEn rises. The file has the start of a session before the first bytes of its trace. */
void tracer_session_rise(struct tracer *t);
/* TriggerEn falls. The end of the session waits for tracer_session_update(). */
void tracer_session_fall(struct tracer *t);

/* Record the changes of TriggerEn and losses of an event or MSR write. @ip: the next instruction. */
void tracer_session_update(struct tracer *t, uint64_t ip);

/* Returns true if tracer_session_update() may have something to record. */
static inline bool tracer_session_changed(const struct tracer *t)
{
	return t->unit.acts->state & VPT_GATE_MAY_LOSE || t->happened ||
	       t->recorder.state & TRACER_RECORDER_REFUSED;
}

/*
 * End the session and start another with the registers of *s, because a write changes a register
 * that decoding depends on. Call it before the write outputs anything.
 */
void tracer_session_cut(struct tracer *t, struct trace_session *s, uint64_t ip);

/*
 * Move a session that is open to the file of another writer (tracer_part.h). Before the recorder
 * moves, leave() ends the session in the old file. Afterwards enter() begins it in the new file,
 * whose trace begins with @bytes. @ip: the next instruction.
 */
void tracer_session_leave(struct tracer *t, uint64_t ip);
void tracer_session_enter(struct tracer *t, uint64_t ip, const uint8_t *bytes, size_t len);

/* Record a change of the mode or the space in a far transfer, if no packet reports it. */
void tracer_session_follow(struct tracer *t);

/* Add a record to the oracle, which has IPs in the form of the packets. @rip is a RIP. */
static inline void tracer_session_oracle(struct tracer *t, uint8_t kind, uint64_t rip, uint8_t cpl,
					 uint16_t aux)
{
	uint64_t base = *t->unit.ip_base;

	tracer_recorder_oracle(&t->recorder, kind, base ? (uint32_t)(rip + base) : rip, cpl, aux);
}

#endif /* VMM_PT_TRACER_SESSION_H */
