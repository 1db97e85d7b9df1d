/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of the platform. */
#ifndef VMM_DEV_PLATFORM_PORTS_H
#define VMM_DEV_PLATFORM_PORTS_H

#include "dev/platform.h"

/* Let what changed in one device reach the others. After everything that is done to
 * one of them. */
void dev_platform_settle(struct dev_platform *p);
/* Input, for a guest that looks whether there is some. */
void dev_platform_fill(struct dev_platform *p);

#endif /* VMM_DEV_PLATFORM_PORTS_H */
