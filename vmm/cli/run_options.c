// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: the command line. */
#include "cli/open.h"
#include "cli/old_option.h"
#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define DEFAULT_MEM (64ull << 20)
#define MIN_MEM	    (1ull << 20)
#define MAX_MODELS  16
/* The engine keeps pages of its own right below 1 << 36. */
#define MAX_MEM (1ull << 35)

static const char help[] =
	"usage: vpt run [OPTION]... GUEST\n"
	"\n"
	"Runs a static x86-64 ELF file as a guest, with Intel PT, or the RTIT of Atoms, as a\n"
	"model of a processor has it, and records the trace. The guest's console is standard\n"
	"output.\n"
	"\n"
	"  -o, --output=FILE    record to this .vpt file\n"
	"  -p, --pt=OWNER       who owns it: guest (default), host, or off\n"
	"  -M, --model=NAME     bdw, skl (default), icx or spr; with RTIT silvermont, airmont\n"
	"      --trace=SYSTEM   pt or rtit, as the model has it; rtit alone means silvermont\n"
	"      --caps=LIST      the model with some CPUID words changed: eax= ebx= ecx= of\n"
	"                       14H.0, eax1= ebx1= of 14H.1, tsc_eax= tsc_ebx= tsc_ecx= of\n"
	"                       15H, signature=, maxphyaddr=, linaddr=, nonturbo=\n"
	"  -m, --mem=SIZE       guest memory, such as 64M (default) or 1G\n"
	"      --oracle         record every retired instruction too, for vpt verify: 16 bytes\n"
	"                       each, and up to ten times slower\n"
	"      --seed=N         boot info's seed\n"
	"      --arg=N          boot info's next argument; up to four\n"
	"      --initrd=FILE    put FILE into memory after the program\n"
	"      --engine=NAME    auto (the default), soft, kvm, or kvm-pt: this machine's own PT\n"
	"      --max-insns=N    end after N traced instructions\n"
	"      --timeout=S      end after S seconds, such as 10 or 0.5\n"
	"      --console=FILE   the guest's console goes to FILE, not to standard output\n"
	"      --max-bytes=SIZE end when the trace file has SIZE bytes (default 4G)\n"
	"      --snapshot=FILE  write a snapshot to FILE on SIGUSR1; the last one stays\n"
	"      --snapshot-at=N  write it after N instructions, and end there\n"
	"      --snapshot-every=N  write it whenever N more have been executed; see vpt restore\n"
	"  -q, --quiet          no progress, no summary\n"
	"  -j, --json           the summary as one line of JSON on standard output\n"
	"  -h, --help           this text\n"
	"\n"
	"What a host traces (--pt=host, or --usage):\n"
	"\n"
	"      --filter=RANGE   only this code; several make several filters\n"
	"      --stop=RANGE     end the trace where execution comes here\n"
	"      --user, --kernel only CPL above 0, only CPL 0\n"
	"      --cr3=VALUE      only where CR3 is VALUE\n"
	"      --no-retc        no RET compression\n"
	"      --psb=N          a PSB every 2K << N bytes\n"
	"      --tsc            TSC packets\n"
	"      --mtc[=N]        MTC packets, one to 1 << N of the crystal's clocks (default 3)\n"
	"      --cyc[=N]        CYC packets, by CycThresh N (default 0: for each packet)\n"
	"      --ptw[=fup]      PTWRITE; fup: and where it is\n"
	"      --power          power events\n"
	"      --events         interrupts, exceptions and IRET\n"
	"      --no-tnt         no conditional branches: DisTNT\n"
	"      --no-branch      no branches at all\n"
	"\n"
	"With RTIT --psb is 0 to 3 (2K to 16K), --tsc is STS packets (on MOV CR3 too), --mtc=N is\n"
	"MTC_Range (0 to 3), --cyc is cycle counts and has no value, there are two ranges, and\n"
	"not --ptw, --power, --events, --no-tnt, --no-branch, --defer-tips, --cyc-bits. But:\n"
	"\n"
	"      --less-pkts      timing packets only where branches are traced\n"
	"      --errata=LIST    of the processor: E1 to E8, such as E1,E3, all or none (default)\n"
	"      --clear-lag=N    its PSBs clear compression up to 4 packets late\n"
	"      --disable-pgd    it sends FUP.PGD where software ends the trace\n"
	"\n"
	"What no CPUID tells of the processor, whoever traces:\n"
	"\n"
	"      --defer-tips     TIPs come after the TNT packet that they fall into\n"
	"      --buffer=N[:D]   an internal buffer of N bytes that can overflow; D bytes leave it\n"
	"                       in 1024 core clocks (default 1024)\n"
	"      --cyc-bits=N     the cycle counter's bits (default 14)\n"
	"      --cbr=N[,M@I[:T]]...  core clock N times the bus clock; M times after I\n"
	"                       instructions, T ticks of the TSC later (default: as at P1)\n"
	"\n"
	"VM entries and exits, and what is traced across them:\n"
	"\n"
	"      --usage=LIST     system, host (the VMM alone), guest (the guest alone), owned (by\n"
	"                       the guest) or off; guest,system@N changes after N instructions\n"
	"      --conceal=LIST   exec, exit, entry, all or none (default): hide VMX in packets\n"
	"      --trap=cr3       the VMM emulates MOV to CR3\n"
	"      --controls=none  no VMX controls of PT's: MSR areas do their work\n"
	"      --tsc-offset=N   N is added to the TSC in the guest\n"
	"      --tsc-scale=F    the TSC is multiplied by F before that, such as 1.25\n"
	"\n"
	"RANGE is SYMBOL, SYMBOL..SYMBOL (first byte to last), or FIRST-LAST (addresses, both\n"
	"inside). Numbers are decimal, or hex after 0x.\n"
	"\n"
	"The exit status is 0 if the guest's is 0; 1 if it is another, or the guest crashed,\n"
	"hung or ran into a limit; 2 if the command is wrong; 3 if a file is; 4 if this\n"
	"machine lacks something. A trace that was not completed stays in FILE.part.\n"
	"\n"
	"  vpt run -o t.vpt demo.elf\n"
	"  vpt run --pt=host --filter=execute --no-retc -o t.vpt demo.elf\n";

