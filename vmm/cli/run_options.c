// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run: parses the command line. */
#include "cli/run.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/run_tasks.h"

#define DEFAULT_MEM (64ull << 20)
#define MIN_MEM	    (1ull << 20)
/* The engine has its own pages right below 1 << 36. */
#define MAX_MEM (1ull << 35)

static int take_mem(const struct cli_given *g)
{
	const uint64_t *mem = g->field;
	int status = cli_take_size(g);

	if (!status && (*mem < MIN_MEM || *mem > MAX_MEM || *mem % 4096))
		return cli_option_wrong(g, "from 1M to 32G, in whole pages of 4K");
	return status;
}

static int take_cpus(const struct cli_given *g)
{
	const uint64_t *cpus = g->field;
	int status = cli_take_number(g);

	if (!status && (!*cpus || *cpus > DEV_PLATFORM_CPUS))
		return cli_option_wrong(g, "from 1 to %u", DEV_PLATFORM_CPUS);
	return status;
}

static int take_range(const struct cli_given *g)
{
	struct cli_run_options *o = g->options;

	if (o->ranges == VPT_MAX_RANGES)
		return cli_option_wrong(g, "no processor has more than %d ranges", VPT_MAX_RANGES);
	o->range[o->ranges++] = (struct cli_run_range){
		.text = g->value,
		.stop = !strcmp(g->option->name, "stop"),
	};
	return CLI_EXIT_OK;
}

static const char *model_name(unsigned int i)
{
	struct core_model model;

	return core_model_at(i, &model) ? model.name : NULL;
}

#define AT(member)    .field = offsetof(struct cli_run_options, member)
#define GIVEN(member) .given = offsetof(struct cli_run_options, member)
#define GROUP(member) .group = offsetof(struct cli_run_options, member)
#define OF_HOST	      GROUP(trace.host)
#define OF_MODEL      GROUP(trace.of_model)
#define OF_USAGE      GROUP(usage.detail)
#define OF_ATOM	      GIVEN(atom.given)
#define BIT(name)     AT(trace.ctl), OF_HOST, .bits = VPT_CTL_MASK(name)

static const char *const owners[] = {"guest", "host", "off", NULL};
static const char *const systems[] = {"pt", "rtit", NULL};
static const char *const engines[] = {"auto", "soft", "kvm", "kvm-pt", CLI_RUN_PAIR, NULL};
static const char *const apics[] = {"kvm", "vpt", NULL};
static const char *const ptws[] = {"fup", NULL};
static const char *const erratas[] = {"all", "none", NULL};
static const char *const traps[] = {"cr3", NULL};
static const char *const controls[] = {"all", "none", NULL};

