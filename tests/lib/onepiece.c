// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/onepiece.h"

const struct trace_session *one_piece(const struct trace_reader *reader)
{
	const struct trace_period *periods;
	const struct trace_code *code;
	size_t n, i;

	periods = trace_reader_sessions(reader, 0, &n);
	if (n != 1)
		return NULL;
	code = trace_reader_code(reader, 0, &n);
	for (i = 1; i < n; i++)
		if (code[i - 1].page->cr3 != code[i].page->cr3 ||
		    code[i - 1].page->vaddr == code[i].page->vaddr)
			return NULL;
	return periods->start;
}
