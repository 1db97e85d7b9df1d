// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/walk.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "trace/writer.h"

enum { CR3_A = 0x1000, CR3_B = 0x2000, STACK_MAX = 512 };

enum insn_kind {
	I_NONE,
	I_FILL,
	I_JCC,
	I_JMP,
	I_CALL,
	I_CALL_NEXT,
	I_JMP_IND,
	I_CALL_IND,
	I_RET,
	I_SYSCALL,
	I_SYSRET,
	I_IRET,
	I_INT,
	I_MOV_CR3,
	I_WRMSR,
	I_VMENTER, /* VMLAUNCH, VMRESUME */
	I_VMPTRLD,
	I_VMCALL,
	I_CPUID,
};

struct insn {
	uint8_t kind;
	uint8_t size;
	uint32_t target; /* offset in the code */
};

struct walker {
	const struct walk_config *config;
	struct walk_result *out;
	struct vpt_pt pt;
	struct vpt_context ctx;
	uint64_t random;
	struct insn insns[WALK_CODE_SIZE]; /* by offset */
	uint32_t starts[WALK_CODE_SIZE];   /* offsets that hold an instruction */
	uint32_t start_count;
	uint32_t ip; /* offset */
	uint64_t stack[STACK_MAX];
	unsigned int depth;
	size_t capacity;
	/* VMX operation */
	bool guest;
	struct vpt_context other; /* of the side that does not run */
	uint64_t guest_ctl;
	/* the account */
	bool tracing, arrived, context, filter, stopped;
};

static uint32_t rnd(struct walker *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)((w->random >> 16) % below);
}

/* Code: fillers, then something that ends a block, again and again. */

static void emit(struct walker *w, uint32_t *at, enum insn_kind kind, const char *bytes,
		 unsigned int size)
{
	w->insns[*at].kind = (uint8_t)kind;
	w->insns[*at].size = (uint8_t)size;
	memcpy(w->out->code + *at, bytes, size);
	w->starts[w->start_count++] = *at;
	*at += size;
}

static void emit_filler(struct walker *w, uint32_t *at)
{
	switch (rnd(w, 4)) {
	case 0:
		emit(w, at, I_FILL, "\x90", 1);
		break;
	case 1:
		emit(w, at, I_FILL, "\x48\x89\xc0", 3);
		break;
	case 2:
		emit(w, at, I_FILL, "\x0f\x1f\x40\x00", 4);
		break;
	default:
		emit(w, at, I_FILL, "\xf3\x48\xa5", 3);
		break;
	}
}

/*
 * A RET after each. Where the next packet after a PIP is a TIP.PGD without an IP, it
 * is not in the trace whether the MOV CR3 sent it or a branch after that did: see
 * vmm/decode/filter.h.
 */
static void emit_mov_cr3(struct walker *w, uint32_t *at)
{
	emit(w, at, I_MOV_CR3, "\x0f\x22\xd8", 3);
	emit(w, at, I_RET, "\xc3", 1);
}

static void emit_vmx(struct walker *w, uint32_t *at)
{
	switch (rnd(w, 6)) {
	case 0:
		emit(w, at, I_VMENTER, "\x0f\x01\xc2", 3);
		break;
	case 1:
		emit(w, at, I_VMENTER, "\x0f\x01\xc3", 3);
		break;
	case 2:
		emit(w, at, I_VMPTRLD, "\x0f\xc7\x30", 3);
		break;
	case 3:
		emit(w, at, I_VMCALL, "\x0f\x01\xc1", 3);
		break;
	default:
		emit(w, at, I_CPUID, "\x0f\xa2", 2);
		break;
	}
}

