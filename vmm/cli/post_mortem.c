// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports how a guest stopped, as text and as JSON. */
#include "cli/post_mortem.h"

#include <inttypes.h>
#include <string.h>

#include "cli/fault_text.h"
#include "decode/disasm.h"
#include "debug/symbol.h"
#include "text/text.h"

#define PER_LINE 4

static const char *const gpr_names[16] = {"RAX", "RCX", "RDX", "RBX", "RSP", "RBP", "RSI", "RDI",
					  "R8",	 "R9",	"R10", "R11", "R12", "R13", "R14", "R15"};

bool cli_names_open(struct cli_names *names, struct debug_symbols *symbols)
{
	*names = (struct cli_names){.symbols = symbols};
	if (symbols && debug_symbols_read_lines(symbols)) {
		cli_names_close(names);
		return false;
	}
	names->disasm = decode_disasm_new(symbols);
	if (!names->disasm)
		cli_names_close(names);
	return names->disasm;
}

void cli_names_close(struct cli_names *names)
{
	decode_disasm_free(names->disasm);
	debug_symbols_close(names->symbols);
	*names = (struct cli_names){0};
}

bool cli_post_mortem_crashed(const struct trace_post_mortem *pm)
{
	switch (pm->stop.kind) {
	case TRACE_STOP_TRIPLE_FAULT:
	case TRACE_STOP_HALTED:
	case TRACE_STOP_UNABLE:
	case TRACE_STOP_UNTRACEABLE:
	case TRACE_STOP_UNEXPLAINED:
	case TRACE_STOP_VMX:
		return true;
	default:
		return false;
	}
}

/* Symbols and lines use linear addresses. */
static uint64_t linear(const struct trace_post_mortem *pm, uint64_t ip)
{
	return ip + pm->stop.cs_base;
}

/*
 * Write the name of @addr within the function that contains @look. @look is @addr, or the last byte
 * of the CALL before @addr. Returns false if there is no name.
 */
static bool symbol_of(const struct cli_names *names, uint64_t addr, uint64_t look, char *text,
		      size_t size)
{
	const struct debug_symbol *symbol = debug_symbols_find(names->symbols, look);
	char name[128];

	if (!symbol)
		return false;
	debug_symbols_format(names->symbols, symbol->start, name, sizeof(name));
	if (addr == symbol->start)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "%s+0x%" PRIx64, name, addr - symbol->start);
	return true;
}

/* Write "main+0x11 (crash.c:12)", "main+0x11" or "". */
static void place(const struct cli_names *names, uint64_t addr, uint64_t look, char *text,
		  size_t size)
{
	const struct debug_line *line;
	char file[256];
	size_t len;

	*text = 0;
	if (!symbol_of(names, addr, look, text, size))
		return;
	line = debug_symbols_line(names->symbols, look);
	if (!line || !line->file)
		return;
	text_copy(file, sizeof(file), line->file, strlen(line->file));
	len = strlen(text);
	snprintf(text + len, size - len, " (%s:%u)", file, line->line);
}

static bool insn_text(const struct trace_post_mortem *pm, const struct cli_names *names, char *text,
		      size_t size)
{
	return names->disasm && pm->stop.insn_len &&
	       decode_disasm_format(names->disasm, pm->stop.rip, pm->stop.mode, pm->stop.insn,
				    pm->stop.insn_len, text, size);
}

void cli_post_mortem_where(const struct trace_post_mortem *pm, const struct cli_names *names,
			   char *text, size_t size)
{
	const uint64_t addr = linear(pm, pm->stop.rip);
	char at[384], insn[192];
	int len = 0;

	*text = 0;
	place(names, addr, addr, at, sizeof(at));
	if (*at)
		len = snprintf(text, size, " in %s", at);
	if (len < 0 || (size_t)len >= size)
		return;
	/* The instruction behind a HLT has no part in the stop. */
	if (pm->stop.kind == TRACE_STOP_HALTED)
		return;
	if (insn_text(pm, names, insn, sizeof(insn)))
		snprintf(text + len, size - (size_t)len, ": %s", insn);
	else if (!pm->stop.insn_len)
		snprintf(text + len, size - (size_t)len, ": no code can be fetched there");
}

