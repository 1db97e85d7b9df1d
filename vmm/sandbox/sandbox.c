// SPDX-License-Identifier: GPL-2.0-or-later
/* Enters the sandbox, layer by layer. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <sys/prctl.h>

unsigned int sandbox_enter(const struct sandbox_want *want, int *error)
{
	static const struct {
		enum sandbox_layer layer;
		int (*enter)(const struct sandbox_want *want);
	} layers[] = {
		{SANDBOX_LANDLOCK, sandbox_landlock},
		{SANDBOX_CAPS, sandbox_drop_caps},
		/* This is the last layer, because it refuses the calls of the others. */
		{SANDBOX_SECCOMP, sandbox_seccomp},
	};
	unsigned int in_force = 0, i;
	int err;

	*error = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
	if (*error)
		return 0;
	for (i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		err = layers[i].enter(want);
		if (!err)
			in_force |= layers[i].layer;
		else if (!*error)
			*error = err;
	}
	return in_force;
}
