// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: memory images. The input is a format, then changes to a valid image. They reach
 * headers, bitmaps and descriptors, and the page tables, EPTs and VMCS regions in the memory. The
 * target reads every page, and searches for code in address spaces of a host and of guests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/bytes.h"
#include "image/set.h"
#include "lib/imagefile.h"
#include "trace/format.h"

#define PAGE  IMAGE_PAGE_BYTES
#define PAGES 24u
#define RWU   7ull

static uint8_t ram[PAGES * PAGE];

/*
 * Fill RAM with page tables of four levels at 0x1000, an EPT at 0x6000 whose memory begins at 0,
 * and a VMCS at 0xa000.
 */
static void fill(void)
{
	uint64_t table, entry, i;

	memset(ram, 0, sizeof(ram));
	for (table = 1; table < 4; table++) {
		entry = (table + 1) * PAGE | RWU;
		memcpy(ram + table * PAGE, &entry, 8);
		entry = (table + 6) * PAGE | RWU;
		memcpy(ram + (table + 5) * PAGE, &entry, 8);
	}
	for (i = 0; i < PAGES; i++) {
		entry = i * PAGE | RWU;
		memcpy(ram + 4 * PAGE + 8 * i, &entry, 8);
		entry = i * PAGE | 0x30 | RWU;
		memcpy(ram + 9 * PAGE + 8 * i, &entry, 8);
	}
	entry = 0x605e;
	memcpy(ram + 10 * PAGE + 0x40, &entry, 8);
}

/* Look for code in one address space. */
static void inspect(const struct trace_code_source *source, uint64_t cr3, uint64_t vmcs, bool guest)
{
	const struct trace_source_key key = {cr3, vmcs, guest};
	uint64_t number = source->space(source->context, &key), i;
	unsigned int sum = 0;

	for (i = 0; number != TRACE_SOURCE_NONE && i < 8; i++) {
		const uint8_t *page = source->page(source->context, number, i * PAGE);

		REQUIRE(page == source->page(source->context, number, i * PAGE));
		sum += page ? page[0] + page[PAGE - 1] : 0;
		(void)source->page(source->context, number, ~0ull << (63 - 8 * i));
	}
	(void)sum;
}

static void use(struct image_image *image, unsigned int how)
{
	const struct image_use as = {
		.side = (enum image_side)(how % 3),
		.vmcs = TRACE_SPACE_ANY_VMCS,
		.paging = (enum image_paging)(how / 3 % (IMAGE_PAGINGS + 1)),
		.eptp = how % 3 == IMAGE_GUEST ? 0x605e : 0,
		.cr3 = TRACE_SOURCE_NONE,
	};
	struct image_set *set = image_set_new();
	struct trace_code_source source;
	uint64_t i;

	REQUIRE(set);
	for (i = 0; i < 2 * PAGES; i++)
		(void)image_page(image, i * PAGE);
	(void)image_page(image, UINT64_MAX);
	REQUIRE(!image_set_add(set, image, &as));
	source = image_set_source(set);
	inspect(&source, 0x1000, TRACE_SPACE_ANY_VMCS, false);
	inspect(&source, 0x1000, 0xa000, true);
	inspect(&source, 0x2000, 0xb000, true);
	inspect(&source, UINT64_MAX, UINT64_MAX, true);
	image_set_free(set);
}

/* Apply changes, each an offset of three bytes and five new bytes. */
static void change(uint8_t *bytes, size_t n, struct input *in)
{
	while (n >= 8 && in->left >= 8) {
		size_t at = take(in, 3) % (n - 7), len = 5;
		const uint8_t *to = some(in, &len);

		memcpy(bytes + at, to, len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	struct imagefile good = {ram, sizeof(ram), 0, "NUMBER(pgtable_l5_enabled)=0\n"};
	struct image_image *image;
	static int fd = -1;
	char path[32], why[256];
	struct stat st;
	uint8_t *bytes, format, how;

	format = (uint8_t)take(&in, 1);
	how = (uint8_t)take(&in, 1);
	fill();
	/* Tables are changed before the image is written, headers afterwards. */
	if (format & 0x80)
		change(ram, sizeof(ram), &in);
	if (format & 0x40)
		good.vmcoreinfo = NULL;
	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	REQUIRE(fd >= 0 && !ftruncate(fd, 0));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	REQUIRE(imagefile_write(path, (enum imagefile_format)(format % IMAGEFILE_FORMATS), &good));
	REQUIRE(!fstat(fd, &st));
	if (!(format & 0x80)) {
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		REQUIRE(bytes != MAP_FAILED);
		change(bytes, (size_t)st.st_size, &in);
		munmap(bytes, (size_t)st.st_size);
	}
	if (!image_open(path, 0, &image, why, sizeof(why)))
		use(image, how);
	return 0;
}
