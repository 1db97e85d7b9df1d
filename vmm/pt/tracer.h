/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace unit of one vCPU of this VMM (unit.h): libvpt's processor model joined to guest
 * RAM and to the .vpt file. The core reports to it what ran; it decides what is recorded.
 */
#ifndef VMM_PT_TRACER_H
#define VMM_PT_TRACER_H

#include "x86/mem.h"
#include "engine/engine.h"
#include "pt/hardware.h"
#include "pt/unit.h"
#include "trace/writer.h"
#include "vpt/state.h"

struct tracer_code_pages;

struct tracer_config {
	enum tracer_trace_system system;
	const struct vpt_caps *caps; /* of PT, as the owner sees them; copied */
	enum trace_owner owner;
	const struct x86_mem *mem;
	struct trace_writer *writer; /* NULL: nothing is recorded */
	unsigned int vcpu;
	bool oracle;
	bool caller_syncs; /* tracer_sync() is called, else it happens now and then */
	/* In VMX operation (hv.h): address spaces are told apart by more than CR3, and who
	 * may access the MSRs is not decided here. */
	bool vmx;
	/* Becomes true when the guest is to stop: nothing may take long then. May be NULL. */
	const volatile bool *hurry;
	/* With `pt`: it makes the trace, and is asked for it by this vCPU; see hardware.h. */
	const struct engine *engine;
	struct engine_vcpu *ev;
	/* The context of the next instruction; `opaque` is passed to all. */
	void (*context)(void *opaque, struct vpt_context *ctx);
	/* Optional: what time it is then. */
	void (*clock)(void *opaque, struct vpt_clock *now);
	void (*pmi)(void *opaque);
	/* Optional: guest RAM was written to. */
	void (*wrote)(void *opaque, uint64_t gpa, uint64_t len);
	void *opaque;
};

/* spaces.h of this folder. */
struct tracer_space_table {
	struct trace_space *at;
	size_t n, room, last;
	uint32_t *bucket; /* index of a space, plus 1; 0: free */
};

struct tracer {
	struct vpt_pt pt;
	/* Whose packets these are: `pt`, or an insertion's scratch (vpt/insert.h). */
	struct vpt_pt *acting;
	struct vpt_atom atom; /* in use with RTIT, and `pt` is idle then */
	struct tracer_unit unit;
	struct vpt_caps caps;
	struct tracer_config config;
	struct tracer_code_pages *pages;
	struct tracer_hardware hardware;
	struct tracer_space_table spaces;
	uint64_t insns;	     /* retired that began with PacketEn set */
	uint64_t since_sync; /* retired since the file was brought up to date */
	uint64_t bytes;	     /* of trace */
	uint64_t oracle_cr3;
	bool oracle_cr3_known;
	uint64_t told;	 /* of the last CR3 block, where packets tell of no space */
	bool fell, rose; /* TriggerEn moved: to be noted after the event */
	bool closing;
	/*
	 * The file has its most bytes: nothing more is recorded, and the guest is to be
	 * stopped. With an engine that observes the trace has ended, else it is yet to be
	 * closed. `file_full` is the writer's, or points to a false.
	 */
	bool full;
	bool crowded; /* it is not the file, but that there are too many spaces (spaces.h) */
	const bool *file_full;
	/* Memory has refused bytes of the trace; the file has ended what it has of it. */
	bool refused, lost;
	bool loses;		  /* as unit.ops->loses() said last */
	bool disabling;		  /* RTIT: in a write to RTIT_CTL that clears TriggerEn */
	struct trace_session end; /* if `fell` */
	int error;		  /* first -errno of the writer */
	uint8_t stage[4096];	  /* of a host's stream */
};

/* 0 or -errno. */
int tracer_init(struct tracer *t, const struct tracer_config *config);
void tracer_free(struct tracer *t);

/* Is something to be traced, so that everything must be reported? */
static inline bool tracer_on(const struct tracer *t)
{
	return t->unit.gate->state & VPT_GATE_ARMED;
}

/* The same of `acting`. */
static inline bool tracer_acts(const struct tracer *t)
{
	return t->unit.acts->state & VPT_GATE_ARMED;
}

/* The guest's accesses; VPT_FAULT_GP also where a host owns the unit. */
enum vpt_fault tracer_rdmsr(struct tracer *t, uint32_t msr, uint64_t *value);
/*
 * @r is the report of the WRMSR, complete but for its event's kind. The tracer counts a WRMSR that
 * does not fault, if a trace was on before. It sets ENGINE_REPORT_COUNTED in @r, and
 * tracer_report() then ignores @r.
 */
enum vpt_fault tracer_wrmsr(struct tracer *t, uint32_t msr, uint64_t value,
			    struct engine_report *r);
