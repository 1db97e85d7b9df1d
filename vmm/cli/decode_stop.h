/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the guest stopped, in what `vpt decode` shows. */
#ifndef VMM_CLI_DECODE_STOP_H
#define VMM_CLI_DECODE_STOP_H

#include "cli/post_mortem.h"
#include "decode/disasm.h"
#include "decode/last_calls.h"
#include "debug/symbol.h"

struct vpt_decode_stop {
	const struct vpt_post_mortem *pm; /* NULL: the file does not tell */
	struct vpt_last_calls last;	  /* of the vCPU that stopped */
};

/* Only a guest that did not end itself has calls that are of interest. */
static inline bool vpt_decode_stop_has_calls(const struct vpt_decode_stop *s)
{
	return s->pm->stop.kind != VPT_STOP_EXIT && s->pm->stop.kind != VPT_STOP_SNAPSHOT;
}

/* Are the items of @vcpu needed? */
static inline bool vpt_decode_stop_wants(const struct vpt_decode_stop *s, unsigned int vcpu)
{
	return s->pm && vcpu == s->pm->vcpu && vpt_decode_stop_has_calls(s);
}

/* Take the next item of @vcpu. */
static inline void vpt_decode_stop_item(struct vpt_decode_stop *s, unsigned int vcpu,
					const struct vpt_item *item)
{
	if (vpt_decode_stop_wants(s, vcpu))
		vpt_last_calls_item(&s->last, item);
}

/* Do these name functions and lines? @json: as members of an object. */
bool vpt_decode_stop_names(const struct vpt_decode_stop *s, bool json);

/* The end of the summary: what happened, and the calls before it. */
void vpt_decode_stop_text(const struct vpt_decode_stop *s, const struct vpt_cli_names *names);
/* The same as members of an object, each behind a comma. */
void vpt_decode_stop_json(const struct vpt_decode_stop *s, const struct vpt_cli_names *names);
/* The last line of a listing. */
void vpt_decode_stop_line(const struct vpt_decode_stop *s, const struct vpt_cli_names *names,
			  bool json);

#endif /* VMM_CLI_DECODE_STOP_H */