static const struct cli_option rows[] = {
	{'o', "output", "=FILE",
	 "record to this .vpt file, or - for standard output, for vpt decode --follow",
	 cli_take_text, AT(output)},
	{'p', "pt", "=OWNER", "owner of the trace: guest (default), host, or off", cli_take_owner,
	 AT(owner), GIVEN(owner_given), .words = owners},
	{'M', "model", "=NAME", "bdw, skl (default), icx or spr; with RTIT silvermont or airmont",
	 cli_take_name, AT(model), GIVEN(model_given), .word_at = model_name},
	{0, "trace", "=SYSTEM",
	 "pt or rtit, which the model must have; rtit without --model selects silvermont",
	 cli_take_name, AT(atom.trace), .words = systems},
	{0, "caps", "=LIST",
	 "change CPUID words of the model: eax= ebx= ecx= of 14H.0, eax1= ebx1= of 14H.1, tsc_eax= "
	 "tsc_ebx= tsc_ecx= of 15H, signature=, maxphyaddr=, linaddr=, nonturbo=",
	 cli_take_text, AT(caps_list), GIVEN(model_given)},
	{'m', "mem", "=SIZE", "guest memory, such as 64M (default) or 1G", take_mem, AT(mem)},
	{0, "cpus", "=N", "the number of vCPUs, 1 (default) to 64", take_cpus, AT(cpus)},
	{0, "oracle", NULL,
	 "also record every retired instruction, for vpt verify: 16 bytes each, and up to ten "
	 "times slower",
	 cli_take_flag, AT(oracle)},
	{0, "oracle-blocks", NULL,
	 "also record every block of instructions that ran, for vpt verify: 4 bytes each, with "
	 "compiled code on; only --engine=soft",
	 cli_take_flag, AT(oracle_blocks)},
	{0, "verify", "[=SIZE]",
	 "compare the trace with the instructions that ran, while the guest runs, and store "
	 "nothing; in parts of SIZE bytes of memory (default 64M), which the vCPUs share; only "
	 "--engine=soft",
	 cli_run_take_verify, AT(verify)},
	{0, "seed", "=N", "the seed of the guest's random numbers", cli_take_number, AT(seed)},
	{0, "arg", "=N", "the next argument in the boot information; at most four", cli_take_arg,
	 AT(args)},
	{0, "initrd", "=FILE", "load FILE into memory; for Linux, the initial RAM disk",
	 cli_take_text, AT(initrd)},
	{0, "append", "=TEXT", "the command line of a Linux kernel (default: console=ttyS0)",
	 cli_take_text, AT(append)},
	{0, "no-reboot", NULL, "end the run where a Linux kernel resets the machine", cli_take_flag,
	 AT(no_reboot)},
	{0, "disk", "=FILE[,ro|,rw][,format=raw|qcow2][,overlay=SIZE]",
	 "give a Linux guest a virtio disk with this image; the guest's writes stay in memory, at "
	 "most SIZE (default: 1G), unless rw is given; can be repeated",
	 cli_run_take_disk, AT(disks)},
	{0, "virtio-rng", NULL, "a virtio device of random numbers, which follow from the seed",
	 cli_take_flag, AT(virtio_rng)},
	{0, "share", "=DIR[,tag=NAME][,rw]",
	 "share a folder with a Linux guest by virtio-9p, read-only unless rw is given; the guest "
	 "mounts NAME (default: share)",
	 cli_run_take_share, AT(share)},
	{0, "virtio-console", NULL, "a virtio console (hvc0), which receives the console's input",
	 cli_take_flag, AT(virtio_console)},
	{0, "net", "=user[,restrict][,hostfwd=tcp:[ADDR]:PORT-:PORT]...",
	 "give a Linux guest a virtio network card, whose connections are those of this user; "
	 "with restrict it reaches nobody; hostfwd (tcp or udp) passes a port of this host to it",
	 cli_run_take_net, AT(net)},
	{0, "monitor", "=SOCKET",
	 "listen at this UNIX socket for commands, which vpt monitor sends", cli_take_text,
	 AT(monitor)},
	{0, "gdb", "=PORT",
	 "wait for gdb at this port of 127.0.0.1, or at a UNIX socket if it contains a /; gdb goes "
	 "forwards and backwards",
	 cli_take_text, AT(gdb)},
	{0, "tasks", NULL,
	 "record which process and thread of a Linux guest runs, with their names; the kernel "
	 "needs BTF; only --engine=soft",
	 cli_take_flag, AT(tasks)},
	{0, "engine", "=NAME",
	 "auto (default), soft, kvm, kvm-pt (this machine's own PT), or kvm,soft: kvm "
	 "while nothing is traced, and soft while a trace is on",
	 cli_take_name, AT(engine), .words = engines},
	{0, "apic", "=NAME",
	 "the local APICs under --engine=kvm --pt=off: vpt (default), or kvm where KVM can have "
	 "them",
	 cli_take_name, AT(apic), .words = apics},
	{0, "common-cpuid", NULL,
	 "CPUID has only what both soft and kvm have, so that each of them resumes a snapshot; "
	 "always on with --engine=kvm and --snapshot",
	 cli_take_flag, AT(common_cpuid)},
	CLI_RUN_COMMON_ROWS(AT, GIVEN),
	{.text = "Options of a host's trace (--pt=host, or --usage):"},
	{0, "trace-later", NULL, "begin with the monitor's trace-start", cli_take_flag,
	 AT(trace_later), OF_HOST},
	{0, "trace-from", "=EVENT",
	 "begin when execution reaches this SYMBOL or address, when the guest has printed TEXT "
	 "(console:TEXT) or marked it (mark:TEXT), after N instructions (insns:N) or S seconds of "
	 "its time (time:S), or when vpt run receives a signal (signal:USR2)",
	 cli_run_take_from, AT(window), OF_HOST},
	{0, "trace-until", "=EVENT", "end the trace at such an event", cli_run_take_until,
	 AT(window), OF_HOST},
	{0, "trace-for", "=N", "end the trace N instructions after its begin", cli_run_take_for,
	 AT(window), OF_HOST},
	{0, "trace-after", "=N", "end the trace N instructions after the event of --trace-until",
	 cli_run_take_after, AT(window), OF_HOST},
	{0, "trace-again", NULL, "begin again at each further event of --trace-from", cli_take_flag,
	 AT(window.again), OF_HOST},
	{0, "ring", "=SIZE",
	 "keep the last SIZE bytes of the trace (at least 4K) and their code in memory; FILE gets "
	 "them at the event of --trace-until, at the monitor's trace-stop, or else at the end of "
	 "the "
	 "run, however the guest ends",
	 cli_run_take_ring, AT(ring), OF_HOST},
	{0, "slow-reader", "=drop[:SIZE]",
	 "FILE is a pipe: leave trace out while the reader is behind by SIZE bytes (default: 64M), "
	 "and count it; without the option the guest waits",
	 cli_run_take_drop, AT(drop), OF_HOST},
	{0, "filter", "=RANGE", "trace only this code; can be repeated for several filters",
	 take_range, OF_HOST},
	{0, "stop", "=RANGE", "end the trace when execution enters this code", take_range, OF_HOST},
	{'S', "symbols", "=FILE[@BIAS]",
	 "also take symbols of ranges from an ELF file, System.map or a copy of /proc/kallsyms, "
	 "and "
	 "add BIAS to their addresses; can be repeated",
	 cli_symbols_take, AT(symbols), OF_HOST},
	{0, "user", NULL, "trace only CPL above 0", cli_take_flag, AT(user), OF_HOST},
	{0, "kernel", NULL, "trace only CPL 0", cli_take_flag, AT(kernel), OF_HOST},
	{0, "cr3", "=VALUE", "trace only while CR3 is VALUE", cli_take_number, AT(cr3),
	 GIVEN(has_cr3), OF_HOST},
	{0, "no-retc", NULL, "no RET compression", cli_take_flag, AT(no_retc), OF_HOST},
	{0, "psb", "=N", "a PSB every 2K << N bytes", cli_take_number, AT(psb), GIVEN(has_psb),
	 OF_HOST},
	{0, "tsc", NULL, "TSC packets", cli_take_flag, AT(tsc), OF_HOST},
	{0, "mtc", "[=N]", "MTC packets, one every 1 << N clocks of the crystal (default 3)",
	 cli_run_take_mtc, AT(trace), OF_HOST},
	{0, "cyc", "[=N]", "CYC packets, with CycThresh N (default 0: for each packet)",
	 cli_run_take_cyc, AT(trace), OF_HOST},
	{0, "ptw", "[=fup]", "PTW packets of PTWRITE; fup: with the instruction's IP",
	 cli_run_take_ptw, AT(trace), OF_HOST, .words = ptws},
	{0, "power", NULL, "power events", cli_take_bits, BIT(PWR_EVT_EN)},
	{0, "events", NULL, "event trace: interrupts, exceptions and IRET", cli_take_bits,
	 BIT(EVENT_EN)},
	{0, "no-tnt", NULL, "no TNT packets (DisTNT)", cli_take_bits, BIT(DIS_TNT)},
	{0, "no-branch", NULL, "no packets of branches at all", cli_take_flag, AT(trace.no_branch),
	 OF_HOST},
	{.text = "With RTIT, --psb is 0 to 3 (2K to 16K), and --tsc sends STS packets, also on MOV "
		 "CR3. --mtc=N is MTC_Range (0 to 3). --cyc sends cycle counts and has no value. "
		 "There are two ranges. RTIT has no --ptw, --power, --events, --no-tnt, "
		 "--no-branch, --defer-tips and --cyc-bits. These options are only for RTIT:"},
	{0, "less-pkts", NULL, "send timing packets only where branches are traced", cli_take_flag,
	 AT(atom.less_pkts), OF_HOST, OF_ATOM},
	{0, "errata", "=LIST",
	 "errata of the processor: E1 to E8, such as E1,E3, all or none (default)",
	 cli_run_take_errata, AT(atom), OF_MODEL, OF_ATOM, .words = erratas},
	{0, "clear-lag", "=N", "PSBs clear the compression N packets late, at most 4",
	 cli_run_take_clear_lag, AT(atom), OF_MODEL, OF_ATOM},
	{0, "disable-pgd", NULL, "send FUP.PGD when software ends the trace", cli_take_flag,
	 AT(atom.model.disable_pgd), OF_MODEL, OF_ATOM},
	{.text = "Properties of the processor that CPUID does not report, for every owner:"},
	{0, "defer-tips", NULL, "send TIPs after the TNT packet that is in progress", cli_take_flag,
	 AT(trace.model.defer_tips), OF_MODEL},
	{0, "buffer", "=BYTES[:DRAIN]",
	 "model an internal buffer that can overflow; DRAIN bytes leave it in 1024 core clocks "
	 "(default 1024)",
	 cli_run_take_buffer, AT(trace), OF_MODEL},
	{0, "cyc-bits", "=N", "width of the cycle counter in bits (default 14)",
	 cli_run_take_cyc_bits, AT(trace), OF_MODEL},
	{0, "cbr", "=RATIO[,RATIO@INSNS[:TICKS]]...",
	 "the core clock is RATIO times the bus clock (default: the ratio at P1). After INSNS "
	 "instructions it changes to another RATIO, and first stops for TICKS of the TSC",
	 cli_run_take_cbr, AT(trace), OF_MODEL},
	{.text = "VM entries and exits, and the usage of PT across them:"},
	{0, "usage", "=USAGE[,USAGE@INSNS]...",
	 "system, host (only the VMM), guest (only the guest), owned (by the guest) or off; "
	 "guest,system@N changes after N instructions",
	 cli_run_take_usage, AT(usage), .words = cli_run_usages},
	{0, "conceal", "=LIST", "exec, exit, entry, all or none (default): conceal VMX in packets",
	 cli_run_take_conceal, AT(usage), OF_USAGE, .words = cli_run_conceals},
	{0, "trap", "=cr3", "intercept MOV to CR3, and emulate it in the VMM", cli_run_take_trap,
	 AT(usage), OF_USAGE, .words = traps},
	{0, "controls", "=all|none",
	 "the VMX controls of PT (default all); with none the VMM uses MSR areas instead",
	 cli_run_take_controls, AT(usage), OF_USAGE, .words = controls},
	{0, "tsc-offset", "=N", "add N to the TSC of the guest", cli_take_number,
	 AT(usage.setup.config.tsc.offset), OF_USAGE},
	{0, "tsc-scale", "=F", "multiply the TSC by F before that, such as 1.25",
	 cli_run_take_scale, AT(usage), OF_USAGE},
	CLI_OPTION_END,
};