/* XSAVES and XRSTORS of PT's component (vpt/xsave.h); @r as for a WRMSR. */
void tracer_xsaves(struct tracer *t, void *state, struct engine_report *r);
void tracer_xrstors(struct tracer *t, const void *state, struct engine_report *r);
/* A host's write, between two instructions. */
enum vpt_fault tracer_host_write(struct tracer *t, uint32_t msr, uint64_t value, uint64_t next_ip);

/*
 * With config.vmx, for hv.c: the operations of an insertion; WRMSR in root operation,
 * counted like a guest's; a VM exit at `ip`; what became of TriggerEn in a call of
 * vpt/vmx_pt.h, after which execution is to go on at `ip`; the address space is another.
 */
const struct vpt_pt_ops *tracer_ops(void);
enum vpt_fault tracer_root_wrmsr(struct tracer *t, uint32_t msr, uint64_t value,
				 struct engine_report *r);
void tracer_vm_exit(struct tracer *t, uint64_t ip, uint8_t cpl, uint8_t flags);
void tracer_complete(struct tracer *t, uint64_t ip);
void tracer_space(struct tracer *t);
/* Code of the host's, of which `page` is all that there is. */
void tracer_host_code(struct tracer *t, uint64_t ip, unsigned int len, uint64_t gpa,
		      const uint8_t *page);

/*
 * Code about to run at `ip`: `len` bytes, the first at `gpa`; `gpa2` is where
 * they go on if they cross a page. Before the instruction is executed.
 */
void tracer_code(struct tracer *t, uint64_t cr3, uint64_t ip, unsigned int len, uint64_t gpa,
		 uint64_t gpa2);

/*
 * Record a page of code if @len bytes at @offset are not in the file yet; @now is the whole
 * page. Only with a writer. For hardware.c.
 */
void tracer_page(struct tracer *t, const struct trace_code_page *page, unsigned int offset,
		 unsigned int len, const uint8_t *now);

/*
 * Instructions retired (engine/report.h), with the context already the new one. PacketEn has not
 * changed since the last report.
 */
void tracer_report(struct tracer *t, const struct engine_report *r);
/*
 * A change of flow that is not an instruction's, with the context already the new one. `cpl`: of
 * event->from. For an interrupt or an exception, @arrived: event->from was reached by a taken
 * branch or by an event. Filters depend on it, and a CALL to the next instruction does not show it.
 */
void tracer_event_at(struct tracer *t, const struct vpt_event *event, uint8_t cpl, bool arrived);
/* The same for any other event. */
static inline void tracer_event(struct tracer *t, const struct vpt_event *event, uint8_t cpl)
{
	tracer_event_at(t, event, cpl, false);
}

/* Time has passed without an event, `ip` is next: see vpt_pt_tick(). */
void tracer_tick(struct tracer *t, uint64_t ip);

/* Bring the file up to date. */
void tracer_sync(struct tracer *t);

/* The file is full: end the trace before the instruction at `ip`. For tracer_limit(). */
void tracer_end_full(struct tracer *t, uint64_t ip);
/*
 * End the trace before the instruction at `ip` if the file is full. Call it between two
 * instructions, where something may have been recorded without one of the calls above.
 */
static inline void tracer_limit(struct tracer *t, uint64_t ip)
{
	if (vpt_unlikely(*t->file_full))
		tracer_end_full(t, ip);
}
/* Returns how many of `len` bytes of trace the file can take; `refused` if not all. */
size_t tracer_fit(struct tracer *t, size_t len);

/* Now and then: what a processor's own PT has put out is to be taken. */
void tracer_take(struct tracer *t);

/* The guest is over: end a trace that still runs, before the instruction at `ip`. */
void tracer_close(struct tracer *t, uint64_t ip);

/*
 * tracer_save.c: for snapshots, between two instructions. Plain data, the same for the
 * same state. What the file has of code is not part of it: see code_pages.h.
 */
struct tracer_state {
	struct vpt_pt_state pt;	    /* or */
	struct vpt_atom_state atom; /* that of the unit, the other one is zero */
	uint64_t insns, since_sync, bytes;
	uint64_t oracle_cr3, told;
	uint32_t flags;	 /* 1: oracle_cr3 is known, 2: `lost` */
	uint32_t staged; /* bytes of a host's stream that are in `stage`; RTIT: put, not reported */
	uint8_t stage[4096];
};

void tracer_save(struct tracer *t, struct tracer_state *state);
/* `t` is new, with the same configuration. -EINVAL: not a state it could be in. */
int tracer_load(struct tracer *t, const struct tracer_state *state);

#endif /* VMM_PT_TRACER_H */
