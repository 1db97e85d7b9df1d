// SPDX-License-Identifier: GPL-2.0-or-later
/* Drops all capabilities, which only root has. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "trace/place.h"

/* Root needs these capabilities to replace files in the directory of another user. */
#define FILE_CAPS (1ull << CAP_DAC_OVERRIDE | 1ull << CAP_FOWNER)

static int get(uint64_t *effective, uint64_t *permitted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	*effective = data[0].effective | (uint64_t)data[1].effective << 32;
	*permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	return 0;
}

static int set(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct data[2] = {
		{.effective = (uint32_t)effective, .permitted = (uint32_t)permitted},
		{.effective = (uint32_t)(effective >> 32),
		 .permitted = (uint32_t)(permitted >> 32)},
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/*
 * Returns true if this output cannot be written without the capabilities, which are not effective
 * now.
 */
static bool is_refused(const char *path)
{
	struct trace_place place;
	bool refused;
	char *dir;
	int err = trace_place_find(path, &place);

	/* Opening the output reports any other error. */
	if (err)
		return err == -EACCES;
	if (place.kind == TRACE_PLACE_OTHER) {
		refused = faccessat(AT_FDCWD, place.path, W_OK, AT_EACCESS);
	} else {
		dir = trace_place_dir(&place);
		refused = !dir || faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS);
		free(dir);
		/* In a sticky directory, files of other users cannot be replaced. */
		if (place.kind == TRACE_PLACE_REGULAR && place.dir.st_mode & S_ISVTX &&
		    place.st.st_uid != geteuid() && place.dir.st_uid != geteuid())
			refused = true;
	}
	trace_place_free(&place);
	return refused;
}

int sandbox_drop_caps(const struct sandbox_want *want)
{
	uint64_t effective = 0, permitted = 0, keep = 0;
	unsigned int i;
	int err;

	if (want->caps || want->watch)
		return 0;
	err = get(&effective, &permitted);
	if (err || !permitted)
		return err;
	/* The bounding set remains: with no_new_privs, an executed program gains no capability. */
	err = set(0, permitted);
	for (i = 0; !err && i < SANDBOX_OUTPUTS; i++)
		if (want->output[i] && is_refused(want->output[i]))
			keep = FILE_CAPS & effective;
	return err ? err : set(keep, keep);
}
