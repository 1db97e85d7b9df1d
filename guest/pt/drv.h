/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bare-metal PT driver (33.3.2). It reads the capabilities from CPUID, programs the output and
 * the filters, starts and stops traces, and reports how far the output got.
 */
#ifndef GUEST_PT_DRV_H
#define GUEST_PT_DRV_H

#include "topa.h"
#include "vpt/caps.h"
#include "vpt/msr.h"

struct guest_drv {
	struct vpt_caps caps;
	/* The configuration that the next start writes. */
	uint64_t output_base, output_mask_ptrs;
	uint64_t output_ctl; /* TOPA or 0 */
	uint64_t filter_ctl; /* ADDRn_CFG fields, CR3_FILTER */
	uint64_t addr[2 * VPT_MAX_RANGES];
	uint64_t cr3_match;
	/* The registers that the last stop read. */
	uint64_t end_base, end_mask_ptrs;
	uint64_t status;
};

/*
 * Read the capabilities and clear the rest. Returns false, with everything clear, if this processor
 * shows no PT (33.3.1).
 */
bool guest_drv_probe(struct guest_drv *drv);

/* Set output to begin at the first byte of entry 0 of `table`. */
void guest_drv_output_topa(struct guest_drv *drv, const uint64_t *table);

/* Set output to one range; `bytes` is a power of two and aligns `base`. */
void guest_drv_output_single(struct guest_drv *drv, const void *base, uint64_t bytes);

/*
 * Set range n to [first, last], both inclusive; `cfg` UNUSED frees it. Returns false if the
 * processor has no such range.
 */
bool guest_drv_range(struct guest_drv *drv, unsigned int n, enum vpt_addr_cfg cfg,
		     const void *first, const void *last);

/* Trace only under this CR3. Returns false if the processor has no CR3 filter. */
bool guest_drv_cr3(struct guest_drv *drv, uint64_t cr3);

/*
 * Clear STATUS, write the configuration and set TraceEn. `ctl` holds CTL bits in addition to
 * TraceEn, the output and the filters. Returns false if a write raised #GP; then nothing is traced.
 */
bool guest_drv_start(struct guest_drv *drv, uint64_t ctl);

/* Resume where the last stop ended: writes only CTL. */
bool guest_drv_resume(struct guest_drv *drv, uint64_t ctl);

/* Clear TraceEn and read the state. Returns STATUS. */
uint64_t guest_drv_stop(struct guest_drv *drv);

/*
 * Return the bytes between the start and the end of the last trace; whole laps of a circular output
 * are not visible.
 */
uint64_t guest_drv_bytes(const struct guest_drv *drv);

#endif /* GUEST_PT_DRV_H */
