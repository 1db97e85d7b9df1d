// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Write a function of the report: its instructions with their counts, the outcomes and targets of
 * its branches, and its source lines. Instructions that did not run are listed if there are few in
 * a row.
 */
#include "formats/report_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decode/code.h"
#include "decode/disasm.h"
#include "formats/code_counts.h"
#include "formats/report.h"
#include "formats/report_source.h"
#include "trace/vec.h"

#define FUNCTION_BYTES_MAX 65536u
#define NO_SYMBOL_BYTES	   4096u
#define TARGETS_MAX	   8u
/* More instructions in a row that did not run are one row. */
#define COLD_MAX 6u

struct format_report_code {
	struct format_code_counts counts;
	const struct trace_reader *reader;
	const struct debug_symbols *symbols;
	struct decode_disasm *disasm;
	struct decode_code_store **stores; /* by vCPU */
};

/* The instructions of a function, by their offsets. */
struct body {
	uint64_t start;
	size_t size; /* the bytes that are known */
	uint8_t *bytes;
	uint64_t *ran;	/* the number of executions of the instruction that begins here */
	uint8_t *modes; /* the mode of an instruction that ran, or 0 */
	bool other;	/* other code was at these addresses, too */
};

struct row {
	uint64_t ip, ran;
	char text[256];
	unsigned int len;
	enum dec_insn_kind kind;
};

/* The state of the rows that were written. */
struct rows {
	struct format_report_code *code;
	struct format_report_source *source;
	FILE *out;
	uint64_t start;
	unsigned int n, max;
	struct row cold[COLD_MAX];
	uint64_t ncold, cold_at; /* instructions that did not run and were not written */
	const struct debug_line *line;
	int err;
};

int format_report_code_open(const struct format_walk *walk, struct format_report_code **code)
{
	const unsigned int vcpus = trace_reader_info(walk->reader)->vcpus;
	struct format_report_code *c = calloc(1, sizeof(*c));
	unsigned int i;
	int err;

	if (!c)
		return -ENOMEM;
	c->reader = walk->reader;
	c->symbols = walk->symbols;
	c->stores = calloc(vcpus, sizeof(struct decode_code_store *));
	c->disasm = decode_disasm_new(walk->symbols);
	err = c->stores && c->disasm ? format_code_counts_read(walk, &c->counts) : -ENOMEM;
	for (i = 0; !err && i < vcpus; i++) {
		err = decode_code_open(walk->reader, i, &c->stores[i]);
		if (!err)
			decode_code_advance(c->stores[i], UINT64_MAX - 1);
	}
	if (!err)
		*code = c;
	else
		format_report_code_close(c);
	return err;
}

void format_report_code_close(struct format_report_code *c)
{
	unsigned int i;

	if (!c)
		return;
	for (i = 0; c->stores && i < trace_reader_info(c->reader)->vcpus; i++)
		decode_code_close(c->stores[i]);
	free(c->stores);
	decode_disasm_free(c->disasm);
	format_code_counts_free(&c->counts);
	free(c);
}

/* Copy code at an address from any space of any vCPU. Returns the number of bytes. */
static size_t read_code(const struct format_report_code *c, uint64_t ip, uint8_t *bytes, size_t len)
{
	const unsigned int vcpus = trace_reader_info(c->reader)->vcpus;
	const uint64_t page = ip & ~(uint64_t)(TRACE_CODE_BYTES - 1);
	unsigned int i;
	size_t n, k, got;

	for (i = 0; i < vcpus; i++) {
		const struct trace_code *code = trace_reader_code(c->reader, i, &n);

		for (k = 0; k < n; k++) {
			if (code[k].page->vaddr != page)
				continue;
			got = decode_code_read(c->stores[i], code[k].page->cr3, ip, bytes, len);
			if (got)
				return got;
		}
		got = decode_code_read(c->stores[i], decode_code_guess(c->stores[i], ip), ip, bytes,
				       len);
		if (got)
			return got;
	}
	return 0;
}

/* Returns true if a page of any space and time has other bytes of the function. */
static bool differs(const struct body *b, const struct trace_code *code)
{
	const uint64_t page = code->page->vaddr, end = b->start + b->size;
	const uint64_t from = page > b->start ? page : b->start;
	const uint64_t to = page + TRACE_CODE_BYTES < end ? page + TRACE_CODE_BYTES : end;

	return from < to && memcmp(code->bytes + (from - page), b->bytes + (from - b->start),
				   (size_t)(to - from));
}

static bool has_other_code(const struct format_report_code *c, const struct body *b)
{
	const unsigned int vcpus = trace_reader_info(c->reader)->vcpus;
	unsigned int i;
	size_t n, k;

	for (i = 0; i < vcpus; i++) {
		const struct trace_code *code = trace_reader_code(c->reader, i, &n);

		for (k = 0; k < n; k++)
			if (differs(b, &code[k]))
				return true;
	}
	return false;
}

static void free_body(struct body *b)
{
	free(b->bytes);
	free(b->ran);
	free(b->modes);
}