void cli_post_mortem_headline(FILE *out, const struct trace_post_mortem *pm,
			      const struct cli_names *names)
{
	const struct trace_guest_stop *s = &pm->stop;
	char text[sizeof(s->text) + 1], where[512];

	text_copy(text, sizeof(text), s->text, sizeof(s->text));
	fprintf(out, "the guest stopped: %s", trace_stop_text(s->kind));
	if (s->kind == TRACE_STOP_EXIT) {
		fprintf(out, ", status %" PRIu32 "\n", s->exit_status);
		return;
	}
	cli_post_mortem_where(pm, names, where, sizeof(where));
	if (*text)
		fprintf(out, " %s%s\n", text, where);
	else
		fprintf(out, " at 0x%" PRIx64 "%s\n", s->rip, where);
}

static void print_faults(FILE *out, const char *indent, const struct trace_post_mortem *pm)
{
	const char *how = "";
	char text[192];
	unsigned int i;

	for (i = 0; i < pm->stop.faults; i++) {
		const struct trace_guest_fault *f = &pm->fault[i];

		if (i)
			how = f->vector == CLI_VECTOR_DF ? "makes a " : "its delivery raises ";
		cli_fault_text(f, &pm->stop, text, sizeof(text));
		fprintf(out, "%s%s%s\n", indent, how, text);
	}
	if (!i && pm->stop.kind == TRACE_STOP_TRIPLE_FAULT)
		fprintf(out,
			"%sthe exceptions are not known, since KVM delivered them: --engine=soft "
			"shows them\n",
			indent);
}

static void print_registers(FILE *out, const char *indent, const struct trace_guest_stop *s)
{
	unsigned int i;

	for (i = 0; i < 16; i++)
		fprintf(out, "%s%-3s %016" PRIx64 "%s", i % PER_LINE ? " " : indent, gpr_names[i],
			s->gpr[i], i % PER_LINE == PER_LINE - 1 ? "\n" : "");
	fprintf(out, "%sRIP %016" PRIx64 " RFLAGS %08" PRIx64 " CPL %u, %u-bit code\n", indent,
		s->rip, s->rflags, s->cpl, s->mode);
	fprintf(out,
		"%sCR0 %08" PRIx64 " CR2 %016" PRIx64 " CR3 %016" PRIx64 " CR4 %08" PRIx64
		" IDT %" PRIx64 " limit %x\n",
		indent, s->cr0, s->cr2, s->cr3, s->cr4, s->idt_base, s->idt_limit);
}

static void print_calls(FILE *out, const char *indent, const struct trace_post_mortem *pm,
			const struct cli_names *names)
{
	unsigned int i, n;
	char at[384];

	if (pm->stop.calls)
		fprintf(out, "%sreturn addresses on the stack, the innermost first:\n", indent);
	for (i = 0; i < pm->stop.calls; i += n) {
		const uint64_t addr = linear(pm, pm->call[i]);

		for (n = 1; i + n < pm->stop.calls && pm->call[i + n] == pm->call[i];)
			n++;
		/* Look up the CALL itself, because another function may begin behind it. */
		place(names, addr, addr - 1, at, sizeof(at));
		fprintf(out, "%s  0x%" PRIx64 "%s%s", indent, pm->call[i], *at ? " " : "", at);
		if (n > 1)
			fprintf(out, ", %u times", n);
		fputc('\n', out);
	}
}

void cli_post_mortem_print(FILE *out, const char *indent, const struct trace_post_mortem *pm,
			   const struct cli_names *names)
{
	print_faults(out, indent, pm);
	if (cli_post_mortem_crashed(pm))
		print_registers(out, indent, &pm->stop);
	print_calls(out, indent, pm, names);
}

