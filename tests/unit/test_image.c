// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory images: their formats, hostile images, and which image has the code of a CR3. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/record.h"
#include "decode/by_cr3.h"
#include "decode/flow.h"
#include "decode/spaces.h"
#include "host/vmm.h"
#include "image/nested.h"
#include "image/set.h"
#include "lib/imagefile.h"
#include "lib/suite.h"
#include "trace/reader.h"
#include "vpt/msr.h"
#include "vpt/packet.h"

#define PAGES 64u
#define PAGE  IMAGE_PAGE_BYTES
#define BASE  0x3ffe0000ull /* its pages are in two groups of bits of kdump.c */
#define RWU   7ull

static uint8_t ram[PAGES * PAGE];
static char path[64];
static const struct imagefile whole = {ram, sizeof(ram), 0, NULL};

static void begin(void)
{
	strcpy(path, "/tmp/vpt-image-XXXXXX");
	close(mkstemp(path));
	memset(ram, 0, sizeof(ram));
}

static void end(void)
{
	unlink(path);
}

/* Some pages are zero. Most formats leave these out. */
static void fill_ram(void)
{
	uint64_t state = 1;
	size_t i;

	for (i = 0; i < sizeof(ram); i++) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		/* Half of the other pages compress well. */
		ram[i] = i / PAGE % 5 == 3   ? 0
			 : i / PAGE % 2 == 0 ? (uint8_t)(i / PAGE + 1)
					     : (uint8_t)(state >> 56);
	}
}

static struct image_image *open_image(uint64_t base)
{
	struct image_image *image;
	char why[256] = "";
	int err = image_open(path, base, &image, why, sizeof(why));

	ck_assert_msg(!err, "%s", why);
	return image;
}

static void refused(uint64_t base, int err, const char *text)
{
	struct image_image *image;
	char why[256] = "";

	ck_assert_int_eq(image_open(path, base, &image, why, sizeof(why)), err);
	ck_assert_msg(strstr(why, text), "%s", why);
}

static void write_image(enum imagefile_format format, const struct imagefile *i)
{
	ck_assert(imagefile_write(path, format, i));
}

static void put(const void *bytes, size_t n)
{
	FILE *file = fopen(path, "w");

	ck_assert(file && fwrite(bytes, 1, n, file) == n && !fclose(file));
}

START_TEST(formats)
{
	static const char *const names[] = {"raw",	"ELF core",	   "ELF core",
					    "ELF core", "compressed dump", "compressed dump"};
	enum imagefile_format format = (enum imagefile_format)_i;
	struct imagefile i = whole;
	uint64_t base = format == IMAGEFILE_RAW ? BASE : 0;
	struct image_image *image;
	size_t k;

	fill_ram();
	i.base = BASE;
	write_image(format, &i);
	image = open_image(base);
	ck_assert_str_eq(image_format(image), names[_i]);
	for (k = 0; k < PAGES; k++) {
		const uint8_t *page = image_page(image, BASE + k * PAGE + 123);

		if (format != IMAGEFILE_RAW && k % 5 == 3) {
			ck_assert_ptr_null(page);
			continue;
		}
		ck_assert(page && !memcmp(page, ram + k * PAGE, PAGE));
		ck_assert_ptr_eq(page, image_page(image, BASE + k * PAGE));
	}
	ck_assert_ptr_null(image_page(image, BASE - 1));
	ck_assert_ptr_null(image_page(image, BASE + sizeof(ram)));
	ck_assert_ptr_null(image_page(image, UINT64_MAX));
	ck_assert_ptr_null(image_damage(image));
	image_close(image);
}
END_TEST

START_TEST(lzo_is_reported)
{
	struct image_image *image;

	fill_ram();
	write_image(IMAGEFILE_LZO, &whole);
	image = open_image(0);
	ck_assert_ptr_null(image_page(image, 0x1000));
	ck_assert_msg(strstr(image_damage(image), "LZO"), "%s", image_damage(image));
	image_close(image);
}
END_TEST

