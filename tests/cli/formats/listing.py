# SPDX-License-Identifier: GPL-2.0-or-later
# Reads the output of vpt decode -i -j: blocks, edges and their counts, for comparison with exports.
# It decides what a branch is by the text of the instruction, not by vpt's classes.
import collections
import json

KINDS = (("call", "call"), ("ret", "return"), ("jmp", "jump"), ("j", "cond"), ("loop", "cond"))
FAR = ("int", "iret", "syscall", "sysret", "sysenter", "sysexit", "vmcall", "vmlaunch", "vmresume")


def kind_of(text):
    words = [w for w in text.split() if w not in ("bnd", "notrack")]
    if not words:
        return None
    if words[0] in ("retf", "retfq") or (words[0] in ("jmp", "call") and "far" in words):
        return "far transfer"
    if words[0].startswith(FAR) and words[0] != "into":
        return "far transfer"
    for start, kind in KINDS:
        if words[0].startswith(start):
            return kind
    return None


class Listing:
    def __init__(self, path):
        self.insns = 0
        self.edges = collections.Counter()  # (from, to, kind)
        self.events = collections.Counter()
        self.blocks = []  # (first, last, end, is the block before known)
        self.first = None
        self.last = None  # (ip, end, kind) that leads to the next instruction
        self.known = False
        with open(path, encoding="ascii") as lines:
            for line in lines:
                self.take(json.loads(line))
        self.end_block()

    def end_block(self):
        if self.first is not None:
            self.blocks.append((self.first, self.now, self.now_end, self.known_first))
            self.known = True
        self.first = None

    def edge(self, to):
        ip, end, kind = self.last
        if kind == "cond":
            kind = "not taken" if to == end else "taken"
        if kind:
            self.edges[ip, to, kind] += 1

    def take(self, row):
        if "insn" in row:
            self.take_insn(int(row["ip"], 16), row["size"], row["insn"])
        elif "event" in row:
            self.take_event(row)
        else:
            self.interrupt()

    def take_insn(self, ip, size, text):
        self.insns += 1
        if self.last:
            self.edge(ip)
        if self.first is None:
            self.first = ip
            self.known_first = self.known
        self.now, self.now_end = ip, ip + size
        kind = kind_of(text)
        self.last = (ip, ip + size, kind)
        if kind:
            self.end_block()

    def take_event(self, row):
        self.events[row["event"]] += 1
        if row["event"] == "async branch":
            ip = int(row["from"], 16)
            if self.last and not row.get("ran"):
                self.edge(ip)
            self.end_block()
            self.last = (ip, 0, "event")
        elif row["event"] == "paging":
            # Another lane, which knows nothing of the block before.
            self.end_block()
            self.known = False
        elif row["event"] in ("disabled", "async disabled", "overflow"):
            self.interrupt()

    def interrupt(self):
        self.end_block()
        self.last = None
        self.known = False
