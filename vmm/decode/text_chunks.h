/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A long text in compressed chunks, for partial results. Chunks are cut at any byte. Their bytes come
 * from files, and are not trusted.
 */
#ifndef VMM_DECODE_TEXT_CHUNKS_H
#define VMM_DECODE_TEXT_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The maximum size of a chunk before compression. */
#define DECODE_TEXT_CHUNK (1u << 20)

/* An entry of a file (docs/abi/vpt-part.md). */
struct decode_text_chunk {
	uint32_t raw;	 /* the number of bytes of text, from 1 to DECODE_TEXT_CHUNK */
	uint32_t packed; /* the number of bytes of the zstd frame */
};

/* Zero-initialise. */
struct decode_text {
	struct {
		struct decode_text_chunk *at;
		size_t n, room;
	} chunks;
	struct {
		uint8_t *at;
		size_t n, room;
	} bytes; /* the frames of all chunks, one after the other */
};

/* Appends to a text. */
struct decode_text_writer;

/*
 * Start to append to @to. Write to *out and do not close it. Returns NULL if there is no memory. End
 * it in any case with decode_text_end().
 */
struct decode_text_writer *decode_text_begin(struct decode_text *to, FILE **out);
/* Write the last chunk, and free the writer, which may be NULL. Returns 0 or -ENOMEM. */
int decode_text_end(struct decode_text_writer *w);

/* Append the chunks of @from, which is emptied. Returns false if there is no memory. */
bool decode_text_join(struct decode_text *to, struct decode_text *from);
/* Append chunks and their frames, which may be forged. Returns 0, -EINVAL or -ENOMEM. */
int decode_text_take(struct decode_text *to, const struct decode_text_chunk *chunks, size_t n,
		     const void *bytes, size_t len);
void decode_text_free(struct decode_text *t);

/*
 * Call @take with each part of the text, in order, until it returns an error. Returns this error, 0,
 * -EINVAL if a chunk is damaged, or -ENOMEM.
 */
int decode_text_read(const struct decode_text *t,
		     int (*take)(void *context, const char *text, size_t len), void *context);

#endif /* VMM_DECODE_TEXT_CHUNKS_H */
