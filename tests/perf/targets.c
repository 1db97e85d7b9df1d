// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf on a trace with DisTNT, of which nobody can tell all instructions (33.3.9): it shows
 * the IPs of packets. They are those that our parser reads, and where a packet says that
 * execution went, it did, in this order, by the oracle's list.
 *
 * usage: perf-targets TRACE <PERF      PERF: what perf script --itrace=i0ns -F ip prints
 *
 * Prints one line. The exit status is 0 if all is as it should be.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/expect.h"
#include "trace/reader.h"
#include "vpt/packet.h"

struct walk {
	struct oracle_expect oracle;
	uint64_t last_ip;
	size_t shown, targets;
};

static void wrong(const struct walk *w, const char *what, uint64_t ip)
{
	printf("%zu shown: %s: %" PRIx64 "\n", w->shown, what, ip);
	exit(1);
}

/* Check that perf shows this IP next. */
static void shows(struct walk *w, uint64_t ip)
{
	char line[256], *end;
	uint64_t perf;

	if (!fgets(line, sizeof(line), stdin))
		wrong(w, "perf does not have", ip);
	perf = strtoull(line, &end, 16);
	if (end == line || perf != ip)
		wrong(w, line, ip);
	w->shown++;
}

/* Check that execution reaches this IP, with an instruction or an event. */
static void reaches(struct walk *w, uint64_t ip)
{
	struct oracle_step step;

	do {
		oracle_expect_next(&w->oracle, &step);
		if (step.kind == ORACLE_STEP_END || step.kind == ORACLE_STEP_WRONG)
			wrong(w, "not in the oracle, or not in this order", ip);
	} while ((step.kind != ORACLE_STEP_INSN && step.kind != ORACLE_STEP_ASYNC &&
		  step.kind != ORACLE_STEP_ASYNC_OFF) ||
		 step.ip != ip);
	w->targets++;
}

static void take(struct walk *w, const struct vpt_packet *p)
{
	switch (p->kind) {
	case VPT_PKT_PSB:
		w->last_ip = 0;
		return;
	case VPT_PKT_TIP:
	case VPT_PKT_TIP_PGE:
	case VPT_PKT_TIP_PGD:
	case VPT_PKT_FUP:
		if (vpt_ip_expand(w->last_ip, p->ip_bytes, p->value, &w->last_ip) != VPT_OK ||
		    p->kind == VPT_PKT_TIP_PGD)
			return;
		shows(w, w->last_ip);
		if (p->kind != VPT_PKT_FUP)
			reaches(w, w->last_ip);
		return;
	default:
		return;
	}
}

int main(int argc, char **argv)
{
	struct vpt_parser parser = {0};
	struct vpt_packet p;
	const uint8_t *bytes;
	struct trace_reader *r;
	struct walk w = {0};
	char text[256];
	size_t len, at;

	if (argc != 2)
		return 2;
	if (trace_reader_open(argv[1], &r, text, sizeof(text))) {
		puts(text);
		return 2;
	}
	bytes = trace_reader_stream(r, 0, &len);
	if (!bytes)
		return 2;
	oracle_expect_init(&w.oracle, r, 0);
	for (at = 0; at < len; at += p.size) {
		if (vpt_packet_read(&parser, bytes + at, len - at, &p) != VPT_OK)
			break;
		take(&w, &p);
	}
	if (fgets(text, sizeof(text), stdin))
		wrong(&w, text, 0);
	printf("%zu IPs of packets, %zu of them targets that are in the oracle\n", w.shown,
	       w.targets);
	trace_reader_close(r);
	return 0;
}
