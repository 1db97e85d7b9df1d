# SPDX-License-Identifier: GPL-2.0-or-later
"""Goes to places of a payload with gdb's protocol, forwards and backwards, and prints TAP.

usage: travel.py VPT PAYLOAD POSITIONS SEED [--file=FILE] [OPTION]...    the options are those of vpt run

--file: vpt run writes a trace to FILE, and vpt gdb repeats the run. The states at the positions are
first read in a session of vpt run.
"""

import os
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
import rsp
import tap

vpt, payload, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
options = sys.argv[5:]
path = options.pop(0).split("=", 1)[1] if options and options[0].startswith("--file=") else None
own_run = [vpt, "run", "--engine=soft", "--pt=off"] + options + [payload]
command = [vpt, "gdb", "-q", path] if path else own_run
rng = random.Random(seed)
# The image, the stack and the variables of a payload.
WINDOWS = [(0x100000, 0x118000)]


def symbol(name):
    for line in subprocess.run(["nm", payload], capture_output=True, text=True).stdout.splitlines():
        if line.split()[-1] == name:
            return int(line.split()[0], 16)
    raise SystemExit("no symbol " + name)


def hits(guest, move, end):
    """All stops in one direction, as (position, reason)."""
    found = []
    while True:
        stop = guest.ask(move)
        if "replaylog" in stop:
            assert end in stop, stop
            return found
        found.append((guest.position(), re.sub("thread:[0-9a-f]+;", "", stop)))


if path:
    plain = subprocess.run(
        [vpt, "run", "-q", "--engine=soft", "--pt=host", "--output=" + path] + options + [payload],
        capture_output=True, text=True)
else:
    plain = subprocess.run(command, capture_output=True, text=True)
guest = rsp.Guest(own_run)
first = guest.position()
tap.test("replaylog:end" in guest.ask("c"), "runs to its end")
last = guest.position()
tap.test(last - first > 1000, "and retires %d instructions" % (last - first))

# Positions in order, and then in random order.
places = sorted(rng.sample(range(first, last), min(count, last - first)))
states = {}
guest.go(first)
for place in places:
    guest.go(place)
    states[guest.position()] = guest.state(WINDOWS)
if path:
    guest.close()
    guest = rsp.Guest(command)
order = list(states)
rng.shuffle(order)
wrong = []
for place in order:
    guest.go(place)
    if guest.position() != place or guest.state(WINDOWS) != states[place]:
        wrong.append(place)
tap.test(len(order) and not wrong,
    "%d positions in random order: registers and memory as before" % len(order), wrong[:5])

# Steps of a vCPU forwards from a random place, and back. Other vCPUs may run in between, so that the
# positions are those of one vCPU only.
guest.go(rng.choice([place for place in order if place < last - 5000]))
alone = not any(option.startswith("--cpus") for option in options)
steps = []
ended = False
while len(steps) < 200 and not ended:
    steps.append((alone and guest.position(), guest.registers()))
    ended = "replaylog" in guest.ask("vCont;s:1")
if ended:
    steps.pop()
back = []
for i in range(len(steps)):
    guest.ask("bs")
    guest.ask("Hg1")
    back.append((alone and guest.position(), guest.registers()))
wrong = [i for i in range(len(steps)) if steps[i] != back[-1 - i]]
tap.test(len(steps) > 5 and not wrong, "%d steps and the same back" % len(steps), wrong)

# Breakpoints: those of a run, and the same backwards.
guest.go(first)
where = symbol("printk")
tap.test(guest.ask("Z0,%x,1" % where) == "OK", "a breakpoint")
ahead = hits(guest, "c", "end")
behind = hits(guest, "bc", "begin")
tap.test(len(ahead) > 2 and behind == ahead[::-1],
    "%d times at a breakpoint, and backwards" % len(ahead), (ahead, behind))
guest.ask("z0,%x,1" % where)

# Watchpoints on words of the stack: backwards, the places are before the accesses.
total = 0
for kind, name in ((2, "writes"), (3, "reads"), (4, "accesses")):
    for _ in range(2):
        guest.go(first)
        guest.ask("Z0,%x,1" % symbol("payload"))
        guest.ask("c")
        guest.ask("z0,%x,1" % symbol("payload"))
        stack = int.from_bytes(bytes.fromhex(guest.ask("p7")), "little")
        where = stack - 8 * rng.randrange(2, 24)
        begin = guest.position()
        guest.ask("Z%d,%x,8" % (kind, where))
        ahead = hits(guest, "c", "end")
        behind = [hit for hit in hits(guest, "bc", "begin") if hit[0] >= begin]
        behind = [(place + 1, stop) for place, stop in behind]
        total += len(ahead)
        tap.test(behind == ahead[::-1], "%d %s of %x, and backwards" % (len(ahead), name, where),
            (len(behind), ahead[:3], behind[-3:]))
        guest.ask("z%d,%x,8" % (kind, where))
