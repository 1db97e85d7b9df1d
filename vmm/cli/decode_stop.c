// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows for vpt decode how the guest stopped, and the calls before the stop. */
#include "cli/decode_stop.h"

#include <inttypes.h>

#include "text/text.h"

bool cli_decode_stop_names(const struct cli_decode_stop *s, bool json)
{
	return s->pm && (json || cli_decode_stop_has_calls(s));
}

static void print_call(const struct decode_last_call *call, const struct debug_symbols *symbols)
{
	char from[128], to[128];

	debug_symbols_format(symbols, call->from, from, sizeof(from));
	debug_symbols_format(symbols, call->to, to, sizeof(to));
	printf("  0x%" PRIx64 " %s %s 0x%" PRIx64 " %s\n", call->from,
	       debug_symbols_find(symbols, call->from) ? from : "",
	       call->event ? "was interrupted by" : "calls", call->to,
	       debug_symbols_find(symbols, call->to) ? to : "");
}

void cli_decode_stop_text(const struct cli_decode_stop *s, const struct cli_names *names)
{
	const struct decode_last_call *call;
	unsigned int i;

	if (!s->pm || !cli_decode_stop_has_calls(s))
		return;
	putchar('\n');
	cli_post_mortem_headline(stdout, s->pm, names);
	cli_post_mortem_print(stdout, "  ", s->pm, names);
	for (i = 0; (call = decode_last_calls_get(&s->last, i)); i++) {
		if (!i)
			puts("last calls in the trace:");
		print_call(call, names->symbols);
	}
}

static void json_name(const char *name, uint64_t addr, const struct debug_symbols *symbols)
{
	char text[128];

	if (!debug_symbols_find(symbols, addr))
		return;
	debug_symbols_format(symbols, addr, text, sizeof(text));
	printf(",\"%s\":", name);
	text_json_string(stdout, text);
}

void cli_decode_stop_json(const struct cli_decode_stop *s, const struct cli_names *names)
{
	const struct decode_last_call *call;
	unsigned int i;

	if (!s->pm)
		return;
	fputs(",\"stop\":", stdout);
	cli_post_mortem_json(stdout, s->pm, names);
	if (!cli_decode_stop_has_calls(s))
		return;
	fputs(",\"last_calls\":[", stdout);
	for (i = 0; (call = decode_last_calls_get(&s->last, i)); i++) {
		printf("%s{\"event\":%s,\"from\":", i ? "," : "", call->event ? "true" : "false");
		text_json_address(stdout, call->from);
		json_name("from_symbol", call->from, names->symbols);
		fputs(",\"to\":", stdout);
		text_json_address(stdout, call->to);
		json_name("to_symbol", call->to, names->symbols);
		putchar('}');
	}
	putchar(']');
}

void cli_decode_stop_line(const struct cli_decode_stop *s, const struct cli_names *names, bool json)
{
	if (!s->pm || !cli_decode_stop_has_calls(s))
		return;
	if (json) {
		printf("{\"vcpu\":%u,\"stop\":", s->pm->vcpu);
		cli_post_mortem_json(stdout, s->pm, names);
		puts("}");
		return;
	}
	fputs("-- ", stdout);
	cli_post_mortem_headline(stdout, s->pm, names);
}
