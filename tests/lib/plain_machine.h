/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vCPU of the software CPU with the pages of plain.h. A failed call fails the running test. */
#ifndef TESTS_LIB_PLAIN_MACHINE_H
#define TESTS_LIB_PLAIN_MACHINE_H

#include "engine/engine.h"
#include "lib/plain.h"
#include "x86/mem.h"

enum { PLAIN_RAM = 0x60000 };

struct plain_machine {
	struct x86_mem mem;
	struct engine_vm *vm;
	struct engine_vcpu *vcpu;
};

void plain_create(struct plain_machine *m);
void plain_destroy(struct plain_machine *m);

/* Set 64-bit or 32-bit mode with paging, at CPL 0. */
void plain_set_mode(struct plain_machine *m, unsigned int bits);

void plain_load(struct plain_machine *m, const struct plain_program *p);

/* Set random registers, with RIP at the start of a random block. */
void plain_set_registers(struct plain_machine *m, const struct plain_program *p, uint64_t *state,
			 unsigned int bits);
/* Copy the registers of another machine. */
void plain_copy_registers(struct plain_machine *m, const struct plain_machine *from);

#endif /* TESTS_LIB_PLAIN_MACHINE_H */
