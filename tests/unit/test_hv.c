// SPDX-License-Identifier: GPL-2.0-or-later
/* This VMM as a hypervisor: its VM entries and exits, and the model of its root side. */
#include "lib/suite.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "pt/hv.h"
#include "pt/spaces.h"

#define STEPS_MAX 500

static bool seen[TRACER_ROOT_PAGE];

/* The kinds that are one mnemonic each. */
static const ZydisMnemonic mnemonics[] = {
	[TRACER_ROOT_RET] = ZYDIS_MNEMONIC_RET,
	[TRACER_ROOT_WRMSR] = ZYDIS_MNEMONIC_WRMSR,
	[TRACER_ROOT_VMXON] = ZYDIS_MNEMONIC_VMXON,
	[TRACER_ROOT_VMCLEAR] = ZYDIS_MNEMONIC_VMCLEAR,
	[TRACER_ROOT_VMPTRLD] = ZYDIS_MNEMONIC_VMPTRLD,
	[TRACER_ROOT_VMXOFF] = ZYDIS_MNEMONIC_VMXOFF,
	[TRACER_ROOT_HLT] = ZYDIS_MNEMONIC_HLT,
};

/* Return true if the decoded instruction is of this kind. */
static bool is_kind(const ZydisDecodedInstruction *d, const ZydisDecodedOperand *op,
		    enum tracer_root_kind kind)
{
	bool direct = op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && op[0].imm.is_relative;

	switch (kind) {
	case TRACER_ROOT_PLAIN:
		return d->meta.branch_type == ZYDIS_BRANCH_TYPE_NONE &&
		       d->mnemonic != ZYDIS_MNEMONIC_WRMSR && d->mnemonic != ZYDIS_MNEMONIC_HLT;
	case TRACER_ROOT_COND:
		return d->meta.category == ZYDIS_CATEGORY_COND_BR && direct;
	case TRACER_ROOT_JMP:
		return d->mnemonic == ZYDIS_MNEMONIC_JMP && direct;
	case TRACER_ROOT_JMP_INDIRECT:
		return d->mnemonic == ZYDIS_MNEMONIC_JMP && !direct;
	case TRACER_ROOT_CALL:
		return d->mnemonic == ZYDIS_MNEMONIC_CALL && direct;
	case TRACER_ROOT_CALL_INDIRECT:
		return d->mnemonic == ZYDIS_MNEMONIC_CALL && !direct;
	case TRACER_ROOT_ENTRY:
		return d->mnemonic == ZYDIS_MNEMONIC_VMLAUNCH ||
		       d->mnemonic == ZYDIS_MNEMONIC_VMRESUME;
	default:
		return mnemonics[kind] && d->mnemonic == mnemonics[kind];
	}
}

/* Check an instruction of the model against the bytes of the code page. */
static void check_bytes(const struct tracer_root *root, const struct tracer_root_insn *insn)
{
	size_t at = (size_t)(insn->ip - TRACER_ROOT_CODE);
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction d;
	ZydisDecoder decoder;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ck_assert_uint_lt(at, sizeof(root->page));
	ck_assert(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, root->page + at,
						      sizeof(root->page) - at, &d, op)));
	ck_assert_uint_eq(insn->ip + d.length, insn->next);
	ck_assert(is_kind(&d, op, insn->kind));
	if (insn->kind == TRACER_ROOT_JMP || insn->kind == TRACER_ROOT_CALL ||
	    (insn->kind == TRACER_ROOT_COND && insn->taken))
		ck_assert_uint_eq(insn->to, insn->next + op[0].imm.value.u);
	seen[at] = true;
}

/* The return addresses of the calls that have not returned. */
struct calls {
	uint64_t to[TRACER_ROOT_CALLS];
	unsigned int n;
};

static void check_way(struct calls *calls, const struct tracer_root_insn *insn)
{
	switch (insn->kind) {
	case TRACER_ROOT_CALL:
	case TRACER_ROOT_CALL_INDIRECT:
		ck_assert_uint_lt(calls->n, TRACER_ROOT_CALLS);
		calls->to[calls->n++] = insn->next;
		break;
	case TRACER_ROOT_RET:
		ck_assert_uint_gt(calls->n, 0);
		ck_assert_uint_eq(insn->to, calls->to[--calls->n]);
		break;
	case TRACER_ROOT_COND:
		if (!insn->taken)
			ck_assert_uint_eq(insn->to, insn->next);
		break;
	case TRACER_ROOT_JMP:
	case TRACER_ROOT_JMP_INDIRECT:
	case TRACER_ROOT_HLT:
		break;
	default:
		ck_assert_uint_eq(insn->to, insn->next);
	}
}

