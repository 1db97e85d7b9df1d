// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System instructions of the software CPU: control and debug registers, descriptor tables,
 * interrupts, ports, MSRs, CPUID, and the instructions that only the core executes.
 */
#include "lib/suite.h"

#include <string.h>

#include "lib/beside.h"

#define ROWS(table) ((int)(sizeof(table) / sizeof((table)[0])))

static struct x86_regs *regs(void)
{
	return beside_vcpu->regs;
}

static void set_regs(uint64_t rax)
{
	*regs() = (struct x86_regs){
		.rax = rax, .rsi = BESIDE_DATA, .rsp = BESIDE_STACK, .rflags = X86_FL_FIXED};
}

static void check_step(const char *code, size_t len)
{
	struct engine_exit exit = beside_step(code, len);

	ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "exit %d, vector %u, error %#x", exit.kind,
		      exit.fault.vector, exit.fault.error);
}
#define STEP(code) check_step(code, sizeof(code) - 1)

static void check_fault(const char *code, size_t len, uint8_t vector)
{
	struct engine_exit exit = beside_step(code, len);

	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	ck_assert_uint_eq(exit.fault.vector, vector);
	ck_assert_uint_eq(exit.fault.error, 0);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE);
}
#define FAULTS(code, vector) check_fault(code, sizeof(code) - 1, vector)

/* MOV of RAX to a control register. If `gp` is set, it must raise #GP and change nothing. */
struct control {
	const char *text, *code;
	unsigned int bits;
	uint64_t value;
	bool gp;
	uint64_t cr4_before; /* 0 keeps the default */
};

#define CR0	 "\x0f\x22\xc0"
#define CR3	 "\x0f\x22\xd8"
#define CR4	 "\x0f\x22\xe0"
#define CR8	 "\x44\x0f\x22\xc0"
#define CR0_OF64 0x80010031ull
#define CR4_OF64 (X86_CR4_PAE | X86_CR4_OSFXSR)
#define PCIDE	 (1ull << 17)

static const struct control controls[] = {
	{"CR0 as it is", CR0, 64, CR0_OF64, false, 0},
	{"CR0: TS, AM", CR0, 64, CR0_OF64 | X86_CR0_TS | X86_CR0_AM, false, 0},
	{"CR0: CD", CR0, 64, CR0_OF64 | 1ull << 30, false, 0},
	{"CR0: NW without CD", CR0, 64, CR0_OF64 | 1ull << 29, true, 0},
	{"CR0: upper half", CR0, 64, CR0_OF64 | 1ull << 32, true, 0},
	{"CR0: PG without PE", CR0, 64, CR0_OF64 & ~X86_CR0_PE, true, 0},
	{"CR0: PG off in 64-bit mode", CR0, 64, CR0_OF64 & ~X86_CR0_PG, true, 0},
	{"CR0: PG off in compatibility mode", CR0, 32, CR0_OF64 & ~X86_CR0_PG, false, 0},
	{"CR3: another", CR3, 64, BESIDE_PML4 | 0x18, false, 0},
	{"CR3: beyond the physical addresses", CR3, 64, 1ull << 52, true, 0},
	{"CR3: bit 63 without PCIDE", CR3, 64, BESIDE_PML4 | 1ull << 63, true, 0},
	{"CR4: more of it", CR4, 64, CR4_OF64 | X86_CR4_SMEP | X86_CR4_UMIP | 1ull << 7, false, 0},
	{"CR4: reserved", CR4, 64, CR4_OF64 | 1ull << 31, true, 0},
	{"CR4: VMXE", CR4, 64, CR4_OF64 | 1ull << 13, true, 0},
	{"CR4: PAE off", CR4, 64, CR4_OF64 & ~X86_CR4_PAE, true, 0},
	{"CR4: LA57 in long mode", CR4, 64, CR4_OF64 | X86_CR4_LA57, true, 0},
	{"CR4: PCIDE", CR4, 64, CR4_OF64 | PCIDE, false, 0},
	{"CR8: 15", CR8, 64, 15, false, 0},
	{"CR8: 16", CR8, 64, 16, true, 0},
};

static uint64_t cr8;

static uint64_t get_cr8(void *opaque)
{
	(void)opaque;
	return cr8;
}

static void set_cr8(void *opaque, uint64_t value)
{
	(void)opaque;
	cr8 = value;
}

static uint64_t control_register(const char *code)
{
	struct x86_sregs s = beside_sregs();

	if (code[0] == '\x44')
		return cr8;
	return code[2] == '\xc0' ? s.cr0 : code[2] == '\xd8' ? s.cr3 : s.cr4;
}

