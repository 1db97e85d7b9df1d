/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The architecture of this host for the filter of system calls, and the old calls of x86-64. Newer
 * architectures lack these, because a call with more arguments replaces each of them.
 */
#ifndef VMM_SANDBOX_CALLS_H
#define VMM_SANDBOX_CALLS_H

#include <linux/audit.h>
#include <sys/syscall.h>

/* The filter ignores this number in its lists. */
#define SANDBOX_NO_CALL (-1)

#if defined(__x86_64__)
#define SANDBOX_ARCH AUDIT_ARCH_X86_64
#define SANDBOX_OPEN SYS_open
#define SANDBOX_OLD_ALLOWED                                                                   \
	SYS_access, SYS_arch_prctl, SYS_lstat, SYS_mkdir, SYS_poll, SYS_readlink, SYS_rename, \
		SYS_rmdir, SYS_stat, SYS_time, SYS_unlink
#define SANDBOX_OLD_DEADLY  SYS_ioperm, SYS_iopl
#define SANDBOX_OLD_OF_ASAN SYS_getdents
#elif defined(__aarch64__)
#define SANDBOX_ARCH	    AUDIT_ARCH_AARCH64
#define SANDBOX_OPEN	    SANDBOX_NO_CALL
#define SANDBOX_OLD_ALLOWED SANDBOX_NO_CALL
#define SANDBOX_OLD_DEADLY  SANDBOX_NO_CALL
#define SANDBOX_OLD_OF_ASAN SANDBOX_NO_CALL
#else
#error "vmm/sandbox/calls.h: add the architecture and the system calls of this host"
#endif

#endif /* VMM_SANDBOX_CALLS_H */
