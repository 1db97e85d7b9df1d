/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/kcore: the running kernel's memory as an ELF core file. */
#ifndef VMM_HOST_KCORE_H
#define VMM_HOST_KCORE_H

#include "memory.h"

struct vpt_kcore;

/* 0 or -errno; -EINVAL: it is no core file of a 64-bit kernel. */
int vpt_kcore_open(const char *path, struct vpt_kcore **kcore);
void vpt_kcore_close(struct vpt_kcore *kcore);

/* Valid until close. */
struct vpt_host_memory vpt_kcore_memory(struct vpt_kcore *kcore);

#endif /* VMM_HOST_KCORE_H */