enum long_only {
	OPT_CAPS = VPT_OPT_COMMON_END,
	OPT_ORACLE,
	OPT_SEED,
	OPT_ARG,
	OPT_INITRD,
	OPT_ENGINE,
	OPT_FILTER,
	OPT_STOP,
	OPT_USER,
	OPT_KERNEL,
	OPT_CR3,
	OPT_NO_RETC,
	OPT_TSC,
	OPT_PSB,
};

static const struct option longs[] = {
	{"output", required_argument, NULL, 'o'},
	{"pt", required_argument, NULL, 'p'},
	{"model", required_argument, NULL, 'M'},
	{"caps", required_argument, NULL, OPT_CAPS},
	{"mem", required_argument, NULL, 'm'},
	{"oracle", no_argument, NULL, OPT_ORACLE},
	{"seed", required_argument, NULL, OPT_SEED},
	{"arg", required_argument, NULL, OPT_ARG},
	{"initrd", required_argument, NULL, OPT_INITRD},
	{"engine", required_argument, NULL, OPT_ENGINE},
	{"max-insns", required_argument, NULL, VPT_OPT_MAX_INSNS},
	{"timeout", required_argument, NULL, VPT_OPT_TIMEOUT},
	{"console", required_argument, NULL, VPT_OPT_CONSOLE},
	{"max-bytes", required_argument, NULL, VPT_OPT_MAX_BYTES},
	{"filter", required_argument, NULL, OPT_FILTER},
	{"stop", required_argument, NULL, OPT_STOP},
	{"user", no_argument, NULL, OPT_USER},
	{"kernel", no_argument, NULL, OPT_KERNEL},
	{"cr3", required_argument, NULL, OPT_CR3},
	{"no-retc", no_argument, NULL, OPT_NO_RETC},
	{"tsc", no_argument, NULL, OPT_TSC},
	{"psb", required_argument, NULL, OPT_PSB},
	{"mtc", optional_argument, NULL, VPT_OPT_MTC},
	{"cyc", optional_argument, NULL, VPT_OPT_CYC},
	{"ptw", optional_argument, NULL, VPT_OPT_PTW},
	{"power", no_argument, NULL, VPT_OPT_POWER},
	{"events", no_argument, NULL, VPT_OPT_EVENTS},
	{"no-tnt", no_argument, NULL, VPT_OPT_NO_TNT},
	{"no-branch", no_argument, NULL, VPT_OPT_NO_BRANCH},
	{"defer-tips", no_argument, NULL, VPT_OPT_DEFER_TIPS},
	{"buffer", required_argument, NULL, VPT_OPT_BUFFER},
	{"cyc-bits", required_argument, NULL, VPT_OPT_CYC_BITS},
	{"cbr", required_argument, NULL, VPT_OPT_CBR},
	{"trace", required_argument, NULL, VPT_OPT_TRACE},
	{"less-pkts", no_argument, NULL, VPT_OPT_LESS_PKTS},
	{"errata", required_argument, NULL, VPT_OPT_ERRATA},
	{"clear-lag", required_argument, NULL, VPT_OPT_CLEAR_LAG},
	{"disable-pgd", no_argument, NULL, VPT_OPT_DISABLE_PGD},
	{"usage", required_argument, NULL, VPT_OPT_USAGE},
	{"conceal", required_argument, NULL, VPT_OPT_CONCEAL},
	{"trap", required_argument, NULL, VPT_OPT_TRAP},
	{"controls", required_argument, NULL, VPT_OPT_CONTROLS},
	{"tsc-offset", required_argument, NULL, VPT_OPT_TSC_OFFSET},
	{"tsc-scale", required_argument, NULL, VPT_OPT_TSC_SCALE},
	{"snapshot", required_argument, NULL, VPT_OPT_SNAPSHOT},
	{"snapshot-at", required_argument, NULL, VPT_OPT_SNAPSHOT_AT},
	{"snapshot-every", required_argument, NULL, VPT_OPT_SNAPSHOT_EVERY},
	{"quiet", no_argument, NULL, 'q'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

void vpt_run_help(void)
{
	fputs(help, stdout);
}

static int take_mem(struct vpt_run_options *o)
{
	int status = vpt_cli_size("run", "mem", optarg, &o->mem);

	if (status)
		return status;
	if (o->mem < MIN_MEM || o->mem > MAX_MEM || o->mem % 4096)
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --mem=%s: from 1M to 32G, in whole pages of 4K", optarg);
	return VPT_EXIT_OK;
}

static int take_owner(struct vpt_run_options *o)
{
	static const char *const owners[] = {"guest", "host", "off", NULL};

	if (!strcmp(optarg, "guest"))
		o->owner = VPT_OWNER_GUEST;
	else if (!strcmp(optarg, "host"))
		o->owner = VPT_OWNER_HOST;
	else if (!strcmp(optarg, "off"))
		o->owner = VPT_OWNER_NONE;
	else
		return vpt_cli_no_word("run", "pt", optarg, owners);
	return VPT_EXIT_OK;
}

static int take_arg(struct vpt_run_options *o)
{
	if (o->args == VPT_RUN_ARGS)
		return vpt_fail(VPT_EXIT_USAGE, "run: --arg=%s: at most %d", optarg, VPT_RUN_ARGS);
	return vpt_run_take_number(o, "arg", &o->arg[o->args++]);
}

static int take_range(struct vpt_run_options *o, bool stop)
{
	if (o->ranges == VPT_MAX_RANGES)
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --%s=%s: no processor has more than %d ranges",
				stop ? "stop" : "filter", optarg, VPT_MAX_RANGES);
	o->range[o->ranges++] = (struct vpt_run_range){.text = optarg, .stop = stop};
	return VPT_EXIT_OK;
}

static int take_option(struct vpt_run_options *o, int option, const char **caps)
{
	switch (option) {
	case 'p':
		return take_owner(o);
	case 'M':
		o->model = optarg;
		o->model_given = true;
		return VPT_EXIT_OK;
	case OPT_CAPS:
		*caps = optarg;
		o->model_given = true;
		return VPT_EXIT_OK;
	case 'm':
		return take_mem(o);
	case OPT_ORACLE:
		o->oracle = true;
		return VPT_EXIT_OK;
	case OPT_SEED:
		return vpt_run_take_number(o, "seed", &o->seed);
	case OPT_ARG:
		return take_arg(o);
	case OPT_INITRD:
		o->initrd = optarg;
		return VPT_EXIT_OK;
	case OPT_ENGINE:
		o->engine = optarg;
		return VPT_EXIT_OK;
	case OPT_FILTER:
	case OPT_STOP:
		return take_range(o, option == OPT_STOP);
	case OPT_USER:
		o->user = true;
		return VPT_EXIT_OK;
	case OPT_KERNEL:
		o->kernel = true;
		return VPT_EXIT_OK;
	case OPT_CR3:
		o->has_cr3 = true;
		return vpt_run_take_number(o, "cr3", &o->cr3);
	case OPT_NO_RETC:
		o->no_retc = true;
		return VPT_EXIT_OK;
	case OPT_TSC:
		o->tsc = true;
		return VPT_EXIT_OK;
	case OPT_PSB:
		o->has_psb = true;
		return vpt_run_take_number(o, "psb", &o->psb);
	default:
		if (option >= VPT_OPT_USAGE && option < VPT_OPT_USAGE_END)
			return vpt_run_take_usage(o, option);
		if (option >= VPT_OPT_MTC && option < VPT_OPT_TRACE_END)
			return vpt_run_take_trace(o, option);
		if (option >= VPT_OPT_TRACE && option < VPT_OPT_RTIT_END)
			return vpt_run_take_rtit(o, option);
		return vpt_run_take_common(o, option);
	}
}

struct caps_key {
	const char *name;
	size_t offset, bytes;
};

#define KEY(name, field)                                                                      \
	{                                                                                     \
		name, offsetof(struct vpt_caps, field), sizeof(((struct vpt_caps *)0)->field) \
	}

static const struct caps_key keys[] = {
	KEY("eax", l14_0_eax),		 KEY("ebx", l14_0_ebx),	   KEY("ecx", l14_0_ecx),
	KEY("eax1", l14_1_eax),		 KEY("ebx1", l14_1_ebx),   KEY("tsc_eax", l15_eax),
	KEY("tsc_ebx", l15_ebx),	 KEY("tsc_ecx", l15_ecx),  KEY("signature", signature),
	KEY("maxphyaddr", max_phy_addr), KEY("linaddr", lin_addr), KEY("nonturbo", max_nonturbo),
};

static bool set_key(struct vpt_caps *caps, const char *item, size_t len)
{
	const char *equals = memchr(item, '=', len);
	char value_text[32];
	size_t name_len, value_len, i;
	uint64_t value;

	if (!equals)
		return false;
	name_len = (size_t)(equals - item);
	value_len = len - name_len - 1;
	if (value_len >= sizeof(value_text))
		return false;
	memcpy(value_text, equals + 1, value_len);
	value_text[value_len] = 0;
	if (!vpt_run_number(value_text, &value))
		return false;
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strlen(keys[i].name) != name_len || memcmp(keys[i].name, item, name_len))
			continue;
		if (value >> (8 * keys[i].bytes))
			return false;
		memcpy((char *)caps + keys[i].offset, &value, keys[i].bytes);
		return true;
	}
	return false;
}

