# SPDX-License-Identifier: GPL-2.0-or-later
# Reads the output of vpt decode -i -j: blocks, edges, and ranges between taken branches, with counts,
# for comparison with exports.
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
        self.ranges = collections.Counter()  # (first, last, is it reached by a branch)
        self.range = None  # the first and the last instruction of the current one
        self.by_branch = False
        self.events = collections.Counter()
        self.blocks = []  # (first, last, end, is the block before known)
        self.first = None
        self.last = None  # (ip, end, kind) that leads to the next instruction
        self.known = False
        self.space = None  # the last CR3
        with open(path, encoding="ascii") as lines:
            for line in lines:
                self.take(json.loads(line))
        self.end_block()
        self.end_range(False)

    def end_block(self):
        if self.first is not None:
            self.blocks.append((self.first, self.now, self.now_end, self.known_first))
            self.known = True
        self.first = None

    def end_range(self, by_branch):
        if self.range:
            self.ranges[*self.range, self.by_branch] += 1
        self.range = None
        self.by_branch = by_branch

    def edge(self, to):
        ip, end, kind = self.last
        if kind == "cond":
            kind = "not taken" if to == end else "taken"
        if kind:
            self.edges[ip, to, kind] += 1
        if kind not in (None, "not taken"):
            self.end_range(kind != "event")

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
            if not self.known:
                self.end_range(False)
        self.range = (self.range[0] if self.range else ip, ip)
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
            # Another lane knows nothing of the block before.
            self.end_block()
            self.known = row["value"] == self.space
            self.space = row["value"]
        elif row["event"] in ("disabled", "async disabled", "overflow"):
            self.interrupt()

    def interrupt(self):
        self.end_block()
        self.last = None
        self.known = False
