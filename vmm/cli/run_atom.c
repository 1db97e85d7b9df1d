// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt run --trace=atom: its options, the check of options that RTIT lacks, and the registers of a
 * host's trace.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "core/vcpu.h"

#define MAX_RANGE 3  /* maximum of MTC_Range and Pkt_Mask */
#define MAX_RATIO 63 /* maximum that fits into STS */
#define ERRATA	  8

/* Parse E1,E3 or all or none. */
static bool errata(const char *list, uint8_t *set)
{
	*set = 0;
	if (!strcmp(list, "none"))
		return true;
	if (!strcmp(list, "all")) {
		*set = VPT_ATOM_E_ALL;
		return true;
	}
	for (;; list++) {
		if (list[0] != 'E' || list[1] < '1' || list[1] > '0' + ERRATA)
			return false;
		*set |= (uint8_t)(1u << (list[1] - '1'));
		list += 2;
		if (*list != ',')
			return !*list;
	}
}

int cli_run_take_errata(const struct cli_given *g)
{
	struct cli_run_atom *r = g->field;

	if (errata(g->value, &r->model.errata))
		return CLI_EXIT_OK;
	return cli_option_wrong(g, "not a list such as E1,E3 of E1 to E%d, all or none", ERRATA);
}

int cli_run_take_clear_lag(const struct cli_given *g)
{
	struct cli_run_atom *r = g->field;
	uint64_t lag;

	if (!cli_is_number(g->value, &lag) || lag > VPT_ATOM_LAG_MAX)
		return cli_option_wrong(g, "not a number up to %u", VPT_ATOM_LAG_MAX);
	r->model.clear_lag = (uint8_t)lag;
	return CLI_EXIT_OK;
}

int cli_run_choose_system(struct cli_run_options *o)
{
	const char *trace = o->atom.trace;
	bool atom = trace && !strcmp(trace, "rtit");
	struct core_model model;

	if (!o->model) {
		o->model = atom ? "silvermont" : "skl";
		o->model_given |= atom;
	}
	if (!core_model_find(o->model, &model))
		return CLI_EXIT_OK;
	if (trace && atom != (model.system == TRACER_SYSTEM_ATOM))
		return cli_fail(CLI_EXIT_USAGE, "run: --trace=%s: model %s has %s", trace, o->model,
				atom ? "PT, not RTIT" : "RTIT, not PT");
	o->system = model.system;
	if (o->atom.given && o->system != TRACER_SYSTEM_ATOM)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --less-pkts, --errata, --clear-lag and --disable-pgd are for "
				"--trace=rtit");
	return CLI_EXIT_OK;
}

/* Return the name of a given option that RTIT does not support, or NULL. */
static const char *foreign(const struct cli_run_options *o)
{
	const struct cli_run_trace *t = &o->trace;
	const struct core_hv_setup *setup = &o->usage.setup;
	const struct {
		bool given;
		const char *option;
	} row[] = {
		{t->ctl & VPT_CTL_MASK(PTW_EN), "ptw"},
		{t->ctl & VPT_CTL_MASK(PWR_EVT_EN), "power"},
		{t->ctl & VPT_CTL_MASK(EVENT_EN), "events"},
		{t->ctl & VPT_CTL_MASK(DIS_TNT), "no-tnt"},
		{t->no_branch, "no-branch"},
		{t->model.defer_tips, "defer-tips"},
		{t->model.cyc_bits, "cyc-bits"},
		{setup->config.conceal, "conceal"},
		{setup->trap_cr3, "trap"},
		{setup->config.allowed != VPT_VMX_CONTROLS, "controls"},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (row[i].given)
			return row[i].option;
	return NULL;
}

static bool ratios_fit(const struct cli_run_trace *t)
{
	size_t i;

	for (i = 0; i < t->changes; i++)
		if (t->change[i].cbr > MAX_RATIO)
			return false;
	return t->cbr <= MAX_RATIO;
}

int cli_run_check_atom(struct cli_run_options *o)
{
	const struct cli_run_trace *t = &o->trace;
	const char *option = foreign(o);

	if (option)
		return cli_fail(CLI_EXIT_USAGE, "run: --%s: not supported with --trace=rtit",
				option);
	if (!strcmp(o->engine, "kvm-pt"))
		return cli_fail(CLI_EXIT_USAGE, "run: --trace=rtit: engine kvm-pt has only PT");
	if (t->has_cyc_thresh)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --cyc: with --trace=rtit it has no value: there is no "
				"threshold");
	if (t->mtc_freq > MAX_RANGE)
		return cli_fail(CLI_EXIT_USAGE, "run: --mtc=%u: with --trace=rtit from 0 to %d",
				(unsigned int)t->mtc_freq, MAX_RANGE);
	if (o->psb > MAX_RANGE)
		return cli_fail(CLI_EXIT_USAGE, "run: --psb=%llu: with --trace=rtit from 0 to %d",
				(unsigned long long)o->psb, MAX_RANGE);
	if (!ratios_fit(t))
		return cli_fail(CLI_EXIT_USAGE, "run: --cbr: with --trace=rtit from 1 to %d",
				MAX_RATIO);
	o->atom.model.buffer_bytes = t->model.buffer_bytes;
	o->atom.model.buffer_drain = t->model.buffer_drain;
	return CLI_EXIT_OK;
}