static int change_caps(struct vpt_run_options *o, const char *list)
{
	const char *why = "", *item = list;

	while (*item) {
		size_t len = strcspn(item, ",");

		if (!set_key(&o->caps, item, len))
			return vpt_fail(VPT_EXIT_USAGE,
					"run: --caps: '%.*s': not KEY=NUMBER with a key of vpt run "
					"--help",
					(int)len, item);
		item += len + (item[len] == ',');
	}
	if (vpt_caps_check(&o->caps, &why) != VPT_OK)
		return vpt_fail(VPT_EXIT_USAGE, "run: --caps=%s: no such processor: %s", list, why);
	o->model = "custom";
	return VPT_EXIT_OK;
}

static int find_model(struct vpt_run_options *o, const char *caps)
{
	struct vpt_model model;

	if (!vpt_model_find(o->model, &model)) {
		const char *names[MAX_MODELS + 1] = {NULL};
		unsigned int i;

		for (i = 0; i < MAX_MODELS && vpt_model_at(i, &model); i++)
			names[i] = model.name;
		return vpt_cli_no_word("run", "model", o->model, names);
	}
	o->caps = model.caps;
	if (caps && model.system != VPT_SYSTEM_PT)
		return vpt_fail(VPT_EXIT_USAGE, "run: --caps: model %s has no PT", o->model);
	return caps ? change_caps(o, caps) : VPT_EXIT_OK;
}

