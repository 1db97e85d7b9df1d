/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Partial results in files. A file has a header and tables, each of which has a checksum. All
 * integers are little-endian. Files are not trusted.
 *
 * The format has a version, and no promise beyond it. The vpt that made a result joins it.
 */
#ifndef VMM_DECODE_PARTIAL_FILE_H
#define VMM_DECODE_PARTIAL_FILE_H

#include "decode/partial.h"

/*
 * Write a result to @fd, and end its calls: nothing can be joined to @p afterwards. Returns 0 or
 * -errno.
 */
int decode_partial_write(struct decode_partial *p, int fd);

/*
 * Read a result. Returns 0, or -errno with a line about the error in @why. -EINVAL means that the
 * file is damaged, of another version, or something else. Free @p in any case.
 */
int decode_partial_read(const char *path, struct decode_partial *p, char *why, size_t size);

#endif /* VMM_DECODE_PARTIAL_FILE_H */
