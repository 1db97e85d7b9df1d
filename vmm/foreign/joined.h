/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The joined bytes of one stream, and the places of losses. */
#ifndef VMM_FOREIGN_JOINED_H
#define VMM_FOREIGN_JOINED_H

#include "foreign/foreign.h"

struct foreign_joined {
	uint8_t *bytes;
	size_t len;
	struct {
		size_t *at; /* positions of losses, ascending */
		size_t n, room;
	} breaks;
};

/* Returns 0, -ENOMEM, or the -errno of a file that cannot be read. */
int foreign_join(struct foreign_trace *t, const struct foreign_stream *stream,
		 struct foreign_joined *joined);
void foreign_joined_free(struct foreign_joined *joined);

#endif /* VMM_FOREIGN_JOINED_H */
