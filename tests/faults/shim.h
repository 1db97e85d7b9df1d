/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface between the injector and the library that it preloads. */
#ifndef TESTS_FAULTS_SHIM_H
#define TESTS_FAULTS_SHIM_H

#include <stdint.h>

/* Environment: the number of a descriptor of struct shim, mapped by both. */
#define SHIM_FD "TEST_FAULTS_FD"

/* A system call that does nothing, by which the library says that main() begins. */
#define SHIM_MARK 0x76707466

struct shim {
	uint64_t fail;	/* which allocation fails, from 1; 0: none */
	uint64_t stay;	/* those after it fail too */
	uint64_t calls; /* allocations so far, from main() on */
	uint64_t fired; /* how many of them failed */
};

#endif /* TESTS_FAULTS_SHIM_H */
