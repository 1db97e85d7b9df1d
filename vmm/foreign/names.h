/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings, each once, with a number. All zero is empty. */
#ifndef VMM_FOREIGN_NAMES_H
#define VMM_FOREIGN_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct foreign_names {
	char **at;
	size_t n, room;
	uint32_t *buckets; /* numbers plus 1; 0: free */
	size_t mask;	   /* number of buckets less 1 */
};

/* The number of @name in *@number, which is new if the name is. Returns 0 or -ENOMEM. */
int foreign_names_add(struct foreign_names *names, const char *name, size_t *number);
void foreign_names_free(struct foreign_names *names);

#endif /* VMM_FOREIGN_NAMES_H */
