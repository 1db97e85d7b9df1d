// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a .vpt file of which a careless reader makes far more than the file has:
 * mkvpt KIND COUNT FILE.
 *
 *   spaces     COUNT address spaces of one page of code each, all of which run
 *   scattered  COUNT pages of code of one address space, no two of them adjacent
 *   inflated   COUNT ELF files with a debug section of 290 MB, compressed to 290 KB
 *   rows       COUNT ELF files with a line table of 60 million rows, compressed to 60 KB
 *   names      an ELF file with COUNT symbols, each with a name of a megabyte
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rawelf.h"
#include "lib/rawfile.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

#define CODE 0x400000ull

/* Packets that are gathered into TRACE blocks. */
struct stream {
	struct rawfile *file;
	uint8_t bytes[1 << 16];
	size_t n;
};

static void flush(struct stream *s)
{
	rawfile_trace(s->file, s->bytes, s->n);
	s->n = 0;
}

static void put(struct stream *s, const struct vpt_packet *p)
{
	if (sizeof(s->bytes) - s->n < VPT_PKT_MAX)
		flush(s);
	s->n += vpt_packet_write(s->bytes + s->n, p);
}

static void put_ip(struct stream *s, enum vpt_pkt_kind kind, uint64_t ip)
{
	put(s, &(struct vpt_packet){.kind = kind, .ip_bytes = VPT_IP_FULL, .value = ip});
}

static void put_psb(struct stream *s)
{
	put(s, &(struct vpt_packet){.kind = VPT_PKT_PSB});
	put(s, &(struct vpt_packet){.kind = VPT_PKT_MODE_EXEC, .value = 1});
	put(s, &(struct vpt_packet){.kind = VPT_PKT_PSBEND});
}

static void put_session(struct rawfile *f, enum trace_session_edge edge)
{
	const struct trace_session session = {
		.edge = edge,
		.end = edge == TRACE_SESSION_END ? TRACE_END_DISABLED : TRACE_END_NONE,
		.offset = f->stream,
		.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) | VPT_CTL_MASK(USER) |
		       VPT_CTL_MASK(BRANCH_EN),
	};

	rawfile_block(f, TRACE_BLOCK_SESSION, &session, sizeof(session), NULL, 0);
}

static void put_page(struct rawfile *f, uint64_t cr3, uint64_t vaddr, const void *code, size_t len)
{
	const struct trace_code_page page = {.cr3 = cr3, .vaddr = vaddr, .gpa = vaddr};
	uint8_t bytes[TRACE_CODE_BYTES];

	memset(bytes, 0x90, sizeof(bytes));
	memcpy(bytes, code, len);
	rawfile_block(f, TRACE_BLOCK_CODE, &page, sizeof(page), bytes, sizeof(bytes));
}

/* Make address spaces that each run two NOPs and are left by an interrupt. */
static void make_spaces(struct rawfile *f, uint64_t count)
{
	static struct stream s;
	uint64_t i;

	s.file = f;
	for (i = 0; i < count; i++)
		put_page(f, (i + 1) << 12, CODE, "\x90\x90", 2);
	put_session(f, TRACE_SESSION_START);
	put_psb(&s);
	for (i = 0; i < count; i++) {
		put(&s, &(struct vpt_packet){.kind = VPT_PKT_PIP, .value = (i + 1) << 12});
		put_ip(&s, VPT_PKT_TIP_PGE, CODE);
		put_ip(&s, VPT_PKT_FUP, CODE + 2);
		put(&s, &(struct vpt_packet){.kind = VPT_PKT_TIP_PGD});
	}
	flush(&s);
	put_session(f, TRACE_SESSION_END);
}

/* Make pages that each have one indirect jump to the next page but one. */
static void make_scattered(struct rawfile *f, uint64_t count)
{
	static struct stream s;
	uint64_t i;

	s.file = f;
	for (i = 0; i < count; i++)
		put_page(f, 1 << 12, CODE + i * 2 * TRACE_CODE_BYTES, "\xff\xe0", 2);
	put_session(f, TRACE_SESSION_START);
	put_psb(&s);
	put(&s, &(struct vpt_packet){.kind = VPT_PKT_PIP, .value = 1 << 12});
	put_ip(&s, VPT_PKT_TIP_PGE, CODE);
	for (i = 1; i < count; i++)
		put_ip(&s, VPT_PKT_TIP, CODE + i * 2 * TRACE_CODE_BYTES);
	put(&s, &(struct vpt_packet){.kind = VPT_PKT_TIP_PGD});
	flush(&s);
	put_session(f, TRACE_SESSION_END);
}

