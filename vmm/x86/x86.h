/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of architectural bits that the core uses. */
#ifndef VMM_X86_X86_H
#define VMM_X86_X86_H

#include "x86/msr.h"

#define X86_CR0_PE (1ull << 0)
#define X86_CR0_MP (1ull << 1)
#define X86_CR0_ET (1ull << 4)
#define X86_CR0_NE (1ull << 5)
#define X86_CR0_WP (1ull << 16)
#define X86_CR0_EM (1ull << 2)
#define X86_CR0_TS (1ull << 3)
#define X86_CR0_AM (1ull << 18)
#define X86_CR0_PG (1ull << 31)

#define X86_CR4_PSE	   (1ull << 4)
#define X86_CR4_PAE	   (1ull << 5)
#define X86_CR4_PCE	   (1ull << 8)
#define X86_CR4_OSFXSR	   (1ull << 9)
#define X86_CR4_OSXMMEXCPT (1ull << 10)
#define X86_CR4_UMIP	   (1ull << 11)
#define X86_CR4_LA57	   (1ull << 12)
#define X86_CR4_OSXSAVE	   (1ull << 18)
#define X86_CR4_SMEP	   (1ull << 20)
#define X86_CR4_SMAP	   (1ull << 21)

#define X86_EFER_SCE (1ull << 0)
#define X86_EFER_LME (1ull << 8)
#define X86_EFER_LMA (1ull << 10)
#define X86_EFER_NXE (1ull << 11)

#define X86_FL_CF    (1ull << 0)
#define X86_FL_FIXED (1ull << 1)
#define X86_FL_PF    (1ull << 2)
#define X86_FL_AF    (1ull << 4)
#define X86_FL_ZF    (1ull << 6)
#define X86_FL_SF    (1ull << 7)
#define X86_FL_TF    (1ull << 8)
#define X86_FL_IF    (1ull << 9)
#define X86_FL_DF    (1ull << 10)
#define X86_FL_OF    (1ull << 11)
#define X86_FL_IOPL  (3ull << 12)
#define X86_FL_NT    (1ull << 14)
#define X86_FL_RF    (1ull << 16)
#define X86_FL_VM    (1ull << 17)
#define X86_FL_AC    (1ull << 18)
#define X86_FL_VIF   (1ull << 19)
#define X86_FL_VIP   (1ull << 20)
#define X86_FL_ID    (1ull << 21)

#define X86_DR6_BD (1ull << 13)
#define X86_DR6_BS (1ull << 14)

enum x86_vector {
	X86_VEC_DE = 0,
	X86_VEC_DB = 1,
	X86_VEC_NMI = 2,
	X86_VEC_BP = 3,
	X86_VEC_OF = 4,
	X86_VEC_BR = 5,
	X86_VEC_UD = 6,
	X86_VEC_NM = 7,
	X86_VEC_DF = 8,
	X86_VEC_TS = 10,
	X86_VEC_NP = 11,
	X86_VEC_SS = 12,
	X86_VEC_GP = 13,
	X86_VEC_PF = 14,
	X86_VEC_AC = 17,
};

#endif /* VMM_X86_X86_H */
