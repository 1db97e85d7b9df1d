/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a processor that traces it, for the tracer: what differs between Intel PT
 * and Atom's RTIT. Another trace system is one more table of these.
 */
#ifndef VMM_PT_UNIT_H
#define VMM_PT_UNIT_H

#include "trace/format.h"
#include "vpt/atom.h"
#include "vpt/pt.h"

struct tracer;
struct tracer_state;

enum tracer_trace_system { TRACER_SYSTEM_PT, TRACER_SYSTEM_ATOM };

struct tracer_unit_ops {
	/* Packets tell of execution modes; else the file does, beside CR3. */
	bool tells_mode;
	/* Output that memory refuses ends the trace; else nothing tells of it but the file. */
	bool ends_refused;

	/* Reset. Bytes of a host's trace go to `stream`. */
	void (*init)(struct tracer *t, const struct vpt_pt_ops *ops,
		     void (*stream)(void *opaque, const void *bytes, size_t len));
	enum vpt_fault (*rdmsr)(struct tracer *t, uint32_t msr, uint64_t *value);
	enum vpt_fault (*wrmsr)(struct tracer *t, uint32_t msr, uint64_t value, enum vpt_access who,
				uint64_t ip, uint64_t next);
	/*
	 * Optional. Would this write succeed, the trace go on, and something that decoding
	 * depends on be another? Then *s has the registers after it.
	 */
	bool (*cuts)(struct tracer *t, uint32_t msr, uint64_t value, struct trace_session *s);
	void (*event)(struct tracer *t, const struct vpt_event *event);
	void (*cond)(struct tracer *t, const struct vpt_event *event);
	void (*tick)(struct tracer *t, uint64_t ip);
	/* All that was put is where it goes to. */
	void (*flush)(struct tracer *t);

	/* For the file: the registers; why TriggerEn fell just now, with s->error; do packets
	 * tell which address space is in use? */
	void (*registers)(const struct tracer *t, struct trace_session *s);
	enum trace_session_end (*why_ended)(const struct tracer *t, struct trace_session *s);
	bool (*reports_space)(const struct tracer *t);
	/* Are packets being lost, which OVF or FUP.BuffOvf ends? */
	bool (*loses)(const struct tracer *t);

	/* A host ends a trace that runs, before the instruction at `ip`. */
	void (*close)(struct tracer *t, uint64_t ip);

	/* Their part of tracer_save.c; save() before anything else. False: not a state. */
	void (*save)(struct tracer *t, struct tracer_state *state);
	bool (*load)(struct tracer *t, const struct tracer_state *state);
};

/*
 * Live state of the unit. During an insertion (vpt/insert.h) every pointer except @gate refers
 * to the scratch unit. If VPT_GATE_MAY_LOSE is clear in @acts, loses() returns false.
 */
struct tracer_unit {
	const struct tracer_unit_ops *ops;
	struct vpt_gate *gate;
	const struct vpt_gate *acts;
	/* What payloads add to a RIP, and the bits that they keep of the sum. */
	const uint64_t *ip_base, *ip_mask;
};

/* That of a system; `pt`, `acting` and `atom` of the tracer need not be initialised yet. */
void tracer_unit_choose(struct tracer *t, enum tracer_trace_system system);
/* PT: whose packets these are from now on. */
void tracer_unit_act(struct tracer *t, struct vpt_pt *acting);

/* unit_pt.c, unit_atom.c */
extern const struct tracer_unit_ops tracer_unit_pt, tracer_unit_atom;

#endif /* VMM_PT_UNIT_H */
