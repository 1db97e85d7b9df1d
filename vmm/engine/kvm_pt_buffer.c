// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The buffer into which KVM traces a guest for its host. The kernel allocates the buffer, and vpt
 * reads the bytes in place. KVM_RUN returns when half of the buffer is full. So reading at each
 * return misses nothing.
 */
#include "engine/kvm_pt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/kvm.h"
#include "engine/kvm_guard.h"
#include "engine/kvm_pt_abi.h"
#include "vpt/rtit.h"

#define BYTES_WANTED (4ull << 20)
#define BYTES_LEAST  (64ull << 10)

struct engine_kvm_pt_buffer {
	const struct kvm_x86_pt_status *status;
	const uint8_t *bytes;
	uint64_t size;
	uint64_t tail, wraps; /* the end of the bytes already read */
};

static void *map(const struct engine_kvm_vcpu *v, uint64_t page, size_t bytes)
{
	long size = sysconf(_SC_PAGESIZE);

	return mmap(NULL, bytes, PROT_READ, MAP_SHARED, v->fd, (off_t)(page * (uint64_t)size));
}

void engine_kvm_pt_free(struct engine_kvm_pt_buffer *b)
{
	if (!b)
		return;
	if (b->status != MAP_FAILED)
		munmap((void *)b->status, (size_t)sysconf(_SC_PAGESIZE));
	if (b->bytes != MAP_FAILED)
		munmap((void *)b->bytes, b->size);
	free(b);
}

/* Allocate the largest buffer that the limit of locked memory allows. */
static int allocate(struct engine_kvm_vcpu *v, struct engine_kvm_pt_buffer *b,
		    const struct vpt_rtit *rtit)
{
	struct kvm_x86_pt_buffer want = {
		.op = KVM_X86_PT_BUFFER_ALLOC,
		.flags = KVM_X86_PT_BUFFER_NOTIFY,
		.ctl = rtit->ctl &
		       ~(VPT_CTL_MASK(TRACE_EN) | VPT_CTL_MASK(TOPA) | VPT_CTL_MASK(FABRIC_EN)),
		.cr3_match = rtit->cr3_match,
	};

	memcpy(want.addr, rtit->addr, sizeof(want.addr));
	for (b->size = BYTES_WANTED; b->size >= BYTES_LEAST; b->size /= 2) {
		want.size = b->size;
		if (!ioctl(v->fd, KVM_X86_PT_SET_BUFFER, &want))
			return 0;
		if (errno != ENOMEM)
			break;
	}
	return -errno;
}

static int set_usage(struct engine_kvm_vcpu *v, uint32_t usage, uint32_t flags)
{
	struct kvm_x86_pt_usage set = {.usage = usage, .flags = flags};

	return ioctl(v->vm->fd, KVM_X86_PT_SET_USAGE, &set) ? -errno : 0;
}

/* Trace the guest. Conceal VMX if the processor can. A trace that shows VMX is just as useful. */
static int trace_guest(struct engine_kvm_vcpu *v)
{
	int error = set_usage(v, KVM_X86_PT_GUEST,
			      KVM_X86_PT_CONCEAL_EXEC | KVM_X86_PT_CONCEAL_EXIT |
				      KVM_X86_PT_CONCEAL_ENTRY);

	return error == -EOPNOTSUPP ? set_usage(v, KVM_X86_PT_GUEST, 0) : error;
}

int engine_kvm_pt_stop(struct engine_vcpu *vcpu)
{
	const struct kvm_x86_pt_buffer none = {.op = KVM_X86_PT_BUFFER_FREE};
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	int error = 0;

	/* The usage is that of the machine. A vCPU without a buffer is not traced. */
	if (v->pt && !--v->vm->traced)
		error = set_usage(v, KVM_X86_PT_OFF, 0);
	if (!v->vm->traced)
		engine_kvm_guard_free(v->vm);
	engine_kvm_pt_free(v->pt);
	v->pt = NULL;
	if (ioctl(v->fd, KVM_X86_PT_SET_BUFFER, &none) && !error)
		error = -errno;
	return error;
}

static int start(struct engine_kvm_vcpu *v, struct engine_kvm_pt_buffer *b,
		 const struct vpt_rtit *rtit)
{
	int error = allocate(v, b, rtit);

	if (error)
		return error;
	b->status = map(v, KVM_X86_PT_STATUS_PAGE, (size_t)sysconf(_SC_PAGESIZE));
	if (b->status == MAP_FAILED)
		return -errno;
	b->bytes = map(v, KVM_X86_PT_DATA_PAGE, b->size);
	if (b->bytes == MAP_FAILED)
		return -errno;
	return trace_guest(v);
}

int engine_kvm_pt_start(struct engine_vcpu *vcpu, const struct vpt_rtit *rtit)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct engine_kvm_pt_buffer *b = calloc(1, sizeof(*b));
	int error;

	if (!b)
		return -ENOMEM;
	b->status = MAP_FAILED;
	b->bytes = MAP_FAILED;
	v->pt = b;
	v->vm->traced++;
	error = start(v, b, rtit);
	if (error)
		(void)engine_kvm_pt_stop(vcpu);
	return error;
}

int engine_kvm_pt_read(struct engine_vcpu *vcpu, struct engine_trace *trace)
{
	struct engine_kvm_pt_buffer *b = engine_kvm_vcpu(vcpu)->pt;
	uint64_t head, laps;

	memset(trace, 0, sizeof(*trace));
	if (!b || b->status == MAP_FAILED || b->bytes == MAP_FAILED)
		return 0;
	/* This thread runs the vCPU, so nothing writes to the buffer now. */
	head = b->status->head;
	laps = b->status->wraps - b->wraps;
	trace->status = b->status->rtit_status;
	if (head > b->size)
		return -EIO;
	trace->lost = laps > 1 || (laps == 1 && head > b->tail);
	if (trace->lost) {
		b->tail = head;
		laps = 1;
	}
	if (laps) {
		trace->piece[0].bytes = b->bytes + b->tail;
		trace->piece[0].len = b->size - b->tail;
		trace->piece[1].bytes = b->bytes;
		trace->piece[1].len = head;
	} else {
		trace->piece[0].bytes = b->bytes + b->tail;
		trace->piece[0].len = head - b->tail;
	}
	b->tail = head;
	b->wraps = b->status->wraps;
	return 0;
}
