// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run --usage: VM entries and exits, and what is traced across them. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "core/vcpu.h"

#define WORD_MAX 32

/* The next word of a list, up to `end`, into `word`; NULL: it is too long. */
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

/* USAGE or USAGE@INSNS. */
static bool take_one(struct vpt_run_usage *u, const char *word)
{
	char name[WORD_MAX];
	const char *at = next_word(word, "@", name);
	struct vpt_hv_change change = {.usage = VPT_USAGE_COUNT};

	if (at)
		change.usage = vpt_usage_parse(name);
	if (!at || change.usage == VPT_USAGE_COUNT || u->setup.changes == VPT_HV_SWITCHES)
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
	return *at && vpt_run_number(at + 1, &u->setup.change[u->setup.changes - 1].at);
}

/* In the order in which they come. */
static bool is_in_order(const struct vpt_run_usage *u)
{
	size_t i;

	for (i = 1; i < u->setup.changes; i++)
		if (u->setup.change[i].at < u->setup.change[i - 1].at)
			return false;
	return true;
}

static int take_usages(struct vpt_run_usage *u)
{
	const char *list = optarg;
	char word[WORD_MAX];
	bool ok;

	if (u->given)
		return vpt_fail(VPT_EXIT_USAGE, "run: --usage: given twice");
	do {
		list = next_word(list, ",", word);
		ok = list && take_one(u, word);
	} while (ok && *list++);
	if (ok && is_in_order(u))
		return VPT_EXIT_OK;
	return vpt_fail(VPT_EXIT_USAGE,
			"run: --usage=%s: not a list such as guest or guest,system@100000 of "
			"system, host, guest, owned and off",
			optarg);
}

static int take_conceal(struct vpt_run_usage *u)
{
	static const struct {
		const char *name;
		uint32_t controls;
	} row[] = {
		{"none", 0},
		{"exec", VPT_VMX_EXEC_CONCEAL},
		{"exit", VPT_VMX_EXIT_CONCEAL},
		{"entry", VPT_VMX_ENTRY_CONCEAL},
		{"all", VPT_VMX_CONCEAL},
	};
	const char *list = optarg;
	char word[WORD_MAX];
	size_t i;

	u->setup.config.conceal = 0;
	do {
		list = next_word(list, ",", word);
		for (i = 0; list && i < 5 && strcmp(row[i].name, word); i++)
			;
		if (!list || i == 5)
			return vpt_fail(VPT_EXIT_USAGE,
					"run: --conceal=%s: not exec, exit, entry, all or none",
					optarg);
		u->setup.config.conceal |= row[i].controls;
	} while (*list++);
	return VPT_EXIT_OK;
}

static int take_trap(struct vpt_run_usage *u)
{
	if (strcmp(optarg, "cr3"))
		return vpt_fail(VPT_EXIT_USAGE, "run: --trap=%s: there is cr3", optarg);
	u->setup.trap_cr3 = true;
	return VPT_EXIT_OK;
}

static int take_controls(struct vpt_run_usage *u)
{
	bool none = !strcmp(optarg, "none");

	if (!none && strcmp(optarg, "all"))
		return vpt_fail(VPT_EXIT_USAGE, "run: --controls=%s: not all or none", optarg);
	u->setup.config.allowed = none ? 0 : VPT_VMX_CONTROLS;
	return VPT_EXIT_OK;
}

/* Such as 1.25: a fraction of up to nine digits. */
static int take_scale(struct vpt_run_usage *u)
{
	uint64_t whole = 0, part = 0, ten = 1;
	const char *c = optarg;
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
		return vpt_fail(VPT_EXIT_USAGE, "run: --tsc-scale=%s: not a factor such as 1.25",
				optarg);
	return VPT_EXIT_OK;
}

int vpt_run_take_usage(struct vpt_run_options *o, int option)
{
	struct vpt_run_usage *u = &o->usage;

	u->detail |= option != VPT_OPT_USAGE;
	switch (option) {
	case VPT_OPT_USAGE:
		return take_usages(u);
	case VPT_OPT_CONCEAL:
		return take_conceal(u);
	case VPT_OPT_TRAP:
		return take_trap(u);
	case VPT_OPT_CONTROLS:
		return take_controls(u);
	case VPT_OPT_TSC_OFFSET:
		return vpt_run_take_number(o, "tsc-offset", &u->setup.config.tsc.offset);
	default:
		return take_scale(u);
	}
}

void vpt_run_init_usage(struct vpt_run_usage *u)
{
	u->setup.config.allowed = VPT_VMX_CONTROLS;
	u->setup.config.tsc.multiplier = VPT_TSC_ONE;
}

/* What guests are told they have. */
static int make_guest_caps(struct vpt_run_options *o)
{
	const struct vpt_caps host = vpt_run_host_caps(o);
	struct vpt_caps wish = o->caps;

	if (o->system == VPT_SYSTEM_PT && o->usage.owned &&
	    vpt_usage_guest_caps(&host, &wish, &wish) != VPT_OK)
		return vpt_fail(VPT_EXIT_USAGE, "run: --usage: nothing of this PT is for a guest");
	if (vpt_tsc_caps(&wish, &o->usage.setup.config.tsc, &o->usage.guest_caps) != VPT_OK)
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --tsc-scale: a guest could not be told of it: its CPUID.15H "
				"or its clock ratio has no such value");
	return VPT_EXIT_OK;
}

int vpt_run_check_usage(struct vpt_run_options *o, bool owner_given)
{
	struct vpt_run_usage *u = &o->usage;

	if (!u->given && u->detail)
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --conceal, --trap, --controls, --tsc-offset and --tsc-scale "
				"are for --usage");
	if (!u->given)
		return VPT_EXIT_OK;
	if (owner_given)
		return vpt_fail(VPT_EXIT_USAGE, "run: --usage says what --pt does: give one");
	if (o->snapshot)
		return vpt_fail(VPT_EXIT_USAGE, "run: --usage: there are no snapshots with it");
	if (u->system && u->setup.config.conceal)
		return vpt_fail(VPT_EXIT_USAGE,
				"run: --conceal: with --usage=system nothing would tell what is "
				"the guest's");
	o->owner = u->owned ? VPT_OWNER_GUEST : VPT_OWNER_HOST;
	return make_guest_caps(o);
}

int vpt_run_start_usage(const struct vpt_run_options *o, struct vpt_vcpu *v)
{
	struct vpt_hv_setup setup = o->usage.setup;
	const char *why;
	int status;

	if (o->usage.owned)
		setup.config.guest_caps = &v->vm->guest_caps;
	vpt_rtit_reset(&setup.config.trace);
	setup.config.atom = vpt_run_host_atom(o, v->regs->rip);
	if (o->usage.host && o->system == VPT_SYSTEM_PT) {
		status = vpt_run_host_registers(o, &v->tracer.caps, &setup.config.trace);
		if (status)
			return status;
	}
	if (vpt_hv_create(v, &setup, &why) == VPT_OK)
		return VPT_EXIT_OK;
	if (!why)
		return vpt_fail(VPT_EXIT_HOST, "run: --usage: there is no memory");
	return vpt_fail(VPT_EXIT_USAGE, "run: --usage: model %s: %s", o->model, why);
}
