// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt run --pt=host: sets the MSRs of the host's own trace. */
#include "cli/cli.h"
#include "cli/run.h"
#include "core/vcpu.h"

#define CPUID_ECX_FABRIC (1u << 3)

struct vpt_caps cli_run_host_caps(const struct cli_run_options *o)
{
	struct vpt_caps caps = o->caps;

	if (o->system == TRACER_SYSTEM_PT)
		caps.l14_0_ecx |= CPUID_ECX_FABRIC;
	return caps;
}

/* The location of the MSRs: live, or in memory. */
struct place {
	struct core_vcpu *v; /* NULL: */
	const struct vpt_caps *caps;
	struct vpt_rtit *rtit;
};

static enum vpt_fault write_msr(const struct place *p, uint32_t msr, uint64_t value)
{
	if (p->v)
		return tracer_host_write(&p->v->tracer, msr, value, p->v->regs->rip);
	return vpt_rtit_write(p->rtit, p->caps, msr, value, VPT_ACCESS_HOST);
}

static int put(const struct place *p, uint32_t msr, uint64_t value, const char *what)
{
	if (write_msr(p, msr, value) == VPT_FAULT_NONE)
		return CLI_EXIT_OK;
	return cli_fail(CLI_EXIT_USAGE, "run: %s: the model does not allow it", what);
}

static uint64_t control(const struct cli_run_options *o)
{
	uint64_t ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(FABRIC_EN) | cli_run_trace_ctl(o);
	size_t i;

	if (o->kernel || !o->user)
		ctl |= VPT_CTL_MASK(OS);
	if (o->user || !o->kernel)
		ctl |= VPT_CTL_MASK(USER);
	if (o->has_cr3)
		ctl |= VPT_CTL_MASK(CR3_FILTER);
	if (o->no_retc)
		ctl |= VPT_CTL_MASK(DIS_RETC);
	if (o->tsc)
		ctl |= VPT_CTL_MASK(TSC_EN);
	ctl |= o->psb << VPT_CTL_PSB_FREQ_SHIFT;
	for (i = 0; i < o->ranges; i++) {
		uint64_t cfg = o->range[i].stop ? VPT_ADDR_STOP : VPT_ADDR_FILTER;

		ctl |= cfg << (VPT_CTL_ADDR0_CFG_SHIFT + i * VPT_CTL_ADDR0_CFG_WIDTH);
	}
	return ctl;
}

static int program(const struct cli_run_options *o, const struct place *p)
{
	int status = cli_run_check_trace(o);
	size_t i;

	if (status)
		return status;
	if (o->psb > 15 || !vpt_caps_psb_freq_ok(&o->caps, (unsigned int)o->psb))
		return cli_fail(CLI_EXIT_USAGE, "run: --psb=%llu: model %s does not have it",
				(unsigned long long)o->psb, o->model);
	for (i = 0; !status && i < o->ranges; i++) {
		uint32_t msr = VPT_MSR_ADDR0_A + 2 * (uint32_t)i;

		status = put(p, msr, o->range[i].first, o->range[i].text);
		if (!status)
			status = put(p, msr + 1, o->range[i].last, o->range[i].text);
	}
	if (!status && o->has_cr3)
		status = put(p, VPT_MSR_CR3_MATCH, o->cr3, "--cr3");
	return status ? status : put(p, VPT_MSR_CTL, control(o), "the trace");
}

int cli_run_start_host(const struct cli_run_options *o, struct core_vcpu *v)
{
	const struct place p = {.v = v};

	if (o->system == TRACER_SYSTEM_ATOM)
		return cli_run_start_atom(o, v);
	return program(o, &p);
}

int cli_run_host_registers(const struct cli_run_options *o, const struct vpt_caps *caps,
			   struct vpt_rtit *rtit)
{
	const struct place p = {.caps = caps, .rtit = rtit};

	return program(o, &p);
}
