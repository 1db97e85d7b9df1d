/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The packets of a stretch of RTIT's stream, with whole LIPs, session by session: what a
 * packet says depends on the registers of its session. A copy reads ahead.
 */
#ifndef VMM_DECODE_ATOM_STREAM_H
#define VMM_DECODE_ATOM_STREAM_H

#include "trace/reader.h"
#include "vpt/atom_msr.h"
#include "vpt/atom_packet.h"

enum vpt_atom_saying {
	VPT_ATOM_SAYS_PACKET,
	VPT_ATOM_SAYS_ENDS, /* that was all of the session */
	VPT_ATOM_SAYS_OUT,  /* there are no more bytes, or not enough for a packet */
	VPT_ATOM_SAYS_BAD,  /* no packet begins like this, or the session ends inside of it */
};

struct vpt_atom_said {
	enum vpt_atom_saying what;
	struct vpt_atom_packet packet;
	bool has_lip; /* else it leans on one that is not known */
	uint64_t lip; /* as an address */
	uint64_t at;  /* of its first byte */
};

struct vpt_atom_stream {
	const uint8_t *bytes;
	uint64_t at, limit, len; /* the next byte, the end of the session, of all */
	uint64_t offset;	 /* of the first byte in the vCPU's stream */
	const struct vpt_period *periods;
	size_t nperiods, session;  /* the one that is read */
	bool cut;		   /* the last packet may not be whole */
	struct vpt_atom_regs regs; /* as the session began */
	bool last_known;
	uint32_t last; /* RTIT_LAST_LIP[31:0] */
};

/* Begin at a session, with the last LIP as its registers say. */
void vpt_atom_stream_enter(struct vpt_atom_stream *s, size_t session);

/* The next one. ENDS and OUT are said again and again; BAD until the place is left. */
void vpt_atom_stream_read(struct vpt_atom_stream *s, struct vpt_atom_said *said);

/* Leave what is BAD for the next PSB of the session, or its end. The last LIP is forgotten. */
void vpt_atom_stream_skip(struct vpt_atom_stream *s);

/* The next packet that tells of the flow, or whatever else read() says. */
void vpt_atom_stream_flow(struct vpt_atom_stream *s, struct vpt_atom_said *said);

/* Does it tell where execution goes? PIP does not. */
bool vpt_atomd_is_flow(enum vpt_atom_pkt_kind kind);

/* How many outcomes RTIT_TNT_BUFF holds, and these: 0 to 6. */
unsigned int vpt_atomd_outcomes(uint32_t tnt_buff);

/* [ATOM-FILTER-ID] Does a branch that leads there set FilterEn? */
bool vpt_atomd_in_filter(const struct vpt_atom_regs *regs, uint64_t ip);

/* Is that the end of a range that the filter uses, so that walking there clears FilterEn? */
bool vpt_atomd_ends_filter(const struct vpt_atom_regs *regs, uint64_t ip);

/* [ATOM-STOP-WHEN] Does it stop the trace to branch to there, or to fall through to there? */
bool vpt_atomd_stops_at(const struct vpt_atom_regs *regs, uint64_t ip, bool branch);

#endif /* VMM_DECODE_ATOM_STREAM_H */
