# SPDX-License-Identifier: GPL-2.0-or-later
"""
usage: make.py DIR

Writes to DIR perf.data files, the files that they name (under DIR/root), and, as NAME.ips, the
addresses of the instructions that each of them must decode to.
"""
import json
import os
import struct
import sys

from perf_data import (PGD, Recording, elf, pge, pip, psb, tip, tnt, tsc, zstd_begin,
                       zstd_block)

# Two programs at one address: a loop, then a system call, then the loop again.
BASE = 0x401000
ONE = bytes.fromhex("ffc0" "75fc" "0f05" "ebf8")  # inc eax; jne; syscall; jmp
TWO = bytes.fromhex("90" "75fd" "0f05" "ebf9")  # nop; jne; syscall; jmp
THREE = bytes.fromhex("6690" "90" "75fb" "0f05" "ebf7")  # nop; nop; jne; syscall; jmp
KERNEL = 0xFFFFFFFF81000000
BPF = 0xFFFFFFFFC0001FFD  # the first function goes on in another page
POKED = bytes.fromhex("9090")  # in place of inc eax
ID = {"one": b"\x01" * 20, "two": b"\x02" * 20, "three": b"\x03" * 8}
LOOP = {ONE: [0, 2], TWO: [0, 1], THREE: [0, 2, 3]}
CALL = {ONE: 4, TWO: 3, THREE: 5}


def turns(code, outcomes):
    """Offsets that run from the start, up to and with the system call."""
    return LOOP[code] * len(outcomes) + [CALL[code]]


def visit(outcomes):
    """From the start of a program up to its system call, where only user space is traced."""
    return pge(BASE) + tnt(outcomes) + PGD


class Case:
    def __init__(self, where, name, **how):
        self.where, self.name, self.ips = where, name, []
        self.r = Recording(**how)

    def ran(self, code, outcomes, base=BASE):
        self.ips += [base + at for at in turns(code, outcomes)]

    def maps(self, pid, name, time=0, **how):
        self.r.comm(pid, name, time=time)
        self.r.mmap2(pid, BASE, 4096, 4096, "/bin/" + name, time=time, **how)

    def write(self, data=None, suffix=".data"):
        with open(os.path.join(self.where, self.name + suffix), "wb") as f:
            f.write(self.r.file() if data is None else data)
        with open(os.path.join(self.where, self.name + ".ips"), "w") as f:
            f.writelines("%x\n" % ip for ip in self.ips)


def two(case):
    """Two processes on one CPU, three times in turn; one of them maps another file in the end."""
    r = case.r
    case.maps(1, "one")
    case.maps(2, "two", build_id=ID["two"])
    r.build_id("/bin/one", ID["one"])
    r.start(1, time=90)
    trace = psb(100) + visit("TTN")
    case.ran(ONE, "TTN")
    r.switch(1, 2, 200)
    trace += tsc(300) + visit("TN")
    case.ran(TWO, "TN")
    r.switch(2, 1, 400)
    trace += tsc(500) + visit("N") + tsc(600) + visit("TN")
    case.ran(ONE, "N")
    case.ran(ONE, "TN")
    r.mmap2(1, BASE, 4096, 4096, "/bin/three", time=650, build_id=ID["three"])
    trace += tsc(700) + visit("TTN")
    case.ran(THREE, "TTN")
    r.switch(1, 2, 800)
    trace += tsc(900) + visit("TTTN")
    case.ran(TWO, "TTTN")
    r.trace(trace)


def life(case):
    """A fork, which has the code of its parent, then an exec, then a thread."""
    r = case.r
    case.maps(1, "one")
    r.start(1, time=90)
    trace = psb(100) + visit("TN")
    case.ran(ONE, "TN")
    r.fork(7, 1, 150)
    r.switch(1, 7, 200)
    trace += tsc(300) + visit("TTN")
    case.ran(ONE, "TTN")
    r.comm(7, "two", time=350, executed=True)
    r.mmap2(7, BASE, 4096, 4096, "/bin/two", time=360)
    trace += tsc(400) + visit("TN")
    case.ran(TWO, "TN")
    r.fork(7, 7, 450, tid=8)
    r.switch(7, 1, 500)
    trace += tsc(600) + visit("N")
    case.ran(ONE, "N")
    r.sampled(15, 1 << 13, b"\x07\0\0\0\x08\0\0\0", 1, time=700)
    trace += tsc(800) + visit("TTTN")
    case.ran(TWO, "TTTN")
    r.trace(trace)


