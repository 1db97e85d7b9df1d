/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers and the memory of a guest, as gdb knows them. Between two instructions only. */
#ifndef VMM_GDB_GUEST_H
#define VMM_GDB_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct core_vcpu;
struct x86_mem;

/* The number of registers, and the bytes that all of them have. */
#define GDB_REGS      66u
#define GDB_REG_BYTES 16u
#define GDB_REGS_ROOM (GDB_REGS * GDB_REG_BYTES)

/* Write the description of the registers, target.xml, to @to. Returns its length, at most @room. */
size_t gdb_guest_describe(char *to, size_t room);

/* The size of a register in bytes, or 0 if there is none with this number. */
size_t gdb_guest_reg_bytes(unsigned int number);

/*
 * Copy all registers, one after the other, without gaps. Returns the number of bytes. @known is
 * false for a register that the engine cannot save now.
 */
size_t gdb_guest_regs(struct core_vcpu *v, uint8_t to[GDB_REGS_ROOM], bool known[GDB_REGS]);

/* Set a general register, RIP or RFLAGS. Returns false for any other. */
bool gdb_guest_set_reg(struct core_vcpu *v, unsigned int number, const void *value);

/*
 * Copy from or to linear addresses, with the rights of CPL 0. Nothing else changes, such as accessed
 * bits. Returns the number of bytes up to the first one that is not mapped to RAM.
 */
size_t gdb_guest_read(struct core_vcpu *v, uint64_t lin, void *to, size_t len);
size_t gdb_guest_write(struct core_vcpu *v, uint64_t lin, const void *from, size_t len);

/* Returns a hash of all RAM, 64 bits. */
uint64_t gdb_guest_hash(const struct x86_mem *mem);

#endif /* VMM_GDB_GUEST_H */
