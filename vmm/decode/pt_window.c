// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a stream in windows, while a flow decodes it (trace_reader_window()). */
#include "decode/pt_flow.h"

/* The bytes that are searched at once, which a window contains, and those of a PSB. */
#define SEARCH ((uint64_t)4096)
#define PSB    16u

/* Returns true if times change by VMCS blocks, which needs a whole segment, or that of a shard. */
static bool has_guests(const struct decode_pt_flow *f)
{
	size_t vmcs;

	trace_reader_vmcs(f->reader, f->vcpu, &vmcs);
	return f->spaces || vmcs;
}

int decode_pt_window_segment(struct decode_pt_flow *f)
{
	/* The caller reads the bytes of a shard. */
	return has_guests(f) && f->stop.segment == SIZE_MAX ? trace_reader_whole(f->reader, f->vcpu)
							    : 0;
}

int decode_pt_window_open(struct decode_pt_flow *f)
{
	int err;

	if (decode_pt_is_atom(f) || trace_reader_source(f->reader))
		return trace_reader_whole(f->reader, f->vcpu);
	if (has_guests(f))
		return 0;
	err = trace_reader_window_begin(f->reader, f->vcpu, &f->window.held);
	f->window.on = f->window.held;
	return err;
}

void decode_pt_window_close(struct decode_pt_flow *f)
{
	if (f->window.held)
		trace_reader_window_end(f->reader, f->vcpu);
	f->window.on = f->window.held = false;
}

int decode_pt_window_whole(struct decode_pt_flow *f)
{
	f->window.on = false;
	return trace_reader_whole(f->reader, f->vcpu);
}

int decode_pt_window_read(struct decode_pt_flow *f, uint64_t to)
{
	const uint64_t at = f->ahead.at;

	trace_reader_drop(f->reader, f->vcpu, at);
	return trace_reader_window(f->reader, f->vcpu, at, to, &f->window.loaded);
}

int decode_pt_window_psb(struct decode_pt_flow *f, const struct decode_segment *s, uint64_t *psb)
{
	uint64_t at = s->begin, end, len, found;
	int err = 0;

	if (!f->window.on) {
		*psb = f->ahead.system->find_psb(f->stream + s->begin, s->end - s->begin);
		return 0;
	}
	/* The next read begins anew, at the begin of the segment. */
	f->window.loaded = 0;
	for (*psb = s->end - s->begin; !err && at < s->end; at += SEARCH) {
		end = s->end - at < SEARCH + PSB ? s->end : at + SEARCH + PSB;
		len = end - at;
		trace_reader_drop(f->reader, f->vcpu, at);
		err = trace_reader_window(f->reader, f->vcpu, at, end, &f->window.loaded);
		found = f->ahead.system->find_psb(f->stream + at, len);
		if (err || found >= len)
			continue;
		*psb = at - s->begin + found;
		break;
	}
	f->window.loaded = 0;
	return err;
}
