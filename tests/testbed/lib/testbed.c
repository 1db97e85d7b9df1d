// SPDX-License-Identifier: GPL-2.0-or-later
/* The control port from ring 3 of Linux. */
#include <errno.h>
#include <fcntl.h>
#include <sys/io.h>
#include <unistd.h>

#include "testbed.h"

int vpt_bed_open(void)
{
	if (ioperm(VPT_BED_CONTROL, 8, 1))
		return -errno;
	return vpt_bed_present() ? 0 : -ENODEV;
}

int vpt_bed_export_file(const char *name, const char *path)
{
	static char buffer[65536];
	ssize_t size = -1;
	int error = 0;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return -errno;
	vpt_bed_text(name);
	vpt_bed_command(VPT_BED_EXPORT_OPEN, 0);
	while ((size = read(file, buffer, sizeof(buffer))) > 0)
		vpt_bed_bytes(VPT_BED_DATA, buffer, (size_t)size);
	if (size < 0)
		error = -errno;
	vpt_bed_command(VPT_BED_EXPORT_CLOSE, 0);
	close(file);
	return error;
}
