/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual machine of one vCPU and a few pages, and checks that are counted. */
#ifndef BED_KVM_FEATURES_VM_H
#define BED_KVM_FEATURES_VM_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kvm_pt.h"

enum {
	VM_MEMORY = 4 << 20,
	VM_CODE = 0x10000,
	VM_STACK = 0x20000,
	VM_TABLES = 0x100000, /* page tables, with a copy of the top table at + 0x1000 */
	VM_OUTPUT = 0x200000,
	VM_HOLE = 0x40000000, /* no memory */
};

struct vm {
	int kvm, fd, vcpu;
	uint8_t *memory;
	struct kvm_run *run;
	size_t run_size;
};

extern const uint8_t guest_code[], guest_code_end[];
extern const uint8_t guest_flow[], guest_exits[], guest_forever[], guest_tsc[], guest_owned[],
	guest_mmio[];

/* These functions exit the program on failure. */
void vm_open(struct vm *vm, bool with_pt);
void vm_close(struct vm *vm);
void vm_start(struct vm *vm, const uint8_t *entry, uint64_t rdi);
void vm_regs(const struct vm *vm, struct kvm_regs *regs);

/* Run to HLT. Returns the numbers of the exits to user space before it. */
struct vm_exits {
	unsigned int io, mmio, pt, other;
};
struct vm_exits vm_run(struct vm *vm);

/* Return 0 or a negative errno. */
int vm_usage(struct vm *vm, uint32_t usage, uint32_t flags);
int vm_buffer(struct vm *vm, uint32_t op, uint64_t size, uint32_t flags, uint64_t ctl);
struct kvm_x86_pt_usage vm_get_usage(struct vm *vm);
struct kvm_x86_pt_sideband vm_sideband(struct vm *vm);

/* Map the status page, or the bytes of the buffer. Returns NULL on failure. */
const struct kvm_x86_pt_status *vm_map_status(struct vm *vm);
const uint8_t *vm_map_data(struct vm *vm, size_t size);

/* CHECK(cond, text...): count the check, and print the text if @cond is false. */
extern unsigned int checks, failures;
bool check(bool ok, const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
#define CHECK(cond, ...) check(cond, __FILE__, __LINE__, __VA_ARGS__)

void die(const char *what) __attribute__((noreturn));

/* The packets of a trace. */
struct trace_counts {
	size_t bytes, bad;
	unsigned int psb, pge, pgd, tip, fup, tnt_bits, pip, pip_nr, vmcs, tsc, ovf;
	uint64_t last_vmcs;
	uint64_t pips[4096]; /* the first CR3 values */
};
void count_packets(const uint8_t *bytes, size_t size, struct trace_counts *counts);

#endif /* BED_KVM_FEATURES_VM_H */
