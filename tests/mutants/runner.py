# SPDX-License-Identifier: GPL-2.0-or-later
"""Run one test program against a libvpt.so, with limits."""
import os
import resource
import signal
import subprocess
import time

MEMORY = 4 << 30
FILE = 1 << 28


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(program, library, root, seconds, environment=None):
    """Returns (verdict, seconds): "passed", "failed" or "timeout"."""
    env = {**os.environ, "LD_LIBRARY_PATH": str(library), "CK_FORK": "no", "LC_ALL": "C",
           **(environment or {})}
    start = time.monotonic()
    process = subprocess.Popen(
        [str(program)], cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit)
    try:
        verdict = "failed" if process.wait(seconds) else "passed"
    except subprocess.TimeoutExpired:
        verdict = "timeout"
    finally:
        # Nothing that a test started survives it.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return verdict, time.monotonic() - start