static void walk(struct tracer_root *root, struct tracer_root_input in, enum tracer_root_kind last)
{
	struct calls calls = {.n = 0};
	struct tracer_root_insn insn;
	unsigned int steps = 0;

	do {
		tracer_root_step(root, &in, &insn);
		check_bytes(root, &insn);
		check_way(&calls, &insn);
		ck_assert_uint_eq(tracer_root_ip(root), insn.to);
		in.msrs -= insn.kind == TRACER_ROOT_WRMSR;
		ck_assert_uint_lt(++steps, STEPS_MAX);
	} while (insn.kind != TRACER_ROOT_ENTRY && insn.kind != TRACER_ROOT_HLT);
	ck_assert_int_eq(insn.kind, last);
	ck_assert_uint_eq(calls.n, 0);
	ck_assert_uint_eq(in.msrs, 0);
}

/* Continue after a VM exit. */
static void walk_exit(struct tracer_root *root, struct tracer_root_input in,
		      enum tracer_root_kind last)
{
	tracer_root_exit(root);
	walk(root, in, last);
}

#define IN (struct tracer_root_input)

/* Follow all paths: each exit with and without an injected event, writes of MSRs, and the end. */
START_TEST(code_is_what_the_table_says)
{
	static const uint32_t writes[] = {TRACER_EXIT_REASON_CR, TRACER_EXIT_REASON_WRMSR,
					  TRACER_EXIT_REASON_TIMER};
	struct tracer_root root;
	uint64_t ip, bytes, all = 0, i;
	uint32_t reason;

	tracer_root_init(&root);
	walk(&root, IN{.msrs = 3}, TRACER_ROOT_ENTRY);
	for (reason = 0; reason < TRACER_EXIT_REASONS; reason++) {
		walk_exit(&root, IN{.reason = reason, .count = 4}, TRACER_ROOT_ENTRY);
		walk_exit(&root, IN{.reason = reason, .flags = TRACER_ROOT_INJECT},
			  TRACER_ROOT_ENTRY);
	}
	for (i = 0; i < 3; i++) {
		walk_exit(&root, IN{.reason = writes[i], .msrs = 5}, TRACER_ROOT_ENTRY);
	}
	walk_exit(&root, IN{.flags = TRACER_ROOT_OVER, .msrs = 1}, TRACER_ROOT_HLT);

	/* Each function was executed. */
	for (i = 0; tracer_root_symbol((unsigned int)i, &ip, &bytes); i++) {
		ck_assert(seen[ip - TRACER_ROOT_CODE]);
		all += bytes;
	}
	ck_assert_uint_gt(i, 20);
	ck_assert_uint_eq(root.page[all], 0xcc);
	ck_assert_uint_ne(root.page[all - 1], 0xcc);
}
END_TEST

static const struct vpt_context guest_context = {
	.cr3 = 0x3000, .cs_l = true, .lma = true, .tsc = 1000};
static struct tracer_hv hv;
static struct tracer tracer;
static struct vpt_caps caps;

static void context(void *opaque, struct vpt_context *ctx)
{
	(void)opaque;
	*ctx = guest_context;
	if (hv.state & TRACER_HV_IN_ROOT)
		tracer_hv_context(ctx);
}

static void setup_model(const char *model)
{
	const struct tracer_config config = {
		.caps = &caps, .context = context, .flags = TRACER_CONFIG_VMX};

	caps = *vpt_caps_model(model);
	caps.l14_0_ecx |= 1u << 3;
	memset(&hv, 0, sizeof(hv));
	ck_assert_int_eq(tracer_init(&tracer, &config), 0);
}

static void setup(void)
{
	setup_model("icx");
}

static void teardown(void)
{
	tracer_free(&tracer);
}

static struct tracer_hv_config config_of(enum vpt_usage usage)
{
	struct tracer_hv_config config = {
		.tracer = &tracer,
		.usage = usage,
		.allowed = VPT_VMX_CONTROLS,
		.tsc = {.multiplier = VPT_TSC_ONE},
		.guest_caps = usage == VPT_USAGE_OWNED ? vpt_caps_model("icx") : NULL,
	};

