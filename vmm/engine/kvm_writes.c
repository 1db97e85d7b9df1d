// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the pages of RAM that guests write, with KVM's dirty log.
 *
 * KVM sets a page's bit at a write, and the page is then writable until the bit is cleared. At first
 * all bits are set. Only those of watched pages are ever cleared, so other pages cost nothing.
 */
#include "engine/kvm_pt.h"

#include <stdlib.h>

#include "engine/kvm.h"
#include "engine/kvm_guard.h"

#define PAGE	 4096u
#define IN_WORD	 64u
#define LOG_BITS (KVM_DIRTY_LOG_MANUAL_PROTECT_ENABLE | KVM_DIRTY_LOG_INITIALLY_SET)

/* Each bitmap has a bit for each page of RAM. A slot begins with a word of its own. */
struct engine_kvm_writes {
	size_t first[ENGINE_KVM_SLOTS + 1]; /* the first word of each slot, and their number */
	uint64_t *watched;
	uint64_t *dirty;	       /* the log of KVM */
	struct engine_kvm_written *of; /* the list of vCPUs */
};

/* The pages that were written and not yet reported to a vCPU. */
struct engine_kvm_written {
	struct engine_kvm_written *next;
	uint64_t pages[];
};

static size_t words_of(const struct engine_kvm_slot *slot)
{
	return (size_t)((slot->bytes / PAGE + IN_WORD - 1) / IN_WORD);
}

void engine_kvm_writes_free(struct engine_kvm_vm *vm)
{
	struct engine_kvm_writes *w = vm->writes;

	if (!w)
		return;
	while (w->of) {
		struct engine_kvm_written *next = w->of->next;

		free(w->of);
		w->of = next;
	}
	free(w->watched);
	free(w->dirty);
	free(w);
	vm->writes = NULL;
}

/* Have KVM log the writes to each slot. */
static int start_log(struct engine_kvm_vm *vm)
{
	struct kvm_enable_cap cap = {.cap = KVM_CAP_MANUAL_DIRTY_LOG_PROTECT2, .args = {LOG_BITS}};
	int can = ioctl(vm->fd, KVM_CHECK_EXTENSION, KVM_CAP_MANUAL_DIRTY_LOG_PROTECT2);
	uint32_t i;

	if (can < 0 || (can & LOG_BITS) != LOG_BITS)
		return -EOPNOTSUPP;
	if (ioctl(vm->fd, KVM_ENABLE_CAP, &cap))
		return -errno;
	vm->slot_flags = KVM_MEM_LOG_DIRTY_PAGES;
	for (i = 0; i < ENGINE_KVM_SLOTS; i++) {
		const struct engine_kvm_slot slot = vm->slot[i];
		int error = 0;

		if (slot.bytes)
			error = engine_kvm_vm_map(&vm->base, i, slot.gpa, slot.host, slot.bytes);
		if (error)
			return error;
	}
	return 0;
}

static int open_log(struct engine_kvm_vm *vm)
{
	struct engine_kvm_writes *w = calloc(1, sizeof(*w));
	size_t words;
	uint32_t i;

	if (!w)
		return -ENOMEM;
	vm->writes = w;
	for (i = 0; i < ENGINE_KVM_SLOTS; i++)
		w->first[i + 1] = w->first[i] + words_of(&vm->slot[i]);
	words = w->first[ENGINE_KVM_SLOTS];
	w->watched = calloc(words + 1, sizeof(*w->watched));
	w->dirty = calloc(words + 1, sizeof(*w->dirty));
	return w->watched && w->dirty ? start_log(vm) : -ENOMEM;
}

int engine_kvm_pt_log_writes(struct engine_vcpu *vcpu)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct engine_kvm_vm *vm = v->vm;
	struct engine_kvm_written *written;
	int error = 0;

	if (!engine_kvm_guard_start(v))
		return ENGINE_WRITES_STOP;
	if (v->written)
		return 0;
	if (!vm->writes)
		error = open_log(vm);
	if (error) {
		vm->slot_flags = 0;
		engine_kvm_writes_free(vm);
		return error;
	}
	written = calloc(1, sizeof(*written) + vm->writes->first[ENGINE_KVM_SLOTS] *
						       sizeof(written->pages[0]));
	if (!written)
		return -ENOMEM;
	written->next = vm->writes->of;
	vm->writes->of = v->written = written;
	return 0;
}

