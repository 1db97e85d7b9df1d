# SPDX-License-Identifier: GPL-2.0-or-later
# usage: edge_map.py LISTING MAP    Compares a fuzzer's map with the edges of a listing.
import sys

from listing import Listing


# An event between a branch and its target has the target.
class WithEvents(Listing):
    def take_event(self, row):
        to = row.get("from") or row.get("to") if row["event"].endswith("disabled") else row.get("from")
        if self.last and to:
            self.edge(int(to, 16))
        super().take_event(row)


# What the map counts: each branch, and no interrupt or exception (vptdecode.h).
KINDS = ("taken", "not taken", "jump", "call", "return", "far transfer")

with open(sys.argv[2], "rb") as f:
    given = f.read()
wanted = bytearray(65536)
edges = 0
for (ip, to, kind), count in WithEvents(sys.argv[1]).edges.items():
    if kind not in KINDS:
        continue
    edges += 1
    mixed = (ip ^ (to << 32 | to >> 32)) & (1 << 64) - 1
    index = (mixed * 0x9E3779B97F4A7C15 & (1 << 64) - 1) >> 48
    wanted[index] = min(255, wanted[index] + count)
wrong = [i for i in range(65536) if len(given) != 65536 or given[i] != wanted[i]]
for i in wrong[:5]:
    print("byte %d:" % i, "given:", given[i : i + 1], "wanted:", wanted[i])
print("edges: %d" % edges)
sys.exit(1 if wrong or not edges else 0)
