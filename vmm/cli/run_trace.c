// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vpt run: options for packets other than branches, and for processor properties that CPUID lacks.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "core/clock.h"
#include "core/vcpu.h"

/* The default of perf: 8 clocks of the crystal, if the model allows it. */
#define DEFAULT_MTC_FREQ 3
#define MAX_ENCODING	 15
/* Default drain of the internal buffer, in bytes per 1024 core clocks. */
#define DEFAULT_DRAIN 1024

/* Parse a value of MTCFreq or CycThresh, which may be absent. */
static int take_encoding(const struct cli_given *g, uint64_t *value)
{
	if (!g->value || (cli_is_number(g->value, value) && *value <= MAX_ENCODING))
		return CLI_EXIT_OK;
	return cli_option_wrong(g, "not a number up to %d", MAX_ENCODING);
}

int cli_run_take_mtc(const struct cli_given *g)
{
	struct cli_run_trace *t = g->field;

	t->ctl |= VPT_CTL_MASK(MTC_EN);
	t->has_mtc_freq = g->value;
	return take_encoding(g, &t->mtc_freq);
}

int cli_run_take_cyc(const struct cli_given *g)
{
	struct cli_run_trace *t = g->field;

	t->ctl |= VPT_CTL_MASK(CYC_EN);
	t->has_cyc_thresh = g->value;
	return take_encoding(g, &t->cyc_thresh);
}

int cli_run_take_ptw(const struct cli_given *g)
{
	struct cli_run_trace *t = g->field;

	t->ctl |= VPT_CTL_MASK(PTW_EN);
	if (!g->value)
		return CLI_EXIT_OK;
	if (strcmp(g->value, "fup"))
		return cli_option_wrong(g, "there is fup");
	t->ctl |= VPT_CTL_MASK(FUP_ON_PTW);
	return CLI_EXIT_OK;
}

int cli_run_take_buffer(const struct cli_given *g)
{
	struct cli_run_trace *t = g->field;
	uint64_t bytes = 0, drain = DEFAULT_DRAIN;
	const char *c = cli_read_number(g->value, &bytes);

	if (c && *c == ':')
		c = cli_read_number(c + 1, &drain);
	/* PT's minimum is larger: see cli_run_check_trace(). */
	if (!c || *c || bytes < VPT_ATOM_BUFFER_MIN || bytes > VPT_BUFFER_MAX || !drain ||
	    drain > UINT32_MAX)
		return cli_option_wrong(g, "not BYTES or BYTES:DRAIN, of %u to %u bytes",
					VPT_ATOM_BUFFER_MIN, VPT_BUFFER_MAX);
	t->model.buffer_bytes = (uint32_t)bytes;
	t->model.buffer_drain = (uint32_t)drain;
	return CLI_EXIT_OK;
}

int cli_run_take_cyc_bits(const struct cli_given *g)
{
	struct cli_run_trace *t = g->field;
	uint64_t bits;

	if (!cli_is_number(g->value, &bits) || bits < 8 || bits > 32)
		return cli_option_wrong(g, "not a number from 8 to 32");
	t->model.cyc_bits = (uint8_t)bits;
	return CLI_EXIT_OK;
}

/* Parse any number of ",RATIO@INSNS[:TICKS]". */
static const char *changes(struct cli_run_trace *t, const char *c)
{
	while (c && *c == ',' && t->changes < CORE_CBR_CHANGES) {
		struct core_cbr_change *to = &t->change[t->changes];
		uint64_t ratio;

		c = cli_read_number(c + 1, &ratio);
		if (!c || *c != '@' || !ratio || ratio > UINT8_MAX)
			return NULL;
		to->cbr = (uint8_t)ratio;
		c = cli_read_number(c + 1, &to->at);
		if (c && *c == ':')
			c = cli_read_number(c + 1, &to->stopped);
		if (!c || (t->changes && to->at < t->change[t->changes - 1].at) ||
		    to->stopped > UINT32_MAX)
			return NULL;
		t->changes++;
	}
	return c;
}

int cli_run_take_cbr(const struct cli_given *g)
{
	struct cli_run_trace *t = g->field;
	const char *c = cli_read_number(g->value, &t->cbr);

	t->changes = 0;
	memset(t->change, 0, sizeof(t->change));
	c = changes(t, c);
	if (c && !*c && t->cbr && t->cbr <= UINT8_MAX)
		return CLI_EXIT_OK;
	return cli_option_wrong(g,
				"not a list such as 20 or 20,34@100000,10@200000:5000, of ratios "
				"from 1 to 255 and at most %d changes in their order",
				CORE_CBR_CHANGES);
}

