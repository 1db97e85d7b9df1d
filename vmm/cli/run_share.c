// SPDX-License-Identifier: GPL-2.0-or-later
/* The option --share: a folder of the host that the guest can mount. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/run.h"
#include "p9/p9.h"
#include "virtio/virtio.h"

#define DEFAULT_TAG "share"
#define TAG	    "tag="

_Static_assert(P9_MESSAGE_MAX == VIRTIO_SHARE_MAX, "the device passes on each message");

/* Take one word behind the folder's name. Returns false if it is none. */
static bool take_word(struct cli_run_share *share, const char *word, size_t len)
{
	if (len == 2 && !memcmp(word, "rw", len)) {
		share->writable = true;
		return true;
	}
	if (len <= strlen(TAG) || memcmp(word, TAG, strlen(TAG)) != 0 ||
	    len - strlen(TAG) >= sizeof(share->tag))
		return false;
	memcpy(share->tag, word + strlen(TAG), len - strlen(TAG));
	share->tag[len - strlen(TAG)] = 0;
	return true;
}

int cli_run_take_share(const struct cli_given *g)
{
	struct cli_run_share *share = g->field;
	const char *word = strchrnul(g->value, ',');
	const size_t len = (size_t)(word - g->value);

	*share = (struct cli_run_share){.tag = DEFAULT_TAG, .given = true};
	if (!len || len >= sizeof(share->dir))
		return cli_option_wrong(g, "not the name of a folder");
	memcpy(share->dir, g->value, len);
	while (*word) {
		const size_t n = strcspn(++word, ",");

		if (!take_word(share, word, n))
			return cli_option_wrong(g,
						"not DIR[,tag=NAME][,rw] with a NAME of 1 to %u "
						"bytes",
						VIRTIO_TAG_MAX);
		word += n;
	}
	return CLI_EXIT_OK;
}

int cli_run_share_open(struct p9_server **server, const struct cli_run_options *o)
{
	int root;

	*server = NULL;
	/* A replay takes the replies from its recording. */
	if (!o->share.given || o->replay)
		return CLI_EXIT_OK;
	root = open(o->share.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return cli_fail(CLI_EXIT_INPUT, "%s: --share: %s: %s", o->verb, o->share.dir,
				cli_reason(errno));
	*server = p9_create(root, o->share.writable ? P9_READ_WRITE : P9_READ_ONLY);
	if (*server)
		return CLI_EXIT_OK;
	close(root);
	return cli_fail(CLI_EXIT_HOST, "%s: no memory", o->verb);
}
