/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interface between the injector and the library that it preloads. */
#ifndef TESTS_FAULTS_SHIM_H
#define TESTS_FAULTS_SHIM_H

#include <stdint.h>

/* Environment variable with the descriptor of the struct shim that both processes map. */
#define SHIM_FD "TEST_FAULTS_FD"

/* The argument of the getpgid() call with which the library marks the beginning of main(). */
#define SHIM_MARK 0x76707466

struct shim {
	uint64_t fail;	/* which allocation fails, from 1; 0: none */
	uint64_t stay;	/* those after it fail too */
	uint64_t calls; /* allocations so far, from main() on */
	uint64_t fired; /* how many of them failed */
};

#endif /* TESTS_FAULTS_SHIM_H */
