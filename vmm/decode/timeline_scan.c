// SPDX-License-Identifier: GPL-2.0-or-later
/* The scan over a stream: feed each packet to its trace system, and return its mark. */
#include "timeline_scan.h"

#include <string.h>

static void enter(struct vpt_timeline_scan *s)
{
	const struct vpt_timeline_session *session = &s->config.sessions[s->session++];

	s->ctl = session->ctl;
	s->system->enter(s, session);
}

void vpt_timeline_scan_init(struct vpt_timeline_scan *s, const struct vpt_timeline_config *config)
{
	memset(s, 0, sizeof(*s));
	s->config = *config;
	s->system = config->rtit ? &vpt_timeline_rtit : &vpt_timeline_pt;
	s->begun = true;
	s->fresh = true;
	s->ctc_bits = 8;
	if (config->nsessions) {
		enter(s);
		s->now.wild = s->now.lost = 0;
	}
}

bool vpt_timeline_scan_next(struct vpt_timeline_scan *s, struct vpt_mark *mark)
{
	const struct vpt_timeline_config *c = &s->config;

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
			vpt_scan_lost(s);
			continue;
		}
		s->at += size;
		if (!marks && !s->now.anchor)
			continue;
		if (s->now.counted)
			vpt_scan_slack(s);
		else
			s->now.wild++;
		s->now.end = s->at;
		s->told_least = s->now.least;
		*mark = s->now;
		return true;
	}
	return false;
}