const struct cli_verb cli_verb_run = {
	.name = "run",
	.run = cli_cmd_run,
	.summary = "run a guest and record its trace",
	.usage = "[OPTION]... GUEST",
	.about = "Runs a static x86-64 ELF file or a Linux kernel (a bzImage or a vmlinux) as a "
		 "guest, and records its trace. The model of the processor has Intel PT, or RTIT "
		 "for Atoms. "
		 "The guest's console is standard output.",
	.notes = "RANGE is SYMBOL, SYMBOL..SYMBOL (first byte to last), or FIRST-LAST (addresses, "
		 "inclusive). Numbers are decimal, or hexadecimal after 0x. vpt restore resumes a "
		 "snapshot.\n\n"
		 "The exit status is 0 if the guest's status is 0. It is 1 if the guest's status "
		 "is not 0, or if the guest crashed, hung or reached a limit. It is 2 for a wrong "
		 "command line, 3 if a file cannot be used, and 4 if this machine lacks a "
		 "requirement. An incomplete trace stays in FILE.part.\n\n"
		 "  vpt run -o t.vpt demo.elf\n"
		 "  vpt run --pt=host --filter=execute --no-retc -o t.vpt demo.elf",
	.options = rows,
	.column = 23,
	.operands = {{"GUEST", .field = offsetof(struct cli_run_options, guest)}},
	.seen = cli_run_see,
};

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
	if (!cli_is_number(value_text, &value))
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

