# SPDX-License-Identifier: GPL-2.0-or-later
"""
Writes perf.data files for tests of vpt import, as perf's own documents have the format
(tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h).
The time of an event is the TSC: mult is 1, shift and zero are 0.
"""
import struct

SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16  # IP TID TIME CPU IDENTIFIER
SAMPLE_TIME = 1 << 2
# READ up to TRANSACTION and REGS_INTR, PHYS_ADDR, AUX, CGROUP, page sizes; ADDR, ID, PERIOD ...
SAMPLE_MORE = (1 << 24) - 1 & ~(1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 16)
PT_TYPE = 8
CONFIG = 1 << 13 | 1 << 10 | 1  # BranchEn, TSCEn, pt
EXCLUDE_USER, EXCLUDE_KERNEL, SAMPLE_ID_ALL = 1 << 4, 1 << 5, 1 << 18


def pack(form, *values):
    return struct.pack("<" + form, *values)


def padded(data, to=8):
    return data + bytes(-len(data) % to)


class Recording:
    """The records of one recording, and the headers around them."""

    def __init__(self, timed=True, kernel=False, snapshot=False):
        self.records = []
        self.sample_type = SAMPLE_TYPE if timed else SAMPLE_TYPE & ~SAMPLE_TIME
        self.flags = SAMPLE_ID_ALL | (0 if kernel else EXCLUDE_KERNEL)
        self.features = {}
        priv = [PT_TYPE, 0, 1, 0, 1, 0x400, 0x800, 3, int(snapshot), 1,
                0x200, 0x3C000, 0, 0, 2, 34, 0]
        self.add(70, 0, pack("II", 1, 0) + pack("%dQ" % len(priv), *priv))

    def add(self, kind, misc, body, behind=b""):
        self.records.append(pack("IHH", kind, misc, 8 + len(body)) + body + behind)

    def sampled(self, kind, misc, body, pid, tid=None, time=0, cpu=0):
        tail = pack("II", pid, pid if tid is None else tid)
        if self.sample_type & SAMPLE_TIME:
            tail += pack("Q", time)
        tail += bytes(8 * (bool(self.sample_type & 1 << 6) + bool(self.sample_type & 1 << 9)))
        self.add(kind, misc, body + tail + pack("IIQ", cpu, 0, 1))

    def mmap2(self, pid, addr, size, offset, name, time=0, build_id=None, misc=2):
        if build_id:
            misc |= 1 << 14
            inode = pack("B3x", len(build_id)) + build_id.ljust(20, b"\0")
        else:
            inode = bytes(24)
        body = pack("IIQQQ", pid, pid, addr, size, offset) + inode + pack("II", 5, 2)
        self.sampled(10, misc, body + padded(name.encode() + b"\0"), pid, time=time)

    def kernel_map(self, addr, size, name="[kernel.kallsyms]_text"):
        body = pack("iIQQQ", -1, 0, addr, size, addr)
        self.sampled(1, 1, body + padded(name.encode() + b"\0"), 0)

    def comm(self, pid, name, time=0, executed=False, cpu=0):
        body = pack("II", pid, pid) + padded(name.encode() + b"\0")
        self.sampled(3, 1 << 13 if executed else 0, body, pid, time=time, cpu=cpu)

    def fork(self, pid, parent, time, tid=None):
        body = pack("IIIIQ", pid, parent, tid or pid, parent, time)
        self.sampled(7, 0, body, parent, time=time)

    def start(self, pid, time=0, cpu=0):
        self.sampled(12, 0, pack("II", pid, pid), pid, time=time, cpu=cpu)

    def switch(self, old, new, time, cpu=0):
        self.sampled(15, 1 << 13, pack("II", new, new), old, time=time, cpu=cpu)
        self.sampled(15, 0, pack("II", old, old), new, time=time + 1, cpu=cpu)

    def aux(self, offset, size, flags, pid, time=0, cpu=0):
        self.sampled(11, 0, pack("QQQ", offset, size, flags), pid, time=time, cpu=cpu)

    def poke(self, addr, old, new, time, cpu=0):
        body = pack("QHH", addr, len(old), len(new)) + old + new
        self.sampled(20, 0, padded(body), 0, time=time, cpu=cpu)

    def bpf(self, program, time):
        """A program is loaded: a symbol for each function, and the program."""
        for addr, code in program["functions"]:
            name = padded(b"bpf_prog_x\0")
            self.sampled(17, 0, pack("QIHH", addr, len(code), 1, 0) + name, 0, time=time)
        self.sampled(18, 0, pack("HHI", 1, 0, program["id"]) + bytes(8), 0, time=time)

    def bpf_feature(self, programs, readable=True):
        """Feature BPF_PROG_INFO: struct perf_bpil of each program, with offsets as addresses."""
        body = pack("I", len(programs))
        for program in programs:
            functions = program["functions"] if readable else []
            code = padded(b"".join(code for _, code in functions))
            addresses = b"".join(pack("Q", addr) for addr, _ in functions)
            lengths = padded(b"".join(pack("I", len(code)) for _, code in functions))
            info = pack("II8sIIQQQ", 5, program["id"], bytes(8), sum(len(c) for _, c in functions),
                        0, 0, 0, 0)
            info += pack("IIQ16sIIQQ", 0, 0, 0, b"x", 0, 0, 0, 0)
            info += pack("IIQQ", len(functions), len(functions), len(code),
                         len(code) + len(addresses))
            data = code + addresses + lengths
            body += pack("IIQ", len(info) + 8, len(data), 0x15) + info + bytes(8) + data
        self.features[25] = body

    def trace(self, data, cpu=0, tid=0xFFFFFFFF, offset=0, idx=None):
        data = padded(data)
        idx = (cpu if cpu != 0xFFFFFFFF else 0) if idx is None else idx
        self.add(71, 0, pack("QQQIIII", len(data), offset, 0, idx, tid, cpu, 0), data)

    def sample(self, pid, time, data, cpu=0):
        """A sample of all kinds of fields, with packets at its end."""
        self.sample_type = SAMPLE_TYPE | SAMPLE_MORE
        body = pack("QQIIQ", 1, 0x401000, pid, pid, time) + pack("Q", 5)  # ID IP TID TIME ADDR
        body += pack("QQIIQ", 1, 2, cpu, 0, 1)  # ID STREAM_ID CPU PERIOD
        body += pack("QQ", 7, 1)  # READ: value, id
        body += pack("QQQ", 2, 0x1000, 0x2000)  # CALLCHAIN
        body += pack("I", 12) + bytes(12)  # RAW
        body += pack("QQ", 1, 0) + bytes(24)  # BRANCH_STACK with an index
        body += pack("QQQ", 2, 8, 9)  # REGS_USER
        body += pack("Q", 16) + bytes(16) + pack("Q", 8)  # STACK_USER
        body += bytes(8 * 3) + pack("Q", 0)  # WEIGHT DATA_SRC TRANSACTION, no REGS_INTR
        body += bytes(8 * 4)  # PHYS_ADDR CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE
        self.add(9, 2, body + pack("Q", len(padded(data))) + padded(data))

    def attr(self):
        start = pack("IIQQQQQ", PT_TYPE, 128, CONFIG, 1, self.sample_type, 4, self.flags)
        start += bytes(24) + pack("QQIIQ", 1 << 17, 0x81, 16, 0, 0xFF)
        return start.ljust(128, b"\0")

    def build_id(self, name, build_id):
        body = pack("i", -1) + build_id.ljust(20, b"\0") + pack("B3x", len(build_id))
        body += padded(name.encode() + b"\0", 64)
        self.features[2] = self.features.get(2, b"") + pack("IHH", 67, 0x8002, 8 + len(body)) + body

    def data(self):
        return b"".join(self.records)

    def file(self, data=None, complete=True):
        data = self.data() if data is None else data
        attrs, ids = 112, 104
        at = attrs + 144
        end = at + len(data)
        bits = [0, 0, 0, 0]
        for number in self.features:
            bits[number // 64] |= 1 << number % 64
        head = pack("QQQ", 0x32454C4946524550, 104, 144) + pack("QQ", attrs, 144)
        head += pack("QQ", at, len(data) if complete else 0) + pack("QQ", 0, 0)
        head += pack("4Q", *bits) + pack("Q", 1)
        head += self.attr() + pack("QQ", ids, 8)
        place, table, content = end + 16 * len(self.features), b"", b""
        for number in sorted(self.features):
            body = self.features[number]
            table += pack("QQ", place + len(content), len(body))
            content += body
        return head + data + table + content

    def pipe(self):
        head = pack("QQ", 0x32454C4946524550, 16)
        attr = self.attr() + pack("Q", 1)
        return head + pack("IHH", 64, 0, 8 + len(attr)) + attr + self.data()


def zstd_begin():
    """A zstd frame of a window of 64 KiB, without a size or a checksum (RFC 8878)."""
    return pack("I", 0xFD2FB528) + bytes([0, 6 << 3])


def zstd_block(data):
    """A block that is not compressed, and not the last one."""
    return pack("I", len(data) << 3)[:3] + data


# Packets.
PSB, PSBEND, PGD = b"\x02\x82" * 8, b"\x02\x23", b"\x01"


def tsc(value):
    return b"\x19" + pack("Q", value)[:7]


def pip(cr3, guest=False):
    return b"\x02\x43" + pack("Q", cr3 >> 5 << 1 | guest)[:6]


def ip(header, address):
    return bytes([6 << 5 | header]) + pack("Q", address)


def pge(address):
    return ip(0x11, address)


def tip(address):
    return ip(0x0D, address)


def fup(address):
    return ip(0x1D, address)


def tnt(outcomes):
    """Up to 6 outcomes, such as "TTN"."""
    return bytes([int("1" + outcomes.replace("T", "1").replace("N", "0"), 2) << 1])


def psb(time, cr3=None, address=None, guest=False, mode=1):
    inside = tsc(time) + b"\x02\x03\x22\x00" + (pip(cr3, guest) if cr3 else b"")
    inside += bytes([0x99, mode])
    return PSB + inside + (fup(address) if address else b"") + PSBEND


def elf(build_id, content, offset=4096, core=None, symbol=None):
    """
    An ELF file with a build-id, and content at an offset, which is loaded at @core if that is
    given; and a function at the begin of it if that has a name.
    """
    note = pack("III", 4, len(build_id), 3) + b"GNU\0" + build_id
    headers = pack("IIQQQQQQ", 4, 4, 64 + 56 * 2, 0, 0, len(note), len(note), 4)
    headers += pack("IIQQQQQQ", 1, 5, offset, core or 0, 0, len(content), len(content), 4096)
    tail, sections = b"", 0
    if symbol:
        names = b"\0" + symbol.encode() + b"\0"
        tail = names.ljust(64, b"\0") + bytes(24)
        tail += pack("IBBHQQ", 1, 2, 0, 1, core or 0, 8)
        at = offset + len(content)
        table = bytes(64)
        table += pack("IIQQQQIIQQ", 0, 1, 6, core or 0, offset, len(content), 0, 0, 16, 0)
        table += pack("IIQQQQIIQQ", 0, 2, 0, 0, at + 64, 48, 3, 1, 8, 24)
        table += pack("IIQQQQIIQQ", 0, 3, 0, 0, at, 64, 0, 0, 1, 0)
        sections = at + len(tail)
        tail += table
    head = b"\x7fELF\x02\x01\x01" + bytes(9)
    head += pack("HHIQQQIHHHHHH", 4 if core else 3, 62, 1, 0, 64, sections, 0, 64, 56, 2, 64,
                 4 if symbol else 0, 3 if symbol else 0)
    return (head + headers + note).ljust(offset, b"\0") + content + tail
