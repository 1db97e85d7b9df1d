// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt lockstep: compares two engines that run the same guest. */
#include "cli/lockstep.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "boot/boot.h"
#include "cli/cli.h"
#include "cli/confine.h"
#include "cli/open.h"
#include "cli/terminal.h"
#include "trace/input.h"

struct guest {
	struct trace_input file;
	struct boot_elf elf;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static bool tick(void *opaque)
{
	(void)opaque;
	return interrupted;
}

static void console(void *to, char c)
{
	(void)cli_terminal_put(to, (uint8_t)c);
}

static int open_guest(const struct cli_lockstep_options *o, struct guest *g)
{
	enum boot_elf_error error;
	int err = trace_input_open_magic(&g->file, o->guest, BOOT_ELF_MAGIC, BOOT_ELF_MAGIC_LEN);

	if (err)
		return cli_fail(cli_input_status(err), "lockstep: %s: %s", o->guest,
				cli_reason(-err));
	error = boot_elf_parse(g->file.bytes, g->file.size,
			       x86_mem_low(&(struct x86_mem){.bytes = o->mem}), &g->elf);
	if (error)
		return cli_fail(CLI_EXIT_INPUT, "lockstep: %s: %s", o->guest,
				boot_elf_error_text(error));
	return CLI_EXIT_OK;
}

static int probe(const struct cli_lockstep_options *o, struct engine_probe *found)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		o->engine[i]->probe(&found[i], false);
		if (found[i].problem)
			return cli_fail(CLI_EXIT_HOST, "lockstep: engine %s: %s",
					o->engine[i]->name, found[i].problem);
	}
	return CLI_EXIT_OK;
}

/* Run the guest from the beginning. Only the first run prints the guest's output. */
static int run(const struct cli_lockstep_options *o, struct guest *g,
	       const struct engine_probe *found, uint64_t exact_from, struct core_lockstep *l)
{
	const bool silent = exact_from != UINT64_MAX || o->quiet || o->json;
	struct cli_terminal terminal;
	const struct core_lockstep_config config = {
		.engine = {o->engine[0], o->engine[1]},
		.probe = {&found[0], &found[1]},
		.caps = vpt_caps_model(o->model),
		.owner = o->owner,
		.mem_bytes = o->mem,
		.console = silent ? NULL : console,
		.console_to = &terminal,
		.every = o->every,
		.every_all = o->every_all,
		.exact_from = exact_from,
		.max_insns = o->max_insns,
		.tick = tick,
	};
	struct boot_config boot = {.seed = o->seed};
	int err = core_lockstep_create(l, &config);
	unsigned int i;

	if (err)
		return cli_fail(CLI_EXIT_HOST, "lockstep: cannot make two virtual machines: %s",
				cli_reason(-err));
	cli_terminal_open(&terminal, stdout);
	memcpy(boot.arg, o->args.value, sizeof(boot.arg));
	for (i = 0; i < 2; i++) {
		boot_elf_load(g->file.bytes, &g->elf, &l->side[i].vm.mem);
		(void)boot_guest(&l->side[i].vm, &g->elf, &boot);
	}
	core_lockstep_run(l);
	(void)cli_terminal_end(&terminal);
	return CLI_EXIT_OK;
}

/* A difference may be older than the comparison that found it. */
static bool may_be_late(const struct core_lockstep *l)
{
	return l->end == CORE_LOCKSTEP_DIVERGED && l->steps > l->all_good + 1;
}

/*
 * Repeat the run up to a difference that was found late, and compare every instruction. Returns
 * NULL if the difference does not occur again.
 */
static struct core_lockstep *find_again(const struct cli_lockstep_options *o, struct guest *g,
					const struct engine_probe *found,
					const struct core_lockstep *first)
{
	struct core_lockstep *l = malloc(sizeof(*l));

	if (l && !run(o, g, found, first->all_good, l)) {
		if (l->end == CORE_LOCKSTEP_DIVERGED && l->steps <= first->steps)
			return l;
		core_lockstep_destroy(l);
	}
	free(l);
	return NULL;
}

static int compare(const struct cli_lockstep_options *o, struct guest *g,
		   const struct engine_probe *found)
{
	struct core_lockstep *l = malloc(sizeof(*l)), *second = NULL;
	int status = l ? run(o, g, found, UINT64_MAX, l)
		       : cli_fail(CLI_EXIT_HOST, "lockstep: no memory");

	if (!status) {
		if (may_be_late(l) && !interrupted)
			second = find_again(o, g, found, l);
		status = cli_lockstep_report(o, second ? second : l, g->file.bytes, g->file.size);
		core_lockstep_destroy(l);
	}
	if (second)
		core_lockstep_destroy(second);
	free(second);
	free(l);
	return status;
}

static int lockstep(const struct cli_lockstep_options *o)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct engine_probe found[2];
	struct guest guest = {0};
	int status = open_guest(o, &guest);

	if (!status)
		status = probe(o, found);
	if (!status)
		status = cli_confine("lockstep", &(struct sandbox_want){.kvm = true, .code = true});
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!status)
		status = compare(o, &guest, found);
	trace_input_close(&guest.file);
	return status;
}

int cli_cmd_lockstep(int argc, char **argv)
{
	struct cli_lockstep_options o;
	int status = cli_lockstep_parse(&o, argc, argv);

	return status ? status : lockstep(&o);
}
