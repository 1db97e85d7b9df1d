// SPDX-License-Identifier: GPL-2.0-or-later
/* The VM exits of accesses and instructions of a guest, with their qualifications. */
#include "core/hv_exit.h"

/* Bits of exit qualifications (SDM vol. 3, tables 28-3, 28-5 and 28-7). */
#define QUAL_IO_IN	       (1ull << 3)
#define QUAL_EPT_READ	       (1ull << 0)
#define QUAL_EPT_WRITE	       (1ull << 1)
#define QUAL_CR3_MOV_FROM(reg) (3ull | (uint64_t)(reg) << 8)

/* Note an exit of the instruction in progress. Only the first one counts. */
static void note(struct core_vcpu *v, enum tracer_hv_reason reason, uint64_t qualification,
		 uint32_t count)
{
	struct core_vcpu_hv *h = v->hv;

	if (h->state & CORE_HV_NOTED)
		return;
	h->state |= CORE_HV_NOTED;
	h->note.reason = reason;
	h->note.qualification = qualification;
	h->note.count = count;
}

void core_hv_note_io(struct core_vcpu *v, uint16_t port, uint8_t size, bool in, uint32_t count)
{
	note(v, TRACER_EXIT_REASON_IO, (size - 1u) | (in ? QUAL_IO_IN : 0) | (uint64_t)port << 16,
	     size * count);
}

void core_hv_note_mmio(struct core_vcpu *v, uint32_t len, bool write)
{
	note(v, TRACER_EXIT_REASON_EPT, write ? QUAL_EPT_WRITE : QUAL_EPT_READ, len);
}

void core_hv_note_rdmsr(struct core_vcpu *v)
{
	note(v, TRACER_EXIT_REASON_RDMSR, 0, 0);
}

/* Returns up to three bytes of the opcode, without prefixes. */
static uint32_t opcode_of(const struct core_insn *insn)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf2, 0xf3, 0x2e,
					   0x36, 0x3e, 0x26, 0x64, 0x65};
	unsigned int i, skip = 0;
	uint64_t bytes;

	for (; skip + 2 < insn->len && skip < 5; skip++) {
		uint8_t byte = (uint8_t)(insn->low >> (8 * skip));
		bool rex = insn->bits == 64 && (byte & 0xf0) == 0x40;

		for (i = 0; i < sizeof(prefixes) && prefixes[i] != byte; i++)
			;
		if (i == sizeof(prefixes) && !rex)
			break;
	}
	bytes = insn->low >> (8 * skip);
	return (uint32_t)bytes & (insn->len - skip >= 3 ? 0xffffff : 0xffff);
}

#define OP_INVD	  0x080fu
#define OP_XSETBV 0xd1010fu

void core_hv_note_insn(struct core_vcpu *v, const struct core_insn *insn)
{
	switch (insn->cls) {
	case CORE_INSN_CPUID:
		note(v, TRACER_EXIT_REASON_CPUID, 0, 0);
		break;
	case CORE_INSN_HLT:
		note(v, TRACER_EXIT_REASON_HLT, 0, 0);
		break;
	case CORE_INSN_MOV_CR3:
		if (v->hv->state & CORE_HV_TRAP_CR3)
			note(v, TRACER_EXIT_REASON_CR,
			     QUAL_CR3_MOV_FROM(insn->low >> (8 * (insn->len - 1u)) & 7), 0);
		break;
	case CORE_INSN_PLAIN:
		if (opcode_of(insn) == OP_INVD)
			note(v, TRACER_EXIT_REASON_INVD, 0, 0);
		else if (opcode_of(insn) == OP_XSETBV)
			note(v, TRACER_EXIT_REASON_XSETBV, 0, 0);
		break;
	default:
		break;
	}
}
