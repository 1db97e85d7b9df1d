#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""vpt gdb with a trace whose run is not repeated, against the listing of vpt decode.

usage: trace.py VPT FILE ELF POSITIONS SEED
"""

import random
import re
import struct
import subprocess
import sys

import rsp

vpt, path, elf = sys.argv[1:4]
positions = int(sys.argv[4])
random.seed(int(sys.argv[5]))
done = []


def test(name, got, wanted):
    done.append(name)
    print("%s %d - %s" % ("ok" if got == wanted else "not ok", len(done), name))
    if got != wanted:
        print("# got %s, wanted %s" % (str(got)[:200], str(wanted)[:200]))


def listing(vcpu):
    """The addresses and sizes of all instructions."""
    text = subprocess.run([vpt, "decode", "-j", "-i", "--vcpu=%d" % vcpu, path],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    found = re.findall(r'"ip":"0x([0-9a-f]+)","size":([0-9]+)', text)
    return [(int(ip, 16), int(size)) for ip, size in found]


def code(ip, size):
    """The bytes at an address, as hexadecimal digits."""
    with open(elf, "rb") as file:
        data = file.read()
    start, = struct.unpack_from("<Q", data, 32)
    count, = struct.unpack_from("<H", data, 56)
    for at in range(start, start + 56 * count, 56):
        kind, _, offset, vaddr, _, length = struct.unpack_from("<IIQQQQ", data, at)
        if kind == 1 and vaddr <= ip < vaddr + length:
            return data[offset + ip - vaddr:][:size].hex()
    return "none"


def blocks(guest, annex):
    text, at = "", 0
    while True:
        part = guest.ask("qXfer:btrace:read:%s:%x,3000" % (annex, at))
        if part[0] not in "ml":
            return part
        text += part[1:]
        at += len(part) - 1
        if part[0] == "l":
            return [(int(a, 16), int(b, 16))
                    for a, b in re.findall(r'begin="0x([0-9a-f]+)" end="0x([0-9a-f]+)"', text)]


def expand(found, sizes):
    """The addresses in blocks, the newest of which is first."""
    ips = []
    for begin, end in reversed(found):
        at = begin
        ips.append(at)
        while at != end:
            at += sizes[at]
            ips.append(at)
    return ips


def check(guest, vcpu):
    insns = listing(vcpu)
    ips = [ip for ip, _ in insns]
    sizes = dict(insns)
    name = "vCPU %d: " % vcpu
    guest.ask("Hg%x" % (vcpu + 1))
    places = [random.randrange(len(ips)) for _ in range(positions)] + [0, len(ips) - 1]
    got = []
    for n in places:
        guest.go(n)
        got.append((guest.rip(), guest.position()))
    test(name + "%d positions" % len(places), got, [(ips[n], n) for n in places])

    wrong = 0
    for n in places[:20]:
        guest.go(n)
        count = min(50, n)
        back = []
        for _ in range(count):
            guest.ask("bs")
            back.append(guest.rip())
        wrong += back != ips[n - count:n][::-1]
        forth = []
        for _ in range(count):
            guest.ask("s")
            forth.append(guest.rip())
        wrong += forth != ips[n - count + 1:n + 1]
    test(name + "steps back and forth", wrong, 0)

    wrong = found = 0
    for n in places[:40]:
        ip = random.choice(ips)
        guest.ask("Z0,%x,1" % ip)
        for packet, wanted in (
                ("c", next((i for i in range(n + 1, len(ips)) if ips[i] == ip), None)),
                ("bc", next((i for i in range(n - 1, -1, -1) if ips[i] == ip), None))):
            guest.go(n)
            stop = guest.ask(packet)
            edge = len(ips) - 1 if packet == "c" else 0
            found += wanted is not None
            wrong += guest.position() != (edge if wanted is None else wanted)
            wrong += ("replaylog" in stop) != (wanted is None)
        guest.ask("z0,%x,1" % ip)
    test(name + "breakpoints in both directions", (wrong, found > 20), (0, True))

    wrong = seen = 0
    for n in places[:20]:
        guest.go(n)
        want = code(ips[n], sizes[ips[n]])
        # The guest has copied the code with which a vCPU starts.
        wrong += want not in ("none", guest.ask("m%x,%x" % (ips[n], sizes[ips[n]])))
        seen += want != "none"
    test(name + "code", (wrong, seen > 10), (0, True))

    test(name + "branches are off", blocks(guest, "all")[:2], "E.")
    test(name + "branches on", guest.ask("Qbtrace:bts"), "OK")
    wrong = 0
    for n in places[:10] + [0]:
        guest.go(n)
        wrong += expand(blocks(guest, "all"), sizes) != ips[:n + 1]
        wrong += blocks(guest, "delta") != [(0, ips[n])]
    n = places[0] // 2
    guest.go(n)
    blocks(guest, "all")
    for _ in range(30):
        guest.ask("s")
    delta = blocks(guest, "delta")
    delta[-1] = (ips[n], delta[-1][1])
    wrong += expand(delta, sizes) != ips[n:n + 31]
    test(name + "branches are the instructions", wrong, 0)
    test(name + "branches off", guest.ask("Qbtrace:off"), "OK")


guest = rsp.Guest([vpt, "gdb", path])
threads = re.findall("[0-9a-f]+", guest.ask("qfThreadInfo")[1:])
for thread in threads:
    check(guest, int(thread, 16) - 1)
refused = [guest.ask(p)[:1] for p in ("P0=0000000000000000", "M1000,1:00", "G00", "m7fffffff0000,1",
                                     "Hg99", "T99", "Z0;", "qRcmd,676f746f2078x")]
test("%d refusals" % len(refused), refused, ["E"] * len(refused))
test("no watchpoints", guest.ask("Z2,1000,8"), "")
test("goto nowhere", "number" in guest.monitor("goto x"), True)
test("goto behind the end", "behind" in guest.monitor("goto 99999999999"), True)
test("the end", guest.end(), 0)
guest.close()
print("1..%d" % len(done))
