// SPDX-License-Identifier: GPL-2.0-or-later
/* The reference model in VMX operation: what a trace must say of VM entries and exits. */
#include <string.h>

#include "lib/steps.h"
#include "lib/suite.h"
#include "lib/synth.h"
#include "vpt/msr.h"

#define AT(offset) (SYNTH_CODE + (offset))
#define ARRIVED	   VPT_ORACLE_ARRIVED
#define COUNT(a)   ((int)(sizeof(a) / sizeof((a)[0])))

static void i(struct synth *s, unsigned int at, uint8_t cpl, unsigned int flags)
{
	synth_insn(s, AT(at), cpl, flags);
}

static void range(struct synth *s, unsigned int n, uint64_t from, uint64_t to,
		  enum vpt_addr_cfg cfg)
{
	s->session.ctl |= (uint64_t)cfg << (VPT_CTL_ADDR0_CFG_SHIFT + 4 * n);
	s->session.addr[2 * n] = AT(from);
	s->session.addr[2 * n + 1] = AT(to);
}

static void vm_exit(struct synth *s, unsigned int at, uint8_t cpl)
{
	struct vpt_oracle_record r = {.kind = VPT_ORACLE_VM_EXIT, .ip = AT(at), .cpl = cpl};

	ck_assert_int_eq(vpt_writer_oracle(s->w, 0, r), 0);
}

/* Host and guest, both traced; the guest's code is close by, the exit arrives there. */
static void system_wide(struct synth *s)
{
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 0, VPT_ORACLE_VM_ENTRY);
	i(s, 4, 0, 0);
	vm_exit(s, 5, 0);
	i(s, 6, 0, 0);
	/* An injected event: nothing of the guest has run. */
	i(s, 7, 0, VPT_ORACLE_VM_ENTRY);
	synth_event(s, AT(5), 3, 14, 0);
	i(s, 0x20, 0, ARRIVED);
	/* A VM exit is not the EVENT of an INT n before it, wherever that led. */
	i(s, 0x21, 0, VPT_ORACLE_SOFT_INT);
	vm_exit(s, 0x21, 0);
	i(s, 8, 0, ARRIVED);
	synth_stop(s, VPT_END_DISABLED, AT(9), 0);
}

/* VM entry clears TraceEn, VM exit sets it (table 33-56, rows 9 and 10). */
static void host_only(struct synth *s)
{
	synth_start(s, AT(0), 0);
	i(s, 0, 0, 0);
	i(s, 1, 0, VPT_ORACLE_VM_ENTRY);
	synth_stop(s, VPT_END_DISABLED, AT(0x40), 0);
	i(s, 0x40, 3, ARRIVED);
	vm_exit(s, 0x41, 3);
	synth_start(s, AT(4), 0);
	i(s, 4, 0, ARRIVED);
	/* One that fails early ends nothing; then a WRMSR does. */
	i(s, 5, 0, 0);
	i(s, 8, 0, 0);
	synth_stop(s, VPT_END_DISABLED, AT(10), 0);
}

/* Rows 11 and 12. */
static void guest_only(struct synth *s)
{
	i(s, 0, 0, VPT_ORACLE_VM_ENTRY);
	synth_start(s, AT(0x40), 0);
	i(s, 0x40, 0, ARRIVED);
	vm_exit(s, 0x41, 0);
	synth_stop(s, VPT_END_DISABLED, AT(1), 0);
	i(s, 1, 0, ARRIVED);
	synth_start(s, AT(0x41), 0);
	vm_exit(s, 0x41, 0);
	synth_stop(s, VPT_END_DISABLED, AT(1), 0);
}

/* Only the guest's user code is in context. */
static void guest_user(struct synth *s)
{
	s->session.ctl &= ~VPT_CTL_MASK(OS);
	synth_start(s, AT(0), 0);
	i(s, 0, 0, VPT_ORACLE_VM_ENTRY);
	i(s, 0x40, 3, 0);
	vm_exit(s, 0x41, 3);
	i(s, 1, 0, ARRIVED);
	i(s, 2, 0, VPT_ORACLE_VM_ENTRY);
	vm_exit(s, 0x41, 3);
	i(s, 1, 0, ARRIVED);
	synth_stop(s, VPT_END_CLOSED, AT(2), 0);
}

/* CR3_MATCH is held against what is in CR3, not against an address space's id. */
static void spaces(struct synth *s)
{
	const struct vpt_space all[] = {
		{.id = 0x5000, .cr3 = 0x2000, .vmcs = VPT_SPACE_ANY_VMCS},
		{.id = 0x2000, .cr3 = 0x3000, .vmcs = 0x8000, .flags = VPT_SPACE_NON_ROOT},
	};

	ck_assert_int_eq(vpt_writer_spaces(s->w, all, 2), 0);
	s->session.ctl |= VPT_CTL_MASK(CR3_FILTER);
	s->session.cr3_match = 0x2000;
	synth_start(s, AT(0), 0);
	synth_cr3(s, 0x5000);
	i(s, 0, 0, 0);
	i(s, 1, 0, VPT_ORACLE_VM_ENTRY);
	synth_cr3(s, 0x2000);
	i(s, 0x40, 0, 0);
	vm_exit(s, 0x41, 0);
	synth_cr3(s, 0x5000);
	i(s, 4, 0, ARRIVED);
	synth_stop(s, VPT_END_CLOSED, AT(5), 0);
}

static void vm_entry_into_filter(struct synth *s)
{
	range(s, 0, 4, 0x1f, VPT_ADDR_FILTER);
	range(s, 1, 0x40, 0x4f, VPT_ADDR_STOP);
	synth_start(s, AT(0), 0);
	i(s, 1, 0, VPT_ORACLE_VM_ENTRY);
	/* It is where falling through leads too, but it is arrived at. */
	i(s, 4, 0, 0);
	vm_exit(s, 5, 0);
	synth_stop(s, VPT_END_TRACE_STOP, AT(0x40), 0);
}

static const struct {
	void (*make)(struct synth *s);
	const char *steps;
} expected[] = {
	{system_wide, "E0 0 1 4 5>6 6 7 5>20 20 21>21 21>8 A8"},
	{host_only, "E0 0 1 D E4 4 5 A8"},
	{guest_only, "E40 40 A41 E41 A41"},
	{guest_user, "E40 40 A41 E41 A41"},
	{spaces, "E0 0 1 D E4 4 A5"},
	{vm_entry_into_filter, "E4 4 A5 T"},
};

START_TEST(expectation)
{
	struct vpt_reader *r;
	struct synth s;
	char text[1000];

	synth_open(&s);
	expected[_i].make(&s);
	r = synth_read(&s);
	steps_write(r, text, sizeof(text));
	ck_assert_str_eq(text, expected[_i].steps);
	vpt_reader_close(r);
	synth_done(&s);
}
END_TEST

Suite *vpt_suite(void)
{
	Suite *suite = suite_create("oracle_vmx");
	TCase *tc = tcase_create("oracle_vmx");

	tcase_add_loop_test(tc, expectation, 0, COUNT(expected));
	suite_add_tcase(suite, tc);
	return suite;
}