static const struct {
	enum imagefile_format format;
	const char *text;
	enum image_paging paging;
} notes[] = {
	{IMAGEFILE_ELF, NULL, IMAGE_PAGINGS},
	{IMAGEFILE_ELF, "OSRELEASE=6.1\nNUMBER(pgtable_l5_enabled)=0\n", IMAGE_LEVELS4},
	{IMAGEFILE_ELF, "OSRELEASE=6.1\nNUMBER(pgtable_l5_enabled)=1\n", IMAGE_LEVELS5},
	{IMAGEFILE_PAGED, "NUMBER(pgtable_l5_enabled)=1\n", IMAGE_LEVELS5},
	{IMAGEFILE_KDUMP, "NUMBER(pgtable_l5_enabled)=1\n", IMAGE_LEVELS5},
	{IMAGEFILE_FLAT, "NUMBER(pgtable_l5_enabled)=0\n", IMAGE_LEVELS4},
	{IMAGEFILE_ELF32, "CONFIG_X86_PAE=y\n", IMAGE_PAE},
	{IMAGEFILE_ELF32, "OSRELEASE=6.1\n", IMAGE_LEGACY},
};

START_TEST(paging_of_notes)
{
	struct imagefile i = whole;
	struct image_image *image;

	fill_ram();
	i.vmcoreinfo = notes[_i].text;
	write_image(notes[_i].format, &i);
	image = open_image(0);
	ck_assert_int_eq(image_known_paging(image), notes[_i].paging);
	image_close(image);
}
END_TEST

/* Files that are refused: these bytes, and zeros up to the size. */
static const struct {
	const char *bytes;
	size_t size;
	uint64_t base;
	int error;
	const char *text;
} refusals[] = {
	{"", 0, 0, -EINVAL, "empty"},
	{"", 100, 0, -EINVAL, "smaller than a page"},
	{"", 2 * PAGE, 123, -EINVAL, "begins at a page"},
	{"", 2 * PAGE, 1ull << 52, -EINVAL, "below 1 << 52"},
	{"\177ELF\2\1\1", 2 * PAGE, 0, -EINVAL, "not a core"},
	{"\177ELF\2\1\1", 2 * PAGE, PAGE, -EINVAL, "no base"},
	{"\177ELF\2\1\1", 20, 0, -EINVAL, "cut short"},
	{"KDUMP   ", 2 * PAGE, 0, -ENOTSUP, "another machine"},
	{"makedumpfile", 2 * PAGE, 0, -EINVAL, "flattened"},
};

START_TEST(refused_files)
{
	uint8_t bytes[2 * PAGE] = {0};

	memcpy(bytes, refusals[_i].bytes, strlen(refusals[_i].bytes));
	put(bytes, refusals[_i].size);
	refused(refusals[_i].base, refusals[_i].error, refusals[_i].text);
}
END_TEST

START_TEST(refused_names)
{
	unlink(path);
	refused(0, -ENOENT, "No such file");
	strcpy(path, "/");
	refused(0, -EINVAL, "not a regular file");
}
END_TEST

