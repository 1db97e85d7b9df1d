// SPDX-License-Identifier: GPL-2.0-or-later
/* Turn the shares of a partial result into a table, and back. */
#include <errno.h>

#include "decode/partial_spaces.h"
#include "trace/vec.h"

int decode_partial_shares_make(const struct decode_shares *s, struct decode_partial_shares *to)
{
	size_t i;

	for (i = 0; i < s->spaces.n; i++) {
		const struct decode_space_share *share = &s->spaces.at[i];

		if (!trace_vec_room(to))
			return -ENOMEM;
		to->at[to->n++] = (struct decode_partial_share){
			.id = share->space.id,
			.cr3 = share->space.cr3,
			.vmcs = share->space.vmcs,
			.insns = share->insns,
			.blocks = share->blocks,
			.entries = share->entries,
			.exits = share->exits,
			.time = share->time,
			.flags = share->space.flags,
			.known = share->known,
			.seen = share->seen,
		};
	}
	return 0;
}

static bool is_forged(const struct decode_partial_share *e)
{
	size_t i;

	for (i = 0; i < sizeof(e->reserved); i++) {
		if (e->reserved[i])
			return true;
	}
	return e->known > 1 || e->seen > 1 ||
	       (!e->known && (e->id || e->cr3 || e->vmcs || e->flags));
}

int decode_partial_shares_take(const struct decode_partial_shares *from, struct decode_shares *s)
{
	size_t i;

	for (i = 0; i < from->n; i++) {
		const struct decode_partial_share *e = &from->at[i];

		if (is_forged(e))
			return -EINVAL;
		if (!trace_vec_room(&s->spaces))
			return -ENOMEM;
		s->spaces.at[s->spaces.n++] = (struct decode_space_share){
			.space = {.id = e->id,
				  .cr3 = e->cr3,
				  .vmcs = e->vmcs,
				  .flags = e->flags,
				  .vm = TRACE_SPACE_NO_VM},
			.known = e->known,
			.seen = e->seen,
			.insns = e->insns,
			.blocks = e->blocks,
			.entries = e->entries,
			.exits = e->exits,
			.time = e->time,
		};
	}
	return 0;
}
