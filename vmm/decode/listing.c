// SPDX-License-Identifier: GPL-2.0-or-later
/* Print instructions, blocks and events. */
#include "decode/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decode/cfe.h"
#include "decode/listing_join.h"
#include "decode/spaces.h"
#include "text/text.h"
#include "vpt/block.h"

#define SYMBOL_WIDTH 28

static void mark_item(struct decode_listing *l, enum decode_listing_mark mark)
{
	if (l->marks)
		putc_unlocked(mark, l->out);
}

/* Mark a line that is omitted if the line before it of the same kind has the same key. */
static void mark_key(struct decode_listing *l, enum decode_listing_mark mark, uint64_t key)
{
	char text[17];

	if (!l->marks)
		return;
	text[0] = (char)mark;
	text_hex(text + 1, key, 16);
	fwrite_unlocked(text, sizeof(text), 1, l->out);
}

static void json_head(struct decode_listing *l)
{
	fprintf(l->out, "{\"vcpu\":%u", l->vcpu);
}

static void json_field(struct decode_listing *l, const char *name, const char *text)
{
	fprintf(l->out, ",\"%s\":", name);
	text_json_string(l->out, text);
}

static void json_address(struct decode_listing *l, const char *name, uint64_t addr)
{
	fprintf(l->out, ",\"%s\":", name);
	text_json_address(l->out, addr);
}

/* The maximum length of the head of a line: times of 20 digits, an address and spaces. */
#define HEAD_MAX 96

static char *put_text(char *to, const char *text)
{
	const size_t len = strlen(text);

	memcpy(to, text, len);
	return to + len;
}

/* Write the TSC, and the nanoseconds since the first known time, in fixed columns. */
static char *put_time(const struct decode_listing *l, const struct decode_item *item, char *to)
{
	const struct decode_pace *p = l->pace;

	if (!p)
		return to;
	if (!decode_pace_knows(&item->when))
		return put_text(to, "               -              -  ");
	to = text_decimal(to, item->when.tsc, 16);
	if (!p->hz)
		return put_text(to, "              -  ");
	*to++ = ' ';
	to = text_decimal(
		to, decode_pace_ns(p, item->when.tsc > p->first ? item->when.tsc - p->first : 0),
		11);
	return put_text(to, " ns  ");
}

static void text_time(struct decode_listing *l, const struct decode_item *item)
{
	char head[HEAD_MAX];

	fwrite(head, (size_t)(put_time(l, item, head) - head), 1, l->out);
}

static void json_time(struct decode_listing *l, const struct decode_item *item)
{
	const struct decode_pace *p = l->pace;
	const struct decode_when *w = &item->when;

	if (!p || !decode_pace_knows(w))
		return;
	json_address(l, w->relative ? "relative_time" : "time", w->tsc);
	json_address(l, "time_low", w->lo);
	json_address(l, "time_high", w->hi);
	json_address(l, "time_until", w->until);
	if (p->hz)
		fprintf(l->out, ",\"ns\":%" PRIu64,
			decode_pace_ns(p, w->tsc > p->first ? w->tsc - p->first : 0));
	if (w->cycles)
		fprintf(l->out, ",\"cycles\":%" PRIu64, w->cycles);
	if (p->hz && w->span_ticks)
		fprintf(l->out, ",\"core_hz\":%" PRIu64,
			decode_pace_core_hz(p, w->span_cycles, w->span_ticks));
}

static void json_symbol(struct decode_listing *l, uint64_t ip)
{
	char name[128];

	if (!debug_symbols_find(l->symbols, ip))
		return;
	debug_symbols_format(l->symbols, ip, name, sizeof(name));
	json_field(l, "symbol", name);
}

/* Return a number that identifies a source line: FNV-1a, 64 bits, of its file and its number. */
static uint64_t line_key(const struct debug_line *line)
{
	uint64_t key = 0xcbf29ce484222325ull;
	const char *at;

	for (at = line->file; *at; at++)
		key = (key ^ (unsigned char)*at) * 0x100000001b3ull;
	return (key ^ line->line) * 0x100000001b3ull;
}

