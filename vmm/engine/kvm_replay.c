// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * KVM: find the exception that an instruction raised.
 *
 * After a triple fault some hosts do not report the first exception. The engine then repeats the
 * instruction with its own IDT, TSS and stack. They are in an unused entry of a copy of the guest's
 * top page table. Each vector leads to its own OUT, and no guest memory changes.
 */
#include "engine/kvm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum replay_page {
	PAGE_ROOT = 0,
	PAGE_TABLES = 1, /* 3 or 4 levels below the root */
	PAGE_IDT = 5,
	PAGE_TSS = 6, /* and the stack, which grows down from its end */
	PAGE_STUBS = 7,
	PAGES = 8,
};

struct engine_kvm_replay {
	uint8_t *mem;
	uint64_t gpa;
	bool mapped;
};

#define PAGE		  4096ull
#define SLOT		  31
#define VECTORS		  256
#define STUB_BYTES	  16
#define VECTOR_DB	  1
#define PTE_PRESENT_WRITE 3ull
#define CR0_PG		  (1ull << 31)
#define CR4_LA57	  (1ull << 12)
#define EFER_LMA	  (1ull << 10)
#define CR3_ADDRESS	  0x000ffffffffff000ull

static uint64_t *page(struct engine_kvm_replay *r, unsigned int n)
{
	return (uint64_t *)(void *)(r->mem + n * PAGE);
}

static int create(struct engine_kvm_vm *vm)
{
	struct engine_kvm_replay *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->mem = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (r->mem == MAP_FAILED) {
		free(r);
		return -ENOMEM;
	}
	/* This is above all RAM and, at 36 bits, within the physical addresses of any guest. */
	r->gpa = (1ull << 36) - PAGES * PAGE;
	vm->replay = r;
	return 0;
}

void engine_kvm_replay_free(struct engine_kvm_vm *vm)
{
	if (!vm->replay)
		return;
	munmap(vm->replay->mem, PAGES * PAGE);
	free(vm->replay);
	vm->replay = NULL;
}

static void *guest_memory(const struct engine_kvm_vm *vm, uint64_t gpa, uint64_t len)
{
	size_t i;

	for (i = 0; i < ENGINE_KVM_SLOTS; i++) {
		const struct engine_kvm_slot *slot = &vm->slot[i];

		if (gpa >= slot->gpa && gpa - slot->gpa < slot->bytes &&
		    slot->bytes - (gpa - slot->gpa) >= len)
			return slot->host + (gpa - slot->gpa);
	}
	return NULL;
}

/* Return a code selector of the guest's own IDT, or 0 if there is none. */
static uint16_t handler_selector(struct engine_kvm_vcpu *v)
{
	unsigned int vector;

	for (vector = 0; vector < 32; vector++) {
		struct kvm_translation where = {.linear_address = v->idt.base + 16 * vector};
		const uint8_t *gate;

		if (16u * vector + 15 > v->idt.limit)
			break;
		if (ioctl(v->fd, KVM_TRANSLATE, &where) || !where.valid)
			continue;
		gate = guest_memory(v->vm, where.physical_address, 8);
		if (gate && gate[5] & 0x80 && (gate[2] | gate[3]))
			return (uint16_t)(gate[2] | gate[3] << 8);
	}
	return 0;
}

/* Link the pages into the tables. Returns their address, or 0 if the root is full. */
static uint64_t build_tables(struct engine_kvm_replay *r, const uint64_t *guest_root, bool la57)
{
	unsigned int levels = la57 ? 5 : 4, index = 512, i;
	uint64_t address;

	memcpy(page(r, PAGE_ROOT), guest_root, PAGE);
	while (index-- && guest_root[index] & 1)
		;
	if (index >= 512)
		return 0;
	page(r, PAGE_ROOT)[index] = (r->gpa + PAGE_TABLES * PAGE) | PTE_PRESENT_WRITE;
	for (i = 0; i + 2 < levels; i++)
		page(r, PAGE_TABLES + i)[0] =
			(r->gpa + (PAGE_TABLES + i + 1) * PAGE) | PTE_PRESENT_WRITE;
	for (i = 0; i < 3; i++)
		page(r, PAGE_TABLES + levels - 2)[i] =
			(r->gpa + (PAGE_IDT + i) * PAGE) | PTE_PRESENT_WRITE;
	address = (uint64_t)index << (la57 ? 48 : 39);
	return index & 0x100 ? address | ~0ull << (la57 ? 57 : 48) : address;
}

/* out %al, $0x80 */
static const uint8_t stub[] = {0xe6, 0x80};

static void build_idt(struct engine_kvm_replay *r, uint64_t at, uint16_t selector)
{
	uint64_t stubs = at + (PAGE_STUBS - PAGE_IDT) * PAGE;
	uint64_t stack = at + (PAGE_STUBS - PAGE_IDT) * PAGE;
	unsigned int i;

	memset(page(r, PAGE_TSS), 0, PAGE);
	/* Without an I/O permission map, ports that the guest denied stay denied. */
	memcpy((uint8_t *)page(r, PAGE_TSS) + 0x66, &(uint16_t){0x68}, sizeof(uint16_t));
	memcpy((uint8_t *)page(r, PAGE_TSS) + 0x24, &stack, sizeof(stack)); /* IST1 */
	for (i = 0; i < VECTORS; i++) {
		uint64_t to = stubs + i * STUB_BYTES;

		memcpy((uint8_t *)page(r, PAGE_STUBS) + i * STUB_BYTES, stub, sizeof(stub));
		page(r, PAGE_IDT)[2 * i] = (to & 0xffff) | (uint64_t)selector << 16 | 1ull << 32 |
					   0xeeull << 40 | (to >> 16 & 0xffff) << 48;
		page(r, PAGE_IDT)[2 * i + 1] = to >> 32;
	}
}

