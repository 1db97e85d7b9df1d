// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a guest from the entry to payload(), and exits. */
#include "lib/guest.h"

#include "lib/bare.h"
#include "lib/cpu.h"
#include "lib/idt.h"
#include "lib/page_alloc.h"
#include "lib/printk.h"
#include "lib/report.h"

const struct vpt_boot_info *boot;

void guest_start(const struct vpt_boot_info *info);

void guest_exit(uint32_t status)
{
	if (boot && (boot->flags & VPT_BOOT_BARE))
		bare_exit(status);
	for (;;)
		outl(VPT_PORT_EXIT, status);
}

void guest_start(const struct vpt_boot_info *info)
{
	if (info->magic != VPT_BOOT_MAGIC || info->size < sizeof(*info)) {
		printk("not started by vpt: bad boot info at %p\n", (const void *)info);
		guest_exit(REPORT_FAIL);
	}
	boot = info;
	if (boot->flags & VPT_BOOT_BARE)
		bare_console_init();
	idt_init();
	page_alloc_init(info);
	printk("%s: %s\n", payload_name, payload_text);
	payload();
	guest_exit(report_summary());
}
