/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vDSO of this machine's kernel, for recordings that were made under the same kernel. */
#ifndef VMM_FOREIGN_VDSO_H
#define VMM_FOREIGN_VDSO_H

#include "foreign/foreign.h"

/*
 * A file without a name that has the vDSO of this process, if its build-id is @id, or, if @id is
 * NULL, if @release is this kernel's. Returns a descriptor, or -1.
 */
int foreign_vdso_open(const struct foreign_build_id *id, const char *release);

#endif /* VMM_FOREIGN_VDSO_H */
