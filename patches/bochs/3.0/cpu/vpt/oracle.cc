// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The oracle log. While it is on the CPU loop runs one instruction at a time, since
 * async_event keeps a trace from going on; so the log costs nothing while it is off.
 *
 * Code is compared, not tracked: the bytes of each instruction against what was logged
 * last for its page. That holds whoever wrote them, and wherever pages were moved.
 */
#define NEED_CPU_REG_SHORTCUTS 1
#include "bochs.h"
#include "cpu/cpu.h"
#include "memory/memory-bochs.h"
#include "oracle.hh"

#define PAGE_MASK  0xfffull
#define BUFFER	   (1 << 20)
#define NO_PAGE	   (~0ull) /* as a page, and as an expected IP: none is there */
#define SPACE_BITS 45	   /* of a page number, below the number of its space */

bx_oracle_c::bx_oracle_c(BX_CPU_C *c, const struct vpt_pt *p)
    : cpu(c), pt(p), file(NULL), on(false), active(false)
{
}

bool bx_oracle_c::start(const char *path)
{
	struct vpt_log_header header = {VPT_LOG_MAGIC, VPT_LOG_VERSION, cpu->bx_cpuid};

	if (!file) {
		file = fopen(path, "wb");
		if (!file)
			return false;
		setvbuf(file, NULL, _IOFBF, BUFFER);
		put(header);
	}
	on = true;
	active = false;
	expected = NO_PAGE;
	know_context = false;
	packet_en = 2; /* neither */
	space_id = ~0u;
	if (pt->trigger_en)
		trigger(true);
	return true;
}

void bx_oracle_c::stop()
{
	on = false;
	if (file)
		fflush(file);
}

void bx_oracle_c::close()
{
	if (!file)
		return;
	put((uint8_t)VPT_LOG_END);
	if (fclose(file))
		fprintf(stderr, "vpt: the oracle log is not complete: %s\n", strerror(errno));
	file = NULL;
	on = false;
}

void bx_oracle_c::put(const void *bytes, size_t len)
{
	fwrite_unlocked(bytes, 1, len, file);
}

void bx_oracle_c::put_head(enum vpt_log_kind kind)
{
	put((uint8_t)kind);
}

bool bx_oracle_c::space::operator<(const space &other) const
{
	if (flags != other.flags)
		return flags < other.flags;
	return cr3 != other.cr3 ? cr3 < other.cr3 : vmcs < other.vmcs;
}

/* Log the context if it is not the one that was logged last. */
void bx_oracle_c::context()
{
	const bx_segment_reg_t *cs = &cpu->sregs[BX_SEG_REG_CS];
	bool lma = cpu->long_mode();
	uint64_t new_vmcs = cpu->in_vmx ? cpu->vmcsptr : ~0ull;
	uint64_t base = cpu->long64_mode() ? 0 : cs->cache.u.segment.base;
	uint8_t now = cs->selector.rpl;

	now |= cpu->in_vmx_guest ? VPT_LOG_NON_ROOT : 0;
	now |= cpu->in_vmx ? VPT_LOG_IN_VMX : 0;
	now |= cpu->in_smm ? VPT_LOG_IN_SMM : 0;
	now |= cpu->cr0.get_PG() && cpu->cr4.get_PAE() && !lma ? VPT_LOG_PAE : 0;
	now |= cs->cache.u.segment.l && lma ? VPT_LOG_CS_L : 0;
	now |= cs->cache.u.segment.d_b ? VPT_LOG_CS_D : 0;
	if (know_context && now == flags && cpu->cr3 == cr3 && new_vmcs == vmcs && base == cs_base)
		return;
	know_context = true;
	flags = now;
	cr3 = cpu->cr3;
	vmcs = new_vmcs;
	cs_base = base;
	put_head(VPT_LOG_CONTEXT);
	put(flags);
	put(cr3);
	put(vmcs);
	put(cs_base);
	expected = NO_PAGE;
	enter_space();
}

void bx_oracle_c::entered()
{
	if (on)
		context();
}

/* Which address space the code pages are of: VMCS pointers matter in non-root only. */
void bx_oracle_c::enter_space()
{
	bool non_root = flags & VPT_LOG_NON_ROOT;
	space s = {(uint8_t)(flags & (VPT_LOG_NON_ROOT | VPT_LOG_IN_SMM)), cr3,
		   non_root ? vmcs : ~0ull};
	std::map<space, uint32_t>::iterator it = spaces.find(s);

	if (it == spaces.end())
		it = spaces.insert(std::make_pair(s, (uint32_t)spaces.size())).first;
	if (space_id != it->second)
		last_page = NO_PAGE;
	space_id = it->second;
}

/* Where a page is. The instruction's own is in the fetch window, as a rule. */
bool bx_oracle_c::find_page(uint64_t page, uint64_t *phys, const uint8_t **bytes) const
{
	bx_phy_address address;

	if (page == (cpu->get_laddr(BX_SEG_REG_CS, ip) & ~PAGE_MASK) &&
	    ip + cpu->eipPageBias < cpu->eipPageWindowSize) {
		*phys = cpu->pAddrFetchPage;
		*bytes = cpu->eipFetchPtr;
		return true;
	}
	if (!cpu->dbg_xlate_linear2phy(page, &address))
		return false;
	*phys = address & ~PAGE_MASK;
	*bytes = BX_MEM(0)->getHostMemAddr(cpu, *phys, BX_EXECUTE);
	return *bytes;
}

