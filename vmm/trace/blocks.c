// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the blocks of a file and checks them. */
#include "trace/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/crc32c.h"
#include "trace/vec.h"

#define LARGE (4u << 20)
#define PIECE 65536u
/* Hostile data can have a header everywhere, each with a checksum over all that follows. */
#define BUDGET_FILES 8u
#define BUDGET_BYTES (64ull << 20)
#define TRIAL	     256u /* bytes of work that one header may cost */

static const char cut_off[] = "a block is cut off";
static const char wrong_length[] = "a block's length is wrong";
static const char no_block[] = "there is something that is no block";
static const char wrong_sum[] = "a block's checksum is wrong";
static const char padding[] = "a block's padding is not zero";
static const char no_end[] = "the file ends without an END block";
static const char after_end[] = "something follows the END block";

/* Return the number of bytes of a block's payload in the file. */
static size_t padded(const struct trace_block *head)
{
	return ((size_t)head->len + 7) & ~(size_t)7;
}

static uint32_t sum_of_head(struct trace_block head)
{
	head.crc = 0;
	return trace_crc32c(0, &head, sizeof(head));
}

/*
 * Return NULL, or the reason why a read failed: the file was truncated meanwhile, or has an error
 * of its own.
 */
static const char *short_of(struct trace_blocks *b, int err)
{
	if (err && err != -ENODATA)
		b->error = err;
	return err ? cut_off : NULL;
}

/* Read the block header at `at`. Returns NULL, or the error that is visible before the checksum. */
static const char *read_head(struct trace_blocks *b, uint64_t at, struct trace_block *head)
{
	const uint64_t left = b->source.size - at;
	int err;

	if (left < sizeof(*head))
		return cut_off;
	err = trace_source_read(&b->source, at, head, sizeof(*head));
	if (err)
		return short_of(b, err);
	if (head->magic != TRACE_BLOCK_MAGIC)
		return no_block;
	return padded(head) > left - sizeof(*head) ? cut_off : NULL;
}

static const char *check_padding(const struct trace_block *head, const uint8_t *bytes)
{
	size_t i;

	for (i = 0; i < padded(head) - head->len; i++)
		if (bytes[i])
			return padding;
	return NULL;
}

/* Check a block whose payload is in memory. */
static const char *check(const struct trace_block *head, const uint8_t *payload)
{
	if (trace_crc32c(sum_of_head(*head), payload, head->len) != head->crc)
		return wrong_sum;
	return check_padding(head, payload + head->len);
}

/* Check a block without a copy, in pieces if there is no map. */
static const char *check_pieces(struct trace_blocks *b, uint64_t at, const struct trace_block *head)
{
	/* A large block would keep pages of the map resident. */
	const uint8_t *bytes =
		head->len > LARGE
			? NULL
			: trace_source_bytes(&b->source, at + sizeof(*head), padded(head));
	uint32_t crc = sum_of_head(*head), done = 0;
	uint8_t piece[PIECE];
	const char *why;
	int err;

	if (bytes) {
		why = check(head, bytes);
		return trace_source_torn(&b->source) ? cut_off : why;
	}
	at += sizeof(*head);
	while (done < head->len) {
		const uint32_t n = head->len - done < PIECE ? head->len - done : PIECE;

		err = trace_source_read(&b->source, at + done, piece, n);
		if (err)
			return short_of(b, err);
		crc = trace_crc32c(crc, piece, n);
		done += n;
	}
	if (crc != head->crc)
		return wrong_sum;
	err = trace_source_read(&b->source, at + done, piece, padded(head) - done);
	return err ? short_of(b, err) : check_padding(head, piece);
}