static void put_elf(struct rawfile *f, struct rawelf *e, uint64_t count)
{
	const struct trace_elf_image image = {.name = "hostile.elf"};

	rawelf_close(e);
	for (; count; count--)
		rawfile_block(f, TRACE_BLOCK_ELF, &image, sizeof(image), e->bytes, e->len);
	free(e->bytes);
}

/* Put one page that runs, so that symbols have an address to name. */
static void put_run(struct rawfile *f)
{
	make_spaces(f, 1);
}

static uint8_t *fill(size_t len, int byte)
{
	uint8_t *bytes = malloc(len);

	if (!bytes)
		abort();
	return memset(bytes, byte, len);
}

static void make_inflated(struct rawfile *f, uint64_t count)
{
	const size_t len = 290u << 20;
	uint8_t *bytes = fill(len, 0);
	struct rawelf e;

	rawelf_open(&e);
	rawelf_add_compressed(&e, ".debug_line", bytes, len);
	put_elf(f, &e, count);
	free(bytes);
	put_run(f);
}

/* The header of a line program of version 4, with neither folders nor files. */
static const uint8_t line_head[] = {
	0,  0,	0, 0,	 /* unit_length */
	4,  0,		 /* version */
	20, 0,	0, 0,	 /* header_length */
	1,  1,	1, 0xfb, /* of an instruction, operations, is_stmt, line_base */
	14, 13,		 /* line_range, opcode_base */
	0,  1,	1, 1,	 1, 0, 0, 0, 1, 0, 0, 1, /* operands of standard opcodes */
	0,  0,					 /* no folders, no files */
};

static void make_rows(struct rawfile *f, uint64_t count)
{
	const size_t len = 60u << 20;
	/* A special opcode: a row. */
	uint8_t *bytes = fill(len, 0x20);
	uint32_t unit = (uint32_t)len - 4;
	struct rawelf e;

	memcpy(bytes, line_head, sizeof(line_head));
	memcpy(bytes, &unit, sizeof(unit));
	rawelf_open(&e);
	rawelf_add_compressed(&e, ".debug_line", bytes, len);
	put_elf(f, &e, count);
	free(bytes);
	put_run(f);
}

static void make_names(struct rawfile *f, uint64_t count)
{
	const size_t len = 1u << 20;
	uint8_t *names = fill(len, 'a');
	Elf64_Sym *syms = calloc(count, sizeof(*syms));
	Elf64_Shdr *table;
	struct rawelf e;
	uint64_t i;

	if (!syms)
		abort();
	names[len - 1] = 0;
	for (i = 0; i < count; i++)
		syms[i] = (Elf64_Sym){.st_name = (Elf64_Word)(i % 4096),
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				      .st_shndx = SHN_ABS,
				      .st_value = CODE + i};
	rawelf_open(&e);
	table = rawelf_add(&e, ".symtab", SHT_SYMTAB, syms, count * sizeof(*syms));
	table->sh_entsize = sizeof(*syms);
	table->sh_link = 2;
	rawelf_add(&e, ".strtab", SHT_STRTAB, names, len);
	put_elf(f, &e, 1);
	free(names);
	free(syms);
	put_run(f);
}

static const struct {
	const char *name;
	void (*make)(struct rawfile *f, uint64_t count);
} kinds[] = {
	{"spaces", make_spaces}, {"scattered", make_scattered}, {"inflated", make_inflated},
	{"rows", make_rows},	 {"names", make_names},
};

int main(int argc, char **argv)
{
	struct rawfile f;
	size_t i;

	if (argc == 4) {
		for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			if (strcmp(argv[1], kinds[i].name))
				continue;
			rawfile_open(&f, argv[3]);
			kinds[i].make(&f, strtoull(argv[2], NULL, 0));
			rawfile_close(&f);
			return 0;
		}
	}
	fputs("usage: mkvpt KIND COUNT FILE\n", stderr);
	return 2;
}