	vpt_rtit_reset(&config.trace);
	config.trace.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(BRANCH_EN) |
			   VPT_CTL_MASK(FABRIC_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER);
	return config;
}

static enum vpt_status start(enum vpt_usage usage, uint32_t allowed)
{
	struct tracer_hv_config config = config_of(usage);
	const char *why;

	config.allowed = allowed;
	return tracer_hv_init(&hv, &config, &why);
}

static void leave(enum tracer_hv_reason reason)
{
	const struct tracer_hv_exit e = {.reason = reason, .ip = 0x1000};

	tracer_hv_exit(&hv, &e);
}

/* The sides that are traced, with the VMX controls and without them. */
static const struct {
	enum vpt_usage usage;
	uint32_t allowed;
	bool root, guest;
} sides[] = {
	{VPT_USAGE_OFF, VPT_VMX_CONTROLS, false, false},
	{VPT_USAGE_SYSTEM, VPT_VMX_CONTROLS, true, true},
	{VPT_USAGE_SYSTEM, 0, true, true},
	{VPT_USAGE_HOST, VPT_VMX_CONTROLS, true, false},
	{VPT_USAGE_HOST, 0, true, false},
	{VPT_USAGE_GUEST, VPT_VMX_CONTROLS, false, true},
	{VPT_USAGE_GUEST, 0, false, true},
};

#define SIDES (sizeof(sides) / sizeof(sides[0]))

START_TEST(each_usage_traces_its_sides)
{
	unsigned int i;

	ck_assert_int_eq(start(sides[_i].usage, sides[_i].allowed), VPT_OK);
	for (i = 0; i < 3; i++) {
		ck_assert(tracer_hv_enter(&hv, 0x1000, false));
		ck_assert_int_eq(tracer_on(&tracer), sides[_i].guest);
		leave(TRACER_EXIT_REASON_IO);
		ck_assert_int_eq(tracer_on(&tracer), sides[_i].root);
	}
	ck_assert_uint_eq(hv.exits[TRACER_EXIT_REASON_IO], 3);
	tracer_hv_over(&hv);
	ck_assert(!tracer_on(&tracer));
	ck_assert_ptr_null(hv.error);
}
END_TEST

START_TEST(usages_can_follow_each_other)
{
	const char *why;
	unsigned int from = (unsigned int)_i / SIDES, to = (unsigned int)_i % SIDES;

	ck_assert_int_eq(start(sides[from].usage, VPT_VMX_CONTROLS), VPT_OK);
	ck_assert(tracer_hv_enter(&hv, 0x1000, false));
	leave(TRACER_EXIT_REASON_TIMER);
	ck_assert_int_eq(tracer_hv_switch(&hv, sides[to].usage, &why), VPT_OK);
	ck_assert(tracer_hv_enter(&hv, 0x1000, true));
	ck_assert_int_eq(tracer_on(&tracer), sides[to].guest);
	leave(TRACER_EXIT_REASON_CPUID);
	ck_assert_int_eq(tracer_on(&tracer), sides[to].root);
}
END_TEST

START_TEST(a_guest_has_its_registers)
{
	const uint64_t base = 0x100000, mask = 0xfff7f;
	uint64_t value;

	ck_assert_int_eq(start(VPT_USAGE_OWNED, VPT_VMX_CONTROLS), VPT_OK);
	ck_assert(tracer_hv_enter(&hv, 0x1000, false));
	leave(TRACER_EXIT_REASON_WRMSR);
	ck_assert_int_eq(tracer_hv_wrmsr(&hv, VPT_MSR_OUTPUT_BASE, base), VPT_FAULT_NONE);
	ck_assert_int_eq(tracer_hv_wrmsr(&hv, VPT_MSR_OUTPUT_MASK_PTRS, mask), VPT_FAULT_NONE);
	/* The guest has no trace transport. */
	ck_assert_int_eq(tracer_hv_wrmsr(&hv, VPT_MSR_CTL, VPT_CTL_MASK(FABRIC_EN)), VPT_FAULT_GP);
	ck_assert(tracer_hv_enter(&hv, 0x1002, false));
	ck_assert_int_eq(tracer_hv_rdmsr(&hv, VPT_MSR_OUTPUT_BASE, &value), VPT_FAULT_NONE);
	ck_assert_uint_eq(value, base);
	ck_assert_int_eq(tracer_hv_rdmsr(&hv, VPT_MSR_CTL, &value), VPT_FAULT_NONE);
	ck_assert_uint_eq(value, 0);
}
END_TEST

