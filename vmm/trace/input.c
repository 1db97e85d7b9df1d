// SPDX-License-Identifier: GPL-2.0-or-later
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vec.h"

/* What is no regular file has no size and cannot be mapped. */
static int slurp(struct vpt_input *in, int fd)
{
	size_t room = 0;

	for (;;) {
		ssize_t n;

		if (in->size == room) {
			void *p = vpt_vec_grow(in->bytes, &room, 1);

			if (!p)
				return -ENOMEM;
			in->bytes = p;
		}
		n = read(fd, in->bytes + in->size, room - in->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		in->size += (size_t)n;
	}
}

int vpt_input_open(struct vpt_input *in, const char *path)
{
	int fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		err = -errno;
	} else if (S_ISDIR(st.st_mode)) {
		err = -EISDIR;
	} else if (S_ISREG(st.st_mode) && st.st_size > 0) {
		/* Private and writable: libelf may convert in place. */
		void *map = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_NORESERVE, fd, 0);

		if (map == MAP_FAILED) {
			err = -errno;
		} else {
			in->bytes = map;
			in->size = (size_t)st.st_size;
			in->mapped = true;
		}
	} else {
		/* Files of /proc say that they are regular, and of no bytes. */
		err = slurp(in, fd);
	}
	if (fd != STDIN_FILENO)
		close(fd);
	return err;
}

void vpt_input_close(struct vpt_input *in)
{
	if (in->mapped)
		munmap(in->bytes, in->size);
	else
		free(in->bytes);
}
