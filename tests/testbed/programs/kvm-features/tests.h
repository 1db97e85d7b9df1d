/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BED_KVM_FEATURES_TESTS_H
#define BED_KVM_FEATURES_TESTS_H

void test_usages(void);
void test_areas(void);
void test_no_ept(void);
void test_guest(void);
void test_oracle(void);
void test_stop(void);
void test_wrap(void);
void test_switch(void);
void test_switches(void);
void test_owned(void);
void test_emulated(void);
void test_sideband(void);
void test_host(void);
void test_both(void);
void test_hostile(void);

#endif /* BED_KVM_FEATURES_TESTS_H */
