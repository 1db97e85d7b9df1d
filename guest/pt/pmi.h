/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ToPA PMI as a driver takes it (33.2.7.2): through LVTPC of the local APIC, which its
 * delivery masks, and latched in IA32_PERF_GLOBAL_STATUS.
 */
#ifndef GUEST_PT_PMI_H
#define GUEST_PT_PMI_H

#include "vpt/base.h"

#define MSR_DEBUGCTL	       0x1d9u
#define MSR_FIXED_CTR0	       0x309u
#define MSR_FIXED_CTR_CTRL     0x38du
#define MSR_PERF_GLOBAL_STATUS 0x38eu
#define MSR_PERF_GLOBAL_CTRL   0x38fu
#define MSR_PERF_GLOBAL_RESET  0x390u

#define DEBUGCTL_FREEZE_COUNTS	   (1ull << 12)
#define GLOBAL_STATUS_TOPA	   (1ull << 55)
#define GLOBAL_STATUS_COUNT_FREEZE (1ull << 59)

#define PMI_NMI 2u /* as a vector: LVTPC delivers it as NMI */

/*
 * Map and enable the APIC, and deliver PMIs at `vector`. Returns false if there is no APIC, or no
 * performance monitoring to identify its PMIs.
 */
bool pmi_init(void);
void pmi_route(uint8_t vector);

/* Returns true if the PMI is PT's. */
bool pmi_is_topa(void);
/* Returns true if LVTPC is masked, as after a delivery. */
bool pmi_is_masked(void);
/* End the handling: clear the latch, then unmask the next PMI. */
void pmi_done(void);

#endif /* GUEST_PT_PMI_H */
