// SPDX-License-Identifier: GPL-2.0-or-later
/* Rewrite the TSC packets of guests to the host's TSC. */
#include "decode/guest_tsc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vpt/packet.h"
#include "vpt/tsc.h"

struct state {
	const struct decode_guest_tsc_input *input;
	struct vpt_parser parser;
	struct decode_space_key key;
	const struct trace_space *space; /* the current space, as far as packets report it */
	size_t vmcs;			 /* the number of VMCS blocks up to the current position */
};

static void take_pip(struct state *st, const struct vpt_packet *p)
{
	st->key.cr3 = p->value;
	st->key.non_root = p->flag;
	st->space = decode_spaces_find(st->input->spaces,
				       decode_spaces_resolve(st->input->spaces, &st->key));
}

static void take_vmcs(struct state *st, const struct vpt_packet *p)
{
	/* All ones means that no VMCS is current (33.4.2.15). */
	st->key.vmcs = p->value == TRACE_SPACE_ID_MASK ? TRACE_SPACE_ANY_VMCS : p->value;
}

/* Read a PSB+ ahead. Its space applies to the whole PSB+, including its TSC. */
static void take_psb(struct state *st, const uint8_t *in, size_t len)
{
	struct vpt_packet pip = {.kind = VPT_PKT_PAD}, p;
	struct vpt_parser parser = st->parser;
	size_t at;

	for (at = 0; vpt_packet_read(&parser, in + at, len - at, &p) == VPT_OK; at += p.size) {
		if (p.kind == VPT_PKT_VMCS)
			take_vmcs(st, &p);
		else if (p.kind == VPT_PKT_PIP)
			pip = p;
		else if (p.kind == VPT_PKT_PSBEND || p.kind == VPT_PKT_OVF || p.kind == VPT_PKT_PSB)
			break;
	}
	if (pip.kind == VPT_PKT_PIP)
		take_pip(st, &pip);
}

/*
 * Get the TSC offset and multiplier of the current guest at @at. Returns false if no guest runs, or
 * if they are unknown.
 */
static bool find_tsc(struct state *st, uint64_t at, struct vpt_tsc *tsc)
{
	const struct trace_vmcs *all = st->input->vmcs;
	size_t i;

	while (st->vmcs < st->input->nvmcs && all[st->vmcs].offset <= at)
		st->vmcs++;
	if (!st->space || !(st->space->flags & TRACE_SPACE_NON_ROOT))
		return false;
	for (i = st->vmcs; i; i--) {
		if (all[i - 1].vmcs != st->space->vmcs)
			continue;
		*tsc = (struct vpt_tsc){all[i - 1].tsc_offset, all[i - 1].tsc_multiplier};
		return true;
	}
	return false;
}

/* Rewrite a TSC packet at @out, which ends @at bytes into the stream. */
static void tsc_packet(struct state *st, const struct vpt_packet *p, uint8_t *out, uint64_t at)
{
	struct vpt_packet made = *p;
	uint8_t buf[VPT_PKT_MAX];
	struct vpt_tsc tsc;
	uint64_t last;

	/* Assume 0 in bits 63:56, which no TSC has reached. */
	if (!find_tsc(st, at, &tsc) ||
	    vpt_tsc_host_packet(&tsc, p->value, 0, &made.value, &last) != VPT_OK)
		return;
	made.value &= VPT_MASK64(55, 0);
	if (vpt_packet_write(buf, &made) == p->size)
		memcpy(out, buf, p->size);
}

/* Rewrite the bytes of the part. */
static void rewrite(struct state *st, uint8_t *bytes, size_t len)
{
	uint64_t begin = st->input->from;
	struct vpt_packet p;
	size_t at = vpt_packet_find_psb(bytes, len);

	while (at < len) {
		if (vpt_packet_read(&st->parser, bytes + at, len - at, &p) != VPT_OK) {
			/* Resume at the next PSB, like a decoder. */
			memset(&st->parser, 0, sizeof(st->parser));
			at++;
			at += vpt_packet_find_psb(bytes + at, len - at);
			continue;
		}
		at += p.size;
		if (p.kind == VPT_PKT_PSB)
			take_psb(st, bytes + at, len - at);
		else if (p.kind == VPT_PKT_PIP)
			take_pip(st, &p);
		else if (p.kind == VPT_PKT_VMCS)
			take_vmcs(st, &p);
		else if (p.kind == VPT_PKT_TSC)
			tsc_packet(st, &p, bytes + at - p.size, begin + at);
	}
}

int decode_guest_tsc(const struct decode_guest_tsc_input *input, uint8_t **bytes)
{
	const struct decode_segment *s = input->segment;
	struct state st = {.input = input, .key = {.vmcs = TRACE_SPACE_ANY_VMCS}};
	const size_t skipped = input->from - s->begin, len = input->to - input->from;

	*bytes = NULL;
	if (!input->nvmcs || !input->spaces)
		return 0;
	*bytes = malloc(s->end - s->begin + 1);
	if (!*bytes)
		return -ENOMEM;
	memcpy(*bytes + skipped, input->stream + input->from, len);
	rewrite(&st, *bytes + skipped, len);
	return 0;
}