/* Change bytes of the headers. No read may go beyond the file. */
START_TEST(hostile)
{
	enum imagefile_format format = (enum imagefile_format)(_i % IMAGEFILE_FORMATS);
	uint64_t state = (uint64_t)_i + 1;
	unsigned int opened = 0, round, k;
	static uint8_t bytes[4 * sizeof(ram)];
	struct imagefile i = whole;
	FILE *file;
	size_t n;

	fill_ram();
	i.vmcoreinfo = "NUMBER(pgtable_l5_enabled)=1\n";
	write_image(format, &i);
	file = fopen(path, "r");
	n = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	for (round = 0; round < 60; round++) {
		uint8_t was[8];
		size_t at[8], cut;
		struct image_image *image;
		char why[256];

		for (k = 0; k < 8; k++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			/* Offsets in the headers, and anywhere in the file. */
			at[k] = (state >> 40) % (k & 1 ? n : 512);
			was[k] = bytes[at[k]];
			bytes[at[k]] = (uint8_t)(k & 2 ? state >> 20 : 0xff);
		}
		cut = round % 4 ? n : (state >> 33) % n;
		put(bytes, cut);
		if (!image_open(path, 0, &image, why, sizeof(why))) {
			opened++;
			for (k = 0; k < PAGES; k++)
				(void)image_page(image, k * PAGE);
			(void)image_page(image, state >> 12);
			image_close(image);
		}
		for (k = 8; k--;)
			bytes[at[k]] = was[k];
	}
	ck_assert(opened || format != IMAGEFILE_RAW);
}
END_TEST

/* Write 4-level page tables at @table that map one page at @vaddr. They have four pages. */
static void map4(uint64_t table, uint64_t vaddr, uint64_t physical)
{
	unsigned int shift;

	for (shift = 39; shift > 12; shift -= 9, table += PAGE) {
		uint64_t entry = (table + PAGE) | RWU;

		memcpy(ram + table + 8 * (vaddr >> shift & 511), &entry, 8);
	}
	physical |= RWU;
	memcpy(ram + table + 8 * (vaddr >> 12 & 511), &physical, 8);
}

static void mark(uint64_t physical, const char *text)
{
	strcpy((char *)ram + physical, text);
}

#define CR3   0x1000ull
#define VADDR 0xffffffff81000000ull

/* Return the text at VADDR in an address space of the set, or "" if the page is not mapped. */
static const char *code_at(struct image_set *set, bool non_root, uint64_t vmcs)
{
	const struct trace_code_source source = image_set_source(set);
	const struct trace_source_key key = {CR3, vmcs, non_root};
	uint64_t number = source.space(source.context, &key);
	const uint8_t *page;

	if (number == TRACE_SOURCE_NONE)
		return "no image";
	ck_assert_uint_eq(number, source.space(source.context, &key));
	ck_assert_uint_eq(number & 0x000fffffffffffe0ull, CR3);
	ck_assert(!non_root == !(number >> 52));
	page = source.page(source.context, number, VADDR);
	ck_assert_ptr_eq(page, source.page(source.context, number, VADDR));
	ck_assert_ptr_null(source.page(source.context, number, VADDR + PAGE));
	return page ? (const char *)page : "";
}

static struct image_use use_as(enum image_side side)
{
	return (struct image_use){.side = side,
				  .vmcs = TRACE_SPACE_ANY_VMCS,
				  .paging = IMAGE_PAGINGS,
				  .cr3 = TRACE_SOURCE_NONE};
}

/* Write an image whose page at VADDR has this text, and add the image to the set. */
static void add(struct image_set *set, enum image_side side, uint64_t vmcs, const char *text)
{
	struct image_use use = use_as(side);

	use.vmcs = vmcs;
	memset(ram, 0, sizeof(ram));
	map4(CR3, VADDR, 0x8000);
	mark(0x8000, text);
	/* Earlier images keep their file: they are read later. */
	unlink(path);
	write_image(IMAGEFILE_RAW, &whole);
	ck_assert_int_eq(image_set_add(set, open_image(0), &use), 0);
}

