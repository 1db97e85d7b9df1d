// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt lockstep: the first difference, and the last line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lockstep.h"
#include "decode/diverge_print.h"
#include "text/text.h"

#define ROW_BYTES 16u

struct report {
	const struct cli_lockstep_options *o;
	const struct core_lockstep *l;
	struct debug_symbols *symbols;
	struct decode_listing listing; /* of both engines, which have one program */
	struct decode_divergence difference;
};

static uint64_t divergences(const struct core_lockstep *l)
{
	return l->end == CORE_LOCKSTEP_DIVERGED;
}

static uint64_t differs(const struct core_lockstep *l, unsigned int field)
{
	return core_lockstep_differs(&l->state[0], &l->state[1], (enum core_lockstep_field)field);
}

/* Print what the engines did as vpt diff prints it for two traces. */
static void print_difference(struct report *r)
{
	struct decode_listing *const side[2] = {&r->listing, &r->listing};

	printf("%s (-) and %s (+) differ:\n", r->o->engine[0]->name, r->o->engine[1]->name);
	decode_diverge_print(&r->difference, r->l->side[0].vm.vcpu->index, side);
}

static const struct core_lockstep_step *last_step(const struct core_lockstep *l)
{
	return l->steps ? &l->history[(l->steps - 1) % CORE_LOCKSTEP_HISTORY] : NULL;
}

/* Copy the bytes of an instruction. Returns false if its address is not mapped. */
static bool code_of(const struct core_lockstep_step *s, uint8_t code[16])
{
	memcpy(code, &s->bytes.low, 8);
	memcpy(code + 8, &s->bytes.high, 8);
	return s->bytes.count;
}

/* Print which instruction the values follow. */
static void print_last(const struct report *r)
{
	const struct core_lockstep_step *s = last_step(r->l);
	uint8_t code[16];
	unsigned int i;

	if (!s) {
		puts("before the first instruction:");
		return;
	}
	(void)code_of(s, code);
	printf("after %016" PRIx64 ", CPL %u, bytes", s->ip, s->cpl);
	for (i = 0; i < s->len; i++)
		printf(" %02x", code[i]);
	puts(s->len ? ":" : " not valid:");
}

/* Show general registers always, and other fields only if they differ. */
static bool is_shown(const struct core_lockstep *l, unsigned int field)
{
	return field <= CORE_LS_R15 || differs(l, field);
}

static void print_states(const struct report *r)
{
	const struct core_lockstep_state *s = r->l->state;
	unsigned int i;

	putchar('\n');
	print_last(r);
	printf("  %-28s %-20s %s\n", "", r->o->engine[0]->name, r->o->engine[1]->name);
	for (i = 0; i < CORE_LS_FIELDS; i++)
		if (is_shown(r->l, i))
			printf("%c %-28s %016" PRIx64 "     %016" PRIx64 "\n",
			       differs(r->l, i) ? '*' : ' ',
			       core_lockstep_name((enum core_lockstep_field)i), s[0].value[i],
			       s[1].value[i]);
}

static void print_memory(const struct report *r)
{
	uint64_t at = r->l->gpa & ~(uint64_t)(ROW_BYTES - 1);
	unsigned int side, i;

	if (!r->l->memory_differs)
		return;
	printf("\n* memory, at guest-physical %#" PRIx64 ":\n", r->l->gpa);
	for (side = 0; side < 2; side++) {
		const uint8_t *host = r->l->side[side].vm.mem.host;

		printf("  %-8s %016" PRIx64 " ", r->o->engine[side]->name, at);
		for (i = 0; i < ROW_BYTES; i++)
			printf(" %02x", host[at + i]);
		putchar('\n');
	}
}

static void print_stop(const struct report *r)
{
	unsigned int i;

	if (!differs(r->l, CORE_LS_STOP))
		return;
	for (i = 0; i < 2; i++)
		if (r->l->side[i].vm.stop.kind)
			printf("  %s ended: %s\n", r->o->engine[i]->name,
			       r->l->side[i].vm.stop.text);
}

static uint64_t taken_over(const struct core_lockstep *l)
{
	uint64_t sum = 0;
	size_t count, i;

	(void)core_lockstep_overrides(&count);
	for (i = 0; i < count; i++)
		sum += l->overridden[i];
	return sum;
}

static void print_overridden(const struct report *r)
{
	const struct core_lockstep_override *row;
	size_t count, i;

	row = core_lockstep_overrides(&count);
	for (i = 0; i < count; i++)
		if (r->l->overridden[i])
			printf("taken over from %s: %s, %" PRIu64 " times\n", r->o->engine[0]->name,
			       row[i].name, r->l->overridden[i]);
}

