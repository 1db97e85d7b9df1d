// SPDX-License-Identifier: GPL-2.0-or-later
/* vpt lockstep: the first difference, and the last line. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/lockstep.h"
#include "text/text.h"

#define ROW_BYTES 16u

struct report {
	const struct cli_lockstep_options *o;
	const struct core_lockstep *l;
	const void *elf;
	size_t len;
};

static uint64_t divergences(const struct core_lockstep *l)
{
	return l->end == CORE_LOCKSTEP_DIVERGED;
}

static uint64_t differs(const struct core_lockstep *l, unsigned int field)
{
	return core_lockstep_differs(&l->state[0], &l->state[1], (enum core_lockstep_field)field);
}

static void step_text(const struct report *r, const struct core_lockstep_step *s, char *symbol,
		      size_t symbol_size, char *text, unsigned int text_size)
{
	snprintf(text, text_size, "(not mapped)");
	if (s->bytes.count)
		core_insn_format(r->l->side[0].vm.vcpu->insns, s->ip, s->bits, &s->bytes, text,
				 text_size);
	cli_lockstep_symbol(r->elf, r->len, s->ip, symbol, symbol_size);
}

static void print_step(const struct report *r, uint64_t number, char mark)
{
	const struct core_lockstep_step *s = &r->l->history[number % CORE_LOCKSTEP_HISTORY];
	char symbol[64], text[96], bytes[3 * CORE_INSN_MAX + 1] = "";
	uint8_t code[16];
	unsigned int i;

	step_text(r, s, symbol, sizeof(symbol), text, sizeof(text));
	memcpy(code, &s->bytes.low, 8);
	memcpy(code + 8, &s->bytes.high, 8);
	for (i = 0; i < s->len; i++)
		snprintf(bytes + 3 * i, sizeof(bytes) - 3 * i, "%02x ", code[i]);
	printf("%c %10" PRIu64 "  %u  %016" PRIx64 "  %-24s %-30s %s\n", mark, s->insns, s->cpl,
	       s->ip, symbol, bytes, text);
}

static void print_history(const struct report *r)
{
	uint64_t last = r->l->steps - 1;
	uint64_t first = last >= CORE_LOCKSTEP_HISTORY ? last - CORE_LOCKSTEP_HISTORY + 1 : 0;

	if (!r->l->steps) {
		puts("before the first instruction:");
		return;
	}
	puts("  instruction CPL");
	for (; first < last; first++)
		print_step(r, first, ' ');
	print_step(r, last, '>');
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

	printf("\n  %-28s %-20s %s\n", "", r->o->engine[0]->name, r->o->engine[1]->name);
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

static void print_text(const struct report *r)
{
	const struct core_lockstep *l = r->l;

	if (l->end == CORE_LOCKSTEP_DIVERGED) {
		printf("%s and %s differ after this:\n", r->o->engine[0]->name,
		       r->o->engine[1]->name);
		print_history(r);
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

static void json_difference(const struct report *r)
{
	const struct core_lockstep *l = r->l;
	const struct core_lockstep_step *s = &l->history[(l->steps - 1) % CORE_LOCKSTEP_HISTORY];
	char symbol[64], text[96];
	const char *comma = "";
	unsigned int i;

	if (l->steps) {
		step_text(r, s, symbol, sizeof(symbol), text, sizeof(text));
		printf(",\"ip\":");
		text_json_address(stdout, s->ip);
		printf(",\"symbol\":");
		text_json_string(stdout, symbol);
		printf(",\"instruction\":");
		text_json_string(stdout, text);
	}
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

static void print_json(const struct report *r)
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

int cli_lockstep_report(const struct cli_lockstep_options *o, const struct core_lockstep *l,
			const void *elf, size_t len)
{
	struct report r = {.o = o, .l = l, .elf = elf, .len = len};

	if (o->json)
		print_json(&r);
	else
		print_text(&r);
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
