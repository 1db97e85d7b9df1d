// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run --usage: VM entries and exits, and the sides that are traced across them. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "core/vcpu.h"

#define WORD_MAX 32

/* Copy the next word of a list, up to `end`, into `word`. Returns NULL if it is too long. */
static const char *next_word(const char *list, const char *end, char word[WORD_MAX])
{
	size_t len = strcspn(list, end);

	if (!len || len >= WORD_MAX)
		return NULL;
	memcpy(word, list, len);
	word[len] = 0;
	return list + len;
}

static bool traces_for_host(enum vpt_usage usage)
{
	return usage != VPT_USAGE_OFF && usage != VPT_USAGE_OWNED;
}

/* Parse USAGE or USAGE@INSNS. */
static bool take_one(struct cli_run_usage *u, const char *word)
{
	char name[WORD_MAX];
	const char *at = next_word(word, "@", name);
	struct core_hv_change change = {.usage = VPT_USAGE_COUNT};

	if (at)
		change.usage = vpt_usage_parse(name);
	if (!at || change.usage == VPT_USAGE_COUNT || u->setup.changes == CORE_HV_SWITCHES)
		return false;
	u->owned |= change.usage == VPT_USAGE_OWNED;
	u->system |= change.usage == VPT_USAGE_SYSTEM;
	u->host |= traces_for_host(change.usage);
	if (!u->given) {
		u->given = true;
		u->setup.config.usage = change.usage;
		return !*at;
	}
	u->setup.change[u->setup.changes++] = change;
	return *at && cli_is_number(at + 1, &u->setup.change[u->setup.changes - 1].at);
}

/* Returns true if the counts ascend. */
static bool is_in_order(const struct cli_run_usage *u)
{
	size_t i;

	for (i = 1; i < u->setup.changes; i++)
		if (u->setup.change[i].at < u->setup.change[i - 1].at)
			return false;
	return true;
}

const char *const cli_run_usages[] = {"system", "host", "guest", "owned", "off", NULL};

int cli_run_take_usage(const struct cli_given *g)
{
	struct cli_run_usage *u = g->field;
	const char *list = g->value;
	char word[WORD_MAX];
	bool ok;

	if (u->given)
		return cli_option_wrong(g, "given twice");
	do {
		list = next_word(list, ",", word);
		ok = list && take_one(u, word);
	} while (ok && *list++);
	if (ok && is_in_order(u))
		return CLI_EXIT_OK;
	return cli_option_wrong(g, "not a list such as guest or guest,system@100000 of system, "
				   "host, guest, owned and off");
}

const char *const cli_run_conceals[] = {"exec", "exit", "entry", "all", "none", NULL};

int cli_run_take_conceal(const struct cli_given *g)
{
	/* The order is that of the words. */
	static const uint32_t controls[] = {VPT_VMX_EXEC_CONCEAL, VPT_VMX_EXIT_CONCEAL,
					    VPT_VMX_ENTRY_CONCEAL, VPT_VMX_CONCEAL, 0};
	struct cli_run_usage *u = g->field;
	const char *list = g->value;
	char word[WORD_MAX];
	size_t i;

	u->setup.config.conceal = 0;
	do {
		list = next_word(list, ",", word);
		for (i = 0; list && cli_run_conceals[i] && strcmp(cli_run_conceals[i], word); i++)
			;
		if (!list || !cli_run_conceals[i])
			return cli_option_wrong(g, "not exec, exit, entry, all or none");
		u->setup.config.conceal |= controls[i];
	} while (*list++);
	return CLI_EXIT_OK;
}

int cli_run_take_trap(const struct cli_given *g)
{
	struct cli_run_usage *u = g->field;

	if (strcmp(g->value, "cr3"))
		return cli_option_wrong(g, "there is cr3");
	u->setup.trap_cr3 = true;
	return CLI_EXIT_OK;
}

int cli_run_take_controls(const struct cli_given *g)
{
	struct cli_run_usage *u = g->field;
	bool none = !strcmp(g->value, "none");

	if (!none && strcmp(g->value, "all"))
		return cli_option_wrong(g, "not all or none");
	u->setup.config.allowed = none ? 0 : VPT_VMX_CONTROLS;
	return CLI_EXIT_OK;
}