START_TEST(which_image)
{
	struct image_set *set = image_set_new();

	ck_assert_str_eq(code_at(set, false, TRACE_SPACE_ANY_VMCS), "no image");
	add(set, IMAGE_GUEST, 0x7000, "one guest");
	ck_assert_str_eq(code_at(set, false, TRACE_SPACE_ANY_VMCS), "no image");
	ck_assert_str_eq(code_at(set, true, 0x9000), "no image");
	ck_assert_str_eq(code_at(set, true, 0x7000), "one guest");
	/* An unknown guest gets the only image of a guest. */
	ck_assert_str_eq(code_at(set, true, TRACE_SPACE_ANY_VMCS), "one guest");
	add(set, IMAGE_GUEST, TRACE_SPACE_ANY_VMCS, "any guest");
	ck_assert_str_eq(code_at(set, true, 0xa000), "any guest");
	add(set, IMAGE_HOST, TRACE_SPACE_ANY_VMCS, "host");
	ck_assert_str_eq(code_at(set, false, TRACE_SPACE_ANY_VMCS), "host");
	ck_assert_str_eq(code_at(set, false, 0x7000), "host");
	ck_assert_str_eq(code_at(set, true, 0x7000), "one guest");
	image_set_free(set);

	set = image_set_new();
	add(set, IMAGE_ALL, TRACE_SPACE_ANY_VMCS, "all");
	ck_assert_str_eq(code_at(set, false, TRACE_SPACE_ANY_VMCS), "all");
	ck_assert_str_eq(code_at(set, true, 0x7000), "all");
	image_set_free(set);

	set = image_set_new();
	add(set, IMAGE_ALL, TRACE_SPACE_ANY_VMCS, "all");
	add(set, IMAGE_HOST, TRACE_SPACE_ANY_VMCS, "host");
	ck_assert_str_eq(code_at(set, false, TRACE_SPACE_ANY_VMCS), "host");
	ck_assert_str_eq(code_at(set, true, 0x7000), "all");
	image_set_free(set);
}
END_TEST

/* Write an EPT at @table that maps guest-physical pages 0 to 31 to @to and the pages behind it. */
static void map_ept(uint64_t table, uint64_t to)
{
	uint64_t entry, i;
	unsigned int level;

	for (level = 0; level < 3; level++, table += PAGE) {
		entry = (table + PAGE) | RWU;
		memcpy(ram + table, &entry, 8);
	}
	for (i = 0; i < 32; i++) {
		entry = (to + i * PAGE) | 0x30 | RWU;
		memcpy(ram + table + 8 * i, &entry, 8);
	}
}

#define VMCS 0x9000ull
#define EPT  0xa000ull
#define EPTP (EPT | 0x5e)
#define HPA  0x20000ull

/* Write an image of a host with a guest in its upper half. Both have the same CR3. */
static void fill_host(uint64_t eptp, size_t at)
{
	static uint8_t guest[0x10000];

	memset(ram, 0, sizeof(ram));
	map4(CR3, VADDR, 0x8000);
	mark(0x8000, "guest");
	memcpy(guest, ram, sizeof(guest));
	mark(0x8000, "host");
	memcpy(ram + HPA, guest, sizeof(guest));
	map_ept(EPT, HPA);
	memcpy(ram + VMCS + at, &eptp, sizeof(eptp));
	write_image(IMAGEFILE_RAW, &whole);
}

START_TEST(guest_in_host)
{
	struct image_use use = use_as(IMAGE_HOST);
	struct image_set *set = image_set_new();
	uint64_t eptps[IMAGE_EPTPS_MAX], decoy = 0x5e;
	struct image_image *image;

	/* A decoy precedes the EPTP: an EPTP of a table that maps nothing. */
	fill_host(EPTP, 0x7d4);
	memcpy(ram + VMCS + 0x100, &decoy, sizeof(decoy));
	write_image(IMAGEFILE_RAW, &whole);
	image = open_image(0);
	ck_assert_uint_eq(image_vmcs_eptps(image, VMCS, eptps), 2);
	ck_assert_uint_eq(eptps[1], EPTP);
	ck_assert_uint_eq(image_vmcs_eptps(image, 1ull << 40, eptps), 0);
	ck_assert_int_eq(image_set_add(set, image, &use), 0);
	ck_assert_str_eq(code_at(set, false, VMCS), "host");
	ck_assert_str_eq(code_at(set, true, VMCS), "guest");
	/* Without an EPT the guest runs on page tables of its host. */
	ck_assert_str_eq(code_at(set, true, 0xf000), "host");
	image_set_free(set);

	/* With a given EPTP no VMCS is needed. */
	set = image_set_new();
	fill_host(0, 0x10);
	use.side = IMAGE_GUEST;
	use.eptp = EPTP;
	ck_assert_int_eq(image_set_add(set, open_image(0), &use), 0);
	ck_assert_str_eq(code_at(set, false, VMCS), "no image");
	ck_assert_str_eq(code_at(set, true, TRACE_SPACE_ANY_VMCS), "guest");
	image_set_free(set);
}
END_TEST

