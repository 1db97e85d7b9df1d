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
/* Change the leaves of processor `index` of `cpus`: its APIC ID, and the topology. */
void core_cpuid_topology(struct engine_cpuid_entry *entries, size_t count, unsigned int index,
			 unsigned int cpus);
/* Returns the highest leaf of the model in the table. */
uint32_t core_cpuid_model_last(const struct vpt_caps *caps);

#endif /* VMM_CORE_CPUID_MODEL_H */
