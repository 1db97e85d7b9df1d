/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The checks, one function for each bug. A check returns NULL, or a description of the fault. */
#ifndef BED_KVM_BUGS_TESTS_H
#define BED_KVM_BUGS_TESTS_H

/* Format the description of a fault. */
const char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* msr.c */
const char *test_stop(void);
const char *test_ranges(void);
const char *test_features(void);
const char *test_no_pt(void);
const char *test_no_leaf(void);
const char *test_pt_dropped(void);
const char *test_mask(void);
const char *test_maxphyaddr(void);
const char *test_supported(void);
const char *test_event(void);

/* state.c */
const char *test_restore(void);
const char *test_save(void);
const char *test_vmxon(void);
const char *test_init(void);
const char *test_smm(void);

/* output.c */
const char *test_hole(void);
const char *test_hole_mmio(void);
const char *test_untouched(void);

/* pmi.c */
const char *test_pmi(void);
const char *test_pmi_alone(void);
const char *test_pmi_msr(void);

/* host.c */
const char *test_host_traces(void);
const char *test_both_trace(void);
const char *test_nmi_window(void);

/* cost.c */
const char *test_cost(void);
const char *test_resident(void);

#endif
