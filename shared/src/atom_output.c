// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Output of the Atom trace unit (2.3). A contiguous region uses the single-range output of PT.
 * There is no operational error: a byte that memory refuses is lost, and OFFSET advances.
 */
#include "atom_gen.h"
#include "output_scheme.h"

/* The low bits of TraceStop's address, and their value if Dest is clear. */
#define STOP_LOW  0xffu
#define STOP_ADDR 0xc0u

static uint32_t mask_of(const struct vpt_atom *a)
{
	return a->regs.limit_mask | 0x3fu;
}

/* [ATOM-OUT-ADDRESS] */
static uint64_t base_of(const struct vpt_atom *a)
{
	return a->regs.base_addr & ~(uint64_t)mask_of(a);
}

void vpti_atom_out_start(struct vpt_atom *a)
{
	const uint32_t mask = mask_of(a);

	a->scattered = false;
	if (a->out.stream) { /* [ATOM-OUT-PORT] */
		vpt_output_start_stream(&a->out);
		return;
	}
	a->scattered = mask & (mask + 1);
	if (a->scattered)
		vpt_output_end(&a->out);
	else
		vpt_output_start_region(&a->out, base_of(a), mask, a->regs.offset & mask);
}

static void write_byte(struct vpt_atom *a, uint64_t gpa, const uint8_t *byte)
{
	const struct vpt_mem_ops *mem = &a->ops->mem;

	if (mem->write(a->opaque, gpa, byte, 1) && mem->committed)
		mem->committed(a->opaque, gpa, 1);
}

static void scatter(struct vpt_atom *a, const uint8_t *bytes, size_t len)
{
	const uint32_t mask = mask_of(a);

	for (; len; bytes++, len--) {
		write_byte(a, base_of(a) + (a->regs.offset & mask), bytes);
		a->regs.offset = (a->regs.offset + 1) & mask;
	}
}

/* Memory refused a byte. Write the other bytes one by one until output restarts. */
static VPT_COLD void refused(struct vpt_atom *a, const uint8_t *bytes, size_t len)
{
	const uint32_t mask = mask_of(a);
	uint32_t stored = ((uint32_t)vpti_output_offset(&a->out) - a->regs.offset) & mask;

	vpt_output_end(&a->out);
	a->scattered = true;
	a->regs.offset = (a->regs.offset + stored) & mask;
	scatter(a, bytes + stored, len - stored);
}

void vpti_atom_out(struct vpt_atom *a, const uint8_t *bytes, size_t len)
{
	if (vpt_unlikely(a->scattered))
		scatter(a, bytes, len);
	else if (vpt_unlikely(vpt_output_put(&a->out, bytes, len) != VPT_OUT_OK))
		refused(a, bytes, len);
	else /* [ATOM-OUT-WRAP] */
		a->regs.offset = (a->regs.offset + (uint32_t)len) & mask_of(a);
}

/* [ATOM-STOP-DEST] The byte has a fixed address. OFFSET counts it all the same. */
void vpti_atom_out_stop(struct vpt_atom *a, uint8_t byte)
{
	const uint32_t mask = mask_of(a);
	uint64_t gpa = base_of(a) + (a->regs.offset & mask);

	if (a->out.stream || VPT_ATOM_GET(CTL, DEST, a->regs.ctl)) {
		vpti_atom_out(a, &byte, 1);
		return;
	}
	vpt_output_flush(&a->out);
	write_byte(a, (gpa & ~(uint64_t)STOP_LOW) | STOP_ADDR, &byte);
	a->regs.offset = (a->regs.offset + 1) & mask;
	vpti_atom_out_start(a);
}

void vpt_atom_flush(struct vpt_atom *a)
{
	vpt_output_flush(&a->out);
}
