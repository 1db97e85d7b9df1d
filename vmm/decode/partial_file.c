// SPDX-License-Identifier: GPL-2.0-or-later
/* Write partial results to files, and read them back. */
#include "decode/partial_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/calls_piece.h"
#include "decode/partial_spaces.h"
#include "trace/crc32c.h"

#define MAGIC	0x0a54524150545056ull /* "VPTPART\n" */
#define VERSION 4u

/* Tables with small entries come last, so that the entries of all tables are aligned. */
enum table {
	BLOCKS,
	PIECES,
	NODES,
	FRAMES,
	SPACES,
	EDGES,
	SPACE_BLOCKS,
	RANGES,
	SHARES,
	CHUNKS,
	MAP,
	TEXT,
	TABLES
};

static const size_t entry_bytes[TABLES] = {
	[BLOCKS] = sizeof(struct decode_block_count),
	[PIECES] = sizeof(struct decode_calls_piece),
	[NODES] = sizeof(struct decode_calls_piece_node),
	[FRAMES] = sizeof(struct decode_calls_piece_frame),
	[SPACES] = sizeof(struct decode_partial_space),
	[EDGES] = sizeof(struct decode_partial_edge),
	[SPACE_BLOCKS] = sizeof(struct decode_partial_block),
	[RANGES] = sizeof(struct decode_partial_range),
	[SHARES] = sizeof(struct decode_partial_share),
	[CHUNKS] = sizeof(struct decode_text_chunk),
	[MAP] = sizeof(struct decode_partial_byte),
	[TEXT] = 1,
};

/* The tables follow in their order. */
struct header {
	uint64_t magic;
	uint32_t version;
	uint32_t crc; /* CRC-32C of this header with crc 0 */
	uint64_t plan;
	uint32_t kind, vcpu;
	uint32_t first, end;
	struct {
		uint64_t entries;
		uint32_t crc;
		uint32_t reserved;
	} table[TABLES];
	uint64_t words[2][DECODE_PARTIAL_WORDS];
	uint8_t unfit[2];
	uint8_t has_calls, begins, known, broken;
	uint8_t reserved[2];
	uint64_t least, most, counter;
	uint64_t now; /* the index of the space that ran last */
	uint64_t insns, blocks, errors, skipped;
	uint64_t shares_time; /* of all spaces */
	uint64_t events[DECODE_FLOW_COUNT];
	char first_error[256];
};

VPT_STATIC_ASSERT(sizeof(struct header) == 1592 + 8 * DECODE_FLOW_COUNT,
		  "a file format: a change needs a new VERSION");

VPT_STATIC_ASSERT(sizeof(struct decode_block_count) == 32 &&
			  sizeof(struct decode_calls_piece) == 64 &&
			  sizeof(struct decode_calls_piece_node) == 32 &&
			  sizeof(struct decode_calls_piece_frame) == 24 &&
			  sizeof(struct decode_partial_space) == 136 &&
			  sizeof(struct decode_partial_edge) == 32 &&
			  sizeof(struct decode_text_chunk) == 8 &&
			  sizeof(struct decode_partial_share) == 80 &&
			  sizeof(struct decode_partial_block) == 32 &&
			  sizeof(struct decode_partial_range) == 32 &&
			  sizeof(struct decode_partial_byte) == 4,
		  "docs/abi/vpt-part.md has these sizes");

