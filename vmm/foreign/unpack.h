/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A zstd stream in pieces. */
#ifndef VMM_FOREIGN_UNPACK_H
#define VMM_FOREIGN_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct foreign_unpack;

/* Returns NULL if there is no memory. */
struct foreign_unpack *foreign_unpack_new(void);
void foreign_unpack_free(struct foreign_unpack *u);

/*
 * Pass the next piece of the stream, which must stay valid while it is unpacked. Then call
 * foreign_unpack_next() until it returns 0.
 */
void foreign_unpack_give(struct foreign_unpack *u, const uint8_t *bytes, size_t len);
/*
 * Unpack up to @room bytes. Returns their number, 0 at the end of the piece, or SIZE_MAX if it is
 * damaged.
 */
size_t foreign_unpack_next(struct foreign_unpack *u, uint8_t *to, size_t room);

#endif /* VMM_FOREIGN_UNPACK_H */
