/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Intel PT of a CPU of Bochs: the registers and the packet generator of shared/, and what
 * joins them to the emulator. HOOKS.md says what calls what.
 */
#ifndef BX_VPT_H
#define BX_VPT_H

#include "shared/include/vpt/vmx_pt.h"

/* Bytes of output that are translated ahead, see mem.cc. */
#define BX_VPT_AHEAD 256u

class BX_CPU_C;
class bx_oracle_c;
class bxInstruction_c;
struct cpuid_function_t;

/* What the file `counters` tells. The indices of msr: non-root, list, write. */
struct bx_vpt_counters {
	uint64_t msr[2][2][2];
	uint64_t entries, entries_traced, entries_failed;
	uint64_t exits, exits_traced;
	uint64_t pmis;
	uint64_t ept_exits;  /* VM exits because EPT refused the trace output */
	uint64_t ept_missed; /* output that was not translated in time: none, if all is well */
};

class bx_vpt_c
{
public:
	struct vpt_pt pt;
	bool stepping;	/* the oracle log is on: traces are one instruction long */
	bool attention; /* at_boundary() is to be called */

	bx_vpt_c();
	void reset(unsigned cpu_id, unsigned source);

	void cond_branch(uint64_t from, uint64_t to, bool taken)
	{
		if (vpt_unlikely(pt.trigger_en) && !vpt_pt_quick_cond(&pt, taken))
			event(VPT_EV_COND, from, to, 0, taken ? VPT_EVF_TAKEN : 0);
	}
	void near_branch(unsigned what, uint64_t from, uint64_t to, unsigned length)
	{
		if (vpt_unlikely(pt.trigger_en))
			near_traced(what, from, to, length);
	}
	void far_branch(unsigned what, uint64_t from, uint64_t to);
	void cr3_changed(unsigned what);

	/* INT n, exceptions and interrupts, around their delivery. */
	void event_begins(unsigned type);
	void event_delivered(unsigned type, uint8_t vector);

	/* -1: not one of ours, 0: #GP, 1: done; as bx_cpuid_t's. */
	int rdmsr(uint32_t index, uint64_t *value);
	int wrmsr(uint32_t index, uint64_t value);
	/* What PT changes in an answer of CPUID. */
	void cpuid(uint32_t leaf, uint32_t subleaf, struct cpuid_function_t *regs);

	/* SMM (33.2.9.3). The value is TraceEn, for SMRAM. */
	uint32_t enter_smm();
	void leave_smm(uint32_t trace_en);
	bool trace_en() const { return pt.rtit.ctl & VPT_CTL_MASK(TRACE_EN); }

	/* Before the next instruction, if attention is set: may take a VM exit. */
	void at_boundary();

	/* VMX; the first group may be asked before reset(). */
	uint32_t vmx_misc() const;
	uint32_t vmx_exec2() const;
	uint32_t vmx_exit() const;
	uint32_t vmx_entry() const;
	bool has_guest_ctl() const;
	void vmxon();
	void vmxoff();
	void vmptrld(uint64_t vmcs);
	void vmcleared();
	void vm_entry_begins();
	void vm_entry_fails_early();
	bool vm_controls_ok();
	bool vm_guest_ok();
	void vm_entry(bool checked = true);
	void vm_entered();
	void vm_exit(uint32_t reason, uint64_t qualification);
	void vm_exit_host();
	void vm_exited();
	void vmx_abort();
	/* Is the translation under way PT's own? Told once. */
	bool ept_is_async();

	/* The oracle log, around each instruction of the CPU loop. */
	void step_begins(const bxInstruction_c *i);
	void step_ends();
	bool start_stepping(const char *path);
	void stop_stepping();

	BX_CPU_C *cpu; /* NULL before the first reset */
	bx_oracle_c *oracle;
	bx_vpt_counters counters;

private:
	struct page {
		uint64_t gpa;
		uint64_t hpa;
		bool write;
	};

	/* pt.cc */
	static void op_context(void *opaque, struct vpt_context *ctx);
	static void op_pmi(void *opaque);
	static void op_trigger(void *opaque, bool trigger_en);
	void near_traced(unsigned what, uint64_t from, uint64_t to, unsigned length);
	void event(unsigned kind, uint64_t from, uint64_t to, uint64_t next, unsigned flags,
		   uint8_t vector = 0);
	void settle();
	void account(uint32_t index, uint64_t value, bool write, bool fault);
	void set_trace_en(bool on);

	/* mem.cc */
	static bool op_read(void *opaque, uint64_t gpa, void *dst, size_t len);
	static bool op_write(void *opaque, uint64_t gpa, const void *src, size_t len);
	static void *op_map(void *opaque, uint64_t gpa, size_t *len);
	static void op_committed(void *opaque, uint64_t gpa, size_t len);
	bool guest_physical() const;
	uint8_t *host(uint64_t gpa, uint64_t *hpa);
	void prepare(uint64_t gpa, bool write);
	bool prepare_entry(uint64_t gpa, uint64_t *entry);
	void prepare_region(uint64_t table, uint64_t table_offset, uint64_t offset);
	void prepare_single(const struct vpt_rtit *rtit);
	void prepare_topa(const struct vpt_rtit *rtit);
	void prepare_output(const struct vpt_rtit *rtit);

	/* transitions.cc */
	void describe(struct vpt_vmx *vmx) const;
	void fill(struct vpt_vmx_transition *t, uint32_t flags) const;

	static const struct vpt_pt_ops ops;
	uint32_t vmx_allowed;	/* which controls the processor has */
	uint64_t global_status; /* IA32_PERF_GLOBAL_STATUS: bit 55 only */
	uint64_t event_from;
	bool cr3_loaded; /* by a task switch that is under way */
	bool in_list;	 /* MSR accesses are those of an MSR area */
	bool fell;	 /* TriggerEn, and the oracle has yet to be told */
	bool ept_async;
	bool stretch_gpa; /* the mapped stretch is at guest-physical addresses */

	/* VM entry: from the instruction to vm_entered(). */
	bool entering, loading;
	bool leaving; /* VM exit: until host state is loaded and IA32_RTIT_CTL cleared */
	uint64_t entry_ip, entry_next;
	uint64_t tsc_offset; /* of the guest that runs, or ran last */
	uint32_t exit_reason;
	uint64_t exit_qualification;

	struct page pages[8];
	unsigned page_count, page_next;
};

#endif
