/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace unit of one vCPU of this VMM (unit.h). The core reports execution to the tracer. The
 * tracer passes events to libvpt's processor model, and the results to the recorder of the .vpt
 * file (recorder.h).
 */
#ifndef VMM_PT_TRACER_H
#define VMM_PT_TRACER_H

#include "x86/mem.h"
#include "engine/engine.h"
#include "pt/hardware.h"
#include "pt/recorder.h"
#include "pt/unit.h"
#include "vpt/state.h"

/* Bits of tracer_config.flags. */
enum tracer_config_flags {
	TRACER_CONFIG_ORACLE = 1 << 0, /* record each instruction */
	/* The caller calls tracer_sync(). Otherwise the tracer does. */
	TRACER_CONFIG_CALLER_SYNCS = 1 << 1,
	/*
	 * VMX operation (hv.h): CR3 alone does not identify an address space, and hv.h checks
	 * accesses to the MSRs.
	 */
	TRACER_CONFIG_VMX = 1 << 2,
	/*
	 * With TRACER_CONFIG_ORACLE: record blocks that the engine runs in place of instructions.
	 * The engine must have ENGINE_REPORTS.
	 */
	TRACER_CONFIG_BLOCKS = 1 << 3,
	TRACER_CONFIG_PARTS = 1 << 4, /* the recording moves to other files (tracer_part.h) */
};

struct tracer_config {
	enum tracer_trace_system system;
	const struct vpt_caps *caps; /* the capabilities of PT, as its owner sees them; copied */
	enum trace_owner owner;
	const struct x86_mem *mem;
	struct trace_writer *writer; /* NULL if nothing is recorded */
	unsigned int vcpu;
	uint32_t flags; /* enum tracer_config_flags */
	/* Not 0 once the guest must stop. Then nothing may take long. May be NULL. */
	const volatile int *urged;
	/*
	 * With `pt`, the engine makes the trace, which is read through this vCPU; see hardware.h.
	 */
	const struct engine *engine;
	struct engine_vcpu *ev;
	/* Get the context of the next instruction. `opaque` is passed to all functions. */
	void (*context)(void *opaque, struct vpt_context *ctx);
	/* Optional: get the time. */
	void (*clock)(void *opaque, struct vpt_clock *now);
	/* Optional: vpt_pt_ops.keeps_due(). */
	bool (*keeps_due)(void *opaque, bool whole);
	void (*pmi)(void *opaque);
	/* Optional: report a write to guest RAM. */
	void (*wrote)(void *opaque, uint64_t gpa, uint64_t len);
	void *opaque;
};

/* Bits of tracer.state. */
enum tracer_flags {
	TRACER_CLOSING = 1 << 0,   /* the trace ends because the guest or the file has ended */
	TRACER_DISABLING = 1 << 1, /* RTIT: during a write to RTIT_CTL that clears TriggerEn */
	TRACER_RESUMES = 1 << 2,   /* PT: a session has begun without a PSB */
};

/* Bits of tracer.happened: the changes of TriggerEn during an event or MSR write. */
enum tracer_happened {
	TRACER_HAPPENED_RISE = 1 << 0,
	TRACER_HAPPENED_FALL = 1 << 1, /* `end` is valid */
};

struct tracer {
	struct vpt_pt pt;
	/* The unit that sends the packets: `pt`, or an insertion's scratch unit (vpt/insert.h). */
	struct vpt_pt *acting;
	struct vpt_atom atom; /* used with RTIT, while `pt` is idle */
	struct tracer_unit unit;
	struct vpt_caps caps;
	struct tracer_config config;
	struct tracer_recorder recorder;
	struct tracer_hardware hardware;
	uint32_t state;		  /* enum tracer_flags */
	uint32_t happened;	  /* enum tracer_happened; 0 between two events */
	struct trace_session end; /* the end of the session, until it is recorded */
	uint64_t since_sync;	  /* retired instructions since the last sync of the file */
	uint8_t stage[4096];	  /* the buffer of a host's stream */
};

/* Initialise the tracer. Returns 0 or -errno. */
int tracer_init(struct tracer *t, const struct tracer_config *config);
void tracer_free(struct tracer *t);

/* The vCPU moves to another engine, between two instructions. @flags replaces config.flags. */
void tracer_move(struct tracer *t, const struct engine *engine, struct engine_vcpu *ev,
		 uint32_t flags);

/* Get the context of the next instruction. */
static inline void tracer_context(const struct tracer *t, struct vpt_context *ctx)
{
	t->config.context(t->config.opaque, ctx);
}

/* Returns true if tracing is armed, so that everything must be reported. */
static inline bool tracer_on(const struct tracer *t)
{
	return t->unit.gate->state & VPT_GATE_ARMED;
}

/* Returns the same for `acting`. */
static inline bool tracer_acts(const struct tracer *t)
{
	return t->unit.acts->state & VPT_GATE_ARMED;
}

/* Handle the guest's RDMSR. Like tracer_wrmsr(), returns VPT_FAULT_GP if a host owns the unit. */
enum vpt_fault tracer_rdmsr(struct tracer *t, uint32_t msr, uint64_t *value);
/*
 * Handle the guest's WRMSR. @r is the report of the WRMSR, complete except for its event's kind. If
 * the WRMSR does not fault, the tracer adds the enables before the write to @r (engine/report.h).
 * If @r then has ENGINE_REPORT_WROTE, the caller must pass @r to tracer_report().
 */
enum vpt_fault tracer_wrmsr(struct tracer *t, uint32_t msr, uint64_t value,
			    struct engine_report *r);