START_TEST(control_registers)
{
	const struct control *r = &controls[_i];
	struct engine_exit exit;
	uint64_t before;

	cr8 = 3;
	beside_vcpu->bus.get_cr8 = get_cr8;
	beside_vcpu->bus.set_cr8 = set_cr8;
	beside_mode(r->bits, 0);
	set_regs(r->value);
	before = control_register(r->code);
	exit = beside_step(r->code, strlen(r->code));
	if (r->gp) {
		ck_assert_msg(exit.kind == ENGINE_EXIT_FAULT, "%s: exit %d", r->text, exit.kind);
		ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
		ck_assert_uint_eq(control_register(r->code), before);
		return;
	}
	ck_assert_msg(exit.kind == ENGINE_EXIT_NONE, "%s: exit %d", r->text, exit.kind);
	ck_assert_msg(control_register(r->code) == r->value, "%s: %#llx", r->text,
		      (unsigned long long)control_register(r->code));
}
END_TEST

START_TEST(control_reads)
{
	struct x86_sregs s = beside_sregs();

	s.cr2 = 0x1122334455667788;
	beside_set_sregs(&s);
	cr8 = 9;
	set_regs(0);
	STEP("\x0f\x20\xc0");
	ck_assert_uint_eq(regs()->rax, CR0_OF64);
	STEP("\x0f\x20\xd0");
	ck_assert_uint_eq(regs()->rax, s.cr2);
	STEP("\x0f\x20\xd8");
	ck_assert_uint_eq(regs()->rax, BESIDE_PML4);
	STEP("\x0f\x20\xe0");
	ck_assert_uint_eq(regs()->rax, CR4_OF64);
	/* CR8 reads as 0 without a handler. */
	STEP("\x44\x0f\x20\xc0");
	ck_assert_uint_eq(regs()->rax, 0);
	beside_vcpu->bus.get_cr8 = get_cr8;
	STEP("\x44\x0f\x20\xc0");
	ck_assert_uint_eq(regs()->rax, 9);
	FAULTS("\x0f\x20\xc8", X86_VEC_UD);
	/* CLTS, LMSW, SMSW */
	s.cr0 |= X86_CR0_TS;
	beside_set_sregs(&s);
	STEP("\x0f\x06");
	ck_assert_uint_eq(beside_sregs().cr0, CR0_OF64);
	regs()->rax = 0xa;
	STEP("\x0f\x01\xf0");
	ck_assert_uint_eq(beside_sregs().cr0, (CR0_OF64 & ~0xeull) | 0xb);
	regs()->rax = ~0ull;
	STEP("\x66\x0f\x01\xe0");
	ck_assert_uint_eq(regs()->rax, 0xffffffffffff003b);
	STEP("\x48\x0f\x01\xe0");
	ck_assert_uint_eq(regs()->rax, CR0_OF64 | 0xa);
}
END_TEST

/* Enter long mode from real mode with the CPU's own instructions, as after a reset. */
START_TEST(way_into_long_mode)
{
	static const char code[] =
		/* 16-bit code, at offset 0 of a segment at BESIDE_CODE */
		"\x0f\x20\xc0"			       /* mov eax, cr0 */
		"\x0c\x01"			       /* or al, 1 */
		"\x0f\x22\xc0"			       /* mov cr0, eax */
		"\x66\xb8\x20\x02\x00\x00"	       /* mov eax, PAE | OSFXSR */
		"\x0f\x22\xe0"			       /* mov cr4, eax */
		"\x66\xb9\x80\x00\x00\xc0"	       /* mov ecx, EFER */
		"\x66\xb8\x00\x01\x00\x00\x66\x31\xd2" /* mov eax, LME; xor edx, edx */
		"\x0f\x30"			       /* wrmsr */
		"\x66\xb8\x31\x00\x00\x80"	       /* mov eax, PG | NE | ET | PE */
		"\x0f\x22\xc0"			       /* mov cr0, eax */
		"\xf4";
	struct x86_sregs s;
	struct engine_exit exit;

	beside_mode(16, 0);
	s = beside_sregs();
	s.cr3 = BESIDE_PML4;
	beside_set_sregs(&s);
	set_regs(0);
	exit = beside_run(code, sizeof(code) - 1, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(regs()->rip, sizeof(code) - 1);
	s = beside_sregs();
	ck_assert_uint_eq(s.efer, X86_EFER_LME | X86_EFER_LMA);
	ck_assert_uint_eq(s.cr0, CR0_OF64 & ~X86_CR0_WP);
	ck_assert_uint_eq(beside_vcpu->retired, 12);
	/* With LME set, paging cannot be enabled without PAE, or if CS.L is set. */
	s.cr0 &= ~X86_CR0_PG;
	s.cr4 = 0;
	beside_set_sregs(&s);
	set_regs(CR0_OF64);
	exit = beside_step("\x0f\x22\xc0", 3);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	s.cr4 = X86_CR4_PAE;
	s.cs.ar |= X86_AR_L;
	beside_set_sregs(&s);
	exit = beside_step("\x0f\x22\xc0", 3);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
	s.cs.ar &= ~X86_AR_L;
	beside_set_sregs(&s);
	exit = beside_step("\x0f\x22\xc0", 3);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
}
END_TEST

/* In run(), MOV to CR3 is left to the core. */
START_TEST(cr3_is_reported)
{
	struct engine_exit exit;

	set_regs(BESIDE_PML4);
	exit = beside_run("\x90" CR3 "\xf4", 5, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_CORE);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 1);
	ck_assert_uint_eq(beside_vcpu->retired, 1);
}
END_TEST

