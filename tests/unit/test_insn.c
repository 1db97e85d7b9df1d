// SPDX-License-Identifier: GPL-2.0-or-later
/* How the core classifies and caches instructions. */
#include "lib/suite.h"

#include <string.h>

#include "core/insn.h"
#include "x86/insn.h"
#include "x86/x86.h"
#include "engine/engine.h"

static struct core_insn_cache *cache;

static void setup(void)
{
	cache = core_insn_cache_create();
	ck_assert_ptr_nonnull(cache);
}

static void teardown(void)
{
	core_insn_cache_destroy(cache);
}

static struct core_insn_bytes pack(const void *code, size_t len)
{
	struct core_insn_bytes bytes = {.count = (uint8_t)len};
	uint8_t all[16] = {0};

	memcpy(all, code, len);
	memcpy(&bytes.low, all, 8);
	memcpy(&bytes.high, all + 8, 8);
	return bytes;
}

static const struct core_insn *find(uint64_t gpa, uint8_t bits, const void *code, size_t len)
{
	struct core_insn_bytes bytes = pack(code, len);
	bool truncated;

	return core_insn_find(cache, gpa, bits, &bytes, &truncated);
}

static const struct {
	const char *name, *code;
	uint8_t len, bits, cls, flags, aux;
	int64_t disp;
} rows[] = {
	{"nop", "\x90", 1, 64, CORE_INSN_PLAIN, 0, 0, 0},
	{"endbr64", "\xf3\x0f\x1e\xfa", 4, 64, CORE_INSN_PLAIN, 0, 0, 0},
	{"je +5", "\x74\x05", 2, 64, CORE_INSN_COND, 0, 0x74, 5},
	{"jne near -2", "\x0f\x85\xfe\xff\xff\xff", 6, 64, CORE_INSN_COND, 0, 0x85, -2},
	{"loop", "\xe2\xf0", 2, 64, CORE_INSN_COND, 0, 0xe2, -16},
	{"jrcxz", "\xe3\x10", 2, 64, CORE_INSN_COND, 0, 0xe3, 16},
	{"jecxz", "\x67\xe3\x10", 3, 64, CORE_INSN_COND, CORE_INSN_ADDRESS32, 0xe3, 16},
	{"jmp short", "\xeb\xfe", 2, 64, CORE_INSN_JMP, 0, 0, -2},
	{"jmp near", "\xe9\x00\x01\x00\x00", 5, 64, CORE_INSN_JMP, 0, 0, 256},
	{"call", "\xe8\x00\x00\x00\x00", 5, 64, CORE_INSN_CALL, 0, 0, 0},
	{"jmp *%rax", "\xff\xe0", 2, 64, CORE_INSN_JMP_INDIRECT, 0, 0, 0},
	{"jmp *(%rax)", "\xff\x20", 2, 64, CORE_INSN_JMP_INDIRECT, 0, 0, 0},
	{"notrack jmp", "\x3e\xff\xe0", 3, 64, CORE_INSN_JMP_INDIRECT, 0, 0, 0},
	{"call *%rax", "\xff\xd0", 2, 64, CORE_INSN_CALL_INDIRECT, 0, 0, 0},
	{"ret", "\xc3", 1, 64, CORE_INSN_RET, 0, 0, 0},
	{"ret n", "\xc2\x08\x00", 3, 64, CORE_INSN_RET, 0, 0, 0},
	{"rep ret", "\xf3\xc3", 2, 64, CORE_INSN_RET, 0, 0, 0},
	{"lretq", "\x48\xcb", 2, 64, CORE_INSN_FAR, CORE_INSN_SYSTEM, 0, 0},
	{"ljmp *(%rax)", "\xff\x28", 2, 64, CORE_INSN_FAR, CORE_INSN_SYSTEM, 0, 0},
	{"lcall *(%rax)", "\xff\x18", 2, 64, CORE_INSN_FAR, CORE_INSN_SYSTEM, 0, 0},
	{"int 0x80", "\xcd\x80", 2, 64, CORE_INSN_INT, CORE_INSN_SYSTEM, 0x80, 0},
	{"int3", "\xcc", 1, 64, CORE_INSN_INT, CORE_INSN_SYSTEM, 3, 0},
	{"int 3", "\xcd\x03", 2, 64, CORE_INSN_INT, CORE_INSN_SYSTEM, 3, 0},
	{"into", "\xce", 1, 32, CORE_INSN_INT, CORE_INSN_SYSTEM, 4, 0},
	{"int1", "\xf1", 1, 64, CORE_INSN_INT1, CORE_INSN_SYSTEM, 0, 0},
	{"iretq", "\x48\xcf", 2, 64, CORE_INSN_IRET, CORE_INSN_SYSTEM, 8, 0},
	{"iretl", "\xcf", 1, 64, CORE_INSN_IRET, CORE_INSN_SYSTEM, 4, 0},
	{"syscall", "\x0f\x05", 2, 64, CORE_INSN_SYSCALL, CORE_INSN_SYSTEM, 0, 0},
	{"sysretq", "\x48\x0f\x07", 3, 64, CORE_INSN_SYSRET, CORE_INSN_SYSTEM, 8, 0},
	{"sysretl", "\x0f\x07", 2, 64, CORE_INSN_SYSRET, CORE_INSN_SYSTEM, 4, 0},
	{"sysenter", "\x0f\x34", 2, 64, CORE_INSN_SYSENTER, CORE_INSN_SYSTEM, 0, 0},
	{"sysexitq", "\x48\x0f\x35", 3, 64, CORE_INSN_SYSEXIT, CORE_INSN_SYSTEM, 8, 0},
	{"mov %rax, %cr3", "\x0f\x22\xd8", 3, 64, CORE_INSN_MOV_CR3, CORE_INSN_SYSTEM, 0, 0},
	{"mov %cr3, %rax", "\x0f\x20\xd8", 3, 64, CORE_INSN_PLAIN, 0, 0, 0},
	{"mov %rax, %cr4", "\x0f\x22\xe0", 3, 64, CORE_INSN_PLAIN, CORE_INSN_SYSTEM, 0, 0},
	{"mov %rax, %dr7", "\x0f\x23\xf8", 3, 64, CORE_INSN_PLAIN, CORE_INSN_DEBUG_REGS, 0, 0},
	{"mov %dr6, %rax", "\x0f\x21\xf0", 3, 64, CORE_INSN_PLAIN, CORE_INSN_DEBUG_REGS, 0, 0},
	{"mov %eax, %ss", "\x8e\xd0", 2, 64, CORE_INSN_PLAIN, CORE_INSN_SYSTEM | CORE_INSN_LOADS_SS,
	 0, 0},
	{"mov %ss, %eax", "\x8c\xd0", 2, 64, CORE_INSN_PLAIN, 0, 0, 0},
	{"mov %eax, %ds", "\x8e\xd8", 2, 64, CORE_INSN_PLAIN, CORE_INSN_SYSTEM, 0, 0},
	{"pop %fs", "\x0f\xa1", 2, 64, CORE_INSN_PLAIN, CORE_INSN_SYSTEM, 0, 0},
	{"pop %ss", "\x17", 1, 32, CORE_INSN_PLAIN, CORE_INSN_SYSTEM | CORE_INSN_LOADS_SS, 0, 0},
	{"pop %rax", "\x58", 1, 64, CORE_INSN_PLAIN, 0, 0, 0},
	{"rdmsr", "\x0f\x32", 2, 64, CORE_INSN_RDMSR, 0, 0, 0},
	{"wrmsr", "\x0f\x30", 2, 64, CORE_INSN_WRMSR, CORE_INSN_SYSTEM, 0, 0},
	{"hlt", "\xf4", 1, 64, CORE_INSN_HLT, 0, 0, 0},
	{"sti", "\xfb", 1, 64, CORE_INSN_PLAIN, CORE_INSN_STI, 0, 0},
	{"pushfq", "\x9c", 1, 64, CORE_INSN_PUSHF, 0, 8, 0},
	{"pushfw", "\x66\x9c", 2, 64, CORE_INSN_PUSHF, 0, 2, 0},
	{"popfq", "\x9d", 1, 64, CORE_INSN_POPF, 0, 8, 0},
	{"popfw", "\x66\x9d", 2, 64, CORE_INSN_POPF, 0, 2, 0},
	{"rep movsb", "\xf3\xa4", 2, 64, CORE_INSN_PLAIN, CORE_INSN_REP, 0, 0},
	{"repne scasb", "\xf2\xae", 2, 64, CORE_INSN_PLAIN, CORE_INSN_REP, 0, 0},
	{"movsb", "\xa4", 1, 64, CORE_INSN_PLAIN, 0, 0, 0},
	{"cpuid", "\x0f\xa2", 2, 64, CORE_INSN_CPUID, 0, 0, 0},
	{"sidt (%rdi)", "\x0f\x01\x0f", 3, 64, CORE_INSN_SIDT, 0, 0, 0},
	{"lidt (%rdi)", "\x0f\x01\x1f", 3, 64, CORE_INSN_PLAIN, CORE_INSN_SYSTEM, 0, 0},
	{"swapgs", "\x0f\x01\xf8", 3, 64, CORE_INSN_PLAIN, CORE_INSN_SYSTEM, 0, 0},
	{"wrgsbase %rax", "\xf3\x48\x0f\xae\xd8", 5, 64, CORE_INSN_PLAIN, CORE_INSN_SYSTEM, 0, 0},
	{"jmp short, 16 bits", "\xeb\xfe", 2, 16, CORE_INSN_JMP, CORE_INSN_TARGET16, 0, -2},
	{"data16 jmp short", "\x66\xeb\xfe", 3, 32, CORE_INSN_JMP, CORE_INSN_TARGET16, 0, -2},
	{"data32 jmp short", "\x66\xeb\xfe", 3, 16, CORE_INSN_JMP, 0, 0, -2},
	{"data16 je in 64 bits", "\x66\x74\x05", 3, 64, CORE_INSN_COND, 0, 0x74, 5},
	{"call, 16 bits", "\xe8\x00\x01", 3, 16, CORE_INSN_CALL, CORE_INSN_TARGET16, 0, 256},
	{"loop, 16 bits", "\xe2\xf0", 2, 16, CORE_INSN_COND,
	 CORE_INSN_TARGET16 | CORE_INSN_ADDRESS16, 0xe2, -16},
	{"iret, 16 bits", "\xcf", 1, 16, CORE_INSN_IRET, CORE_INSN_SYSTEM, 2, 0},
	{"ljmp $0x10,$0x1234", "\xea\x34\x12\x10\x00", 5, 16, CORE_INSN_FAR, CORE_INSN_SYSTEM, 0,
	 0},
	{"xbegin", "\xc7\xf8\x00\x00\x00\x00", 6, 64, CORE_INSN_PLAIN, 0, 0, 0},
};

