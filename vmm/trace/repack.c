// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies the blocks of a file into a new one. Blocks are collected and compressed together, because
 * most are too small on their own. Each PSB becomes an entry of the new index, as during the
 * recording of the trace.
 */
#include "trace/repack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/blocks.h"
#include "trace/crc32c.h"
#include "trace/reader_state.h"
#include "trace/writer_state.h"
#include "trace/zstd.h"

/* Bytes of blocks that are compressed together. A reader that seeks unpacks this many. */
#define GATHER_BLOCKS (512u << 10)

struct repack {
	struct trace_blocks blocks; /* must be the first member, because callbacks receive a
	                             * pointer to it */
	const struct trace_reader *reader;
	uint32_t version;	/* version of the old file */
	struct trace_writer *w; /* NULL before the INFO block */
	int fd;
	int level;
	uint8_t *gathered; /* TRACE_PACKED_MAX bytes, of which @n are used */
	size_t n;
	uint8_t *packed; /* a PACKED block's payload, @room bytes */
	size_t room;
	struct trace_file_end end;
	uint64_t last_page; /* the id of the last PAGE block */
	struct trace_repack_report *report;
};

static const char cannot_write[] = "the new file cannot be written";

/* Write the collected blocks as one PACKED block. */
static int flush(struct repack *p)
{
	struct trace_packed head = {.method = TRACE_PACKED_ZSTD, .bytes = (uint32_t)p->n};
	size_t len, least = p->n / TRACE_PACKED_RATIO;

	if (!p->n || p->w->error)
		return p->w->error;
	len = trace_zstd_pack(p->packed, p->room, p->gathered, p->n, p->level);
	if (!len)
		return p->w->error = -ENOMEM;
	head.packed = (uint32_t)len;
	/* A reader refuses a larger ratio. */
	if (len < least) {
		memset(p->packed + len, 0, least - len);
		len = least;
	}
	p->n = 0;
	return trace_writer_block(p->w, TRACE_BLOCK_PACKED, 0, &head, sizeof(head), p->packed, len);
}

/* Append a block to the collected ones. Its checksum remains right. */
static void gather(struct repack *p, const struct trace_block *head, const void *payload)
{
	uint8_t *to = p->gathered + p->n;

	memcpy(to, head, sizeof(*head));
	memcpy(to + sizeof(*head), payload, head->len);
	memset(to + sizeof(*head) + head->len, 0, -head->len & 7);
	p->n += sizeof(*head) + trace_pad8(head->len);
}

static int put(struct repack *p, const struct trace_block *head, const void *payload)
{
	const size_t whole = sizeof(*head) + trace_pad8(head->len);

	if (!p->level || whole > TRACE_PACKED_MAX) {
		if (flush(p))
			return p->w->error;
		return trace_writer_block(p->w, (enum trace_block_type)head->type, head->vcpu,
					  payload, head->len, NULL, 0);
	}
	if (p->n + whole > TRACE_PACKED_MAX && flush(p))
		return p->w->error;
	gather(p, head, payload);
	return p->n >= GATHER_BLOCKS ? flush(p) : 0;
}

/*
 * Copy a TRACE block. The index entries of its PSBs get the place at which put() stores the block.
 * In a block of an old file, the PSBs are searched for again.
 */
static int put_trace(struct repack *p, const struct trace_block *head, const uint8_t *payload)
{
	struct trace_stream *s = &p->w->stream[head->vcpu];
	const size_t len = head->len - sizeof(s->chunk);
	uint64_t place;

	/* The previous blocks may have to be written first. */
	if (p->n + sizeof(*head) + trace_pad8(head->len) > TRACE_PACKED_MAX && flush(p))
		return p->w->error;
	place = p->w->file_bytes;
	memcpy(&s->chunk, payload, sizeof(s->chunk));
	s->bytes = s->chunk.offset + len;
	if (p->version == TRACE_FILE_VERSION) {
		while (s->nresolved < s->nindex && s->index[s->nresolved].offset < s->bytes)
			s->index[s->nresolved++].file_offset = place;
		return put(p, head, payload);
	}
	s->bytes = s->chunk.offset;
	if (trace_writer_find_psbs(p->w, s, payload + sizeof(s->chunk), len))
		return p->w->error;
	trace_writer_resolve(s, place);
	s->bytes += len;
	return put(p, head, payload);
}

