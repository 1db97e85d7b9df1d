# SPDX-License-Identifier: GPL-2.0-or-later
"""
usage: mutate.py VPT FILE ROOT DIR

Runs vpt import on copies of FILE with some bytes changed. Each run ends with a documented
status within 10 s of the processor, and with one line on standard error at least if it is not 0.
"""
import os
import random
import resource
import subprocess
import sys

RUNS = 120


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))


def main(vpt, path, root, where):
    with open(path, "rb") as f:
        good = f.read()
    rng = random.Random(1)
    copy, out = os.path.join(where, "changed"), os.path.join(where, "changed.vpt")
    for run in range(RUNS):
        data = bytearray(good)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data))
            data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, data[at] ^ 1 << rng.randrange(8)))
        with open(copy, "wb") as f:
            f.write(data)
        done = subprocess.run([vpt, "import", "-q", "--root", root, "-o", out, copy],
                              stderr=subprocess.PIPE, preexec_fn=limit, check=False)
        if done.returncode not in (0, 3) or (done.returncode and not done.stderr):
            sys.exit("run %d: status %d: %r" % (run, done.returncode, done.stderr))


main(*sys.argv[1:])