static void map_window(uint64_t entry)
{
	beside_put64(BESIDE_PD + 8 * (BESIDE_WINDOW >> 21), entry);
}

/* A changed mapping takes effect after INVLPG, MOV CR3 or INVPCID. */
START_TEST(flushes)
{
	static const char *const flush[] = {"\x0f\x01\x3f", "\x0f\x22\xd9", "\x66\x0f\x38\x82\x16"};
	static const unsigned int len[] = {3, 3, 5};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		set_regs(0);
		regs()->rdi = BESIDE_WINDOW;
		regs()->rcx = BESIDE_PML4;
		regs()->rdx = 2;
		map_window(BESIDE_WINDOW_RAM | 0x87);
		beside_set_sregs(&(struct x86_sregs){0});
		beside_mode(64, 0);
		beside_put64(BESIDE_WINDOW_RAM, 0xaaaa);
		beside_put64(0x200000, 0xbbbb);
		STEP("\x48\x8b\x07"); /* mov rax, [rdi] */
		ck_assert_uint_eq(regs()->rax, 0xaaaa);
		map_window(0x200000 | 0x87);
		check_step(flush[i], len[i]);
		STEP("\x48\x8b\x07");
		ck_assert_uint_eq(regs()->rax, 0xbbbb);
	}
	/* INVPCID with an invalid type, PCID or address. */
	beside_put64(BESIDE_DATA, 0);
	beside_put64(BESIDE_DATA + 8, 0x800000000000);
	regs()->rdx = 4;
	FAULTS("\x66\x0f\x38\x82\x16", X86_VEC_GP);
	regs()->rdx = 0;
	FAULTS("\x66\x0f\x38\x82\x16", X86_VEC_GP);
	beside_put64(BESIDE_DATA, 0x1000);
	regs()->rdx = 2;
	FAULTS("\x66\x0f\x38\x82\x16", X86_VEC_GP);
}
END_TEST

START_TEST(debug_registers)
{
	uint64_t dr;

	set_regs(0x123456789abcdef0);
	STEP("\x0f\x23\xc0");
	ck_assert_int_eq(beside_engine->get_dr(beside_vcpu, 0, &dr), 0);
	ck_assert_uint_eq(dr, 0x123456789abcdef0);
	FAULTS("\x0f\x23\xf8", X86_VEC_GP);
	FAULTS("\x0f\x23\xf0", X86_VEC_GP);
	regs()->rax = 0xffff0fff & ~(1ull << 13);
	STEP("\x0f\x23\xf8");
	STEP("\x0f\x21\xfb");
	ck_assert_uint_eq(regs()->rbx, 0xffff07ff);
	regs()->rax = 0;
	STEP("\x0f\x23\xf8");
	STEP("\x0f\x23\xf0");
	STEP("\x0f\x21\xf3");
	ck_assert_uint_eq(regs()->rbx, 0xffff0ff0);
	/* DR5 is an alias of DR7, and raises #UD if CR4.DE is set. */
	STEP("\x0f\x21\xeb");
	ck_assert_uint_eq(regs()->rbx, 0x400);
	regs()->rax = CR4_OF64 | 1 << 3;
	STEP(CR4);
	FAULTS("\x0f\x21\xeb", X86_VEC_UD);
	/* With general detect enabled, the next access raises #DB. */
	regs()->rax = 1 << 13;
	STEP("\x0f\x23\xf8");
	FAULTS("\x0f\x21\xc3", X86_VEC_DB);
	ck_assert_int_eq(beside_engine->get_dr(beside_vcpu, 6, &dr), 0);
	ck_assert_uint_eq(dr, 0xffff0ff0 | 1 << 13);
	STEP("\x0f\x21\xc3");
}
END_TEST

START_TEST(tables)
{
	set_regs(0);
	beside_put64(BESIDE_DATA, 0x8000123400000123);
	beside_put64(BESIDE_DATA + 8, 0xffff);
	STEP("\x0f\x01\x16"); /* lgdt [rsi] */
	ck_assert_uint_eq(beside_sregs().gdt.limit, 0x0123);
	ck_assert_uint_eq(beside_sregs().gdt.base, 0xffff800012340000);
	beside_put64(BESIDE_DATA + 0x18, ~0ull);
	STEP("\x0f\x01\x46\x10"); /* sgdt [rsi + 16] */
	ck_assert_uint_eq(beside_get64(BESIDE_DATA + 0x10), 0x8000123400000123);
	ck_assert_uint_eq(beside_get64(BESIDE_DATA + 0x18), 0xffffffffffffffff);
	beside_put64(BESIDE_DATA + 8, 0x0000);
	FAULTS("\x0f\x01\x1e", X86_VEC_GP); /* lidt, not canonical */
	beside_put64(BESIDE_DATA, 0x0000123400000fff);
	STEP("\x0f\x01\x1e");
	ck_assert_uint_eq(beside_sregs().idt.base, 0x12340000);
	STEP("\x0f\x01\x4e\x10"); /* sidt */
	ck_assert_uint_eq(beside_get64(BESIDE_DATA + 0x10), 0x0000123400000fff);
	/* 32-bit code loads four bytes of the base, or three with a 16-bit operand size. */
	beside_mode(32, 0);
	beside_put64(BESIDE_DATA, 0xffffaabbccdd0fff);
	STEP("\x0f\x01\x1e");
	ck_assert_uint_eq(beside_sregs().idt.base, 0xaabbccdd);
	STEP("\x66\x0f\x01\x1e");
	ck_assert_uint_eq(beside_sregs().idt.base, 0xbbccdd);
}
END_TEST

