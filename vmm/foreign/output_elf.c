// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes ELF images, for the names of functions. A .vpt file has one view of addresses for names,
 * and processes have many. Images that overlap are omitted, so that no name is wrong.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foreign/output_state.h"
#include "trace/vec.h"

#define IMAGE_MAX (64u << 20)  /* limit for one image, */
#define BYTES_MAX (256u << 20) /* and for all images */
#define LIST_MAX  4096u

struct image {
	uint64_t first, last; /* the mapped addresses */
	uint64_t bias;
	uint32_t file;
	bool overlaps; /* overlaps another image */
};

struct images {
	struct foreign_output *o;
	uint64_t bytes;
	struct {
		struct image *at;
		size_t n, room;
	} list;
};

/*
 * Compute run-time minus link-time address of a mapping. Returns false if the file does not have
 * it.
 */
static bool find_bias(const struct foreign_code *code, const struct foreign_map *map,
		      uint64_t *bias)
{
	struct foreign_loads loads;
	bool found = false;
	size_t i;

	if (foreign_elf_loads(code->files[map->file].fd, &loads))
		return false;
	for (i = 0; i < loads.n && !found; i++) {
		const struct foreign_load *load = &loads.at[i];
		uint64_t begin = load->offset & ~(uint64_t)(TRACE_CODE_BYTES - 1);

		found = load->executable && map->offset >= begin &&
			map->offset - begin < load->len + (load->offset - begin);
		*bias = map->addr - map->offset - (load->vaddr - load->offset);
	}
	free(loads.at);
	return found;
}

/* Returns true if the image is already listed. Marks images that overlap it. */
static bool is_listed(struct images *m, struct image *image)
{
	size_t i;

	for (i = 0; i < m->list.n; i++) {
		struct image *other = &m->list.at[i];

		if (other->file == image->file && other->bias == image->bias)
			return true;
		if (other->first <= image->last && image->first <= other->last)
			other->overlaps = image->overlaps = true;
	}
	return false;
}

static int write_image(struct images *m, const struct image *image)
{
	struct foreign_code *code = &m->o->code;
	const char *name = code->trace->files.at[image->file], *slash = strrchr(name, '/');
	size_t size = (size_t)code->files[image->file].size, done = 0;
	struct trace_elf_image head = {.bias = image->bias};
	uint8_t *bytes = malloc(size + 1);
	int err = 0;

	if (!bytes)
		return -ENOMEM;
	while (done < size) {
		ssize_t n =
			pread(code->files[image->file].fd, bytes + done, size - done, (off_t)done);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	snprintf(head.name, sizeof(head.name), "%s", slash ? slash + 1 : name);
	if (done == size)
		err = trace_writer_elf(m->o->writer, &head, bytes, size);
	m->bytes += size;
	free(bytes);
	return err;
}

static int take_map(struct images *m, const struct foreign_map *map)
{
	struct image image = {
		.first = map->addr,
		.last = map->addr + map->len - 1,
		.file = map->file,
	};

	if (!foreign_code_size(&m->o->code, map->file) || !map->len || m->list.n == LIST_MAX)
		return 0;
	/* A file that is not ELF also occupies its addresses. */
	if (!find_bias(&m->o->code, map, &image.bias))
		image.bias = 0;
	if (is_listed(m, &image))
		return 0;
	if (!trace_vec_room(&m->list))
		return -ENOMEM;
	m->list.at[m->list.n++] = image;
	return 0;
}

static int write_images(struct images *m)
{
	size_t i;
	int err = 0;

	for (i = 0; i < m->list.n && !err; i++) {
		const struct image *image = &m->list.at[i];
		uint64_t size = m->o->code.files[image->file].size;

		if (!image->overlaps && size <= IMAGE_MAX && m->bytes + size <= BYTES_MAX &&
		    foreign_elf_has_symbols(m->o->code.files[image->file].fd))
			err = write_image(m, image);
	}
	return err;
}

/* Write the images of processes that ran. */
int foreign_write_images(struct foreign_output *o)
{
	struct images m = {.o = o};
	size_t i, k, n;
	int err = 0;

	for (i = 0; i < o->used.n && !err; i++) {
		const struct foreign_map *maps =
			foreign_tasks_maps(&o->tasks, (size_t)o->used.at[i].b, &n);

		for (k = 0; k < n && !err; k++)
			err = take_map(&m, &maps[k]);
	}
	if (!err)
		err = write_images(&m);
	free(m.list.at);
	return err;
}
