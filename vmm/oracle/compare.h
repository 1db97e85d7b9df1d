/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A decoded trace against what should be in it: instructions and events, in order,
 * session by session.
 */
#ifndef VMM_ORACLE_COMPARE_H
#define VMM_ORACLE_COMPARE_H

#include "judge/judge.h"
#include "oracle/expect.h"

/* Lines around a difference that are shown of each side. */
#define ORACLE_DIFF_CONTEXT 8

/* A step with what is needed to show it. */
struct oracle_diff_line {
	struct oracle_step step;
	uint8_t mode;
	uint8_t len;
	uint8_t raw[15];
};

struct oracle_diff {
	unsigned int vcpu;
	size_t session;
	uint64_t insns;	  /* that agreed before it, since decoding set in */
	uint64_t offset;  /* in the stream */
	const char *text; /* what it is, NULL: the first lines below differ */
	struct oracle_diff_line common[ORACLE_DIFF_CONTEXT];
	struct oracle_diff_line expected[ORACLE_DIFF_CONTEXT];
	struct oracle_diff_line decoded[ORACLE_DIFF_CONTEXT];
	unsigned int ncommon, nexpected, ndecoded;
	char buf[160];
};

/* A session of which the trace does not have everything, and need not. */
struct oracle_shortfall {
	unsigned int vcpu;
	size_t session;
	uint32_t end; /* enum trace_session_end, NONE: the file is cut */
	bool atom;
	uint64_t retired, decoded;
};

/* A loop of direct branches: the trace does not say how often it ran. */
struct oracle_loop_seen {
	unsigned int vcpu;
	size_t session;
	uint64_t after; /* instructions that agreed before it, since decoding set in */
	uint64_t ip;
	bool ends; /* nothing else ran in the session */
};

/* The unit of comparison. The result is the same; tests use STEPS, which is slower. */
enum oracle_compare_unit { ORACLE_COMPARE_STRETCHES, ORACLE_COMPARE_STEPS };

struct oracle_comparison {
	/* Set by the caller: */
	enum judge_flow_by by; /* the decoder of Intel PT */
	enum oracle_compare_unit unit;

	uint64_t retired;    /* instructions that should be in the trace */
	uint64_t decoded;    /* that are */
	uint64_t matched;    /* of these, as whole stretches */
	uint64_t events;     /* that agreed */
	uint64_t mismatches; /* at most one per segment */
	uint64_t sessions;
	uint64_t skipped; /* retired, but before a PSB or in an overflow */
	uint64_t errors;  /* of the decoder */
	/*
	 * Instructions that raised an exception or left by a VM exit, and look in the trace as if
	 * they had run. They are INT n and instructions that clear TraceEn. They are decoded, and
	 * not retired.
	 */
	uint64_t untold;
	uint64_t loops;		      /* of direct branches */
	uint64_t looped;	      /* retired in these, and not in what was decoded */
	struct oracle_loop_seen loop; /* one that ends a session, or else the first */
	struct {
		struct oracle_shortfall *at;
		size_t n, room;
	} shortfalls;
	struct oracle_diff diff; /* the first, if there are mismatches */
};

/* Compare a vCPU and add to `c`, zero to begin with but for what the caller sets. 0 or -errno. */
int oracle_compare(struct trace_reader *reader, unsigned int vcpu, struct oracle_comparison *c);
void oracle_comparison_free(struct oracle_comparison *c);

#endif /* VMM_ORACLE_COMPARE_H */
