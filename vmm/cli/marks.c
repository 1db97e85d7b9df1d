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

/* Return the marks, which ascend, and their number. */
static const struct trace_reader_mark *select_marks(const struct trace_reader *r,
						    const struct cli_marks *of, size_t *n)
{
	const struct trace_reader_mark *m = trace_reader_marks(r, of->vcpu, n);

	for (; *n && m->mark.insns < of->from; --*n)
		m++;
	while (*n && of->until != UINT64_MAX && m[*n - 1].mark.insns >= of->until)
		--*n;
	return m;
}

void cli_marks_text(const struct trace_reader *r, const struct cli_marks *of)
{
	char text[TRACE_USER_MARK_MAX + 1];
	size_t n, i;
	const struct trace_reader_mark *m = select_marks(r, of, &n);

	for (i = 0; i < n && i < of->limit; i++, m++) {
		text_copy(text, sizeof(text), m->text, m->mark.len);
		printf("  mark         vCPU %u, byte 0x%" PRIx64 ", instructions: %" PRIu64
		       ", TSC 0x%" PRIx64 ", of the %s: %s\n",
		       of->vcpu, m->mark.offset, m->mark.insns, m->mark.tsc, by(m->mark.kind),
		       text);
	}
	if (i < n)
		printf("  ... and %zu more marks: see --limit\n", n - i);
}

void cli_marks_json(const struct trace_reader *r, const struct cli_marks *of, bool *first)
{
	char text[TRACE_USER_MARK_MAX + 1];
	size_t n, i;
	const struct trace_reader_mark *m = select_marks(r, of, &n);

	for (i = 0; i < n && i < of->limit; i++, m++) {
		text_copy(text, sizeof(text), m->text, m->mark.len);
		printf("%s{\"vcpu\":%u,\"offset\":%" PRIu64 ",\"insns\":%" PRIu64
		       ",\"tsc\":%" PRIu64 ",\"value\":%" PRIu64 ",\"by\":\"%s\",\"text\":",
		       *first ? "" : ",", of->vcpu, m->mark.offset, m->mark.insns, m->mark.tsc,
		       m->mark.value, by(m->mark.kind));
		text_json_string(stdout, text);
		putchar('}');
		*first = false;
	}
}
