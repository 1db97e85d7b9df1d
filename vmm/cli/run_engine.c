// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: selects the engine. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "engine/engine.h"

/*
 * Return NULL if the guest runs fastest under the KVM that @probe describes. Otherwise return the
 * reason for the software CPU. A KVM without VMX and SVM below it emulates ring 0, hundreds of
 * times slower than the software CPU.
 */
static const char *why_not_kvm(const struct engine_probe *probe)
{
	if (probe->problem)
		return "KVM cannot be used here";
	if (!strcmp(probe->hardware, "none"))
		return "this KVM has no hardware virtualization and is slower (vpt caps)";
	return NULL;
}

/* Return the name of a feature that this owner needs and the engine lacks, or NULL. */
static const char *no_pt(const struct cli_run_options *o, const struct engine_probe *probe)
{
	switch (o->owner) {
	case TRACE_OWNER_GUEST:
		return probe->no_pt_guest;
	case TRACE_OWNER_HOST:
		return probe->no_pt_host;
	default:
		return NULL;
	}
}

/* Returns true if an option asks for a guest or a trace that only a CPU in software can make. */
static bool needs_model(const struct cli_run_options *o)
{
	return o->model_given || o->system != TRACER_SYSTEM_PT || o->usage.given || o->oracle ||
	       o->verify || o->max_insns || o->trace.of_model || o->snapshot || o->common_cpuid ||
	       o->trace_later || o->window.from.kind || o->window.until.kind || o->window.insns ||
	       cli_run_outside(o);
}

/* Returns the engine with the processor's own PT if it can make this trace, or NULL. */
static const struct engine *choose_pt(const struct cli_run_options *o, struct engine_probe *probe)
{
	const struct engine *engine = engine_find("kvm-pt");

	if (needs_model(o))
		return NULL;
	engine->probe(probe, false);
	return probe->problem || no_pt(o, probe) ? NULL : engine;
}

/* Returns KVM if nothing is traced and it is the fastest engine, or NULL. */
static const struct engine *choose_untraced(const struct cli_run_options *o,
					    struct engine_probe *probe, const char **why)
{
	const struct engine *engine = engine_find("kvm");

	if (o->snapshot) {
		*why = "it has snapshots";
		return NULL;
	}
	engine->probe(probe, false);
	*why = why_not_kvm(probe);
	if (*why)
		return NULL;
	*why = "nothing is traced";
	return engine;
}

/*
 * The processor's own PT is the fastest trace. Otherwise the software CPU traces a thousand times
 * faster than single steps under KVM, and it is exact where KVM steps wrongly. Without a trace, a
 * KVM on VMX or SVM is the fastest engine.
 */
static const struct engine *choose(const struct cli_run_options *o, struct engine_probe *probe,
				   const char **why)
{
	const struct engine *engine;

	if (o->owner == TRACE_OWNER_NONE) {
		engine = choose_untraced(o, probe, why);
	} else {
		engine = choose_pt(o, probe);
		*why = engine ? "this machine's processor traces the guest"
			      : "no PT hardware is used; it traces at full speed";
	}
	if (engine)
		return engine;
	engine = engine_find("soft");
	engine->probe(probe, false);
	return engine;
}

int cli_run_engine(const struct cli_run_options *o, const struct engine **engine,
		   const struct engine **traced, struct engine_probe *probe)
{
	const bool pair = !strcmp(o->engine, CLI_RUN_PAIR);
	const char *why;

	*traced = pair ? engine_find("soft") : NULL;
	if (!strcmp(o->engine, "auto")) {
		*engine = choose(o, probe, &why);
		if (!o->quiet)
			fprintf(stderr, "vpt run: engine %s: %s\n", (*engine)->name, why);
		return CLI_EXIT_OK;
	}
	*engine = engine_find(pair ? "kvm" : o->engine);
	(*engine)->probe(probe, false);
	if (probe->problem)
		return cli_fail(CLI_EXIT_HOST, "run: %s, or use --engine=soft", probe->problem);
	if (pair && o->usage.given)
		return cli_fail(CLI_EXIT_USAGE, "run: --usage: not with --engine=" CLI_RUN_PAIR);
	return CLI_EXIT_OK;
}

int cli_run_take_hardware(struct cli_run_options *o, const struct engine *engine,
			  const struct engine_probe *probe)
{
	const char *missing = no_pt(o, probe);

	if (!engine->pt)
		return CLI_EXIT_OK;
	if (o->model_given)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --model, --caps: the PT of engine %s is this machine's",
				engine->name);
	if (o->usage.given)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --usage: with engine %s it is --pt=guest or --pt=host",
				engine->name);
	if (o->oracle || o->max_insns)
		return cli_fail(
			CLI_EXIT_USAGE,
			"run: --oracle, --max-insns: engine %s does not count retired instructions",
			engine->name);
	if (o->trace.of_model)
		return cli_fail(CLI_EXIT_USAGE, "run: --%s: engine %s is this machine's processor",
				o->trace.of_model, engine->name);
	if (missing)
		return cli_fail(CLI_EXIT_HOST, "run: %s, or use --engine=soft", missing);
	o->caps = o->owner == TRACE_OWNER_HOST ? probe->pt_host : probe->pt_guest;
	o->model = "host";
	return CLI_EXIT_OK;
}

int cli_run_also(const struct cli_run_options *o, struct core_vm_config *config,
		 struct engine_probe *probe)
{
	const bool is_host = !(config->engine->can & ENGINE_BUS);
	const char *option = o->common_cpuid ? "common-cpuid" : "snapshot";

	if (config->traced || !(o->common_cpuid || (is_host && o->snapshot)))
		return CLI_EXIT_OK;
	if (!core_snapshot_has(config->engine))
		return cli_fail(CLI_EXIT_USAGE,
				"run: --%s: engine %s has no snapshots: use --engine=soft", option,
				config->engine->name);
	if (o->usage.given)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --%s: engine kvm has snapshots without --usage", option);
	config->also = engine_find(is_host ? "soft" : "kvm");
	config->also->probe(probe, false);
	config->also_probe = probe;
	if (probe->problem)
		return cli_fail(CLI_EXIT_HOST, "run: --%s: %s", option, probe->problem);
	return CLI_EXIT_OK;
}

/* Returns NULL if KVM can execute the local APICs of this machine, or the reason why not. */
static const char *why_own_apic(const struct cli_run_options *o,
				const struct core_vm_config *config)
{
	if (!config->engine->apic)
		return "only engine kvm has local APICs in KVM";
	if (config->traced || o->owner)
		return "it needs --pt=off";
	if (o->snapshot || config->also)
		return "a snapshot has the local APICs of vpt";
	return config->probe->no_apic;
}

int cli_run_apic(const struct cli_run_options *o, struct core_vm_config *config)
{
	const char *why = NULL;

	config->host_apic = o->apic && !strcmp(o->apic, "kvm");
	if (config->host_apic)
		why = why_own_apic(o, config);
	if (why)
		return cli_fail(why == config->probe->no_apic ? CLI_EXIT_HOST : CLI_EXIT_USAGE,
				"run: --apic=kvm: %s", why);
	return CLI_EXIT_OK;
}
