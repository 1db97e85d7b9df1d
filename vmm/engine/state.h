/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a vCPU between two instructions, as plain data. Every engine that has save() writes
 * it, and every engine that has load() reads it. So a vCPU can move from one engine to another, and
 * a snapshot has this state.
 *
 * Two lists follow the header. The first has `msrs` of struct engine_state_msr, in the order of
 * engine_state_msr[]. The second has `entries` of struct engine_state_tlb, the translations that the
 * guest may observe. An engine without such translations writes none, and ignores those in a state.
 */
#ifndef VMM_ENGINE_STATE_H
#define VMM_ENGINE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/random.h"
#include "engine/time.h"
#include "x86/arch.h"

#define ENGINE_STATE_MAGIC 0x33554350u /* "PCU3" */
#define ENGINE_STATE_MSRS  64u	       /* the most MSRs */

/* The x87 part of FXSAVE without MXCSR, which is stored elsewhere. */
#define ENGINE_STATE_X87_HEAD  24u
#define ENGINE_STATE_X87_ST    32u
#define ENGINE_STATE_X87_BYTES 160u

/* The bits of engine_state_segment.attributes. */
enum engine_state_attributes {
	ENGINE_STATE_TYPE = 0, /* four bits */
	ENGINE_STATE_DPL = 4,  /* two */
	ENGINE_STATE_S = 6,
	ENGINE_STATE_PRESENT,
	ENGINE_STATE_LONG,
	ENGINE_STATE_DB,
	ENGINE_STATE_G,
	ENGINE_STATE_AVL,
	ENGINE_STATE_UNUSABLE,
	ENGINE_STATE_ATTRIBUTES
};

struct engine_state_segment {
	uint64_t base;
	uint32_t limit;
	uint16_t selector;
	uint16_t attributes; /* enum engine_state_attributes */
};

struct engine_state_msr {
	uint32_t index, reserved;
	uint64_t value;
};

struct engine_state_tlb {
	uint64_t key, word;
};

enum engine_state_segments {
	ENGINE_STATE_CS,
	ENGINE_STATE_DS,
	ENGINE_STATE_ES,
	ENGINE_STATE_FS,
	ENGINE_STATE_GS,
	ENGINE_STATE_SS,
	ENGINE_STATE_TR,
	ENGINE_STATE_LDT,
	ENGINE_STATE_SEGMENTS
};

struct engine_state {
	uint32_t magic, bytes; /* the size of the whole state: this header, MSRs, TLB entries */
	uint32_t msrs, entries;
	struct x86_regs regs;
	struct engine_state_segment segment[ENGINE_STATE_SEGMENTS];
	uint64_t gdt_base, idt_base;
	uint16_t gdt_limit, idt_limit;
	uint32_t shadow; /* 1: no interrupt before one more instruction retires */
	uint64_t cr0, cr2, cr3, cr4, efer;
	uint64_t dr[8];
	uint64_t retired;
	struct engine_time time;
	uint64_t xcr0;
	uint32_t mxcsr, pkru;
	uint64_t k[8];
	uint8_t zmm[32][64];
	uint8_t x87[ENGINE_STATE_X87_BYTES];
	struct engine_random random;
};

/* The MSRs of a state. EFER and the bases of FS and GS are in struct engine_state. */
extern const uint32_t engine_state_msr[];
extern const size_t engine_state_msr_count;

/*
 * Returns true if the time of a state is valid for a vCPU whose engine_vcpu.time is @own. Ratios are
 * one byte each, and the ratio at P1 is that of the processor. The state may be hostile.
 */
bool engine_state_time_ok(const struct engine_state *state, const struct engine_time *own);
/* Returns true if the MSRs of a state are those of engine_state_msr[], in this order. */
bool engine_state_msrs_ok(const struct engine_state_msr *msr, uint32_t count);

/* Convert the system registers of a state. CR8 is the APIC's. */
void engine_state_put_sregs(struct engine_state *state, const struct x86_sregs *s);
void engine_state_get_sregs(const struct engine_state *state, struct x86_sregs *s);

#endif /* VMM_ENGINE_STATE_H */