/* A VMCS full of EPTPs of tables that point to themselves. Few EPTPs are tried, and all fail. */
START_TEST(hostile_vmcs)
{
	struct image_use use = use_as(IMAGE_HOST);
	struct image_set *set = image_set_new();
	uint64_t eptp = 0x3005e, self = 0x30000 | RWU;
	size_t i;

	memset(ram, 0, sizeof(ram));
	for (i = 8; i + 8 <= PAGE; i += 8, eptp += PAGE) {
		memcpy(ram + VMCS + i, &eptp, 8);
		memcpy(ram + 0x30000 + i, &self, 8);
	}
	write_image(IMAGEFILE_RAW, &whole);
	ck_assert_int_eq(image_set_add(set, open_image(0), &use), 0);
	ck_assert_str_eq(code_at(set, true, VMCS), "");
	image_set_free(set);
}
END_TEST

START_TEST(guesses)
{
	static const struct {
		enum image_paging given;
		const char *note, *at;
	} rows[] = {
		{IMAGE_PAGINGS, NULL, "all"},
		{IMAGE_LEVELS4, NULL, "all"},
		{IMAGE_LEVELS5, NULL, ""},
		{IMAGE_PAE, NULL, ""},
		{IMAGE_PAGINGS, "NUMBER(pgtable_l5_enabled)=0\n", "all"},
		{IMAGE_PAGINGS, "NUMBER(pgtable_l5_enabled)=1\n", ""},
		{IMAGE_LEVELS4, "NUMBER(pgtable_l5_enabled)=1\n", "all"},
	};
	struct image_use use = use_as(IMAGE_ALL);
	struct image_set *set = image_set_new();
	struct imagefile i = whole;
	struct trace_code_source source;

	use.paging = rows[_i].given;
	use.cr3 = CR3;
	memset(ram, 0, sizeof(ram));
	map4(CR3, VADDR, 0x8000);
	mark(0x8000, "all");
	i.vmcoreinfo = rows[_i].note;
	write_image(IMAGEFILE_ELF, &i);
	ck_assert_int_eq(image_set_add(set, open_image(0), &use), 0);
	ck_assert_str_eq(code_at(set, false, TRACE_SPACE_ANY_VMCS), rows[_i].at);
	source = image_set_source(set);
	ck_assert_uint_eq(source.guess(source.context, VADDR), CR3);
	image_set_free(set);
}
END_TEST

/* An image of ranges of an open file. Some ranges overlap, and a page has a hole. */
START_TEST(ranges)
{
	const struct image_range all[] = {{0x8000, 0x2000, 0x1000},
					  {0x9000, 0x2000, 0x2000},
					  {0, 0x800, 0},
					  {0x800, 0x800, 0x800}};
	struct image_image *image;
	int fd;

	fill_ram();
	write_image(IMAGEFILE_RAW, &whole);
	fd = open(path, O_RDONLY);
	ck_assert_int_eq(image_of_ranges(fd, all, 4, &image), 0);
	ck_assert_uint_eq(image_bytes(image), 0x4000);
	ck_assert(!memcmp(image_page(image, 0), ram, PAGE));
	ck_assert(!memcmp(image_page(image, 0x8000), ram + 0x1000, PAGE));
	ck_assert(!memcmp(image_page(image, 0xa000), ram + 0x3000, PAGE));
	ck_assert_ptr_null(image_page(image, 0xb000));
	image_close(image);
}
END_TEST

