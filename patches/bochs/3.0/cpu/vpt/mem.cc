// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory of the trace output, and EPT under it.
 *
 * Where output addresses are guest-physical EPT may refuse them, and what is done then is
 * a VM exit, which in the middle of a packet is no good. So what the cursor is about to
 * need is translated at an instruction boundary, while there are at least BX_VPT_AHEAD
 * bytes left: more than all that one instruction and one event can send. Output itself
 * only looks up what was translated.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "cpu/apic.h"
#include "memory/memory-bochs.h"
#include "oracle.hh"

#define PAGE_MASK 0xfffull

/* ToPA (table 33-3). */
#define TOPA_END	  VPT_BIT64(0)
#define TOPA_STOP	  VPT_BIT64(4)
#define TOPA_BASE	  VPT_MASK64(51, 12)
#define TOPA_SIZE(entry)  ((uint64_t)4096 << ((entry) >> 6 & 0xf))
#define TOPA_TABLE_OFFSET VPT_MASK64(27, 3)

/* What a VM exit sends, up to TIP.PGD, goes where the guest's trace does. */
bool bx_vpt_c::guest_physical() const
{
	return (cpu->in_vmx_guest || leaving) && cpu->vmcs.vmexec_ctrls2.PROCESSOR_TRACE_USE_GPA();
}

/* Where `gpa` is in the emulator's memory; NULL if that is no RAM. */
uint8_t *bx_vpt_c::host(uint64_t gpa, uint64_t *hpa)
{
	unsigned i;

	*hpa = gpa;
	if (guest_physical()) {
		for (i = 0; i < page_count && pages[i].gpa != (gpa & ~PAGE_MASK); i++)
			;
		if (i == page_count) {
			counters.ept_missed++;
			return NULL;
		}
		*hpa = pages[i].hpa | (gpa & PAGE_MASK);
	}
	if (*hpa >= BX_MEM(0)->get_memory_len() || cpu->lapic->is_selected(*hpa))
		return NULL;
	/* As for a write: else the answer may be a dummy. */
	return BX_MEM(0)->getHostMemAddr(cpu, *hpa, BX_WRITE);
}

bool bx_vpt_c::op_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	uint64_t hpa;
	const uint8_t *src = ((bx_vpt_c *)opaque)->host(gpa, &hpa);

	/* What is read is a ToPA entry: it does not cross pages. */
	if (!src)
		return false;
	memcpy(dst, src, len);
	return true;
}

/* map() takes all that is RAM; what comes here is none. */
bool bx_vpt_c::op_write(void *, uint64_t, const void *, size_t)
{
	return false;
}

void *bx_vpt_c::op_map(void *opaque, uint64_t gpa, size_t *len)
{
	bx_vpt_c *vpt = (bx_vpt_c *)opaque;
	size_t left = 4096 - (gpa & PAGE_MASK);
	uint64_t hpa;
	uint8_t *bytes = vpt->host(gpa, &hpa);

	if (!bytes)
		return NULL;
	*len = *len < left ? *len : left;
	/* Code in this page is decoded anew. */
	pageWriteStampTable.decWriteStamp(hpa);
	vpt->stretch_gpa = vpt->guest_physical();
	return bytes;
}

/* The bytes are the ones before the cursor. */
void bx_vpt_c::op_committed(void *opaque, uint64_t gpa, size_t len)
{
	bx_vpt_c *vpt = (bx_vpt_c *)opaque;

	vpt->oracle->trace(gpa | (vpt->stretch_gpa ? VPT_BIT64(63) : 0), vpt->pt.out.committed,
			   len);
}

bool bx_vpt_c::ept_is_async()
{
	bool was = ept_async;

	ept_async = false;
	counters.ept_exits += was;
	return was;
}

