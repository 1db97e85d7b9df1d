#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Record a trace of some GB, decode it in shards, and print time and memory of each step.

usage: large.py VPT GUESTS [GB]

The trace is of a payload that repeats itself, so its code is warm and its size is free to choose. The
merged number of instructions must be that of the run. Memory is the largest resident set of a process.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

VPT, GUESTS = sys.argv[1:3]
GB = float(sys.argv[3]) if len(sys.argv) > 3 else 10.0
SHARD = 256 << 20
BYTES_OF_A_ROUND = 29100  # of quicksort


def run(*args):
    """Run vpt. Returns its output, seconds of the processor and of the clock, and MB of memory."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([VPT, *args], stdout=out, stderr=subprocess.PIPE)
        err = child.stderr.read().decode()
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"large.py: vpt {' '.join(args)}: {err}")
        out.seek(0)
        text = out.read().decode()
    used = usage.ru_utime + usage.ru_stime
    return text, err, used, time.monotonic() - began, usage.ru_maxrss / 1024


def row(name, size, step):
    _, _, used, clock, memory = step
    rate = size / used / 1e6 if used else 0
    print(f"{name:<24} {used:9.2f} s {clock:9.2f} s {memory:8.0f} MB {rate:8.0f} MB/s", flush=True)


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "build")) as work:
        trace, plan = f"{work}/large.vpt", f"{work}/plan"
        rounds = str(int(GB * 1e9 / BYTES_OF_A_ROUND))
        print(f"{'step':<24} {'processor':>11} {'clock':>11} {'memory':>11} {'trace':>13}")
        step = run("run", "--engine=soft", "--pt=host", f"--arg={rounds}", "--max-bytes=64G",
                   "-o", trace, f"{GUESTS}/quicksort.elf")
        insns = int(step[1].split("vpt run: ")[1].split(" instructions")[0])
        size = os.stat(trace).st_size
        row(f"run, {size / 1e9:.2f} GB", size, step)
        row("plan", size, run("shard", "plan", "-q", f"--bytes={SHARD}", "-o", plan, trace))
        with open(plan) as lines:
            shards = len(lines.readlines()) - 1
        steps = [run("shard", "run", "-q", plan, str(i)) for i in range(shards)]
        most = [max(s[k] for s in steps) for k in range(2, 5)]
        row("largest of one shard", size / shards, (None, None, *most))
        row(f"all {shards} shards", size, (None, None, sum(s[2] for s in steps),
                                           sum(s[3] for s in steps), most[2]))
        step = run("shard", "merge", "--json", plan)
        row("merge", size, step)
        found = json.loads(step[0].splitlines()[0])["insns"]
        if found != insns:
            sys.exit(f"large.py: {found} instructions decoded, and {insns} ran")
        print(f"instructions, as many as ran: {found}")


main()
