// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt lockstep: the command line. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lockstep.h"
#include "cli/open.h"
#include "cli/old_option.h"

#define DEFAULT_MEM_MIB	  64u
#define MAX_MEM_MIB	  32768u
#define DEFAULT_EVERY_ALL 4096u
#define MAX_MODELS	  16

static const char help[] =
	"usage: vpt lockstep [OPTION]... GUEST\n"
	"\n"
	"Runs a guest on two engines at once, an instruction at a time, and compares what the\n"
	"architecture can see: all registers, segments, MSRs, the state of PT, what was\n"
	"delivered, and all of RAM. The first difference is shown with its instruction.\n"
	"\n"
	"  -e, --engines=A,B    soft,kvm (default); kvm,kvm and so on\n"
	"  -n, --every=N        compare after every N instructions, not after each\n"
	"      --memory=N       compare RAM, MSRs and debug registers after every N (4096)\n"
	"  -p, --pt=OWNER       who owns PT: guest (default) or off\n"
	"  -M, --model=NAME     bdw, skl (default), icx or spr\n"
	"  -m, --mem=SIZE       guest memory, such as 64M (default), or a number of MiB\n"
	"      --seed=N         boot info's seed\n"
	"      --arg=N          boot info's next argument; up to four\n"
	"      --max-insns=N    end after N instructions\n"
	"      --list-overrides what is not compared, and why\n"
	"  -q, --quiet          not what the guest prints\n"
	"  -j, --json           one JSON object\n"
	"  -h, --help           this text\n"
	"\n"
	"A difference that is found late is looked for again in a second run, so what is shown\n"
	"is the first, also with --every and in memory.\n"
	"\n"
	"The last line is\n"
	"\n"
	"  lockstep: N instructions, K divergences\n"
	"\n"
	"The exit status is 0 if K is 0, 1 if not, 2 if the command is wrong, 3 if GUEST is\n"
	"not a guest, 4 if something is lacking here, 5 if an engine could not go on before\n"
	"the guest ended: what ran until then was the same.\n"
	"\n"
	"  vpt lockstep --engines=soft,kvm demo.elf\n";

enum long_only {
	OPT_MEMORY = 256,
	OPT_SEED,
	OPT_ARG,
	OPT_MAX_INSNS,
	OPT_LIST,
};