/* Have a page translated, or take the VM exit that EPT asks for. */
void bx_vpt_c::prepare(uint64_t gpa, bool write)
{
	struct page page = {gpa & ~PAGE_MASK, 0, write};
	unsigned i;

	for (i = 0; i < page_count && pages[i].gpa != page.gpa; i++)
		;
	if (i < page_count && (pages[i].write || !write))
		return;
	ept_async = true;
	page.hpa = cpu->translate_guest_physical(page.gpa, 0, false, false, false, false, false,
						 write ? BX_WRITE : BX_READ, false, NULL);
	ept_async = false;
	if (i == page_count) {
		i = page_next++ % (sizeof(pages) / sizeof(pages[0]));
		page_count += i == page_count;
	}
	pages[i] = page;
}

/* A ToPA entry; false if output would end there with an error. */
bool bx_vpt_c::prepare_entry(uint64_t gpa, uint64_t *entry)
{
	if (gpa >> pt.caps->max_phy_addr)
		return false;
	prepare(gpa, false);
	return op_read(this, gpa, entry, sizeof(*entry)) && !(*entry >> pt.caps->max_phy_addr);
}

/* The region that an entry names, and what the entry leads to if it is an END. */
void bx_vpt_c::prepare_region(uint64_t table, uint64_t table_offset, uint64_t offset)
{
	uint64_t entry;

	if (!prepare_entry(table + table_offset, &entry))
		return;
	if (entry & TOPA_END) {
		if (!table_offset || !prepare_entry(entry & TOPA_BASE, &entry) || entry & TOPA_END)
			return;
		offset = 0;
	}
	if (offset < TOPA_SIZE(entry) && !(entry & TOPA_BASE & (TOPA_SIZE(entry) - 1)))
		prepare((entry & TOPA_BASE) + offset, true);
}

void bx_vpt_c::prepare_single(const struct vpt_rtit *rtit)
{
	uint64_t mask = (rtit->output_mask_ptrs & VPT_MASK64(31, 0)) | VPT_MASK_PTRS_LOW >> 4;
	uint64_t offset = rtit->output_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;

	if (mask & (mask + 1) || rtit->output_base & mask || offset > mask)
		return;
	prepare(rtit->output_base + offset, true);
	prepare(rtit->output_base + ((offset + BX_VPT_AHEAD) & mask), true);
}

/* While it runs the entry is the one that was fetched, else the one in memory. */
void bx_vpt_c::prepare_topa(const struct vpt_rtit *rtit)
{
	uint64_t table = rtit->output_base, entry = pt.out.entry;
	uint64_t table_offset =
		rtit->output_mask_ptrs >> VPT_MASK_PTRS_TABLE_SHIFT << 3 & TOPA_TABLE_OFFSET;
	uint64_t offset = rtit->output_mask_ptrs >> VPT_MASK_PTRS_OFFSET_SHIFT;

	if (table & PAGE_MASK)
		return;
	if (pt.out.kind == VPT_OUTPUT_TOPA) {
		prepare((entry & TOPA_BASE) + offset, true);
	} else {
		prepare_region(table, table_offset, offset);
		if (!prepare_entry(table + table_offset, &entry))
			return;
		if (entry & TOPA_END) {
			table = entry & TOPA_BASE;
			table_offset = offset = 0;
			if (!prepare_entry(table, &entry))
				return;
		}
	}
	if (offset >= TOPA_SIZE(entry) || entry & TOPA_END)
		return;
	if (offset + BX_VPT_AHEAD < TOPA_SIZE(entry))
		prepare((entry & TOPA_BASE) + offset + BX_VPT_AHEAD, true);
	else if (!(entry & TOPA_STOP))
		prepare_region(table, (table_offset + 8) & TOPA_TABLE_OFFSET, 0);
}

/* All that output needs in the near future, from the cursor that the registers tell. */
void bx_vpt_c::prepare_output(const struct vpt_rtit *rtit)
{
	if (!guest_physical() || !vpt_trigger_en(rtit) || rtit->ctl & VPT_CTL_MASK(FABRIC_EN))
		return;
	if (rtit->ctl & VPT_CTL_MASK(TOPA))
		prepare_topa(rtit);
	else
		prepare_single(rtit);
}

void bx_vpt_c::at_boundary()
{
	struct vpt_rtit rtit = pt.rtit;

	attention = false;
	vpt_output_sync(&pt.out, &rtit);
	prepare_output(&rtit);
}
