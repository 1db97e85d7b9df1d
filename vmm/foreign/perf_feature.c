// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads features of perf.data: the processor, the kernel, and files by build-id. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "foreign/perf_file.h"
#include "trace/origin.h"

#define BUILD_ID_AREA 24u
#define BUILD_ID_SIZE 20u /* position of the size in that area */

/* Read a string with its length before it. Returns NULL if there is none. */
static const char *text(struct span *body)
{
	uint32_t len = span_u32(body);
	const uint8_t *bytes = span_bytes(body, len);

	return bytes && len && memchr(bytes, 0, len) ? (const char *)bytes : NULL;
}

/* Convert "GenuineIntel,6,94,3" to CPUID.1.EAX. Returns 0 if it is not an Intel processor. */
static uint32_t signature(const char *cpuid)
{
	unsigned int family, model, stepping;

	if (sscanf(cpuid, "GenuineIntel,%u,%u,%u", &family, &model, &stepping) != 3)
		return 0;
	return trace_cpu_signature(family, model, stepping);
}

/* Read the body of a BUILD_ID record: pid, id, name. */
int perf_build_id(struct perf_file *f, uint16_t misc, struct span body)
{
	uint8_t area[BUILD_ID_AREA];
	const char *name;
	size_t file, len = FOREIGN_BUILD_ID;
	int err;

	(void)span_u32(&body);
	span_copy(&body, area, sizeof(area));
	name = span_text(&body);
	if (!name)
		return 0;
	if (misc & MISC_BUILD_ID_SIZE)
		len = area[BUILD_ID_SIZE];
	err = foreign_names_add(&f->trace->files, name, &file);
	return err ? err : foreign_build_id(f->trace, file, area, len);
}

static int build_ids(struct perf_file *f, struct span *body)
{
	int err = 0;

	while (!err && body->left >= 8) {
		uint16_t misc, size;
		const uint8_t *rest;

		(void)span_u32(body);
		span_copy(body, &misc, sizeof(misc));
		span_copy(body, &size, sizeof(size));
		rest = size < 8 ? NULL : span_bytes(body, size - 8u);
		if (!rest)
			return 0;
		err = perf_build_id(f, misc, (struct span){rest, size - 8u, false});
	}
	return err;
}

int perf_feature(struct perf_file *f, unsigned int number, struct span body)
{
	struct foreign_trace *t = f->trace;
	const char *value;

	switch (number) {
	case FEAT_BUILD_ID:
		return build_ids(f, &body);
	case FEAT_OSRELEASE:
		value = text(&body);
		if (value)
			snprintf(t->release, sizeof(t->release), "%s", value);
		return 0;
	case FEAT_BPF_PROG_INFO:
		return perf_bpf_programs(f, body);
	case FEAT_CPUID:
		value = text(&body);
		if (value)
			t->caps.signature = signature(value);
		return 0;
	default:
		return 0;
	}
}
