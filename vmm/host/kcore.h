/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/kcore: the running kernel's memory as an ELF core file. */
#ifndef VMM_HOST_KCORE_H
#define VMM_HOST_KCORE_H

#include "host/memory.h"

struct host_kcore;

/* Returns 0 or -errno; -EINVAL if it is not a core file of a 64-bit kernel. */
int host_kcore_open(const char *path, struct host_kcore **kcore);
void host_kcore_close(struct host_kcore *kcore);

/* Return the memory, which is valid until close. */
struct host_memory host_kcore_memory(struct host_kcore *kcore);

#endif /* VMM_HOST_KCORE_H */
