/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the guest stopped, in what `vpt decode` shows. */
#ifndef VMM_CLI_DECODE_STOP_H
#define VMM_CLI_DECODE_STOP_H

#include "cli/post_mortem.h"
#include "decode/disasm.h"
#include "decode/last_calls.h"
#include "debug/symbol.h"

struct cli_decode_stop {
	const struct trace_post_mortem *pm; /* NULL: the file does not tell */
	struct decode_last_calls last;	    /* of the vCPU that stopped */
};

/* Only a guest that did not end itself has calls that are of interest. */
static inline bool cli_decode_stop_has_calls(const struct cli_decode_stop *s)
{
	return s->pm->stop.kind != TRACE_STOP_EXIT && s->pm->stop.kind != TRACE_STOP_SNAPSHOT;
}

/* Are the items of @vcpu needed? */
static inline bool cli_decode_stop_wants(const struct cli_decode_stop *s, unsigned int vcpu)
{
	return s->pm && vcpu == s->pm->vcpu && cli_decode_stop_has_calls(s);
}

/* Take the next item of @vcpu. */
static inline void cli_decode_stop_item(struct cli_decode_stop *s, unsigned int vcpu,
					const struct decode_item *item)
{
	if (cli_decode_stop_wants(s, vcpu))
		decode_last_calls_item(&s->last, item);
}

/* Do these name functions and lines? @json: as members of an object. */
bool cli_decode_stop_names(const struct cli_decode_stop *s, bool json);

/* The end of the summary: what happened, and the calls before it. */
void cli_decode_stop_text(const struct cli_decode_stop *s, const struct cli_names *names);
/* The same as members of an object, each behind a comma. */
void cli_decode_stop_json(const struct cli_decode_stop *s, const struct cli_names *names);
/* The last line of a listing. */
void cli_decode_stop_line(const struct cli_decode_stop *s, const struct cli_names *names,
			  bool json);

#endif /* VMM_CLI_DECODE_STOP_H */
