// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The edges of a trace: how often each branch led where.
 * usage: edges CODE ADDRESS TRACE [rtit]	files of bytes; CODE was at ADDRESS; packets of RTIT
 * cc -o edges edges.c $(pkg-config --cflags --libs vptdecode)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <vptdecode.h>

static uint8_t *read_file(const char *name, size_t *len)
{
	FILE *file = fopen(name, "rb");
	uint8_t *bytes = (uint8_t *)malloc(1 << 24);

	*len = file && bytes ? fread(bytes, 1, 1 << 24, file) : 0;
	if (!*len) {
		fprintf(stderr, "edges: %s: there is nothing to read\n", name);
		exit(2);
	}
	fclose(file);
	return bytes;
}

static void on_event(void *context, const struct vptd_event *event)
{
	(void)context;
	if (event->kind == VPTD_EVENT_ERROR)
		fprintf(stderr, "edges: byte %" PRIu64 " of the trace, at %" PRIx64 ": %s\n",
			event->offset, event->ip, vptd_status_text((enum vptd_status)event->value));
}

int main(int argc, char **argv)
{
	const uint32_t flags = VPTD_EDGES | (argc == 5 ? VPTD_ATOM : 0);
	const struct vptd_config config = {.size = sizeof(config), .flags = flags};
	const struct vptd_ops ops = {.size = sizeof(ops), .event = on_event};
	struct vptd_counts *counts = vptd_counts_new();
	enum vptd_status status;
	struct vptd_decoder *d = vptd_new(&config, &ops, NULL, &status);
	struct vptd_edge edge;
	uint8_t *code, *trace;
	size_t len, i;

	if (argc < 4 || argc > 5 || !d || !counts)
		return 2;
	code = read_file(argv[1], &len);
	status = vptd_code(d, VPTD_ANY_SPACE, strtoull(argv[2], NULL, 0), code, len);
	trace = read_file(argv[3], &len);
	if (status || vptd_push(d, trace, len) || vptd_finish(d) || vptd_count(d, counts))
		return 4;
	for (i = 0; vptd_counts_edge(counts, i, &edge); i++)
		printf("%" PRIx64 " %" PRIx64 " %" PRIu64 "\n", edge.from, edge.to, edge.count);
	fprintf(stderr, "%" PRIu64 " instructions\n", vptd_insns(d));
	vptd_counts_free(counts);
	vptd_free(d);
	free(code);
	free(trace);
	return 0;
}
