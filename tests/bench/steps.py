# SPDX-License-Identifier: GPL-2.0-or-later
"""Run vpt and measure each run, for large.py and different.py."""
import os
import subprocess
import sys
import tempfile
import time


class Step:
    """A run of vpt: its output, seconds of the processor and of the clock, and MB of memory. Linux reports at least
    the memory that this script has had, so @drop must be set for a large output."""

    def __init__(self, vpt, *args, drop=False):
        began = time.monotonic()
        with tempfile.TemporaryFile() as out:
            child = subprocess.Popen([vpt, *args], stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL if drop else out, stderr=subprocess.PIPE)
            self.err = child.stderr.read().decode(errors="replace")
            _, self.status, usage = os.wait4(child.pid, 0)
            if self.status:
                sys.exit(f"{os.path.basename(sys.argv[0])}: vpt {' '.join(args)}: {self.err}")
            out.seek(0)
            self.text = out.read().decode(errors="replace")
        self.used = usage.ru_utime + usage.ru_stime
        self.clock = time.monotonic() - began
        self.memory = usage.ru_maxrss / 1024

    def insns(self):
        """The number of instructions of a run."""
        return int(self.err.split("vpt run: ")[1].split(" instructions")[0])


HEAD = f"{'step':<32} {'processor':>11} {'clock':>11} {'memory':>11} {'trace':>13}"


def row(name, size, used, clock, memory):
    rate = size / used / 1e6 if used else 0
    print(f"{name:<32} {used:9.2f} s {clock:9.2f} s {memory:8.0f} MB {rate:8.0f} MB/s", flush=True)
