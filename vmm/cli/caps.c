// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt caps: reports whether `vpt run` works on this machine, and with which engine. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/option.h"
#include "core/clock.h"
#include "core/model.h"
#include "core/vcpu.h"
#include "engine/engine.h"

struct options {
	unsigned int engine; /* an index into the words below */
	bool models, json;
};

#define AT(member) .field = offsetof(struct options, member)

enum { SOFT, KVM };

static const char *const engines[] = {[SOFT] = "soft", [KVM] = "kvm", NULL};

static const struct cli_option rows[] = {
	{'e', "engine", "=NAME", "kvm (default) or soft", cli_take_word, AT(engine),
	 .words = engines},
	{'m', "models", NULL, "show the models of vpt run --model and their clocks instead",
	 cli_take_flag, AT(models)},
	{'j', "json", NULL, "one JSON object", cli_take_flag, AT(json)},
	CLI_OPTION_HELP,
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_caps = {
	.name = "caps",
	.run = cli_cmd_caps,
	.summary = "show whether this machine's KVM can run guests, or the models",
	.usage = "[OPTION]...",
	.about = "Tests the features that vpt run needs of this machine's KVM, in small virtual "
		 "machines.",
	.notes = "The exit status is 0 if vpt run works here. Otherwise it is 4, and a line names "
		 "the remedy.",
	.options = rows,
	.column = 21,
};

static const char *yes(bool b)
{
	return b ? "yes" : "no";
}

static const char *json_bool(bool b)
{
	return b ? "true" : "false";
}

static const char *step_text(enum engine_step_way way)
{
	static const char *const texts[] = {
		[ENGINE_STEP_NONE] = "no",
		[ENGINE_STEP_EXIT] = "yes",
		[ENGINE_STEP_SHUTDOWN] = "yes, by TF and an empty IDT",
	};

	return texts[way];
}

static const char *fault_text(enum engine_fault_way way)
{
	static const char *const texts[] = {
		[ENGINE_FAULT_WAY_NONE] = "not found out",
		[ENGINE_FAULT_WAY_EVENT] = "told by KVM",
		[ENGINE_FAULT_WAY_REPLAY] = "found out by running the instruction again",
	};

	return texts[way];
}

static const char *cpuid_text(const struct engine_probe *p)
{
	return p->cpuid_pt ? "yes" : "no: KVM shows its own leaf 7; vpt stops at CPUID instead";
}

static void print_text(const struct engine_probe *p)
{
	printf("/dev/kvm                    %s\n", p->device ? "opens" : "no");
	printf("hardware virtualization     %s\n", p->hardware);
	printf("PT in this machine's CPUID  %s\n", yes(p->host_pt));
	if (!p->device)
		return;
	printf("KVM API version             %d\n", p->api_version);
	printf("registers in the run page   %s\n", yes(p->sync_regs));
	printf("exits for chosen MSRs       %s\n", yes(p->msr_exits));
	printf("CPUID with PT accepted      %s\n", cpuid_text(p));
	printf("single steps in ring 0      %s\n", step_text(p->step[0]));
	printf("single steps in ring 3      %s\n", step_text(p->step[1]));
	printf("exceptions of a step        %s\n", fault_text(p->fault));
	printf("SYSCALL from ring 3         %s\n", p->syscall ? "yes" : "no: done by vpt");
	printf("INT n from ring 3           %s\n", p->soft_int ? "yes" : "no: done by vpt");
	printf("local APICs in KVM          %s%s\n", p->no_apic ? "no: " : "yes",
	       p->no_apic ? p->no_apic : "");
	if (p->step_ns[0])
		printf("a step in ring 0 costs      %.1f us\n", p->step_ns[0] / 1e3);
	if (p->step_ns[1])
		printf("a step in ring 3 costs      %.1f us\n", p->step_ns[1] / 1e3);
}

static void print_json(const struct engine_probe *p)
{
	printf("{\"device\":%s,\"api_version\":%d,\"hardware\":\"%s\",\"host_pt\":%s,",
	       json_bool(p->device), p->api_version, p->hardware, json_bool(p->host_pt));
	printf("\"sync_regs\":%s,\"msr_exits\":%s,\"cpuid_pt\":%s,", json_bool(p->sync_regs),
	       json_bool(p->msr_exits), json_bool(p->cpuid_pt));
	printf("\"step_ring0\":%s,\"step_ring3\":%s,", json_bool(p->step[0]),
	       json_bool(p->step[1]));
	printf("\"step_ring0_way\":\"%s\",\"step_ring3_way\":\"%s\",\"faults\":\"%s\",",
	       step_text(p->step[0]), step_text(p->step[1]), fault_text(p->fault));
	printf("\"syscall\":%s,\"soft_int\":%s,\"step_ring0_ns\":%u,\"step_ring3_ns\":%u,",
	       json_bool(p->syscall), json_bool(p->soft_int), p->step_ns[0], p->step_ns[1]);
	if (p->problem)
		printf("\"usable\":false,\"problem\":\"%s\"}\n", p->problem);
	else
		printf("\"usable\":true}\n");
}

static const char *system_name(const struct core_model *model)
{
	return model->system == TRACER_SYSTEM_ATOM ? "rtit" : "pt";
}

static void show_model(const struct core_model *model)
{
	const struct vpt_caps *caps = &model->caps;
	char ratio[32] = "-", leaf[32] = "-";

	if (caps->l15_ebx)
		snprintf(ratio, sizeof(ratio), "%u/%u", caps->l15_ebx, caps->l15_eax);
	if (model->system == TRACER_SYSTEM_PT)
		snprintf(leaf, sizeof(leaf), "0x%03x 0x%08x", caps->l14_0_ebx, caps->l14_0_ecx);
	printf("%-10s  %-5s  0x%05x  %4u  %5u MHz  %4llu MHz  %6.1f MHz  %-5s  %u  %s\n",
	       model->name, system_name(model), caps->signature, caps->max_nonturbo,
	       caps->max_nonturbo * 100u, (unsigned long long)core_clock_tsc_hz(caps) / 1000000,
	       caps->l15_ecx / 1e6, ratio, core_system_ranges(model->system, caps), leaf);
}

static void json_model(const struct core_model *model, bool first)
{
	const struct vpt_caps *caps = &model->caps;

	printf("%s{\"model\":\"%s\",\"trace\":\"%s\",\"signature\":%u,\"max_nonturbo\":%u,"
	       "\"tsc_hz\":%llu,\"crystal_hz\":%u,\"ratio\":[%u,%u],\"ranges\":%u,\"ebx\":%u,"
	       "\"ecx\":%u}",
	       first ? "" : ",", model->name, system_name(model), caps->signature,
	       caps->max_nonturbo, (unsigned long long)core_clock_tsc_hz(caps), caps->l15_ecx,
	       caps->l15_ebx, caps->l15_eax, core_system_ranges(model->system, caps),
	       caps->l14_0_ebx, caps->l14_0_ecx);
}

/* Show the clocks of 33.8.3 and the PT or RTIT features of each model. */
static int show_models(bool json)
{
	struct core_model model;
	unsigned int i;

	if (json)
		putchar('[');
	else
		printf("%-10s  %-5s  %-7s  %4s  %9s  %8s  %10s  %-5s  %s\n", "model", "trace",
		       "1.EAX", "P1", "P1 clock", "TSC", "crystal", "ratio",
		       "ranges, 14H.0.EBX, ECX");
	for (i = 0; core_model_at(i, &model); i++) {
		if (json)
			json_model(&model, !i);
		else
			show_model(&model);
	}
	if (json)
		puts("]");
	return CLI_EXIT_OK;
}

int cli_cmd_caps(int argc, char **argv)
{
	struct options o = {.engine = KVM};
	struct engine_probe probe;
	int status = cli_options_parse(&cli_verb_caps, argc, argv, &o);

	if (status)
		return status;
	if (o.models)
		return show_models(o.json);
	if (o.engine != KVM) {
		/* The software CPU needs no feature of the machine. */
		puts(o.json ? "{\"usable\":true}" : "engine soft works on every x86-64 machine");
		return CLI_EXIT_OK;
	}
	engine_find("kvm")->probe(&probe, true);
	if (o.json)
		print_json(&probe);
	else
		print_text(&probe);
	if (!probe.problem)
		return CLI_EXIT_OK;
	return o.json ? CLI_EXIT_HOST : cli_fail(CLI_EXIT_HOST, "caps: %s", probe.problem);
}