static void emit_end(struct walker *w, uint32_t *at)
{
	if (w->config->vmx && !rnd(w, 5)) {
		emit_vmx(w, at);
		return;
	}
	switch (rnd(w, 26)) {
	case 0 ... 7:
		emit(w, at, I_JCC, "\x0f\x84\0\0\0\0", 6);
		break;
	case 8 ... 9:
		emit(w, at, I_JCC, "\xe2\0", 2);
		break;
	case 10:
		emit(w, at, I_JMP, "\xe9\0\0\0\0", 5);
		break;
	case 11 ... 13:
		emit(w, at, I_CALL, "\xe8\0\0\0\0", 5);
		break;
	case 14:
		emit(w, at, I_CALL_NEXT, "\xe8\0\0\0\0", 5);
		break;
	case 15:
		emit(w, at, I_JMP_IND, "\xff\xe0", 2);
		break;
	case 16:
		emit(w, at, I_CALL_IND, "\xff\xd0", 2);
		break;
	case 17 ... 20:
		emit(w, at, I_RET, "\xc3", 1);
		break;
	case 21:
		emit(w, at, I_SYSCALL, "\x0f\x05", 2);
		break;
	case 22:
		emit(w, at, I_SYSRET, "\x48\x0f\x07", 3);
		break;
	case 23:
		emit(w, at, I_IRET, "\x48\xcf", 2);
		break;
	case 24:
		if (rnd(w, 2))
			emit(w, at, I_INT, "\xcd\x80", 2);
		else
			emit_mov_cr3(w, at);
		break;
	default:
		emit(w, at, I_WRMSR, "\x0f\x30", 2);
		break;
	}
}

static void emit_block(struct walker *w, uint32_t *at)
{
	unsigned int fillers = rnd(w, 6);

	while (fillers--)
		emit_filler(w, at);
	emit_end(w, at);
}

static uint32_t random_start(struct walker *w)
{
	return w->starts[rnd(w, w->start_count)];
}

static uint32_t near_start(struct walker *w, uint32_t from)
{
	uint32_t to;

	do {
		to = random_start(w);
	} while ((int32_t)(to - from) > 120 || (int32_t)(to - from) < -120);
	return to;
}

/*
 * Direct JMPs and CALLs go forward only. A loop of nothing else leaves no packets,
 * so when an interrupt ends it no decoder can tell how often it went round.
 */
static uint32_t forward_start(struct walker *w, uint32_t from)
{
	uint32_t to;

	do {
		to = random_start(w);
	} while (to < from);
	return to;
}

static void link_code(struct walker *w)
{
	uint32_t i;

	for (i = 0; i < w->start_count; i++) {
		uint32_t at = w->starts[i];
		struct insn *insn = &w->insns[at];
		int32_t displacement;

		if (insn->kind == I_CALL_NEXT) {
			insn->target = at + insn->size;
			continue;
		}
		if (insn->kind != I_JCC && insn->kind != I_JMP && insn->kind != I_CALL)
			continue;
		if (insn->kind != I_JCC)
			insn->target = forward_start(w, at + insn->size);
		else
			insn->target = insn->size == 2 ? near_start(w, at + 2) : random_start(w);
		displacement = (int32_t)(insn->target - (at + insn->size));
		memcpy(w->out->code + at + insn->size - (insn->size == 2 ? 1 : 4), &displacement,
		       insn->size == 2 ? 1 : 4);
	}
}

static void make_code(struct walker *w)
{
	uint32_t at = 0;

	while (at < WALK_CODE_SIZE - 64)
		emit_block(w, &at);
	emit(w, &at, I_RET, "\xc3", 1);
	link_code(w);
}

/* What vpt_pt asks. */

static bool mem_read(void *opaque, uint64_t gpa, void *dst, size_t len)
{
	(void)opaque, (void)gpa, (void)dst, (void)len;
	return false;
}

static bool mem_write(void *opaque, uint64_t gpa, const void *src, size_t len)
{
	(void)opaque, (void)gpa, (void)src, (void)len;
	return false;
}

static void context(void *opaque, struct vpt_context *ctx)
{
	*ctx = ((struct walker *)opaque)->ctx;
}

static void stream(void *opaque, const void *bytes, size_t len)
{
	struct walker *w = opaque;

	ck_assert_uint_le(len, WALK_TRACE_SIZE - w->out->trace_len);
	memcpy(w->out->trace + w->out->trace_len, bytes, len);
	w->out->trace_len += len;
}

static const struct vpt_pt_ops ops = {
	.mem = {.read = mem_read, .write = mem_write},
	.context = context,
};

