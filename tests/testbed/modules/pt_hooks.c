// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Provide intel_pt_set_guest_ops() for the stock kernel, whose PT driver lacks this function.
 * Probes at the driver's functions replace the calls that patches/linux/6.1 adds to the driver.
 * With this module, KVM of our series keeps a guest's MSRs loaded while the host does not
 * trace.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

/* As in the series' <asm/intel_pt.h>. */
struct intel_pt_guest_ops {
	void (*to_host)(void);
	void (*to_guest)(void);
};

int intel_pt_set_guest_ops(const struct intel_pt_guest_ops *ops);

static const struct intel_pt_guest_ops *guest_ops;

static void claim(void)
{
	const struct intel_pt_guest_ops *ops = READ_ONCE(guest_ops);

	if (ops)
		ops->to_host();
}

static int entered(struct kprobe *probe, struct pt_regs *regs)
{
	claim();
	return 0;
}

static int nmi_entered(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	claim();
	return 0;
}

static int nmi_returns(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct intel_pt_guest_ops *ops = READ_ONCE(guest_ops);

	if (ops)
		ops->to_guest();
	return 0;
}

static struct kprobe probe_add = {.symbol_name = "pt_event_add", .pre_handler = entered};
static struct kprobe probe_del = {.symbol_name = "pt_event_del", .pre_handler = entered};
static struct kprobe probe_start = {.symbol_name = "pt_event_start", .pre_handler = entered};
static struct kprobe probe_stop = {.symbol_name = "pt_event_stop", .pre_handler = entered};
static struct kprobe *probes[] = {&probe_add, &probe_del, &probe_start, &probe_stop};

static struct kretprobe probe_interrupt = {
	.kp.symbol_name = "intel_pt_interrupt",
	.entry_handler = nmi_entered,
	.handler = nmi_returns,
};
static struct kretprobe probe_snapshot = {
	.kp.symbol_name = "pt_event_snapshot_aux",
	.entry_handler = nmi_entered,
	.handler = nmi_returns,
};
static struct kretprobe *ret_probes[] = {&probe_interrupt, &probe_snapshot};

int intel_pt_set_guest_ops(const struct intel_pt_guest_ops *ops)
{
	if (ops)
		return cmpxchg(&guest_ops, NULL, ops) ? -EBUSY : 0;

	WRITE_ONCE(guest_ops, NULL);
	synchronize_rcu();
	return 0;
}
EXPORT_SYMBOL_GPL(intel_pt_set_guest_ops);

static int __init hooks_init(void)
{
	int r = register_kprobes(probes, ARRAY_SIZE(probes));

	if (r)
		return r;
	r = register_kretprobes(ret_probes, ARRAY_SIZE(ret_probes));
	if (r)
		unregister_kprobes(probes, ARRAY_SIZE(probes));
	return r;
}
module_init(hooks_init);

/* The module has no exit function, because KVM holds no reference to it. */
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Notify KVM of the use of perf's Intel PT driver, by probes");
