/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparison of a decoded trace with its expected contents: instructions and events, in order,
 * session by session.
 */
#ifndef VMM_ORACLE_COMPARE_H
#define VMM_ORACLE_COMPARE_H

#include "judge/judge.h"
#include "oracle/expect.h"

/* Number of lines around a difference that are shown of each side. */
#define ORACLE_DIFF_CONTEXT 8

/* A step with the data for showing it. */
struct oracle_diff_line {
	struct oracle_step step;
	uint8_t mode;
	uint8_t len;
	uint8_t raw[15];
};

struct oracle_diff {
	unsigned int vcpu;
	size_t session;
	uint64_t insns;	  /* instructions that agreed before it, since the start of decoding */
	uint64_t offset;  /* position in the stream */
	const char *text; /* description; NULL: the first lines below differ */
	struct oracle_diff_line common[ORACLE_DIFF_CONTEXT];
	struct oracle_diff_line expected[ORACLE_DIFF_CONTEXT];
	struct oracle_diff_line decoded[ORACLE_DIFF_CONTEXT];
	unsigned int ncommon, nexpected, ndecoded;
	char buf[160];
};

/* A session that is incomplete in the trace, for a valid reason. */
struct oracle_shortfall {
	unsigned int vcpu;
	size_t session;
	uint32_t end; /* enum trace_session_end, NONE if the file is cut */
	bool atom;
	uint64_t retired, decoded;
};

/* A loop of direct branches, whose number of iterations the trace does not show. */
struct oracle_loop_seen {
	unsigned int vcpu;
	size_t session;
	uint64_t after; /* instructions that agreed before it, since the start of decoding */
	uint64_t ip;
	bool ends; /* nothing else ran in the session */
};

/* The unit of comparison. Both give the same result; STEPS is slower and for tests. */
enum oracle_compare_unit { ORACLE_COMPARE_STRETCHES, ORACLE_COMPARE_STEPS };

struct oracle_comparison {
	/* Set by the caller: */
	enum judge_flow_by by; /* the decoder of Intel PT */
	enum oracle_compare_unit unit;
	bool threaded; /* another thread decodes ahead; the result is the same */

	uint64_t retired;    /* instructions that the trace should contain */
	uint64_t decoded;    /* instructions that the trace contains */
	uint64_t matched;    /* number of these that were compared as whole stretches */
	uint64_t events;     /* events that agreed */
	uint64_t mismatches; /* mismatches, at most one per segment */
	uint64_t sessions;
	uint64_t skipped; /* instructions that retired before a PSB or in an overflow */
	uint64_t errors;  /* errors of the decoder */
	/*
	 * Instructions that raised an exception or caused a VM exit, but whose packets are those of
	 * a retired instruction. They are INT n and instructions that clear TraceEn. They are
	 * decoded, and have not retired.
	 */
	uint64_t untold;
	uint64_t loops;		      /* loops of direct branches */
	uint64_t looped;	      /* instructions that retired in these loops and were not
	                	       * decoded */
	struct oracle_loop_seen loop; /* a loop that ends a session, or else the first loop */
	struct {
		struct oracle_shortfall *at;
		size_t n, room;
	} shortfalls;
	struct oracle_diff diff; /* the first difference, if there are mismatches */
};

/*
 * Compare a vCPU and add the result to `c`, which is zero at first except for the caller's
 * settings. Returns 0 or -errno.
 */
int oracle_compare(struct trace_reader *reader, unsigned int vcpu, struct oracle_comparison *c);
void oracle_comparison_free(struct oracle_comparison *c);

#endif /* VMM_ORACLE_COMPARE_H */