START_TEST(other_guests_have_none)
{
	uint64_t value;

	ck_assert_int_eq(start(sides[_i].usage, VPT_VMX_CONTROLS), VPT_OK);
	ck_assert_int_eq(tracer_hv_rdmsr(&hv, VPT_MSR_CTL, &value), VPT_FAULT_GP);
	ck_assert_int_eq(tracer_hv_wrmsr(&hv, VPT_MSR_CTL, 0), VPT_FAULT_GP);
}
END_TEST

/* A VM entry with invalid controls fails before the guest runs. */
START_TEST(an_entry_that_cannot_be_fails)
{
	ck_assert_int_eq(start(VPT_USAGE_SYSTEM, VPT_VMX_CONTROLS), VPT_OK);
	ck_assert(tracer_hv_enter(&hv, 0x1000, false));
	leave(TRACER_EXIT_REASON_CPUID);
	hv.pt.vmx.controls = VPT_VMX_ENTRY_LOAD_CTL;
	ck_assert(!tracer_hv_enter(&hv, 0x1000, false));
	ck_assert_str_eq(hv.error, vpt_vmx_check_text(VPT_VMX_TRACING));
	ck_assert(hv.state & TRACER_HV_IN_ROOT);
	ck_assert(tracer_on(&tracer));
}
END_TEST

START_TEST(not_on_every_processor)
{
	ck_assert_int_eq(start(VPT_USAGE_OWNED, 0), VPT_E_CAPS);
	tracer_free(&tracer);
	setup_model("bdw");
	ck_assert_int_eq(start(VPT_USAGE_GUEST, VPT_VMX_CONTROLS), VPT_E_CAPS);
}
END_TEST

START_TEST(spaces_by_cr3_vmcs_and_side)
{
	static const struct vpt_pt_vmx root = {.on = true, .vmcs = 0x1000};
	static const struct vpt_pt_vmx guest = {.on = true, .non_root = true, .vmcs = 0x1000};
	static const struct vpt_pt_vmx other = {.on = true, .non_root = true, .vmcs = 0x2000};
	struct tracer_space_table table = {.n = 0};
	struct vpt_context ctx = {.cr3 = 0x3018};
	struct trace_space a, b;

	ck_assert_int_eq(tracer_spaces_note(&table, &root, &ctx, &a), 1);
	ck_assert_str_eq(a.name, TRACER_ROOT_NAME);
	ck_assert_uint_eq(a.cr3, 0x3000);
	ck_assert_uint_eq(a.vmcs, TRACE_SPACE_ANY_VMCS);
	ck_assert_int_eq(tracer_spaces_note(&table, &guest, &ctx, &b), 1);
	ck_assert_uint_ne(a.id, b.id);
	ck_assert_uint_eq(b.id & ~TRACE_SPACE_ID_MASK, 0);
	ck_assert_uint_eq(b.flags, TRACE_SPACE_NON_ROOT);
	ck_assert_int_eq(tracer_spaces_note(&table, &other, &ctx, &b), 1);
	ck_assert_int_eq(tracer_spaces_note(&table, &root, &ctx, &b), 0);
	ck_assert_uint_eq(a.id, b.id);
	/* With PAE paging bits 11:5 count. */
	ctx.cr3 = 0x3020;
	ck_assert_int_eq(tracer_spaces_note(&table, &root, &ctx, &b), 0);
	ctx.pae = true;
	ck_assert_int_eq(tracer_spaces_note(&table, &root, &ctx, &b), 1);
	ck_assert_uint_eq(b.cr3, 0x3020);
	tracer_spaces_free(&table);
}
END_TEST

TEST_SUITE("hv", setup, teardown)
{
	TEST_LOOP(tcase, SIDES, each_usage_traces_its_sides, other_guests_have_none);
	tcase_add_loop_test(tcase, usages_can_follow_each_other, 0, SIDES * SIDES);
	TEST_ADD(tcase, code_is_what_the_table_says, spaces_by_cr3_vmcs_and_side,
		 a_guest_has_its_registers, an_entry_that_cannot_be_fails, not_on_every_processor);
}
