// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints differences with their context. */
#include "oracle/report.h"

#include <inttypes.h>

#include "text/text.h"
#include "trace/session_end.h"

static const char *step_text(enum oracle_step_kind kind)
{
	switch (kind) {
	case ORACLE_STEP_INSN:
		return "insn";
	case ORACLE_STEP_ENABLED:
		return "enabled";
	case ORACLE_STEP_DISABLED:
		return "disabled";
	case ORACLE_STEP_ASYNC:
		return "event";
	case ORACLE_STEP_ASYNC_OFF:
		return "event, trace off";
	case ORACLE_STEP_STOP:
		return "TraceStop";
	case ORACLE_STEP_HELD:
		return "TraceStop, held while packets are lost";
	default:
		return "?";
	}
}

static void show_address(struct decode_listing *l, const char *word, uint64_t ip)
{
	char name[128];

	debug_symbols_format(l->symbols, ip, name, sizeof(name));
	fprintf(l->out, " %s 0x%" PRIx64 " <%s>", word, ip, name);
}

static void show(struct decode_listing *l, char mark, const struct oracle_diff_line *line)
{
	const struct oracle_step *step = &line->step;

	fprintf(l->out, "  %c ", mark);
	if (step->kind == ORACLE_STEP_INSN) {
		decode_listing_insn(l, step->ip, line->mode, line->raw, line->len);
	} else {
		fprintf(l->out, "-- %s", step_text(step->kind));
		if (step->kind == ORACLE_STEP_ENABLED || step->kind == ORACLE_STEP_ASYNC ||
		    step->kind == ORACLE_STEP_ASYNC_OFF)
			show_address(l, "at", step->ip);
		if (step->kind == ORACLE_STEP_ASYNC)
			show_address(l, "to", step->to);
	}
	fputc('\n', l->out);
}

void oracle_report_diff(struct decode_listing *l, const struct oracle_diff *diff)
{
	unsigned int i;

	fprintf(l->out,
		"vCPU %u, session %zu, after %" PRIu64 " instructions, about byte 0x%" PRIx64
		" of the trace: %s\n",
		diff->vcpu, diff->session, diff->insns, diff->offset,
		diff->text ? diff->text : "what ran is not what the trace says");
	for (i = 0; i < diff->ncommon; i++)
		show(l, ' ', &diff->common[i]);
	for (i = 0; i < diff->nexpected; i++)
		show(l, '-', &diff->expected[i]);
	for (i = 0; i < diff->ndecoded; i++)
		show(l, '+', &diff->decoded[i]);
	fputs("  (- ran, and should be in the trace; + is in the trace)\n", l->out);
}

void oracle_report_loops(struct decode_listing *l, const struct oracle_comparison *c)
{
	const struct oracle_loop_seen *loop = &c->loop;

	if (!c->loops)
		return;
	fprintf(l->out, "vCPU %u, session %zu, after %" PRIu64 " instructions: the trace %s",
		loop->vcpu, loop->session, loop->after,
		loop->ends ? "ends in a loop of direct branches"
			   : "runs through a loop of direct branches");
	show_address(l, "at", loop->ip);
	fputs(": the format does not record how often it ran\n", l->out);
	fprintf(l->out,
		"loops of direct branches: %" PRIu64 ", with %" PRIu64
		" instructions that were not compared\n",
		c->loops, c->looped);
}

void oracle_report_shortfalls(FILE *out, const struct oracle_comparison *c)
{
	size_t i;

	for (i = 0; i < c->shortfalls.n; i++) {
		const struct oracle_shortfall *s = &c->shortfalls.at[i];

		fprintf(out,
			"vCPU %u, session %zu: truncated: %s: %" PRIu64 " of %" PRIu64
			" in the trace\n",
			s->vcpu, s->session, trace_session_end_text(s->end, s->atom), s->decoded,
			s->retired);
	}
	if (c->skipped)
		fprintf(out, "before a PSB, or lost to overflows: %" PRIu64 "\n", c->skipped);
}

static void json_lines(FILE *out, const char *name, const struct oracle_diff_line *lines,
		       unsigned int n)
{
	unsigned int i;

	fprintf(out, ",\"%s\":[", name);
	for (i = 0; i < n; i++) {
		fprintf(out, "%s{\"kind\":\"%s\",\"ip\":", i ? "," : "",
			step_text(lines[i].step.kind));
		text_json_address(out, lines[i].step.ip);
		if (lines[i].step.kind == ORACLE_STEP_ASYNC) {
			fputs(",\"to\":", out);
			text_json_address(out, lines[i].step.to);
		}
		fputc('}', out);
	}
	fputc(']', out);
}

static void json_diff(FILE *out, const struct oracle_diff *diff)
{
	fprintf(out,
		",\"first\":{\"vcpu\":%u,\"session\":%zu,\"insns\":%" PRIu64 ",\"offset\":%" PRIu64
		",\"what\":",
		diff->vcpu, diff->session, diff->insns, diff->offset);
	text_json_string(out, diff->text ? diff->text : "difference");
	json_lines(out, "common", diff->common, diff->ncommon);
	json_lines(out, "expected", diff->expected, diff->nexpected);
	json_lines(out, "decoded", diff->decoded, diff->ndecoded);
	fputc('}', out);
}

void oracle_report_json(FILE *out, const struct oracle_comparison *c)
{
	size_t i;

	fprintf(out,
		"{\"retired\":%" PRIu64 ",\"decoded\":%" PRIu64 ",\"mismatches\":%" PRIu64
		",\"events\":%" PRIu64 ",\"sessions\":%" PRIu64 ",\"skipped\":%" PRIu64
		",\"errors\":%" PRIu64 ",\"truncated\":[",
		c->retired, c->decoded, c->mismatches, c->events, c->sessions, c->skipped,
		c->errors);
	for (i = 0; i < c->shortfalls.n; i++) {
		const struct oracle_shortfall *s = &c->shortfalls.at[i];

		fprintf(out,
			"%s{\"vcpu\":%u,\"session\":%zu,\"by\":\"%s\",\"retired\":%" PRIu64
			",\"decoded\":%" PRIu64 "}",
			i ? "," : "", s->vcpu, s->session, trace_session_end_text(s->end, s->atom),
			s->retired, s->decoded);
	}
	fputc(']', out);
	if (c->loops) {
		fprintf(out,
			",\"loops\":%" PRIu64 ",\"looped\":%" PRIu64
			",\"loop\":{\"vcpu\":%u,\"session\":%zu,\"insns\":%" PRIu64 ",\"ip\":",
			c->loops, c->looped, c->loop.vcpu, c->loop.session, c->loop.after);
		text_json_address(out, c->loop.ip);
		fputc('}', out);
	}
	if (c->mismatches)
		json_diff(out, &c->diff);
	fputs("}\n", out);
}