tap.test(total > 2, "%d stops at watchpoints" % total)

# Each change of a word is a stop of its watchpoint: compared with single steps.
guest.go(rng.choice([place for place in order if place < last - 5000]))
begin = guest.position()
low = int.from_bytes(bytes.fromhex(guest.ask("p7")), "little") & ~0xfff
changes = {}
old = guest.ask("m%x,1000" % low)
for _ in range(1500):
    if "replaylog" in guest.ask("s"):
        break
    new = guest.ask("m%x,1000" % low)
    for at in range(0, 0x2000 if new != old else 0, 16):
        if new[at:at + 16] != old[at:at + 16]:
            changes.setdefault(low + at // 2, []).append(guest.position())
    old = new
end = guest.position()
missed = []
changes = dict(rng.sample(list(changes.items()), min(5, len(changes))))
for where, places_of in changes.items():
    guest.go(begin)
    guest.ask("Z2,%x,8" % where)
    stops = []
    while guest.position() < end and "replaylog" not in guest.ask("c"):
        stops.append(guest.position())
    guest.ask("z2,%x,8" % where)
    # A step delivers an interrupt and executes an instruction, which are two stops.
    missed += [(where, place) for place in places_of
               if place not in stops and place - 1 not in stops]
changed = sum(len(of) for of in changes.values())
tap.test(changed > 2 and not missed, "a stop at each of %d changes of %d words" % (changed, len(changes)), missed[:5])

# The run is the one without gdb.
status = guest.end()
tap.test(status == plain.returncode, "the exit status", status)
output = re.sub("(?m)^in gdb: .*\n", "", guest.output())
tap.test(output == plain.stdout + plain.stderr, "the console, once", output)
guest.close()

guest = rsp.Guest(command)
# A change by the debugger begins another history, which ends when the machine goes back.
guest.go(places[0])
before = guest.state(WINDOWS)
guest.ask("P0=1122334455667788")
tap.test(guest.ask("p0") == "1122334455667788", "a register is written")
guest.ask("s")
guest.ask("bs")
tap.test(guest.ask("p0") == "1122334455667788", "and stays written after a step and back")
guest.go(first)
guest.go(places[0])
tap.test(guest.state(WINDOWS) == before, "and is as before in the first history")

# A change outlives its checkpoint: many places are gone to in between.
# Checkpoints close to the change make its own the first that could leave, seen from the end.
near = max(place for place in places if place < last - 5000)
spare = (int.from_bytes(bytes.fromhex(guest.ask("p7")), "little") & ~0xfff) + 64
guest.go(near)
first_hash = guest.monitor("hash")
tap.test(guest.ask("M%x,8:1122334455667788" % spare) == "OK", "memory is written")
tap.test(re.fullmatch("[0-9a-f]{16}\n", first_hash) and guest.monitor("hash") != first_hash,
    "and has another hash", first_hash)
for distance in range(20, 400, 20):
    guest.go(near + distance)
for _ in range(60):
    guest.go(last - 1 - rng.randrange(3000))
guest.go(near + 5)
tap.test(guest.ask("m%x,8" % spare) == "1122334455667788", "a change is there after 60 places behind it")

# A search backwards that ends behind the change does not undo it.
guest.go(near + 300)
where = int.from_bytes(bytes.fromhex(guest.ask("p10")), "little")
guest.go(near + 5)
guest.ask("Z0,%x,1" % where)
guest.ask("c")
hit = guest.position()
guest.go(hit + 50)
back = guest.ask("bc")
tap.test(near < hit <= guest.position() <= hit + 50 and "swbreak" in back and
    guest.ask("m%x,8" % spare) == "1122334455667788",
    "and after a search backwards for a stop behind it", (near, hit, guest.position(), back))
guest.ask("z0,%x,1" % where)
tap.test(guest.monitor("goto 0x10").startswith("goto:"), "a position that is no number")
tap.test(guest.monitor("goto %d" % (last + 10**9)) == "OK", "a position behind the end")
tap.test("replaylog:end" in guest.ask("c"), "is the end")

# A signal ends all processes, while gdb stands.
guest.go(places[0])
guest.process.terminate()
status = guest.process.wait(timeout=20)
time.sleep(0.5)
left = subprocess.run(["pgrep", "-f", guest.folder], capture_output=True, text=True).stdout
tap.test(status == 1 and not left, "a signal ends all processes", (status, left))
guest.close()
print("1..%d" % tap.number)
