// SPDX-License-Identifier: GPL-2.0-or-later
/* The registers of Atom's RTIT as text and as JSON. */
#include "cli/atom_regs.h"

#include <inttypes.h>

#include "text/text.h"
#include "trace/atom_session.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Fields wider than this are addresses, and are shown in hexadecimal. */
#define DECIMAL_BITS 16

static const struct {
	uint32_t msr;
	const char *name;
} registers[] = {
#define VPT_ATOM_MSR(name, address, reset, bits, ignored, ones, tag, section, meaning) \
	{address, #name},
#include "../../shared/spec/rtit.def"
};

static const struct {
	uint32_t msr;
	const char *name;
	unsigned int lo, width;
} fields[] = {
#define VPT_ATOM_FIELD(msr, name, lo, width, tag, section, meaning) \
	{VPT_ATOM_MSR_##msr, #name, lo, width},
#include "../../shared/spec/rtit.def"
};

/* Return the value that RDMSR would return. */
static uint64_t value_of(const struct vpt_atom_regs *regs, uint32_t msr)
{
	struct vpt_atom_regs unlocked = *regs;
	uint64_t value = 0;

	unlocked.unlocked = 1;
	return vpt_atom_regs_read(&unlocked, msr, &value) ? 0 : value;
}

static void get(struct vpt_atom_regs *regs, const struct trace_session *session)
{
	if (session)
		trace_atom_session_get(session, regs);
	else
		vpt_atom_regs_reset(regs);
}

static void field_text(FILE *out, size_t i, uint64_t value)
{
	const unsigned int lo = fields[i].lo, width = fields[i].width;
	const uint64_t field = (value & VPT_MASK64(lo + width - 1, lo)) >> lo;

	if (width > DECIMAL_BITS)
		fprintf(out, " %s=0x%" PRIx64, fields[i].name, field);
	else if (width > 1)
		fprintf(out, " %s=%" PRIu64, fields[i].name, field);
	else if (field)
		fprintf(out, " %s", fields[i].name);
}

void cli_atom_regs_text(FILE *out, const char *before, const struct trace_session *now,
			const struct trace_session *then)
{
	struct vpt_atom_regs regs, others;
	size_t i, k;

	get(&regs, now);
	get(&others, then);
	for (i = 0; i < COUNT(registers); i++) {
		const uint64_t value = value_of(&regs, registers[i].msr);

		if (value == value_of(&others, registers[i].msr))
			continue;
		fprintf(out, "%s%s 0x%" PRIx64, before, registers[i].name, value);
		for (k = 0; k < COUNT(fields); k++) {
			if (fields[k].msr == registers[i].msr)
				field_text(out, k, value);
		}
		fputc('\n', out);
	}
}

static void json_object(FILE *out, const char *name, const struct trace_session *session)
{
	struct vpt_atom_regs regs;
	size_t i;

	get(&regs, session);
	fprintf(out, ",\"%s\":", name);
	for (i = 0; i < COUNT(registers); i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "{", registers[i].name);
		text_json_address(out, value_of(&regs, registers[i].msr));
	}
	fputc('}', out);
}

void cli_atom_regs_json(FILE *out, const struct trace_period *period)
{
	json_object(out, "registers", period->start);
	if (period->end)
		json_object(out, "end_registers", period->end);
}