/* The account: the manual's rules once more, in the order things happen. */

static bool in_range(const struct walker *w, unsigned int cfg, uint64_t ip)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++)
		if ((w->config->ctl >> (32 + 4 * n) & 15) == cfg && ip >= w->config->addr[2 * n] &&
		    ip <= w->config->addr[2 * n + 1])
			return true;
	return false;
}

static bool filters(const struct walker *w)
{
	unsigned int n;

	for (n = 0; n < VPT_MAX_RANGES; n++)
		if ((w->config->ctl >> (32 + 4 * n) & 15) == 1)
			return true;
	return false;
}

static void look(struct walker *w, bool cr3_written)
{
	uint64_t ip = WALK_CODE_BASE + w->ip, ctl = w->config->ctl;
	bool context = !!(ctl & (w->ctx.cpl ? 8 : 4)) &&
		       (!(ctl & 0x80) || w->config->cr3_match >> 12 == w->ctx.cr3 >> 12);

	if (!w->tracing || w->stopped)
		return;
	if (context && (w->arrived || cr3_written) && in_range(w, 2, ip)) {
		w->stopped = true;
		return;
	}
	if (context && (w->arrived || !w->context))
		w->filter = !filters(w) || in_range(w, 1, ip);
	w->context = context;
}

static void account(struct walker *w, enum walk_kind kind)
{
	struct walk_result *out = w->out;

	if (kind != WALK_LOST && !(w->tracing && !w->stopped && w->context && w->filter))
		return;
	if (out->count == w->capacity) {
		w->capacity = w->capacity ? 2 * w->capacity : 65536;
		out->items = realloc(out->items, w->capacity * sizeof(*out->items));
		ck_assert_ptr_nonnull(out->items);
	}
	out->items[out->count].kind = kind;
	out->items[out->count++].ip = WALK_CODE_BASE + w->ip;
}

/* Execution. */

static void report(struct walker *w, enum vpt_event_kind kind, unsigned int flags, uint32_t to)
{
	struct vpt_event event = {
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags,
		.from = WALK_CODE_BASE + w->ip,
		.to = WALK_CODE_BASE + to,
		.next = WALK_CODE_BASE + w->ip + w->insns[w->ip].size,
	};

	if (kind == VPT_EV_COND)
		vpt_pt_cond(&w->pt, event.from, event.to, flags & VPT_EVF_TAKEN);
	else
		vpt_pt_event(&w->pt, &event);
}

static void go(struct walker *w, uint32_t to, bool arrived)
{
	w->ip = to;
	w->arrived = arrived;
	look(w, false);
}

static void transfer(struct walker *w, enum vpt_event_kind kind, uint32_t to)
{
	w->ctx.intr_flag = rnd(w, 2);
	report(w, kind, VPT_EVF_TAKEN, to);
	go(w, to, true);
}

/* An interrupt before the instruction, or a fault of it. */
static void event(struct walker *w, enum vpt_event_kind kind)
{
	account(w, WALK_EVENT);
	w->ctx.cpl = 0;
	transfer(w, kind, random_start(w));
}

static void push(struct walker *w)
{
	if (w->depth == STACK_MAX) {
		memmove(w->stack, w->stack + 1, sizeof(w->stack) - sizeof(w->stack[0]));
		w->depth--;
	}
	w->stack[w->depth++] = w->ip + w->insns[w->ip].size;
}

static void do_ret(struct walker *w)
{
	uint32_t to = random_start(w);

	if (w->depth && rnd(w, 12)) {
		to = (uint32_t)w->stack[--w->depth];
		if (!rnd(w, 20) && w->depth)
			to = (uint32_t)w->stack[--w->depth];
	}
	transfer(w, VPT_EV_RET, to);
}

static void set_trace(struct walker *w, bool on)
{
	uint64_t ctl = w->config->ctl | VPT_CTL_MASK(FABRIC_EN) | (on ? VPT_CTL_MASK(TRACE_EN) : 0);
	uint64_t ip = WALK_CODE_BASE + w->ip;
	uint32_t next = w->ip + w->insns[w->ip].size;

	ck_assert(vpt_pt_wrmsr(&w->pt, VPT_MSR_CTL, ctl, VPT_ACCESS_GUEST, ip,
			       WALK_CODE_BASE + next) == VPT_FAULT_NONE);
	w->tracing = on;
	w->context = false;
	w->filter = !filters(w);
	go(w, next, true);
}