void decode_listing_line(struct decode_listing *l, const struct debug_line *line)
{
	char file[256];

	if (l->last && l->last->line == line->line && !strcmp(l->last->file, line->file))
		return;
	l->last = line;
	if (l->hold) {
		l->hold = false;
		fflush(l->out);
		return;
	}
	text_copy(file, sizeof(file), line->file, strlen(line->file));
	if (l->marks)
		mark_key(l, DECODE_MARK_LINE, line_key(line));
	fprintf(l->out, "%s:%u:\n", file, line->line);
}

static void show_line(struct decode_listing *l, uint64_t ip)
{
	const struct debug_line *line;

	if (!l->lines || !l->symbols)
		return;
	line = debug_symbols_line(l->symbols, ip);
	if (line)
		decode_listing_line(l, line);
}

static void json_line(struct decode_listing *l, uint64_t ip)
{
	const struct debug_line *line;

	if (!l->lines || !l->symbols)
		return;
	line = debug_symbols_line(l->symbols, ip);
	if (!line)
		return;
	json_field(l, "file", line->file);
	fprintf(l->out, ",\"line\":%u", line->line);
}

/* The texts of printed instructions, which loops print again. */
struct decode_listing_cache {
	struct cached {
		uint64_t ip;
		uint8_t mode, len; /* len is 0 in an empty slot */
		uint8_t raw[15];
		char text[DECODE_LISTING_TEXT];
	} at[8192];
};

static void format_insn(struct decode_listing *l, uint64_t ip, unsigned int mode,
			const uint8_t *bytes, size_t len, char *text, size_t size)
{
	char name[128] = "";
	size_t at;

	if (debug_symbols_find(l->symbols, ip))
		debug_symbols_format(l->symbols, ip, name, sizeof(name));
	at = (size_t)snprintf(text, size, "%-*s ", SYMBOL_WIDTH, name);
	decode_disasm_format(l->disasm, ip, mode, bytes, len, text + at, size - at);
}

static const char *insn_text(struct decode_listing *l, uint64_t ip, unsigned int mode,
			     const uint8_t *bytes, size_t len)
{
	struct cached *c;

	if (!l->cache)
		l->cache = calloc(1, sizeof(*l->cache));
	/* Without a cache, format each text again. */
	if (!l->cache) {
		format_insn(l, ip, mode, bytes, len, l->text, sizeof(l->text));
		return l->text;
	}
	c = &l->cache->at[(ip ^ ip >> 11) % 8192];
	if (c->ip == ip && c->mode == mode && c->len == len && !memcmp(c->raw, bytes, len))
		return c->text;
	format_insn(l, ip, mode, bytes, len, c->text, sizeof(c->text));
	c->ip = ip;
	c->mode = (uint8_t)mode;
	c->len = (uint8_t)len;
	memcpy(c->raw, bytes, len);
	return c->text;
}

/* Write @head, which is filled up to @to, and an instruction after it. */
static void show_insn(struct decode_listing *l, uint64_t ip, unsigned int mode,
		      const uint8_t *bytes, size_t len, char *head, char *to)
{
	const char *text = len && len <= 15 ? insn_text(l, ip, mode, bytes, len) : "(no code)";

	to = put_text(text_hex(to, ip, 16), "  ");
	fwrite_unlocked(head, (size_t)(to - head), 1, l->out);
	fputs_unlocked(text, l->out);
}

void decode_listing_insn(struct decode_listing *l, uint64_t ip, unsigned int mode,
			 const uint8_t *bytes, size_t len)
{
	char head[HEAD_MAX];

	show_insn(l, ip, mode, bytes, len, head, head);
}

void decode_listing_fini(struct decode_listing *l)
{
	free(l->cache);
	l->cache = NULL;
}