static int change_caps(struct cli_run_options *o, const char *list)
{
	const char *why = "", *item = list;

	while (*item) {
		size_t len = strcspn(item, ",");

		if (!set_key(&o->caps, item, len))
			return cli_fail(CLI_EXIT_USAGE,
					"run: --caps: '%.*s': not KEY=NUMBER with a key of vpt run "
					"--help",
					(int)len, item);
		item += len + (item[len] == ',');
	}
	if (vpt_caps_check(&o->caps, &why) != VPT_OK)
		return cli_fail(CLI_EXIT_USAGE, "run: --caps=%s: no such processor: %s", list, why);
	o->model = "custom";
	return CLI_EXIT_OK;
}

static int find_model(struct cli_run_options *o)
{
	struct core_model model;

	(void)core_model_find(o->model, &model); /* The parser has already checked the name. */
	o->caps = model.caps;
	if (o->caps_list && model.system != TRACER_SYSTEM_PT)
		return cli_fail(CLI_EXIT_USAGE, "run: --caps: model %s has no PT", o->model);
	return o->caps_list ? change_caps(o, o->caps_list) : CLI_EXIT_OK;
}

static int check_together(const struct cli_run_options *o)
{
	bool host = o->usage.given ? o->usage.host : o->owner == TRACE_OWNER_HOST;

	if (!host && o->trace.host)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --%s: it is for --pt=host or a --usage that is not the "
				"guest's: a guest sets up its own trace",
				o->trace.host);
	if (o->owner == TRACE_OWNER_NONE && (o->output || o->oracle || o->max_insns))
		return cli_fail(CLI_EXIT_USAGE,
				"run: --pt=off: nothing is traced, so there is no --output, "
				"--oracle or --max-insns");
	if (o->owner == TRACE_OWNER_NONE && o->trace.of_model)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --pt=off: nothing is traced, so there is no --%s",
				o->trace.of_model);
	if (o->owner == TRACE_OWNER_HOST && !o->output && !o->verify)
		return cli_fail(CLI_EXIT_USAGE, "run: --pt=host: requires -o FILE or --verify");
	if (o->oracle && !o->output && !o->verify)
		return cli_fail(CLI_EXIT_USAGE, "run: --oracle: requires -o FILE");
	if (o->oracle_blocks && o->snapshot)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --oracle-blocks: a snapshot has no blocks; use --oracle");
	return CLI_EXIT_OK;
}