/* Return true if @aux has a meaning for the class. */
static bool has_aux(uint8_t cls)
{
	return cls == CORE_INSN_COND || cls == CORE_INSN_INT || cls == CORE_INSN_IRET ||
	       cls == CORE_INSN_SYSRET || cls == CORE_INSN_SYSEXIT || cls == CORE_INSN_PUSHF ||
	       cls == CORE_INSN_POPF;
}

START_TEST(classes)
{
	const struct core_insn *insn = find(0x1000, rows[_i].bits, rows[_i].code, rows[_i].len);

	ck_assert_msg(insn, "%s", rows[_i].name);
	ck_assert_msg(insn->len == rows[_i].len, "%s: %u bytes", rows[_i].name, insn->len);
	ck_assert_msg(insn->cls == rows[_i].cls, "%s: class %u", rows[_i].name, insn->cls);
	ck_assert_msg(insn->flags == rows[_i].flags, "%s: flags %#x", rows[_i].name, insn->flags);
	ck_assert_msg(insn->disp == rows[_i].disp, "%s", rows[_i].name);
	if (has_aux(insn->cls))
		ck_assert_msg(insn->aux == rows[_i].aux, "%s: aux %u", rows[_i].name, insn->aux);
}
END_TEST

/* Row: a byte of an instruction. The cache notices that the byte changes. */
START_TEST(changed_bytes_are_noticed)
{
	/* movabs $imm64, %rax */
	uint8_t code[10] = {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, seen[16];
	const struct core_insn *insn = find(0x2000, 64, code, sizeof(code));

	ck_assert_uint_eq(insn->len, 10);
	ck_assert_ptr_eq(find(0x2000, 64, code, sizeof(code)), insn);
	code[2 + _i] ^= 0xff;
	insn = find(0x2000, 64, code, sizeof(code));
	memcpy(seen, &insn->low, 8);
	memcpy(seen + 8, &insn->high, 8);
	ck_assert_mem_eq(seen, code, sizeof(code));
}
END_TEST

START_TEST(later_bytes_do_not_matter)
{
	const struct core_insn *insn = find(0x3000, 64, "\xc3\x90\x90", 3);
	struct core_insn first = *insn;

	insn = find(0x3000, 64, "\xc3\xcc", 2);
	ck_assert_mem_eq(&first, insn, sizeof(first));
	ck_assert_uint_eq(insn->low, 0xc3);
}
END_TEST

START_TEST(modes_differ)
{
	ck_assert_uint_eq(find(0x4000, 64, "\x48\x90", 2)->len, 2);
	ck_assert_uint_eq(find(0x4000, 32, "\x48\x90", 2)->len, 1);
	ck_assert_uint_eq(find(0x4000, 16, "\xe9\x00\x00\x00\x00", 5)->len, 3);
}
END_TEST

START_TEST(truncated_or_no_instruction)
{
	struct core_insn_bytes bytes = pack("\xe8\x00\x00", 3);
	bool truncated = false;

	ck_assert_ptr_null(core_insn_find(cache, 0x5000, 64, &bytes, &truncated));
	ck_assert(truncated);
	bytes = pack("\x0f\x04\x90\x90", 4);
	ck_assert_ptr_null(core_insn_find(cache, 0x5000, 64, &bytes, &truncated));
	ck_assert(!truncated);
	bytes = pack("", 0);
	ck_assert_ptr_null(core_insn_find(cache, 0x5000, 64, &bytes, &truncated));
}
END_TEST

static const struct {
	uint8_t opcode;
	uint64_t when; /* flags with which the branch is taken */
	uint64_t not ; /* flags with which it is not taken */
} conditions[] = {
	{0x70, X86_FL_OF, 0},
	{0x71, 0, X86_FL_OF},
	{0x72, X86_FL_CF, 0},
	{0x73, 0, X86_FL_CF},
	{0x74, X86_FL_ZF, 0},
	{0x75, 0, X86_FL_ZF},
	{0x76, X86_FL_CF, 0},
	{0x76, X86_FL_ZF, 0},
	{0x77, 0, X86_FL_CF},
	{0x77, 0, X86_FL_ZF},
	{0x78, X86_FL_SF, 0},
	{0x79, 0, X86_FL_SF},
	{0x7a, X86_FL_PF, 0},
	{0x7b, 0, X86_FL_PF},
	{0x7c, X86_FL_SF, X86_FL_SF | X86_FL_OF},
	{0x7c, X86_FL_OF, 0},
	{0x7d, X86_FL_SF | X86_FL_OF, X86_FL_OF},
	{0x7e, X86_FL_ZF, 0},
	{0x7e, X86_FL_SF, X86_FL_SF | X86_FL_OF},
	{0x7f, 0, X86_FL_ZF},
	{0x8f, X86_FL_SF | X86_FL_OF, X86_FL_SF},
};

START_TEST(condition_codes)
{
	uint64_t other = X86_FL_AF | X86_FL_DF | X86_FL_IF | X86_FL_TF;

	ck_assert(core_insn_condition(conditions[_i].opcode, conditions[_i].when | other));
	ck_assert(!core_insn_condition(conditions[_i].opcode, conditions[_i].not | other));
}
END_TEST

/* Addresses and segments of memory operands. Most segments have no effect in 64-bit mode. */
static const struct {
	const char *code;
	uint8_t len, bits;
	uint64_t address;
	char segment;
} operands[] = {
	{"\x0f\x01\x4c\x8f\x20", 5, 64, 0x1060, 0},	      /* sidt 0x20(%rdi,%rcx,4) */
	{"\x64\x41\x0f\x01\x09", 5, 64, 7, 'f'},	      /* sidt %fs:(%r9) */
	{"\x0f\x01\x0d\x00\x01\x00\x00", 7, 64, 0x400107, 0}, /* sidt 0x100(%rip) */
	{"\xff\x28", 2, 16, 0x0210, 'd'},		      /* ljmp *(%bx,%si) */
	{"\xff\x6a\x02", 3, 16, 0x1012, 's'},		      /* ljmp *2(%bp,%si) */
	{"\x26\xff\x28", 3, 16, 0x0210, 'e'},		      /* ljmp *%es:(%bx,%si) */
	{"\x2e\xff\x2e\x34\x12", 5, 16, 0x1234, 'c'},	      /* ljmp *%cs:0x1234 */
	{"\xff\x2c\x24", 3, 32, 0x30000, 's'},		      /* ljmp *(%esp) */
	{"\x65\xff\x2b", 3, 32, 0xff200, 'g'},		      /* ljmp *%gs:(%ebx) */
	{"\xff\x2c\x24", 3, 64, 0x500030000ull, 's'},	      /* ljmp *(%rsp) */
	{"\x26\xff\x2b", 3, 64, 0x5000ff200ull, 0},	      /* ljmp *%es:(%rbx) */
	{"\x67\xff\x2b", 3, 64, 0xff200, 0},		      /* ljmp *(%ebx) */
	/* ljmp *0x101000 with REX.B, which has no effect without a base register */
	{"\x67\x41\xff\x2c\x25\x00\x10\x10\x00", 9, 64, 0x101000, 0},
	{"\x67\x41\xff\x2c\x25\xf0\xff\xff\xff", 9, 64, 0xfffffff0, 0},
	/* ljmp *0x101000(,%r12d,2); ljmp *0x10(%r13d) */
	{"\x67\x43\xff\x2c\x65\x00\x10\x10\x00", 9, 64, 0x101024, 0},
	{"\x67\x41\xff\x6c\x25\x10", 6, 64, 0x2010, 0},
};

START_TEST(operand_segments)
{
	const struct x86_regs regs = {.rdi = 0x1000,
				      .rcx = 0x10,
				      .rip = 0x400000,
				      .r9 = 7,
				      .rbx = 0x5000ff200ull,
				      .rsi = 0x11010,
				      .rbp = 0x70000,
				      .rsp = 0x500030000ull,
				      .r12 = 0x12,
				      .r13 = 0x2000};
	uint64_t address;
	char segment;

	ck_assert(core_insn_address(cache,
				    find(0, operands[_i].bits, operands[_i].code, operands[_i].len),
				    &regs, &address, &segment));
	ck_assert_uint_eq(address, operands[_i].address);
	ck_assert_int_eq(segment, operands[_i].segment);
	ck_assert(!core_insn_address(cache, find(0, 64, "\x90", 1), &regs, &address, &segment));
}
END_TEST

static const struct {
	const char *code;
	uint8_t len, bits, kind, size;
	bool memory;
	uint16_t selector;
	uint64_t offset;
	uint16_t release;
} far_rows[] = {
	{"\xea\x34\x12\x10\x00", 5, 16, CORE_FAR_JMP, 2, false, 0x10, 0x1234, 0},
	{"\x66\xea\x34\x12\xcd\xab\x10\x00", 8, 16, CORE_FAR_JMP, 4, false, 0x10, 0xabcd1234, 0},
	{"\x9a\x34\x12\xcd\xab\x10\x00", 7, 32, CORE_FAR_CALL, 4, false, 0x10, 0xabcd1234, 0},
	{"\xff\x28", 2, 32, CORE_FAR_JMP, 4, true, 0, 0, 0},
	{"\x48\xff\x18", 3, 64, CORE_FAR_CALL, 8, true, 0, 0, 0},
	{"\xcb", 1, 64, CORE_FAR_RET, 4, false, 0, 0, 0},
	{"\x48\xca\x10\x80", 4, 64, CORE_FAR_RET, 8, false, 0, 0, 0x8010},
	{"\x66\xcb", 2, 32, CORE_FAR_RET, 2, false, 0, 0, 0},
};

/* Instructions in messages are formatted without registers that have no effect. */
START_TEST(formatted)
{
	const struct core_insn_bytes bytes = pack("\x67\x41\xff\x2c\x25\x00\x10\x10\x00", 9);
	char text[96];

	core_insn_format(cache, 0x400000, 64, &bytes, text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, "101000]"));
	ck_assert_ptr_null(strstr(text, "r13d"));
}
END_TEST