def thread(case):
    """One thread, without times."""
    case.maps(5, "one")
    case.r.start(5)
    case.ran(ONE, "TTTTN")
    case.r.trace(psb(100) + visit("TTTTN"), cpu=0xFFFFFFFF, tid=5)


def lost(case):
    """Trace is lost in the middle of a packet; records that nobody knows."""
    r = case.r
    case.maps(1, "one")
    r.start(1, time=90)
    first = psb(100) + visit("TTN") + tsc(150)[:4]
    r.aux(0, len(first), 1, 1, time=160)
    r.add(99, 0, bytes(24))
    r.add(200, 0, b"")
    r.add(10, 2, bytes(8))
    r.sampled(2, 0, bytes(8) + b"\x05" + bytes(7), 1, time=170)
    case.ran(ONE, "TTN")
    case.ran(ONE, "TN")
    r.trace(first + psb(200) + visit("TN"))


def pieces(case):
    """Three pieces: one ends in a packet and is padded, and before the last one some are missing."""
    r = case.r
    case.maps(1, "one")
    r.start(1, time=90)
    whole = psb(100) + visit("TTN") + tsc(200) + visit("TN")
    case.ran(ONE, "TTN")
    case.ran(ONE, "TN")
    cut = len(psb(100)) + 5
    r.trace(whole[:cut])
    r.trace(whole[cut:], offset=cut)
    case.ran(ONE, "TTTN")
    r.trace(psb(900) + visit("TTTN"), offset=4096)


def snapshots(case):
    """Two snapshots, of which the second begins with the end of the first, and one apart."""
    r = case.r
    case.maps(1, "one")
    r.start(1, time=90)
    parts = [psb(100 * i) + visit("T" * i + "N") for i in range(1, 6)]
    for i in (1, 2, 3, 5):
        case.ran(ONE, "T" * i + "N")
    first = parts[0] + parts[1]
    # A ring has a size that needs no padding.
    r.trace(bytes(-len(first) % 8) + first)
    r.trace(parts[1] + parts[2])
    r.trace(parts[4])


def samples(case):
    """Packets in samples, of which the second begins with the end of the first."""
    r = case.r
    # The layout of all events is that of samples.
    r.sample(1, 100, b"")
    r.records.pop()
    case.maps(1, "one")
    case.maps(2, "two")
    r.start(1, time=90)
    first, second = psb(100) + visit("TTN"), psb(200) + visit("TN")
    r.sample(1, 110, bytes(-len(first) % 8) + first)
    r.switch(1, 2, 190)
    r.sample(2, 210, first + second)
    r.sample(2, 310, psb(300) + visit("N"))
    case.ran(ONE, "TTN")
    case.ran(TWO, "TN")
    case.ran(TWO, "N")


def kernel(case):
    """Two processes and the kernel, by PIPs; the kernel's code is poked."""
    r = case.r
    case.maps(1, "one")
    case.maps(2, "two")
    r.kernel_map(KERNEL, 4096)
    r.start(1, time=90)
    one, other = 0x1000, 0x2000
    trace = psb(100, one, BASE) + tnt("TN") + tip(KERNEL) + tnt("TN") + tip(BASE)
    case.ran(ONE, "TN")
    case.ran(ONE, "TN", KERNEL)
    trace += tnt("N") + tip(KERNEL)
    case.ran(ONE, "N")
    r.switch(1, 2, 200)
    trace += tsc(210) + pip(other) + tnt("N") + tip(BASE)
    case.ran(ONE, "N", KERNEL)
    trace += tsc(220) + tnt("TTN")
    case.ran(TWO, "TTN")
    r.poke(KERNEL, ONE[:2], POKED, 300)
    trace += tsc(310) + tip(KERNEL) + tnt("N") + tip(BASE) + tnt("N") + tip(KERNEL) + PGD
    case.ips += [KERNEL, KERNEL + 1, KERNEL + 2, KERNEL + 4]
    case.ran(TWO, "N")
    case.ips += [KERNEL, KERNEL + 1, KERNEL + 2]
    r.trace(trace)


def bpf(case):
    """A BPF program of two functions, and later another one at its address."""
    r = case.r
    first = {"id": 7, "functions": [(BPF, TWO), (BPF + 0x40, ONE)]}
    second = {"id": 8, "functions": [(BPF, THREE)]}
    r.bpf(first, 0)
    case.maps(1, "one")
    r.start(1, time=90)
    trace = psb(100, 0x1000, BASE) + tnt("N") + tip(BPF) + tnt("TN") + tip(BPF + 0x40) + tnt("N")
    case.ran(ONE, "N")
    case.ran(TWO, "TN", BPF)
    case.ran(ONE, "N", BPF + 0x40)
    r.bpf(second, 300)
    trace += tsc(310) + tip(BPF) + tnt("TN") + tip(BASE) + tnt("N") + PGD
    case.ran(THREE, "TN", BPF)
    case.ran(ONE, "N")
    r.trace(trace)
    r.bpf_feature([first, second])