/* Print members of an object, each after a comma. */
static void json_place(FILE *out, const struct cli_names *names, uint64_t addr, uint64_t look)
{
	const struct debug_line *line;
	char name[160];

	if (!symbol_of(names, addr, look, name, sizeof(name)))
		return;
	fputs(",\"symbol\":", out);
	text_json_string(out, name);
	line = debug_symbols_line(names->symbols, look);
	if (!line || !line->file)
		return;
	fputs(",\"file\":", out);
	text_json_string(out, line->file);
	fprintf(out, ",\"line\":%u", line->line);
}

static void json_address(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, ",\"%s\":", name);
	text_json_address(out, value);
}

static void json_faults(FILE *out, const struct trace_post_mortem *pm)
{
	unsigned int i;

	fputs(",\"faults\":[", out);
	for (i = 0; i < pm->stop.faults; i++) {
		const struct trace_guest_fault *f = &pm->fault[i];

		fprintf(out, "%s{\"vector\":%u,\"name\":\"%s\"", i ? "," : "", f->vector,
			cli_fault_name(f));
		json_address(out, "ip", f->rip);
		if (f->flags & TRACE_GUEST_FAULT_HAS_ERROR)
			fprintf(out, ",\"error\":%" PRIu32, f->error);
		if (f->vector == CLI_VECTOR_PF)
			json_address(out, "cr2", f->cr2);
		fputc('}', out);
	}
	fputc(']', out);
}

static void json_registers(FILE *out, const struct trace_guest_stop *s)
{
	const struct {
		const char *name;
		uint64_t value;
	} other[] = {
		{"RIP", s->rip}, {"RFLAGS", s->rflags}, {"CR0", s->cr0},	   {"CR2", s->cr2},
		{"CR3", s->cr3}, {"CR4", s->cr4},	{"IDT_base", s->idt_base},
	};
	size_t i;

	fprintf(out, ",\"cpl\":%u,\"mode\":%u,\"registers\":{\"IDT_limit\":%" PRIu32, s->cpl,
		s->mode, s->idt_limit);
	for (i = 0; i < 16; i++)
		json_address(out, gpr_names[i], s->gpr[i]);
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		json_address(out, other[i].name, other[i].value);
	fputc('}', out);
}

static void json_calls(FILE *out, const struct trace_post_mortem *pm, const struct cli_names *names)
{
	unsigned int i;

	fputs(",\"calls\":[", out);
	for (i = 0; i < pm->stop.calls; i++) {
		fprintf(out, "%s{\"ip\":", i ? "," : "");
		text_json_address(out, pm->call[i]);
		json_place(out, names, linear(pm, pm->call[i]), linear(pm, pm->call[i]) - 1);
		fputc('}', out);
	}
	fputc(']', out);
}

void cli_post_mortem_json(FILE *out, const struct trace_post_mortem *pm,
			  const struct cli_names *names)
{
	const struct trace_guest_stop *s = &pm->stop;
	char text[sizeof(s->text) + 1], insn[192];

	fprintf(out, "{\"kind\":\"%s\",\"vcpu\":%u", trace_stop_text(s->kind), pm->vcpu);
	if (s->kind == TRACE_STOP_EXIT)
		fprintf(out, ",\"status\":%" PRIu32, s->exit_status);
	text_copy(text, sizeof(text), s->text, sizeof(s->text));
	if (*text) {
		fputs(",\"text\":", out);
		text_json_string(out, text);
	}
	json_address(out, "ip", s->rip);
	json_place(out, names, linear(pm, s->rip), linear(pm, s->rip));
	if (insn_text(pm, names, insn, sizeof(insn))) {
		fputs(",\"insn\":", out);
		text_json_string(out, insn);
	}
	json_faults(out, pm);
	json_registers(out, s);
	json_calls(out, pm, names);
	fputc('}', out);
}
