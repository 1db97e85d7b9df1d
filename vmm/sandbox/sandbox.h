/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Confine this process to its remaining work, before it runs a guest or reads a hostile file:
 *
 *  - Privileges: no_new_privs, and no capabilities.
 *
 *  - A seccomp filter: unneeded system calls fail with EPERM. Calls that only an attack would make
 *    (execve, ptrace, sockets, ...) kill the process with SIGSYS.
 *
 *  - A Landlock ruleset: files can be written, created and removed in the directories of the
 *    outputs only. Signals reach only processes of this sandbox.
 *
 * This process and its children cannot leave the sandbox.
 */
#ifndef VMM_SANDBOX_SANDBOX_H
#define VMM_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

#define SANDBOX_OUTPUTS 4

/* The remaining work of the process. */
struct sandbox_want {
	/*
	 * Paths that may be written afterwards, also by a rename in their directories; NULL if
	 * unused. An open file needs no entry.
	 */
	const char *output[SANDBOX_OUTPUTS];
	const char *share;  /* a folder in which files may be written and made, or NULL */
	const char *socket; /* a socket with a listener, to accept clients and to remove, or NULL */
	bool listener;	    /* accept and answer clients of a socket that is open already */
	bool network;	    /* make and use sockets */
	bool kvm;	    /* open /dev/kvm; its ioctls are always allowed */
	bool code;	    /* map executable memory */
	bool caps;	    /* keep the capabilities */
	/*
	 * Read other processes and the kernel, for vpt record. Only the calls that kill are
	 * refused, and files are not restricted.
	 */
	bool watch;
};

/* Layers in force, as bits. */
enum sandbox_layer {
	SANDBOX_CAPS = 1 << 0,
	SANDBOX_SECCOMP = 1 << 1,
	SANDBOX_LANDLOCK = 1 << 2,
	SANDBOX_ALL = 7,
};

/*
 * Enter the sandbox. Returns the layers in force; *error is 0 or the -errno of the first failed
 * layer.
 */
unsigned int sandbox_enter(const struct sandbox_want *want, int *error);

/* The layers, in this order after no_new_privs. Each returns 0 or -errno. */
int sandbox_landlock(const struct sandbox_want *want);
int sandbox_drop_caps(const struct sandbox_want *want);
int sandbox_seccomp(const struct sandbox_want *want);

#endif /* VMM_SANDBOX_SANDBOX_H */