/*
 * VMX operation. A side that is left takes its context with it; what it comes back to
 * is decided anew.
 */

static uint64_t traced_ctl(const struct walker *w)
{
	return w->config->ctl | VPT_CTL_MASK(FABRIC_EN) | VPT_CTL_MASK(TRACE_EN);
}

static struct vpt_vmx_transition transition(struct walker *w)
{
	struct vpt_vmx_transition t = {
		.controls = w->config->conceal,
		.vmcs = 0x5000,
		.ip = WALK_CODE_BASE + w->ip,
		.next = WALK_CODE_BASE + w->ip + w->insns[w->ip].size,
		.guest_ctl = w->guest_ctl,
	};

	if (w->config->vmx == WALK_GUEST)
		t.controls |= VPT_VMX_ENTRY_LOAD_CTL | VPT_VMX_EXIT_CLEAR_CTL;
	return t;
}

static void area(struct walker *w, uint64_t ctl)
{
	ck_assert(vpt_pt_wrmsr(&w->pt, VPT_MSR_CTL, ctl, VPT_ACCESS_GUEST, 0, 0) == VPT_FAULT_NONE);
}

static void retrace(struct walker *w, bool on)
{
	if (w->config->vmx == WALK_SYSTEM || w->tracing == on)
		return;
	w->tracing = on;
	w->context = false;
	w->filter = !filters(w);
}

static void swap_sides(struct walker *w)
{
	struct vpt_context ctx = w->ctx;

	w->ctx = w->other;
	w->other = ctx;
}

static void arrive_in_host(struct walker *w)
{
	uint32_t to = random_start(w);

	vpt_pt_vm_exit_host(&w->pt);
	if (w->config->vmx == WALK_GUEST_AREAS)
		area(w, 0);
	w->ctx.cpl = 0;
	vpt_pt_vm_exited(&w->pt, WALK_CODE_BASE + to);
	retrace(w, false);
	go(w, to, true);
}

static void vm_enter(struct walker *w)
{
	struct vpt_vmx_transition entry = transition(w);
	uint32_t next = w->ip + w->insns[w->ip].size, to = random_start(w);

	account(w, WALK_INSN);
	if (!rnd(w, 8)) {
		vpt_pt_vm_entry_failed(&w->pt, WALK_CODE_BASE + next);
		go(w, next, false);
		return;
	}
	w->out->entries++;
	vpt_pt_vm_entry(&w->pt, &entry);
	if (w->config->vmx == WALK_GUEST_AREAS)
		area(w, w->guest_ctl);
	if (!rnd(w, 8)) {
		entry.flags = VPT_VMXF_ENTRY_FAIL;
		vpt_pt_vm_exit(&w->pt, &entry);
		arrive_in_host(w);
		return;
	}
	swap_sides(w);
	w->guest = true;
	vpt_pt_vm_entered(&w->pt, WALK_CODE_BASE + to);
	retrace(w, w->guest_ctl & VPT_CTL_MASK(TRACE_EN));
	go(w, to, true);
}

static void vm_exit(struct walker *w)
{
	struct vpt_vmx_transition exit = transition(w);

	account(w, WALK_EVENT);
	w->out->exits++;
	w->guest_ctl = vpt_pt_vm_exit(&w->pt, &exit);
	ck_assert_uint_eq(w->guest_ctl & VPT_CTL_MASK(TRACE_EN), w->tracing);
	swap_sides(w);
	w->guest = false;
	arrive_in_host(w);
}

static void do_vmx(struct walker *w, enum insn_kind kind)
{
	if (w->guest) {
		vm_exit(w);
	} else if (kind == I_CPUID) {
		account(w, WALK_INSN);
		go(w, w->ip + w->insns[w->ip].size, false);
	} else if (w->ctx.cpl || kind == I_VMCALL) {
		event(w, VPT_EV_ASYNC);
	} else if (kind == I_VMENTER) {
		vm_enter(w);
	} else {
		account(w, WALK_INSN);
		vpt_pt_vmptrld(&w->pt, 0x5000);
		go(w, w->ip + w->insns[w->ip].size, false);
	}
}

