# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of the fork server protocol of AFL++, in place of afl-fuzz.

usage: fork_server.py [-i] [-k SECONDS] [-l LENGTH] MAPS FILE... -- COMMAND...

Starts COMMAND as a fork server, and lets it run each FILE in turn. Appends the map of each run to
MAPS, and prints "FILE STATUS", with the status of waitpid() in decimal. With -i the inputs are on
standard input, otherwise in shared memory. After SECONDS (default 30) it kills the child of a run,
and prints "killed" behind the status. With -l the length in shared memory is LENGTH.
"""
import ctypes
import os
import select
import signal
import struct
import sys
import tempfile

MAP = 65536
INPUT = 1 << 20
ENABLED, MAP_SIZE, SHM_INPUT = 0x80000001, 0x40000000, 0x01000000
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.shmget.argtypes = [ctypes.c_int, ctypes.c_size_t, ctypes.c_int]


def shared(size):
    number = libc.shmget(0, size, 0o1600)
    address = libc.shmat(number, None, 0)
    libc.shmctl(number, 0, None)  # it goes away with its last user; Linux lets others attach
    return number, address


def word(fd, seconds):
    if not select.select([fd], [], [], seconds)[0]:
        return None
    data = os.read(fd, 4)
    if len(data) != 4:
        sys.exit("fork_server.py: the server has ended")
    return struct.unpack("I", data)[0]


def start(command, stdin):
    requests, answers = os.pipe(), os.pipe()
    map_id, map_at = shared(MAP)
    input_id, input_at = shared(INPUT)
    pid = os.fork()
    if not pid:
        os.dup2(requests[0], 198)
        os.dup2(answers[1], 199)
        for fd in (*requests, *answers):
            os.close(fd)
        os.environ["__AFL_SHM_ID"] = str(map_id)
        if stdin:
            os.dup2(stdin.fileno(), 0)
        else:
            os.environ["__AFL_SHM_FUZZ_ID"] = str(input_id)
        os.execvp(command[0], command)
    os.close(requests[0])
    os.close(answers[1])
    return pid, requests[1], answers[0], map_at, input_at


def main():
    args = sys.argv[1:]
    command = args[args.index("--") + 1 :]
    args = args[: args.index("--")]
    stdin, seconds, length = None, 30.0, None
    while args[0].startswith("-"):
        option = args.pop(0)
        if option == "-i":
            stdin = tempfile.TemporaryFile()
        elif option == "-k":
            seconds = float(args.pop(0))
        elif option == "-l":
            length = int(args.pop(0), 0)
    maps = open(args.pop(0), "wb")
    pid, requests, answers, map_at, input_at = start(command, stdin)
    hello = word(answers, 60)
    if hello is None or hello & ENABLED != ENABLED or not hello & MAP_SIZE:
        sys.exit("fork_server.py: no hello")
    if (hello >> 1 & 0x7FFFFF) + 1 != MAP or bool(hello & SHM_INPUT) == bool(stdin):
        sys.exit("fork_server.py: hello is %#x" % hello)
    if not stdin:
        os.write(requests, struct.pack("I", ENABLED | SHM_INPUT))
    was_killed = 0
    for name in args:
        with open(name, "rb") as f:
            data = f.read()
        if stdin:
            os.ftruncate(stdin.fileno(), 0)
            os.pwrite(stdin.fileno(), data, 0)
        else:
            size = len(data) if length is None else length
            ctypes.memmove(input_at, struct.pack("I", size) + data, len(data) + 4)
        ctypes.memset(map_at, 0, MAP)
        os.write(requests, struct.pack("I", was_killed))
        child = word(answers, 30)
        status = word(answers, seconds)
        was_killed = int(status is None)
        if was_killed:
            os.kill(child, signal.SIGKILL)
            status = word(answers, 30)
        maps.write(ctypes.string_at(map_at, MAP))
        print(os.path.basename(name), status, "killed" if was_killed else "")
    os.close(requests)
    sys.exit(1 if os.waitpid(pid, 0)[1] else 0)


main()