/* Copy a payload to the arena, and check the copy. */
static const char *load(struct trace_blocks *b, uint64_t at, const struct trace_block *head,
			void **payload)
{
	const size_t len = padded(head);
	const char *why;
	int err;

	*payload = trace_arena_alloc(&b->arena, len);
	if (!*payload) {
		b->error = -ENOMEM;
		return cut_off;
	}
	err = trace_source_read(&b->source, at + sizeof(*head), *payload, len);
	why = err ? short_of(b, err) : check(head, *payload);
	if (why)
		trace_arena_undo(&b->arena, *payload, len);
	return why;
}

static const char *take_copy(struct trace_blocks *b, uint64_t at, const struct trace_block *head,
			     enum trace_block_use use)
{
	/* A header may claim any length, so check a large block before the allocation. */
	const char *why = head->len > LARGE ? check_pieces(b, at, head) : NULL;
	void *payload = NULL;

	if (!why)
		why = load(b, at, head, &payload);
	if (why)
		return why;
	why = b->take(b, head, payload);
	if (why || use == TRACE_USE_LOOK)
		trace_arena_undo(&b->arena, payload, padded(head));
	return why;
}

/* Take a block by its first bytes. Damage behind them is found when the block is loaded. */
static const char *take_skipped(struct trace_blocks *b, uint64_t at, const struct trace_block *head)
{
	uint8_t first[TRACE_SKIP_BYTES];
	const char *why;
	int err = trace_source_read(&b->source, at + sizeof(*head), first, sizeof(first));

	if (err)
		return short_of(b, err);
	b->skipped = at;
	why = b->take(b, head, first);
	b->skipped = 0;
	return why;
}

const char *trace_blocks_load(struct trace_blocks *b, uint64_t at, struct trace_block *head,
			      void **payload)
{
	const char *why = read_head(b, at, head);

	return why ? why : load(b, at, head, payload);
}

/* Check and take the block at `at`. *len receives its size in the file. */
static const char *read_block(struct trace_blocks *b, uint64_t at, uint64_t *len)
{
	const uint8_t *payload = NULL;
	enum trace_block_use use;
	struct trace_block head;
	const char *why = read_head(b, at, &head);

	if (why)
		return why;
	*len = sizeof(head) + padded(&head);
	use = b->use(b, &head);
	if ((use == TRACE_USE_SKIP || use == TRACE_USE_CHECK) && head.len > TRACE_SKIP_BYTES) {
		why = use == TRACE_USE_CHECK ? check_pieces(b, at, &head) : NULL;
		return why ? why : take_skipped(b, at, &head);
	}
	/* Behind damage a block can have any address, and its contents may be unaligned. */
	if (use == TRACE_USE_STAY && !(at % 8) && head.len <= LARGE)
		payload = trace_source_bytes(&b->source, at + sizeof(head), padded(&head));
	if (use != TRACE_USE_PASS && !payload)
		return take_copy(b, at, &head, use);
	why = check_pieces(b, at, &head);
	return why ? why : b->take(b, &head, payload);
}

/* Returns true if there is a whole block at @at. */
static bool is_block(struct trace_blocks *b, uint64_t at)
{
	struct trace_block head;
	uint64_t cost;

	if (at >= b->source.size || read_head(b, at, &head))
		return false;
	cost = (uint64_t)head.len + TRIAL;
	if (cost > b->budget)
		return false;
	if (!check_pieces(b, at, &head))
		return true;
	b->budget -= cost;
	return false;
}

/*
 * Return the position of the first good block in bytes that are at `at` in the file, or UINT64_MAX.
 */
static uint64_t search(struct trace_blocks *b, uint64_t at, const uint8_t *bytes, size_t len)
{
	const uint32_t magic = TRACE_BLOCK_MAGIC;
	size_t from = 0;

	while (!b->error) {
		const uint8_t *found = memmem(bytes + from, len - from, &magic, sizeof(magic));

		if (!found)
			break;
		from = (size_t)(found - bytes);
		if (is_block(b, at + from))
			return at + from;
		from++;
	}
	return UINT64_MAX;
}

/*
 * Return the position of the next good block behind a bad block at `at`, or the end of the file. If
 * the bad block's length leads to a good block, return that block. The bytes between are guest
 * memory, which may contain blocks.
 */
