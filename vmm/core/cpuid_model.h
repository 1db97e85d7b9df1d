/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of cpuid_leaves.def. */
#ifndef VMM_CORE_CPUID_MODEL_H
#define VMM_CORE_CPUID_MODEL_H

#include "engine/engine.h"
#include "vpt/caps.h"

/* Returns true if the table has rows of this leaf, for any model. */
bool core_cpuid_model_has(uint32_t leaf);
/* Write the model's leaves to `to`, at most `room`. Returns their number. */
size_t core_cpuid_model_leaves(const struct vpt_caps *caps, struct engine_cpuid_entry *to,
			       size_t room);
/* Returns the highest leaf of the model in the table. */
uint32_t core_cpuid_model_last(const struct vpt_caps *caps);

#endif /* VMM_CORE_CPUID_MODEL_H */
