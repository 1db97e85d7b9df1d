# SPDX-License-Identifier: GPL-2.0-or-later
# usage: edges.py LISTING CSV    Compares the edges of an export with those of a listing.
import collections
import csv
import sys

from listing import Listing

listing = Listing(sys.argv[1])
edges = collections.Counter()
with open(sys.argv[2], newline="", encoding="ascii") as f:
    for row in csv.DictReader(f):
        key = int(row["from"], 16), int(row["to"], 16), row["kind"]
        edges[key] += int(row["count"])
wrong = [k for k in set(edges) | set(listing.edges) if edges[k] != listing.edges[k]]
for key in sorted(wrong)[:5]:
    print("0x%x 0x%x %s" % key, "exported:", edges[key], "listed:", listing.edges[key])
print("edges: %d" % sum(edges.values()))
sys.exit(1 if wrong or not edges else 0)