/* Instructions that raise an exception at CPL 3, some of them only with UMIP. */
struct denial {
	const char *text;
	char code[8];
	uint8_t vector;
	bool umip; /* denied only with UMIP */
};

static const struct denial denials[] = {
	{"MOV to CR0", CR0, X86_VEC_GP, false},
	{"MOV from CR3", "\x0f\x20\xd8", X86_VEC_GP, false},
	{"MOV to DR7", "\x0f\x23\xf8", X86_VEC_GP, false},
	{"CLTS", "\x0f\x06", X86_VEC_GP, false},
	{"LMSW", "\x0f\x01\xf0", X86_VEC_GP, false},
	{"LGDT", "\x0f\x01\x16", X86_VEC_GP, false},
	{"LIDT", "\x0f\x01\x1e", X86_VEC_GP, false},
	{"HLT", "\xf4", X86_VEC_GP, false},
	{"INVLPG", "\x0f\x01\x3f", X86_VEC_GP, false},
	{"WBINVD", "\x0f\x09", X86_VEC_GP, false},
	{"RDMSR", "\x0f\x32", X86_VEC_GP, false},
	{"WRMSR", "\x0f\x30", X86_VEC_GP, false},
	{"SWAPGS", "\x0f\x01\xf8", X86_VEC_GP, false},
	{"CLI", "\xfa", X86_VEC_GP, false},
	{"STI", "\xfb", X86_VEC_GP, false},
	{"IN", "\xec", X86_VEC_GP, false},
	{"OUT", "\xe6\x80", X86_VEC_GP, false},
	{"RDPMC", "\x0f\x33", X86_VEC_GP, false},
	{"XSAVES without CR4's leave", "\x0f\xc7\x2e", X86_VEC_UD, false},
	{"XRSTORS without CR4's leave", "\x0f\xc7\x1e", X86_VEC_UD, false},
	{"RDFSBASE without CR4's leave", "\xf3\x0f\xae\xc0", X86_VEC_UD, false},
	{"PTWRITE, which is not there", "\xf3\x0f\xae\xe0", X86_VEC_UD, false},
	{"MONITOR, which is not there", "\x0f\x01\xc8", X86_VEC_UD, false},
	{"SGDT", "\x0f\x01\x06", X86_VEC_GP, true},
	{"SIDT", "\x0f\x01\x0e", X86_VEC_GP, true},
	{"SLDT", "\x0f\x00\xc0", X86_VEC_GP, true},
	{"STR", "\x0f\x00\xc8", X86_VEC_GP, true},
	{"SMSW", "\x0f\x01\xe0", X86_VEC_GP, true},
};

START_TEST(user_mode)
{
	const struct denial *d = &denials[_i];
	struct x86_sregs s;
	struct engine_exit exit;
	bool with_umip;

	for (with_umip = false;; with_umip = true) {
		bool allowed = d->umip && !with_umip;

		beside_mode(64, 3);
		s = beside_sregs();
		s.cr4 |= with_umip ? X86_CR4_UMIP : 0;
		s.tr.limit = 0x20; /* no map of ports */
		beside_set_sregs(&s);
		set_regs(0);
		exit = beside_step(d->code, sizeof(d->code));
		ck_assert_msg(exit.kind == (allowed ? ENGINE_EXIT_NONE : ENGINE_EXIT_FAULT),
			      "%s: exit %d", d->text, exit.kind);
		ck_assert_msg(allowed || exit.fault.vector == d->vector, "%s: vector %u", d->text,
			      exit.fault.vector);
		if (with_umip)
			break;
	}
}
END_TEST

START_TEST(interrupt_flag)
{
	struct engine_exit exit;

	set_regs(0);
	regs()->rflags |= X86_FL_IF;
	STEP("\xfa");
	ck_assert_uint_eq(regs()->rflags, X86_FL_FIXED);
	/* STI delays interrupts until one more instruction has retired. */
	beside_put(BESIDE_CODE, "\xfb\x90\x90\xf4", 4);
	regs()->rip = BESIDE_CODE;
	beside_vcpu->budget = 100;
	beside_engine->run(beside_vcpu, true, &exit);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_IRQ_WINDOW);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 2);
	/* With IOPL 3, CPL 3 may change IF. */
	beside_mode(64, 3);
	set_regs(0);
	regs()->rflags |= X86_FL_IOPL;
	STEP("\xfb");
	ck_assert(regs()->rflags & X86_FL_IF);
	STEP("\xfa");
	ck_assert(!(regs()->rflags & X86_FL_IF));
}
END_TEST

