// SPDX-License-Identifier: GPL-2.0-or-later
/* KVM's local APICs: a split irqchip. */
#include "engine/kvm.h"

#include <string.h>

#define MSI_ADDRESS  0xfee00000u
#define MSI_LOGICAL  (1u << 2)
#define MSI_REDIRECT (1u << 3)
#define MSI_ASSERT   (1u << 14)
#define MSI_LEVEL    (1u << 15)
#define LOWEST	     1u
#define REVISION     0x7fffffffull

/* A register of struct kvm_lapic_state. */
#define REG_LINT0  0x350u
#define LVT_MASKED (1u << 16)

const char *engine_kvm_no_apic(const struct engine_probe *probe, int dev)
{
	static const int needed[] = {KVM_CAP_SPLIT_IRQCHIP, KVM_CAP_SIGNAL_MSI, KVM_CAP_IRQ_ROUTING,
				     KVM_CAP_MP_STATE};
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (ioctl(dev, KVM_CHECK_EXTENSION, needed[i]) <= 0)
			return "this KVM has no split irqchip";
	if (!probe->syscall || !probe->soft_int)
		return "this KVM cannot deliver interrupts, because vpt executes SYSCALL and INT n "
		       "for it";
	return NULL;
}

static int create(struct engine_vm *base, unsigned int pins)
{
	struct engine_kvm_vm *vm = engine_kvm_vm(base);
	struct kvm_enable_cap cap = {.cap = KVM_CAP_SPLIT_IRQCHIP, .args = {pins}};

	if (ioctl(vm->fd, KVM_ENABLE_CAP, &cap))
		return -errno;
	vm->pins = pins;
	return 0;
}

/*
 * Set the revision of the software CPU. Linux uses the TSC deadline only with a new microcode. The
 * timer's other modes count at KVM's 1 GHz instead of the crystal clock of CPUID.
 */
static int set_revision(struct engine_kvm_vcpu *v)
{
	return engine_kvm_set_msr(&v->base, X86_MSR_BIOS_SIGN_ID, REVISION << 32);
}

/* KVM's reset connects the 8259s to the first vCPU, unlike that of a processor. */
static int mask_lint0(struct engine_kvm_vcpu *v)
{
	const uint32_t masked = LVT_MASKED;
	struct kvm_lapic_state state;

	if (ioctl(v->fd, KVM_GET_LAPIC, &state))
		return -errno;
	memcpy(state.regs + REG_LINT0, &masked, sizeof(masked));
	return ioctl(v->fd, KVM_SET_LAPIC, &state) ? -errno : 0;
}

int engine_kvm_first_apic(struct engine_kvm_vcpu *v)
{
	int error = v->vm->pins ? set_revision(v) : 0;

	return error || !v->vm->pins ? error : mask_lint0(v);
}

static uint32_t address_of(const struct engine_apic_message *m)
{
	return MSI_ADDRESS | (uint32_t)m->dest << 12 | (m->logical ? MSI_LOGICAL : 0) |
	       (m->mode == LOWEST ? MSI_REDIRECT : 0);
}

static uint32_t data_of(const struct engine_apic_message *m)
{
	return m->vector | (m->mode & 7u) << 8 | (m->level ? MSI_LEVEL | MSI_ASSERT : 0);
}

static bool send(struct engine_vm *base, const struct engine_apic_message *m)
{
	struct kvm_msi msi = {.address_lo = address_of(m), .data = data_of(m)};

	return ioctl(engine_kvm_vm(base)->fd, KVM_SIGNAL_MSI, &msi) > 0;
}

/* KVM exits at the EOI of a vector if a pin of this table has it. */
static int set_levels(struct engine_vm *base, const struct engine_apic_message *m, size_t count)
{
	struct {
		struct kvm_irq_routing head;
		struct kvm_irq_routing_entry entry[ENGINE_KVM_PINS];
	} table = {.head.nr = (uint32_t)count};
	size_t i;

	if (count > ENGINE_KVM_PINS)
		return -E2BIG;
	for (i = 0; i < count; i++)
		table.entry[i] = (struct kvm_irq_routing_entry){
			.gsi = (uint32_t)i,
			.type = KVM_IRQ_ROUTING_MSI,
			.u.msi = {.address_lo = address_of(&m[i]), .data = data_of(&m[i])},
		};
	return ioctl(engine_kvm_vm(base)->fd, KVM_SET_GSI_ROUTING, &table) ? -errno : 0;
}

static bool takes_extint(const struct engine_vcpu *vcpu)
{
	const struct engine_kvm_vcpu *v = (const struct engine_kvm_vcpu *)vcpu;

	return v->run->ready_for_interrupt_injection && !(v->state & ENGINE_KVM_EXTINT);
}

static void extint(struct engine_vcpu *vcpu, uint8_t vector)
{
	struct engine_kvm_vcpu *v = engine_kvm_vcpu(vcpu);

	v->extint = vector;
	v->state |= ENGINE_KVM_EXTINT;
	v->run->ready_for_interrupt_injection = 0;
}

/* KVM refuses a second vector before it has delivered the first one. */
void engine_kvm_put_extint(struct engine_kvm_vcpu *v)
{
	struct kvm_interrupt irq = {.irq = v->extint};

	if (v->state & ENGINE_KVM_EXTINT && !ioctl(v->fd, KVM_INTERRUPT, &irq))
		v->state &= ~ENGINE_KVM_EXTINT;
}

static int halt(struct engine_vcpu *vcpu)
{
	struct kvm_mp_state state = {.mp_state = KVM_MP_STATE_HALTED};

	return ioctl(engine_kvm_vcpu(vcpu)->fd, KVM_SET_MP_STATE, &state) ? -errno : 0;
}

static bool sleeps(const struct engine_vcpu *vcpu)
{
	const struct engine_kvm_vcpu *v = (const struct engine_kvm_vcpu *)vcpu;
	struct kvm_mp_state state;

	return !v->run->if_flag && !ioctl(v->fd, KVM_GET_MP_STATE, &state) &&
	       state.mp_state == KVM_MP_STATE_HALTED;
}

const struct engine_apic engine_kvm_apic = {
	.create = create,
	.send = send,
	.set_levels = set_levels,
	.takes_extint = takes_extint,
	.extint = extint,
	.halt = halt,
	.sleeps = sleeps,
};