void bx_oracle_c::log_page(uint64_t page, uint64_t phys, const uint8_t *bytes, mapping *m)
{
	frame *&f = frames[phys];

	if (!f)
		f = new frame();
	if (!f->version || memcmp(f->bytes, bytes, sizeof(f->bytes))) {
		memcpy(f->bytes, bytes, sizeof(f->bytes));
		f->version++;
	}
	if (m->copy == f && m->version == f->version)
		return;
	m->copy = f;
	m->phys = phys;
	m->version = f->version;
	put_head(VPT_LOG_CODE);
	put(page);
	put(phys);
	put(f->bytes, sizeof(f->bytes));
}

/* Part of an instruction: is it what was logged? */
void bx_oracle_c::code_page(uint64_t page, unsigned offset, unsigned len)
{
	const uint8_t *bytes;
	uint64_t phys;

	if (!find_page(page, &phys, &bytes))
		return;
	if (page != last_page) {
		uint64_t key = (page >> 12 & VPT_MASK64(SPACE_BITS - 1, 0)) | (uint64_t)space_id
										      << SPACE_BITS;

		last_mapping = &mappings[key];
		last_page = page;
	}
	if (!last_mapping->copy || last_mapping->phys != phys ||
	    last_mapping->version != last_mapping->copy->version ||
	    memcmp(last_mapping->copy->bytes + offset, bytes + offset, len))
		log_page(page, phys, bytes, last_mapping);
}

void bx_oracle_c::code(uint64_t linear, unsigned len)
{
	unsigned offset = linear & PAGE_MASK;
	unsigned first = len < 4096 - offset ? len : 4096 - offset;

	code_page(linear & ~PAGE_MASK, offset, first);
	if (first < len)
		code_page((linear & ~PAGE_MASK) + 4096, 0, len - first);
}

void bx_oracle_c::step_begins(const bxInstruction_c *i)
{
	active = true;
	ip = cpu->get_rip();
	length = i->ilen();
	/* Not to be asked afterwards: an iteration that writes to code replaces *i. */
	repeats = i->repUsedL() && !strncmp(i->getIaOpcodeName(), "BX_IA_REP", 9);
	context();
	if (packet_en != pt->packet_en) {
		packet_en = pt->packet_en;
		put_head(VPT_LOG_PACKET_EN);
		put(packet_en);
	}
	code(cpu->get_laddr(BX_SEG_REG_CS, ip), length);
}

/* A repeated string instruction that is not done stays where it is. */
void bx_oracle_c::step_ends()
{
	if (!active)
		return;
	if (cpu->get_rip() == ip && repeats)
		active = false;
	else
		retire();
}

void bx_oracle_c::retire()
{
	if (!active)
		return;
	active = false;
	if (ip != expected) {
		put_head(VPT_LOG_INSN_AT);
		put((uint8_t)length);
		put(ip);
	} else {
		put((uint8_t)length);
	}
	expected = ip + length;
}

void bx_oracle_c::event(enum vpt_log_event kind, uint8_t vector, uint64_t from)
{
	if (!on)
		return;
	put_head(VPT_LOG_EVENT);
	put((uint8_t)kind);
	put(vector);
	put(from);
	expected = NO_PAGE;
}

/* [abi/oracle_log.h] An instruction that moved TriggerEn comes before. */
void bx_oracle_c::trigger(bool rose)
{
	uint8_t why = VPT_LOG_DISABLED;

	if (!on)
		return;
	retire();
	if (pt->rtit.status & VPT_STATUS_MASK(ERROR))
		why = VPT_LOG_ERROR;
	else if (pt->rtit.status & VPT_STATUS_MASK(STOPPED))
		why = VPT_LOG_STOPPED;
	put_head(VPT_LOG_TRIGGER);
	put((uint8_t)rose);
	put(why);
	put((uint64_t)cpu->get_rip());
	put(pt->rtit.ctl);
	put(pt->rtit.status);
	put(pt->rtit.output_base);
	put(pt->rtit.output_mask_ptrs);
	put(pt->rtit.cr3_match);
	put(pt->rtit.addr, sizeof(pt->rtit.addr));
}

void bx_oracle_c::trace(uint64_t address, const void *bytes, size_t len)
{
	if (!on)
		return;
	put_head(VPT_LOG_TRACE);
	put((uint32_t)len);
	put(address);
	put(bytes, len);
}

void bx_oracle_c::mark(const char *text, size_t len)
{
	if (!on)
		return;
	put_head(VPT_LOG_MARK);
	put((uint16_t)len);
	put(text, len);
}

void bx_oracle_c::msr(unsigned how, uint32_t index, uint64_t value)
{
	if (!on)
		return;
	put_head(VPT_LOG_MSR);
	put((uint8_t)how);
	put(index);
	put(value);
}

void bx_oracle_c::vmx(uint32_t reason, uint64_t qualification, uint64_t tsc_offset)
{
	const VMCS_CACHE *vm = &cpu->vmcs;
	bool scaled = vm->vmexec_ctrls1.TSC_OFFSET() && vm->vmexec_ctrls2.TSC_SCALING();

	if (!on)
		return;
	put_head(VPT_LOG_VMX);
	put((uint64_t)cpu->vmcsptr);
	put(tsc_offset);
	put(scaled ? vm->tsc_multiplier : VPT_BIT64(48));
	put(reason);
	put(qualification);
}
