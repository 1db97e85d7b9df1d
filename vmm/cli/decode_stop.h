/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stop of the guest in the output of `vpt decode`. */
#ifndef VMM_CLI_DECODE_STOP_H
#define VMM_CLI_DECODE_STOP_H

#include "cli/post_mortem.h"
#include "decode/disasm.h"
#include "decode/last_calls.h"
#include "debug/symbol.h"

struct cli_decode_stop {
	const struct trace_post_mortem *pm; /* NULL if the file does not record the stop */
	struct decode_last_calls last;	    /* the last calls of the vCPU that stopped */
	bool counted; /* blocks were counted so far, and are items from the next one on */
};

/* Returns true if the calls before the stop are of interest: the guest did not end itself. */
static inline bool cli_decode_stop_has_calls(const struct cli_decode_stop *s)
{
	return s->pm->stop.kind != TRACE_STOP_EXIT && s->pm->stop.kind != TRACE_STOP_SNAPSHOT;
}

/* Returns true if the items of @vcpu are needed. */
static inline bool cli_decode_stop_wants(const struct cli_decode_stop *s, unsigned int vcpu)
{
	return s->pm && vcpu == s->pm->vcpu && cli_decode_stop_has_calls(s);
}

/* Add the next item of @vcpu. */
static inline void cli_decode_stop_item(struct cli_decode_stop *s, unsigned int vcpu,
					const struct decode_item *item)
{
	if (!cli_decode_stop_wants(s, vcpu))
		return;
	s->counted = s->counted && item->kind != DECODE_ITEM_BLOCK;
	if (!s->counted)
		decode_last_calls_item(&s->last, item);
}

/*
 * Returns true if the output names functions and lines. @json: the output is members of an object.
 */
bool cli_decode_stop_names(const struct cli_decode_stop *s, bool json);

/* Print the end of the summary: the stop and the calls before it. */
void cli_decode_stop_text(const struct cli_decode_stop *s, const struct cli_names *names);
/* Print the same as members of an object, each after a comma. */
void cli_decode_stop_json(const struct cli_decode_stop *s, const struct cli_names *names);
/* Print the last line of a listing. */
void cli_decode_stop_line(const struct cli_decode_stop *s, const struct cli_names *names,
			  bool json);

#endif /* VMM_CLI_DECODE_STOP_H */
