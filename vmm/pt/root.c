// SPDX-License-Identifier: GPL-2.0-or-later
/* The root side's code as a table. Its bytes and its paths come from the same rows. */
#include "pt/root.h"

#include <string.h>

#define TABLE	0x800u /* the table of handlers, by exit reason */
#define REASONS 64u
#define POINTER 0xa00u /* the pointer to the handler of CPUID */

/* The labels of rows that others lead to. Some have names. */
enum label {
	NONE,
	START,
	EXIT,
	NO_EVENT,
	STOP,
	HANG,
	HANDLE,
	LOAD_GUEST,
	WRITE_MSRS,
	NEXT_MSR,
	MSRS_DONE,
	SET_UP,
	NEXT_FIELD,
	INJECT,
	SKIP,
	DO_NMI,
	DO_INTERRUPT,
	NEXT_VECTOR,
	DO_WINDOW,
	DO_CPUID,
	CPUID_FN,
	DO_HLT,
	DO_CR,
	DO_IO,
	IO,
	NEXT_BYTE,
	DO_RDMSR,
	DO_WRMSR,
	FIND_MSR,
	DO_MEMORY,
	DO_TIMER,
	DO_OTHER,
	LABELS
};

static const char *const names[LABELS] = {
	[START] = "vmm_start",
	[EXIT] = "vmm_exit",
	[STOP] = "vmm_stop",
	[HANDLE] = "vmm_handle",
	[LOAD_GUEST] = "vmm_load_guest",
	[WRITE_MSRS] = "vmm_write_msrs",
	[SET_UP] = "vmm_set_up_vmcs",
	[INJECT] = "vmm_inject",
	[SKIP] = "vmm_skip_insn",
	[DO_NMI] = "vmm_do_nmi",
	[DO_INTERRUPT] = "vmm_do_interrupt",
	[DO_WINDOW] = "vmm_do_window",
	[DO_CPUID] = "vmm_do_cpuid",
	[CPUID_FN] = "vmm_cpuid",
	[DO_HLT] = "vmm_do_hlt",
	[DO_CR] = "vmm_do_cr",
	[DO_IO] = "vmm_do_io",
	[IO] = "vmm_io",
	[DO_RDMSR] = "vmm_do_rdmsr",
	[DO_WRMSR] = "vmm_do_wrmsr",
	[FIND_MSR] = "vmm_find_msr",
	[DO_MEMORY] = "vmm_do_memory",
	[DO_TIMER] = "vmm_do_timer",
	[DO_OTHER] = "vmm_do_other",
};

/* The condition of a taken branch. */
enum when { NEVER, IF_OVER, UNLESS_EVENT, IF_NO_MSRS, IF_MORE_MSRS, IF_MORE };

struct row {
	uint8_t label; /* enum label */
	uint8_t kind;  /* enum tracer_root_kind */
	uint8_t to;    /* the target of a direct branch: enum label */
	uint8_t when;  /* COND: enum when */
	uint8_t turns; /* the turns of the loop that begins after the row; ~0: input.count */
	uint8_t len;
	uint8_t bytes[8]; /* the bytes; those of a direct branch lack the last four */
};

#define BYTES(...)                        \
	sizeof((uint8_t[]){__VA_ARGS__}), \
	{                                 \
		__VA_ARGS__               \
	}

#define I(...)                                                              \
	{                                                                   \
		NONE, TRACER_ROOT_PLAIN, NONE, NEVER, 0, BYTES(__VA_ARGS__) \
	}
#define AT(label, ...)                                                       \
	{                                                                    \
		label, TRACER_ROOT_PLAIN, NONE, NEVER, 0, BYTES(__VA_ARGS__) \
	}
#define TURN(label, n, ...)                                                  \
	{                                                                    \
		label, TRACER_ROOT_PLAIN, NONE, NEVER, n, BYTES(__VA_ARGS__) \
	}
#define KIND(label, kind, ...)                                                \
	{                                                                     \
		label, TRACER_ROOT_##kind, NONE, NEVER, 0, BYTES(__VA_ARGS__) \
	}
#define CALL(label, to)                                                        \
	{                                                                      \
		label, TRACER_ROOT_CALL, to, NEVER, 0, BYTES(0xe8, 0, 0, 0, 0) \
	}
#define JMP(label, to)                                                        \
	{                                                                     \
		label, TRACER_ROOT_JMP, to, NEVER, 0, BYTES(0xe9, 0, 0, 0, 0) \
	}
#define JCC(when, cc, to)                                                        \
	{                                                                        \
		NONE, TRACER_ROOT_COND, to, when, 0, BYTES(0x0f, cc, 0, 0, 0, 0) \
	}
