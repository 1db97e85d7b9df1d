/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distinct strings, each with a number. All zero is empty. */
#ifndef VMM_FOREIGN_NAMES_H
#define VMM_FOREIGN_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct foreign_names {
	char **at;
	size_t n, room;
	uint32_t *buckets; /* numbers plus 1; 0 if free */
	size_t mask;	   /* number of buckets minus 1 */
};

/* Return the number of @name in *@number, and add @name if it is new. Returns 0 or -ENOMEM. */
int foreign_names_add(struct foreign_names *names, const char *name, size_t *number);
void foreign_names_free(struct foreign_names *names);

#endif /* VMM_FOREIGN_NAMES_H */
