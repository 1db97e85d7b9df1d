/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An array that grows: struct { TYPE *at; size_t n, room; }, all zero when empty,
 * free(at) to release.
 */
#ifndef VMM_TRACE_VEC_H
#define VMM_TRACE_VEC_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Grow `at`. Returns NULL, with no change, if there is no memory. */
static inline void *trace_vec_grow(void *at, size_t *room, size_t item)
{
	size_t more = *room ? 2 * *room : 16;
	void *p;

	if (more > SIZE_MAX / 2 / item)
		return NULL;
	p = realloc(at, more * item);
	if (p)
		*room = more;
	return p;
}

/* True once there is room for one more item; then set v->at[v->n++]. */
#define trace_vec_room(v)                                                            \
	((v)->n < (v)->room || ({                                                    \
		 void *vec_ = trace_vec_grow((v)->at, &(v)->room, sizeof(*(v)->at)); \
		 if (vec_)                                                           \
			 (v)->at = vec_;                                             \
		 vec_ != NULL;                                                       \
	 }))

/*
 * Returns how many of @n sorted entries come before the first for which @cond does not hold. @cond is an
 * expression of @e, a pointer to the entry.
 */
#define trace_vec_before(at, n, e, cond)                          \
	({                                                        \
		size_t lo_ = 0, hi_ = (n);                        \
		while (lo_ < hi_) {                               \
			size_t mid_ = lo_ + (hi_ - lo_) / 2;      \
			const __typeof__(*(at)) *e = &(at)[mid_]; \
			if (cond)                                 \
				lo_ = mid_ + 1;                   \
			else                                      \
				hi_ = mid_;                       \
		}                                                 \
		lo_;                                              \
	})

#endif /* VMM_TRACE_VEC_H */
