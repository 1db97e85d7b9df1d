/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bare-metal driver of Atom's RTIT (vpt/atom_msr.h). It detects RTIT, programs the output, the
 * ranges and CR3, starts and stops traces, and reports how far the output got. Sections are those
 * of the RTIT reference.
 */
#ifndef GUEST_ATOM_DRV_H
#define GUEST_ATOM_DRV_H

#include "vpt/atom_msr.h"

#define ATOM_CTL(name)	  VPT_ATOM_MASK(CTL, name)
#define ATOM_STATUS(name) VPT_ATOM_MASK(STATUS, name)

struct guest_atom_drv {
	uint32_t signature;
	/* The configuration that the next start writes. */
	uint64_t base;
	uint32_t mask, offset;
	uint32_t events, pkt_cnt;
	uint64_t lip[4];
	uint64_t cr3_match;
	uint64_t ctl; /* DEST, and CR3_EN if a CR3 is to match */
	/* The value of RTIT_CTL at the last start, and the registers at the last stop. */
	uint64_t started, stopped;
	uint64_t status;
	uint32_t end_offset, tnt_buff;
};

/*
 * Clear the configuration, with the filter always on. Returns false if the processor has no RTIT,
 * or if RTIT_CTL cannot be read because RTIT has another owner (3.1).
 */
bool guest_atom_drv_probe(struct guest_atom_drv *drv);

/* Set the output to a circular region of `bytes` at `base`: a power of two, 64 to 4 MiB. */
void guest_atom_drv_output(struct guest_atom_drv *drv, const void *base, uint64_t bytes);

/* Set range 0 or 1 to [base, limit). */
void guest_atom_drv_range(struct guest_atom_drv *drv, unsigned int n, const void *base,
			  const void *limit);

/* Select the events that set FilterEn, and those that stop the trace. */
void guest_atom_drv_events(struct guest_atom_drv *drv, enum vpt_atom_event_id filter,
			   enum vpt_atom_event_id stop);

/* Trace only under this CR3; 0: under any. */
void guest_atom_drv_cr3(struct guest_atom_drv *drv, uint64_t cr3);

/*
 * Reset the state of earlier traces, write the configuration, set Trace_En and then TraceActive.
 * `ctl` holds additional RTIT_CTL bits. Returns false if a write raised #GP; then nothing is
 * traced.
 */
bool guest_atom_drv_start(struct guest_atom_drv *drv, uint64_t ctl);

/*
 * Resume after a stop or a TraceStop with the same configuration, at the last output position
 * (appendix B 4.2.1).
 */
bool guest_atom_drv_restart(struct guest_atom_drv *drv);

/* Clear TraceActive and then Trace_En, and read the state. Returns the previous STATUS. */
uint64_t guest_atom_drv_stop(struct guest_atom_drv *drv);

/* In assembly: write RTIT_CTL with EDI, and then with ESI. */
#define ATOM_ASM_ENABLE      \
	"mov $0x768, %ecx\n" \
	"xor %edx, %edx\n"   \
	"mov %edi, %eax\n"   \
	"wrmsr\n"            \
	"mov %esi, %eax\n"   \
	"wrmsr\n"

/* Read RTIT_OFFSET. A write to RTIT_CTL makes it exact (3.3.12). */
uint32_t guest_atom_drv_offset(void);

/* Return the bytes between the start of the last trace and its end; whole laps are not visible. */
uint64_t guest_atom_drv_bytes(const struct guest_atom_drv *drv);

#endif /* GUEST_ATOM_DRV_H */
