// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Models of processors: those of Intel PT from the library, and the Atoms with RTIT. CPUID has only
 * the family and model of an Atom. [ATOM-NO-CPUID]
 */
#include "core/model.h"

#include <string.h>

static const struct {
	const char *name;
	uint8_t max_nonturbo; /* clock ratio at P1 */
} atoms[] = {
	{"silvermont", 20},
	{"airmont", 16},
};

static bool atom_at(unsigned int i, struct core_model *model)
{
	if (i >= sizeof(atoms) / sizeof(atoms[0]))
		return false;
	*model = (struct core_model){
		.name = atoms[i].name,
		.system = TRACER_SYSTEM_ATOM,
		.caps =
			{
				.signature = vpt_atom_signature(atoms[i].name),
				.max_phy_addr = 36,
				.lin_addr = 48,
				.max_nonturbo = atoms[i].max_nonturbo,
			},
	};
	return true;
}

bool core_model_at(unsigned int i, struct core_model *model)
{
	unsigned int n = 0;
	const char *name;

	while ((name = vpt_caps_model_name(n)) && n < i)
		n++;
	if (!name)
		return atom_at(i - n, model);
	*model = (struct core_model){.name = name, .caps = *vpt_caps_model(name)};
	return true;
}

bool core_model_find(const char *name, struct core_model *model)
{
	unsigned int i;

	for (i = 0; core_model_at(i, model); i++)
		if (!strcmp(model->name, name))
			return true;
	return false;
}

unsigned int core_system_ranges(enum tracer_trace_system system, const struct vpt_caps *caps)
{
	return system == TRACER_SYSTEM_ATOM ? VPT_ATOM_RANGES : vpt_caps_ranges(caps);
}