START_TEST(halts)
{
	struct engine_exit exit;

	set_regs(0);
	exit = beside_run("\x90\xf4\x90", 3, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 2);
	ck_assert_uint_eq(beside_vcpu->retired, 2);
}
END_TEST

/* With SMAP, the kernel may access user pages only between STAC and CLAC. */
START_TEST(access_control)
{
	struct x86_sregs s = beside_sregs();

	beside_put64(BESIDE_PD, 0x83); /* the code is the kernel's */
	s.cr4 |= X86_CR4_SMAP;
	beside_set_sregs(&s);
	set_regs(0);
	regs()->rdi = BESIDE_WINDOW;
	beside_step("\x48\x8b\x07", 3);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE);
	STEP("\x0f\x01\xcb");
	ck_assert(regs()->rflags & X86_FL_AC);
	STEP("\x48\x8b\x07");
	STEP("\x0f\x01\xca");
	ck_assert(!(regs()->rflags & X86_FL_AC));
	beside_step("\x48\x8b\x07", 3);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE);
}
END_TEST

/* Instructions that only the core executes. */
static const char cores[][4] = {"\xcd\x80",	"\xcc",	    "\xf1",	"\xcf",	    "\x48\xcf",
				"\x0f\x05",	"\x0f\x07", "\x0f\x34", "\x0f\x35", "\x48\xcb",
				"\xca\x08\x00", "\xff\x2e", "\xff\x1e"};

START_TEST(left_to_core)
{
	const char *code = cores[_i];
	struct engine_exit exit;

	set_regs(0);
	exit = beside_run(code, sizeof(cores[0]), 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_CORE);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE);
	exit = beside_step(code, sizeof(cores[0]));
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_UNABLE);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE);
	ck_assert_uint_eq(beside_vcpu->retired, 0);
}
END_TEST

START_TEST(into)
{
	struct engine_exit exit;

	beside_mode(32, 0);
	set_regs(0);
	STEP("\xce");
	regs()->rflags |= X86_FL_OF;
	exit = BESIDE_STEP("\xce");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_UNABLE);
}
END_TEST

static uint16_t io_port;
static uint32_t io_value;
static uint8_t io_size;
static bool io_attention;
static uint64_t io_retired;

static void io(void *opaque, uint16_t port, uint8_t size, bool in, uint32_t count, void *data)
{
	(void)opaque;
	ck_assert_uint_eq(count, 1);
	io_port = port;
	io_size = size;
	io_retired = beside_vcpu->retired;
	if (in)
		memset(data, 0xa5, size);
	else
		memcpy(&io_value, data, size);
	beside_vcpu->state &= ~(uint32_t)ENGINE_ATTENTION;
	beside_vcpu->state |= io_attention ? ENGINE_ATTENTION : 0;
}

START_TEST(ports)
{
	struct engine_exit exit;

	io_attention = false;
	set_regs(~0ull);
	/* Without a device, IN reads all ones. */
	regs()->rax = 0;
	STEP("\xe4\x10");
	ck_assert_uint_eq(regs()->rax, 0xff);
	beside_vcpu->bus.io = io;
	regs()->rdx = 0xffff1234;
	STEP("\xec");
	ck_assert_uint_eq(regs()->rax, 0xa5);
	ck_assert_uint_eq(io_port, 0x1234);
	regs()->rax = ~0ull;
	STEP("\x66\xed");
	ck_assert_uint_eq(regs()->rax, 0xffffffffffffa5a5);
	STEP("\x48\xed");
	ck_assert_uint_eq(regs()->rax, 0xa5a5a5a5);
	ck_assert_uint_eq(io_size, 4);
	regs()->rax = 0x11223344;
	STEP("\xe7\xfe");
	ck_assert_uint_eq(io_port, 0xfe);
	ck_assert_uint_eq(io_value, 0x11223344);
	/* The device ends run() directly after the instruction. */
	io_attention = true;
	beside_vcpu->retired = 0;
	exit = beside_run("\x90\x90\xee\x90\x90\xf4", 6, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_KICK);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 3);
	ck_assert_uint_eq(io_retired, 2);
	ck_assert_uint_eq(beside_vcpu->retired, 3);
}
END_TEST

/* The I/O permission map of the TSS has a bit for each port. Ports beyond the map are denied. */
struct permission {
	const char *text;
	uint16_t port;
	uint8_t size;
	uint32_t limit;
	bool allowed;
};

static const struct permission permissions[] = {
	{"clear", 0x20, 1, 0xfff, true},
	{"set", 0x21, 1, 0xfff, false},
	{"two, the second one set", 0x20, 2, 0xfff, false},
	{"two, clear", 0x22, 2, 0xfff, true},
	{"four across bytes", 0x1e, 4, 0xfff, false},
	{"four across bytes, clear", 0x26, 4, 0xfff, true},
	{"the last ones of the map", 0x28, 1, 0x68 + 6, true},
	{"beyond it", 0x30, 1, 0x68 + 6, false},
	{"the byte after it is looked at", 0x30, 1, 0x68 + 7, true},
	{"no map", 0x20, 1, 0x67, false},
};