static void print_text(struct report *r)
{
	const struct core_lockstep *l = r->l;

	if (l->end == CORE_LOCKSTEP_DIVERGED) {
		print_difference(r);
		print_states(r);
		print_memory(r);
		print_stop(r);
	}
	if (l->end == CORE_LOCKSTEP_UNABLE)
		printf("not comparable from here: %s cannot do %s\n", r->o->engine[l->unable]->name,
		       l->side[l->unable].vm.stop.text);
	if (l->end == CORE_LOCKSTEP_LIMIT)
		puts("ended before the guest did");
	print_overridden(r);
	printf("lockstep: %" PRIu64 " instructions, %" PRIu64 " divergences\n",
	       l->side[0].vm.vcpu->retired, divergences(l));
}

static const char *end_name(enum core_lockstep_end end)
{
	switch (end) {
	case CORE_LOCKSTEP_DIVERGED:
		return "divergence";
	case CORE_LOCKSTEP_UNABLE:
		return "unable";
	case CORE_LOCKSTEP_LIMIT:
		return "limit";
	default:
		return "guest";
	}
}

static void json_last(struct report *r, const struct core_lockstep_step *s)
{
	char text[160];
	uint8_t code[16];

	debug_symbols_format(r->symbols, s->ip, text, sizeof(text));
	printf(",\"ip\":");
	text_json_address(stdout, s->ip);
	printf(",\"symbol\":");
	text_json_string(stdout, text);
	snprintf(text, sizeof(text), "(no code)");
	printf(",\"instruction\":");
	if (code_of(s, code))
		decode_disasm_format(r->listing.disasm, s->ip, s->bits, code, s->bytes.count, text,
				     sizeof(text));
	text_json_string(stdout, text);
}

static void json_difference(struct report *r)
{
	struct decode_listing *const side[2] = {&r->listing, &r->listing};
	const struct core_lockstep *l = r->l;
	const char *comma = "";
	unsigned int i;

	if (l->steps)
		json_last(r, last_step(l));
	printf(",\"difference\":");
	decode_diverge_json(&r->difference, l->side[0].vm.vcpu->index, side);
	printf(",\"differs\":[");
	for (i = 0; i < CORE_LS_FIELDS; i++) {
		if (!differs(l, i))
			continue;
		printf("%s{\"name\":", comma);
		text_json_string(stdout, core_lockstep_name((enum core_lockstep_field)i));
		printf(",\"values\":[");
		text_json_address(stdout, l->state[0].value[i]);
		putchar(',');
		text_json_address(stdout, l->state[1].value[i]);
		printf("]}");
		comma = ",";
	}
	putchar(']');
	if (l->memory_differs) {
		printf(",\"memory\":");
		text_json_address(stdout, l->gpa);
	}
}

static void print_json(struct report *r)
{
	const struct core_lockstep *l = r->l;

	printf("{\"engines\":[\"%s\",\"%s\"],\"end\":\"%s\",\"instructions\":%" PRIu64
	       ",\"divergences\":%" PRIu64 ",\"overridden\":%" PRIu64,
	       r->o->engine[0]->name, r->o->engine[1]->name, end_name(l->end),
	       l->side[0].vm.vcpu->retired, divergences(l), taken_over(l));
	if (l->end == CORE_LOCKSTEP_UNABLE) {
		printf(",\"unable\":\"%s\",\"why\":", r->o->engine[l->unable]->name);
		text_json_string(stdout, l->side[l->unable].vm.stop.text);
	}
	if (l->end == CORE_LOCKSTEP_DIVERGED)
		json_difference(r);
	puts("}");
}

/* Name addresses and describe the difference. Returns false if there is no memory. */
static bool open_report(struct report *r, const void *elf, size_t len)
{
	if (debug_symbols_open_elf(elf, len, r->o->guest, &r->symbols))
		return false;
	r->listing = (struct decode_listing){.out = stdout, .symbols = r->symbols};
	r->listing.disasm = decode_disasm_new(r->symbols);
	if (r->l->end == CORE_LOCKSTEP_DIVERGED)
		cli_lockstep_divergence(r->l, &r->difference);
	return r->listing.disasm;
}

static void close_report(struct report *r)
{
	decode_listing_fini(&r->listing);
	decode_disasm_free(r->listing.disasm);
	debug_symbols_close(r->symbols);
	free(r);
}

int cli_lockstep_report(const struct cli_lockstep_options *o, const struct core_lockstep *l,
			const void *elf, size_t len)
{
	struct report *r = calloc(1, sizeof(*r));
	bool ok;

	if (!r)
		return cli_fail(CLI_EXIT_HOST, "lockstep: no memory");
	r->o = o;
	r->l = l;
	ok = open_report(r, elf, len);
	if (ok)
		(o->json ? print_json : print_text)(r);
	close_report(r);
	if (!ok)
		return cli_fail(CLI_EXIT_HOST, "lockstep: no memory");
	if (fflush(stdout) || ferror(stdout))
		return cli_fail(CLI_EXIT_HOST, "lockstep: cannot write: %s", cli_reason(errno));
	switch (l->end) {
	case CORE_LOCKSTEP_DIVERGED:
		return CLI_EXIT_FAIL;
	case CORE_LOCKSTEP_UNABLE:
		return CLI_EXIT_PARTIAL;
	default:
		return CLI_EXIT_OK;
	}
}
