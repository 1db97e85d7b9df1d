// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the names of a directory, and sorts them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p9/server.h"

/* Grow the text for one more entry, within the bound of the server's memory. */
static int add(struct p9_server *s, struct p9_listing *listing, const char *name,
	       enum p9_qid_type type, size_t *room)
{
	const size_t bytes = strlen(name) + 2;
	char *text;

	/* Each entry also has an offset. */
	if (bytes + sizeof(uint32_t) > P9_BYTES - s->bytes)
		return -ENOMEM;
	if (bytes > *room - listing->len) {
		*room = 2 * *room + bytes;
		text = realloc(listing->text, *room);
		if (!text)
			return -ENOMEM;
		listing->text = text;
	}
	listing->text[listing->len] = (char)type;
	memcpy(listing->text + listing->len + 1, name, bytes - 1);
	listing->len += bytes;
	listing->count++;
	s->bytes += bytes + sizeof(uint32_t);
	return 0;
}

/* Add an entry of a directory, unless its file has a type that the guest does not see. */
static int add_entry(struct p9_server *s, struct p9_listing *listing, int dir, const char *name,
		     size_t *room)
{
	struct p9_attr attr;

	if (!strcmp(name, ".") || !strcmp(name, "..") || strlen(name) > P9_NAME_MAX ||
	    p9_host_stat(dir, name, &attr))
		return 0;
	return add(s, listing, name, attr.type, room);
}

static int compare(const void *a, const void *b, void *text)
{
	const uint32_t *x = a, *y = b;

	return strcmp((const char *)text + *x + 1, (const char *)text + *y + 1);
}

static int sort(struct p9_listing *listing)
{
	uint32_t i, at = 0;

	if (!listing->count)
		return 0;
	listing->at = malloc(listing->count * sizeof(*listing->at));
	if (!listing->at)
		return -ENOMEM;
	for (i = 0; i < listing->count; i++) {
		listing->at[i] = at;
		at += (uint32_t)strlen(listing->text + at + 1) + 2;
	}
	qsort_r(listing->at, listing->count, sizeof(*listing->at), compare, listing->text);
	return 0;
}

int p9_listing_read(struct p9_server *s, const char *path, struct p9_listing *listing)
{
	int fd = p9_host_open_dir(s->root, path), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	size_t room = 0;

	*listing = (struct p9_listing){0};
	if (fd < 0)
		return fd;
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	for (errno = 0; !err && (entry = readdir(dir)); errno = err ? errno : 0)
		err = add_entry(s, listing, fd, entry->d_name, &room);
	if (!err)
		err = -errno;
	closedir(dir);
	if (!err)
		err = sort(listing);
	if (err)
		p9_listing_free(s, listing);
	return err;
}

void p9_listing_free(struct p9_server *s, struct p9_listing *listing)
{
	s->bytes -= listing->len + listing->count * sizeof(uint32_t);
	free(listing->text);
	free(listing->at);
	*listing = (struct p9_listing){0};
}