static uint64_t find_block(struct trace_blocks *b, uint64_t at)
{
	struct trace_block head;
	uint8_t piece[PIECE];

	if (!read_head(b, at, &head) && is_block(b, at + sizeof(head) + padded(&head)))
		return at + sizeof(head) + padded(&head);
	for (at++; !b->error;) {
		uint64_t left, found;
		size_t n;

		at = trace_source_data(&b->source, at);
		left = b->source.size - at;
		n = left < PIECE ? (size_t)left : PIECE;
		if (left < sizeof(head) || short_of(b, trace_source_read(&b->source, at, piece, n)))
			break;
		found = search(b, at, piece, n);
		if (found != UINT64_MAX)
			return found;
		/* A magic can lie across the end of a piece. */
		at += n - sizeof(head.magic) + 1;
	}
	return b->source.size;
}

static struct trace_damage *add_damage(struct trace_blocks *b, uint64_t at, const char *why)
{
	if (!trace_vec_room(&b->damages)) {
		b->error = -ENOMEM;
		return NULL;
	}
	b->damages.at[b->damages.n] = (struct trace_damage){.offset = at, .why = why};
	return &b->damages.at[b->damages.n++];
}

/* Record damage at `at`. Returns the position where reading resumes. */
static uint64_t skip(struct trace_blocks *b, uint64_t at, const char *why, unsigned int how)
{
	struct trace_damage *damage = add_damage(b, at, why);
	uint64_t next = b->source.size;

	if (!damage)
		return next;
	if (!(how & TRACE_READER_PREFIX) && why != after_end)
		next = find_block(b, at);
	damage->bytes = next - at;
	b->extent.lost += damage->bytes;
	/* If blocks follow, the length is wrong. */
	if (why == cut_off && next < b->source.size)
		damage->why = wrong_length;
	if (next < b->source.size)
		b->resumed(b);
	return next;
}

static bool ends_in_damage(const struct trace_blocks *b)
{
	const struct trace_damage *last = b->damages.n ? &b->damages.at[b->damages.n - 1] : NULL;

	return last && last->offset + last->bytes == b->source.size;
}

static void sum_up(struct trace_blocks *b)
{
	const struct trace_damage *first = b->damages.at;
	struct trace_extent *extent = &b->extent;

	extent->damage = first;
	extent->damages = b->damages.n;
	extent->readable = first ? first->offset : b->source.size;
	extent->why = first ? first->why : NULL;
	extent->cut = b->damages.n == 1 && ends_in_damage(b) &&
		      (extent->why == cut_off || extent->why == no_end);
}

int trace_blocks_read(struct trace_blocks *b, uint64_t at, unsigned int how)
{
	struct trace_extent *extent = &b->extent;

	extent->file_bytes = b->source.size;
	b->budget = BUDGET_FILES * b->source.size + BUDGET_BYTES;
	while (at < b->source.size && !b->error) {
		uint64_t len = 0;
		const char *why = extent->closed ? after_end : read_block(b, at, &len);

		if (b->error)
			break;
		if (why) {
			at = skip(b, at, why, how);
			continue;
		}
		at += len;
		extent->blocks++;
	}
	if (!b->error && !extent->closed && !ends_in_damage(b))
		add_damage(b, b->source.size, no_end);
	sum_up(b);
	return b->error;
}

int trace_blocks_more(struct trace_blocks *b)
{
	while (b->at < b->source.size && !b->extent.closed) {
		uint64_t len = 0;
		const char *why = read_block(b, b->at, &len);

		if (b->error)
			return b->error;
		if (why == cut_off)
			break;
		if (why)
			return -EBADMSG;
		b->at += len;
		b->extent.blocks++;
	}
	return 0;
}

void trace_blocks_close(struct trace_blocks *b)
{
	trace_source_close(&b->source);
	trace_arena_free(&b->arena);
	free(b->damages.at);
}
