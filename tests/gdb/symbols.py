#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes an ELF file with a kernel's symbols for gdb, from a copy of /proc/kallsyms or a System.map.

usage: symbols.py KALLSYMS FILE

The file has the kernel's addresses and no contents: gdb reads these from the guest. Boot the kernel
with nokaslr, or copy /proc/kallsyms in the guest that gdb debugs.
"""

import struct
import sys

KERNEL = 0xffffffff80000000
EXECUTABLE, PROGBITS_NONE, SYMTAB, STRTAB = 2, 8, 2, 3
ALLOC, WRITE, EXEC = 2, 1, 4


def symbols(path):
    """The symbols of the kernel itself, as (address, is code, is global, name)."""
    found = []
    with open(path) as file:
        for line in file:
            words = line.split()
            # A module's name is a fourth word.
            if len(words) == 3 and int(words[0], 16) >= KERNEL and words[1] not in "aA":
                kind = words[1]
                found.append((int(words[0], 16), kind in "tTwW", kind.isupper(), words[2]))
    return sorted(found)


def runs(found):
    """The sections: neighbours in the order of addresses that are all code, or all data."""
    sections = []
    for address, code, _, _ in found:
        if not sections or sections[-1][1] != code:
            sections.append([address, code, address])
        sections[-1][2] = address
    for this, following in zip(sections, sections[1:]):
        this[2] = following[0]
    sections[-1][2] += 4096
    return sections


def main():
    found = symbols(sys.argv[1])
    if not found:
        sys.exit("symbols: %s: no address of the kernel: is kptr_restrict 0?" % sys.argv[1])
    names, strings = {}, bytearray(b"\0")

    def string(text):
        if text not in names:
            names[text] = len(strings)
            strings.extend(text.encode() + b"\0")
        return names[text]

    sections = runs(found)
    table = []
    place = 0
    for i, (address, code, is_global, name) in enumerate(found):
        while place + 1 < len(sections) and address >= sections[place + 1][0]:
            place += 1
        following = next((at for at, *_ in found[i + 1:i + 64] if at > address), address)
        table.append((is_global, struct.pack("<IBBHQQ", string(name), is_global << 4 | (2 if code else 1), 0,
                                             place + 1, address, following - address)))
    # Local symbols come first.
    table.sort(key=lambda entry: entry[0])
    locals_ = 1 + sum(not entry[0] for entry in table)
    symtab = bytes(24) + b"".join(entry[1] for entry in table)
    headers = [bytes(64)]
    for address, code, end in sections:
        headers.append(struct.pack("<IIQQQQIIQQ", string(".text" if code else ".data"), PROGBITS_NONE,
                                   ALLOC | (EXEC if code else WRITE), address, 64, end - address, 0, 0, 16, 0))
    at = 64
    headers.append(struct.pack("<IIQQQQIIQQ", string(".symtab"), SYMTAB, 0, 0, at, len(symtab),
                               len(headers) + 1, locals_, 8, 24))
    name = string(".strtab")
    headers.append(struct.pack("<IIQQQQIIQQ", name, STRTAB, 0, 0, at + len(symtab), len(strings), 0, 0, 1, 0))
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", EXECUTABLE, 62, 1, 0, 0,
                                 at + len(symtab) + len(strings), 0, 64, 0, 0, 64, len(headers),
                                 len(headers) - 1)
    with open(sys.argv[2], "wb") as file:
        file.write(header + symtab + strings + b"".join(headers))
    print("%d symbols, %d sections" % (len(found), len(sections)))


main()
