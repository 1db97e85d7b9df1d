// SPDX-License-Identifier: GPL-2.0-or-later
/* How the guest stopped, and the calls before it, for vpt decode. */
#include "cli/decode_stop.h"

#include <inttypes.h>

#include "text/text.h"

bool vpt_decode_stop_names(const struct vpt_decode_stop *s, bool json)
{
	return s->pm && (json || vpt_decode_stop_has_calls(s));
}

static void print_call(const struct vpt_last_call *call, const struct vpt_symbols *symbols)
{
	char from[128], to[128];

	vpt_symbols_format(symbols, call->from, from, sizeof(from));
	vpt_symbols_format(symbols, call->to, to, sizeof(to));
	printf("  0x%" PRIx64 " %s %s 0x%" PRIx64 " %s\n", call->from,
	       vpt_symbols_find(symbols, call->from) ? from : "",
	       call->event ? "was interrupted by" : "calls", call->to,
	       vpt_symbols_find(symbols, call->to) ? to : "");
}

void vpt_decode_stop_text(const struct vpt_decode_stop *s, const struct vpt_cli_names *names)
{
	const struct vpt_last_call *call;
	unsigned int i;

	if (!s->pm || !vpt_decode_stop_has_calls(s))
		return;
	putchar('\n');
	vpt_post_mortem_headline(stdout, s->pm, names);
	vpt_post_mortem_print(stdout, "  ", s->pm, names);
	for (i = 0; (call = vpt_last_calls_get(&s->last, i)); i++) {
		if (!i)
			puts("last calls in the trace:");
		print_call(call, names->symbols);
	}
}

static void json_name(const char *name, uint64_t addr, const struct vpt_symbols *symbols)
{
	char text[128];

	if (!vpt_symbols_find(symbols, addr))
		return;
	vpt_symbols_format(symbols, addr, text, sizeof(text));
	printf(",\"%s\":", name);
	vpt_json_string(stdout, text);
}

void vpt_decode_stop_json(const struct vpt_decode_stop *s, const struct vpt_cli_names *names)
{
	const struct vpt_last_call *call;
	unsigned int i;

	if (!s->pm)
		return;
	fputs(",\"stop\":", stdout);
	vpt_post_mortem_json(stdout, s->pm, names);
	if (!vpt_decode_stop_has_calls(s))
		return;
	fputs(",\"last_calls\":[", stdout);
	for (i = 0; (call = vpt_last_calls_get(&s->last, i)); i++) {
		printf("%s{\"event\":%s,\"from\":", i ? "," : "", call->event ? "true" : "false");
		vpt_json_address(stdout, call->from);
		json_name("from_symbol", call->from, names->symbols);
		fputs(",\"to\":", stdout);
		vpt_json_address(stdout, call->to);
		json_name("to_symbol", call->to, names->symbols);
		putchar('}');
	}
	putchar(']');
}

void vpt_decode_stop_line(const struct vpt_decode_stop *s, const struct vpt_cli_names *names,
			  bool json)
{
	if (!s->pm || !vpt_decode_stop_has_calls(s))
		return;
	if (json) {
		printf("{\"vcpu\":%u,\"stop\":", s->pm->vcpu);
		vpt_post_mortem_json(stdout, s->pm, names);
		puts("}");
		return;
	}
	fputs("-- ", stdout);
	vpt_post_mortem_headline(stdout, s->pm, names);
}