static void put_packet(struct trace_writer *w, const struct vpt_packet *p)
{
	uint8_t bytes[VPT_PKT_MAX];

	ck_assert_int_eq(trace_writer_trace(w, 0, 0, bytes, vpt_packet_write(bytes, p)), 0);
}

static void put_ip(struct trace_writer *w, enum vpt_pkt_kind kind, uint64_t ip)
{
	put_packet(w, &(struct vpt_packet){.kind = kind, .ip_bytes = VPT_IP_FULL, .value = ip});
}

/* Write the packets of a guest that executes five NOPs up to an event. */
static void put_visit(struct trace_writer *w, uint64_t vmcs, uint64_t cr3, uint64_t ip)
{
	put_packet(w, &(struct vpt_packet){.kind = VPT_PKT_VMCS, .value = vmcs});
	put_packet(w, &(struct vpt_packet){.kind = VPT_PKT_PIP, .value = cr3, .flag = true});
	put_ip(w, VPT_PKT_TIP_PGE, ip);
	put_ip(w, VPT_PKT_FUP, ip + 5);
	put_packet(w, &(struct vpt_packet){.kind = VPT_PKT_TIP_PGD});
}

#define PART 0x11000ull /* a CR3 that does not map all executed pages */

/* Spaces of two guests without code. The memory has all code of the first one only. */
static const struct trace_space two[] = {
	{.id = 0xf000000001000, .cr3 = CR3, .vmcs = VMCS, .flags = 5, .vm = 0},
	{.id = 0xf000000002000, .cr3 = PART, .vmcs = 0xf000, .flags = 5, .vm = 1},
};

static struct trace_writer *write_packets(const char *file, bool part)
{
	struct trace_file_info info = {.vcpus = 1, .owner = TRACE_OWNER_HOST};
	struct trace_session session = {.ctl = VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(OS) |
					       VPT_CTL_MASK(USER) | VPT_CTL_MASK(BRANCH_EN)};
	struct trace_writer *w;
	int i;

	ck_assert_int_eq(trace_writer_open(file, &info, &w), 0);
	trace_writer_session(w, 0, &session);
	put_packet(w, &(struct vpt_packet){.kind = VPT_PKT_PSB});
	put_packet(w, &(struct vpt_packet){.kind = VPT_PKT_MODE_EXEC, .value = 1});
	put_packet(w, &(struct vpt_packet){.kind = VPT_PKT_PSBEND});
	/* The second visit is an error. No PSB follows, so nothing behind it is decoded. */
	if (part) {
		put_visit(w, 0xf000, PART, VADDR);
		put_visit(w, 0xf000, PART, VADDR + PAGE);
	}
	for (i = 0; i < 10; i++)
		put_visit(w, VMCS, CR3, VADDR);
	session.edge = TRACE_SESSION_END;
	session.end = TRACE_END_CLOSED;
	trace_writer_session(w, 0, &session);
	return w;
}

/* Check that the file has 50 instructions, with no error. */
static void check_insns(struct trace_reader *r)
{
	struct decode_flow *flow;
	struct decode_item item;
	uint64_t n = 0;

	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_BLOCKS, &flow), 0);
	do {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		ck_assert_int_ne(item.kind, DECODE_ITEM_ERROR);
		n += item.insns;
	} while (item.kind != DECODE_ITEM_END);
	decode_flow_close(flow);
	ck_assert_uint_eq(n, 50);
}

static struct trace_reader *open_file(const char *file)
{
	struct trace_reader *r;
	char why[256];

	ck_assert_msg(!trace_reader_open(file, &r, why, sizeof(why)), "%s", why);
	return r;
}

