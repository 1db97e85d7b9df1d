// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the kernel's code from an ELF file of its memory: the parts that mappings of the kernel
 * name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foreign/elf_note.h"
#include "foreign/output_state.h"
#include "vpt/msr.h"

/* 512 MiB. A larger file does not contain code. */
#define PAGES_MAX (1u << 17)

#define KERNEL_HALF 0xffff800000000000ull

/* Returns true if the page is in one of the kernel's mappings, or if there are no such mappings. */
static bool is_wanted(const struct foreign_output *o, uint64_t vaddr)
{
	const struct foreign_maps *maps = &o->tasks.kernel;
	size_t i;

	if (vaddr < KERNEL_HALF)
		return false;
	for (i = 0; i < maps->n; i++) {
		const uint64_t first = maps->at[i].addr & ~(uint64_t)(TRACE_CODE_BYTES - 1);

		if (vaddr >= first && vaddr - first < maps->at[i].len + TRACE_CODE_BYTES)
			return true;
	}
	return !maps->n;
}

static int write_page(struct foreign_output *o, uint64_t vaddr, const uint8_t *bytes)
{
	struct trace_page_map map = {
		.page = {.cr3 = FOREIGN_FIRST_ID, .vaddr = vaddr, .gpa = UINT64_MAX},
	};
	int err = trace_writer_page(o->writer, bytes, &map.content);

	o->code.pages++;
	return err ? err : trace_writer_map(o->writer, 0, &map, 1);
}

static int write_load(struct foreign_output *o, int fd, const struct foreign_load *load,
		      uint64_t *pages)
{
	uint64_t at = -load->vaddr % TRACE_CODE_BYTES;
	uint8_t bytes[TRACE_CODE_BYTES];
	struct stat st;
	int err = 0;

	/* A segment may claim more bytes than the file has. */
	if (fstat(fd, &st) || load->offset >= (uint64_t)st.st_size)
		return 0;
	for (; !err && at < load->len && at < (uint64_t)st.st_size - load->offset;
	     at += TRACE_CODE_BYTES) {
		if (!is_wanted(o, load->vaddr + at))
			continue;
		if (++*pages > PAGES_MAX) {
			o->trace->report.left_out++;
			return 0;
		}
		memset(bytes, 0, sizeof(bytes));
		if (pread(fd, bytes, sizeof(bytes), (off_t)(load->offset + at)) > 0)
			err = write_page(o, load->vaddr + at, bytes);
	}
	return err;
}

/* Open the kernel's code. Returns 0, or -errno; *fd is -1 if there is none. */
static int open_kernel(struct foreign_trace *t, int *fd, struct foreign_loads *loads)
{
	int err;

	*fd = t->kcore ? open(t->kcore, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	if (*fd < 0)
		return 0;
	err = foreign_elf_loads(*fd, loads);
	if (!err)
		return 0;
	close(*fd);
	*fd = -1;
	return err == -ENOMEM ? err : 0;
}

int foreign_write_kernel(struct foreign_output *o)
{
	struct foreign_trace *t = o->trace;
	struct foreign_loads loads = {0};
	uint64_t pages = 0;
	size_t i;
	int fd, err;

	if (!(t->ctl & VPT_CTL_MASK(OS)))
		return 0;
	err = open_kernel(t, &fd, &loads);
	if (err || fd < 0) {
		t->report.no_kernel = true;
		/* BPF programs exist even without the kernel's code. */
		return err ? err : foreign_write_pokes(o, -1, &loads);
	}
	for (i = 0; i < loads.n && !err; i++)
		err = write_load(o, fd, &loads.at[i], &pages);
	if (!err)
		err = foreign_write_pokes(o, fd, &loads);
	free(loads.at);
	close(fd);
	return err;
}
