/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The models of processors that a VM can have, with any trace system. */
#ifndef VMM_CORE_MODEL_H
#define VMM_CORE_MODEL_H

#include "pt/unit.h"

struct core_model {
	const char *name;
	enum tracer_trace_system system;
	struct vpt_caps caps; /* capabilities of PT if it has PT, clocks and address widths */
};

/* Get a model by its name, or the i-th model. Return false if there is none. */
bool core_model_find(const char *name, struct core_model *model);
bool core_model_at(unsigned int i, struct core_model *model);

/* Returns the number of IP ranges for filters. */
unsigned int core_system_ranges(enum tracer_trace_system system, const struct vpt_caps *caps);

#endif /* VMM_CORE_MODEL_H */
