// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the marks of a trace for vpt info and vpt decode. */
#include "cli/marks.h"

#include <inttypes.h>
#include <stdio.h>

#include "text/text.h"
#include "trace/reader.h"

static const char *by(uint32_t kind)
{
	static const char *const texts[TRACE_USER_MARK_KINDS] = {"guest", "monitor", "import"};

	return kind < TRACE_USER_MARK_KINDS ? texts[kind] : "?";
}

void cli_marks_text(const struct trace_reader *r, unsigned int vcpu, uint64_t limit)
{
	char text[TRACE_USER_MARK_MAX + 1];
	const struct trace_reader_mark *m;
	size_t n, i;

	m = trace_reader_marks(r, vcpu, &n);
	for (i = 0; i < n && i < limit; i++, m++) {
		text_copy(text, sizeof(text), m->text, m->mark.len);
		printf("  mark         vCPU %u, byte 0x%" PRIx64 ", instructions: %" PRIu64
		       ", TSC 0x%" PRIx64 ", of the %s: %s\n",
		       vcpu, m->mark.offset, m->mark.insns, m->mark.tsc, by(m->mark.kind), text);
	}
	if (i < n)
		printf("  ... and %zu more marks: see --limit\n", n - i);
}

void cli_marks_json(const struct trace_reader *r, unsigned int vcpu, uint64_t limit, bool *first)
{
	char text[TRACE_USER_MARK_MAX + 1];
	const struct trace_reader_mark *m;
	size_t n, i;

	m = trace_reader_marks(r, vcpu, &n);
	for (i = 0; i < n && i < limit; i++, m++) {
		text_copy(text, sizeof(text), m->text, m->mark.len);
		printf("%s{\"vcpu\":%u,\"offset\":%" PRIu64 ",\"insns\":%" PRIu64
		       ",\"tsc\":%" PRIu64 ",\"value\":%" PRIu64 ",\"by\":\"%s\",\"text\":",
		       *first ? "" : ",", vcpu, m->mark.offset, m->mark.insns, m->mark.tsc,
		       m->mark.value, by(m->mark.kind));
		text_json_string(stdout, text);
		putchar('}');
		*first = false;
	}
}