static void json_space(struct decode_listing *l, const struct decode_item *item)
{
	char text[128];

	if (!item->space)
		return;
	decode_space_format(item->space, text, sizeof(text));
	json_field(l, "space", text);
}

/* Print the space, if it has changed. */
static void show_space(struct decode_listing *l, const struct decode_item *item)
{
	char text[128];

	if (!item->space || item->space == l->space)
		return;
	l->space = item->space;
	if (l->json)
		return;
	decode_space_format(item->space, text, sizeof(text));
	mark_key(l, DECODE_MARK_SPACE, item->space->id);
	fprintf(l->out, "-- in %s\n", text);
}

void decode_listing_skip(struct decode_listing *l, const struct decode_item *item)
{
	switch (item->kind) {
	case DECODE_ITEM_SEGMENT:
		l->space = NULL;
		break;
	case DECODE_ITEM_EVENT:
		if (item->status || item->event == DECODE_FLOW_PAGING)
			break;
		/* fall through */
	case DECODE_ITEM_INSN:
	case DECODE_ITEM_BLOCK:
		if (item->space)
			l->space = item->space;
		break;
	default:
		break;
	}
}

void decode_listing_begin(struct decode_listing *l, uint64_t clock)
{
	char text[128];

	l->last = NULL;
	if (l->json)
		return;
	fprintf(l->out, "-- vCPU %u, from instruction %" PRIu64 " on\n", l->vcpu, clock);
	if (!l->space)
		return;
	decode_space_format(l->space, text, sizeof(text));
	fprintf(l->out, "-- in %s\n", text);
}

static void insn(struct decode_listing *l, const struct decode_item *item)
{
	char text[256], head[HEAD_MAX];

	if (!l->json) {
		show_line(l, item->ip);
		mark_item(l, DECODE_MARK_ITEM);
		show_insn(l, item->ip, item->mode, item->raw, item->size, head,
			  put_time(l, item, head));
		putc_unlocked('\n', l->out);
		return;
	}
	decode_disasm_format(l->disasm, item->ip, item->mode, item->raw, item->size, text,
			     sizeof(text));
	mark_item(l, DECODE_MARK_ITEM);
	json_head(l);
	json_address(l, "ip", item->ip);
	fprintf(l->out, ",\"size\":%u", item->size);
	json_space(l, item);
	json_symbol(l, item->ip);
	json_field(l, "insn", text);
	json_line(l, item->ip);
	json_time(l, item);
	fputs("}\n", l->out);
}

static void block(struct decode_listing *l, const struct decode_item *item)
{
	char name[128] = "", head[HEAD_MAX], *to;

	if (l->json) {
		mark_item(l, DECODE_MARK_ITEM);
		json_head(l);
		json_address(l, "ip", item->ip);
		json_address(l, "last", item->last);
		fprintf(l->out, ",\"insns\":%u", item->insns);
		json_space(l, item);
		json_symbol(l, item->ip);
		json_line(l, item->ip);
		json_time(l, item);
		fputs("}\n", l->out);
		return;
	}
	show_line(l, item->ip);
	mark_item(l, DECODE_MARK_ITEM);
	if (debug_symbols_find(l->symbols, item->ip))
		debug_symbols_format(l->symbols, item->ip, name, sizeof(name));
	to = put_text(text_hex(put_time(l, item, head), item->ip, 16), "..");
	to = text_decimal(text_hex(to, item->last, 16), item->insns, 6);
	to = put_text(to, "  ");
	fwrite_unlocked(head, (size_t)(to - head), 1, l->out);
	fputs_unlocked(name, l->out);
	putc_unlocked('\n', l->out);
}

