/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON from a hostile file, value by value, without a tree. After an error `bad` is set, and
 * every call returns false or 0.
 *
 *   json_open(j, '{'); while (json_more(j, '}')) { json_key(j, key, sizeof(key)); a value }
 *   json_open(j, '['); while (json_more(j, ']')) a value
 */
#ifndef VMM_FOREIGN_JSON_H
#define VMM_FOREIGN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	const char *at, *end;
	bool begun; /* no item of the innermost object or array was read yet */
	bool bad;
};

/* Enter an object ('{') or an array ('['). */
bool json_open(struct json *j, char bracket);
/* Returns true if there is another item. Otherwise leaves the object or array. */
bool json_more(struct json *j, char bracket);
/* Read the key of an item, or a string. A text longer than @size is truncated. */
bool json_key(struct json *j, char *text, size_t size);
bool json_text(struct json *j, char *text, size_t size);
/* Read an integer, or a string that holds an integer, decimal or hex after 0x. */
uint64_t json_number(struct json *j);
/* Skip a value, up to 64 levels deep. */
void json_skip(struct json *j);

#endif /* VMM_FOREIGN_JSON_H */