/*
 * Write the packets and the code that vpt record finds for the guests. Check how many guests have
 * their code, and read the file.
 */
static struct trace_reader *record(const char *file, bool part, const struct cli_record_guests *in,
				   unsigned int guests)
{
	struct trace_writer *w = write_packets(file, part);
	struct cli_record_sum sum = {0};

	ck_assert_int_eq(trace_writer_spaces(w, two, 2), 0);
	ck_assert_int_eq(cli_record_guests(in, w, file, &sum), 0);
	ck_assert_uint_eq(sum.guest_code, guests);
	ck_assert_int_eq(trace_writer_close(w, 0), 0);
	return open_file(file);
}

/* vpt record writes the code of the guest whose pages are all in memory, and no other code. */
START_TEST(recorded)
{
	const struct cli_record_guests in = {
		.where = CLI_RECORD_KCORE, .memory = path, .spaces = two, .nspaces = 2};
	const struct trace_code *code;
	const struct trace_space *spaces;
	struct trace_reader *r;
	char file[80];
	size_t n;

	fill_host(EPTP, 0x7d4);
	memset(ram + HPA + 0x8000, 0x90, PAGE);
	map4(PART, VADDR, HPA + 0x8000);
	write_image(IMAGEFILE_ELF, &whole);
	snprintf(file, sizeof(file), "%s.vpt", path);
	r = record(file, true, &in, 1);
	code = trace_reader_code(r, 0, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert(code->page->cr3 == two[0].id && code->page->vaddr == VADDR);
	ck_assert(!memcmp(code->bytes, ram + HPA + 0x8000, PAGE));
	spaces = trace_reader_spaces(r, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(spaces[0].flags, TRACE_SPACE_NON_ROOT);
	ck_assert_uint_eq(spaces[1].flags, TRACE_SPACE_NON_ROOT | TRACE_SPACE_NO_CODE);
	check_insns(r);
	trace_reader_close(r);
	unlink(file);
}
END_TEST

/*
 * This process is the VMM of both guests, and the machine's memory has no code. The largest mapping
 * of the process has 2.75 GiB and a page. It is the guests' RAM, with a hole in the address space.
 */
START_TEST(in_process)
{
	const struct cli_record_vmm vmms[] = {{VMCS, (unsigned int)getpid()}};
	struct cli_record_guests in = {.where = CLI_RECORD_AUTO,
				       .memory = path,
				       .spaces = two,
				       .nspaces = 2,
				       .vmms = vmms,
				       .nvmms = 1};
	const size_t bytes = 0xb0000000 + PAGE;
	const struct trace_code *code;
	struct trace_reader *r;
	char file[80];
	uint8_t *guest;
	size_t n;

	memset(ram, 0, sizeof(ram));
	write_image(IMAGEFILE_RAW, &whole);
	/* The code is behind the hole, like on the q35 machine. */
	map4(CR3, VADDR, 1ull << 32);
	guest = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	ck_assert(guest != MAP_FAILED);
	memcpy(guest, ram, sizeof(ram));
	memset(guest + 0x80000000, 0x90, PAGE);
	snprintf(file, sizeof(file), "%s.vpt", path);
	/* The second guest executes nothing, so none of its code is missing. */
	r = record(file, false, &in, 2);
	code = trace_reader_code(r, 0, &n);
	ck_assert(n == 1 && !memcmp(code->bytes, guest + 0x80000000, PAGE));
	check_insns(r);
	trace_reader_close(r);
	unlink(file);
	munmap(guest, bytes);
}
END_TEST

START_TEST(vmm_layouts)
{
	static const struct {
		uint64_t bytes, low[HOST_VMM_LAYOUTS];
	} rows[] = {
		{0x8000000, {0, 0, 0, 0x8000000}},
		{0xafffffff, {0, 0, 0, 0xafffffff}},
		{0xb0000000, {0x80000000, 0, 0, 0xb0000000}},
		{0xd0001000, {0x80000000, 0, 0xd0000000, 0xd0001000}},
		{0x200000000, {0x80000000, 0xc0000000, 0xd0000000, 0x200000000}},
	};
	unsigned int i;

	for (i = 0; i <= HOST_VMM_LAYOUTS; i++)
		ck_assert_uint_eq(host_vmm_low(rows[_i].bytes, i),
				  i < HOST_VMM_LAYOUTS ? rows[_i].low[i] : 0);
}
END_TEST

START_TEST(vmm_maps)
{
	static const char text[] =
		"1000-2000 r-xp 00000000 00:00 0  /vmm\n"
		"10000-200000 rw-p 00000000 00:00 0  [heap]\n"
		"7f0000000000-7f0008000000 rw-s 00000000 00:01 7  /dev/zero (deleted)\n"
		"7f1000000000-7f2000000000 r--p 00000000 00:00 0\n"
		"02008fff7000-10007fff8000 rw-p 00000000 00:00 0\n"
		"7f0008001000-7f0008000000 rw-p 00000000 00:00 0\n"
		"nonsense\n";
	FILE *maps = fmemopen((void *)text, sizeof(text) - 1, "r");
	struct host_range r;

	ck_assert(host_vmm_ram(maps, &r));
	ck_assert(r.start == 0x7f0000000000 && r.end == 0x7f0008000000);
	fclose(maps);
	maps = fmemopen((void *)text, 38, "r");
	ck_assert(!host_vmm_ram(maps, &r));
	fclose(maps);
}
END_TEST

/* Host and guest have the same CR3, and the file has no spaces. The images distinguish them. */
START_TEST(no_spaces)
{
	struct decode_by_cr3 *by_cr3 = decode_by_cr3_new(false);
	struct trace_code_source source;
	struct image_set *set = image_set_new();
	const struct trace_space *seen = NULL;
	struct trace_reader *r;
	struct decode_flow *flow;
	struct decode_item item;
	char file[80], text[64];

	add(set, IMAGE_GUEST, TRACE_SPACE_ANY_VMCS, "\x90\x90\x90\x90\x90");
	snprintf(file, sizeof(file), "%s.vpt", path);
	ck_assert_int_eq(trace_writer_close(write_packets(file, false), 0), 0);
	r = open_file(file);
	source = image_set_source(set);
	trace_reader_set_source(r, &source);
	ck_assert_int_eq(decode_flow_open(r, 0, DECODE_FLOW_BLOCKS, &flow), 0);
	do {
		ck_assert_int_eq(decode_flow_next(flow, &item), 0);
		ck_assert(decode_by_cr3_item(by_cr3, &item));
		if (item.kind == DECODE_ITEM_BLOCK && !seen)
			seen = item.space;
	} while (item.kind != DECODE_ITEM_END);
	ck_assert_ptr_nonnull(seen);
	decode_space_format(seen, text, sizeof(text));
	ck_assert_str_eq(text, "guest: cr3 0x1000");
	decode_flow_close(flow);
	trace_reader_close(r);
	decode_by_cr3_free(by_cr3);
	image_set_free(set);
	unlink(file);
}
END_TEST

TEST_SUITE("image", begin, end)
{
	tcase_add_loop_test(tcase, formats, 0, IMAGEFILE_LZO);
	TEST_ROWS(tcase, paging_of_notes, notes);
	TEST_ROWS(tcase, refused_files, refusals);
	tcase_add_loop_test(tcase, hostile, 0, 3 * IMAGEFILE_FORMATS);
	tcase_add_loop_test(tcase, guesses, 0, 7);
	tcase_add_loop_test(tcase, vmm_layouts, 0, 5);
	TEST_ADD(tcase, lzo_is_reported, refused_names, ranges, which_image, guest_in_host,
		 hostile_vmcs, recorded, in_process, vmm_maps, no_spaces);
}
