/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instructions the guest's CPUID promises. */
#ifndef VMM_SOFT_FEATURE_H
#define VMM_SOFT_FEATURE_H

#include <Zydis/Zydis.h>

#include "soft/soft.h"

/* Does this processor have the instruction? What it has not raises #UD. */
bool soft_feature(const struct soft *c, const ZydisDecodedInstruction *insn);
/* Have the decoder take opcodes for what they are without features that it has not. */
void soft_set_features(const struct soft *c, ZydisDecoder *decoder);

#endif /* VMM_SOFT_FEATURE_H */