/* Returns true if the event has a valid `ip`. */
static bool has_from(const struct decode_item *item)
{
	switch (item->event) {
	case DECODE_FLOW_ASYNC_DISABLED:
	case DECODE_FLOW_ASYNC_BRANCH:
	case DECODE_FLOW_PTWRITE:
	case DECODE_FLOW_EXSTOP:
	case DECODE_FLOW_MWAIT:
	case DECODE_FLOW_IFLAG:
	case DECODE_FLOW_TRIG:
		return true;
	default:
		return false;
	}
}

static bool has_value(const struct decode_item *item)
{
	return item->event == DECODE_FLOW_PAGING || item->event == DECODE_FLOW_EXEC_MODE ||
	       (item->event >= DECODE_FLOW_TSX && item->event != DECODE_FLOW_EXSTOP &&
		item->event != DECODE_FLOW_CFE && item->event != DECODE_FLOW_BLOCK &&
		item->event != DECODE_FLOW_TARGET);
}

static void event_ip(struct decode_listing *l, const char *word, uint64_t ip)
{
	char name[128];

	fprintf(l->out, " %s 0x%" PRIx64, word, ip);
	if (debug_symbols_find(l->symbols, ip)) {
		debug_symbols_format(l->symbols, ip, name, sizeof(name));
		fprintf(l->out, " <%s>", name);
	}
}

#define CFE_INTR 1

static const char *cfe_text(unsigned int type)
{
	/* Table 33-50. */
	static const char *const texts[] = {
		NULL,	   "INTR",   "IRET",	    "SMI",	"RSM", "SIPI",	"INIT",
		"VMENTRY", "VMEXIT", "VMEXIT_INTR", "SHUTDOWN", NULL,  "UINTR", "UIRET",
	};

	return type < sizeof(texts) / sizeof(texts[0]) && texts[type] ? texts[type] : "?";
}

/* Returns true for types of CFE with a valid vector (table 33-50). */
static bool has_vector(unsigned int type)
{
	return type == 1 || type == 5 || type == 9 || type == 12;
}

static void json_cfe(struct decode_listing *l, const struct decode_cfe *c)
{
	json_field(l, "type", cfe_text(c->type));
	fprintf(l->out, ",\"type_number\":%u", c->type);
	if (has_vector(c->type))
		fprintf(l->out, ",\"vector\":%u", c->vector);
	if (c->has_ip)
		json_address(l, "from", c->ip);
	if (c->has_reason)
		json_address(l, "reason", c->reason);
	if (c->has_qualification)
		json_address(l, "qualification", c->qualification);
	if (c->has_fault_address)
		json_address(l, "fault_address", c->fault_address);
}

static void text_cfe(struct decode_listing *l, const struct decode_cfe *c)
{
	if (c->type != CFE_INTR)
		fprintf(l->out, " %s", cfe_text(c->type));
	if (has_vector(c->type) && c->type != CFE_INTR)
		fprintf(l->out, " vector 0x%x", c->vector);
	if (c->has_ip)
		event_ip(l, "at", c->ip);
	if (c->has_reason)
		fprintf(l->out, " reason 0x%" PRIx64, c->reason);
	if (c->has_qualification)
		fprintf(l->out, " qualification 0x%" PRIx64, c->qualification);
	if (c->has_fault_address)
		fprintf(l->out, " fault address 0x%" PRIx64, c->fault_address);
}

static const char *block_type(unsigned int type)
{
	switch (type) {
	case VPT_BBP_GPR:
		return "gpr";
	case VPT_BBP_PEBS_BASIC:
		return "pebs-basic";
	case VPT_BBP_PEBS_MEMORY:
		return "pebs-memory";
	case VPT_BBP_LBR_0:
		return "lbr-0";
	case VPT_BBP_LBR_1:
		return "lbr-1";
	case VPT_BBP_LBR_2:
		return "lbr-2";
	case VPT_BBP_XMM:
		return "xmm";
	default:
		return "of a reserved type";
	}
}

