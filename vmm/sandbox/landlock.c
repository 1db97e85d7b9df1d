// SPDX-License-Identifier: GPL-2.0-or-later
/* Restricts the writable files with Landlock (Linux 5.13 and later). */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "trace/place.h"

/* Rights of later versions, which the header may lack. */
#define REFER	     (1ull << 13) /* 2: link or rename to another directory */
#define TRUNCATE     (1ull << 14) /* 3 */
#define SCOPE_SIGNAL (1ull << 1)  /* 6 */

#define ON_FILES (LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE)
#define ON_DIRS                                                                         \
	(ON_FILES | REFER | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR)
/* All rights that change files. */
#define WRITES                                                                   \
	(ON_DIRS | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_SOCK | \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |          \
	 LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_EXECUTE)

/* struct landlock_ruleset_attr as of version 6; earlier ones are shorter. */
struct ruleset {
	uint64_t fs, net, scoped;
};

/* Add a rule for a path. A path that cannot be resolved gets no rule. */
static int allow(int rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = rights};
	int err = 0;

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return errno == ENOENT || errno == EACCES || errno == ENOTDIR ? 0 : -errno;
	if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		err = -errno;
	close(rule.parent_fd);
	return err;
}

/* A rename gives an output its name, unless the output is a device, a pipe or a descriptor. */
static int allow_output(int rules, const char *path, uint64_t handled)
{
	struct trace_place place;
	char *dir;
	int err = trace_place_find(path, &place);

	/* Opening the file reports the error. */
	if (err)
		return err == -ENOMEM ? err : 0;
	if (place.kind == TRACE_PLACE_OTHER && !S_ISDIR(place.st.st_mode)) {
		err = allow(rules, place.path, ON_FILES & handled);
		/* Pipes and sockets are in no directory, and are not restricted. */
		if (err == -EBADFD || err == -EINVAL)
			err = 0;
	} else {
		dir = trace_place_dir(&place);
		err = dir ? allow(rules, dir, ON_DIRS & handled) : -ENOMEM;
		free(dir);
	}
	trace_place_free(&place);
	return err;
}

/* The right to remove a file is one of its directory. */
static int allow_removal(int rules, const char *path, uint64_t handled)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int err = dir ? allow(rules, dir, LANDLOCK_ACCESS_FS_REMOVE_FILE & handled) : -ENOMEM;

	free(dir);
	return err;
}

static int restrict_writes(int rules, const struct sandbox_want *want, uint64_t handled)
{
	unsigned int i;
	int err = want->kvm ? allow(rules, "/dev/kvm", ON_FILES & handled) : 0;

	if (!err && want->share)
		err = allow(rules, want->share, ON_DIRS & handled);
	if (!err && want->socket)
		err = allow_removal(rules, want->socket, handled);
	for (i = 0; !err && i < SANDBOX_OUTPUTS; i++)
		if (want->output[i])
			err = allow_output(rules, want->output[i], handled);
	if (!err && syscall(SYS_landlock_restrict_self, rules, 0))
		err = -errno;
	return err;
}

int sandbox_landlock(const struct sandbox_want *want)
{
	struct ruleset set = {.fs = WRITES, .scoped = SCOPE_SIGNAL};
	size_t size = sizeof(set);
	int rules, err;
	long version;

	/* A restriction would also forbid reading /proc/PID/mem. */
	if (want->watch)
		return 0;
	version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (version < 0)
		return -errno;
	if (version < 6)
		size = offsetof(struct ruleset, scoped);
	if (version < 4)
		size = offsetof(struct ruleset, net);
	if (version < 3)
		set.fs &= ~TRUNCATE;
	if (version < 2)
		set.fs &= ~REFER;
	rules = (int)syscall(SYS_landlock_create_ruleset, &set, size, 0);
	if (rules < 0)
		return -errno;
	err = restrict_writes(rules, want, set.fs);
	close(rules);
	return err;
}