def bpf_hidden(case):
    """The same where the kernel did not tell who recorded what its programs are."""
    bpf(case)
    case.ips = []
    case.r.bpf_feature([{"id": 7, "functions": [(BPF, TWO)]}], readable=False)


def vdso(case):
    """The vDSO of this kernel, by its release: code that the test does not know."""
    r = case.r
    r.comm(1, "one")
    r.mmap2(1, BASE, 8192, 0, "[vdso]")
    r.start(1, time=90)
    release = os.uname().release.encode() + b"\0"
    r.features[4] = len(release).to_bytes(4, "little") + release
    r.trace(psb(100) + pge(BASE + 4096) + PGD)


def reused(case):
    """The kernel is traced, and a process has the CR3 of one that ended, at another place too."""
    r = case.r
    case.maps(1, "one")
    case.maps(2, "two")
    r.kernel_map(KERNEL, 4096)
    r.start(1, time=90)
    trace = psb(100, 0x1000, BASE)
    for turn in range(8):
        code = TWO if turn % 2 else ONE
        trace += tsc(200 * turn + 110)
        for _ in range(3):
            trace += tnt("TN") + tip(KERNEL) + tnt("N") + tip(BASE)
            case.ran(code, "TN")
            case.ran(ONE, "N", KERNEL)
        trace += tnt("N") + tip(KERNEL)
        case.ran(code, "N")
        r.switch(turn % 2 + 1, 2 - turn % 2, 200 * turn + 250)
        trace += tsc(200 * turn + 280) + pip(0x1000) + tnt("N") + tip(BASE)
        case.ran(ONE, "N", KERNEL)
    trace += tnt("N") + tip(KERNEL) + PGD
    case.ran(ONE, "N")
    case.ips += [KERNEL, KERNEL + 2]
    r.trace(trace)


def many(case):
    """A directory with a file for each CPU."""
    r = case.r
    case.maps(1, "one")
    case.maps(2, "two")
    files = []
    for cpu, code in ((0, ONE), (1, TWO)):
        part = Recording()
        part.records = []
        part.start(cpu + 1, time=90, cpu=cpu)
        part.trace(psb(100) + visit("TTN"), cpu=cpu)
        case.ran(code, "TTN")
        files.append(part.data())
    where = os.path.join(case.where, case.name + ".dir")
    os.mkdir(where)
    for name, data in (("data", r.file()), ("data.0", files[0]), ("data.1", files[1])):
        with open(os.path.join(where, name), "wb") as f:
            f.write(data)


def pack_records(case, kind):
    """Put all records but those of AUXTRACE into compressed ones, cut at places of no meaning."""
    r, plain, packed = case.r, [], b""
    for record in r.records:
        if record[0] in (70, 71):
            plain.append(record)
        else:
            packed += record
    info, trace = plain[0], plain[1:]
    r.records = [info]
    begin = zstd_begin()
    for at in range(0, len(packed), 100):
        body = begin + zstd_block(packed[at:at + 100])
        begin = b""
        if kind == 83:
            body = len(body).to_bytes(8, "little") + body
            body += bytes(-len(body) % 8)
        r.add(kind, 0, body)
    r.records += trace


def raw(where):
    """Packets alone: without PIPs, of two address spaces, of a guest, and of 32-bit code."""
    one = Case(where, "raw")
    one.ran(ONE, "TTN")
    one.write(psb(100) + visit("TTN"), ".pt")
    both = Case(where, "raw_two")
    both.ran(ONE, "TN")
    both.ran(TWO, "TTN")
    both.write(psb(100, 0x1000) + visit("TN") + psb(200, 0x2000) + visit("TTN"), ".pt")
    guest = Case(where, "raw_guest")
    guest.ran(ONE, "TN")
    guest.ran(ONE, "TTN")
    guest.write(psb(100, 0x3000, guest=True) + visit("TN") +
                psb(200, 0x4000, guest=True) + visit("TTN"), ".pt")
    narrow = Case(where, "raw_32")
    narrow.ips = [BASE, BASE + 1, BASE + 2]  # inc eax; dec eax; ret
    narrow.write(psb(100, mode=2) + pge(BASE) + PGD, ".pt")
    files = {"one": ONE, "two": TWO, "three": bytes.fromhex("40" "48" "c3")}
    for name, code in files.items():
        with open(os.path.join(where, name + ".bin"), "wb") as f:
            f.write(code)
    with open(os.path.join(where, "page_cache.dump"), "wb") as f:
        f.write(bytes(4096) + ONE.ljust(4096, b"\xcc"))
    with open(os.path.join(where, "page_cache.addr"), "wb") as f:
        f.write((BASE - 4096).to_bytes(8, "little") + BASE.to_bytes(8, "little"))