/* Map the pages. Unmap old ones first, because KVM may have shadowed them. */
static int map(struct engine_kvm_vcpu *v)
{
	struct engine_kvm_replay *r = v->vm->replay;
	struct engine_vm *vm = &v->vm->base;
	int error = 0;

	if (r->mapped)
		error = engine_kvm_vm_map(vm, SLOT, r->gpa, r->mem, 0);
	if (!error)
		error = engine_kvm_vm_map(vm, SLOT, r->gpa, r->mem, PAGES * PAGE);
	r->mapped = !error;
	return error;
}

/*
 * Put the vCPU before the instruction with these tables. Returns the address of the IDT, or 0 on
 * failure.
 */
static uint64_t prepare(struct engine_kvm_vcpu *v)
{
	struct kvm_sregs *s = &v->run->s.regs.sregs;
	const uint64_t *root = guest_memory(v->vm, s->cr3 & CR3_ADDRESS, PAGE);
	uint16_t selector = handler_selector(v);
	uint64_t at;

	if (!(s->efer & EFER_LMA) || !root || !selector || (!v->vm->replay && create(v->vm)))
		return 0;
	at = build_tables(v->vm->replay, root, s->cr4 & CR4_LA57);
	if (!at)
		return 0;
	build_idt(v->vm->replay, at, selector);
	if (map(v))
		return 0;
	s->cr3 = (s->cr3 & ~CR3_ADDRESS) | v->vm->replay->gpa;
	s->idt.base = at;
	s->idt.limit = PAGE - 1;
	s->tr = (struct kvm_segment){.base = at + PAGE,
				     .limit = 0x67,
				     .selector = s->tr.selector,
				     .type = 11,
				     .present = 1};
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_SREGS;
	v->base.regs->rflags |= ENGINE_RFLAGS_TF;
	v->base.state |= ENGINE_REGS_DIRTY;
	return at;
}

static bool has_error_code(unsigned int vector)
{
	return vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || vector == 21;
}

/*
 * Restore RIP, RSP, RFLAGS and sregs from before the instruction. The other general registers keep
 * their values.
 */
static void go_back(struct engine_kvm_vcpu *v)
{
	struct kvm_regs *regs = &v->run->s.regs.regs;

	regs->rip = v->before.rip;
	regs->rsp = v->before.rsp;
	regs->rflags = v->before.rflags;
	v->run->s.regs.sregs = v->sbefore;
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_SREGS;
	v->base.state |= ENGINE_REGS_DIRTY;
}

/* Read the exception from the frame, when the vCPU is at a stub. */
static void read_frame(struct engine_kvm_vcpu *v, unsigned int vector, struct engine_exit *exit)
{
	struct engine_kvm_replay *r = v->vm->replay;
	struct kvm_regs *regs = &v->run->s.regs.regs;
	const uint64_t *frame = page(r, PAGE_TSS) + 512 - 5;
	uint64_t rip = frame[0], rflags = frame[2], rsp = frame[3];

	exit->kind = ENGINE_EXIT_FAULT;
	exit->fault.vector = (uint8_t)vector;
	exit->fault.has_error = has_error_code(vector);
	exit->fault.error = exit->fault.has_error ? (uint32_t)frame[-1] : 0;
	exit->fault.cr2 = v->run->s.regs.sregs.cr2;
	go_back(v);
	if (vector == VECTOR_DB) {
		/* The #DB is of the step itself. The instruction did not fault this time. */
		regs->rip = rip;
		regs->rsp = rsp;
		regs->rflags = rflags;
		exit->kind = ENGINE_EXIT_NONE;
	}
}

/* Handle a replay without a fault. Keep the registers, except for those that prepare() changed. */
static void keep(struct engine_kvm_vcpu *v)
{
	struct kvm_sregs *s = &v->run->s.regs.sregs;

	s->cr3 = v->sbefore.cr3;
	s->tr = v->sbefore.tr;
	s->idt = v->sbefore.idt;
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_SREGS;
}

/* Run to a stub and past its OUT, which exits on every host. */
static int enter(struct engine_kvm_vcpu *v)
{
	struct kvm_dtable idt = v->idt;
	int error;

	v->state &= ~ENGINE_KVM_IDT_HIDDEN;
	error = engine_kvm_enter_fully(v);
	if (!error && v->run->exit_reason == KVM_EXIT_IO) {
		v->run->immediate_exit = 1;
		error = engine_kvm_enter(v);
		v->run->immediate_exit = v->kicked != 0;
		if (error == -EINTR)
			error = 0;
	}
	v->state |= ENGINE_KVM_IDT_HIDDEN;
	v->idt = idt;
	return error;
}

void engine_kvm_replay(struct engine_kvm_vcpu *v, struct engine_exit *exit)
{
	uint64_t at = prepare(v), stubs = at + (PAGE_STUBS - PAGE_IDT) * PAGE;
	uint64_t rip;
	int error;

	if (!at) {
		/* Without a handler of the guest, any exception ends in a shutdown. */
		exit->kind = ENGINE_EXIT_SHUTDOWN;
		return;
	}
	error = enter(v);
	rip = v->base.regs->rip;
	if (!error && rip >= stubs && rip - stubs < PAGE) {
		read_frame(v, (unsigned int)(rip - stubs) / STUB_BYTES, exit);
	} else if (!error && v->run->exit_reason == KVM_EXIT_DEBUG) {
		keep(v);
		exit->kind = ENGINE_EXIT_NONE;
	} else {
		engine_kvm_fail(exit, (int)v->run->exit_reason, "a fault did not happen again");
	}
}