int cli_run_parse(struct cli_run_options *o, int argc, char **argv)
{
	int status;

	memset(o, 0, sizeof(*o));
	o->verb = "run";
	o->engine = "auto";
	o->owner = TRACE_OWNER_GUEST;
	o->mem = DEFAULT_MEM;
	o->max_bytes = CLI_RUN_MAX_BYTES;
	cli_run_init_usage(&o->usage);
	status = cli_options_parse(&cli_verb_run, argc, argv, o);
	o->oracle |= o->oracle_blocks;
	if (o->output && !strcmp(o->output, "-"))
		o->output = "/dev/stdout";
	if (!status)
		status = cli_run_choose_system(o);
	if (!status)
		status = find_model(o);
	if (!status)
		status = cli_run_check_usage(o);
	if (!status)
		status = cli_run_check_window(o);
	if (!status)
		status = cli_run_tasks_check(o);
	if (!status)
		status = cli_run_check_verify(o);
	if (!status)
		status = cli_run_check_ring(o);
	if (!status)
		status = cli_run_check_drop(o);
	if (!status)
		status = check_together(o);
	if (!status && o->system == TRACER_SYSTEM_ATOM)
		return cli_run_check_atom(o);
	/* The model of this engine is not known yet. */
	if (status || !strcmp(o->engine, "kvm-pt"))
		return status;
	return cli_run_check_trace(o);
}
