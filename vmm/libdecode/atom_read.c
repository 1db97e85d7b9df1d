// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Read packets of RTIT from pieces of a stream, and expand their LIPs. */
#include "libdecode/atom_inside.h"

/* [ATOM-LIP-LAST] Update the last LIP, on which the next packet depends whatever its kind. */
static void take_lip(struct dec_atom *r, struct dec_atom_said *said)
{
	uint64_t lip;

	said->has_lip = false;
	if (!vpt_atom_pkt_has_lip(said->packet.kind))
		return;
	said->has_lip = !vpt_atom_lip_expand(&said->packet, r->last, r->last_known, &lip);
	r->last_known = said->has_lip;
	if (!said->has_lip)
		return;
	r->last = (uint32_t)(lip >> 16);
	said->lip = vpt_atom_canonical(lip);
}

void dec_atom_cut(struct dec_atom *r)
{
	if (r->carry.n && !r->skips)
		dec_atom_bad(r);
	r->carry.n = 0;
}

/* Use TNTs, the majority of most traces, while no packet waits. Returns the bytes used. */
static size_t plain_tnts(struct dec_atom *r, const uint8_t *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len && bytes[i] > 1 && bytes[i] >> (VPT_ATOM_TNT_MAX + 1) == 0; i++) {
		unsigned int n = 31u - (unsigned int)__builtin_clz(bytes[i]);
		enum vptd_status status =
			dec_flow_outcomes(r->flow, bytes[i] ^ (uint64_t)1 << n, n);

		r->led = ++r->offset;
		if (!status && r->config.at_once)
			status = dec_atom_drain(r);
		if (vpt_unlikely(status)) {
			dec_atom_failed(r, status);
			return i + 1;
		}
	}
	return i;
}

/* Skip to the next PSB. Returns the bytes used. Bytes that may begin a PSB are left. */
static size_t find_psb(struct dec_atom *r, const uint8_t *bytes, size_t len)
{
	size_t at = vpt_atom_packet_find_psb(bytes, len);

	if (at == len)
		at = len > VPT_ATOM_PSB_BYTES - 1 ? len - (VPT_ATOM_PSB_BYTES - 1) : 0;
	else
		r->skips = false;
	r->offset += at;
	return at;
}

/* Read one packet, or several TNTs. Returns the bytes used, or 0 if more are needed. */
static size_t step(struct dec_atom *r, const uint8_t *bytes, size_t len)
{
	bool cycle_acc = VPT_ATOM_GET(CTL, CYCLE_ACC, r->regs.ctl);
	struct dec_atom_said said;
	size_t used = 0;

	if (r->skips) {
		used = find_psb(r, bytes, len);
		if (r->skips)
			return used;
		bytes += used;
		len -= used;
	}
	if (r->enabled && r->waits == R_NONE && !r->stale && !cycle_acc) {
		size_t tnts = plain_tnts(r, bytes, len);

		if (tnts)
			return used + tnts;
	}
	switch (vpt_atom_packet_read(bytes, len, cycle_acc, &said.packet)) {
	case VPT_OK:
		r->offset += said.packet.size;
		said.offset = r->offset;
		take_lip(r, &said);
		dec_atom_packet(r, &said);
		return used + said.packet.size;
	case VPT_E_EOS:
		return used;
	default:
		dec_atom_bad(r);
		r->skips = true;
		r->offset++;
		return used + 1;
	}
}

void dec_atom_push(struct dec_atom *r, const uint8_t *bytes, size_t len)
{
	struct dec_piece piece = {.left = bytes, .nleft = len};

	while (dec_carry_next(&r->carry, &piece))
		dec_carry_used(&r->carry, &piece, step(r, piece.at, piece.n));
}