#define RET                                                        \
	{                                                          \
		NONE, TRACER_ROOT_RET, NONE, NEVER, 0, BYTES(0xc3) \
	}

#define JZ  0x84
#define JNZ 0x85
#define JAE 0x83
#define ALL 0xff

/* The low half of an address in the page. Sign extension gives the whole address. */
#define LOW(offset) (uint8_t)((offset)&0xff), (uint8_t)((offset) >> 8), 0x00, 0x8f

/* clang-format off */
static const struct row row[] = {
	AT(START, 0x48, 0xc7, 0xc7, LOW(POINTER)),		/* mov $data, %rdi */
	CALL(NONE, WRITE_MSRS),
	KIND(NONE, VMXON, 0xf3, 0x0f, 0xc7, 0x77, 0x08),	/* vmxon 8(%rdi) */
	KIND(NONE, VMCLEAR, 0x66, 0x0f, 0xc7, 0x77, 0x10),	/* vmclear 16(%rdi) */
	KIND(NONE, VMPTRLD, 0x0f, 0xc7, 0x77, 0x10),		/* vmptrld 16(%rdi) */
	CALL(NONE, SET_UP),
	CALL(NONE, LOAD_GUEST),
	KIND(NONE, ENTRY, 0x0f, 0x01, 0xc2),			/* vmlaunch */
	JMP(NONE, HANG),

	AT(EXIT, 0x48, 0x89, 0x47, 0x20),			/* mov %rax, 32(%rdi) */
	I(0x48, 0x89, 0x57, 0x28),				/* mov %rdx, 40(%rdi) */
	I(0xba, 0x02, 0x44, 0x00, 0x00),			/* mov $0x4402, %edx */
	I(0x0f, 0x78, 0xd0),					/* vmread %rdx, %rax */
	I(0x83, 0xf8, REASONS),					/* cmp $64, %eax */
	JCC(NEVER, JAE, HANG),
	CALL(NONE, HANDLE),
	I(0xa8, 0x02),						/* test $2, %al */
	JCC(IF_OVER, JNZ, STOP),
	I(0xa8, 0x01),						/* test $1, %al */
	JCC(UNLESS_EVENT, JZ, NO_EVENT),
	CALL(NONE, INJECT),
	CALL(NO_EVENT, LOAD_GUEST),
	KIND(NONE, ENTRY, 0x0f, 0x01, 0xc3),			/* vmresume */
	KIND(HANG, HLT, 0xf4),					/* hlt */
	JMP(NONE, HANG),

	KIND(STOP, VMCLEAR, 0x66, 0x0f, 0xc7, 0x77, 0x10),	/* vmclear 16(%rdi) */
	KIND(NONE, VMXOFF, 0x0f, 0x01, 0xc4),			/* vmxoff */
	CALL(NONE, WRITE_MSRS),
	JMP(NONE, HANG),

	/* jmp *table(,%rax,8) */
	KIND(HANDLE, JMP_INDIRECT, 0xff, 0x24, 0xc5, LOW(TABLE)),

	AT(LOAD_GUEST, 0x48, 0x8b, 0x47, 0x20),			/* mov 32(%rdi), %rax */
	I(0x48, 0x8b, 0x57, 0x28),				/* mov 40(%rdi), %rdx */
	RET,

	AT(WRITE_MSRS, 0x85, 0xdb),				/* test %ebx, %ebx */
	JCC(IF_NO_MSRS, JZ, MSRS_DONE),
	AT(NEXT_MSR, 0x8b, 0x0e),				/* mov (%rsi), %ecx */
	I(0x8b, 0x46, 0x08),					/* mov 8(%rsi), %eax */
	I(0x8b, 0x56, 0x0c),					/* mov 12(%rsi), %edx */
	KIND(NONE, WRMSR, 0x0f, 0x30),				/* wrmsr */
	I(0x48, 0x83, 0xc6, 0x10),				/* add $16, %rsi */
	I(0xff, 0xcb),						/* dec %ebx */
	JCC(IF_MORE_MSRS, JNZ, NEXT_MSR),
	KIND(MSRS_DONE, RET, 0xc3),

	TURN(SET_UP, 6, 0xb9, 0x06, 0x00, 0x00, 0x00),			/* mov $6, %ecx */
	AT(NEXT_FIELD, 0x8b, 0x16),				/* mov (%rsi), %edx */
	I(0x48, 0x8b, 0x46, 0x08),				/* mov 8(%rsi), %rax */
	I(0x0f, 0x79, 0xd0),					/* vmwrite %rax, %rdx */
	I(0x48, 0x83, 0xc6, 0x10),				/* add $16, %rsi */
	I(0xff, 0xc9),						/* dec %ecx */
	JCC(IF_MORE, JNZ, NEXT_FIELD),
	RET,

	AT(INJECT, 0xba, 0x16, 0x40, 0x00, 0x00),		/* mov $0x4016, %edx */
	I(0x0f, 0x79, 0xd0),					/* vmwrite %rax, %rdx */
	RET,

	AT(SKIP, 0xba, 0x0c, 0x44, 0x00, 0x00),			/* mov $0x440c, %edx */
	I(0x0f, 0x78, 0xd1),					/* vmread %rdx, %rcx */
	I(0xba, 0x1e, 0x68, 0x00, 0x00),			/* mov $0x681e, %edx */
	I(0x0f, 0x78, 0xd0),					/* vmread %rdx, %rax */
	I(0x48, 0x01, 0xc8),					/* add %rcx, %rax */
	I(0x0f, 0x79, 0xd0),					/* vmwrite %rax, %rdx */
	RET,

	AT(DO_NMI, 0x48, 0xff, 0x47, 0x30),			/* incq 48(%rdi) */
	RET,

	AT(DO_INTERRUPT, 0x0f, 0xb6, 0xc9),			/* movzbl %cl, %ecx */
	TURN(NONE, 2, 0xb9, 0x02, 0x00, 0x00, 0x00),			/* mov $2, %ecx */
	AT(NEXT_VECTOR, 0x48, 0xff, 0x44, 0xcf, 0x38),		/* incq 56(%rdi,%rcx,8) */
	I(0xff, 0xc9),						/* dec %ecx */
	JCC(IF_MORE, JNZ, NEXT_VECTOR),
	RET,

	AT(DO_WINDOW, 0xba, 0x02, 0x40, 0x00, 0x00),		/* mov $0x4002, %edx */
	I(0x0f, 0x79, 0xd0),					/* vmwrite %rax, %rdx */
	RET,

	/* call *pointer */
	KIND(DO_CPUID, CALL_INDIRECT, 0xff, 0x14, 0x25, LOW(POINTER)),
	JMP(NONE, SKIP),
	AT(CPUID_FN, 0x0f, 0xa2),				/* cpuid */
	RET,

	CALL(DO_HLT, SKIP),
	I(0xf3, 0x90),						/* pause */
	RET,

	CALL(DO_CR, WRITE_MSRS),
	I(0x48, 0x89, 0x47, 0x48),				/* mov %rax, 72(%rdi) */
	JMP(NONE, SKIP),

	CALL(DO_IO, IO),
	JMP(NONE, SKIP),
	TURN(IO, ALL, 0x8b, 0x4f, 0x50),			/* mov 80(%rdi), %ecx */
	AT(NEXT_BYTE, 0x48, 0xff, 0xc6),			/* inc %rsi */
	I(0xff, 0xc9),						/* dec %ecx */
	JCC(IF_MORE, JNZ, NEXT_BYTE),
	RET,

	CALL(DO_RDMSR, FIND_MSR),
	JMP(NONE, SKIP),
	CALL(DO_WRMSR, FIND_MSR),
	CALL(NONE, WRITE_MSRS),
	JMP(NONE, SKIP),
	AT(FIND_MSR, 0x8b, 0x4f, 0x58),				/* mov 88(%rdi), %ecx */
	RET,

	CALL(DO_MEMORY, IO),
	JMP(NONE, SKIP),

	CALL(DO_TIMER, WRITE_MSRS),
	JMP(NONE, SET_UP),

	AT(DO_OTHER, 0x31, 0xc0),				/* xor %eax, %eax */
	RET,
};
/* clang-format on */