static void do_wrmsr(struct walker *w)
{
	if (w->ctx.cpl) {
		event(w, VPT_EV_ASYNC);
	} else if (w->config->toggle && (w->guest || w->config->vmx <= WALK_SYSTEM) && rnd(w, 2)) {
		/* The WRMSR that ends a trace is not in it. */
		if (!w->tracing)
			account(w, WALK_INSN);
		set_trace(w, !w->tracing);
	} else {
		account(w, WALK_INSN);
		go(w, w->ip + w->insns[w->ip].size, false);
	}
}

static void do_mov_cr3(struct walker *w)
{
	uint32_t next = w->ip + w->insns[w->ip].size;

	if (w->ctx.cpl) {
		event(w, VPT_EV_ASYNC);
		return;
	}
	account(w, WALK_INSN);
	w->ctx.cr3 = rnd(w, 2) ? CR3_A : CR3_B;
	report(w, VPT_EV_CR3, 0, next);
	w->ip = next;
	w->arrived = false;
	look(w, true);
}

static void do_far(struct walker *w, enum insn_kind kind)
{
	if (kind == I_SYSRET && w->ctx.cpl) {
		event(w, VPT_EV_ASYNC);
		return;
	}
	account(w, WALK_INSN);
	if (kind == I_SYSCALL)
		w->ctx.cpl = 0;
	else if (kind == I_SYSRET)
		w->ctx.cpl = 3;
	else if (!w->ctx.cpl)
		w->ctx.cpl = rnd(w, 2) ? 3 : 0;
	transfer(w, VPT_EV_FAR, random_start(w));
}

static void do_near(struct walker *w, const struct insn *insn)
{
	uint32_t next = w->ip + insn->size;

	account(w, WALK_INSN);
	switch (insn->kind) {
	case I_JCC:
		if (rnd(w, 2)) {
			transfer(w, VPT_EV_COND, insn->target);
		} else {
			report(w, VPT_EV_COND, 0, next);
			go(w, next, false);
		}
		break;
	case I_JMP:
		transfer(w, VPT_EV_JMP, insn->target);
		break;
	case I_CALL:
	case I_CALL_NEXT:
		push(w);
		transfer(w, VPT_EV_CALL, insn->target);
		break;
	case I_CALL_IND:
		push(w);
		transfer(w, VPT_EV_CALL_INDIRECT, random_start(w));
		break;
	case I_JMP_IND:
		transfer(w, VPT_EV_JMP_INDIRECT, random_start(w));
		break;
	case I_RET:
		do_ret(w);
		break;
	default:
		go(w, next, false);
		break;
	}
}

static void execute(struct walker *w)
{
	const struct insn *insn = &w->insns[w->ip];

	if (!rnd(w, 150)) {
		if (w->guest && rnd(w, 2))
			vm_exit(w);
		else
			event(w, VPT_EV_ASYNC);
		return;
	}
	switch (insn->kind) {
	case I_SYSCALL:
	case I_SYSRET:
	case I_IRET:
		do_far(w, (enum insn_kind)insn->kind);
		break;
	case I_INT:
		event(w, VPT_EV_SOFT_INT);
		break;
	case I_MOV_CR3:
		do_mov_cr3(w);
		break;
	case I_WRMSR:
		do_wrmsr(w);
		break;
	case I_VMENTER:
	case I_VMPTRLD:
	case I_VMCALL:
	case I_CPUID:
		do_vmx(w, (enum insn_kind)insn->kind);
		break;
	default:
		do_near(w, insn);
		break;
	}
}

/* Packets are lost; the processor ends up somewhere in some state. */
static void lose(struct walker *w)
{
	vpt_pt_flush(&w->pt);
	if (!w->tracing || w->stopped)
		return;
	account(w, WALK_LOST);
	w->ctx.cpl = rnd(w, 2) ? 3 : 0;
	w->ip = random_start(w);
	report(w, VPT_EV_OVERFLOW, 0, w->ip);
	go(w, w->ip, true);
}

