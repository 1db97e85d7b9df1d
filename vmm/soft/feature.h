/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instructions that the guest's CPUID enumerates. */
#ifndef VMM_SOFT_FEATURE_H
#define VMM_SOFT_FEATURE_H

#include <Zydis/Zydis.h>

#include "soft/soft.h"

/* Returns true if this processor has the instruction. An absent instruction raises #UD. */
bool soft_feature(const struct soft *c, const ZydisDecodedInstruction *insn);
/* Configure the decoder for a processor without the features that this one lacks. */
void soft_set_features(const struct soft *c, ZydisDecoder *decoder);

#endif /* VMM_SOFT_FEATURE_H */
