/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processors that a machine can be made with, whatever traces in them. */
#ifndef VMM_CORE_MODEL_H
#define VMM_CORE_MODEL_H

#include "pt/unit.h"

struct vpt_model {
	const char *name;
	enum vpt_trace_system system;
	struct vpt_caps caps; /* of PT, where it has that; and its clocks and widths */
};

/* By name, and the i-th one; false: there is none. */
bool vpt_model_find(const char *name, struct vpt_model *model);
bool vpt_model_at(unsigned int i, struct vpt_model *model);

/* How many ranges of IPs there are for filters. */
unsigned int vpt_system_ranges(enum vpt_trace_system system, const struct vpt_caps *caps);

#endif /* VMM_CORE_MODEL_H */
