// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognize the two top-level tables of a process with page table isolation. */
#include "pt/isolation.h"

#include "x86/x86.h"

#define PTE_P	    (1ull << 0)
#define PTE_RW	    (1ull << 1)
#define PTE_US	    (1ull << 2)
#define PTE_NX	    (1ull << 63)
#define PTE_ADDRESS 0x000ffffffffff000ull

/* The bits of an entry that both tables share. The processor sets the accessed bits in each. */
#define SHARED (PTE_P | PTE_RW | PTE_US | PTE_ADDRESS)

#define USER_TABLE X86_PAGE_SIZE /* the bit of CR3 */
#define ENTRIES	   256u		 /* of the lower half */

/*
 * Returns true if the entries are those of a pair. Linux sets NX in the kernel's entry for memory of
 * ring 3.
 */
static bool match(uint64_t user, uint64_t kernel, bool has_nx)
{
	if (!((user | kernel) & PTE_P))
		return true;
	if ((user ^ kernel) & SHARED)
		return false;
	return !has_nx || !(user & PTE_US) || kernel & PTE_NX;
}

static bool is_pair(const struct x86_mem *mem, uint64_t user, uint64_t kernel, bool has_nx)
{
	uint64_t of_user[ENTRIES], of_kernel[ENTRIES];
	bool any = false;
	size_t i;

	if (!x86_mem_read(mem, user, of_user, sizeof(of_user)) ||
	    !x86_mem_read(mem, kernel, of_kernel, sizeof(of_kernel)))
		return false;
	for (i = 0; i < ENTRIES; i++) {
		if (!match(of_user[i], of_kernel[i], has_nx))
			return false;
		any |= (of_user[i] & (PTE_P | PTE_US)) == (PTE_P | PTE_US);
	}
	return any;
}

uint64_t tracer_isolation_other(const struct x86_mem *mem, const struct x86_paging *paging,
				uint64_t cr3)
{
	const uint64_t user = (cr3 & PTE_ADDRESS) | USER_TABLE, kernel = user ^ USER_TABLE;

	if (!(paging->cr0 & X86_CR0_PG) || !(paging->efer & X86_EFER_LMA) ||
	    !is_pair(mem, user, kernel, paging->efer & X86_EFER_NXE))
		return 0;
	return cr3 & USER_TABLE ? kernel : user;
}