static bool asks_for_host(const struct vpt_run_options *o)
{
	return o->ranges || o->user || o->kernel || o->has_cr3 || o->no_retc || o->tsc ||
	       o->has_psb || o->trace.host;
}

static int check_together(const struct vpt_run_options *o)
{
	bool host = o->usage.given ? o->usage.host : o->owner == VPT_OWNER_HOST;

	if (!host && asks_for_host(o))
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --filter, --stop, --user, --kernel, --cr3, --no-retc, "
				"--psb, --tsc, --mtc, --cyc, --ptw, --power, --events, --no-tnt, "
				"--no-branch and --less-pkts are for --pt=host or a --usage that "
				"is not the "
				"guest's: a guest sets up its own trace");
	if (o->owner == VPT_OWNER_NONE && (o->output || o->oracle || o->max_insns))
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --pt=off: nothing is traced, so there is no --output, "
				"--oracle or --max-insns");
	if (o->owner == VPT_OWNER_NONE && o->trace.of_model)
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --pt=off: nothing is traced, so there is no --defer-tips, "
				"--buffer, --cyc-bits, --cbr, --errata, --clear-lag or "
				"--disable-pgd");
	if (o->owner == VPT_OWNER_HOST && !o->output)
		return vpt_fail(VPT_EXIT_USAGE, "run: --pt=host: say where to record: -o FILE");
	if (o->oracle && !o->output)
		return vpt_fail(VPT_EXIT_USAGE, "run: --oracle: say where to record: -o FILE");
	if (!o->snapshot && (o->has_snapshot_at || o->snapshot_every))
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --snapshot-at, --snapshot-every: say where: --snapshot=FILE");
	return VPT_EXIT_OK;
}