struct walk_result *walk_run(const struct walk_config *config)
{
	struct walker *w = calloc(1, sizeof(*w));
	struct vpt_caps caps = *vpt_caps_model(config->model);
	struct walk_result *out = calloc(1, sizeof(*out));
	uint8_t stage[256];
	unsigned int i;

	ck_assert(w && out);
	out->trace = malloc(WALK_TRACE_SIZE);
	ck_assert_ptr_nonnull(out->trace);
	/* Any model can be made to send its trace to the transport. */
	caps.l14_0_ecx |= 1u << 3;
	w->config = config;
	w->out = out;
	w->random = config->seed * 0x9e3779b97f4a7c15ull + 1;
	make_code(w);

	w->ctx = (struct vpt_context){.cr3 = CR3_A, .cs_l = true, .lma = true, .cbr = 0x22};
	vpt_pt_init(&w->pt, &caps, &ops, w);
	vpt_output_set_stream(&w->pt.out, stage, sizeof(stage), stream);
	w->pt.rtit.cr3_match = config->cr3_match;
	memcpy(w->pt.rtit.addr, config->addr, sizeof(w->pt.rtit.addr));
	w->ip = random_start(w);
	w->other = w->ctx;
	w->other.cr3 = CR3_B;
	w->guest_ctl = traced_ctl(w);
	if (config->vmx)
		vpt_pt_vmxon(&w->pt, WALK_CODE_BASE + w->ip);
	set_trace(w, config->vmx <= WALK_SYSTEM);
	for (i = 0; i < config->insns && !w->stopped; i++) {
		if (config->overflow && !rnd(w, 400))
			lose(w);
		execute(w);
	}
	out->stopped = w->stopped;
	if (w->tracing)
		set_trace(w, false);
	free(w);
	return out;
}

/*
 * Both address spaces hold the same code, so that any will do where no PIP tells
 * them apart.
 */
static void save_code(struct vpt_writer *writer, const struct walk_result *result)
{
	static const uint64_t spaces[] = {CR3_A, CR3_B};
	const struct vpt_cr3_switch first = {.cr3 = CR3_A};
	uint32_t at;
	size_t i;

	ck_assert_int_eq(vpt_writer_cr3(writer, 0, &first), 0);
	for (i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		for (at = 0; at < WALK_CODE_SIZE; at += VPT_CODE_BYTES) {
			struct vpt_code_page page = {
				.cr3 = spaces[i],
				.vaddr = WALK_CODE_BASE + at,
				.gpa = WALK_CODE_BASE + at,
			};

			ck_assert_int_eq(vpt_writer_code(writer, 0, &page, result->code + at), 0);
		}
	}
}

void walk_save(const struct walk_config *config, const struct walk_result *result, const char *path)
{
	struct vpt_file_info info = {
		.caps = *vpt_caps_model(config->model),
		.owner = VPT_OWNER_HOST,
		.vcpus = 1,
	};
	struct vpt_session session = {
		.edge = VPT_SESSION_START,
		.ctl = config->ctl | VPT_CTL_MASK(TRACE_EN),
		.cr3_match = config->cr3_match,
	};
	struct vpt_writer *writer;

	memcpy(session.addr, config->addr, sizeof(session.addr));
	ck_assert_int_eq(vpt_writer_open(path, &info, &writer), 0);
	save_code(writer, result);
	ck_assert_int_eq(vpt_writer_session(writer, 0, &session), 0);
	ck_assert_int_eq(vpt_writer_trace(writer, 0, UINT64_MAX, result->trace, result->trace_len),
			 0);
	session.edge = VPT_SESSION_END;
	session.end = VPT_END_CLOSED;
	ck_assert_int_eq(vpt_writer_session(writer, 0, &session), 0);
	ck_assert_int_eq(vpt_writer_close(writer, 0), 0);
}

void walk_free(struct walk_result *result)
{
	free(result->trace);
	free(result->items);
	free(result);
}