START_TEST(port_map)
{
	const struct permission *p = &permissions[_i];
	const char *code = p->size == 1 ? "\xec" : p->size == 2 ? "\x66\xed" : "\xed";
	struct x86_sregs s;
	struct engine_exit exit;

	beside_mode(64, 3);
	s = beside_sregs();
	s.tr = (struct x86_segment){.base = BESIDE_TSS, .limit = p->limit, .ar = X86_AR_TSS};
	beside_set_sregs(&s);
	beside_put(BESIDE_TSS + 102, "\x68\x00", 2);
	beside_put(BESIDE_TSS + 0x68 + 4, "\x02", 1);
	set_regs(0);
	regs()->rdx = p->port;
	exit = beside_step(code, p->size == 2 ? 2 : 1);
	ck_assert_msg(exit.kind == (p->allowed ? ENGINE_EXIT_NONE : ENGINE_EXIT_FAULT),
		      "%s: exit %d", p->text, exit.kind);
	ck_assert(p->allowed || exit.fault.vector == X86_VEC_GP);
	/* With IOPL 3 the map is not used. */
	set_regs(0);
	regs()->rflags |= X86_FL_IOPL;
	regs()->rdx = p->port;
	exit = beside_step(code, p->size == 2 ? 2 : 1);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_NONE);
}
END_TEST

/* WRMSR, then RDMSR. */
struct msr_row {
	const char *text;
	uint32_t index;
	uint64_t value;
	bool write_gp, read_gp;
};

static const struct msr_row msr_rows[] = {
	{"STAR", 0xc0000081, 0x0023001000000000, false, false},
	{"LSTAR", 0xc0000082, 0xffffffff81000000, false, false},
	{"LSTAR, not canonical", 0xc0000082, 0x800000000000, true, false},
	{"CSTAR", 0xc0000083, 0x1000, false, false},
	{"FMASK", 0xc0000084, 0x47700, false, false},
	{"FMASK, upper half", 0xc0000084, 1ull << 32, true, false},
	{"FS base", 0xc0000100, 0x7fff12345678, false, false},
	{"GS base, not canonical", 0xc0000101, 1ull << 63, true, false},
	{"kernel GS base", 0xc0000102, 0xffff800000000000, false, false},
	{"TSC_AUX", 0xc0000103, 5, false, false},
	{"TSC_AUX, upper half", 0xc0000103, 1ull << 32, true, false},
	{"SYSENTER_CS", 0x174, 0x10, false, false},
	{"SYSENTER_ESP", 0x175, 0xffff800000001000, false, false},
	{"SYSENTER_EIP, not canonical", 0x176, 0x0001000000000000, true, false},
	{"PAT", 0x277, 0x0007040600070406, false, false},
	{"PAT, a type that is none", 0x277, 0x0007040600070402, true, false},
	{"MTRR, physical base", 0x200, 0x80000006, false, false},
	{"MTRR, a type that is none", 0x200, 0x80000007, true, false},
	{"MTRR, mask", 0x201, 0x7f80000800, false, false},
	{"MTRR, fixed", 0x250, 0x0606060606060606, false, false},
	{"MTRR, default", 0x2ff, 0xc06, false, false},
	{"EFER: NXE", 0xc0000080, 0xd01, false, false},
	{"EFER: reserved", 0xc0000080, 0x501 | 1 << 9, true, false},
	{"EFER: LME with paging", 0xc0000080, 0x401, true, false},
	{"BIOS_SIGN_ID, which keeps its value", 0x8b, 0x7fffffff00000000, false, false},
	{"TSC_ADJUST", 0x3b, 0xfffffffffffff000, false, false},
	{"ARCH_CAPABILITIES: RDCL_NO, to read only", 0x10a, 0, true, false},
	{"MTRRCAP, to read only", 0xfe, 0, true, false},
	{"none", 0x12345, 0, true, true},
	{"none either", 0xc0000105, 0, true, true},
};

START_TEST(msrs)
{
	const struct msr_row *m = &msr_rows[_i];
	struct engine_exit exit;
	uint64_t before = 0, after = 0;

	(void)beside_engine->get_msr(beside_vcpu, m->index, &before);
	set_regs(0xdead000000000000 | (uint32_t)m->value);
	regs()->rdx = 0xbeef000000000000 | m->value >> 32;
	regs()->rcx = 0xcafe000000000000 | m->index;
	exit = BESIDE_STEP("\x0f\x30");
	ck_assert_msg(exit.kind == (m->write_gp ? ENGINE_EXIT_FAULT : ENGINE_EXIT_NONE),
		      "%s: exit %d", m->text, exit.kind);
	ck_assert(!m->write_gp || exit.fault.vector == X86_VEC_GP);
	exit = BESIDE_STEP("\x0f\x32");
	ck_assert_msg(exit.kind == (m->read_gp ? ENGINE_EXIT_FAULT : ENGINE_EXIT_NONE),
		      "%s: exit %d", m->text, exit.kind);
	if (m->read_gp)
		return;
	after = regs()->rax | regs()->rdx << 32;
	ck_assert_msg(after == (m->write_gp ? before : m->value), "%s: %#llx", m->text,
		      (unsigned long long)after);
	/* The MSRs of the FS and GS bases are the bases of the segments. */
	if (m->index == 0xc0000100)
		ck_assert_uint_eq(beside_sregs().fs.base, m->value);
}
END_TEST

