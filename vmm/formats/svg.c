// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A picture of the calls of each lane. A box is a function that the one above it called. Its width is
 * the number of instructions of it and of what it called. The busiest lanes come first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"

#define WIDTH	   1200.0 /* of the picture */
#define HEIGHT	   19u	  /* of a box */
#define LETTER	   6.7	  /* the width of a letter */
#define LANES_MAX  64u	  /* more are omitted */
#define DEPTH_MAX  200u	  /* deeper boxes are omitted */
#define NARROW	   0.5	  /* narrower boxes are omitted */
#define NAME_SPACE 256u

/* A node of the tree, and its place. */
struct box {
	struct decode_calls_node node;
	uint64_t insns;	   /* with those of callees */
	uint32_t row;	   /* from 1 on; 0: not drawn */
	double left, next; /* the left edge, and that of its next callee */
};

struct picture {
	struct format_run *run;
	struct box *box;
	uint32_t n;
	uint64_t insns;	   /* of the boxes in the first row */
	unsigned int y;	   /* the top of the lane */
	unsigned int rows; /* the depth of the lane, with its title */
};

/* Write a text of an element. Names of guests can have any characters. */
static void write_text(FILE *out, const char *text, size_t len)
{
	for (; len && *text; text++, len--) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else
			putc(*text, out);
	}
}

/* Copy the tree, and sum up each node. Returns 0 or -ENOMEM. */
static int take_tree(struct picture *p, const struct format_lane *lane)
{
	struct decode_calls_node node;
	uint32_t i;

	for (p->n = 0; decode_calls_node(lane->calls, p->n, &node);)
		p->n++;
	free(p->box);
	p->box = calloc(p->n + 1u, sizeof(*p->box));
	if (!p->box)
		return -ENOMEM;
	for (i = 0; i < p->n; i++) {
		(void)decode_calls_node(lane->calls, i, &p->box[i].node);
		p->box[i].insns = p->box[i].node.own;
	}
	/* A node is behind its parent. */
	for (i = p->n; i--;)
		if (p->box[i].node.parent < i)
			p->box[p->box[i].node.parent].insns += p->box[i].insns;
	return 0;
}

/* Returns true if a node belongs to the first row, unless a node above it does. */
static bool is_top(const struct picture *p, const struct decode_calls_node *node)
{
	return p->run->only ? node->depth && format_is_only(p->run, node->func) : node->depth == 1;
}

/* Find the rows of all nodes. */
static void find_rows(struct picture *p)
{
	uint32_t i;

	p->insns = 0;
	for (i = 0; i < p->n; i++) {
		struct box *b = &p->box[i];
		const uint32_t above = b->node.parent < i ? p->box[b->node.parent].row : 0;

		b->row = above ? above + 1 : is_top(p, &b->node);
		if (b->row == 1)
			p->insns += b->insns;
	}
}

static void write_box(const struct picture *p, const struct box *b, double width)
{
	const unsigned int y = p->y + b->row * HEIGHT;
	const double letters = (width - 8) / LETTER;
	char name[NAME_SPACE];
	size_t len, fits;

	debug_symbols_format(p->run->symbols, b->node.func, name, sizeof(name));
	len = strlen(name);
	fits = letters < 1 ? 0 : letters < NAME_SPACE ? (size_t)letters : NAME_SPACE;
	fprintf(p->run->out, "<g><title>%" PRIu64 "x ", b->node.count);
	write_text(p->run->out, name, len);
	fprintf(p->run->out,
		", %" PRIu64 " instructions</title><rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" "
		"height=\"%u\" rx=\"2\" fill=\"hsl(%u,75%%,72%%)\" stroke=\"#fff\"/>",
		b->insns, b->left, y, width, HEIGHT,
		20 + (b->row * 23 + (unsigned int)len * 7) % 40);
	if (fits > 3 || fits >= len) {
		fprintf(p->run->out, "<text x=\"%.1f\" y=\"%u\">", b->left + 4, y + 13);
		write_text(p->run->out, name, len > fits ? fits - 1 : len);
		fputs(len > fits ? "~</text>" : "</text>", p->run->out);
	}
	fputs("</g>\n", p->run->out);
}

static double width_of(const struct picture *p, const struct box *b)
{
	return (double)b->insns * WIDTH / (double)p->insns;
}

/* Place a box behind the last one of its parent. Returns false if it is not drawn. */
static bool place(struct picture *p, uint32_t i, double *root)
{
	struct box *b = &p->box[i];
	double *next = b->row > 1 ? &p->box[b->node.parent].next : root;

	if (!b->row)
		return false;
	b->left = b->next = *next;
	*next += width_of(p, b);
	return width_of(p, b) >= NARROW && b->row <= DEPTH_MAX;
}

static void draw_lane(struct picture *p, const struct format_lane *lane)
{
	double root = 0;
	uint32_t i;

	p->rows = 1;
	fprintf(p->run->out, "<text x=\"4\" y=\"%u\">", p->y + 13);
	write_text(p->run->out, lane->name, SIZE_MAX);
	fprintf(p->run->out, ": %" PRIu64 " instructions</text>\n", p->insns);
	for (i = 0; i < p->n; i++) {
		if (!place(p, i, &root))
			continue;
		write_box(p, &p->box[i], width_of(p, &p->box[i]));
		if (p->box[i].row >= p->rows)
			p->rows = p->box[i].row + 1;
	}
}

static int by_insns(const void *a, const void *b)
{
	const struct format_lane *x = *(struct format_lane *const *)a;
	const struct format_lane *y = *(struct format_lane *const *)b;
	const uint64_t n = decode_calls_insns(x->calls), m = decode_calls_insns(y->calls);

	if (n != m)
		return n > m ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

/* Draw the lanes, which are sorted. */
static int draw(struct picture *p, struct format_lane **lanes)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < p->run->lanes.n && i < LANES_MAX; i++) {
		if (!decode_calls_insns(lanes[i]->calls))
			break;
		err = take_tree(p, lanes[i]);
		if (err)
			break;
		find_rows(p);
		if (!p->insns)
			continue;
		draw_lane(p, lanes[i]);
		p->y += (p->rows + 1) * HEIGHT;
	}
	return !err && p->run->only && !p->y ? -ENOENT : err;
}

/* Write the picture, whose body is complete. */
static void write_picture(FILE *out, unsigned int height, const char *body, size_t bytes)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%u\" "
		"viewBox=\"0 0 %.0f %u\" font-family=\"monospace\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
	fwrite(body, 1, bytes, out);
	fputs("</svg>\n", out);
}

static int end(struct format_run *run)
{
	struct format_lane **lanes = calloc(run->lanes.n + 1, sizeof(struct format_lane *));
	struct picture p = {.run = run};
	FILE *out = run->out;
	char *body = NULL; /* the picture, until its height is known */
	size_t bytes = 0;
	int err = -ENOMEM;

	run->out = lanes ? open_memstream(&body, &bytes) : NULL;
	if (run->out) {
		if (run->lanes.n)
			memcpy(lanes, run->lanes.at, run->lanes.n * sizeof(struct format_lane *));
		qsort(lanes, run->lanes.n, sizeof(struct format_lane *), by_insns);
		err = draw(&p, lanes);
		if (fclose(run->out) && !err)
			err = -ENOMEM;
	}
	run->out = out;
	if (!err)
		write_picture(out, p.y + 1, body, bytes);
	free(body);
	free(p.box);
	free(lanes);
	return err;
}

const struct format_type format_type_svg = {.name = "svg", .selects = true, .end = end};