static const struct option longs[] = {
	{"engines", required_argument, NULL, 'e'},
	{"every", required_argument, NULL, 'n'},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"pt", required_argument, NULL, 'p'},
	{"model", required_argument, NULL, 'M'},
	{"mem", required_argument, NULL, 'm'},
	{"seed", required_argument, NULL, OPT_SEED},
	{"arg", required_argument, NULL, OPT_ARG},
	{"max-insns", required_argument, NULL, OPT_MAX_INSNS},
	{"list-overrides", no_argument, NULL, OPT_LIST},
	{"quiet", no_argument, NULL, 'q'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

void vpt_lockstep_help(void)
{
	fputs(help, stdout);
}

void vpt_lockstep_list(void)
{
	const struct vpt_lockstep_override *row;
	size_t count, i;

	row = vpt_lockstep_overrides(&count);
	puts("Taken over from the first engine:");
	for (i = 0; i < count; i++)
		printf("  %-12s %s\n", row[i].name, row[i].reason);
	puts("Not compared: registers of x87, SSE and AVX, but for what they do to memory and to\n"
	     "others; devices, likewise; the TSC.");
}

static int take_number(const char *name, uint64_t least, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(optarg, &end, 0);
	if (optarg[0] < '0' || optarg[0] > '9' || *end || errno)
		return vpt_fail(VPT_EXIT_USAGE, "lockstep: --%s=%s: not a number", name, optarg);
	if (*value < least || *value > most)
		return vpt_fail(VPT_EXIT_USAGE, "lockstep: --%s=%s: from %" PRIu64 " to %" PRIu64,
				name, optarg, least, most);
	return VPT_EXIT_OK;
}

static int take_engines(struct vpt_lockstep_options *o, const char *text)
{
	static const char *const engines[] = {"soft", "kvm", NULL};
	char *comma, *name[2];
	unsigned int i;

	snprintf(o->engines, sizeof(o->engines), "%s", text);
	comma = strchr(o->engines, ',');
	if (!comma)
		return vpt_fail(VPT_EXIT_USAGE, "lockstep: --engines=%s: not two, as in soft,kvm",
				text);
	*comma = 0;
	name[0] = o->engines;
	name[1] = comma + 1;
	for (i = 0; i < 2; i++) {
		o->engine[i] = vpt_engine_find(name[i]);
		if (!o->engine[i])
			return vpt_cli_no_word("lockstep", "engines", name[i], engines);
	}
	*comma = ',';
	return VPT_EXIT_OK;
}

static int take_owner(struct vpt_lockstep_options *o)
{
	static const char *const owners[] = {"guest", "off", NULL};

	if (!strcmp(optarg, "guest"))
		o->owner = VPT_OWNER_GUEST;
	else if (!strcmp(optarg, "off"))
		o->owner = VPT_OWNER_NONE;
	else
		return vpt_cli_no_word("lockstep", "pt", optarg, owners);
	return VPT_EXIT_OK;
}

static int take_mem(struct vpt_lockstep_options *o)
{
	const size_t len = strlen(optarg);
	int status;

	/* As vpt run takes it; a number alone is MiB. */
	if (len && strchr("KMGkmg", optarg[len - 1])) {
		status = vpt_cli_size("lockstep", "mem", optarg, &o->mem);
		if (!status && (!o->mem || o->mem % (1u << 20) || o->mem >> 20 > MAX_MEM_MIB))
			status = vpt_fail(VPT_EXIT_USAGE,
					  "lockstep: --mem=%s: whole MiB, from 1M to %uM", optarg,
					  (unsigned int)MAX_MEM_MIB);
		return status;
	}
	status = take_number("mem", 1, MAX_MEM_MIB, &o->mem);

	o->mem <<= 20;
	return status;
}

static int take_arg(struct vpt_lockstep_options *o)
{
	if (o->args == sizeof(o->arg) / sizeof(o->arg[0]))
		return vpt_fail(VPT_EXIT_USAGE, "lockstep: --arg=%s: at most four", optarg);
	return take_number("arg", 0, UINT64_MAX, &o->arg[o->args++]);
}

static int take_option(struct vpt_lockstep_options *o, int option)
{
	switch (option) {
	case 'e':
		return take_engines(o, optarg);
	case 'n':
		return take_number("every", 1, UINT32_MAX, &o->every);
	case OPT_MEMORY:
		return take_number("memory", 1, UINT32_MAX, &o->every_all);
	case 'p':
		return take_owner(o);
	case 'M':
		o->model = optarg;
		return VPT_EXIT_OK;
	case 'm':
		return take_mem(o);
	case OPT_SEED:
		return take_number("seed", 0, UINT64_MAX, &o->seed);
	case OPT_ARG:
		return take_arg(o);
	case OPT_MAX_INSNS:
		return take_number("max-insns", 1, UINT64_MAX, &o->max_insns);
	case OPT_LIST:
		o->list = true;
		return VPT_EXIT_OK;
	case 'q':
		o->quiet = true;
		return VPT_EXIT_OK;
	case 'j':
		o->json = true;
		return VPT_EXIT_OK;
	case 'h':
		o->help = true;
		return VPT_EXIT_OK;
	default:
		return VPT_EXIT_USAGE; /* The line was printed. */
	}
}

static int check_model(const struct vpt_lockstep_options *o)
{
	const char *names[MAX_MODELS + 1] = {NULL};
	unsigned int i;

	if (vpt_caps_model(o->model))
		return VPT_EXIT_OK;
	for (i = 0; i < MAX_MODELS && vpt_caps_model_name(i); i++)
		names[i] = vpt_caps_model_name(i);
	return vpt_cli_no_word("lockstep", "model", o->model, names);
}

int vpt_lockstep_parse(struct vpt_lockstep_options *o, int argc, char **argv)
{
	static const struct vpt_cli_options options = {"lockstep", ":e:n:p:M:m:qjh", longs, help};
	int option, status;

	*o = (struct vpt_lockstep_options){
		.model = "skl",
		.owner = VPT_OWNER_GUEST,
		.mem = (uint64_t)DEFAULT_MEM_MIB << 20,
		.every = 1,
		.every_all = DEFAULT_EVERY_ALL,
	};
	status = take_engines(o, "soft,kvm");
	optind = 0;
	while (!status && (option = vpt_cli_option(&options, argc, argv)) != -1)
		status = take_option(o, option);
	if (status || o->help || o->list)
		return status;
	if (optind + 1 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "lockstep: %s: see vpt lockstep --help",
				optind == argc ? "GUEST is missing" : "only one GUEST");
	o->guest = argv[optind];
	return check_model(o);
}
