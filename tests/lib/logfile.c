// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/logfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/flow.h"
#include "lib/rawfile.h"
#include "trace/reader.h"

/* The number of entries of the table of instruction lengths by address. */
#define LENS (1u << 20)

struct len {
	uint64_t ip;
	uint8_t len; /* 0: unknown */
};

struct reading {
	struct logfile *f;
	struct len *lens;
	uint32_t *table; /* LENS entries by hash: number of the stretch plus 1, or 0 */
	/* The stretch that is being gathered; valid only if it has instructions. */
	struct logfile_stretch open;
	unsigned int vcpu;
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static struct len *len_at(struct reading *r, uint64_t ip)
{
	size_t i = (ip * 0x9e3779b97f4a7c15ull) >> 44 & (LENS - 1);

	while (r->lens[i].len && r->lens[i].ip != ip)
		i = (i + 1) & (LENS - 1);
	return &r->lens[i];
}

static void learn_lens(struct reading *r, struct trace_reader *reader, unsigned int vcpu)
{
	struct decode_flow *flow;
	struct decode_item item;

	if (decode_flow_open(reader, vcpu, DECODE_FLOW_INSNS, &flow))
		abort();
	do {
		if (decode_flow_next(flow, &item))
			abort();
		if (item.kind == DECODE_ITEM_INSN)
			*len_at(r, item.ip) = (struct len){item.ip, item.size};
	} while (item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
}

uint64_t logfile_end(const struct logfile_stretch *s)
{
	uint64_t ip = s->head.ip;
	unsigned int i;

	for (i = 0; i < s->head.insns; i++)
		ip += s->insn[i].len;
	return ip;
}

uint32_t logfile_stretch(struct logfile *f, const struct logfile_stretch *s)
{
	f->stretch = must(realloc(f->stretch, (f->nstretches + 1) * sizeof(*s)));
	f->stretch[f->nstretches] = *s;
	f->stretch[f->nstretches].head.id = (uint32_t)f->nstretches;
	return (uint32_t)f->nstretches++;
}

static bool is_same(const struct logfile_stretch *a, const struct logfile_stretch *b)
{
	return a->head.ip == b->head.ip && a->head.insns == b->head.insns &&
	       a->head.cpl == b->head.cpl && a->head.flags == b->head.flags &&
	       !memcmp(a->insn, b->insn, a->head.insns * sizeof(*a->insn));
}

static uint32_t find_stretch(struct reading *r, const struct logfile_stretch *s)
{
	size_t i = ((s->head.ip << 8 | s->head.insns) * 0x9e3779b97f4a7c15ull) >> 44 & (LENS - 1);

	while (r->table[i] && !is_same(&r->f->stretch[r->table[i] - 1], s))
		i = (i + 1) & (LENS - 1);
	if (!r->table[i])
		r->table[i] = logfile_stretch(r->f, s) + 1;
	return r->table[i] - 1;
}

void logfile_insert(struct logfile *f, size_t at, const struct logfile_entry *entry)
{
	/* The array is full whenever the number of entries is a power of two. */
	if (!(f->n & (f->n - 1)))
		f->entry = must(realloc(f->entry, (2 * f->n + 1) * sizeof(*entry)));
	memmove(f->entry + at + 1, f->entry + at, (f->n - at) * sizeof(*entry));
	f->entry[at] = *entry;
	f->n++;
}

void logfile_remove(struct logfile *f, size_t at)
{
	f->n--;
	memmove(f->entry + at, f->entry + at + 1, (f->n - at) * sizeof(*f->entry));
}

static void flush(struct reading *r, bool jumped)
{
	struct logfile_entry e = {.vcpu = r->vcpu};

	if (!r->open.head.insns)
		return;
	if (jumped)
		r->open.head.flags |= TRACE_STRETCH_JUMP;
	e.stretch = find_stretch(r, &r->open);
	logfile_insert(r->f, r->f->n, &e);
	memset(&r->open, 0, sizeof(r->open));
}

/*
 * Add the record's instruction to a stretch. Return false if a stretch cannot represent the record.
 */
static bool gather(struct reading *r, const struct trace_oracle_record *rec)
{
	const unsigned int special =
		TRACE_ORACLE_SOFT_INT | TRACE_ORACLE_CR3_WRITE | TRACE_ORACLE_VM_ENTRY;
	const bool arrived = rec->aux & TRACE_ORACLE_ARRIVED;
	const uint8_t pae = rec->aux & TRACE_ORACLE_PAE ? TRACE_STRETCH_PAE : 0;
	const uint8_t len = len_at(r, rec->ip)->len;
	struct logfile_stretch *s = &r->open;
	bool follows;

	if (rec->kind != TRACE_ORACLE_INSN || rec->aux & special || !len)
		return false;
	follows = s->head.insns && logfile_end(s) == rec->ip;
	if (!follows || arrived || s->head.insns == LOGFILE_INSNS || s->head.cpl != rec->cpl ||
	    s->head.flags != pae)
		flush(r, follows && arrived);
	if (!s->head.insns) {
		s->head.ip = rec->ip;
		s->head.cpl = rec->cpl;
		s->head.flags = pae;
	}
	s->insn[s->head.insns++] =
		(struct trace_stretch_insn){len, (uint8_t)(rec->aux & TRACE_ORACLE_COND)};
	return true;
}

static void read_log(struct reading *r, struct trace_reader *reader, unsigned int vcpu)
{
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *rec;
	struct logfile_entry e = {.vcpu = vcpu, .is_record = true};

	r->vcpu = vcpu;
	while ((rec = trace_reader_oracle(reader, vcpu, &cursor))) {
		e.record = *rec;
		if (gather(r, &e.record))
			continue;
		flush(r, false);
		logfile_insert(r->f, r->f->n, &e);
	}
	flush(r, false);
}

static size_t block_size(const struct trace_block *b)
{
	return sizeof(*b) + ((b->len + (size_t)7) & ~(size_t)7);
}

/*
 * Remove the blocks of the log, which are written anew, and the index and points, which would no
 * longer match.
 */
static void drop_blocks(struct logfile *f)
{
	size_t at = sizeof(struct trace_file_header), to = at;
	struct trace_file_end end = {0};

	while (at + sizeof(struct trace_block) <= f->len) {
		struct trace_block b;
		size_t size;

		memcpy(&b, f->bytes + at, sizeof(b));
		size = block_size(&b);
		if (b.type == TRACE_BLOCK_END) {
			f->end = to;
			memcpy(f->bytes + at + sizeof(b), &end, sizeof(uint64_t));
		}
		if (b.type != TRACE_BLOCK_ORACLE && b.type != TRACE_BLOCK_STRETCH &&
		    b.type != TRACE_BLOCK_RUN && b.type != TRACE_BLOCK_INDEX &&
		    b.type != TRACE_BLOCK_POINT) {
			memmove(f->bytes + to, f->bytes + at, size);
			to += size;
		}
		at += size;
	}
	f->len = to;
}

static void read_bytes(struct logfile *f, const char *path)
{
	FILE *in = must(fopen(path, "rb"));

	if (fseek(in, 0, SEEK_END) || ftell(in) <= 0)
		abort();
	f->len = (size_t)ftell(in);
	f->bytes = must(malloc(f->len));
	rewind(in);
	if (fread(f->bytes, 1, f->len, in) != f->len)
		abort();
	fclose(in);
	drop_blocks(f);
}

void logfile_read(struct logfile *f, const char *path)
{
	struct reading r = {.f = f};
	struct trace_reader *reader;
	char why[200];
	unsigned int v;

	memset(f, 0, sizeof(*f));
	if (trace_reader_open(path, &reader, why, sizeof(why))) {
		fprintf(stderr, "%s: %s\n", path, why);
		exit(2);
	}
	r.lens = must(calloc(LENS, sizeof(*r.lens)));
	r.table = must(calloc(LENS, sizeof(*r.table)));
	for (v = 0; v < trace_reader_info(reader)->vcpus; v++) {
		learn_lens(&r, reader, v);
		read_log(&r, reader, v);
	}
	trace_reader_close(reader);
	free(r.lens);
	free(r.table);
	read_bytes(f, path);
}

static void put_block(FILE *out, unsigned int type, unsigned int vcpu, const void *payload,
		      size_t len)
{
	static const uint8_t zeros[8];
	const struct trace_block b = {.magic = TRACE_BLOCK_MAGIC,
				      .type = (uint16_t)type,
				      .vcpu = (uint16_t)vcpu,
				      .len = (uint32_t)len};

	if (len && (!fwrite(&b, sizeof(b), 1, out) || !fwrite(payload, len, 1, out)))
		abort();
	if (len % 8 && !fwrite(zeros, 8 - len % 8, 1, out))
		abort();
}

static void put_stretches(const struct logfile *f, FILE *out)
{
	size_t i;

	for (i = 0; i < f->nstretches; i++) {
		const struct logfile_stretch *s = &f->stretch[i];
		size_t len = sizeof(s->head) + s->head.insns * sizeof(*s->insn);
		uint8_t bytes[sizeof(*s)] = {0};

		memcpy(bytes, s, len);
		put_block(out, TRACE_BLOCK_STRETCH, 0, bytes, (len + 7) & ~(size_t)7);
	}
}

/* Write the log in blocks of some hundred words, so that a reader crosses many block boundaries. */
static void put_words(const struct logfile *f, FILE *out)
{
	uint32_t words[1024];
	unsigned int vcpu = 0, n = 0;
	size_t i;

	for (i = 0; i < f->n; i++) {
		const struct logfile_entry *e = &f->entry[i];

		if (e->vcpu != vcpu || n > 800) {
			put_block(out, TRACE_BLOCK_RUN, vcpu, words, n * sizeof(*words));
			vcpu = e->vcpu;
			n = 0;
		}
		words[n++] = e->is_record ? TRACE_RUN_RECORD : e->stretch;
		if (e->is_record) {
			memcpy(words + n, &e->record, sizeof(e->record));
			n += TRACE_RECORD_WORDS;
		} else if (e->cut) {
			words[n++] = TRACE_RUN_CUT | (e->cut - 1);
		}
	}
	put_block(out, TRACE_BLOCK_RUN, vcpu, words, n * sizeof(*words));
}

/* Write a file whose log consists of the given blocks, and correct the checksums. */
static void write_with(const struct logfile *f, const char *path, const char *log, size_t len)
{
	size_t size = f->len + len;
	uint8_t *bytes = must(malloc(size));
	FILE *out = must(fopen(path, "wb"));

	memcpy(bytes, f->bytes, f->end);
	memcpy(bytes + f->end, log, len);
	memcpy(bytes + f->end + len, f->bytes + f->end, f->len - f->end);
	rawfile_mend(bytes, size);
	if (!fwrite(bytes, size, 1, out) || fclose(out))
		abort();
	free(bytes);
}

void logfile_write(struct logfile *f, const char *path)
{
	char *log = NULL;
	size_t len = 0;
	FILE *out = must(open_memstream(&log, &len));

	put_stretches(f, out);
	put_words(f, out);
	if (fclose(out))
		abort();
	write_with(f, path, log, len);
	free(log);
}

static void put_records(struct trace_reader *reader, unsigned int vcpu, FILE *out)
{
	struct trace_oracle_cursor cursor = {0};
	const struct trace_oracle_record *r;
	struct trace_oracle_record records[100];
	unsigned int n = 0;

	while ((r = trace_reader_oracle(reader, vcpu, &cursor))) {
		records[n++] = *r;
		if (n < sizeof(records) / sizeof(*records))
			continue;
		put_block(out, TRACE_BLOCK_ORACLE, vcpu, records, sizeof(records));
		n = 0;
	}
	put_block(out, TRACE_BLOCK_ORACLE, vcpu, records, n * sizeof(*records));
}

bool logfile_write_records(struct logfile *f, const char *words, const char *path)
{
	struct trace_reader *reader;
	char why[200], *log = NULL;
	size_t len = 0;
	unsigned int v;
	FILE *out;

	if (trace_reader_open(words, &reader, why, sizeof(why)))
		return false;
	if (trace_reader_extent(reader)->damages) {
		trace_reader_close(reader);
		return false;
	}
	out = must(open_memstream(&log, &len));
	for (v = 0; v < trace_reader_info(reader)->vcpus; v++)
		put_records(reader, v, out);
	trace_reader_close(reader);
	if (fclose(out))
		abort();
	write_with(f, path, log, len);
	free(log);
	return true;
}

void logfile_free(struct logfile *f)
{
	free(f->bytes);
	free(f->stretch);
	free(f->entry);
	free(f->kept);
}

static void copy_entries(struct logfile_entry **to, const struct logfile_entry *from, size_t n)
{
	size_t room = 1;

	/* Allocate the capacity that logfile_insert() expects for this count. */
	while (room < n)
		room *= 2;
	*to = must(realloc(*to, (room + 1) * sizeof(**to)));
	memcpy(*to, from, n * sizeof(**to));
}

void logfile_keep(struct logfile *f)
{
	copy_entries(&f->kept, f->entry, f->n);
	f->nkept = f->n;
	f->kept_stretches = f->nstretches;
	f->flipped = 0;
}

void logfile_restore(struct logfile *f)
{
	copy_entries(&f->entry, f->kept, f->nkept);
	f->n = f->nkept;
	f->nstretches = f->kept_stretches;
	if (f->flipped)
		f->bytes[f->flipped] = f->was;
}

bool logfile_flip(struct logfile *f, unsigned int type, uint64_t (*draw)(uint64_t below))
{
	size_t at = sizeof(struct trace_file_header), n = 0, which;
	struct trace_block b;

	for (; at < f->len; at += block_size(&b)) {
		memcpy(&b, f->bytes + at, sizeof(b));
		n += b.type == type && b.len > 64;
	}
	which = n ? draw(n) : 0;
	for (at = sizeof(struct trace_file_header); n && at < f->len; at += block_size(&b)) {
		memcpy(&b, f->bytes + at, sizeof(b));
		if (b.type != type || b.len <= 64 || which--)
			continue;
		/* Skip the header of the content, which has at most 32 bytes. */
		f->flipped = at + sizeof(b) + 32 + draw(b.len - 32u);
		f->was = f->bytes[f->flipped];
		f->bytes[f->flipped] ^= (uint8_t)(1u << draw(8));
		return true;
	}
	return false;
}
