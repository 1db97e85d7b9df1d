// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of engines. */
#include "engine/engine.h"

#include <string.h>

#include "engine/kvm_engine.h"
#include "engine/kvm_pt.h"
#include "soft/engine.h"

const struct engine *engine_find(const char *name)
{
	static const struct engine *const engines[] = {&soft_engine, &engine_kvm_engine,
						       &engine_kvm_pt_engine};
	size_t i;

	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (!strcmp(name, engines[i]->name))
			return engines[i];
	return NULL;
}
