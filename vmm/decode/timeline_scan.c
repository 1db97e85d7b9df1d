// SPDX-License-Identifier: GPL-2.0-or-later
/* Scan a stream: pass each packet to its trace system, and return its mark. */
#include "decode/timeline_scan.h"

#include <string.h>

static void enter(struct decode_timeline_scan *s)
{
	const struct decode_timeline_session *session = &s->config.sessions[s->session++];

	s->ctl = session->ctl;
	s->system->enter(s, session);
}

void decode_timeline_scan_init(struct decode_timeline_scan *s,
			       const struct decode_timeline_config *config)
{
	memset(s, 0, sizeof(*s));
	s->config = *config;
	s->system = config->atom ? &decode_timeline_atom : &decode_timeline_pt;
	s->begun = true;
	s->fresh = true;
	s->ctc_bits = 8;
	if (config->nsessions) {
		enter(s);
		s->now.wild = s->now.lost = 0;
	}
}

bool decode_timeline_scan_next(struct decode_timeline_scan *s, struct decode_mark *mark)
{
	const struct decode_timeline_config *c = &s->config;

	while (s->at < c->len) {
		const uint8_t *bytes = c->bytes + s->at;
		size_t size, len = c->len - s->at;
		bool marks = false;

		while (s->session < c->nsessions && c->sessions[s->session].at <= s->at)
			enter(s);
		s->now.anchor = s->now.alone = s->now.flow = s->now.eligible = false;
		s->now.joins = false;
		size = s->system->take(s, bytes, len, &marks);
		if (!size) {
			s->at += 1 + s->system->find_psb(bytes + 1, len - 1);
			decode_scan_lost(s);
			continue;
		}
		s->at += size;
		if (!marks && !s->now.anchor)
			continue;
		if (s->now.counted)
			decode_scan_slack(s);
		else
			s->now.wild++;
		s->now.end = s->at;
		s->told_least = s->now.least;
		*mark = s->now;
		return true;
	}
	return false;
}
