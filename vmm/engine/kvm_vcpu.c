// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM: create and destroy a vCPU, and the timer that ends a run. */
#include "engine/kvm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

/* MSRs outside kvm_sregs that INIT or a lost VMCB would change. */
static const uint32_t saved_msrs[ENGINE_KVM_SAVED_MSRS] = {
	X86_MSR_STAR,	      X86_MSR_LSTAR,	      X86_MSR_CSTAR,
	X86_MSR_FMASK,	      X86_MSR_KERNEL_GS_BASE, X86_MSR_SYSENTER_CS,
	X86_MSR_SYSENTER_ESP, X86_MSR_SYSENTER_EIP,   X86_MSR_PAT,
	X86_MSR_TSC_AUX,
};

static int kick_signal(void)
{
	return SIGRTMIN;
}

/*
 * A kick before KVM_RUN must end it, too. A kick while complete() uses immediate_exit must not be
 * lost, so `kicked` repeats it.
 */
void engine_kvm_interrupt(struct engine_vcpu *vcpu)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	pthread_t inside;

	/* run() clears in the opposite order, so immediate_exit never stays without `kicked`. */
	__atomic_store_n(&v->run->immediate_exit, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&v->kicked, 1, __ATOMIC_RELEASE);
	/* Either this thread sees `inside`, or KVM_RUN sees immediate_exit. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	inside = v->inside;
	if (inside && !pthread_equal(inside, pthread_self()))
		(void)pthread_kill(inside, kick_signal());
}

static void on_kick(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == SI_TIMER && info->si_value.sival_ptr)
		engine_kvm_interrupt(info->si_value.sival_ptr);
}

/* Handle the signal before anyone can send it. */
static int catch_kicks(void)
{
	struct sigaction action = {.sa_sigaction = on_kick, .sa_flags = SA_SIGINFO | SA_RESTART};

	sigemptyset(&action.sa_mask);
	return sigaction(kick_signal(), &action, NULL) ? -errno : 0;
}

static void delete_timer(struct engine_kvm_vcpu *v)
{
	if (v->state & ENGINE_KVM_HAS_TIMER)
		timer_delete(v->timer);
	v->state &= ~ENGINE_KVM_HAS_TIMER;
}

static int create_timer(struct engine_kvm_vcpu *v, pid_t thread)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID};

	event.sigev_signo = kick_signal();
	event.sigev_value.sival_ptr = &v->base;
	event._sigev_un._tid = thread;
	if (timer_create(CLOCK_MONOTONIC, &event, &v->timer))
		return -errno;
	v->timer_thread = thread;
	v->state |= ENGINE_KVM_HAS_TIMER;
	return 0;
}

int engine_kvm_kick_after(struct engine_vcpu *vcpu, uint64_t ns)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);
	struct itimerspec when = {
		.it_value = {.tv_sec = (time_t)(ns / 1000000000),
			     .tv_nsec = (long)(ns % 1000000000)},
	};

	const pid_t thread = (pid_t)syscall(SYS_gettid);

	/* A machine that changes its engine has new threads. */
	if (v->timer_thread != thread)
		delete_timer(v);
	if (!(v->state & ENGINE_KVM_HAS_TIMER)) {
		int error = create_timer(v, thread);

		if (error)
			return error;
	}
	return timer_settime(v->timer, 0, &when, NULL) ? -errno : 0;
}

static int set_cpuid(struct engine_kvm_vcpu *v, const struct engine_cpuid_entry *in, size_t count)
{
	struct kvm_cpuid2 *list =
		calloc(1, sizeof(*list) + count * sizeof(struct kvm_cpuid_entry2));
	int error = 0;
	size_t i;

	if (!list)
		return -ENOMEM;
	list->nent = (uint32_t)count;
	for (i = 0; i < count; i++) {
		list->entries[i] = (struct kvm_cpuid_entry2){
			.function = in[i].leaf,
			.index = in[i].subleaf,
			.flags = in[i].by_subleaf ? KVM_CPUID_FLAG_SIGNIFCANT_INDEX : 0,
			.eax = in[i].eax,
			.ebx = in[i].ebx,
			.ecx = in[i].ecx,
			.edx = in[i].edx,
		};
	}
	if (ioctl(v->fd, KVM_SET_CPUID2, list))
		error = -errno;
	free(list);
	return error;
}

/* Read the first state. From here on the run page holds the registers. */
static int first_state(struct engine_kvm_vcpu *v)
{
	struct kvm_debugregs dr;
	size_t i;

	if (ioctl(v->fd, KVM_GET_REGS, &v->run->s.regs.regs) ||
	    ioctl(v->fd, KVM_GET_SREGS, &v->run->s.regs.sregs) ||
	    ioctl(v->fd, KVM_GET_DEBUGREGS, &dr))
		return -errno;
	v->run->kvm_valid_regs = KVM_SYNC_X86_REGS | KVM_SYNC_X86_SREGS | KVM_SYNC_X86_EVENTS;
	v->dr6 = dr.dr6;
	v->msrs.head.nmsrs = ENGINE_KVM_SAVED_MSRS;
	for (i = 0; i < ENGINE_KVM_SAVED_MSRS; i++)
		v->msrs.entry[i].index = saved_msrs[i];
	v->tsc_offset = engine_kvm_tsc_offset(v);
	return 0;
}

int engine_kvm_vcpu_create(struct engine_vm *base, unsigned int index,
			   const struct engine_cpuid_entry *cpuid, size_t count,
			   struct engine_vcpu **out)
{
	struct engine_kvm_vm *vm = engine_kvm_vm(base);
	struct engine_kvm_vcpu *v = calloc(1, sizeof(*v));
	int error;

	if (!v)
		return -ENOMEM;
	v->vm = vm;
	v->run = MAP_FAILED;
	v->fd = ioctl(vm->fd, KVM_CREATE_VCPU, (unsigned long)index);
	if (v->fd < 0) {
		error = -errno;
		goto fail;
	}
	v->run = mmap(NULL, vm->run_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, v->fd, 0);
	if (v->run == MAP_FAILED) {
		error = -errno;
		goto fail;
	}
	v->base.engine = base->engine;
	v->base.regs = (struct x86_regs *)&v->run->s.regs.regs;
	error = catch_kicks();
	if (!error)
		error = set_cpuid(v, cpuid, count);
	if (!error)
		error = first_state(v);
	if (!error)
		error = engine_kvm_first_apic(v);
	if (!error && engine_kvm_assists(vm)) {
		engine_kvm_hide_idt(v);
		error = engine_kvm_set_msr(&v->base, X86_MSR_LSTAR, 0);
	}
	if (error)
		goto fail;
	vm->vcpus++;
	*out = &v->base;
	return 0;
fail:
	engine_kvm_vcpu_destroy(&v->base);
	return error;
}

void engine_kvm_vcpu_destroy(struct engine_vcpu *vcpu)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);

	if (!v)
		return;
	delete_timer(v);
	if (v->run != MAP_FAILED)
		munmap(v->run, v->vm->run_bytes);
	if (v->fd >= 0)
		close(v->fd);
	free(v);
}