#define ROWS (sizeof(row) / sizeof(row[0]))

static const struct {
	uint8_t reason, label;
} handler[] = {
	{0, DO_NMI},	 {1, DO_INTERRUPT}, {7, DO_WINDOW}, {8, DO_WINDOW}, {10, DO_CPUID},
	{12, DO_HLT},	 {28, DO_CR},	    {30, DO_IO},    {31, DO_RDMSR}, {32, DO_WRMSR},
	{48, DO_MEMORY}, {52, DO_TIMER},    {13, SKIP},	    {55, SKIP},
};

#define HANDLERS (sizeof(handler) / sizeof(handler[0]))

VPT_STATIC_ASSERT(ROWS <= TRACER_ROOT_ROWS, "they fit");

static uint64_t ip_of(const struct tracer_root *root, unsigned int n)
{
	return TRACER_ROOT_CODE + root->at[n];
}

static unsigned int row_of(unsigned int label)
{
	unsigned int i;

	for (i = 0; i < ROWS && row[i].label != label; i++)
		;
	return i;
}

static unsigned int handler_of(uint32_t reason)
{
	size_t i;

	for (i = 0; i < HANDLERS; i++)
		if (handler[i].reason == reason)
			return row_of(handler[i].label);
	return row_of(DO_OTHER);
}