/* Trapped MSRs: run() leaves the instruction to the core, and step() returns an MSR exit. */
START_TEST(trapped_msrs)
{
	static const struct engine_msr_range range = {0x570, 8, true, true};
	struct engine_exit exit;

	ck_assert_int_eq(beside_engine->vm_trap_msrs(beside_vm, &range, 1), 0);
	set_regs(0x11112222);
	regs()->rdx = 0x33334444;
	regs()->rcx = 0x577;
	exit = beside_run("\x90\x0f\x30\xf4", 4, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_CORE);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE + 1);
	exit = beside_run("\x0f\x32\xf4", 3, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_CORE);
	exit = BESIDE_STEP("\x0f\x30");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_WRMSR);
	ck_assert_uint_eq(exit.msr.index, 0x577);
	ck_assert_uint_eq(*exit.msr.value, 0x3333444411112222);
	exit = BESIDE_STEP("\x0f\x32");
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_RDMSR);
	ck_assert_uint_eq(exit.msr.index, 0x577);
	ck_assert_uint_eq(regs()->rip, BESIDE_CODE);
	/* The next MSR is not trapped and does not exist. */
	regs()->rcx = 0x578;
	FAULTS("\x0f\x32", X86_VEC_GP);
}
END_TEST

/* The TSC counts retired instructions, and WRMSR sets the TSC. */
START_TEST(time_stamps)
{
	static const char code[] = "\x90\x90\x90\x0f\x31\x89\xc3\x90\x0f\x31\xf4";
	struct vpt_clock now;
	struct engine_exit exit;
	uint64_t tsc;

	set_regs(0);
	beside_vcpu->retired = 1000;
	exit = beside_run(code, sizeof(code) - 1, 100);
	ck_assert_int_eq(exit.kind, ENGINE_EXIT_HLT);
	ck_assert_uint_eq(regs()->rbx, 1003);
	ck_assert_uint_eq(regs()->rax, 1006);
	ck_assert_uint_eq(regs()->rdx, 0);
	set_regs(0);
	regs()->rdx = 7;
	regs()->rcx = 0x10;
	STEP("\x0f\x30");
	beside_engine->clock(beside_vcpu, &now, &tsc);
	ck_assert_uint_eq(tsc, (7ull << 32) + 1);
	ck_assert_uint_eq(now.tsc, beside_vcpu->retired);
	ck_assert_uint_eq(now.cycles, beside_vcpu->retired);
	STEP("\x0f\x31");
	ck_assert_uint_eq(regs()->rax, 1);
	ck_assert_uint_eq(regs()->rdx, 7);
	ck_assert_int_eq(beside_engine->set_msr(beside_vcpu, 0xc0000103, 0x77), 0);
	STEP("\x0f\x01\xf9");
	ck_assert_uint_eq(regs()->rcx, 0x77);
	STEP("\xf3\x0f\xc7\xfb");
	ck_assert_uint_eq(regs()->rbx, 0x77);
	/* TSD does not affect CPL 0. */
	regs()->rax = CR4_OF64 | 1 << 2;
	STEP(CR4);
	STEP("\x0f\x31");
	beside_mode(64, 3);
	STEP("\x0f\x31");
}
END_TEST

START_TEST(time_stamp_disable)
{
	struct x86_sregs s;

	beside_mode(64, 3);
	s = beside_sregs();
	s.cr4 |= 1 << 2;
	beside_set_sregs(&s);
	set_regs(0);
	FAULTS("\x0f\x31", X86_VEC_GP);
	FAULTS("\x0f\x01\xf9", X86_VEC_GP);
}
END_TEST

static void cpuid(uint32_t leaf, uint32_t subleaf)
{
	set_regs(0xffffffff00000000 | leaf);
	regs()->rcx = 0xffffffff00000000 | subleaf;
	STEP("\x0f\xa2");
}

/* XSAVES and XRSTORS raise #GP at CPL 3, and at CPL 0 with an address not aligned to 64 bytes. */
START_TEST(system_state)
{
	static const char *const code[] = {"\x0f\xc7\x2e", "\x0f\xc7\x1e"};
	struct x86_sregs s;
	struct engine_exit exit;
	unsigned int cpl;

	for (cpl = 0; cpl <= 3; cpl += 3) {
		beside_mode(64, cpl);
		s = beside_sregs();
		s.cr4 |= X86_CR4_OSXSAVE;
		beside_set_sregs(&s);
		set_regs(0);
		regs()->rsi = 8;
		exit = beside_step(code[_i], 3);
		ck_assert_int_eq(exit.kind, ENGINE_EXIT_FAULT);
		ck_assert_uint_eq(exit.fault.vector, X86_VEC_GP);
	}
}
END_TEST