/* Handle XSAVES and XRSTORS of PT's component (vpt/xsave.h). @r is the same as for a WRMSR. */
void tracer_xsaves(struct tracer *t, void *state, struct engine_report *r);
void tracer_xrstors(struct tracer *t, const void *state, struct engine_report *r);
/* Handle a host's write, between two instructions. */
enum vpt_fault tracer_host_write(struct tracer *t, uint32_t msr, uint64_t value, uint64_t next_ip);

/*
 * The functions up to tracer_host_code() are for hv*.c, with TRACER_CONFIG_VMX. Return the
 * operations of an insertion.
 */
const struct vpt_pt_ops *tracer_ops(void);
/* Handle a WRMSR in root operation, which counts like a guest's. */
enum vpt_fault tracer_root_wrmsr(struct tracer *t, uint32_t msr, uint64_t value,
				 struct engine_report *r);
/* Report a VM exit at `ip`. */
void tracer_vm_exit(struct tracer *t, uint64_t ip, uint8_t cpl, uint8_t flags);
/* Complete a change of TriggerEn in a call of vpt/vmx_pt.h. Execution then resumes at `ip`. */
void tracer_complete(struct tracer *t, uint64_t ip);
/* Record the address space after a MOV to CR3 or a VMX transition. */
void tracer_space(struct tracer *t);
/* Record code of the host. `page` is the only page of it. */
void tracer_host_code(struct tracer *t, uint64_t ip, unsigned int len, uint64_t gpa,
		      const uint8_t *page);

/*
 * Record the code that will run next at `ip`, before it is executed. It has `len` bytes, and the
 * first is at `gpa`. If the code crosses a page, it continues at `gpa2`.
 */
void tracer_code(struct tracer *t, uint64_t cr3, uint64_t ip, unsigned int len, uint64_t gpa,
		 uint64_t gpa2);

/*
 * Returns true if an interrupt or exception is at an INT n in the file, which has not run. Its
 * packets are those of the INT n (table 33-23). So a decoder counts the INT n, and the recorder's
 * counter must do the same.
 */
bool tracer_seems_to_run(struct tracer *t, const struct vpt_event *event);

/*
 * Report retired instructions (engine/report.h). The context must already be the new one. PacketEn
 * has not changed since the last report.
 */
void tracer_report(struct tracer *t, const struct engine_report *r);
/*
 * Report a change of flow that is not due to an instruction. The context must already be the new
 * one. @cpl is the CPL of event->from. For an interrupt or an exception, @arrived is true if a
 * taken branch or an event led to event->from. Filters depend on it, and a CALL to the next
 * instruction does not show it.
 */
void tracer_event_at(struct tracer *t, const struct vpt_event *event, uint8_t cpl, bool arrived);
/* Report any other event in the same way. */
static inline void tracer_event(struct tracer *t, const struct vpt_event *event, uint8_t cpl)
{
	tracer_event_at(t, event, cpl, false);
}

/*
 * Returns true if the guest's trace has TSC packets and no other packet of time. Then report with
 * tracer_timing() where software reads the TSC: see vpt_pt_timing(). Execution continues at `ip`.
 */
bool tracer_needs_time(const struct tracer *t);
void tracer_timing(struct tracer *t, uint64_t ip);

/* Report that time has passed without an event. `ip` is next: see vpt_pt_tick(). */
void tracer_tick(struct tracer *t, uint64_t ip);

/* Bring the file up to date. */
void tracer_sync(struct tracer *t);

/* End the trace before the instruction at `ip`, because the file is full. For tracer_limit(). */
void tracer_end_full(struct tracer *t, uint64_t ip);
/*
 * End the trace before the instruction at `ip` if the file is full. Call it between two
 * instructions, after anything may have been recorded outside of the calls above.
 */
static inline void tracer_limit(struct tracer *t, uint64_t ip)
{
	if (vpt_unlikely(tracer_recorder_at_limit(&t->recorder)))
		tracer_end_full(t, ip);
}
/* Returns true if the trace file has reached a limit. The guest must then be stopped. */
static inline bool tracer_is_full(const struct tracer *t)
{
	return t->recorder.state & TRACER_RECORDER_FULL;
}

/* Read the output of a processor's own PT. Call this often while tracer_takes() returns true. */
void tracer_take(struct tracer *t);
static inline bool tracer_takes(const struct tracer *t)
{
	return t->hardware.state & TRACER_HARDWARE_ON;
}

/* Record code that has changed. Call this after each exit. */
static inline void tracer_exited(struct tracer *t)
{
	const uint32_t wants = TRACER_HARDWARE_ON | TRACER_HARDWARE_LOGS;

	if ((t->hardware.state & wants) == wants)
		tracer_hardware_exited(t);
}

/* End a running trace before the instruction at `ip`, because the guest has ended. */
void tracer_close(struct tracer *t, uint64_t ip);
/* Allow another trace after tracer_close(). */
void tracer_reopen(struct tracer *t);

/*
 * tracer_save.c: the state for snapshots, between two instructions. It is plain data, the same for
 * the same state. The recorded code is not part of it: see code_pages.h.
 */
struct tracer_state {
	struct vpt_pt_state pt;	    /* the state of PT, zero with RTIT */
	struct vpt_atom_state atom; /* the state of RTIT, zero with PT */
	uint64_t insns, since_sync, bytes;
	uint64_t oracle_cr3, place;
	uint32_t flags;	 /* 1: `oracle_cr3` is valid, 2: TRACER_RECORDER_LOST */
	uint32_t staged; /* bytes of a host's stream in `stage`; RTIT: put, not reported */
	uint8_t stage[4096];
};

void tracer_save(struct tracer *t, struct tracer_state *state);
/*
 * Load a state into a new `t` with the same configuration. Returns -EINVAL if the state is
 * impossible.
 */
int tracer_load(struct tracer *t, const struct tracer_state *state);

#endif /* VMM_PT_TRACER_H */
