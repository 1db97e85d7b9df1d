// SPDX-License-Identifier: GPL-2.0-or-later
/* The reference of trace output: see outmodel.h. */
#include "lib/outmodel.h"

#include <stdlib.h>
#include <string.h>

void outmodel_init(struct outmodel *model, struct guestmem *mem, const struct vpt_caps *caps)
{
	memset(model, 0, sizeof(*model));
	model->mem = mem;
	model->many = caps->l14_0_ecx & 2;
	model->width = caps->max_phy_addr;
}

void outmodel_free(struct outmodel *model)
{
	free(model->stored.gpa);
	free(model->fabric.gpa);
}

static unsigned int die(struct outmodel *model, enum vpt_output_error why)
{
	model->dead = true;
	model->why = why;
	return VPT_OUT_ERROR;
}

/* An entry by table 33-3. The fields that figure 33-2 leaves blank are `reserved`. */
struct entry {
	bool end, intr, stop, reserved, wide;
	uint64_t base, size;
};

static struct entry take_apart(uint64_t raw, unsigned int width)
{
	struct entry e = {
		.end = raw & 0x001,
		.intr = raw & 0x004,
		.stop = raw & 0x010,
		.reserved = raw & 0xc2a,
		.wide = raw >> width,
		.base = raw & 0x000ffffffffff000,
		.size = 4096ull << (raw >> 6 & 15),
	};

	return e;
}

static enum vpt_output_error check(const struct outmodel *model, const struct entry *e)
{
	if (e->reserved)
		return VPT_OUT_ERR_ENTRY_RESERVED;
	if (e->wide)
		return VPT_OUT_ERR_ADDRESS_WIDTH;
	if (e->end && model->index == 0)
		return VPT_OUT_ERR_END_FIRST;
	if (e->end && (e->stop || e->intr))
		return VPT_OUT_ERR_END_WITH_STOP_INT;
	if (e->end && !model->many && e->base != model->table)
		return VPT_OUT_ERR_SINGLE_END_BASE;
	if (!e->end && !model->many && model->index != 0)
		return VPT_OUT_ERR_SINGLE_NO_END;
	if (!e->end && e->base % e->size != 0)
		return VPT_OUT_ERR_REGION_UNALIGNED;
	return VPT_OUT_ERR_NONE;
}

/* Return the number of bytes left in the region when its INT is due. */
static uint64_t int_left(const struct outmodel *model)
{
	return model->many ? 0 : 512;
}

static unsigned int report_int(struct outmodel *model)
{
	if (!model->intr || model->told || model->size - model->offset > int_left(model))
		return 0;
	model->told = true;
	return VPT_OUT_INT;
}

static unsigned int enter(struct outmodel *model)
{
	enum vpt_output_error err;
	struct entry e;
	uint64_t raw;

	for (;;) {
		uint64_t gpa = model->table + 8 * model->index;

		if (gpa >> model->width || !guestmem_read(model->mem, gpa, &raw, 8))
			return die(model, VPT_OUT_ERR_TABLE_REFUSED);
		e = take_apart(raw, model->width);
		err = check(model, &e);
		if (err)
			return die(model, err);
		if (!e.end)
			break;
		model->table = e.base;
		model->index = 0;
		model->offset = 0;
	}
	model->region = e.base;
	model->size = e.size;
	model->stop = e.stop;
	model->intr = e.intr;
	model->told = false;
	if (model->offset >= e.size)
		return die(model, VPT_OUT_ERR_OFFSET_PAST_REGION);
	return report_int(model);
}

static unsigned int start_single(struct outmodel *model)
{
	uint64_t mask = model->index, ones = 0;

	while (mask >> ones & 1)
		ones++;
	if (mask >> ones)
		return die(model, VPT_OUT_ERR_MASK_GAP);
	if (model->table & mask)
		return die(model, VPT_OUT_ERR_BASE_UNALIGNED);
	if (model->offset > mask)
		return die(model, VPT_OUT_ERR_OFFSET_PAST_MASK);
	return 0;
}

unsigned int outmodel_start(struct outmodel *model, const struct vpt_rtit *rtit)
{
	uint32_t low = (uint32_t)rtit->output_mask_ptrs;

	model->dead = false;
	model->why = VPT_OUT_ERR_NONE;
	model->table = rtit->output_base;
	model->offset = rtit->output_mask_ptrs >> 32;
	if (rtit->ctl & 1 << 6) {
		model->scheme = OUTMODEL_FABRIC;
		return 0;
	}
	if (!(rtit->ctl & 1 << 8)) {
		model->scheme = OUTMODEL_SINGLE;
		model->index = low;
		return start_single(model);
	}
	model->scheme = OUTMODEL_TOPA;
	model->index = low >> 7;
	if (model->table % 4096)
		return die(model, VPT_OUT_ERR_TABLE_UNALIGNED);
	return enter(model);
}

static unsigned int store(struct outmodel *model, uint64_t gpa, uint8_t byte)
{
	if (!guestmem_write(model->mem, gpa, &byte, 1))
		return die(model, VPT_OUT_ERR_REGION_REFUSED);
	guestmem_note(&model->stored, gpa);
	return 0;
}

static unsigned int topa_byte(struct outmodel *model, uint8_t byte)
{
	unsigned int events;

	events = store(model, model->region + model->offset, byte);
	if (events)
		return events;
	model->offset++;
	events = report_int(model);
	if (model->offset < model->size)
		return events;
	if (model->stop) {
		model->dead = true;
		return events | VPT_OUT_STOP;
	}
	model->index = (model->index + 1) % (0x10000000 / 8);
	model->offset = 0;
	return events | enter(model);
}

static unsigned int single_byte(struct outmodel *model, uint8_t byte)
{
	uint64_t mask = model->index;

	if (store(model, (model->table & ~mask) + (model->offset & mask), byte))
		return VPT_OUT_ERROR;
	model->offset = (model->offset + 1) & mask;
	return 0;
}

unsigned int outmodel_byte(struct outmodel *model, uint8_t byte)
{
	if (model->dead)
		return 0;
	switch (model->scheme) {
	case OUTMODEL_SINGLE:
		return single_byte(model, byte);
	case OUTMODEL_TOPA:
		return topa_byte(model, byte);
	case OUTMODEL_FABRIC:
		guestmem_note(&model->fabric, byte);
		break;
	default:
		break;
	}
	return 0;
}

unsigned int outmodel_put(struct outmodel *model, const uint8_t *bytes, size_t len)
{
	unsigned int events = 0;

	while (len--)
		events |= outmodel_byte(model, *bytes++);
	return events;
}

void outmodel_sync(const struct outmodel *model, struct vpt_rtit *rtit)
{
	uint64_t low = model->index;

	if (model->scheme != OUTMODEL_SINGLE && model->scheme != OUTMODEL_TOPA)
		return;
	if (model->scheme == OUTMODEL_TOPA)
		low = model->index * 128 + 127;
	rtit->output_base = model->table;
	rtit->output_mask_ptrs = model->offset << 32 | low;
}
