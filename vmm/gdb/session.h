/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A debugging session: gdb's remote protocol for a machine whose engine counts instructions. A
 * position is the number of instructions that all vCPUs have retired. The machine is the same each
 * time at a position, so the session goes backwards by a checkpoint and a run up to the place.
 *
 * The owner of the machine calls the functions below from the hooks of the same names
 * (core/vm.h). They wait for the client while the guest stands.
 */
#ifndef VMM_GDB_SESSION_H
#define VMM_GDB_SESSION_H

#include <stdbool.h>
#include <stdint.h>

struct core_vcpu;
struct core_vm;
struct gdb_session;

/*
 * Create a session with a client at the socket @fd, which stays the caller's. Call this before the
 * sandbox. Returns 0 or -errno.
 */
int gdb_session_create(struct gdb_session **session, int fd);
void gdb_session_destroy(struct gdb_session *s);

/*
 * Begin: the machine has not run yet, and will run in a process of its own. Returns 0 in that
 * process, which pauses at once. In the first process it returns 1 at the end, with the
 * exit status in *status, which is -1 after a crash. Returns -errno if it cannot begin. @flush is
 * called with @opaque before each fork.
 */
int gdb_session_begin(struct gdb_session *s, struct core_vm *vm, void (*flush)(void *opaque),
		      void *opaque, int *status);

/*
 * The first process will repeat the run after the session. Call this before gdb_session_begin(). The
 * process that runs the machine then ends when the client detaches or ends the guest, unless the client
 * has changed the guest.
 */
void gdb_session_repeats(struct gdb_session *s);
/*
 * In the first process, after the session: return the position up to which the run is repeated.
 * UINT64_MAX is the end of the guest. Returns 0 if the run cannot be repeated. The console then prints
 * only what is new.
 */
uint64_t gdb_session_repeat_to(const struct gdb_session *s);
/* Returns true if the client has changed the guest in the history that the session ended with. */
bool gdb_session_changed(const struct gdb_session *s);

/* The hooks. The guest ends at once if the client has ended it. */
uint64_t gdb_session_pause(struct gdb_session *s);
bool gdb_session_reached(struct gdb_session *s, uint64_t ip);
void gdb_session_touched(struct gdb_session *s, struct core_vcpu *v);
/*
 * The guest has written a character to its console. Returns true if it is new, and false if it was
 * written before the machine went back.
 */
bool gdb_session_prints(struct gdb_session *s);

/*
 * The guest has ended. Returns when the client has gone, or does not return because the machine has
 * gone back.
 */
void gdb_session_ended(struct gdb_session *s);

#endif /* VMM_GDB_SESSION_H */
