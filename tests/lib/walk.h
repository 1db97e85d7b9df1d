/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk through random code by a processor that computes nothing: it decides
 * itself where each branch goes, reports what happened to a vpt_pt, and keeps an
 * account of its own of what a decoder must then find. No KVM and no guest, so it
 * reaches modes and events that a host may not let a guest have.
 *
 * What must be found is worked out here from the manual's words, not with the
 * library's functions: two readings of the same rules that have to agree.
 */
#ifndef TESTS_LIB_WALK_H
#define TESTS_LIB_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "vpt/vmx_pt.h"

enum {
	WALK_CODE_BASE = 0x400000,
	WALK_CODE_SIZE = 0x8000,
	WALK_TRACE_SIZE = 8 << 20,
};

/* What VM entries and exits are there for. */
enum walk_vmx {
	WALK_NO_VMX,
	WALK_SYSTEM,	 /* host and guest are traced alike */
	WALK_GUEST,	 /* entries load CTL, exits clear it */
	WALK_GUEST_AREAS /* MSR areas do */
};

struct walk_config {
	uint64_t seed;
	const char *model;
	unsigned int insns; /* how many to execute */
	uint64_t ctl;	    /* CTL without TraceEn and output bits */
	uint64_t cr3_match;
	uint64_t addr[2 * VPT_MAX_RANGES];
	bool toggle;   /* WRMSRs in the code switch TraceEn off and on */
	bool overflow; /* lose packets now and then */
	enum walk_vmx vmx;
	uint32_t conceal; /* subset of VPT_VMX_CONCEAL */
};

enum walk_kind {
	WALK_INSN,  /* ip: an instruction that must be decoded */
	WALK_EVENT, /* ip: source of an event that must be seen */
	WALK_LOST,  /* packets were lost here */
};

struct walk_item {
	enum walk_kind kind;
	uint64_t ip;
};

struct walk_result {
	uint8_t code[WALK_CODE_SIZE];
	uint8_t *trace; /* WALK_TRACE_SIZE bytes */
	size_t trace_len;
	struct walk_item *items;
	size_t count;
	unsigned int entries, exits; /* VM entries but early failures; VM exits */
	bool stopped;		     /* by a TraceStop range */
};

/* Execute. Returns what the caller frees with walk_free(); never NULL. */
struct walk_result *walk_run(const struct walk_config *config);
/* Write what happened to a .vpt file, as one session. */
void walk_save(const struct walk_config *config, const struct walk_result *result,
	       const char *path);
void walk_free(struct walk_result *result);

#endif /* TESTS_LIB_WALK_H */
