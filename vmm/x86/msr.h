/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of the architectural MSRs that the VMM handles (SDM vol. 4). Those of PT are in
 * vpt/msr.h, those of RTIT in vpt/atom_msr.h. No other file may contain the number of an MSR.
 */
#ifndef VMM_X86_MSR_H
#define VMM_X86_MSR_H

#define X86_MSR_TSC		   0x10u
#define X86_MSR_PLATFORM_ID	   0x17u
#define X86_MSR_APIC_BASE	   0x1bu
#define X86_MSR_TSC_ADJUST	   0x3bu
#define X86_MSR_SPEC_CTRL	   0x48u
#define X86_MSR_PRED_CMD	   0x49u
#define X86_MSR_BIOS_SIGN_ID	   0x8bu
#define X86_MSR_PMC0		   0xc1u
#define X86_MSR_IA32_PLATFORM_INFO 0xceu
#define X86_MSR_UMWAIT_CONTROL	   0xe1u
#define X86_MSR_PKG_CST_CONFIG	   0xe2u
#define X86_MSR_MTRRCAP		   0xfeu
#define X86_MSR_ARCH_CAPABILITIES  0x10au
#define X86_MSR_FLUSH_CMD	   0x10bu
#define X86_MSR_TSX_CTRL	   0x122u
#define X86_MSR_MISC_FEATURES	   0x140u
#define X86_MSR_SYSENTER_CS	   0x174u
#define X86_MSR_SYSENTER_ESP	   0x175u
#define X86_MSR_SYSENTER_EIP	   0x176u
#define X86_MSR_MCG_CAP		   0x179u
#define X86_MSR_MCG_STATUS	   0x17au
#define X86_MSR_PERFEVTSEL0	   0x186u
#define X86_MSR_MISC_ENABLE	   0x1a0u
#define X86_MSR_XFD		   0x1c4u
#define X86_MSR_XFD_ERR		   0x1c5u
#define X86_MSR_LBR_SELECT	   0x1c8u
#define X86_MSR_LASTBRANCH_TOS	   0x1c9u
#define X86_MSR_DEBUGCTL	   0x1d9u
#define X86_MSR_LER_FROM_LIP	   0x1ddu
#define X86_MSR_LER_TO_LIP	   0x1deu
#define X86_MSR_POWER_CTL	   0x1fcu

/* Variable MTRRs: pairs of PHYSBASEn and PHYSMASKn. */
#define X86_MSR_MTRR_PHYSBASE0	  0x200u
#define X86_MSR_MTRR_PHYSMASK9	  0x213u
#define X86_MSR_MTRR_FIX64K_00000 0x250u
#define X86_MSR_MTRR_FIX16K_80000 0x258u
#define X86_MSR_MTRR_FIX16K_A0000 0x259u
#define X86_MSR_MTRR_FIX4K_C0000  0x268u
#define X86_MSR_MTRR_FIX4K_F8000  0x26fu
#define X86_MSR_PAT		  0x277u
#define X86_MSR_MTRR_DEF_TYPE	  0x2ffu
#define X86_MSR_FIXED_CTR0	  0x309u
#define X86_MSR_PERF_CAPABILITIES 0x345u
#define X86_MSR_FIXED_CTR_CTRL	  0x38du
#define X86_MSR_PERF_STATUS	  0x38eu
#define X86_MSR_PERF_CTRL	  0x38fu
#define X86_MSR_PERF_STATUS_RESET 0x390u
#define X86_MSR_PERF_STATUS_SET	  0x391u
#define X86_MSR_PERF_INUSE	  0x392u
/* Machine-check banks: CTL, STATUS, ADDR and MISC of each. */
#define X86_MSR_MC0_CTL		    0x400u
#define X86_MSR_MC31_MISC	    0x47fu
#define X86_MSR_A_PMC0		    0x4c1u
#define X86_MSR_LASTBRANCH_0_FROM   0x680u
#define X86_MSR_LASTBRANCH_31_FROM  0x69fu
#define X86_MSR_U_CET		    0x6a0u
#define X86_MSR_INTERRUPT_SSP_TABLE 0x6a8u
#define X86_MSR_LASTBRANCH_0_TO	    0x6c0u
#define X86_MSR_LASTBRANCH_31_TO    0x6dfu
#define X86_MSR_LASTBRANCH_0_INFO   0xdc0u
#define X86_MSR_LASTBRANCH_31_INFO  0xddfu
#define X86_MSR_UNC_GLOBAL_CTL	    0xe01u
#define X86_MSR_TSC_DEADLINE	    0x6e0u
#define X86_MSR_X2APIC_FIRST	    0x800u
#define X86_MSR_X2APIC_LAST	    0x8ffu
#define X86_MSR_XSS		    0xda0u

#define X86_MSR_EFER	       0xc0000080u
#define X86_MSR_STAR	       0xc0000081u
#define X86_MSR_LSTAR	       0xc0000082u
#define X86_MSR_CSTAR	       0xc0000083u
#define X86_MSR_FMASK	       0xc0000084u
#define X86_MSR_FS_BASE	       0xc0000100u
#define X86_MSR_GS_BASE	       0xc0000101u
#define X86_MSR_KERNEL_GS_BASE 0xc0000102u
#define X86_MSR_TSC_AUX	       0xc0000103u

#endif /* VMM_X86_MSR_H */
