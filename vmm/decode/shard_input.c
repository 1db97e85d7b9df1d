// SPDX-License-Identifier: GPL-2.0-or-later
/* Which flows can be cut into shards, and what a plan of the shards is made of. */
#include "decode/shard_input.h"

bool decode_shard_can_cut(const struct decode_pt_flow *f)
{
	const struct decode_code_store *code = f->ahead.store;
	/* Code that changes at offsets depends on errors before, and a shard does not know them. */
	if (decode_code_by_offset(code) && decode_code_changes(code))
		return false;
	return !decode_pt_is_atom(f) && f->nsegments && !trace_reader_source(f->reader);
}

bool decode_shard_has_guests(const struct decode_pt_flow *f)
{
	size_t vmcs;

	trace_reader_vmcs(f->reader, f->vcpu, &vmcs);
	return f->spaces || vmcs;
}

static bool resumes(const struct decode_pt_flow *f)
{
	size_t i;

	for (i = 0; i < f->ncr3s && !(f->cr3s[i].cr3 & TRACE_CR3_RESUMED); i++)
		;
	return i < f->ncr3s;
}

struct decode_shard_input decode_shard_input_of(const struct decode_pt_flow *f)
{
	size_t vmcs;

	trace_reader_vmcs(f->reader, f->vcpu, &vmcs);
	return (struct decode_shard_input){
		.reader = f->reader,
		.vcpu = f->vcpu,
		.segments = f->segments,
		.nsegments = f->nsegments,
		.periods = f->periods,
		.stream = f->stream,
		.code = f->ahead.store,
		.switches = f->nswitches,
		.cr3s = f->ncr3s,
		.vmcs = vmcs,
		.resumes = resumes(f),
		.near = DECODE_SHARD_NEAR,
	};
}
