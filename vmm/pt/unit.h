/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a processor that traces it, for the tracer. The table has the differences between
 * Intel PT and Atom's RTIT. Another trace system needs another table.
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
	/* Packets report execution modes. Otherwise the file has them, with CR3. */
	bool tells_mode;
	/* Output that memory refuses ends the trace. Otherwise only the file shows the loss. */
	bool ends_refused;

	/* Reset the unit. Bytes of a host's trace go to `stream`. */
	void (*init)(struct tracer *t, const struct vpt_pt_ops *ops,
		     void (*stream)(void *opaque, const void *bytes, size_t len));
	enum vpt_fault (*rdmsr)(struct tracer *t, uint32_t msr, uint64_t *value);
	enum vpt_fault (*wrmsr)(struct tracer *t, uint32_t msr, uint64_t value, enum vpt_access who,
				uint64_t ip, uint64_t next);
	/*
	 * Optional. Returns true if this write would succeed and the trace would continue with
	 * another value of a register that decoding depends on. The registers after the write are
	 * then in *s.
	 */
	bool (*cuts)(struct tracer *t, uint32_t msr, uint64_t value, struct trace_session *s);
	void (*event)(struct tracer *t, const struct vpt_event *event);
	void (*cond)(struct tracer *t, const struct vpt_event *event);
	void (*tick)(struct tracer *t, uint64_t ip);
	/* Write all pending output to its destination. */
	void (*flush)(struct tracer *t);

	/*
	 * For the file: get the registers; get the reason of TriggerEn's fall, with s->error;
	 * return whether packets report the address space.
	 */
	void (*registers)(const struct tracer *t, struct trace_session *s);
	enum trace_session_end (*why_ended)(const struct tracer *t, struct trace_session *s);
	bool (*reports_space)(const struct tracer *t);
	/* Returns true if packets are being lost until OVF or FUP.BuffOvf. */
	bool (*loses)(const struct tracer *t);

	/*
	 * Get the host's write that ends a running trace. Returns false if no trace is running. The
	 * write never faults.
	 */
	bool (*closes)(const struct tracer *t, uint32_t *msr, uint64_t *value);

	/*
	 * The unit's part of tracer_save.c. Call save() first. load() returns false if the state is
	 * invalid.
	 */
	void (*save)(struct tracer *t, struct tracer_state *state);
	bool (*load)(struct tracer *t, const struct tracer_state *state);
};

/*
 * Live state of the unit. During an insertion (vpt/insert.h) @acts, @ip_base and @ip_mask refer to
 * the scratch unit, and @gate to the guest's. If VPT_GATE_MAY_LOSE is clear in @acts, loses()
 * returns false.
 */
struct tracer_unit {
	const struct tracer_unit_ops *ops;
	struct vpt_gate *gate;
	const struct vpt_gate *acts;
	/* The addend of a RIP in payloads, and the mask of the sum. */
	const uint64_t *ip_base, *ip_mask;
};

/*
 * Choose the unit of a system. `pt`, `acting` and `atom` of the tracer need not be initialised yet.
 */
void tracer_unit_choose(struct tracer *t, enum tracer_trace_system system);
/* PT: set the unit that sends packets from now on. */
void tracer_unit_act(struct tracer *t, struct vpt_pt *acting);

/* unit_pt.c, unit_atom.c */
extern const struct tracer_unit_ops tracer_unit_pt, tracer_unit_atom;

#endif /* VMM_PT_UNIT_H */
