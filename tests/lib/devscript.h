/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tests of the devices as scripts: the accesses of a driver, the values that the driver must read,
 * and the interrupts that must come. Words are separated by blanks. Numbers are hexadecimal, except
 * times, lines, pins and counts. `=` writes, and `?` reads and compares:
 *
 *   `20=11` `20?11`        A port. `data`, `ier`, `iir`, `fcr`, `lcr`, `mcr`, `lsr` and `modem` are
 *                          the ports of COM1. A value may be a character: `data='a`.
 *   `@fee00030?50015`      32 bits of memory; `l:30?50015` is that register of the local APIC.
 *   `msr:1b=fee00900`      An MSR; `x:80=20` is that register of the x2APIC.
 *   `msr:1b=901!` `x:e0!`  A write and a read that must raise #GP.
 *   `reg:0=f000000`        A register of the I/O APIC. `pin11=51` is the low half of the entry of
 *                          pin 11, and `pin-high11` the high half.
 *   `cmos:b=6`             A register of the RTC.
 *   `count0=1193`          The count of a channel of the 8254, the low byte first.
 *   `isr1?20` `irr2?10`    The registers of the two 8259s, by OCW3; `eoi1` and `eoi2` end an
 *                          interrupt.
 *   `cr8=3`
 *
 *   `on` `eoi` `self:41`   Writes to the local APIC: SVR, EOI, and an IPI to itself.
 *   `rise3` `fall3` `pulse3`   ISA line 3.
 *   `pmi`                  Raise a PMI.
 *   `type:x`               A byte arrives at COM1.
 *   `time:1000`            The time becomes 1000 ns. Terms have units: `time:60s+250ms-1`, `t` for
 *                          ticks of the 8254, `c` for ticks of the RTC's crystal.
 *
 *   `next:41000` `never`   The time of the next event.
 *   `ack:4f` `idle`        The vector is pending, and is taken; no vector is pending.
 *   `nmi` `no-nmi`         An NMI is pending, and is taken.
 *   `cpu:1`                The processor that the following words concern, 0 to 2.
 *   `init` `startup:9f`    An INIT or a start-up IPI is pending, and is taken. `no-init`,
 *                          `no-startup`.
 *   `prints:a` `silent`    The byte that left COM1 since the last such word.
 *   `resets:0/1`           The number of resets of the system, and of INITs.
 *   `off:1`                How often the machine was powered off.
 */
#ifndef TESTS_LIB_DEVSCRIPT_H
#define TESTS_LIB_DEVSCRIPT_H

#include "dev/platform.h"

struct test_dev_script {
	const char *name, *words;
};

/*
 * Play the script on a machine of 64 MiB at 2025-01-01 00:00:00, with an APIC timer of 25 MHz and a
 * TSC of 2 GHz. The test fails at an unknown word.
 */
void test_dev_play(const struct test_dev_script *script);

#endif /* TESTS_LIB_DEVSCRIPT_H */
