/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processors that a machine can be made with, whatever traces in them. */
#ifndef VMM_CORE_MODEL_H
#define VMM_CORE_MODEL_H

#include "pt/unit.h"

struct core_model {
	const char *name;
	enum tracer_trace_system system;
	struct vpt_caps caps; /* of PT, where it has that; and its clocks and widths */
};

/* By name, and the i-th one; false: there is none. */
bool core_model_find(const char *name, struct core_model *model);
bool core_model_at(unsigned int i, struct core_model *model);

/* How many ranges of IPs there are for filters. */
unsigned int core_system_ranges(enum tracer_trace_system system, const struct vpt_caps *caps);

#endif /* VMM_CORE_MODEL_H */
