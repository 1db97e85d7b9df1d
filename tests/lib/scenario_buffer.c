// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of the model's options, the internal buffer and the output. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <string.h>

#include "vpt/packet.h"

static void set_options(struct machine *m, const struct vpt_pt_options *options)
{
	ck_assert_int_eq(vpt_pt_set_options(&m->pt, options), VPT_OK);
}

static void set_buffer(struct machine *m, const char *text)
{
	struct vpt_pt_options options = m->pt.options;

	options.buffer_bytes = (uint32_t)decimal(text);
	options.buffer_drain = (uint32_t)decimal(strchr(text, ':') + 1);
	set_options(m, &options);
}

static void defer(struct machine *m)
{
	struct vpt_pt_options options = m->pt.options;

	options.defer_tips = true;
	set_options(m, &options);
}

/* Leave only this many bytes of the buffer, as if packets had just filled the rest. */
static void leave_room(struct machine *m, uint32_t bytes)
{
	m->pt.buffer.fill = m->pt.options.buffer_bytes - bytes;
	m->pt.buffer.drained = m->clock.cycles;
}

static void show_byte_count(struct machine *m)
{
	uint64_t status = 0;

	show(m);
	ck_assert(vpt_pt_rdmsr(&m->pt, VPT_MSR_STATUS, &status) == VPT_FAULT_NONE);
	say(m, "[cnt %llx]", (unsigned long long)VPT_STATUS_GET(status, PACKET_BYTE_CNT));
}

static void sink(void *opaque, const void *bytes, size_t len)
{
	struct machine *m = opaque;

	memcpy(m->ram + REGION + m->carried, bytes, len);
	m->carried += len;
}

static void set_transport(struct machine *m)
{
	if (!m->transport) {
		m->transport = true;
		m->caps.l14_0_ecx |= 1u << 3;
		vpt_output_set_stream(&m->pt.out, m->stage, sizeof(m->stage), sink);
		return;
	}
	show(m);
	say(m, "[base %llx ptrs %llx]", (unsigned long long)m->pt.rtit.output_base,
	    (unsigned long long)m->pt.rtit.output_mask_ptrs);
}

static void set_crystal(struct machine *m, const char *text)
{
	m->caps.l15_ebx = (uint32_t)decimal(text);
	m->caps.l15_eax = strchr(text, '/') ? (uint32_t)decimal(strchr(text, '/') + 1) : 1;
}

static void set_counter(struct machine *m, uint64_t bits)
{
	struct vpt_pt_options options = m->pt.options;

	options.cyc_bits = (uint8_t)bits;
	ck_assert_int_eq(vpt_pt_set_options(&m->pt, &options), VPT_OK);
}

bool scenario_step_buffer(struct machine *m, const char *word)
{
	if (is(word, "buffer="))
		set_buffer(m, word + 7);
	else if (!strcmp(word, "defer"))
		defer(m);
	else if (is(word, "room="))
		leave_room(m, (uint32_t)decimal(word + 5));
	else if (!strcmp(word, "cnt"))
		show_byte_count(m);
	else if (!strcmp(word, "lip"))
		m->caps.l14_0_ecx |= 1u << 31;
	else if (is(word, "crystal="))
		set_crystal(m, word + 8);
	else if (is(word, "cycbits="))
		set_counter(m, decimal(word + 8));
	else if (!strcmp(word, "transport"))
		set_transport(m);
	else
		return false;
	return true;
}
