// SPDX-License-Identifier: GPL-2.0-or-later
/* Use the control port from ring 3 of Linux. */
#include <errno.h>
#include <fcntl.h>
#include <sys/io.h>
#include <unistd.h>

#include "testbed.h"

int bed_open(void)
{
	if (ioperm(BED_CONTROL, 8, 1))
		return -errno;
	return bed_present() ? 0 : -ENODEV;
}

int bed_export_file(const char *name, const char *path)
{
	static char buffer[65536];
	ssize_t size = -1;
	int error = 0;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return -errno;
	bed_text(name);
	bed_command(BED_EXPORT_OPEN, 0);
	while ((size = read(file, buffer, sizeof(buffer))) > 0)
		bed_bytes(BED_DATA, buffer, (size_t)size);
	if (size < 0)
		error = -errno;
	bed_command(BED_EXPORT_CLOSE, 0);
	close(file);
	return error;
}
