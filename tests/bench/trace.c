// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure the density and the decoding speed of a recorded trace. The peer is a loop around plain
 * libipt over the same bytes and the same code. It knows one address space, one version of each
 * page and no sessions.
 */
#include "bench/bench.h"

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/flow.h"
#include "trace/reader.h"

/* Decode about this many bytes in each measurement. */
#define WORK_BYTES (4u << 20)
#define PAGE_BYTES 4096

struct peer {
	struct pt_config config;
	struct pt_image *image;
	int fd;
};

static int peer_open(struct peer *peer, struct trace_reader *reader, const uint8_t *stream,
		     size_t len)
{
	const struct trace_code *code;
	char path[32];
	size_t count, i;

	pt_config_init(&peer->config);
	peer->config.begin = (uint8_t *)stream;
	peer->config.end = (uint8_t *)stream + len;
	peer->config.flags.variant.block.end_on_call = 1;
	peer->config.flags.variant.block.end_on_jump = 1;
	peer->image = pt_image_alloc(NULL);
	peer->fd = memfd_create("code", 0);
	if (!peer->image || peer->fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", peer->fd);
	code = trace_reader_code(reader, 0, &count);
	for (i = 0; i < count; i++)
		if (write(peer->fd, code[i].bytes, PAGE_BYTES) != PAGE_BYTES)
			return -1;
	/* Add pages backwards, so that the first version of a page is added last and stays. */
	for (i = count; i--;)
		if (pt_image_add_file(peer->image, path, i * PAGE_BYTES, PAGE_BYTES, NULL,
				      code[i].page->vaddr) < 0)
			return -1;
	return 0;
}

static void peer_close(struct peer *peer)
{
	pt_image_free(peer->image);
	if (peer->fd >= 0)
		close(peer->fd);
}

/* Return the number of instructions, or 0 after an error. */
static uint64_t peer_insns(struct peer *peer)
{
	struct pt_insn_decoder *decoder = pt_insn_alloc_decoder(&peer->config);
	uint64_t n = 0;
	int status;

	if (!decoder || pt_insn_set_image(decoder, peer->image) < 0)
		return 0;
	status = pt_insn_sync_forward(decoder);
	while (status >= 0) {
		struct pt_insn insn;
		struct pt_event event;

		if (status & pts_event_pending) {
			status = pt_insn_event(decoder, &event, sizeof(event));
			continue;
		}
		if (status & pts_eos)
			break;
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		n += status >= 0;
	}
	pt_insn_free_decoder(decoder);
	return status >= 0 || status == -pte_eos ? n : 0;
}

static uint64_t peer_blocks(struct peer *peer)
{
	struct pt_block_decoder *decoder = pt_blk_alloc_decoder(&peer->config);
	uint64_t n = 0;
	int status;

	if (!decoder || pt_blk_set_image(decoder, peer->image) < 0)
		return 0;
	status = pt_blk_sync_forward(decoder);
	while (status >= 0) {
		struct pt_block block = {0};
		struct pt_event event;

		if (status & pts_event_pending) {
			status = pt_blk_event(decoder, &event, sizeof(event));
			continue;
		}
		if (status & pts_eos)
			break;
		status = pt_blk_next(decoder, &block, sizeof(block));
		n += block.ninsn;
	}
	pt_blk_free_decoder(decoder);
	return status >= 0 || status == -pte_eos ? n : 0;
}

static uint64_t ours(struct trace_reader *reader, enum decode_flow_unit unit)
{
	struct decode_flow *flow;
	struct decode_item item;
	uint64_t n = 0;

	if (decode_flow_open(reader, 0, unit, &flow))
		return 0;
	while (!decode_flow_next(flow, &item) && item.kind != DECODE_ITEM_END) {
		if (item.kind == DECODE_ITEM_ERROR) {
			n = 0;
			break;
		}
		if (item.kind == DECODE_ITEM_INSN || item.kind == DECODE_ITEM_BLOCK)
			n += item.insns;
	}
	decode_flow_close(flow);
	return n;
}

static int compare(struct trace_reader *reader, struct peer *peer, enum decode_flow_unit unit,
		   size_t len)
{
	const char *name =
		unit == DECODE_FLOW_INSNS ? "decode to instructions" : "decode to blocks";
	uint64_t (*other)(struct peer * p) = unit == DECODE_FLOW_INSNS ? peer_insns : peer_blocks;
	const unsigned int times = 1 + WORK_BYTES / (unsigned int)len;
	double best[2] = {0};
	unsigned int round, i;

	for (round = 0; round < BENCH_ROUNDS / 3; round++) {
		uint64_t insns[2] = {0};
		double start = bench_now(), middle, end;

		for (i = 0; i < times; i++)
			insns[0] = ours(reader, unit);
		middle = bench_now();
		for (i = 0; i < times; i++)
			insns[1] = other(peer);
		end = bench_now();
		if (!insns[0] || insns[0] != insns[1]) {
			fprintf(stderr, "bench: %s: %llu instructions, libipt has %llu\n", name,
				(unsigned long long)insns[0], (unsigned long long)insns[1]);
			return -1;
		}
		if (!round || middle - start < best[0])
			best[0] = middle - start;
		if (!round || end - middle < best[1])
			best[1] = end - middle;
	}
	bench_report(name, (double)len * times / best[0] * 1e-6, "MB/s", "libipt alone",
		     (double)len * times / best[1] * 1e-6);
	return 0;
}

int bench_trace(const char *path)
{
	struct peer peer = {.fd = -1};
	struct trace_reader *reader;
	const uint8_t *stream;
	char why[256];
	uint64_t insns;
	size_t len;
	int err = -1;

	if (trace_reader_open(path, &reader, why, sizeof(why))) {
		fprintf(stderr, "bench: %s: %s\n", path, why);
		return -1;
	}
	stream = trace_reader_stream(reader, 0, &len);
	insns = ours(reader, DECODE_FLOW_BLOCKS);
	if (!stream || !len || !insns) {
		fprintf(stderr, "bench: %s: no trace that decodes\n", path);
	} else if (peer_open(&peer, reader, stream, len)) {
		fprintf(stderr, "bench: %s: cannot set up libipt\n", path);
	} else {
		bench_report("packets per 1000 instructions", (double)len * 1000 / (double)insns,
			     "bytes", NULL, 0);
		err = compare(reader, &peer, DECODE_FLOW_INSNS, len);
		if (!err)
			err = compare(reader, &peer, DECODE_FLOW_BLOCKS, len);
	}
	peer_close(&peer);
	trace_reader_close(reader);
	return err;
}