static int put(int fd, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len) {
		const ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

static void fill(struct header *h, const struct decode_partial *p)
{
	unsigned int i;

	*h = (struct header){
		.magic = MAGIC,
		.version = VERSION,
		.plan = p->plan,
		.kind = p->kind,
		.vcpu = p->vcpu,
		.first = p->first,
		.end = p->end,
		.has_calls = p->calls != NULL,
		.begins = p->counter.begins,
		.known = p->counter.known,
		.broken = p->parts.broken,
		.least = p->counter.least,
		.most = p->counter.most,
		.counter = p->counter.end,
		.now = p->parts.now,
		.insns = p->sum.insns,
		.blocks = p->sum.blocks,
		.errors = p->sum.errors,
		.skipped = p->sum.skipped,
		.shares_time = p->shares.time,
	};
	for (i = 0; i < 2; i++) {
		memcpy(h->words[i], p->ends[i].words, sizeof(h->words[i]));
		h->unfit[i] = p->ends[i].unfit;
	}
	memcpy(h->events, p->sum.events, sizeof(h->events));
	memcpy(h->first_error, p->sum.first_error, sizeof(h->first_error));
}

static void set_table(struct header *h, enum table i, const void *at, size_t n)
{
	h->table[i].entries = n;
	h->table[i].crc = n ? trace_crc32c(0, at, n * entry_bytes[i]) : 0;
}

static int put_tables(const struct decode_partial *p, const struct decode_calls_pieces *c,
		      const struct decode_partial_spaces *s,
		      const struct decode_partial_shares *shares, int fd)
{
	const struct {
		const void *at;
		size_t n;
	} table[TABLES] = {
		[BLOCKS] = {p->tally.slots, p->tally.used},
		[PIECES] = {c->pieces.at, c->pieces.n},
		[NODES] = {c->nodes.at, c->nodes.n},
		[FRAMES] = {c->frames.at, c->frames.n},
		[SPACES] = {s->spaces.at, s->spaces.n},
		[EDGES] = {s->edges.at, s->edges.n},
		[CHUNKS] = {p->text.chunks.at, p->text.chunks.n},
		[TEXT] = {p->text.bytes.at, p->text.bytes.n},
		[SHARES] = {shares->at, shares->n},
		[SPACE_BLOCKS] = {s->blocks.at, s->blocks.n},
		[RANGES] = {s->ranges.at, s->ranges.n},
		[MAP] = {s->map.at, s->map.n},
	};
	struct header h;
	unsigned int i;
	int err;

	fill(&h, p);
	for (i = 0; i < TABLES; i++)
		set_table(&h, i, table[i].at, table[i].n);
	h.crc = trace_crc32c(0, &h, sizeof(h));
	err = put(fd, &h, sizeof(h));
	for (i = 0; !err && i < TABLES; i++)
		err = put(fd, table[i].at, table[i].n * entry_bytes[i]);
	return err;
}

int decode_partial_write(struct decode_partial *p, int fd)
{
	struct decode_partial_spaces spaces = {.spaces.n = 0};
	const struct decode_calls_pieces *c = &spaces.calls;
	struct decode_partial_shares shares = {.n = 0};
	int err = decode_partial_spaces_make(&p->parts, &spaces);

	if (!err)
		err = decode_partial_shares_make(&p->shares, &shares);
	if (!err && p->calls) {
		c = decode_calls_close_open(p->calls);
		err = c ? 0 : -ENOMEM;
	}
	decode_tally_sort(&p->tally);
	if (!err)
		err = put_tables(p, c, &spaces, &shares, fd);
	free(shares.at);
	decode_partial_spaces_free(&spaces);
	return err;
}

/* A file as it was read, with pointers to its tables. */
struct image {
	struct header h;
	uint8_t *bytes; /* behind the header */
	const void *at[TABLES];
};

static int get(int fd, void *bytes, size_t len)
{
	uint8_t *at = bytes;

	while (len) {
		const ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EINVAL;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Returns NULL, or the reason why the header is refused. */
static const char *check_header(const struct image *m, uint64_t left)
{
	struct header copy = m->h;
	unsigned int i;

	if (copy.magic != MAGIC)
		return "not a partial result";
	if (copy.version != VERSION)
		return "a partial result of another version of vpt";
	copy.crc = 0;
	if (trace_crc32c(0, &copy, sizeof(copy)) != m->h.crc)
		return "damaged: the checksum of its header is wrong";
	for (i = 0; i < TABLES; i++) {
		if (copy.table[i].entries > left / entry_bytes[i])
			return "damaged: a table is longer than the file";
		left -= copy.table[i].entries * entry_bytes[i];
	}
	if (left)
		return "damaged: bytes follow its tables";
	if (copy.kind >= DECODE_PARTIAL_KINDS || copy.first >= copy.end || copy.begins > 1 ||
	    copy.known > 1 || copy.unfit[0] > 1 || copy.unfit[1] > 1 || copy.has_calls > 1 ||
	    copy.broken > 1 || (copy.has_calls && copy.kind != DECODE_PARTIAL_CALLS))
		return "damaged: a value of its header is not possible";
	return NULL;
}

static const char *check_tables(struct image *m)
{
	const uint8_t *at = m->bytes;
	unsigned int i;

	for (i = 0; i < TABLES; i++) {
		const size_t len = m->h.table[i].entries * entry_bytes[i];

		m->at[i] = at;
		if (trace_crc32c(0, at, len) != m->h.table[i].crc)
			return "damaged: the checksum of a table is wrong";
		at += len;
	}
	return NULL;
}

static int read_image(int fd, struct image *m, const char **why)
{
	struct stat st;
	uint64_t left;
	int err;

	if (fstat(fd, &st))
		return -errno;
	*why = "not a partial result";
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(m->h))
		return -EINVAL;
	left = (uint64_t)st.st_size - sizeof(m->h);
	err = get(fd, &m->h, sizeof(m->h));
	if (err)
		return err;
	*why = check_header(m, left);
	if (*why)
		return -EINVAL;
	m->bytes = malloc(left + 1);
	if (!m->bytes)
		return -ENOMEM;
	*why = "it becomes shorter while it is read";
	err = get(fd, m->bytes, left);
	if (err)
		return err;
	*why = check_tables(m);
	return *why ? -EINVAL : 0;
}

static void take_header(const struct header *h, struct decode_partial *p)
{
	unsigned int i;

	*p = (struct decode_partial){
		.plan = h->plan,
		.kind = (enum decode_partial_kind)h->kind,
		.vcpu = h->vcpu,
		.first = h->first,
		.end = h->end,
		.counter = {h->least, h->most, h->begins, h->known, h->counter},
		.sum = {.insns = h->insns,
			.blocks = h->blocks,
			.errors = h->errors,
			.skipped = h->skipped},
	};
	for (i = 0; i < 2; i++) {
		memcpy(p->ends[i].words, h->words[i], sizeof(h->words[i]));
		p->ends[i].unfit = h->unfit[i];
	}
	memcpy(p->sum.events, h->events, sizeof(h->events));
	memcpy(p->sum.first_error, h->first_error, sizeof(h->first_error));
	p->sum.first_error[sizeof(h->first_error) - 1] = 0;
}

static int take_blocks(const struct image *m, struct decode_partial *p)
{
	const struct decode_block_count *at = m->at[BLOCKS];
	uint64_t i;

	for (i = 0; i < m->h.table[BLOCKS].entries; i++) {
		if (at[i].count && !decode_tally_add_count(&p->tally, at[i].ip, at[i].last,
							   at[i].count, at[i].insns))
			return -ENOMEM;
	}
	return 0;
}

/* The tables are only read. */
#define TABLE(m, i)                                                       \
	{                                                                 \
		(void *)(uintptr_t)(m)->at[i], (m)->h.table[i].entries, 0 \
	}

static int take_calls(const struct image *m, struct decode_partial *p)
{
	const struct decode_calls_pieces pieces = {
		.pieces = TABLE(m, PIECES), .nodes = TABLE(m, NODES), .frames = TABLE(m, FRAMES)};

	if (!decode_calls_pieces_check(&pieces))
		return -EINVAL;
	p->calls = decode_calls_new_open(NULL);
	return p->calls && decode_calls_join(p->calls, &pieces) ? 0 : -ENOMEM;
}

static int take_spaces(const struct image *m, struct decode_partial *p)
{
	const struct decode_partial_spaces spaces = {.calls = {.pieces = TABLE(m, PIECES),
							       .nodes = TABLE(m, NODES),
							       .frames = TABLE(m, FRAMES)},
						     .spaces = TABLE(m, SPACES),
						     .edges = TABLE(m, EDGES),
						     .blocks = TABLE(m, SPACE_BLOCKS),
						     .ranges = TABLE(m, RANGES),
						     .map = TABLE(m, MAP)};

	p->parts = (struct decode_space_parts){
		.wanted = p->kind == DECODE_PARTIAL_EDGES ? DECODE_SPACE_EDGES : DECODE_SPACE_CALLS,
		.broken = m->h.broken,
		.now = m->h.now};
	return decode_partial_spaces_take(&spaces, &p->parts);
}

static int take_text(const struct image *m, struct decode_partial *p)
{
	const size_t chunks = m->h.table[CHUNKS].entries, bytes = m->h.table[TEXT].entries;

	if (!decode_partial_is_listing(p->kind) && (chunks || bytes))
		return -EINVAL;
	return decode_text_take(&p->text, m->at[CHUNKS], chunks, m->at[TEXT], bytes);
}

static int take_shares(const struct image *m, struct decode_partial *p)
{
	const struct decode_partial_shares shares = TABLE(m, SHARES);

	p->shares.time = m->h.shares_time;
	return decode_partial_shares_take(&shares, &p->shares);
}

int decode_partial_read(const char *path, struct decode_partial *p, char *why, size_t size)
{
	struct image m = {.bytes = NULL};
	const char *text = "damaged: an index of its tables is wrong";
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	*p = (struct decode_partial){.plan = 0};
	err = fd < 0 ? -errno : read_image(fd, &m, &text);
	if (!err) {
		text = "damaged: an index of its tables is wrong";
		take_header(&m.h, p);
		err = take_blocks(&m, p);
	}
	if (!err)
		err = m.h.has_calls ? take_calls(&m, p) : take_spaces(&m, p);
	if (!err)
		err = take_text(&m, p);
	if (!err)
		err = take_shares(&m, p);
	if (err)
		snprintf(why, size, "%s", err == -EINVAL ? text : strerror(-err));
	if (fd >= 0)
		close(fd);
	free(m.bytes);
	return err;
}
