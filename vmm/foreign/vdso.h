/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vDSO of this machine's kernel, for recordings under the same kernel. */
#ifndef VMM_FOREIGN_VDSO_H
#define VMM_FOREIGN_VDSO_H

#include "foreign/foreign.h"

/*
 * Return an unnamed file with the vDSO of this process if its build-id is @id. If @id is NULL,
 * @release must be this kernel's. Returns a descriptor, or -1.
 */
int foreign_vdso_open(const struct foreign_build_id *id, const char *release);

#endif /* VMM_FOREIGN_VDSO_H */