static int lacks(const struct cli_run_options *o, const char *option)
{
	return cli_fail(CLI_EXIT_USAGE,
			"run: --%s: model %s does not have it: use --model=spr, or set its bit in "
			"CPUID.14H.0:EBX with --caps=ebx=",
			option, o->model);
}

/* Return the name of an option that the model does not support, or NULL. */
static const char *missing(const struct cli_run_options *o)
{
	static const struct {
		uint64_t ctl;
		enum vpt_cap cap;
		const char *option;
	} row[] = {
		{VPT_CTL_MASK(MTC_EN), VPT_CAP_MTC, "mtc"},
		{VPT_CTL_MASK(CYC_EN), VPT_CAP_PSB_CYC, "cyc"},
		{VPT_CTL_MASK(PTW_EN), VPT_CAP_PTWRITE, "ptw"},
		{VPT_CTL_MASK(PWR_EVT_EN), VPT_CAP_PWR_EVT, "power"},
		{VPT_CTL_MASK(EVENT_EN), VPT_CAP_EVENT, "events"},
		{VPT_CTL_MASK(DIS_TNT), VPT_CAP_DIS_TNT, "no-tnt"},
	};
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (o->trace.ctl & row[i].ctl && !vpt_caps_has(&o->caps, row[i].cap))
			return row[i].option;
	return NULL;
}

static uint64_t mtc_freq(const struct cli_run_options *o)
{
	if (o->trace.has_mtc_freq)
		return o->trace.mtc_freq;
	return vpt_caps_mtc_freq_ok(&o->caps, DEFAULT_MTC_FREQ) ? DEFAULT_MTC_FREQ : 0;
}

int cli_run_check_trace(const struct cli_run_options *o)
{
	const struct cli_run_trace *t = &o->trace;
	const char *option = missing(o);

	if (option)
		return lacks(o, option);
	if (t->model.buffer_bytes && t->model.buffer_bytes < VPT_BUFFER_MIN)
		return cli_fail(CLI_EXIT_USAGE, "run: --buffer=%u: PT's has %u to %u bytes",
				t->model.buffer_bytes, VPT_BUFFER_MIN, VPT_BUFFER_MAX);
	if (t->ctl & VPT_CTL_MASK(MTC_EN) && !o->caps.l15_ebx)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --mtc: model %s has no crystal ratio in CPUID.15H", o->model);
	if (!vpt_caps_mtc_freq_ok(&o->caps, (unsigned int)t->mtc_freq))
		return cli_fail(CLI_EXIT_USAGE, "run: --mtc=%u: model %s does not have it",
				(unsigned int)t->mtc_freq, o->model);
	if (!vpt_caps_cyc_thresh_ok(&o->caps, (unsigned int)t->cyc_thresh))
		return cli_fail(CLI_EXIT_USAGE, "run: --cyc=%u: model %s does not have it",
				(unsigned int)t->cyc_thresh, o->model);
	if (t->cbr && !o->caps.max_nonturbo)
		return cli_fail(CLI_EXIT_USAGE, "run: --cbr: model %s has no clock ratio at P1",
				o->model);
	if (t->changes && o->snapshot)
		return cli_fail(CLI_EXIT_USAGE,
				"run: --cbr: a snapshot has no changes that are to come");
	return CLI_EXIT_OK;
}

uint64_t cli_run_trace_ctl(const struct cli_run_options *o)
{
	const struct cli_run_trace *t = &o->trace;
	uint64_t ctl = t->ctl;

	if (!t->no_branch)
		ctl |= VPT_CTL_MASK(BRANCH_EN);
	if (ctl & VPT_CTL_MASK(MTC_EN))
		ctl |= mtc_freq(o) << VPT_CTL_MTC_FREQ_SHIFT;
	return ctl | t->cyc_thresh << VPT_CTL_CYC_THRESH_SHIFT;
}

int cli_run_set_model(const struct cli_run_options *o, struct core_vcpu *v)
{
	const struct cli_run_trace *t = &o->trace;

	bool atom = o->system == TRACER_SYSTEM_ATOM;

	if ((atom ? vpt_atom_set_options(&v->tracer.atom, &o->atom.model)
		  : vpt_pt_set_options(&v->tracer.pt, &t->model)) != VPT_OK)
		return cli_fail(CLI_EXIT_USAGE, "run: there is no processor with these options");
	if (t->cbr)
		core_clock_set_cbr(v, (uint8_t)t->cbr);
	memcpy(v->cbr, t->change, sizeof(v->cbr));
	v->cbr_count = t->changes;
	return CLI_EXIT_OK;
}
