// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Implement the public decoder: code, flow and packets in one object. */
#include "libdecode/decoder.h"

#include <stdlib.h>
#include <string.h>

#include "vpt/msr.h"

#define CACHE	  (128u << 20)
#define PAGE_MASK ((uint64_t)VPTD_PAGE - 1)

/* The size of the structure before `crystal_num` was added. Older callers pass this size. */
#define CONFIG_1 offsetof(struct vptd_config, crystal_num)

/* Returns true if the errata are known. Those of RTIT are E1 to E8. */
static bool knows_errata(const struct vptd_config *config)
{
	return config->size == CONFIG_1 || config->rtit_errata <= UINT8_MAX;
}

static bool is_valid(const struct vptd_config *config, const struct vptd_ops *ops)
{
	if (config->size != sizeof(*config) && config->size != CONFIG_1)
		return false;
	if (config->flags & VPTD_TIME && (!(config->flags & VPTD_CTL) || config->flags & VPTD_ATOM))
		return false;
	return ops->size == sizeof(*ops) && config->nranges <= VPTD_RANGES && knows_errata(config);
}

static void start_time(struct vptd_decoder *d, const struct vptd_config *config)
{
	unsigned int thresh = (unsigned int)VPT_CTL_GET(config->ctl, CYC_THRESH);
	const struct dec_time_config time = {
		.crystal_num = config->crystal_num,
		.crystal_den = config->crystal_den,
		.max_nonturbo = config->max_nonturbo,
		.mtc_freq = (uint8_t)VPT_CTL_GET(config->ctl, MTC_FREQ),
		.mtc = config->ctl & VPT_CTL_MASK(MTC_EN),
		.cyc = config->ctl & VPT_CTL_MASK(CYC_EN),
		.threshold = thresh ? VPT_BIT64(thresh - 1) : 0,
	};

	dec_timing_init(&d->timing, &time, d->ops.run);
	d->pt.timing = &d->timing;
	if (d->ops.run)
		d->flow.ops = &dec_report_timed_runs;
}

static void start_pt(struct vptd_decoder *d, const struct vptd_config *config)
{
	struct dec_pt_config pt = {
		.keeps_ret = config->flags & VPTD_KEEPS_RET,
		.cr3_match = config->cr3_match,
		.nranges = config->nranges,
		.errata = dec_errata_of(config->family, config->model),
	};

	if (config->flags & VPTD_CTL) {
		pt.no_flow = !(config->ctl & VPT_CTL_MASK(BRANCH_EN)) ||
			     config->ctl & VPT_CTL_MASK(DIS_TNT);
		pt.no_retc = config->ctl & VPT_CTL_MASK(DIS_RETC);
		pt.no_os = !(config->ctl & VPT_CTL_MASK(OS));
		pt.event_en = config->ctl & VPT_CTL_MASK(EVENT_EN);
		pt.cr3_filter = config->ctl & VPT_CTL_MASK(CR3_FILTER);
	}
	memcpy(pt.range, config->range, sizeof(pt.range));
	dec_pt_init(&d->pt, &d->flow, &pt, &dec_report_pt, d);
	d->offset = &d->pt.offset;
	if (config->flags & VPTD_TIME)
		start_time(d, config);
}

static void start(struct vptd_decoder *d, const struct vptd_config *config)
{
	dec_flow_init(&d->flow, d->code, d->ops.run ? &dec_report_runs : NULL, d);
	if (config->flags & VPTD_ATOM)
		dec_decoder_start_atom(d, config);
	else
		start_pt(d, config);
	if (d->ops.fetch)
		dec_code_on_miss(d->code, dec_report_miss, d);
	d->counts_edges = config->flags & VPTD_EDGES;
	if (d->counts_edges)
		d->flow.edges = &d->edges;
}

struct vptd_decoder *vptd_new(const struct vptd_config *config, const struct vptd_ops *ops,
			      void *context, enum vptd_status *status)
{
	static const struct vptd_config plain = {.size = sizeof(plain)};
	static const struct vptd_ops silent = {.size = sizeof(silent)};
	struct vptd_config whole = {.size = sizeof(whole)};
	struct vptd_decoder *d;

	if (!config)
		config = &plain;
	if (!ops)
		ops = &silent;
	*status = VPTD_E_ARGUMENT;
	if (!is_valid(config, ops))
		return NULL;
	memcpy(&whole, config, (size_t)config->size);
	*status = VPTD_E_MEMORY;
	d = calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->ops = *ops;
	d->context = context;
	d->code = dec_code_new();
	if (!d->code) {
		vptd_free(d);
		return NULL;
	}
	start(d, &whole);
	/* Tracelets report no runs, so they serve only callers that do not want runs. */
	if (!d->ops.run) {
		d->flow.tracelets =
			dec_tracelets_new(whole.cache ? whole.cache : CACHE, d->counts_edges);
		if (!d->flow.tracelets) {
			vptd_free(d);
			return NULL;
		}
	}
	*status = VPTD_OK;
	return d;
}

void vptd_free(struct vptd_decoder *d)
{
	if (!d)
		return;
	dec_tracelets_free(d->flow.tracelets);
	dec_edges_free(&d->edges);
	dec_code_free(d->code);
	free(d);
}

