#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Record a trace of some GB, decode it in shards, and print time and memory of each step.

usage: large.py VPT GUESTS [GB]

The trace is of a payload that repeats itself, so its code is warm and its size is free to choose. The
merged number of instructions must be that of the run. Memory is the largest resident set of a process.
"""
import json
import os
import sys
import tempfile

from steps import HEAD, Step, row

VPT, GUESTS = sys.argv[1:3]
GB = float(sys.argv[3]) if len(sys.argv) > 3 else 10.0
SHARD = 256 << 20
BYTES_OF_A_ROUND = 29100  # of quicksort


def of(name, size, step):
    row(name, size, step.used, step.clock, step.memory)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "build")) as work:
        trace, plan = f"{work}/large.vpt", f"{work}/plan"
        rounds = str(int(GB * 1e9 / BYTES_OF_A_ROUND))
        print(HEAD)
        step = Step(VPT, "run", "--engine=soft", "--pt=host", f"--arg={rounds}", "--max-bytes=64G",
                    "-o", trace, f"{GUESTS}/quicksort.elf")
        insns = step.insns()
        size = os.stat(trace).st_size
        of(f"run, {size / 1e9:.2f} GB", size, step)
        of("plan", size, Step(VPT, "shard", "plan", "-q", f"--bytes={SHARD}", "-o", plan, trace))
        with open(plan) as lines:
            shards = len(lines.readlines()) - 1
        steps = [Step(VPT, "shard", "run", "-q", plan, str(i)) for i in range(shards)]
        memory = max(s.memory for s in steps)
        row("largest of one shard", size / shards, max(s.used for s in steps),
            max(s.clock for s in steps), memory)
        row(f"all {shards} shards", size, sum(s.used for s in steps), sum(s.clock for s in steps), memory)
        step = Step(VPT, "shard", "merge", "--json", plan)
        of("merge", size, step)
        found = json.loads(step.text.splitlines()[0])["insns"]
        if found != insns:
            sys.exit(f"large.py: {found} instructions decoded, and {insns} ran")
        print(f"instructions, as many as ran: {found}")


main()