/* Return the event ID of the ranges of one kind (table 7), or `none` if there is no such range. */
static uint64_t event_id(const struct cli_run_options *o, bool stop, uint64_t none)
{
	uint64_t id = none;
	size_t i;

	for (i = 0; i < o->ranges; i++)
		if (o->range[i].stop == stop)
			id = id == none ? i : VPT_ATOM_ID_EITHER;
	return id;
}

/* Returns true if the filter would include code at this address. */
static bool filtered_in(const struct cli_run_options *o, uint64_t ip)
{
	bool any = false, in = false;
	size_t i;

	for (i = 0; i < o->ranges; i++) {
		if (o->range[i].stop)
			continue;
		any = true;
		in |= ip >= o->range[i].first && ip <= o->range[i].last;
	}
	return in || !any;
}

static uint64_t control(const struct cli_run_options *o)
{
	uint64_t ctl = VPT_ATOM_MASK(CTL, DEST);

	if (o->kernel || !o->user)
		ctl |= VPT_ATOM_MASK(CTL, OS);
	if (o->user || !o->kernel)
		ctl |= VPT_ATOM_MASK(CTL, USER);
	if (o->has_cr3)
		ctl |= VPT_ATOM_MASK(CTL, CR3_EN);
	if (!o->no_retc)
		ctl |= VPT_ATOM_MASK(CTL, CMPRS_RET);
	if (o->tsc)
		ctl |= VPT_ATOM_MASK(CTL, STS_EN) | VPT_ATOM_MASK(CTL, STS_ON_CR3);
	if (o->trace.ctl & VPT_CTL_MASK(CYC_EN))
		ctl |= VPT_ATOM_MASK(CTL, CYCLE_ACC);
	if (o->trace.ctl & VPT_CTL_MASK(MTC_EN))
		ctl |= VPT_ATOM_MASK(CTL, MTC_EN) | o->trace.mtc_freq
							    << VPT_ATOM_CTL_MTC_RANGE_SHIFT;
	if (o->atom.less_pkts)
		ctl |= VPT_ATOM_MASK(CTL, LESS_PKTS);
	return ctl;
}

struct vpt_atom_regs cli_run_host_atom(const struct cli_run_options *o, uint64_t ip)
{
	struct vpt_atom_regs regs;
	size_t i;

	vpt_atom_regs_reset(&regs);
	for (i = 0; i < o->ranges; i++) {
		regs.lip[i] = o->range[i].first;
		regs.lip[i + VPT_ATOM_RANGES] = o->range[i].last + 1;
	}
	regs.events =
		(uint32_t)(event_id(o, false, VPT_ATOM_ID_ALWAYS) |
			   event_id(o, true, VPT_ATOM_ID_NEVER) << VPT_ATOM_EVENTS_STOP_SHIFT);
	if (o->has_cr3)
		regs.cr3_match = o->cr3;
	if (o->has_psb)
		regs.pkt_cnt = (uint32_t)o->psb << VPT_ATOM_PKT_CNT_MASK_SHIFT;
	regs.status = filtered_in(o, ip) ? VPT_ATOM_MASK(STATUS, FILTER_EN) : 0;
	regs.ctl = (uint32_t)control(o);
	return regs;
}

/*
 * Start the trace in a driver's order: set up the registers, then set Trace_En, then TraceActive.
 */
int cli_run_start_atom(const struct cli_run_options *o, struct core_vcpu *v)
{
	const struct vpt_atom_regs regs = cli_run_host_atom(o, v->regs->rip);
	const uint64_t on = regs.ctl | VPT_ATOM_MASK(CTL, TRACE_EN);
	const struct {
		uint32_t msr;
		uint64_t value;
		const char *what;
	} row[] = {
		{VPT_ATOM_MSR_LIP0, regs.lip[0], "--filter, --stop"},
		{VPT_ATOM_MSR_LIP1, regs.lip[1], "--filter, --stop"},
		{VPT_ATOM_MSR_LIP2, regs.lip[2], "--filter, --stop"},
		{VPT_ATOM_MSR_LIP3, regs.lip[3], "--filter, --stop"},
		{VPT_ATOM_MSR_EVENTS, regs.events, "--filter, --stop"},
		{VPT_ATOM_MSR_CR3_MATCH, regs.cr3_match, "--cr3"},
		{VPT_ATOM_MSR_PKT_CNT, regs.pkt_cnt, "--psb"},
		{VPT_ATOM_MSR_STATUS, regs.status, "--filter"},
		{VPT_ATOM_MSR_CTL, on, "the trace"},
		{VPT_ATOM_MSR_CTL, on | VPT_ATOM_MASK(CTL, TRACE_ACTIVE), "the trace"},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (tracer_host_write(&v->tracer, row[i].msr, row[i].value, v->regs->rip) !=
		    VPT_FAULT_NONE)
			return cli_fail(CLI_EXIT_USAGE, "run: %s: the model does not allow it",
					row[i].what);
	return CLI_EXIT_OK;
}