/*
 * Prepare a change of code, which takes effect for later packets. Packets that were already pushed
 * are used first. The position is then looked up again, because its block has the old code.
 * Callbacks that provide code run during a look-up and need neither step.
 */
static void begin_change(struct vptd_decoder *d)
{
	if (d->asks)
		return;
	if (d->is_atom)
		dec_atom_catch_up(&d->atom);
	else
		dec_pt_catch_up(&d->pt);
}

static enum vptd_status end_change(struct vptd_decoder *d, int err)
{
	if (!d->asks && d->is_atom)
		dec_atom_refetch(&d->atom);
	else if (!d->asks)
		dec_pt_refetch(&d->pt);
	return err ? VPTD_E_MEMORY : VPTD_OK;
}

enum vptd_status vptd_page(struct vptd_decoder *d, uint64_t space, uint64_t address, uint64_t key,
			   const uint8_t *bytes)
{
	int err;

	if (address & PAGE_MASK || key >= DEC_OWN_KEYS)
		return VPTD_E_ARGUMENT;
	begin_change(d);
	err = dec_code_content(d->code, key, bytes);
	return end_change(d, err ? err : dec_code_map(d->code, space, address, key));
}

/* Replace @len bytes within one page. */
static int part(struct vptd_decoder *d, uint64_t space, uint64_t address, const uint8_t *bytes,
		size_t len)
{
	uint64_t vaddr = address & ~PAGE_MASK, key;
	const uint8_t *before = NULL;
	uint8_t page[VPTD_PAGE];
	int err;

	if (!dec_code_at_page(d->code, space, vaddr, &key, &before))
		key = DEC_OWN_KEYS | d->own_keys++;
	if (before)
		memcpy(page, before, sizeof(page));
	else
		memset(page, 0, sizeof(page));
	memcpy(page + (address & PAGE_MASK), bytes, len);
	err = dec_code_content(d->code, key, page);
	return err ? err : dec_code_map(d->code, space, vaddr, key);
}

enum vptd_status vptd_code(struct vptd_decoder *d, uint64_t space, uint64_t address,
			   const uint8_t *bytes, size_t len)
{
	int err = 0;

	begin_change(d);
	while (len && !err) {
		size_t n = VPTD_PAGE - (size_t)(address & PAGE_MASK);

		if (n > len)
			n = len;
		err = part(d, space, address, bytes, n);
		address += n;
		bytes += n;
		len -= n;
	}
	return end_change(d, err);
}

enum vptd_status vptd_begin(struct vptd_decoder *d, uint64_t space, unsigned int mode)
{
	if (space == VPTD_ANY_SPACE || (mode != 16 && mode != 32 && mode != 64))
		return VPTD_E_ARGUMENT;
	begin_change(d);
	d->flow.mode = (uint8_t)mode;
	d->atom.cr3 = space;
	return end_change(d, dec_code_select(d->code, space));
}

enum vptd_status vptd_push(struct vptd_decoder *d, const uint8_t *bytes, size_t len)
{
	if (d->is_atom)
		dec_atom_push(&d->atom, bytes, len);
	else
		dec_pt_push(&d->pt, bytes, len);
	return dec_decoder_done(d);
}

enum vptd_status vptd_finish(struct vptd_decoder *d)
{
	if (d->is_atom)
		dec_atom_finish(&d->atom);
	else
		dec_pt_finish(&d->pt);
	return dec_decoder_done(d);
}

size_t vptd_find_psb(const uint8_t *bytes, size_t len)
{
	return vpt_packet_find_psb(bytes, len);
}

size_t vptd_psb_size(const uint8_t *bytes, size_t len)
{
	struct vpt_parser parser = {0};
	struct vpt_packet packet;
	size_t at;

	for (at = 0; at < len; at += packet.size) {
		if (vpt_packet_read(&parser, bytes + at, len - at, &packet))
			break;
		if (!at && packet.kind != VPT_PKT_PSB)
			break;
		if (packet.kind == VPT_PKT_OVF)
			break;
		if (packet.kind == VPT_PKT_PSBEND)
			return at + packet.size;
	}
	return 0;
}

uint64_t vptd_insns(const struct vptd_decoder *d)
{
	return d->is_atom ? dec_atom_insns(&d->atom) : d->flow.insns;
}

uint64_t vptd_events(const struct vptd_decoder *d, enum vptd_event_kind kind)
{
	return kind < VPTD_EVENT_COUNT ? d->events[kind] : 0;
}

enum vptd_status vptd_now(const struct vptd_decoder *d, struct vptd_time *time)
{
	struct dec_point point;

	if (!d->pt.timing)
		return VPTD_E_ARGUMENT;
	dec_timing_point(&d->timing, &point);
	*time = (struct vptd_time){
		.flags = point.known ? VPTD_TIME_KNOWN : 0,
		.ratio = d->timing.now.cbr,
		.tsc = point.tsc,
		.lo = point.lo,
		.hi = point.hi,
		.cycles = point.cycles,
	};
	return VPTD_OK;
}
