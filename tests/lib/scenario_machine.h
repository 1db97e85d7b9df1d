/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Internal interface of scenarios (scenario.h), for the files that implement steps. */
#ifndef TESTS_LIB_SCENARIO_MACHINE_H
#define TESTS_LIB_SCENARIO_MACHINE_H

#include "lib/scenario.h"

#include <stdbool.h>
#include <stddef.h>

#include "vpt/atom.h"
#include "vpt/block.h"
#include "vpt/system.h"
#include "vpt/vmx_pt.h"
#include "vpt/xsave.h"

enum {
	RAM_SIZE = 1 << 20,
	REGION = 0x40000,
	REGION_SIZE = 0x10000,
	TABLE = 0x10000,
	EPT = 0x80000, /* where guest-physical memory begins */
	INSN = 8,
	RA_MAX = 256,
	SMM_VMCS = 0x9000,
};

/* The MSR-load area of a transition, which may load CTL. */
struct area {
	bool used;
	uint64_t ctl;
};

/* The TSC ticks per core clock since the step that set the ratio. */
struct ratio {
	uint64_t num, den;
	uint64_t cycles, tsc;
};

/* Clocks that pass within an event, before its first packet that is
 * CYC-eligible, its second and so on. */
enum { PASSING_MAX = 8 };
struct passing {
	unsigned int count, reads;
	uint64_t clocks[PASSING_MAX];
};

struct machine;

/* The functions in which the trace systems differ. */
struct scenario_unit {
	/* Returns false if the trace system has no such model. */
	bool (*reset)(struct machine *m, const char *model);
	void (*event)(struct machine *m, const struct vpt_event *event);
	/* The instruction at m->ip retired; the next one follows. */
	void (*insn)(struct machine *m);
	void (*tick)(struct machine *m);
	void (*flush)(struct machine *m);
	/* Plays a step of this trace system. Returns false for any other word. */
	bool (*step)(struct machine *m, const char *word);
	/* Appends the packets since the last call to the shown text. */
	void (*show)(struct machine *m);
};

extern const struct scenario_unit scenario_pt, scenario_atom;

struct machine {
	const struct scenario_unit *unit;
	struct vpt_context ctx;
	struct vpt_clock clock;
	struct ratio ratio;
	struct passing pass;
	uint64_t moves; /* core clocks that pass at each reading of a clock */
	uint64_t ip;
	unsigned int length; /* of an instruction */
	uint64_t ra[RA_MAX];
	unsigned int ra_count;
	uint64_t refused, refused_end; /* memory that may not be touched */
	size_t shown;		       /* output bytes before here are not shown */
	char text[16384];
	uint8_t ram[RAM_SIZE];

	/* PT. */
	struct vpt_pt pt;
	bool guest_shown;     /* packets are shown of guest-physical memory */
	bool quick;	      /* near branches take the quick paths where those accept them */
	struct vpt_caps caps; /* the model's, which steps may change before `on` */
	uint64_t status;
	uint64_t vmcs, reason, qualification, guest_ctl;
	uint32_t controls;
	struct area entry_load, exit_load;
	unsigned int pmis;
	uint8_t xsave[VPT_XSAVE_BYTES]; /* component 8 as it was saved last */
	bool xsave_stored;		/* the component was not in its initial state */
	bool transport;			/* the output is the trace transport */
	size_t carried;			/* bytes sent to the transport, also stored in REGION */
	uint8_t stage[64];

	/* Atom's RTIT. */
	struct vpt_atom atom;
	bool events_written; /* by a step */
	bool raw;	     /* no packets are shown any more */
	bool sizes;	     /* the compression of LIPs is shown */
	bool lip_known;	     /* the reader of the packets knows a last LIP */
	uint32_t lip_last;   /* as in RTIT_LAST_LIP */
};

/* The callbacks of both trace systems. */
extern const struct vpt_pt_ops scenario_ops;
/* The same callbacks without a clock, and with time that passes within an event. */
extern const struct vpt_pt_ops scenario_ops_no_clock, scenario_ops_elapse;

/* Report an event of the instruction at m->ip, after which execution is at `to`. */
void branch(struct machine *m, enum vpt_event_kind kind, unsigned int flags, uint64_t to);
/* Report @event with its source set to m->ip. */
void report(struct machine *m, struct vpt_event event, uint64_t to);
/* Append the packets so far, or a word of the step, to the shown text. */
void show(struct machine *m);
void say(struct machine *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void say_outcomes(struct machine *m, const char *name, uint64_t value, unsigned int bits);

uint64_t hex(const char *text);
uint64_t decimal(const char *text);
/* Does the word begin with @start? */
bool is(const char *word, const char *start);

struct bit_name {
	const char *name;
	uint64_t bits;
};

/* Return the bits of the names in "A,B,C". The list ends at a '!' or the end of the text. */
uint64_t named_bits(const struct bit_name *names, size_t count, const char *text);

/* Advance a clock that moves whenever it is read. */
void scenario_move_clock(struct machine *m);
/* Let time pass within an event. */
void scenario_elapse(struct machine *m);

/* Play a step of these files. Return false for any other word. */
bool scenario_step_time(struct machine *m, const char *word);
bool scenario_step_sleep(struct machine *m, const char *word);
bool scenario_step_system(struct machine *m, const char *word);
/* Steps of PT. */
bool scenario_step_software(struct machine *m, const char *word);
bool scenario_step_buffer(struct machine *m, const char *word);
bool scenario_step_xsave(struct machine *m, const char *word);
bool scenario_step_vmx(struct machine *m, const char *word);
void wrmsr(struct machine *m, uint32_t msr, uint64_t value);
/* Return these bits of CTL and TraceEn. */
uint64_t ctl_bits(const char *bits);

#endif /* TESTS_LIB_SCENARIO_MACHINE_H */