void engine_kvm_pt_watch_writes(struct engine_vcpu *vcpu, uint64_t gpa, bool on)
{
	const struct engine_kvm_vm *vm = engine_kvm_vcpu(vcpu)->vm;
	const struct engine_kvm_writes *w = vm->writes;
	uint32_t i;

	if (vm->guard)
		engine_kvm_guard_watch(vm->guard, gpa, on);
	for (i = 0; w && i < ENGINE_KVM_SLOTS; i++) {
		const struct engine_kvm_slot *slot = &vm->slot[i];
		const uint64_t page = (gpa - slot->gpa) / PAGE, bit = 1ull << page % IN_WORD;
		uint64_t *word;

		if (gpa < slot->gpa || gpa - slot->gpa >= slot->bytes)
			continue;
		word = &w->watched[w->first[i] + page / IN_WORD];
		*word = on ? *word | bit : *word & ~bit;
	}
}

/* Get the log of a slot, clear the bits of watched pages, and note these pages for each vCPU. */
static int get_log(struct engine_kvm_vm *vm, uint32_t slot)
{
	const struct engine_kvm_writes *w = vm->writes;
	const uint64_t pages = vm->slot[slot].bytes / PAGE;
	uint64_t *dirty = w->dirty + w->first[slot];
	const size_t words = w->first[slot + 1] - w->first[slot];
	struct kvm_dirty_log get = {.slot = slot, .dirty_bitmap = dirty};
	struct kvm_clear_dirty_log clear = {.slot = slot};
	size_t i, lo = words, hi = 0;

	/* The bitmaps have the size that the slot had at the first log_writes(). */
	if (words != words_of(&vm->slot[slot]))
		return -EINVAL;
	if (ioctl(vm->fd, KVM_GET_DIRTY_LOG, &get))
		return -errno;
	for (i = 0; i < words; i++) {
		struct engine_kvm_written *of = w->of;

		dirty[i] &= w->watched[w->first[slot] + i];
		if (!dirty[i])
			continue;
		for (; of; of = of->next)
			of->pages[w->first[slot] + i] |= dirty[i];
		lo = lo < i ? lo : i;
		hi = i + 1;
	}
	if (!hi)
		return 0;
	clear.dirty_bitmap = dirty + lo;
	clear.first_page = lo * IN_WORD;
	clear.num_pages = (uint32_t)((hi == words ? pages : hi * IN_WORD) - clear.first_page);
	return ioctl(vm->fd, KVM_CLEAR_DIRTY_LOG, &clear) ? -errno : 0;
}

/* Report the pages of a slot that were written. Another page may be watched meanwhile. */
static void report(const struct engine_kvm_vcpu *v, uint32_t slot,
		   const struct engine_writes_sink *sink)
{
	const struct engine_kvm_writes *w = v->vm->writes;
	size_t i;

	for (i = w->first[slot]; i < w->first[slot + 1]; i++) {
		uint64_t left = v->written->pages[i];

		v->written->pages[i] = 0;
		for (; left; left &= left - 1) {
			const uint64_t page = (i - w->first[slot]) * IN_WORD +
					      (unsigned int)__builtin_ctzll(left);

			sink->page(sink->opaque, v->vm->slot[slot].gpa + page * PAGE);
		}
	}
}

int engine_kvm_pt_written(struct engine_vcpu *vcpu, const struct engine_writes_sink *sink)
{
	const struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	uint32_t i;

	if (v->vm->guard)
		engine_kvm_guard_written(v->vm->guard, sink);
	for (i = 0; v->written && i < ENGINE_KVM_SLOTS; i++) {
		int error = v->vm->slot[i].bytes ? get_log(v->vm, i) : 0;

		if (error)
			return error;
		report(v, i, sink);
	}
	return 0;
}
