/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words for code and packets of a file of lib/synth.h. Numbers are hexadecimal. IPs are relative to
 * SYNTH_CODE, or to another base.
 *
 *   `code1a=9075fd`     Put these bytes at 1a. The rest of the page has NOPs.
 *   `base=ffff81001000` IPs are relative to this address from now on.
 *   `nops`              The whole page has NOPs again.
 *   `page`              Write the page with the bytes that it has now.
 *   `page@2000/1000`    Write the bytes as the page at 1000 of the address space 2000.
 *   `by-offset`         First word: a page is current from the packets behind it on.
 *   `read`              The code was read here: a later change was not before.
 *   `insns=4`           The instruction counter is 4 from now on.
 *   `switch=2000/4`     The file says that CR3 becomes 2000 at instruction 4.
 *   `non-root`          All PIPs have NR set.
 *   `dis-tnt`           DisTNT is set in the next session; `event-en` sets EventEn.
 *   `begin@1a`          A session starts, with PSB+, MODE.Exec and TIP.PGE.
 *   `finish@1a`         FUP, TIP.PGD without an IP, and the session ends as disabled.
 *
 * Packets by the encoder of libipt:
 *
 *   `PSB+`              A whole PSB+; `PSB+:1a` has a FUP in it.
 *   `PSB` `PSBEND`      These packets alone.
 *   `TNT:110`           Outcomes, the oldest first.
 *   `TIP:` `PGE:` `PGD:` `FUP:`   With an IP, or with - if the IP is suppressed.
 *   `TIP16:1a` `TIP32:1a`   The low bits of the IP; also with the other three.
 *   `PIP:2000`          PIP; `PIPN:2000` has NR set.
 *   `VMCS:7000` `TSC:10` `MODE` `OVF` `STOP`
 *
 * Packets by the library, since libipt cannot encode them:
 *
 *   `BBP:4` `BIP:2/1` `BEP` `CFE:1/e`  A value and, behind a slash, the ID or the vector.
 *   `BBP32:1` `BIP32:7/3`              The items have 4 bytes.
 *   `EVD:1234/1`                       A value and the type.
 *   `BEPI` `PTWI:5` `CFEI:7`           A FUP follows.
 *   `raw:7d00`                         Bytes.
 */
#ifndef TESTS_LIB_SYNTHWORDS_H
#define TESTS_LIB_SYNTHWORDS_H

#include "lib/synth.h"

/* Play one word. Returns false if it is none of these; the test fails if its number is wrong. */
bool synth_word(struct synth *s, const char *word);

#endif /* TESTS_LIB_SYNTHWORDS_H */
