// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: which engine. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "engine/engine.h"

/*
 * A trace is made a thousand times faster by the software CPU than by stepping a KVM
 * guest, and exactly where KVM steps wrong; without one KVM is the fastest.
 */
static const struct vpt_engine *choose(const struct vpt_run_options *o, struct vpt_probe *probe,
				       const char **why)
{
	const struct vpt_engine *engine;

	if (o->owner == VPT_OWNER_NONE && !o->snapshot) {
		engine = vpt_engine_find("kvm");
		engine->probe(probe, false);
		if (!probe->problem) {
			*why = "nothing is traced";
			return engine;
		}
		*why = "KVM cannot be used here";
	} else if (o->owner == VPT_OWNER_NONE) {
		*why = "it has snapshots";
	} else {
		*why = "no PT hardware is used; it traces at full speed";
	}
	engine = vpt_engine_find("soft");
	engine->probe(probe, false);
	return engine;
}

int vpt_run_engine(const struct vpt_run_options *o, const struct vpt_engine **engine,
		   struct vpt_probe *probe)
{
	const char *why;

	if (!strcmp(o->engine, "auto")) {
		*engine = choose(o, probe, &why);
		if (!o->quiet)
			fprintf(stderr, "vpt run: engine %s: %s\n", (*engine)->name, why);
		return VPT_EXIT_OK;
	}
	*engine = vpt_engine_find(o->engine);
	if (!*engine)
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --engine=%s: unknown; there are auto, soft and kvm",
				o->engine);
	(*engine)->probe(probe, false);
	if (probe->problem)
		return vpt_fail(VPT_EXIT_HOST, "run: %s, or use --engine=soft", probe->problem);
	return VPT_EXIT_OK;
}
