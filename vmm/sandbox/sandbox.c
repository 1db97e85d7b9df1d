// SPDX-License-Identifier: GPL-2.0-or-later
/* Enters the sandbox, layer by layer. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <sys/prctl.h>

unsigned int vpt_sandbox_enter(const struct vpt_sandbox_want *want, int *error)
{
	static const struct {
		enum vpt_sandbox_layer layer;
		int (*enter)(const struct vpt_sandbox_want *want);
	} layers[] = {
		{VPT_SANDBOX_LANDLOCK, vpt_sandbox_landlock},
		{VPT_SANDBOX_CAPS, vpt_sandbox_drop_caps},
		/* The last one: it refuses what the others call. */
		{VPT_SANDBOX_SECCOMP, vpt_sandbox_seccomp},
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