static void json_block(struct decode_listing *l, const struct decode_cfe *c)
{
	uint32_t i;

	json_field(l, "type", block_type(c->type));
	fprintf(l->out, ",\"type_number\":%u", c->type);
	if (c->has_ip)
		json_address(l, "from", c->ip);
	fputs(",\"items\":[", l->out);
	for (i = 0; i < c->items; i++) {
		const char *item = vpt_bip_name(c->type, c->item[i].id);

		fprintf(l->out, "%s{\"id\":%u", i ? "," : "", c->item[i].id);
		if (item)
			json_field(l, "name", item);
		json_address(l, "value", c->item[i].value);
		fputc('}', l->out);
	}
	fputc(']', l->out);
}

static void text_block(struct decode_listing *l, const struct decode_cfe *c)
{
	uint32_t i;

	fprintf(l->out, " %s", block_type(c->type));
	if (c->has_ip)
		event_ip(l, "at", c->ip);
	for (i = 0; i < c->items; i++) {
		const char *item = vpt_bip_name(c->type, c->item[i].id);

		fprintf(l->out, "%s ", i ? "," : ":");
		if (item)
			fputs(item, l->out);
		else
			fprintf(l->out, "%02x", c->item[i].id);
		fprintf(l->out, " 0x%" PRIx64, c->item[i].value);
	}
}

static void json_event(struct decode_listing *l, const struct decode_item *item)
{
	json_head(l);
	json_field(l, "event", decode_flow_event_text((enum decode_flow_event)item->event));
	if (has_from(item) && (item->ip || item->event < DECODE_FLOW_IFLAG))
		json_address(l, "from", item->ip);
	if (item->has_to)
		json_address(l, "to", item->to);
	if (has_value(item))
		json_address(l, "value", item->value);
	if (item->cfe && item->cfe->is_block)
		json_block(l, item->cfe);
	else if (item->cfe)
		json_cfe(l, item->cfe);
	if (item->event == DECODE_FLOW_TRIG)
		fprintf(l->out, ",\"insns\":%u", item->insns);
	if (item->shown)
		fputs(",\"ran\":true", l->out);
	if (item->vm_entry)
		fputs(",\"vm_entry\":true", l->out);
	json_space(l, item);
	if (item->has_tsc)
		json_address(l, "tsc", item->tsc);
	json_time(l, item);
	fputs("}\n", l->out);
}

/* Return the number of a C-state. MWAIT's hints and PWRE encode C1 as 0 and C0 as 15. */
static unsigned int c_state(uint64_t state)
{
	return (unsigned int)(state + 1) & 0xf;
}

/* Print an event whose text differs from its name in JSON. Returns false for other events. */
static bool text_named(struct decode_listing *l, const struct decode_item *item)
{
	switch (item->event) {
	case DECODE_FLOW_PTWRITE:
		fprintf(l->out, "-- ptwrite 0x%" PRIx64, item->value);
		break;
	case DECODE_FLOW_TSX:
		fprintf(l->out, "-- tx %s",
			item->value & 2	  ? "abort"
			: item->value & 1 ? "begin"
					  : "commit");
		break;
	case DECODE_FLOW_PWRE:
		fprintf(l->out, "-- power: sleep C%u", c_state(item->value));
		break;
	case DECODE_FLOW_PWRX:
		fprintf(l->out, "-- power: wake from C%u", c_state(item->value));
		break;
	case DECODE_FLOW_MWAIT:
		fprintf(l->out, "-- power: mwait, hints 0x%" PRIx64, item->value);
		break;
	case DECODE_FLOW_EXSTOP:
		fputs("-- power: clocks stop", l->out);
		break;
	case DECODE_FLOW_EXEC_MODE:
		fprintf(l->out, "-- exec mode %" PRIu64 " bit", item->value);
		break;
	case DECODE_FLOW_IFLAG:
		fprintf(l->out, "-- interrupts %s", item->value ? "on" : "off");
		break;
	case DECODE_FLOW_TRIG:
		fprintf(l->out, "-- triggers 0x%" PRIx64 ", %u instructions after", item->value,
			item->insns);
		break;
	case DECODE_FLOW_CFE:
		if (item->cfe->type != CFE_INTR)
			return false;
		fprintf(l->out, "-- interrupt %u", item->cfe->vector);
		break;
	default:
		return false;
	}
	/* The IP is not known without a FUP. */
	if (has_from(item) && item->ip)
		event_ip(l, "at", item->ip);
	return true;
}

