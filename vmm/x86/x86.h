/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of architectural bits that the core looks at. */
#ifndef VMM_X86_X86_H
#define VMM_X86_X86_H

#include "x86/msr.h"

#define VPT_CR0_PE (1ull << 0)
#define VPT_CR0_MP (1ull << 1)
#define VPT_CR0_ET (1ull << 4)
#define VPT_CR0_NE (1ull << 5)
#define VPT_CR0_WP (1ull << 16)
#define VPT_CR0_EM (1ull << 2)
#define VPT_CR0_TS (1ull << 3)
#define VPT_CR0_AM (1ull << 18)
#define VPT_CR0_PG (1ull << 31)

#define VPT_CR4_PSE	   (1ull << 4)
#define VPT_CR4_PAE	   (1ull << 5)
#define VPT_CR4_PCE	   (1ull << 8)
#define VPT_CR4_OSFXSR	   (1ull << 9)
#define VPT_CR4_OSXMMEXCPT (1ull << 10)
#define VPT_CR4_UMIP	   (1ull << 11)
#define VPT_CR4_LA57	   (1ull << 12)
#define VPT_CR4_OSXSAVE	   (1ull << 18)
#define VPT_CR4_SMEP	   (1ull << 20)
#define VPT_CR4_SMAP	   (1ull << 21)

#define VPT_EFER_SCE (1ull << 0)
#define VPT_EFER_LME (1ull << 8)
#define VPT_EFER_LMA (1ull << 10)
#define VPT_EFER_NXE (1ull << 11)

#define VPT_FL_CF    (1ull << 0)
#define VPT_FL_FIXED (1ull << 1)
#define VPT_FL_PF    (1ull << 2)
#define VPT_FL_AF    (1ull << 4)
#define VPT_FL_ZF    (1ull << 6)
#define VPT_FL_SF    (1ull << 7)
#define VPT_FL_TF    (1ull << 8)
#define VPT_FL_IF    (1ull << 9)
#define VPT_FL_DF    (1ull << 10)
#define VPT_FL_OF    (1ull << 11)
#define VPT_FL_IOPL  (3ull << 12)
#define VPT_FL_NT    (1ull << 14)
#define VPT_FL_RF    (1ull << 16)
#define VPT_FL_VM    (1ull << 17)
#define VPT_FL_AC    (1ull << 18)
#define VPT_FL_VIF   (1ull << 19)
#define VPT_FL_VIP   (1ull << 20)
#define VPT_FL_ID    (1ull << 21)

#define VPT_DR6_BD (1ull << 13)
#define VPT_DR6_BS (1ull << 14)

enum vpt_vector {
	VPT_VEC_DE = 0,
	VPT_VEC_DB = 1,
	VPT_VEC_NMI = 2,
	VPT_VEC_BP = 3,
	VPT_VEC_OF = 4,
	VPT_VEC_BR = 5,
	VPT_VEC_UD = 6,
	VPT_VEC_NM = 7,
	VPT_VEC_DF = 8,
	VPT_VEC_TS = 10,
	VPT_VEC_NP = 11,
	VPT_VEC_SS = 12,
	VPT_VEC_GP = 13,
	VPT_VEC_PF = 14,
	VPT_VEC_AC = 17,
};

#endif /* VMM_X86_X86_H */