static void put_pointer(struct tracer_root *root, unsigned int offset, unsigned int to)
{
	uint64_t ip = ip_of(root, to);

	memcpy(root->page + offset, &ip, sizeof(ip));
}

static bool is_direct(const struct row *r)
{
	return r->to != NONE;
}

static void put_row(struct tracer_root *root, unsigned int n)
{
	const struct row *r = &row[n];
	uint8_t *at = root->page + root->at[n];

	memcpy(at, r->bytes, r->len);
	if (is_direct(r)) {
		int32_t rel = root->at[row_of(r->to)] - (root->at[n] + r->len);

		memcpy(at + r->len - sizeof(rel), &rel, sizeof(rel));
	}
}

void tracer_root_init(struct tracer_root *root)
{
	unsigned int n, offset = 0;

	memset(root, 0, sizeof(*root));
	memset(root->page, 0xcc, sizeof(root->page));
	for (n = 0; n < ROWS; n++) {
		root->at[n] = (uint16_t)offset;
		offset += row[n].len;
	}
	for (n = 0; n < ROWS; n++)
		put_row(root, n);
	for (n = 0; n < REASONS; n++)
		put_pointer(root, TABLE + 8 * n, handler_of(n));
	put_pointer(root, POINTER, row_of(CPUID_FN));
	root->row = row_of(START);
}

uint64_t tracer_root_exit(struct tracer_root *root)
{
	root->row = row_of(EXIT);
	root->calls = 0;
	return ip_of(root, root->row);
}

uint64_t tracer_root_ip(const struct tracer_root *root)
{
	return ip_of(root, root->row);
}

static bool taken(struct tracer_root *root, const struct tracer_root_input *in, unsigned int when)
{
	switch (when) {
	case IF_OVER:
		return in->flags & TRACER_ROOT_OVER;
	case UNLESS_EVENT:
		return !(in->flags & TRACER_ROOT_INJECT);
	case IF_NO_MSRS:
		return !in->msrs;
	case IF_MORE_MSRS:
		return in->msrs;
	case IF_MORE:
		return root->turns && --root->turns;
	default:
		return false;
	}
}

static void push(struct tracer_root *root, unsigned int n)
{
	root->call[root->calls++ % TRACER_ROOT_CALLS] = n;
}

/* Return the row to which a branch leads. */
static unsigned int follow(struct tracer_root *root, const struct tracer_root_input *in,
			   struct tracer_root_insn *insn)
{
	unsigned int n = root->row, next = n + 1;

	switch (insn->kind) {
	case TRACER_ROOT_COND:
		insn->taken = taken(root, in, row[n].when);
		return insn->taken ? row_of(row[n].to) : next;
	case TRACER_ROOT_JMP:
		return row_of(row[n].to);
	case TRACER_ROOT_JMP_INDIRECT:
		return handler_of(in->reason);
	case TRACER_ROOT_CALL:
		push(root, next);
		return row_of(row[n].to);
	case TRACER_ROOT_CALL_INDIRECT:
		push(root, next);
		return row_of(CPUID_FN);
	case TRACER_ROOT_RET:
		return root->call[--root->calls % TRACER_ROOT_CALLS];
	case TRACER_ROOT_HLT:
		return n;
	default:
		return next;
	}
}

void tracer_root_step(struct tracer_root *root, const struct tracer_root_input *in,
		      struct tracer_root_insn *insn)
{
	const struct row *r = &row[root->row];

	*insn = (struct tracer_root_insn){
		.kind = (enum tracer_root_kind)r->kind,
		.ip = ip_of(root, root->row),
	};
	insn->next = insn->ip + r->len;
	if (r->turns)
		root->turns = r->turns == ALL ? in->count : r->turns;
	root->row = follow(root, in, insn);
	insn->to = ip_of(root, root->row);
}

const char *tracer_root_symbol(unsigned int i, uint64_t *ip, uint64_t *bytes)
{
	unsigned int n, end, offset = 0, size = 0;

	for (n = 0; n < ROWS; n++) {
		if (names[row[n].label] && !i--)
			break;
		offset += row[n].len;
	}
	if (n == ROWS)
		return NULL;
	for (end = n; end < ROWS && (end == n || !names[row[end].label]); end++)
		size += row[end].len;
	*ip = TRACER_ROOT_CODE + offset;
	*bytes = size;
	return names[row[n].label];
}