int vpt_run_parse(struct vpt_run_options *o, int argc, char **argv)
{
	static const struct vpt_cli_options options = {"run", ":o:p:M:m:qjh", longs, help};
	int option, status = VPT_EXIT_OK;
	const char *caps = NULL;
	bool owner_given = false, named = false;

	memset(o, 0, sizeof(*o));
	o->verb = "run";
	o->engine = "auto";
	o->model = "skl";
	o->owner = VPT_OWNER_GUEST;
	o->mem = DEFAULT_MEM;
	o->max_bytes = VPT_RUN_MAX_BYTES;
	vpt_run_init_usage(&o->usage);
	optind = 0;
	while (!status && (option = vpt_cli_option(&options, argc, argv)) != -1) {
		owner_given |= option == 'p';
		named |= option == 'M';
		status = take_option(o, option, &caps);
	}
	if (status || o->help)
		return status;
	if (optind == argc)
		return vpt_fail(VPT_EXIT_USAGE, "run: GUEST is missing: see vpt run --help");
	if (optind + 1 != argc)
		return vpt_fail(VPT_EXIT_USAGE, "run: %s: only one GUEST", argv[optind + 1]);
	o->guest = argv[optind];
	status = vpt_run_choose_system(o, named);
	if (!status)
		status = find_model(o, caps);
	if (!status)
		status = vpt_run_check_usage(o, owner_given);
	if (!status)
		status = check_together(o);
	if (!status && o->system == VPT_SYSTEM_RTIT)
		return vpt_run_check_rtit(o);
	/* The model of that engine is not known yet. */
	if (status || !strcmp(o->engine, "kvm-pt"))
		return status;
	return vpt_run_check_trace(o);
}