static void text_event(struct decode_listing *l, const struct decode_item *item)
{
	text_time(l, item);
	if (!text_named(l, item)) {
		fprintf(l->out, "-- %s",
			decode_flow_event_text((enum decode_flow_event)item->event));
		if (has_from(item))
			event_ip(l, "at", item->ip);
		if (item->has_to)
			event_ip(l, "to", item->to);
		if (has_value(item))
			fprintf(l->out, " 0x%" PRIx64, item->value);
	}
	if (item->cfe && item->cfe->is_block)
		text_block(l, item->cfe);
	else if (item->cfe)
		text_cfe(l, item->cfe);
	if (item->vm_entry)
		fputs(" by VM entry", l->out);
	if (item->has_tsc)
		fprintf(l->out, " tsc 0x%" PRIx64, item->tsc);
	fputc('\n', l->out);
}

static void event(struct decode_listing *l, const struct decode_item *item)
{
	mark_item(l, DECODE_MARK_ITEM);
	(l->json ? json_event : text_event)(l, item);
}

static void error(struct decode_listing *l, const struct decode_item *item)
{
	mark_item(l, DECODE_MARK_ERROR);
	if (l->json) {
		json_head(l);
		json_field(l, "error", item->text);
		json_address(l, "ip", item->ip);
		fprintf(l->out, ",\"offset\":%" PRIu64 "}\n", item->offset);
		return;
	}
	fprintf(l->out, "-- error: %s, at byte 0x%" PRIx64 " of the trace, ip 0x%" PRIx64 "\n",
		item->text, item->offset, item->ip);
}

static void segment(struct decode_listing *l, const struct decode_item *item)
{
	mark_item(l, DECODE_MARK_SEGMENT);
	if (l->json) {
		json_head(l);
		fprintf(l->out, ",\"session\":%u,\"offset\":%" PRIu64 ",\"skipped\":%" PRIu64 "}\n",
			item->session, item->offset, item->value);
		return;
	}
	fprintf(l->out, "-- vCPU %u, session %u, from byte 0x%" PRIx64 " on", l->vcpu,
		item->session, item->offset);
	if (item->value)
		fprintf(l->out, "; no PSB in its first %" PRIu64 " bytes", item->value);
	fputc('\n', l->out);
}

bool decode_listing_shows(const struct decode_item *item)
{
	switch (item->kind) {
	case DECODE_ITEM_SEGMENT:
	case DECODE_ITEM_INSN:
	case DECODE_ITEM_BLOCK:
	case DECODE_ITEM_ERROR:
		return true;
	case DECODE_ITEM_EVENT:
		/* A PSB+ repeats the known state. */
		return !item->status;
	default:
		return false;
	}
}

bool decode_listing_item(struct decode_listing *l, const struct decode_item *item)
{
	if (!decode_listing_shows(item))
		return false;
	switch (item->kind) {
	case DECODE_ITEM_SEGMENT:
		l->last = NULL;
		l->space = NULL;
		l->hold = false;
		segment(l, item);
		break;
	case DECODE_ITEM_INSN:
		show_space(l, item);
		insn(l, item);
		break;
	case DECODE_ITEM_BLOCK:
		show_space(l, item);
		block(l, item);
		break;
	case DECODE_ITEM_EVENT:
		if (item->event != DECODE_FLOW_PAGING)
			show_space(l, item);
		event(l, item);
		break;
	default:
		error(l, item);
		break;
	}
	return true;
}
