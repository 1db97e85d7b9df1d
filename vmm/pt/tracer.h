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

struct vpt_code_pages;

struct vpt_tracer_config {
	enum vpt_trace_system system;
	const struct vpt_caps *caps; /* of PT, as the owner sees them; copied */
	enum vpt_owner owner;
	const struct vpt_mem *mem;
	struct vpt_writer *writer; /* NULL: nothing is recorded */
	unsigned int vcpu;
	bool oracle;
	bool caller_syncs; /* vpt_tracer_sync() is called, else it happens now and then */
	/* In VMX operation (hv.h): address spaces are told apart by more than CR3, and who
	 * may access the MSRs is not decided here. */
	bool vmx;
	/* Becomes true when the guest is to stop: nothing may take long then. May be NULL. */
	const volatile bool *hurry;
	/* With `pt`: it makes the trace, and is asked for it by this vCPU; see hardware.h. */
	const struct vpt_engine *engine;
	struct vpt_engine_vcpu *ev;
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
struct vpt_space_table {
	struct vpt_space *at;
	size_t n, room, last;
	uint32_t *bucket; /* index of a space, plus 1; 0: free */
};

struct vpt_tracer {
	struct vpt_pt pt;
	/* Whose packets these are: `pt`, or an insertion's scratch (vpt/insert.h). */
	struct vpt_pt *acting;
	struct vpt_atom atom; /* in use with RTIT, and `pt` is idle then */
	struct vpt_unit unit;
	struct vpt_caps caps;
	struct vpt_tracer_config config;
	struct vpt_code_pages *pages;
	struct vpt_hardware hardware;
	struct vpt_space_table spaces;
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
	bool loses;		/* as unit.ops->loses() said last */
	bool disabling;		/* RTIT: in a write to RTIT_CTL that clears TriggerEn */
	struct vpt_session end; /* if `fell` */
	int error;		/* first -errno of the writer */
	uint8_t stage[4096];	/* of a host's stream */
};

/* What an engine knows of an instruction that retired. */
struct vpt_retired {
	uint64_t ip;
	uint64_t next;	/* IP after it */
	uint64_t to;	/* IP it went to */
	uint8_t cpl;	/* that it ran at */
	uint16_t flags; /* enum vpt_oracle_insn_flags */
};

/* 0 or -errno. */
int vpt_tracer_init(struct vpt_tracer *t, const struct vpt_tracer_config *config);
void vpt_tracer_free(struct vpt_tracer *t);

/* Is something to be traced, so that everything must be reported? */
static inline bool vpt_tracer_on(const struct vpt_tracer *t)
{
	return *t->unit.on;
}

/* The same of `acting`. */
static inline bool vpt_tracer_acts(const struct vpt_tracer *t)
{
	return *t->unit.acts;
}

/* The guest's accesses; VPT_FAULT_GP also where a host owns the unit. */
enum vpt_fault vpt_tracer_rdmsr(struct vpt_tracer *t, uint32_t msr, uint64_t *value);
/*
 * `insn`: the WRMSR itself. It counts as retired if it does not fault and a trace
 * was on before it.
 */
enum vpt_fault vpt_tracer_wrmsr(struct vpt_tracer *t, uint32_t msr, uint64_t value,
				const struct vpt_retired *insn);
/* XSAVES and XRSTORS of PT's component (vpt/xsave.h); `insn` as for a WRMSR. */
void vpt_tracer_xsaves(struct vpt_tracer *t, void *state, const struct vpt_retired *insn);
void vpt_tracer_xrstors(struct vpt_tracer *t, const void *state, const struct vpt_retired *insn);
/* A host's write, between two instructions. */
enum vpt_fault vpt_tracer_host_write(struct vpt_tracer *t, uint32_t msr, uint64_t value,
				     uint64_t next_ip);

/*
 * With config.vmx, for hv.c: the operations of an insertion; WRMSR in root operation,
 * counted like a guest's; a VM exit at `ip`; what became of TriggerEn in a call of
 * vpt/vmx_pt.h, after which execution is to go on at `ip`; the address space is another.
 */
const struct vpt_pt_ops *vpt_tracer_ops(void);
enum vpt_fault vpt_tracer_root_wrmsr(struct vpt_tracer *t, uint32_t msr, uint64_t value,
				     const struct vpt_retired *insn);
void vpt_tracer_vm_exit(struct vpt_tracer *t, uint64_t ip, uint8_t cpl, uint8_t flags);
void vpt_tracer_settle(struct vpt_tracer *t, uint64_t ip);
void vpt_tracer_space(struct vpt_tracer *t);
/* Code of the host's, of which `page` is all that there is. */
void vpt_tracer_host_code(struct vpt_tracer *t, uint64_t ip, unsigned int len, uint64_t gpa,
			  const uint8_t *page);

/*
 * Code about to run at `ip`: `len` bytes, the first at `gpa`; `gpa2` is where
 * they go on if they cross a page. Before the instruction is executed.
 */
void vpt_tracer_code(struct vpt_tracer *t, uint64_t cr3, uint64_t ip, unsigned int len,
		     uint64_t gpa, uint64_t gpa2);

/*
 * Record a page of code if @len bytes at @offset are not in the file yet; @now is the whole
 * page. Only with a writer. For hardware.c.
 */
void vpt_tracer_page(struct vpt_tracer *t, const struct vpt_code_page *page, unsigned int offset,
		     unsigned int len, const uint8_t *now);

/* So many instructions retired, and PacketEn was for all of them what it is now. */
static inline void vpt_tracer_ran(struct vpt_tracer *t, uint64_t insns)
{
	if (*t->unit.packet_en)
		t->insns += insns;
}
/* For vpt_tracer_retired(), while TriggerEn is set. */
void vpt_tracer_note_retired(struct vpt_tracer *t, const struct vpt_retired *insn);
/* An instruction retired. Before its event, if it makes one. */
static inline void vpt_tracer_retired(struct vpt_tracer *t, const struct vpt_retired *insn)
{
	if (*t->unit.trigger_en)
		vpt_tracer_note_retired(t, insn);
}
/*
 * A change of flow, with the context already the new one. `cpl`: of event->from. For an
 * interrupt or an exception, @arrived: event->from was reached by a taken branch or by an
 * event. Filters depend on it, and a CALL to the next instruction does not show it.
 */
void vpt_tracer_event_at(struct vpt_tracer *t, const struct vpt_event *event, uint8_t cpl,
			 bool arrived);
/* The same for any other event. */
static inline void vpt_tracer_event(struct vpt_tracer *t, const struct vpt_event *event,
				    uint8_t cpl)
{
	vpt_tracer_event_at(t, event, cpl, false);
}
/* A conditional branch; `next`: the IP after it. */
void vpt_tracer_cond(struct vpt_tracer *t, uint64_t from, uint64_t to, uint64_t next, bool taken);
/* For vpt_tracer_plain(), while the unit asks for each instruction. */
void vpt_tracer_tell_plain(struct vpt_tracer *t, uint64_t ip, uint64_t next);
/* The instruction at `ip` retired and makes no event. */
static inline void vpt_tracer_plain(struct vpt_tracer *t, uint64_t ip, uint64_t next)
{
	if (vpt_unlikely(*t->unit.each_insn))
		vpt_tracer_tell_plain(t, ip, next);
}

/* Time has passed without an event, `ip` is next: see vpt_pt_tick(). */
void vpt_tracer_tick(struct vpt_tracer *t, uint64_t ip);

/* Bring the file up to date. */
void vpt_tracer_sync(struct vpt_tracer *t);

/* The file is full: end the trace before the instruction at `ip`. For vpt_tracer_limit(). */
void vpt_tracer_end_full(struct vpt_tracer *t, uint64_t ip);
/*
 * End the trace before the instruction at `ip` if the file is full. Call it between two
 * instructions, where something may have been recorded without one of the calls above.
 */
static inline void vpt_tracer_limit(struct vpt_tracer *t, uint64_t ip)
{
	if (vpt_unlikely(*t->file_full))
		vpt_tracer_end_full(t, ip);
}
/* Returns how many of `len` bytes of trace the file can take; `refused` if not all. */
size_t vpt_tracer_fit(struct vpt_tracer *t, size_t len);

/* Now and then: what a processor's own PT has put out is to be taken. */
void vpt_tracer_look(struct vpt_tracer *t);

/* The guest is over: end a trace that still runs, before the instruction at `ip`. */
void vpt_tracer_close(struct vpt_tracer *t, uint64_t ip);

/*
 * tracer_save.c: for snapshots, between two instructions. Plain data, the same for the
 * same state. What the file has of code is not part of it: see code_pages.h.
 */
struct vpt_tracer_state {
	struct vpt_pt_state pt;	    /* or */
	struct vpt_atom_state atom; /* that of the unit, the other one is zero */
	uint64_t insns, since_sync, bytes;
	uint64_t oracle_cr3, told;
	uint32_t flags;	 /* 1: oracle_cr3 is known, 2: `lost` */
	uint32_t staged; /* bytes of a host's stream that are in `stage`; RTIT: put, not reported */
	uint8_t stage[4096];
};

void vpt_tracer_save(struct vpt_tracer *t, struct vpt_tracer_state *state);
/* `t` is new, with the same configuration. -EINVAL: not a state it could be in. */
int vpt_tracer_load(struct vpt_tracer *t, const struct vpt_tracer_state *state);

#endif /* VMM_PT_TRACER_H */