/* Parse a scale such as 1.25: a fraction of up to nine digits. */
int cli_run_take_scale(const struct cli_given *g)
{
	struct cli_run_usage *u = g->field;
	uint64_t whole = 0, part = 0, ten = 1;
	const char *c = g->value;
	bool ok = *c >= '0' && *c <= '9';

	for (; *c >= '0' && *c <= '9' && whole < VPT_BIT64(16); c++)
		whole = whole * 10 + (uint64_t)(*c - '0');
	ok = ok && whole < VPT_BIT64(15);
	if (ok && *c == '.')
		for (c++; *c >= '0' && *c <= '9' && ten < 1000000000; c++) {
			part = part * 10 + (uint64_t)(*c - '0');
			ten *= 10;
		}
	u->setup.config.tsc.multiplier =
		(whole << 48) + (uint64_t)(((unsigned __int128)part << 48) / ten);
	if (!ok || *c || !u->setup.config.tsc.multiplier)
		return cli_option_wrong(g, "not a factor such as 1.25");
	return CLI_EXIT_OK;
}

void cli_run_init_usage(struct cli_run_usage *u)
{
	u->setup.config.allowed = VPT_VMX_CONTROLS;
	u->setup.config.tsc.multiplier = VPT_TSC_ONE;
}

/* Compute the capabilities in the guest's CPUID. */
static int make_guest_caps(struct cli_run_options *o)
{
	const struct vpt_caps host = cli_run_host_caps(o);
	struct vpt_caps wish = o->caps;

	if (o->system == TRACER_SYSTEM_PT && o->usage.owned &&
	    vpt_usage_guest_caps(&host, &wish, &wish) != VPT_OK)
		return cli_fail(CLI_EXIT_USAGE, "run: --usage: nothing of this PT is for a guest");
	if (vpt_tsc_caps(&wish, &o->usage.setup.config.tsc, &o->usage.guest_caps) != VPT_OK)
		return cli_fail(CLI_EXIT_USAGE, "run: --tsc-scale: the guest's CPUID.15H or clock "
						"ratio cannot report the resulting frequency");
	return CLI_EXIT_OK;
}

int cli_run_check_usage(struct cli_run_options *o)
{
	struct cli_run_usage *u = &o->usage;

	if (!u->given && u->detail)
		return cli_fail(CLI_EXIT_USAGE, "run: --%s: it is for --usage", u->detail);
	if (!u->given)
		return CLI_EXIT_OK;
	if (o->owner_given)
		return cli_fail(CLI_EXIT_USAGE, "run: --usage excludes --pt");
	if (o->snapshot)
		return cli_fail(CLI_EXIT_USAGE, "run: --usage excludes snapshots");
	if (u->system && u->setup.config.conceal)
		return cli_fail(CLI_EXIT_USAGE, "run: --conceal: with --usage=system no packet "
						"would identify the guest's code");
	o->owner = u->owned ? TRACE_OWNER_GUEST : TRACE_OWNER_HOST;
	return make_guest_caps(o);
}

int cli_run_start_usage(const struct cli_run_options *o, struct core_vcpu *v)
{
	struct core_hv_setup setup = o->usage.setup;
	const char *why;
	int status;

	if (o->usage.owned)
		setup.config.guest_caps = &v->vm->guest_caps;
	vpt_rtit_reset(&setup.config.trace);
	setup.config.atom = cli_run_host_atom(o, v->regs->rip);
	if (o->usage.host && o->system == TRACER_SYSTEM_PT) {
		status = cli_run_host_registers(o, &v->tracer.caps, &setup.config.trace);
		if (status)
			return status;
	}
	if (core_hv_create(v, &setup, &why) == VPT_OK)
		return CLI_EXIT_OK;
	if (!why)
		return cli_fail(CLI_EXIT_HOST, "run: --usage: there is no memory");
	return cli_fail(CLI_EXIT_USAGE, "run: --usage: model %s: %s", o->model, why);
}
