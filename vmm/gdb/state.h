/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a session, for its own files. */
#ifndef VMM_GDB_STATE_H
#define VMM_GDB_STATE_H

#include "core/vcpu.h"
#include "gdb/link.h"
#include "gdb/plan.h"
#include "gdb/timeline.h"

enum gdb_break_kind { GDB_SOFT = 1 << 0, GDB_HARD = 1 << 1 };

struct gdb_break {
	uint64_t ip;
	uint32_t kinds; /* enum gdb_break_kind, as the client has asked for */
};

/* The state that all processes share. */
struct gdb_shared {
	struct gdb_link link;
	struct gdb_plan plan;
	struct gdb_stop stop; /* the last one */
	struct gdb_break code[CORE_MAX_WATCHES];
	unsigned int codes;
	struct engine_data_watch data[ENGINE_DATA_WATCHES];
	unsigned int datas;
	unsigned int cpu;  /* the vCPU that commands are for */
	uint64_t printed;  /* characters of the guest's console that were printed */
	bool left, killed; /* the client has gone, or has ended the guest */
	bool repeats;	   /* the first process repeats the run after the session */
	uint64_t until;	   /* up to this position, or 0 */
	bool waits;	   /* the client waits for a stop */
	bool changed; /* the client has changed the machine, and there is no checkpoint since */
	char packet[GDB_PACKET + 1], reply[GDB_PACKET + 1];
};

struct gdb_session {
	struct core_vm *vm;
	struct gdb_timeline timeline;
	struct gdb_shared *shared;
	void (*flush)(void *opaque);
	void *opaque;
	uint64_t printed; /* by the machine of this process */
	/* The points that this process has set at its engine. */
	uint64_t code[CORE_MAX_WATCHES];
	unsigned int codes;
	struct engine_data_watch data[ENGINE_DATA_WATCHES];
	unsigned int datas;
	bool ended; /* the guest has ended */
};

static inline uint64_t gdb_position(const struct gdb_session *s)
{
	return core_vm_retired(s->vm);
}

/*
 * serve.c: tell the client of a stop, and serve it until the machine is to run. shared->plan then has
 * the work.
 */
void gdb_serve(struct gdb_session *s, const struct gdb_stop *stop);

/*
 * session.c: the client has gone or has ended the guest. Ends this process if the first one repeats
 * the run.
 */
void gdb_hand_over(struct gdb_session *s);

/* Tell the client of a stop. */
void gdb_report(struct gdb_session *s, const struct gdb_stop *why);
/* Answer with a text, or with an error number. */
void gdb_answer(struct gdb_session *s, const char *text);
void gdb_refuse(struct gdb_session *s, int error);

/*
 * command.c: answers a packet. Returns true if the machine is to run. resume.c does so for packets
 * that let it run, and sets *known to false for others.
 */
bool gdb_command(struct gdb_session *s, const char *packet);
bool gdb_command_resume(struct gdb_session *s, const char *packet, bool *known);
/* query.c: answers a packet that begins with q or Q. Returns true if the machine is to run. */
bool gdb_query(struct gdb_session *s, const char *packet);
/* points.c: sets and removes breakpoints and watchpoints. */
void gdb_point(struct gdb_session *s, const char *packet);
/* points.c: sets them at the engine of this process. */
void gdb_points_apply(struct gdb_session *s);

/*
 * search.c: backwards. These functions end this process, and a checkpoint goes on with the plan. Only
 * gdb_go_to() returns if the place is ahead.
 */
void gdb_go_to(struct gdb_session *s, const struct gdb_place *to);
/* Begin a search from here. @step: one instruction of shared->cpu. */
_Noreturn void gdb_search_begin(struct gdb_session *s, bool step);
/* The search of the plan has come to its end. */
_Noreturn void gdb_search_next(struct gdb_session *s);

#endif /* VMM_GDB_STATE_H */
