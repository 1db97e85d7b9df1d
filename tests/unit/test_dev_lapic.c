// SPDX-License-Identifier: GPL-2.0-or-later
/* Local APIC: priorities, timer, local vector table, IPIs, errors, x2APIC. */
#include "lib/devscript.h"
#include "lib/suite.h"

/* clang-format off */
static const struct test_dev_script scripts[] = {
	{"state after reset",
	 "l:20?0 l:30?50015 l:80?0 l:a0?0 l:d0?0 l:e0?ffffffff l:f0?ff l:320?10000 l:330?10000 "
	 "l:340?10000 l:350?10000 l:360?10000 l:370?10000 l:380?0 l:390?0 msr:1b?fee00900 "
	 "l:280?0 never "
	 /* Disabled by software: LVT entries stay masked, fixed interrupts are lost. */
	 "l:350=700 l:350?10700 self:40 l:220?0 idle"},
	/* Nested: higher classes interrupt, equal ones do not; EOI ends the highest. */
	{"nesting",
	 "on self:41 self:35 self:4f l:220?8002 " /* vectors 40H to 5FH */
	 "l:210?200000 ack:4f l:120?8000 l:220?2 l:a0?40 idle self:50 ack:50 l:a0?50 self:5f "
	 "idle eoi l:a0?40 ack:5f eoi idle eoi ack:41 eoi ack:35 l:a0?30 eoi "
	 "l:a0?0 idle eoi " /* with no vector in service */
	 /* Twice pending is once pending; once more while in service is once more. */
	 "self:60 self:60 ack:60 self:60 eoi ack:60 eoi idle"},
	{"task priority",
	 "on l:80=45 l:a0?45 cr8?4 self:4f idle self:50 ack:50 l:a0?50 eoi cr8=3 l:80?30 "
	 "ack:4f l:a0?40 "
	 /* TPR and ISR of one class: TPR with its subclass. */
	 "l:80=47 l:a0?47 cr8=f self:ff idle cr8=e ack:ff"},
	{"one-shot timer",
	 "on l:3e0=b " /* by 1 */
	 "l:320=30 time:1000 l:380=3e8 " /* 40 ns each */
	 "next:41000 time:1040 l:390?3e7 time:40999 l:390?1 idle time:41000 l:390?0 ack:30 "
	 "never l:380?3e8 eoi "
	 /* A masked timer counts and schedules no event. */
	 "l:320=10030 l:380=a never l:390?a time:50000 l:390?0 idle "
	 /* Count 0 stops it. */
	 "l:320=30 l:380=a next:50400 l:380=0 never"},
	{"periodic timer",
	 "on l:3e0=0 " /* by 2 */
	 "l:320=20031 l:380=64 " /* 8 us */
	 "next:8000 time:8000 ack:31 eoi next:16000 time:16040 "
	 "ack:31 eoi next:24000 " /* does not slip */
	 "l:390?64 time:16080 l:390?63 "
	 /* Many periods late is one interrupt. */
	 "time:1000000007 ack:31 eoi idle next:1000008000 "
	 /* The divider changes: what is left is counted with the new one. */
	 "time:1000004000 l:390?32 l:3e0=1 " /* by 4 */
	 "l:390?32 next:1000012000 time:1000012000 ack:31 eoi next:1000028000 "
	 /* One-shot from now on. */
	 "l:320=31 time:1000028000 ack:31 eoi never"},
	{"dividers",
	 "on l:320=30 l:3e0=b l:380=1 next:40 l:3e0=0 l:380=1 next:80 l:3e0=1 l:380=1 next:160 "
	 "l:3e0=2 l:380=1 next:320 l:3e0=3 l:380=1 next:640 l:3e0=8 l:380=1 next:1280 l:3e0=9 "
	 "l:380=1 next:2560 l:3e0=fffffffa l:3e0?a l:380=ffffffff next:21990232550400"},
	{"TSC deadline",
	 "on "
	 /* In other modes writes of the deadline are ignored. */
	 "msr:6e0=3e8 msr:6e0?0 never l:320=40032 l:380=64 " /* no effect in this mode */
	 "l:380?0 never msr:6e0=7d1 msr:6e0?7d1 next:1001 l:390?0 time:1000 idle time:1001 "
	 "ack:32 eoi msr:6e0?0 never "
	 /* A deadline in the past fires at once. */
	 "msr:6e0=1 ack:32 eoi "
	 /* 0 disarms; so does another mode. */
	 "msr:6e0=2328 msr:6e0=0 never msr:6e0=2328 l:320=32 never l:320=40032 msr:6e0?0"},
	{"PMI",
	 "on pmi idle l:340=fe pmi l:340?100fe " /* masked by its delivery */
	 "pmi ack:fe eoi idle l:340=fe pmi ack:fe eoi "
	 /* The entry delivers an NMI. */
	 "l:340=400 no-nmi pmi nmi no-nmi l:340?10400 pmi no-nmi"},
	{"IPIs",
	 "on l:d0=2000000 "
	 /* Physical: to us, to another, to all. */
	 "l:310=0 l:300=4040 ack:40 eoi l:310=1000000 l:300=4040 idle l:310=ff000000 "
	 "l:300=4041 ack:41 eoi l:300?4041 l:310?ff000000 "
	 /* Logical, flat. */
	 "l:310=6000000 l:300=4842 ack:42 eoi l:310=5000000 l:300=4842 idle "
	 /* Logical, by clusters: the same LDR is member 2 of cluster 0. */
	 "l:e0=fffffff l:e0?fffffff l:310=12000000 l:300=4842 idle l:310=3000000 l:300=4842 "
	 "ack:42 eoi "
	 /* Lowest priority: we are the only one. All with us, all but us. */
	 "l:300=4943 ack:43 eoi l:300=80044 ack:44 eoi l:300=c0044 idle "
	 /* NMI, SMI, start-up, INIT. */
	 "l:310=0 l:300=4400 nmi l:300=44400 nmi l:300=4200 "
	 "l:300=4610 resets:0/0 l:300=8500 " /* level de-assert */
	 "resets:0/0 l:300=4500 resets:0/1 no-nmi idle"},
	{"IPIs between processors",
	 /* Each has its id; only the first is the bootstrap processor. */
	 "on l:20?0 msr:1b?fee00900 cpu:1 on l:20?1000000 msr:1b?fee00800 cpu:2 on l:20?2000000 "
	 /* To one, to all, to all others, to itself. */
	 "cpu:0 l:310=1000000 l:300=4040 idle cpu:2 idle cpu:1 ack:40 eoi "
	 "l:300=80041 ack:41 eoi cpu:0 ack:41 eoi cpu:2 ack:41 eoi "
	 "l:300=c0042 idle cpu:0 ack:42 eoi cpu:1 ack:42 eoi "
	 "l:300=40043 ack:43 eoi cpu:0 idle cpu:2 idle "
	 /* Logical: the processors of the mask; of these the first that accepts, by LOWEST. */
	 "cpu:0 l:d0=1000000 cpu:1 l:d0=2000000 cpu:2 l:d0=4000000 l:310=6000000 l:300=4844 "
	 "ack:44 eoi cpu:1 ack:44 eoi cpu:0 idle cpu:2 l:300=4945 idle cpu:1 ack:45 eoi "
	 "l:f0=ff cpu:2 l:300=4946 ack:46 eoi cpu:1 l:f0=1ff "
	 /* NMI; INIT and start-up wait for their processor. */
	 "cpu:0 l:310=2000000 l:300=4400 no-nmi cpu:2 nmi cpu:0 l:300=4500 no-init cpu:2 init "
	 "no-init cpu:0 l:300=469f no-startup cpu:2 startup:9f no-startup "
	 "cpu:1 l:310=0 l:300=4500 no-init resets:0/1 idle"},
	{"IPIs between x2APICs",
	 "cpu:1 msr:1b=fee00c00 x:20?1 x:d0?2 x:f0=1ff cpu:0 msr:1b=fee00d00 x:d0?1 x:f0=1ff "
	 "x:300=100004040 idle cpu:1 ack:40 x:b0=0 "
	 /* FFH is a destination, all are FFFFFFFFH; logical: members of cluster 0. */
	 "x:300=ff00004041 idle cpu:0 idle x:300=ffffffff00004041 ack:41 x:b0=0 cpu:1 ack:41 x:b0=0 "
	 "x:300=300004842 ack:42 x:b0=0 cpu:0 ack:42 x:b0=0 "
	 /* The I/O APIC's destinations have eight bits. */
	 "reg:0=0 pin-high5=ff000000 pin5=51 rise5 ack:51 cpu:1 ack:51"},
	{"errors",
	 "on l:370=ef self:f l:280?0 " /* not before it is written */
	 "ack:ef eoi self:e " /* ESR was not written since: no further interrupt */
	 "idle l:280=0 l:280?20 l:40?0 " /* no such register */
	 "ack:ef eoi l:280=0 l:280?80 l:3f0=30 " /* SELF IPI is for x2APIC only */
	 "l:280=0 l:280?80 ack:ef eoi "
	 /* A local source with such a vector. */
	 "l:340=5 pmi l:280=0 l:280?40 ack:ef eoi l:280=0 l:280?0 "
	 /* Registers for reading only swallow writes. */
	 "l:30=7 l:20=7 l:390=7 l:280=0 l:280?0 l:30?50015"},
	/* Only some bits of an entry can be written; off means masked. */
	{"LVT",
	 "on l:320=ffffffff l:320?700ff l:330=ffffffff l:330?107ff l:340=ffffffff l:340?107ff "
	 "l:350=ffffffff l:350?1a7ff l:360=ffffffff l:360?1a7ff l:370=ffffffff l:370?100ff "
	 "l:320=20 l:350=700 l:f0=ff l:320?10020 l:350?10700 l:80=1ff l:80?ff l:d0=ffffffff "
	 "l:d0?ff000000"},
	{"APIC base",
	 "msr:1b=fee00901! " /* reserved bits */
	 "msr:1b=fee00b00! msr:1b=8000000900! msr:1b=fee00500! " /* x2APIC without APIC */
	 "msr:802! " /* not in this mode */
	 "msr:80b=0! "
	 /* The page moves. */
	 "msr:1b=7f12345900 l:30?5a5a5a5a @7f12345030?50015 msr:1b=fee00900 on self:30 "
	 /* Off and on again: as after power-up. */
	 "msr:1b=fee00100 idle l:30?5a5a5a5a msr:1b=fee00d00! " /* not at once */
	 "msr:1b=fee00900 l:f0?ff l:210?0 "
	 "msr:1b=fee00d00 msr:1b?fee00d00 msr:1b=fee00900! " /* nor back */
	 "msr:1b=fee00d00 msr:1b=fee00100 msr:802!"},
	{"x2APIC",
	 "msr:1b=fee00d00 l:30?5a5a5a5a " /* no longer in memory */
	 "x:20?0 x:30?50015 x:d0?1 x:e0! x:b0! x:310! x:3f0! msr:8ff! x:d0=1! x:d0?1 x:20=0! "
	 "x:310=0! x:f0=1ff x:f0=11ff! x:80=100! x:80=20 cr8?2 x:3f0=2f idle x:3f0=3f "
	 "x:3f0=13f! x:210?80008000 ack:3f x:b0=1! x:b0=0 idle "
	 /* ICR is one register with a wide destination. */
	 "x:300=4040 x:300?4040 ack:40 x:b0=0 x:300=ff00004041 idle x:300=ffffffff00004041 "
	 "ack:41 x:b0=0 x:300=100004842 " /* logical: cluster 0, the first */
	 "ack:42 x:b0=0 x:300=1000100004842 idle x:300=14040! "
	 /* Timer, LVT. */
	 "x:3e0=b x:3e0=4! x:320=80030! x:320=1030 x:380=19 next:1000 x:390=0! x:390?19 "
	 "time:1000 ack:30 x:280=1! x:280=0 x:280?0"},
};
/* clang-format on */

START_TEST(scripted)
{
	test_dev_play(&scripts[_i]);
}
END_TEST

/* Writes of another size or alignment are ignored; such reads return bytes of the register. */
START_TEST(odd_accesses)
{
	const struct dev_lapic_config config = {.hz = 25000000, .max_phy_addr = 39};
	uint8_t data[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct dev_lapic l;

	dev_lapic_init(&l, &config);
	dev_lapic_write(&l, 0xf0, 2, data);
	dev_lapic_write(&l, 0xf0, 8, data);
	dev_lapic_write(&l, 0xf1, 4, data);
	ck_assert_uint_eq(l.svr, 0xff);
	dev_lapic_read(&l, 0x32, 1, data);
	ck_assert_uint_eq(data[0], 5);
	dev_lapic_read(&l, 0x30, 8, data);
	ck_assert_uint_eq(data[0], 0x15);
	ck_assert_uint_eq(data[7], 0);
	dev_lapic_read(&l, 0xfff, 8, data);
	ck_assert_uint_eq(data[0] | data[7], 0);
}
END_TEST

TEST_SUITE("dev_lapic", NULL, NULL)
{
	TEST_ROWS(tcase, scripted, scripts);
	TEST_ADD(tcase, odd_accesses);
}
