# SPDX-License-Identifier: GPL-2.0-or-later
# usage: lcov.py LISTING FILE ELF    Compares the branches of a tracefile with those of a listing.
import collections
import subprocess
import sys

from listing import Listing

listing = Listing(sys.argv[1])
ways = collections.defaultdict(lambda: [0, 0])  # address of a branch: taken, not taken
for (ip, _, kind), n in listing.edges.items():
    if kind in ("taken", "not taken"):
        ways[ip][kind == "not taken"] += n
ips = sorted(ways)
places = subprocess.run(
    ["addr2line", "-e", sys.argv[3]], input="".join("%#x\n" % ip for ip in ips),
    stdout=subprocess.PIPE, check=True, text=True,
).stdout.splitlines()
listed = collections.defaultdict(list)
for ip, place in zip(ips, places):
    file, line = place.split(" ")[0].rsplit(":", 1)
    if line not in ("?", "0"):
        listed[file.rsplit("/", 1)[-1], int(line)].append(tuple(ways[ip]))

exported = collections.defaultdict(list)
sums = {"BRF": 0, "BRH": 0}
with open(sys.argv[2], encoding="ascii") as f:
    for row in f:
        name, _, value = row.strip().partition(":")
        if name == "SF":
            file = value.rsplit("/", 1)[-1]
        elif name == "BRDA":
            line, block, branch, count = (int(v) for v in value.split(","))
            if branch == 0:
                if block != len(exported[file, line]):
                    sys.exit("the blocks of a line are not in order: " + row)
                taken = count
            else:
                exported[file, line].append((taken, count))
        elif name in sums:
            sums[name] += int(value)
wrong = [key for key in sorted(set(listed) | set(exported)) if listed[key] != exported[key]]
for key in wrong[:5]:
    print(*key, "exported:", exported[key], "listed:", listed[key])
pairs = [pair for row in exported.values() for pair in row]
found, hit = 2 * len(pairs), sum(n > 0 for pair in pairs for n in pair)
print("branches: %d, of which ran: %d" % (found, hit))
sys.exit(1 if wrong or not hit or (found, hit) != (sums["BRF"], sums["BRH"]) else 0)
