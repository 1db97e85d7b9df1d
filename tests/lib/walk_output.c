// SPDX-License-Identifier: GPL-2.0-or-later
/* Set up the output of a walk, and check the output in memory afterwards. */
#include "lib/walk_inside.h"

#include <string.h>

#include "vpt/packet.h"

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	const struct walker *w = opaque;

	if (gpa > WALK_RAM_SIZE || len > WALK_RAM_SIZE - gpa)
		return false;
	memcpy(dst, w->ram + gpa, len);
	return true;
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	struct walker *w = opaque;

	if (gpa > WALK_RAM_SIZE || len > WALK_RAM_SIZE - gpa)
		return false;
	memcpy(w->ram + gpa, src, len);
	return true;
}

static void *mem_map(void *opaque, uint64_t gpa, size_t *len)
{
	struct walker *w = opaque;

	if (!w->config->map || gpa >= WALK_RAM_SIZE)
		return NULL;
	if (*len > WALK_RAM_SIZE - gpa)
		*len = WALK_RAM_SIZE - gpa;
	return w->ram + gpa;
}

static void stream(void *opaque, const void *bytes, size_t len)
{
	struct walker *w = opaque;

	MUST(len <= WALK_TRACE_SIZE - w->out->trace_len);
	memcpy(w->out->trace + w->out->trace_len, bytes, len);
	w->out->trace_len += len;
}

static void committed(void *opaque, uint64_t gpa, size_t len)
{
	struct walker *w = opaque;

	stream(w, w->ram + gpa, len);
}

const struct vpt_mem_ops walk_mem = {
	.read = mem_read,
	.write = mem_write,
	.map = mem_map,
	.committed = committed,
};

size_t walk_bytes(struct walker *w)
{
	vpt_output_flush(&w->pt.out);
	return w->out->trace_len;
}

/* Write the regions' entries into one table or two, with a link back to the first table. */
static void make_tables(struct walker *w)
{
	const struct walk_config *config = w->config;
	unsigned int n, split = config->regions > 3 ? config->regions / 2 : config->regions;
	uint64_t *table = (uint64_t *)(w->ram + WALK_TABLES), *entry = table;

	for (n = 0; n < config->regions; n++) {
		unsigned int size = 0;

		while (4096ull << size < config->region_bytes[n])
			size++;
		if (n == split) {
			*entry = (WALK_TABLES + 0x1000) | 1;
			entry = table + 0x1000 / sizeof(*table);
		}
		*entry = w->region[n] | (uint64_t)size << 6;
		if (config->region_int >> n & 1)
			*entry |= 1 << 2;
		if (config->region_stop && n == config->regions - 1)
			*entry |= 1 << 4;
		entry++;
	}
	*entry = WALK_TABLES | 1;
}

void walk_output_stream(struct walker *w)
{
	if (w->config->layout == WALK_STREAM)
		vpt_output_set_stream(&w->pt.out, w->stage, sizeof(w->stage), stream);
}

void walk_output_init(struct walker *w)
{
	const struct walk_config *config = w->config;
	uint64_t at = WALK_REGION_0;
	unsigned int n;

	walk_output_stream(w);
	if (config->layout == WALK_STREAM)
		return;
	for (n = 0; n < config->regions; n++) {
		uint64_t bytes = config->region_bytes[n];

		at = (at + bytes - 1) & ~(bytes - 1);
		w->region[n] = at;
		at += bytes;
	}
	MUST(at <= WALK_RAM_SIZE);
	if (config->layout == WALK_SINGLE) {
		w->pt.rtit.output_base = w->region[0];
		w->pt.rtit.output_mask_ptrs = config->region_bytes[0] - 1;
	} else {
		make_tables(w);
		w->pt.rtit.output_base = WALK_TABLES;
		w->pt.rtit.output_mask_ptrs = 0x7f;
	}
}

uint64_t walk_output_ctl(const struct walker *w)
{
	switch (w->config->layout) {
	case WALK_SINGLE:
		return 0;
	case WALK_TOPA:
		return VPT_CTL_MASK(TOPA);
	default:
		return VPT_CTL_MASK(FABRIC_EN);
	}
}

/* Return the total size of all regions. */
static uint64_t capacity(const struct walk_config *config)
{
	uint64_t bytes = 0;
	unsigned int n;

	for (n = 0; n < config->regions; n++)
		bytes += config->region_bytes[n];
	return bytes;
}

/* Return the address at which byte `at` of the trace must be. */
static uint64_t place(const struct walker *w, uint64_t at)
{
	unsigned int n;

	at %= capacity(w->config);
	for (n = 0; at >= w->config->region_bytes[n]; n++)
		at -= w->config->region_bytes[n];
	return w->region[n] + at;
}

/* Return the number of PMIs due because of regions with INT. */
static uint64_t pmis(const struct walker *w)
{
	const struct walk_config *config = w->config;
	bool early = !vpt_caps_has(&w->caps, VPT_CAP_TOPA_MULTI);
	uint64_t end = 0, count = 0;
	unsigned int n;

	for (n = 0; n < config->regions; n++) {
		/*
		 * If tables have a single output entry, the PMI is due before the region is full.
		 */
		uint64_t mark =
			(end += config->region_bytes[n]) - (early ? VPT_TOPA_PMI_MARGIN : 0);

		if ((config->region_int >> n & 1) && w->out->trace_len >= mark)
			count += 1 + (w->out->trace_len - mark) / capacity(config);
	}
	return count;
}

/* Is the number of PMIs exact? A trace that stops and restarts may report a PMI twice. */
static bool counts_pmis(const struct walk_config *config)
{
	return config->layout == WALK_TOPA && !config->toggle && !config->vmx &&
	       !(config->extras & (WALK_SMI | WALK_XSAVES));
}

static const char *compare_memory(struct walker *w)
{
	const struct walk_config *config = w->config;
	uint64_t end = w->out->trace_len, at = end > capacity(config) ? end - capacity(config) : 0;
	uint64_t offset = w->pt.rtit.output_mask_ptrs >> 32;

	if (config->layout == WALK_TOPA && config->region_stop && end > capacity(config))
		return "more than the regions hold";
	for (; at < end; at++)
		if (w->ram[place(w, at)] != w->out->trace[at])
			return "a byte of the trace is not where it should be";
	if (counts_pmis(config) && w->out->pmis != pmis(w))
		return "more PMIs than regions with INT were filled, or fewer";
	if (w->out->full)
		return end == capacity(config) ? NULL : "stopped before the region was full";
	if (config->layout == WALK_SINGLE && w->region[0] + offset != place(w, end))
		return "the offset is not that of the next byte";
	return NULL;
}

void walk_output_end(struct walker *w)
{
	struct walk_result *out = w->out;
	uint64_t room;
	size_t lost = 0;

	(void)walk_bytes(w);
	if (w->config->layout != WALK_STREAM) {
		out->full = VPT_STATUS_GET(w->pt.rtit.status, STOPPED) && !out->stopped;
		out->wrong = compare_memory(w);
		room = capacity(w->config);
		out->wraps = (unsigned int)(out->trace_len / room);
		if (out->trace_len > room)
			lost = out->trace_len - room;
	}
	out->first =
		lost ? lost + vpt_packet_find_psb(out->trace + lost, out->trace_len - lost) : 0;
}
