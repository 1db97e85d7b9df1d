// SPDX-License-Identifier: GPL-2.0-or-later
/* Name the events of items. */
#include "decode/item.h"

const char *decode_flow_event_text(enum decode_flow_event event)
{
#define DECODE_FLOW(name, text) text,
	static const char *const texts[] = {DECODE_FLOW_EVENTS(DECODE_FLOW)};
#undef DECODE_FLOW
	return event < DECODE_FLOW_COUNT ? texts[event] : "?";
}
