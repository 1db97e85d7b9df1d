// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps of VMX operation, for PT. */
#include "lib/scenario_machine.h"

#include <check.h>
#include <string.h>

static uint64_t read_status(struct machine *m)
{
	uint64_t value = 0;

	ck_assert(vpt_pt_rdmsr(&m->pt, VPT_MSR_STATUS, &value) == VPT_FAULT_NONE);
	return value;
}

/*
 * Run the MSR-load area. Until the trace begins at the end of the transition, software's value of
 * STATUS is kept.
 */
static void run_area(struct machine *m, struct area *area)
{
	bool sets = area->ctl & ~m->pt.rtit.ctl & VPT_CTL_MASK(TRACE_EN);
	uint64_t status;

	if (!area->used)
		return;
	area->used = false;
	if (sets && m->status)
		wrmsr(m, VPT_MSR_STATUS, m->status);
	status = read_status(m);
	wrmsr(m, VPT_MSR_CTL, area->ctl);
	if (sets)
		ck_assert_uint_eq(read_status(m), status);
}

static struct vpt_vmx_transition transition(const struct machine *m, uint32_t flags)
{
	return (struct vpt_vmx_transition){
		.flags = flags,
		.controls = m->controls,
		.vmcs = m->vmcs,
		.ip = m->ip,
		.next = m->ip + INSN,
		.guest_ctl = m->guest_ctl,
		.reason = (uint32_t)m->reason,
		.qualification = m->qualification,
		.vector = flags & VPT_VMXF_INTR ? 0xe : 0,
	};
}

static void enter(struct machine *m, uint32_t flags, uint64_t to)
{
	struct vpt_vmx_transition entry = transition(m, flags);

	vpt_pt_vm_entry(&m->pt, &entry);
	run_area(m, &m->entry_load);
	vpt_pt_vm_entered(&m->pt, to);
	m->ip = to;
}

static void leave(struct machine *m, uint32_t flags, uint64_t to)
{
	struct vpt_vmx_transition exit = transition(m, flags);

	if (flags & VPT_VMXF_SMM)
		exit.vmcs = SMM_VMCS;
	/* Up to this point an entry that fails late is like any other entry. */
	if (flags & VPT_VMXF_ENTRY_FAIL) {
		struct vpt_vmx_transition entry = transition(m, 0);

		vpt_pt_vm_entry(&m->pt, &entry);
		run_area(m, &m->entry_load);
	}
	ck_assert_uint_eq(vpt_pt_vm_exit(&m->pt, &exit), m->pt.rtit.ctl);
	vpt_pt_vm_exit_host(&m->pt);
	run_area(m, &m->exit_load);
	vpt_pt_vm_exited(&m->pt, to);
	m->ip = to;
}

static void shut_down(struct machine *m)
{
	struct vpt_vmx_transition exit = transition(m, 0);

	vpt_pt_vm_exit(&m->pt, &exit);
	vpt_pt_vm_exit_host(&m->pt);
	run_area(m, &m->exit_load);
	vpt_pt_vmx_abort(&m->pt);
}

/* Steps "WORD>N". */
static bool step_transition(struct machine *m, const char *word)
{
	static const struct {
		const char *word;
		void (*go)(struct machine *m, uint32_t flags, uint64_t to);
		uint32_t flags;
	} ways[] = {
		{"enter", enter, 0},
		{"rsm", enter, VPT_VMXF_SMM},
		{"rsmroot", enter, VPT_VMXF_SMM | VPT_VMXF_TO_ROOT},
		{"exit", leave, 0},
		{"exitint", leave, VPT_VMXF_INTR},
		{"late", leave, VPT_VMXF_ENTRY_FAIL},
		{"smi", leave, VPT_VMXF_SMM | VPT_VMXF_SMI | VPT_VMXF_INTR},
		{"smcall", leave, VPT_VMXF_SMM},
	};
	const char *to = strchr(word, '>');
	size_t len = to ? (size_t)(to - word) : 0, i;

	for (i = 0; to && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strlen(ways[i].word) != len || strncmp(ways[i].word, word, len))
			continue;
		ways[i].go(m, ways[i].flags, hex(to + 1));
		return true;
	}
	return false;
}