/*
 * Walk over the instructions of a block, and count those inside of the function. Returns false, and
 * counts none, if the instructions do not end with the block: other code ran here.
 */
static bool count_block(const struct format_report_code *c, struct body *b,
			const struct trace_pair *block, uint64_t count)
{
	const uint64_t last = format_block_last(block);
	const unsigned int mode = format_block_mode(block);
	struct dec_insn insn = {.len = 0};
	uint8_t bytes[DEC_INSN_MAX];
	uint64_t ip;

	for (ip = block->a;; ip += insn.len) {
		const bool inside = ip - b->start < b->size;
		const size_t left = inside ? b->size - (size_t)(ip - b->start) : 0;
		const bool here = left >= sizeof(bytes);
		const size_t len = here ? left : read_code(c, ip, bytes, sizeof(bytes));

		if (inside && count) {
			b->ran[ip - b->start] += count;
			b->modes[ip - b->start] = (uint8_t)mode;
		}
		if (ip >= last)
			return ip == last;
		if (decode_disasm_read(c->disasm, mode, here ? b->bytes + (ip - b->start) : bytes,
				       len, &insn) != 1)
			return false;
	}
}

/* Count the instructions of all blocks that overlap the function. */
static void count_blocks(const struct format_report_code *c, struct body *b)
{
	const struct trace_pairs *blocks = &c->counts.blocks;
	const uint64_t low = b->start > c->counts.longest ? b->start - c->counts.longest : 0;
	size_t i = trace_vec_before(blocks->at, blocks->n, e, e->a < low);

	for (; i < blocks->n && blocks->at[i].a - low < b->start - low + b->size; i++) {
		const struct trace_pair *block = &blocks->at[i];

		if (format_block_last(block) < b->start)
			continue;
		if (count_block(c, b, block, 0))
			(void)count_block(c, b, block, block->value);
	}
}

static int make_body(const struct format_report_code *c, uint64_t start, uint64_t limit,
		     struct body *b)
{
	const struct debug_symbol *symbol = debug_symbols_find(c->symbols, start);
	uint64_t end = symbol ? symbol->end : limit;
	const uint64_t most = symbol ? FUNCTION_BYTES_MAX : NO_SYMBOL_BYTES;

	if (end < start || end - start > most)
		end = start + most;
	*b = (struct body){.start = start};
	b->bytes = malloc((size_t)(end - start) + 1);
	b->ran = calloc((size_t)(end - start) + 1, sizeof(*b->ran));
	b->modes = calloc((size_t)(end - start) + 1, sizeof(*b->modes));
	if (!b->bytes || !b->ran || !b->modes) {
		free_body(b);
		return -ENOMEM;
	}
	while (b->size < end - start) {
		const size_t got = read_code(c, start + b->size, b->bytes + b->size,
					     (size_t)(end - start) - b->size);

		b->size += got;
		if (!got)
			break;
	}
	b->other = has_other_code(c, b);
	count_blocks(c, b);
	return 0;
}

static void write_targets(const struct rows *rows, uint64_t ip)
{
	const struct trace_pairs *targets = &rows->code->counts.targets;
	const size_t first = trace_vec_before(targets->at, targets->n, e, e->a < ip);
	const size_t end = trace_vec_before(targets->at, targets->n, e, e->a <= ip);
	uint64_t best = UINT64_MAX, sum = 0, left = 0;
	char text[256];
	size_t i, n;

	for (i = first; i < end; i++)
		sum += targets->at[i].value;
	if (first == end)
		return;
	fputs(",\"to\":[", rows->out);
	/* The most frequent ones come first. Those of one count are in the order of addresses. */
	for (n = 0; n < TARGETS_MAX && n < end - first;) {
		uint64_t next = 0;

		for (i = first; i < end; i++)
			if (targets->at[i].value < best && targets->at[i].value > next)
				next = targets->at[i].value;
		best = next;
		for (i = first; i < end && n < TARGETS_MAX; i++) {
			if (targets->at[i].value != best)
				continue;
			debug_symbols_format(rows->code->symbols, targets->at[i].b, text,
					     sizeof(text));
			fputs(n++ ? ",[" : "[", rows->out);
			format_report_string(rows->out, text);
			fprintf(rows->out, ",%" PRIu64 "]", best);
			left += best;
		}
	}
	putc(']', rows->out);
	if (end - first > n)
		fprintf(rows->out, ",\"more\":[%zu,%" PRIu64 "]", end - first - n, sum - left);
}

static uint64_t way(const struct rows *rows, uint64_t ip, uint64_t taken)
{
	const struct trace_pair key = {.a = ip, .b = taken}, *p;
	const struct trace_pairs *ways = &rows->code->counts.ways;

	p = ways->n ? bsearch(&key, ways->at, ways->n, sizeof(key), trace_pair_compare) : NULL;
	return p ? p->value : 0;
}