/* Copy the points of a file of this version, with their places in the whole stream. */
static int take_points(struct repack *p)
{
	unsigned int i;
	size_t k;

	for (i = 0; i < p->w->vcpus; i++) {
		const struct trace_cut *cut = trace_reader_cut(p->reader, i);
		struct trace_stream *s = &p->w->stream[i];
		const struct trace_psb_point *old = trace_reader_points(p->reader, i, &s->nindex);

		s->index = malloc(s->nindex * sizeof(*s->index) + 1);
		if (!s->index) {
			s->nindex = 0;
			return -ENOMEM;
		}
		s->index_room = s->nindex;
		for (k = 0; k < s->nindex; k++) {
			s->index[k] = old[k];
			s->index[k].offset += cut ? cut->offset : 0;
		}
	}
	return 0;
}

/* Write the header and the INFO block of the new file. */
static int begin(struct repack *p, const struct trace_block *head, const void *payload)
{
	struct trace_file_info info;
	int err;

	if (p->w || head->len != sizeof(info))
		return -EINVAL;
	memcpy(&info, payload, sizeof(info));
	/* The file is not the one that the reader has read. */
	if (info.vcpus != trace_reader_info(p->reader)->vcpus)
		return -EINVAL;
	if (p->version < TRACE_FILE_VERSION)
		info.flags &= TRACE_INFO_FLAGS;
	err = trace_writer_start(p->fd, &info, &p->w);
	return !err && p->version == TRACE_FILE_VERSION ? take_points(p) : err;
}

/* For an old file, note that the first point of a session has the counter. */
static void note_session(struct repack *p, const struct trace_block *head, const void *payload)
{
	struct trace_session session;

	if (p->version == TRACE_FILE_VERSION || head->len != sizeof(session))
		return;
	memcpy(&session, payload, sizeof(session));
	if (session.edge == TRACE_SESSION_START)
		trace_writer_point_session(&p->w->stream[head->vcpu], &session);
}

/* PAGE and CHANGE blocks share their ids, and begin with them. */
static void note_page(struct repack *p, const struct trace_block *head, const void *payload)
{
	struct trace_page_content page;

	if (head->len < sizeof(page))
		return;
	memcpy(&page, payload, sizeof(page));
	p->last_page = page.id;
}

static bool is_old(const struct repack *p, uint16_t type)
{
	return p->version < TRACE_FILE_VERSION && type >= TRACE_BLOCK_TYPES_OLD;
}

static int copy(struct repack *p, const struct trace_block *head, const void *payload)
{
	if (head->type == TRACE_BLOCK_INFO)
		return begin(p, head, payload);
	if (!p->w || head->vcpu >= p->w->vcpus)
		return -EINVAL;
	if (is_old(p, head->type)) {
		p->report->dropped++;
		return 0;
	}
	switch (head->type) {
	case TRACE_BLOCK_INDEX:
	case TRACE_BLOCK_POINT:
		return 0;
	case TRACE_BLOCK_END:
		if (head->len != sizeof(p->end))
			return -EINVAL;
		memcpy(&p->end, payload, sizeof(p->end));
		p->blocks.extent.closed = true;
		return 0;
	case TRACE_BLOCK_TRACE:
		return head->len > sizeof(struct trace_chunk) ? put_trace(p, head, payload)
							      : -EINVAL;
	case TRACE_BLOCK_SESSION:
		note_session(p, head, payload);
		return put(p, head, payload);
	case TRACE_BLOCK_PAGE:
	case TRACE_BLOCK_CHANGE:
		note_page(p, head, payload);
		return put(p, head, payload);
	default:
		return put(p, head, payload);
	}
}

static enum trace_block_use use(struct trace_blocks *b, const struct trace_block *head)
{
	(void)b;
	(void)head;
	return TRACE_USE_LOOK;
}

static const char *take(struct trace_blocks *b, const struct trace_block *head, const void *payload)
{
	struct repack *p = (struct repack *)b;

	if (head->type == TRACE_BLOCK_PACKED && !is_old(p, head->type)) {
		const char *why = trace_blocks_unpack(b, payload, head->len);

		if (why == trace_reader_no_memory && !b->error)
			b->error = -ENOMEM;
		return why;
	}
	b->error = copy(p, head, payload);
	return b->error ? cannot_write : NULL;
}

static void resumed(struct trace_blocks *b)
{
	(void)b;
}

