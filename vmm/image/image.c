// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens images, and keeps the pages that were requested. */
#include "image/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/vec.h"

#define FIRST_SLOTS 1024u

int image_refuse(const struct image_why *why, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->size, format, args);
	va_end(args);
	return err;
}

static int read_fd(int fd, uint64_t offset, void *to, size_t len)
{
	uint8_t *p = to;

	while (len) {
		ssize_t n = offset > INT64_MAX ? 0 : pread(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int image_file_read(const struct image_image *image, uint64_t offset, void *to, size_t len)
{
	return image->pieces.n ? image_flat_read(image, offset, to, len)
			       : read_fd(image->fd, offset, to, len);
}

static int by_address(const void *a, const void *b)
{
	const struct image_range *x = a, *y = b;
	int d = (x->address > y->address) - (x->address < y->address);

	return d ? d : (x->offset > y->offset) - (x->offset < y->offset);
}

void image_ranges_sort(struct image_image *image)
{
	struct image_range *all = image->ranges.at;
	size_t i, n = 0;
	uint64_t end = 0;

	if (image->ranges.n)
		qsort(all, image->ranges.n, sizeof(*all), by_address);
	for (i = 0; i < image->ranges.n; i++) {
		struct image_range r = all[i];
		uint64_t cut = r.address < end ? end - r.address : 0;

		if (cut >= r.bytes)
			continue;
		r.address += cut;
		r.offset += cut;
		r.bytes -= cut;
		end = r.address + r.bytes;
		all[n++] = r;
	}
	image->ranges.n = n;
}

/* Return the range that contains @address, or NULL. */
static const struct image_range *find_range(const struct image_image *image, uint64_t address)
{
	size_t n = trace_vec_before(image->ranges.at, image->ranges.n, e, e->address <= address);
	const struct image_range *r = n ? &image->ranges.at[n - 1] : NULL;

	return r && address - r->address < r->bytes ? r : NULL;
}

/* Assemble a page from the ranges that contain its bytes. */
static int read_ranges(const struct image_image *image, uint64_t address, uint8_t *bytes)
{
	size_t done = 0;

	while (done < IMAGE_PAGE_BYTES) {
		const struct image_range *r = find_range(image, address + done);
		uint64_t in, n = IMAGE_PAGE_BYTES - done;
		int err;

		if (!r)
			return -ENODATA;
		in = address + done - r->address;
		if (n > r->bytes - in)
			n = r->bytes - in;
		err = image_file_read(image, r->offset + in, bytes + done, (size_t)n);
		if (err)
			return err;
		done += (size_t)n;
	}
	return 0;
}

static struct image_kept *slot(struct image_kept *kept, size_t mask, uint64_t number)
{
	size_t i = (size_t)(number * 0x9e3779b97f4a7c15ull >> 32) & mask;

	while (kept[i].bytes && kept[i].number != number)
		i = (i + 1) & mask;
	return &kept[i];
}

static bool grow(struct image_image *image)
{
	size_t mask = image->kept ? 2 * image->mask + 1 : FIRST_SLOTS - 1, i;
	struct image_kept *more = calloc(mask + 1, sizeof(*more));

	if (!more)
		return false;
	for (i = 0; image->kept && i <= image->mask; i++) {
		if (image->kept[i].bytes)
			*slot(more, mask, image->kept[i].number) = image->kept[i];
	}
	free(image->kept);
	image->kept = more;
	image->mask = mask;
	return true;
}

static int read_page(struct image_image *image, uint64_t number, uint8_t *bytes)
{
	int err = image->kdump ? image_kdump_page(image, number, bytes)
			       : read_ranges(image, number * IMAGE_PAGE_BYTES, bytes);

	/* A process has no memory at some addresses of a range, like the holes of a file. */
	if (err && err != -ENODATA && err != -EIO && !image->damage)
		image->damage = strerror(-err);
	return err;
}

const uint8_t *image_page(struct image_image *image, uint64_t address)
{
	uint64_t number = address / IMAGE_PAGE_BYTES;
	struct image_kept *kept;
	uint8_t *bytes;

	if (image->kept) {
		kept = slot(image->kept, image->mask, number);
		if (kept->bytes)
			return kept->bytes;
	}
	if (image->nkept == IMAGE_PAGES_MAX) {
		image->damage = "more pages are asked for than are kept in memory";
		return NULL;
	}
	if ((!image->kept || 2 * image->nkept >= image->mask) && !grow(image))
		return NULL;
	bytes = malloc(IMAGE_PAGE_BYTES);
	if (!bytes)
		return NULL;
	if (read_page(image, number, bytes)) {
		free(bytes);
		return NULL;
	}
	kept = slot(image->kept, image->mask, number);
	kept->number = number;
	kept->bytes = bytes;
	image->nkept++;
	return bytes;
}

bool image_read(void *image, uint64_t address, void *to, size_t len)
{
	uint8_t *p = to;

	while (len) {
		size_t in = address % IMAGE_PAGE_BYTES, n = IMAGE_PAGE_BYTES - in;
		const uint8_t *page = image_page(image, address);

		if (!page)
			return false;
		if (n > len)
			n = len;
		memcpy(p, page + in, n);
		p += n;
		address += n;
		len -= n;
	}
	return true;
}

static int open_raw(struct image_image *image, uint64_t base, const struct image_why *why)
{
	if (base % IMAGE_PAGE_BYTES || base >> 52)
		return image_refuse(why, -EINVAL, "raw memory begins at a page below 1 << 52");
	if (image->file_bytes < IMAGE_PAGE_BYTES || image->file_bytes > 1ull << 52)
		return image_refuse(why, -EINVAL, "not a memory image: it is %s",
				    image->file_bytes ? "smaller than a page" : "empty");
	if (!trace_vec_room(&image->ranges))
		return image_refuse(why, -ENOMEM, "%s", strerror(ENOMEM));
	image->format = "raw";
	image->ranges.at[image->ranges.n++] = (struct image_range){base, image->file_bytes, 0};
	return 0;
}

/* Detect the format by the first bytes. */
static int open_format(struct image_image *image, uint64_t base, const struct image_why *why)
{
	char magic[16] = "";
	int err;

	if (image->file_bytes >= sizeof(magic)) {
		err = image_file_read(image, 0, magic, sizeof(magic));
		if (err)
			return image_refuse(why, err, "%s", strerror(-err));
	}
	if (!memcmp(magic, "makedumpfile", 13)) {
		err = image_flat_open(image, why);
		if (!err)
			err = image_file_read(image, 0, magic, sizeof(magic));
		if (err)
			return err == -ENODATA ? image_refuse(why, -EINVAL, "it has no beginning")
					       : err;
	}
	if (memcmp(magic, "\177ELF", 4) && memcmp(magic, "KDUMP   ", 8)) {
		if (image->pieces.n)
			return image_refuse(why, -EINVAL, "it is neither ELF nor KDUMP");
		return open_raw(image, base, why);
	}
	if (base)
		return image_refuse(why, -EINVAL, "it has addresses of its own: give it no base");
	return magic[0] == 'K' ? image_kdump_open(image, why) : image_elf_open(image, why);
}

static struct image_image *new_image(int fd)
{
	struct image_image *image = calloc(1, sizeof(*image));

	if (!image) {
		close(fd);
		return NULL;
	}
	image->fd = fd;
	image->paging = IMAGE_PAGINGS;
	return image;
}

int image_open(const char *path, uint64_t base, struct image_image **out, char *text, size_t size)
{
	const struct image_why why = {text, size};
	struct image_image *image;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err;

	if (fd < 0)
		return image_refuse(&why, -errno, "%s", strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return image_refuse(&why, -EINVAL, "not a regular file");
	}
	image = new_image(fd);
	if (!image)
		return image_refuse(&why, -ENOMEM, "%s", strerror(ENOMEM));
	image->file_bytes = (uint64_t)st.st_size;
	err = open_format(image, base, &why);
	if (err)
		image_close(image);
	else
		*out = image;
	return err;
}

int image_of_ranges(int fd, const struct image_range *ranges, size_t count,
		    struct image_image **out)
{
	struct image_image *image = new_image(fd);
	size_t i;

	if (!image)
		return -ENOMEM;
	image->format = "process";
	for (i = 0; i < count; i++) {
		if (!trace_vec_room(&image->ranges)) {
			image_close(image);
			return -ENOMEM;
		}
		image->ranges.at[image->ranges.n++] = ranges[i];
	}
	image_ranges_sort(image);
	*out = image;
	return 0;
}

void image_close(struct image_image *image)
{
	size_t i;

	if (!image)
		return;
	for (i = 0; image->kept && i <= image->mask; i++)
		free(image->kept[i].bytes);
	free(image->kept);
	free(image->ranges.at);
	free(image->pieces.at);
	image_kdump_close(image->kdump);
	close(image->fd);
	free(image);
}

uint64_t image_bytes(const struct image_image *image)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < image->ranges.n; i++)
		sum += image->ranges.at[i].bytes;
	return sum;
}

const char *image_format(const struct image_image *image)
{
	return image->format;
}

enum image_paging image_known_paging(const struct image_image *image)
{
	return image->paging;
}

const char *image_damage(const struct image_image *image)
{
	return image->damage;
}