def lldb(where):
    """Bundles of LLDB: packets of two threads; and packets of a CPU with its switches."""
    def bundle(name, parts, files):
        folder = os.path.join(where, name)
        os.mkdir(folder)
        modules = {1: "one", 2: "two"}
        text = {"type": "intel-pt",
                "cpuInfo": {"vendor": "GenuineIntel", "family": 6, "model": 85, "stepping": 7},
                "tscPerfZeroConversion": {"timeMult": 1, "timeShift": 0, "timeZero": "0"}}
        text.update(parts)
        for process in text["processes"]:
            program = modules[process["pid"]]
            process["modules"] = [{"systemPath": "/bin/" + program, "uuid": "x\\u0041\"",
                                   "file": "../root/bin/" + program, "loadAddress": hex(BASE)}]
        with open(os.path.join(folder, "trace.json"), "w") as f:
            json.dump(text, f, indent=1)
        for path, data in files.items():
            with open(os.path.join(folder, path), "wb") as f:
                f.write(data)

    case = Case(where, "threads.lldb")
    case.ran(ONE, "TN")
    case.ran(TWO, "TTN")
    case.write(b"", ".unused")
    bundle("threads.lldb",
           {"processes": [{"pid": 1, "threads": [{"tid": 10, "iptTrace": "10.pt"}]},
                          {"pid": 2, "triple": None, "threads": [{"tid": 20, "iptTrace": "20.pt"}]}]},
           {"10.pt": psb(100) + visit("TN"), "20.pt": psb(100) + visit("TTN")})
    case = Case(where, "cpus.lldb")
    case.ran(ONE, "TN")
    case.ran(TWO, "TTN")
    case.write(b"", ".unused")
    switches = struct.pack("<IHHIIIIQ", 15, 0, 32, 9, 9, 1, 10, 50)
    switches += struct.pack("<IHHIIIIQ", 15, 1 << 13, 32, 2, 20, 1, 10, 150)
    bundle("cpus.lldb",
           {"processes": [{"pid": 1, "threads": [{"tid": 10}]}, {"pid": 2, "threads": [{"tid": 20}]}],
            "cpus": [{"id": 0, "iptTrace": "0.pt", "contextSwitchTrace": "0.switches"}]},
           {"0.pt": psb(100) + visit("TN") + tsc(200) + visit("TTN"), "0.switches": switches})


def main(where):
    root = os.path.join(where, "root", "bin")
    os.makedirs(root)
    for name, code in (("one", ONE), ("two", TWO), ("three", THREE)):
        with open(os.path.join(root, name), "wb") as f:
            f.write(elf(ID[name], code.ljust(4096, b"\xcc"), symbol=name + "_loop"))
    with open(os.path.join(where, "kcore"), "wb") as f:
        f.write(elf(b"\x09" * 20, ONE.ljust(4096, b"\xcc"), core=KERNEL))
    cases = ((two, {}), (life, {}), (thread, {"timed": False}), (lost, {}), (pieces, {}),
             (bpf, {"kernel": True}), (bpf_hidden, {"kernel": True}),
             (vdso, {}), (snapshots, {"snapshot": True}), (samples, {}), (kernel, {"kernel": True}),
             (reused, {"kernel": True}), (many, {}))
    for make, how in cases:
        case = Case(where, make.__name__, **how)
        make(case)
        case.write()
    case = Case(where, "pipe")
    two(case)
    case.write(case.r.pipe())
    raw(where)
    lldb(where)
    for name, kind in (("packed", 81), ("packed2", 83)):
        case = Case(where, name)
        two(case)
        pack_records(case, kind)
        case.write()
    case = Case(where, "none")
    case.r.trace(psb(100))
    case.write()
    case = Case(where, "killed")
    two(case)
    case.write(case.r.file(complete=False))
    for name, build_id in (("wrong", b"\x77" * 20), ("absent", ID["one"])):
        case = Case(where, name)
        two(case)
        case.r.features = {}
        case.r.build_id("/bin/one", build_id)
        case.write()


main(sys.argv[1])
