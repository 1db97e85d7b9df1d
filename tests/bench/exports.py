#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Time and memory of what reads a whole trace, on a trace that is repeated 2 and 20 times.

usage: exports.py VPT REPEAT TRACE [FORMAT...]

REPEAT is the test program of this name. Memory is the largest resident set of vpt, and it should not
depend on the length of the trace. The output goes to a pipe, as one of several GB would not fit on
every disk, and is dropped there. The last column is the memory of the long trace by that of the short
one. Writes build/bench-exports.json.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

VPT, REPEAT, TRACE = sys.argv[1:4]
SHORT, LONG = 2, 20
FORMATS = sys.argv[4:] or ["decode", "calls", "blocks", "report", "perfetto", "folded", "callgrind",
                           "speedscope", "chrome", "drcov", "edges", "bitmap", "lcov", "bolt",
                           "autofdo", "svg"]
OPTIONS = {"decode": ["decode", "-q"], "calls": ["decode", "--calls"],
           "blocks": ["decode", "--blocks"], "report": ["report", "-o", "/dev/stdout"]}


def command(name, trace):
    if name in OPTIONS:
        return [VPT, *OPTIONS[name], trace]
    base = ["--base=0"] if name == "autofdo" else []
    return [VPT, "export", f"--to={name}", *base, trace, "-"]


def measure(name, trace):
    """Seconds of the processor and of the clock, MB of memory, and MB of output."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command(name, trace), stdout=subprocess.PIPE, stderr=err)
        size = 0
        while piece := child.stdout.read(1 << 20):
            size += len(piece)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            err.seek(0)
            text = err.read().decode().strip().splitlines()
            return {"failed": text[-1] if text else f"status {status}"}
    return {"cpu": usage.ru_utime + usage.ru_stime, "clock": time.monotonic() - began,
            "memory": usage.ru_maxrss / 1024, "output": size / 1e6}


def main():
    results, failed = {}, 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "build")) as work:
        insns = {}
        for times in SHORT, LONG:
            out = subprocess.run([REPEAT, TRACE, f"{work}/{times}.vpt", str(times)], check=True,
                                 capture_output=True, text=True)
            insns[times] = int(out.stdout)
        print(f"{insns[SHORT]:.2e} and {insns[LONG]:.2e} instructions")
        print(f"{'':<12} {'cpu':>8} {'clock':>8} {'s/1e9':>6} {'memory':>9} {'memory':>9} {'output':>9} "
              f"{'ratio':>6}")
        for name in FORMATS:
            short, long = (measure(name, f"{work}/{times}.vpt") for times in (SHORT, LONG))
            results[name] = {"short": short, "long": long}
            problem = short.get("failed") or long.get("failed")
            if problem:
                failed += 1
                print(f"{name:<12} {problem}", flush=True)
                continue
            print(f"{name:<12} {long['cpu']:6.1f} s {long['clock']:6.1f} s "
                  f"{long['clock'] * 1e9 / insns[LONG]:6.2f} {short['memory']:6.0f} MB "
                  f"{long['memory']:6.0f} MB {long['output']:6.1f} MB "
                  f"{long['memory'] / short['memory']:6.2f}", flush=True)
    with open("build/bench-exports.json", "w") as file:
        json.dump({"insns": insns[LONG], "rows": results}, file, indent=1)
    sys.exit(1 if failed else 0)


main()
