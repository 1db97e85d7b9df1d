/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk through random code by a model of a processor that computes nothing. It chooses the target
 * of each branch and reports every event to a vpt_pt. It also keeps an account of the items that a
 * decoder must find. The walk needs neither KVM nor a guest, so it reaches modes and events that a
 * host may deny a guest. The account follows the manual's text and not the library's functions, so
 * two implementations of the same rules must agree.
 */
#ifndef TESTS_LIB_WALK_H
#define TESTS_LIB_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "vpt/atom.h"
#include "vpt/vmx_pt.h"

enum {
	WALK_CODE_BASE = 0x400000,
	WALK_CODE_SIZE = 0x8000,
	WALK_TRACE_SIZE = 8 << 20,
	WALK_REGIONS = 8,
};

/* The effect of VM entries and exits on tracing. */
enum walk_vmx {
	WALK_NO_VMX,
	WALK_SYSTEM,	  /* host and guest are traced alike */
	WALK_GUEST,	  /* entries load CTL, exits clear it */
	WALK_GUEST_AREAS, /* MSR areas load and clear CTL */
	WALK_HOST	  /* MSR areas of entries clear CTL, those of exits load it */
};

/* The destination of the trace. */
enum walk_layout {
	WALK_STREAM, /* the transport: all of it is kept */
	WALK_SINGLE, /* one range, which wraps */
	WALK_TOPA    /* regions, the last of which leads to the first, or stops */
};

/* Instructions and events beside branches; each requires support by the model. */
enum walk_extras {
	WALK_PTWRITE = 1 << 0,
	WALK_SLEEP = 1 << 1, /* HLT and MWAIT, and changes of frequency */
	WALK_TSX = 1 << 2,   /* transactions */
	WALK_FLAGS = 1 << 3, /* CLI and STI */
	WALK_SMI = 1 << 4,
	WALK_ENCLAVE = 1 << 5,
	WALK_UINTR = 1 << 6, /* user interrupts; libipt does not know UIRET */
	WALK_BLOCKS = 1 << 7,
	WALK_XSAVES = 1 << 9,
	WALK_SAVES = 1 << 8, /* the trace unit is saved and loaded (state.h) */
};

/* A walk that Atom's RTIT traces. */
struct walk_atom {
	struct vpt_atom_regs regs; /* initial values, without Trace_En and TraceActive */
	struct vpt_atom_options options;
	bool live;	  /* WRMSRs in the code change registers */
	bool vmx;	  /* VM exits, and code in root operation until VM entry */
	const char *keep; /* file to record into; NULL: a temporary file */
};

struct walk_config {
	uint64_t seed;
	const char *model;
	uint32_t caps_ebx;  /* CPUID.14H.0:EBX bits that the model has besides its own */
	unsigned int insns; /* how many to execute */
	uint64_t ctl;	    /* CTL without TraceEn and output bits */
	uint64_t cr3_match;
	uint64_t addr[2 * VPT_MAX_RANGES];
	bool toggle;	     /* WRMSRs in the code switch TraceEn off and on */
	bool overflow;	     /* lose packets now and then */
	unsigned int aborts; /* one in so many instructions of a transaction aborts it; 0: 60 */
	enum walk_vmx vmx;
	uint32_t conceal; /* subset of VPT_VMX_CONCEAL */
	uint32_t extras;  /* enum walk_extras */
	struct vpt_pt_options options;
	enum walk_layout layout;
	unsigned int regions; /* TOPA: how many */
	/* SINGLE: the first is the range; TOPA: as in the entries, 4 KiB << size. */
	uint64_t region_bytes[WALK_REGIONS];
	uint32_t region_int;   /* TOPA: bit n: region n has INT */
	bool region_stop;      /* TOPA: the last one has STOP */
	bool map;	       /* memory is mapped, else written through */
	struct walk_atom rtit; /* of walk_atom_check() */
};

enum walk_kind {
	WALK_INSN,  /* ip: an instruction that must be decoded */
	WALK_EVENT, /* ip: source of an event that must be seen */
	WALK_LOST,  /* packets were lost here */
	WALK_OFF,   /* ip: the WRMSR that ends a trace, which is not decoded */
};

struct walk_item {
	enum walk_kind kind;
	uint32_t sure; /* LOST: items before this one have all their packets */
	bool begins;   /* nothing was traced directly before it */
	bool tip;      /* the target is not in the binary; includes RET */
	uint64_t ip;
	size_t at;    /* bytes of trace before it */
	uint64_t tsc; /* when it was executed */
};

/* A value that PTWRITE put into the trace. */
struct walk_value {
	uint64_t value;
	size_t at;
};

struct walk_result {
	uint8_t code[WALK_CODE_SIZE];
	uint8_t *trace; /* WALK_TRACE_SIZE bytes */
	size_t trace_len;
	size_t first; /* the PSB at which the remaining trace begins */
	struct walk_item *items;
	size_t count;
	struct walk_value *values;
	size_t value_count;
	unsigned int entries, exits; /* VM entries but early failures; VM exits */
	unsigned int losses;	     /* OVF packets */
	unsigned int pmis, wraps;
	bool stopped; /* by a TraceStop range */
	bool full;    /* by a STOP region */
	/* The reason why the output in memory is wrong, or NULL. */
	const char *wrong;
};

/* Set @caps to the model's capabilities for this walk. */
void walk_caps(const struct walk_config *config, struct vpt_caps *caps);
/* Execute the walk. Returns a result that the caller frees with walk_free(); never NULL. */
struct walk_result *walk_run(const struct walk_config *config);
/* Write the walk to a .vpt file as one session. */
void walk_save(const struct walk_config *config, const struct walk_result *result,
	       const char *path);
void walk_free(struct walk_result *result);

/*
 * Walk, record to a file, decode the file with libipt as vpt does, and compare. Exactly the
 * instructions executed in the traced region must be decoded, in order, and every event with its
 * source. Items around lost packets may be missing. With DisTNT, which libipt cannot follow, only
 * the targets in the packets are compared. Returns false with the reason in `why`. `seen` receives
 * statistics of the walk and may be NULL.
 */
struct walk_seen {
	size_t insns, bytes;
	unsigned int losses, wraps, values;
	bool full, stopped;
};
bool walk_check(const struct walk_config *config, char *why, size_t size, struct walk_seen *seen);

/* Make a random configuration that the model allows. Each seed determines one configuration. */
void walk_random_config(struct walk_config *config, uint64_t seed);

/*
 * Do the same with RTIT. The walk is recorded through a vCPU's tracer (vmm/pt/tracer.h), which
 * receives the reports of an engine, and is compared like `vpt verify`. Only seed, insns, extras
 * and `rtit` of the configuration are used.
 */
bool walk_atom_check(const struct walk_config *config, char *why, size_t size,
		     struct walk_seen *seen);
void walk_random_atom(struct walk_config *config, uint64_t seed);

#endif /* TESTS_LIB_WALK_H */
