#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Decode traces of different code, and print time and memory of each way.

usage: different.py VPT GUESTS TOOLS WORK [GB]

A repeated trace finds its code in the decoder's tables. These traces do not: all payloads, boots of three
kernels, and a compiler at work in a Debian. The compiler has as many programs as are needed for GB=1 GB
of traces, about. The number of decoded instructions must be that of the run. Memory is the largest resident
set of a process.

WORK is the directory for one trace at a time, which is then removed. The directory also has the list of the
works that are done, so the same command resumes an interrupted run.
"""
import hashlib
import json
import os
import subprocess
import sys

from steps import HEAD, Step, row
from works import HERE, works

VPT, GUESTS, TOOLS, WORK = sys.argv[1:5]
GB = float(sys.argv[5]) if len(sys.argv) > 5 else 1.0
TRACE, CONSOLE, PAGE = f"{WORK}/trace.vpt", f"{WORK}/console", f"{WORK}/page.html"
VERBS = {"counts": ["decode", "--json"], "calls": ["decode", "--calls"], "report": ["report", "-q", "-o", PAGE]}
WAYS = [(verb, threads) for verb in VERBS for threads in (1, 2)]


def record(work, room):
    """Record a trace. Returns the number of instructions."""
    linux = ["--no-reboot", f"--console={CONSOLE}"] if work.text else []
    args = work.args(room)
    # Some payloads end with a status of their own.
    child = subprocess.run([VPT, "run", "--engine=soft", "--pt=host", "--timeout=7200", "--max-bytes=8G", "-o", TRACE,
                            *linux, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
    said = child.stderr.decode(errors="replace")
    if " instructions" not in said:
        sys.exit(f"different.py: {args[-1]}: {said}")
    if work.text:
        with open(CONSOLE, errors="replace") as console:
            if work.text not in console.read():
                sys.exit(f"different.py: {CONSOLE}: the guest did not print \"{work.text}\"")
    return int(said.split("vpt run: ")[1].split(" instructions")[0])


def measure(work, room):
    """Record and decode. Returns the size of the trace, the instructions, and the costs of each way."""
    ran = record(work, room)
    size, costs = os.stat(TRACE).st_size, []
    for verb, threads in WAYS:
        step = Step(VPT, *VERBS[verb], f"--jobs={threads}", TRACE, drop=verb != "counts")
        costs.append([step.used, step.clock, step.memory])
        if verb == "counts":
            found = json.loads(step.text.splitlines()[0])["insns"]
            # An INT n that raised an exception looks as if it had run (docs/limits.md).
            if not ran <= found <= ran + ran // 1000 + 100:
                sys.exit(f"different.py: {work.name}: {found} instructions decoded, and {ran} ran")
    return size, ran, costs


def clean():
    for path in (TRACE, f"{TRACE}.part", PAGE, f"{WORK}/initrd"):
        if os.path.exists(path):
            os.remove(path)


class Ledger:
    """The works that are done, by name. The file is that of the measured program and of the guest's work."""

    def __init__(self):
        key = hashlib.sha256(str(GB).encode())
        for path in (VPT, f"{HERE}/linux/compile"):
            with open(path, "rb") as file:
                key.update(file.read())
        self.path, self.done = f"{WORK}/{key.hexdigest()[:16]}.ledger", {}
        if os.path.exists(self.path):
            with open(self.path) as lines:
                self.done = dict(json.loads(line) for line in lines)

    def add(self, place, result):
        self.done[place] = result
        with open(self.path, "a") as file:
            print(json.dumps([place, result]), file=file)


def show(sums):
    print(HEAD)
    for name, (size, insns, costs) in sums.items():
        print(f"{name}: {size / 1e6:.0f} MB, {insns / 1e9:.2f}e9 instructions")
        for (verb, threads), cost in zip(WAYS, costs):
            row(f"  {verb}, {threads} thread" + "s" * (threads > 1), size, *cost)


def main():
    os.makedirs(WORK, exist_ok=True)
    ledger, sums = Ledger(), {}
    for i, work in enumerate(works(GUESTS, TOOLS, WORK)):
        place = f"{work.name} {i}"
        if place not in ledger.done:
            print(f"different.py: {work.name}: {i}", file=sys.stderr, flush=True)
            try:
                ledger.add(place, measure(work, GB * 1e9 - (sums["all"][0] if sums else 0)))
            finally:
                clean()
        size, insns, costs = ledger.done[place]
        for kind in (work.name, "all"):
            total = sums.setdefault(kind, [0, 0, [[0, 0, 0] for _ in WAYS]])
            total[0] += size
            total[1] += insns
            for cost, to in zip(costs, total[2]):
                to[:] = [to[0] + cost[0], to[1] + cost[1], max(to[2], cost[2])]
    sums["all"] = sums.pop("all")
    show(sums)


main()