/* Write the source line of an instruction if it is not that of the last one. */
static void write_line(struct rows *rows, uint64_t ip)
{
	const struct debug_line *line = debug_symbols_line(rows->code->symbols, ip);
	const bool same = line && rows->line && line->file && !strcmp(rows->line->file, line->file);
	const char *name;
	size_t number;

	if (!line || !line->file || (same && line->line == rows->line->line))
		return;
	if (!same) {
		name = strrchr(line->file, '/');
		fputs(",\"file\":", rows->out);
		format_report_string(rows->out, name ? name + 1 : line->file);
	}
	if (rows->source && !rows->err)
		rows->err =
			format_report_source_note(rows->source, line->file, line->line, &number);
	if (rows->source && !rows->err && !same)
		fprintf(rows->out, ",\"src\":%zu", number);
	fprintf(rows->out, ",\"line\":%" PRIu32, line->line);
	rows->line = line;
}

static void write_row(struct rows *rows, const struct row *row)
{
	if (rows->n == rows->max)
		return;
	fprintf(rows->out,
		"%s{\"at\":%" PRIu64 ",\"n\":%" PRIu64 ",\"text\":", rows->n++ ? "," : "",
		row->ip - rows->start, row->ran);
	format_report_string(rows->out, row->text);
	write_line(rows, row->ip);
	switch (row->kind) {
	case DEC_INSN_COND:
		if (row->ran)
			fprintf(rows->out, ",\"taken\":%" PRIu64 ",\"not\":%" PRIu64,
				way(rows, row->ip, 1), way(rows, row->ip, 0));
		break;
	case DEC_INSN_PLAIN:
	case DEC_INSN_JUMP:
	case DEC_INSN_CALL:
		break;
	default:
		write_targets(rows, row->ip);
	}
	putc('}', rows->out);
}

/* Write the instructions that did not run before the next one that did, or their number. */
static void write_cold(struct rows *rows)
{
	uint64_t i;

	if (rows->ncold <= COLD_MAX) {
		for (i = 0; i < rows->ncold; i++)
			write_row(rows, &rows->cold[i]);
	} else if (rows->n < rows->max) {
		fprintf(rows->out, "%s{\"at\":%" PRIu64 ",\"cold\":%" PRIu64 "}",
			rows->n++ ? "," : "", rows->cold_at - rows->start, rows->ncold);
	}
	rows->ncold = 0;
}

static void take_row(struct rows *rows, const struct row *row)
{
	if (row->ran) {
		write_cold(rows);
		write_row(rows, row);
		return;
	}
	if (!rows->ncold)
		rows->cold_at = row->ip;
	if (rows->ncold < COLD_MAX)
		rows->cold[rows->ncold] = *row;
	rows->ncold++;
}

/*
 * Read the instruction at an offset. What did not run ends where an instruction begins that did.
 */
static void read_row(struct format_report_code *c, const struct body *b, size_t at,
		     unsigned int mode, struct row *row)
{
	const size_t len = b->size - at < DEC_INSN_MAX ? b->size - at : DEC_INSN_MAX;
	struct dec_insn insn = {.kind = DEC_INSN_PLAIN};
	unsigned int i;

	row->ip = b->start + at;
	row->ran = b->ran[at];
	row->len = decode_disasm_format(c->disasm, row->ip, mode, b->bytes + at, len, row->text,
					sizeof(row->text));
	if (decode_disasm_read(c->disasm, mode, b->bytes + at, len, &insn) != 1)
		insn.kind = DEC_INSN_PLAIN;
	if (!row->len)
		row->len = 1;
	for (i = 1; i < row->len && !b->ran[at + i]; i++)
		;
	if (i < row->len && !row->ran) {
		snprintf(row->text, sizeof(row->text), "(bad)");
		insn.kind = DEC_INSN_PLAIN;
	}
	row->kind = (enum dec_insn_kind)insn.kind;
	row->len = i;
}

static unsigned int first_mode(const struct body *b)
{
	size_t i;

	for (i = 0; i < b->size; i++)
		if (b->modes[i])
			return b->modes[i];
	return 64;
}

int format_report_code_write(struct format_report_code *code, struct format_report_source *source,
			     FILE *out, uint64_t start, uint64_t limit, unsigned int max,
			     unsigned int *wrote)
{
	struct rows rows = {.code = code, .source = source, .out = out, .start = start, .max = max};
	struct row row;
	struct body b;
	unsigned int mode;
	size_t at;
	int err = make_body(code, start, limit, &b);

	if (err)
		return err;
	mode = first_mode(&b);
	fprintf(out, "\"start\":\"0x%" PRIx64 "\",\"rows\":[", start);
	for (at = 0; at < b.size && rows.n < max; at += row.len) {
		if (b.modes[at])
			mode = b.modes[at];
		read_row(code, &b, at, mode, &row);
		take_row(&rows, &row);
	}
	write_cold(&rows);
	fprintf(out, "],\"whole\":%s,\"other\":%s", at >= b.size && rows.n < max ? "true" : "false",
		b.other ? "true" : "false");
	*wrote = rows.n;
	free_body(&b);
	return rows.err;
}
