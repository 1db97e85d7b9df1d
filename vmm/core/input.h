/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inputs of the machine from outside: bytes for a console, frames of a network, and commands
 * of a monitor. A signal or a time limit ends the run. An engine that counts instructions receives
 * an input only between two instructions that the count names, and the trace file records each one
 * (TRACE_BLOCK_INPUT). A replay delivers the same inputs at the same counts, so its guest runs the
 * same.
 *
 * A machine that KVM runs has no such counts. It receives an input when the host has the input, and
 * nothing is recorded (input_host.c).
 */
#ifndef VMM_CORE_INPUT_H
#define VMM_CORE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

struct core_vcpu;
struct core_vm;
struct trace_reader_input;

/* The retired instructions between two times at which a running guest can receive input. */
#define CORE_INPUT_INSNS 65536u

/* The maximum size of a command of the monitor. */
#define CORE_INPUT_COMMAND 8192u

enum core_input_mode {
	CORE_INPUT_OFF, /* no input is attached */
	CORE_INPUT_LIVE,
	CORE_INPUT_REPLAY,
	CORE_INPUT_HOST, /* live, at the host's times, and not recorded */
};

enum core_input_flags {
	CORE_INPUT_REALTIME = 1 << 0, /* HLT takes the time of the host, also after the end */
	CORE_INPUT_WAITS = 1 << 1,    /* `host` and `virt` are valid */
	CORE_INPUT_LEFT = 1 << 2,     /* at the host's times: the guest has not taken all input */
};

struct core_input {
	uint64_t at; /* retired instructions at which input may arrive next, UINT64_MAX: never */
	enum core_input_mode mode;
	uint32_t flags; /* enum core_input_flags */
	uint64_t bytes; /* bytes of input that the guest has received */

	/* Live: the reason to stop at @at, or 0, and the host's ns when that was requested. */
	enum trace_stop_kind stop;
	uint64_t stop_since;
	/* Live: equal points on the host's and on the virtual clock, in ns, and the present wait. */
	uint64_t host, virt;
	uint64_t wait_retired, wait_tsc;
	uint64_t seen_retired, seen_tsc; /* live: the place at which input could last arrive */
	uint64_t offered; /* live: ns since when a virtio console has room; 0: it has none */
	/* At the host's times: core_input_notify() was called, also by a signal handler. */
	volatile int arrived;

	const struct trace_reader_input *next; /* replay: the inputs that are left */
	size_t left;
};

/*
 * Attach the input of the VM's hooks. Requires an engine with ENGINE_REPORTS and no VMX. @realtime:
 * HLT always takes the time of the host. Otherwise it does only while the guest waits for input.
 */
void core_input_live(struct core_vcpu *v, bool realtime);

/*
 * Attach the input of the VM's hooks to an engine that does not count. The first vCPU receives the
 * input when the host has it.
 */
void core_input_host(struct core_vcpu *v);

/*
 * There is input: let the first vCPU look at the hooks before it runs on. The caller is a thread
 * with the machine's lock (threads.h), or a signal handler of a machine without threads.
 */
void core_input_notify(struct core_vm *vm);

/* Returns true if core_input_serve() has work. For the first vCPU. */
bool core_input_is_due(struct core_vcpu *v);
/* Deliver input that has arrived, as much as the guest wants, and watch for more. */
void core_input_serve(struct core_vcpu *v);
/* Returns true if input can still arrive and wake a halted guest. */
bool core_input_can_wake(const struct core_vcpu *v);

/*
 * For live input: execute the command that is due, and deliver bytes and frames. Returns true if
 * there was a command. core_input_is_wanted() returns true if there are bytes or frames to deliver.
 */
bool core_input_take(struct core_vcpu *v);
bool core_input_is_wanted(struct core_vcpu *v);

/* Deliver the recorded inputs of this vCPU. The array must stay until the guest has stopped. */
void core_input_replay(struct core_vcpu *v, const struct trace_reader_input *inputs, size_t count);

/*
 * Deliver the input that is due. Call between two instructions if `at` is reached. Returns false if
 * the next input of a recording comes later in the present HLT.
 */
bool core_input_deliver(struct core_vcpu *v);

/*
 * Wait in HLT for input, or for the host's clock to reach the next event, which is @next core clocks
 * away, or UINT64_MAX. Returns true if the caller must not skip to that event yet.
 */
bool core_input_halted(struct core_vcpu *v, uint64_t next);

/* Record an input that this vCPU receives now, if there is a trace file. */
void core_input_record(struct core_vcpu *v, enum trace_recorded_kind kind, const void *bytes,
		       size_t len);
/* Returns true if a recorded input is one of the present count of instructions and time. */
bool core_input_is_now(const struct core_vcpu *v, const struct trace_reader_input *input);
/* Stop the guest of a replay whose recording has another input, or none. */
void core_input_diverge(struct core_vcpu *v);

/*
 * Stop the guest for a reason from outside: TRACE_STOP_TIMEOUT or TRACE_STOP_INTERRUPTED. With live
 * input the guest first completes an instruction, so that a replay can stop at the same place.
 */
void core_input_end(struct core_vcpu *v, enum trace_stop_kind kind);

#endif /* VMM_CORE_INPUT_H */