static int read_header(struct repack *p, uint64_t *at)
{
	struct trace_file_header header;
	int err = trace_source_read(&p->blocks.source, 0, &header, sizeof(header));

	if (err)
		return err == -ENODATA ? -EINVAL : err;
	if (header.magic != TRACE_FILE_MAGIC || header.version > TRACE_FILE_VERSION)
		return -EINVAL;
	if (header.version != trace_reader_version(p->reader))
		return -EINVAL;
	p->version = header.version;
	*at = header.size;
	return 0;
}

/* Write a block that the old file does not have. */
static int put_new(struct repack *p, enum trace_block_type type, unsigned int vcpu,
		   const void *payload, size_t len)
{
	struct trace_block head = {
		.magic = TRACE_BLOCK_MAGIC,
		.type = (uint16_t)type,
		.vcpu = (uint16_t)vcpu,
		.len = (uint32_t)len,
	};

	head.crc = trace_crc32c(trace_crc32c(0, &head, sizeof(head)), payload, len);
	return put(p, &head, payload);
}

/* Write @n entries of one content: a PAGE block and MAP blocks. */
static int put_code(struct repack *p, unsigned int vcpu, const struct trace_repack_code *code,
		    size_t n)
{
	struct {
		struct trace_page_content is;
		uint8_t bytes[TRACE_CODE_BYTES];
	} page = {.is = {.id = ++p->last_page}};
	struct trace_page_map map[64];
	size_t i, filled = 0;

	memcpy(page.bytes, code->bytes, sizeof(page.bytes));
	if (!p->last_page || put_new(p, TRACE_BLOCK_PAGE, vcpu, &page, sizeof(page)))
		return p->last_page ? p->w->error : -EINVAL;
	for (i = 0; i < n; i++) {
		map[filled++] = (struct trace_page_map){code[i].page, page.is.id};
		if (i + 1 < n && filled < sizeof(map) / sizeof(map[0]))
			continue;
		if (put_new(p, TRACE_BLOCK_MAP, vcpu, map, filled * sizeof(map[0])))
			break;
		filled = 0;
	}
	return p->w->error;
}

static int put_more(struct repack *p, const struct trace_repack_more *more)
{
	unsigned int i;
	size_t k, n;
	int err = 0;

	for (i = 0; i < p->w->vcpus && !err; i++) {
		const struct trace_repack_code *code = more[i].code;

		for (k = 0; k < more[i].ncode && !err; k += n) {
			for (n = 1; k + n < more[i].ncode && code[k + n].bytes == code[k].bytes;)
				n++;
			err = put_code(p, i, code + k, n);
		}
		if (!err)
			err = put_new(p, TRACE_BLOCK_REFINED, i, &more[i].refined,
				      sizeof(more[i].refined));
	}
	return err;
}

static int copy_all(struct repack *p, const char *path, const struct trace_repack_more *more)
{
	static const uint64_t magic = TRACE_FILE_MAGIC;
	uint64_t at = 0;
	int err = trace_source_open(&p->blocks.source, path, &magic, sizeof(magic));

	if (!err)
		err = read_header(p, &at);
	if (!err)
		err = trace_blocks_read(&p->blocks, at, TRACE_READER_PREFIX);
	if (!err && (p->blocks.extent.why || !p->w))
		err = -EINVAL;
	if (!err && more)
		err = put_more(p, more);
	return err ? err : flush(p);
}

/* Write the index and the end. */
static int finish(struct repack *p, int err)
{
	struct stat st;

	if (!p->w)
		return err;
	if (err) {
		trace_writer_drop(p->w);
		return err;
	}
	p->report->from = p->blocks.source.size;
	err = trace_writer_close(p->w, p->end.guest_exit);
	if (!err && !fstat(p->fd, &st))
		p->report->to = (uint64_t)st.st_size;
	return err;
}

int trace_repack(const struct trace_reader *reader, const char *path, int fd, int level,
		 const struct trace_repack_more *more, struct trace_repack_report *report)
{
	struct repack p = {
		.blocks = {.source = {.fd = -1}, .use = use, .take = take, .resumed = resumed},
		.reader = reader,
		.fd = fd,
		.level = level,
		.room = trace_zstd_bound(TRACE_PACKED_MAX),
		.report = report,
	};
	int err = -ENOMEM;

	*report = (struct trace_repack_report){0};
	p.gathered = malloc(TRACE_PACKED_MAX);
	p.packed = malloc(p.room);
	if (p.gathered && p.packed)
		err = copy_all(&p, path, more);
	err = finish(&p, err);
	trace_blocks_close(&p.blocks);
	free(p.gathered);
	free(p.packed);
	return err;
}