static uint32_t control_bits(const char *bits)
{
	static const struct bit_name words[] = {
		{"exec", VPT_VMX_EXEC_CONCEAL},	   {"exit", VPT_VMX_EXIT_CONCEAL},
		{"entry", VPT_VMX_ENTRY_CONCEAL},  {"load", VPT_VMX_ENTRY_LOAD_CTL},
		{"clear", VPT_VMX_EXIT_CLEAR_CTL}, {"gpa", VPT_VMX_EXEC_USE_GPA},
	};

	return (uint32_t)named_bits(words, sizeof(words) / sizeof(words[0]), bits);
}

/* Steps "WORD:BITS". */
static bool step_bits(struct machine *m, const char *word)
{
	const char *bits = strchr(word, ':');
	uint64_t ctl;

	if (!bits++)
		return false;
	if (is(word, "controls:")) {
		m->controls = control_bits(bits);
		return true;
	}
	ctl = strcmp(bits, "off") ? ctl_bits(bits) : 0;
	if (is(word, "field:"))
		m->guest_ctl = ctl;
	else if (is(word, "entryload:"))
		m->entry_load = (struct area){true, ctl};
	else if (is(word, "exitload:"))
		m->exit_load = (struct area){true, ctl};
	else
		return false;
	return true;
}

static bool step_set(struct machine *m, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value++)
		return false;
	if (is(word, "vmptrld=")) {
		vpt_pt_vmptrld(&m->pt, m->vmcs = hex(value));
		m->ip += INSN;
	} else if (is(word, "reason=")) {
		m->reason = hex(value);
	} else if (is(word, "qual=")) {
		m->qualification = hex(value);
	} else {
		return false;
	}
	return true;
}

static unsigned int count_bytes(const uint8_t *region)
{
	unsigned int i, count = 0;

	for (i = 0; i < REGION_SIZE; i++)
		count += region[i] != 0;
	return count;
}

/* Steps of output in guest-physical memory. */
static bool step_memory(struct machine *m, const char *word)
{
	static const uint64_t table[2] = {REGION | 4 << 6, TABLE | 1};

	if (!strcmp(word, "guestmem")) {
		m->guest_shown = true;
	} else if (!strcmp(word, "guesttopa")) {
		memcpy(m->ram + EPT + TABLE, table, sizeof(table));
		wrmsr(m, VPT_MSR_OUTPUT_BASE, TABLE);
		wrmsr(m, VPT_MSR_OUTPUT_MASK_PTRS, 0);
	} else if (!strcmp(word, "bytes")) {
		show(m);
		say(m, "[bytes %u %u]", count_bytes(m->ram + REGION),
		    count_bytes(m->ram + EPT + REGION));
	} else {
		return false;
	}
	return true;
}

static bool step_plain(struct machine *m, const char *word)
{
	if (!strcmp(word, "vmxon")) {
		m->vmcs = VPT_NO_VMCS;
		vpt_pt_vmxon(&m->pt, m->ip + INSN);
	} else if (!strcmp(word, "vmxoff")) {
		vpt_pt_vmxoff(&m->pt);
	} else if (!strcmp(word, "vmclear")) {
		m->vmcs = VPT_NO_VMCS;
		vpt_pt_vmptrld(&m->pt, m->vmcs);
	} else if (!strcmp(word, "early")) {
		vpt_pt_vm_entry_failed(&m->pt, m->ip + INSN);
	} else if (!strcmp(word, "abort")) {
		shut_down(m);
		return true;
	} else {
		return false;
	}
	m->ip += INSN;
	return true;
}

bool scenario_step_vmx(struct machine *m, const char *word)
{
	return step_transition(m, word) || step_set(m, word) || step_plain(m, word) ||
	       step_bits(m, word) || step_memory(m, word);
}
