# SPDX-License-Identifier: GPL-2.0-or-later
"""Run one test program against a libvpt.so, with limits."""
import math
import os
import resource
import signal
import subprocess
from pathlib import Path

MEMORY = 4 << 30
FILE = 1 << 28
WAIT = 900  # seconds after which a program that sleeps is killed
SLOW = (signal.SIGXCPU, signal.SIGKILL)


def limit(cpu):
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_session(session):
    """Kill what a program has left: libcheck gives each test a process group of its own."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # Behind the name, which may hold blanks: state, parent, group, session.
            if int(path.read_text().rpartition(")")[2].split()[3]) == session:
                os.kill(int(path.parent.name), signal.SIGKILL)
        except (OSError, ValueError, IndexError):
            pass


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(program, library, root, cpu, environment=None, wait=WAIT):
    """Run a program. Each of its processes may take `cpu` seconds of processor time, all `wait`.

    Returns (verdict, seconds of processor time): "passed", "failed" or "timeout"."""
    env = {**os.environ, "LD_LIBRARY_PATH": str(library), "CK_FORK": "no", "LC_ALL": "C",
           **(environment or {})}
    start = spent()
    process = subprocess.Popen(
        [str(program)], cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=lambda: limit(math.ceil(cpu)))
    try:
        status = process.wait(wait)
        verdict = "timeout" if -status in SLOW else "failed" if status else "passed"
    except subprocess.TimeoutExpired:
        verdict = "timeout"
    finally:
        end_session(process.pid)
        process.wait()
    return verdict, spent() - start