START_TEST(far_operands)
{
	struct core_insn_far far;

	ck_assert(core_insn_far(
		cache, find(0, far_rows[_i].bits, far_rows[_i].code, far_rows[_i].len), &far));
	ck_assert_uint_eq(far.kind, far_rows[_i].kind);
	ck_assert_uint_eq(far.size, far_rows[_i].size);
	ck_assert(far.memory == far_rows[_i].memory);
	ck_assert_uint_eq(far.selector, far_rows[_i].selector);
	ck_assert_uint_eq(far.offset, far_rows[_i].offset);
	ck_assert_uint_eq(far.release, far_rows[_i].release);
	ck_assert(!core_insn_far(cache, find(0, 64, "\xc3", 1), &far));
}
END_TEST

static const struct {
	const char *name, *code;
	uint8_t len, bits;
	int vector;
} ints[] = {
	{"int3", "\xcc", 1, 64, 3},
	{"int 0x80", "\xcd\x80", 2, 64, 0x80},
	{"int 0xff", "\xcd\xff", 2, 16, 0xff},
	{"int1", "\xf1", 1, 32, 1},
	{"into", "\xce", 1, 32, 4},
	{"no into", "\xce", 1, 64, -1},
	{"o16 int 3", "\x66\xcd\x03", 3, 64, 3},
	{"es rep int3", "\x26\xf3\xcc", 3, 32, 3},
	{"fs a32 int3", "\x64\x67\xcc", 3, 64, 3},
	{"rex int 5", "\x41\xcd\x05", 3, 64, 5},
	{"inc, int 5", "\x41\xcd\x05", 3, 32, -1},
	{"lock int 5", "\xf0\xcd\x05", 3, 64, -1},
	{"half", "\xcd", 1, 64, -1},
	{"prefix alone", "\x66", 1, 64, -1},
	{"nothing", "", 0, 64, -1},
	{"iret", "\xcf", 1, 64, -1},
	{"xor, with the byte of int3", "\x31\xcc", 2, 64, -1},
};

START_TEST(vectors)
{
	ck_assert_int_eq(
		x86_int_vector(ints[_i].bits, (const uint8_t *)ints[_i].code, ints[_i].len),
		ints[_i].vector);
}
END_TEST

TEST_SUITE("insn", setup, teardown)
{
	TEST_ROWS(tcase, classes, rows);
	tcase_add_loop_test(tcase, changed_bytes_are_noticed, 0, 8);
	TEST_ADD(tcase, later_bytes_do_not_matter, modes_differ, truncated_or_no_instruction,
		 formatted);
	TEST_ROWS(tcase, condition_codes, conditions);
	TEST_ROWS(tcase, operand_segments, operands);
	TEST_ROWS(tcase, far_operands, far_rows);
	TEST_ROWS(tcase, vectors, ints);
}