START_TEST(identification)
{
	struct x86_sregs s;
	uint64_t basic[4] = {0};

	cpuid(0, 0);
	ck_assert_uint_ge(regs()->rax, 0xd);
	/* CPUID's OSXSAVE bit is that of CR4. */
	cpuid(1, 0);
	ck_assert_uint_eq(regs()->rcx >> 27 & 1, 0);
	if (regs()->rcx >> 26 & 1) {
		s = beside_sregs();
		s.cr4 |= X86_CR4_OSXSAVE;
		beside_set_sregs(&s);
		cpuid(1, 0);
		ck_assert_uint_eq(regs()->rcx >> 27 & 1, 1);
		/* If XCR0 enables only x87, the area has 576 bytes. */
		cpuid(0xd, 0);
		ck_assert_uint_eq(regs()->rbx, 576);
	}
	/* A leaf beyond the last returns the highest basic leaf, as on Intel's processors. */
	cpuid(0, 0);
	basic[0] = regs()->rax;
	cpuid((uint32_t)basic[0], 0);
	memcpy(basic, regs(), sizeof(basic));
	cpuid(0x7fffffff, 0);
	ck_assert_mem_eq(basic, regs(), sizeof(basic));
	/* CPUID does not enumerate SYSCALL in 32-bit code. */
	cpuid(0x80000001, 0);
	ck_assert_uint_eq(regs()->rdx >> 11 & 1, 1);
	beside_mode(32, 0);
	cpuid(0x80000001, 0);
	ck_assert_uint_eq(regs()->rdx >> 11 & 1, 0);
}
END_TEST

START_TEST(bases)
{
	struct x86_sregs s = beside_sregs();

	s.cr4 |= 1 << 16;
	s.fs.base = 0x1122334455667788;
	beside_set_sregs(&s);
	set_regs(0);
	STEP("\xf3\x48\x0f\xae\xc0");
	ck_assert_uint_eq(regs()->rax, 0x1122334455667788);
	STEP("\xf3\x0f\xae\xc0");
	ck_assert_uint_eq(regs()->rax, 0x55667788);
	regs()->rax = 0xffff8765aaaabbbb;
	STEP("\xf3\x48\x0f\xae\xd8");
	ck_assert_uint_eq(beside_sregs().gs.base, 0xffff8765aaaabbbb);
	regs()->rax = 0x0000800000000000;
	FAULTS("\xf3\x48\x0f\xae\xd0", X86_VEC_GP);
	STEP("\xf3\x0f\xae\xd0");
	ck_assert_uint_eq(beside_sregs().fs.base, 0);
	ck_assert_int_eq(beside_engine->set_msr(beside_vcpu, 0xc0000102, 0x4000), 0);
	STEP("\x0f\x01\xf8");
	ck_assert_uint_eq(beside_sregs().gs.base, 0x4000);
	STEP("\x0f\x01\xf8");
	ck_assert_uint_eq(beside_sregs().gs.base, 0xffff8765aaaabbbb);
	/* These instructions exist in 64-bit mode only. */
	beside_mode(32, 0);
	FAULTS("\x0f\x01\xf8", X86_VEC_UD);
	FAULTS("\xf3\x0f\xae\xc0", X86_VEC_UD);
}
END_TEST

Suite *test_suite(void)
{
	Suite *suite = suite_create("soft_system");
	TCase *tc = tcase_create("system");

	tcase_add_checked_fixture(tc, beside_create, beside_destroy);
	tcase_add_loop_test(tc, control_registers, 0, ROWS(controls));
	tcase_add_loop_test(tc, user_mode, 0, ROWS(denials));
	tcase_add_loop_test(tc, system_state, 0, 2);
	tcase_add_loop_test(tc, left_to_core, 0, ROWS(cores));
	tcase_add_loop_test(tc, port_map, 0, ROWS(permissions));
	tcase_add_loop_test(tc, msrs, 0, ROWS(msr_rows));
	tcase_add_test(tc, control_reads);
	tcase_add_test(tc, way_into_long_mode);
	tcase_add_test(tc, cr3_is_reported);
	tcase_add_test(tc, flushes);
	tcase_add_test(tc, debug_registers);
	tcase_add_test(tc, tables);
	tcase_add_test(tc, interrupt_flag);
	tcase_add_test(tc, halts);
	tcase_add_test(tc, access_control);
	tcase_add_test(tc, into);
	tcase_add_test(tc, ports);
	tcase_add_test(tc, trapped_msrs);
	tcase_add_test(tc, time_stamps);
	tcase_add_test(tc, time_stamp_disable);
	tcase_add_test(tc, identification);
	tcase_add_test(tc, bases);
	suite_add_tcase(suite, tc);
	return suite;
}
