// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints a divergence as text and as JSON. */
#include "decode/diverge_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decode/spaces.h"
#include "text/text.h"

/* The longest text of a space, see decode_space_format(). */
#define SPACE_MAX 128

struct printer {
	FILE *out;
	struct decode_listing *listing;
	char mark;
	char space[SPACE_MAX]; /* the text of the space that was printed last */
};

/* Print the space of an item, if it has changed. Those of A and B are equal if their texts are. */
static void print_space(struct printer *p, const struct decode_item *item)
{
	char text[SPACE_MAX];

	p->listing->space = item->space;
	if (!item->space || (item->kind == DECODE_ITEM_EVENT && item->event == DECODE_FLOW_PAGING))
		return;
	decode_space_format(item->space, text, sizeof(text));
	if (strcmp(text, p->space))
		fprintf(p->out, "  %c -- in %s\n", p->mark, text);
	memcpy(p->space, text, sizeof(text));
}

static void print_item(struct printer *p, const struct decode_diverge_item *of, const char *error)
{
	struct decode_item item = of->item;

	if (of->has_cfe)
		item.cfe = &of->cfe;
	if (item.kind == DECODE_ITEM_INSN || item.kind == DECODE_ITEM_EVENT)
		print_space(p, &item);
	fprintf(p->out, "  %c ", p->mark);
	if (item.kind == DECODE_ITEM_END)
		fputs("-- the end\n", p->out);
	else if (item.kind == DECODE_ITEM_ERROR)
		fprintf(p->out, "-- cannot be decoded at 0x%" PRIx64 ": %s\n", item.ip, error);
	else if (!decode_listing_item(p->listing, &item))
		fputs("-- another event\n", p->out);
}

void decode_diverge_print(const struct decode_divergence *d, unsigned int vcpu,
			  struct decode_listing *const side[2])
{
	struct printer common = {.out = side[0]->out, .listing = side[0], .mark = ' '}, p;
	unsigned int n, i;

	fprintf(common.out, "vCPU %u: equal for %" PRIu64 " instructions, then\n", vcpu, d->insns);
	for (i = 0; i < d->commons; i++)
		print_item(&common, &d->common[i], "");
	for (n = 0; n < 2; n++) {
		p = common;
		p.listing = side[n];
		p.mark = n ? '+' : '-';
		for (i = 0; i < d->side[n].count; i++)
			print_item(&p, &d->side[n].item[i], i ? "" : d->side[n].error);
	}
}

static void json_insn(FILE *out, const struct decode_listing *l, const struct decode_item *item)
{
	char text[160];

	if (!item->size)
		return;
	decode_disasm_format(l->disasm, item->ip, item->mode, item->raw, item->size, text,
			     sizeof(text));
	fputs(",\"instruction\":", out);
	text_json_string(out, text);
}

static void json_item(FILE *out, const struct decode_listing *l,
		      const struct decode_diverge_side *of)
{
	const struct decode_item *item = &of->item[0].item;
	char text[160];

	if (item->kind == DECODE_ITEM_END) {
		fputs("{\"end\":true}", out);
		return;
	}
	fputs("{\"ip\":", out);
	text_json_address(out, item->ip);
	debug_symbols_format(l->symbols, item->ip, text, sizeof(text));
	fputs(",\"symbol\":", out);
	text_json_string(out, text);
	if (item->space) {
		decode_space_format(item->space, text, sizeof(text));
		fputs(",\"space\":", out);
		text_json_string(out, text);
	}
	if (item->kind == DECODE_ITEM_INSN) {
		json_insn(out, l, item);
	} else if (item->kind == DECODE_ITEM_EVENT) {
		fputs(",\"event\":", out);
		text_json_string(out, decode_flow_event_text(item->event));
	} else {
		fputs(",\"error\":", out);
		text_json_string(out, of->error);
	}
	fputc('}', out);
}

void decode_diverge_json(const struct decode_divergence *d, unsigned int vcpu,
			 struct decode_listing *const side[2])
{
	static const char *const name[2] = {"a", "b"};
	FILE *out = side[0]->out;
	unsigned int n;

	fprintf(out, "{\"vcpu\":%u,\"insns\":%" PRIu64 ",\"equal\":%s", vcpu, d->insns,
		d->differs ? "false" : "true");
	for (n = 0; n < 2 && d->differs; n++) {
		fprintf(out, ",\"%s\":", name[n]);
		json_item(out, side[n], &d->side[n]);
	}
	fputc('}', out);
}
